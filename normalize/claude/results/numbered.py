"""Text in the form in which the CLI shows files to the model: a number before each line.

1.0 and 2.0 write "     1→text", 2.1 writes "1<tab>text". Text after the last numbered line (reminders to the model,
notes) is not part of the file. It cannot be mistaken for a line of the file, since those have numbers.
"""

import re
from typing import NamedTuple

_NUMBERED = re.compile(r" *(\d{1,9})(?:→|\t)")


class NumberedLines(NamedTuple):
    """Numbered lines, and the text after them."""

    start: int
    """Number of the first line."""
    lines: list[str]
    """The lines without their numbers. Empty if the text does not begin with a numbered line."""
    rest: str
    """The text after them."""


def parse(text: str) -> NumberedLines:
    """Parse the numbered lines at the beginning of a text. Their numbers must be consecutive."""
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
