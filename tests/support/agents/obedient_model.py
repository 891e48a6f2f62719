"""A model that does what the conformance kit asks for, in so plain words that no understanding is needed."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

Said = TypeVar("Said")
Called = TypeVar("Called")

SAY = re.compile(r"Reply with exactly this word and nothing else: ([\w-]+)")
RUN = re.compile(r"Run exactly this shell command with your shell tool, once, and nothing else: (.+)")

FILES = {
    "write": re.compile(r"Write a new file with your tool for files, .+?: ([\w-]+)"),
    "edit": re.compile(r"Edit a file with your tool for files, .+?: ([\w-]+)"),
    "read": re.compile(r"Read a file with your tool for files, .+?: (\S+)"),
    "fetch": re.compile(r"Fetch a page with your tool for the web, .+?: (\S+)"),
}


def obey(
    prompt: str,
    results: int,
    say: Callable[[str], Said],
    shell: Callable[[str], Called],
    **tools: Callable[[str], Sequence[Called]],
) -> Sequence[Said | Called]:
    """Return the answer to a prompt after so many results of tools, in the words of some model's API.

    tools: the calls to make one after the other, by the names of FILES. A model without one of them does nothing.
    """
    wanted = RUN.search(prompt)
    if wanted is not None and results == 0:
        return [shell(wanted[1].strip())]
    for name, tool in tools.items():
        named = FILES[name].search(prompt)
        if named is not None and results < len(calls := tool(named[1])):
            return [calls[results]]
    words = SAY.findall(prompt)
    return [say(" ".join(words) if words else "Done.")]
