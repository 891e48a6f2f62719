"""What the doctor has found, one look at a time."""

from typing import Literal

from msgspec import Struct


class Finding(Struct, frozen=True):
    """What one look has found."""

    what: str
    status: Literal["ok", "note", "broken"]
    """`note`: works, but somebody should know."""
    found: str
    remedy: str | None = None
    """What to do; for whatever is not ok."""
