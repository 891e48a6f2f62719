"""A model that does what the conformance kit asks for, in so plain words that no understanding is needed."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

Said = TypeVar("Said")
Called = TypeVar("Called")

SAY = re.compile(r"Reply with exactly this word and nothing else: ([\w-]+)")
RUN = re.compile(r"Run exactly this shell command with your shell tool, once, and nothing else: (.+)")


WRITE = re.compile(r"Write a new file with your tool for files, .+?: ([\w-]+)")


def obey(
    prompt: str,
    results: int,
    say: Callable[[str], Said],
    shell: Callable[[str], Called],
    write: Callable[[str], Called] | None = None,
) -> Sequence[Said | Called]:
    """Return the answer to a prompt after so many results of tools, in the words of some model's API."""
    wanted = RUN.search(prompt)
    if wanted is not None and results == 0:
        return [shell(wanted[1].strip())]
    named = WRITE.search(prompt)
    if named is not None and results == 0 and write is not None:
        return [write(named[1])]
    words = SAY.findall(prompt)
    return [say(" ".join(words) if words else "Done.")]
