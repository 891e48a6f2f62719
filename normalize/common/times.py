"""Times as agents write them into their own files."""

import re
from collections.abc import Sequence
from datetime import datetime

_IN_ORDER = re.compile(r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\n)*+")
"""Times in the form of JavaScript's Date, each with a newline: these are in order where their texts are."""


def moment(timestamp: str | None) -> float | None:
    """Return a time in ISO 8601 as seconds since 1970; None for none."""
    if timestamp is None:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def span(timestamps: Sequence[str]) -> tuple[float | None, float | None]:
    """Return the first and the last of some times, in seconds since 1970; None for no times. Texts that are no time do not count."""
    if not timestamps:
        return None, None
    if _IN_ORDER.fullmatch("\n".join([*timestamps, ""])):
        first, last = moment(min(timestamps)), moment(max(timestamps))
        if first is not None and last is not None:
            return first, last
    known = [at for one in timestamps if (at := moment(one)) is not None]
    return (min(known), max(known)) if known else (None, None)
