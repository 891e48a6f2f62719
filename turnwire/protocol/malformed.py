"""A line that is no message of its wire."""

from msgspec import Struct

from turnwire.protocol.framing import OversizeLine

BLANK = "blank line"
"""The reason of a line of nothing."""


class Malformed(Struct, frozen=True, gc=False):
    """A line that is not a JSON object."""

    line: str
    """The line, where it is text."""
    reason: str
    """What is wrong with it."""
    asks: str | int | None = None
    """Own id of the control request in the line; its writer waits for an answer."""


def oversize(line: OversizeLine) -> Malformed:
    """Return the stand-in for a line that was too long to keep."""
    reason = f"line {line.number} has {line.size} bytes, beyond the limit"
    return Malformed(line.head.decode("utf-8", "replace"), reason)
