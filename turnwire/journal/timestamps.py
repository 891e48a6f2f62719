"""Time as the journal keeps it: microseconds since 1970 in storage, RFC 3339 in envelopes."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

Clock = Callable[[], int]
"""Returns microseconds since 1970."""

MICROSECONDS = 1_000_000


def now() -> int:
    """Return the wall clock in microseconds since 1970."""
    return time.time_ns() // 1000


def stamp(micros: int) -> str:
    """Return RFC 3339 in UTC, always 27 characters, so that stamps sort as text."""
    seconds, rest = divmod(micros, MICROSECONDS)
    return f"{_second(seconds)}.{rest:06d}Z"


@lru_cache(maxsize=16)
def _second(seconds: int) -> str:
    # Events come many to the second; only the microseconds differ.
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
