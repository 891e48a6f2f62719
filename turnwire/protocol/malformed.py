"""A line that is no message, of whatever wire."""

from msgspec import Struct

BLANK = "blank line"
"""The reason of a line of nothing."""


class Malformed(Struct, frozen=True, gc=False):
    """A line that is no JSON object."""

    line: str
    """The line, as far as it is text."""
    reason: str
    """What is wrong with it."""
    asks: str | None = None
    """The id of the control request that it would be: whoever wrote it waits for an answer."""
