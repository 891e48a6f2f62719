"""What the doctor has found, one look at a time."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look has found."""

    what: str
    status: Literal["ok", "note", "broken"]
    """`note`: works, but somebody should know."""
    found: str
    remedy: str | None = None
    """What to do; for whatever is not ok."""
