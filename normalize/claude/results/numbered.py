"""Text as the CLI shows files to the model: every line behind its number.

1.0 and 2.0 write "     1→text", 2.1 writes "1<tab>text". What follows the last numbered line (reminders to the model,
notes) is no part of the file; a line of the file cannot be mistaken for it, since it has a number.
"""

import re
from typing import NamedTuple

_NUMBERED = re.compile(r" *(\d{1,9})(?:→|\t)")


class NumberedLines(NamedTuple):
    """Numbered lines, and what followed them."""

    start: int
    """Number of the first line."""
    lines: list[str]
    """The lines without their numbers; empty if the text does not begin with a numbered line."""
    rest: str
    """What followed."""


def parse(text: str) -> NumberedLines:
    """Take the numbered lines from the beginning of a text; their numbers must be consecutive."""
    lines: list[str] = []
    start = at = 0
    for line in text.split("\n"):
        found = _NUMBERED.match(line)
        if found is None:
            break
        number = int(found[1])
        if not lines:
            start = number
        elif number != start + len(lines):
            break
        lines.append(line[found.end() :])
        at += len(line) + 1
    return NumberedLines(start, lines, text[at:])
