"""A line that is no message of its wire."""

from msgspec import Struct

BLANK = "blank line"
"""The reason of a line of nothing."""


class Malformed(Struct, frozen=True, gc=False):
    """A line that is not a JSON object."""

    line: str
    """The line, where it is text."""
    reason: str
    """What is wrong with it."""
    asks: str | None = None
    """Id of the control request in the line; its writer waits for an answer."""
