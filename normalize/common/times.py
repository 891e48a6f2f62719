"""Times as agents write them into their own files."""

from datetime import datetime


def moment(timestamp: str | None) -> float | None:
    """Return a time in ISO 8601 as seconds since 1970; None for none."""
    if timestamp is None:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
