"""A model that does what the conformance kit asks for, in so plain words that no understanding is needed."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

Said = TypeVar("Said")
Called = TypeVar("Called")

SAY = re.compile(r"Reply with exactly this word and nothing else: ([\w-]+)")
RUN = re.compile(r"Run exactly this shell command with your shell tool, once, and nothing else: (.+)")


def obey(
    prompt: str, results: int, say: Callable[[str], Said], shell: Callable[[str], Called]
) -> Sequence[Said | Called]:
    """Return the answer to a prompt after so many results of tools, in the words of some model's API."""
    wanted = RUN.search(prompt)
    if wanted is not None and results == 0:
        return [shell(wanted[1].strip())]
    words = SAY.findall(prompt)
    return [say(" ".join(words) if words else "Done.")]
