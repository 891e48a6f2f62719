"""A finding of the doctor."""

from typing import Literal

from msgspec import Struct


class Finding(Struct, frozen=True):
    """The result of one check."""

    what: str
    status: Literal["ok", "note", "broken"]
    """`note`: it works, but the user should know about it."""
    found: str
    remedy: str | None = None
    """What to do, unless the status is ok."""
