"""Tokens of calls, turns and sessions: their sums, and the difference of two counts."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace


class Tokens(Struct, frozen=True, gc=False):
    """Tokens, and what they cost if the agent reports that with them. Cached tokens are not part of the sent ones."""

    sent: int = 0
    received: int = 0
    cache_read: int | None = None
    cache_written: int | None = None
    cost_usd: float | None = None


Some = TypeVar("Some", bound=Tokens)


def added(one: Some, other: Some) -> Some:
    """Return the sum of two counts."""
    cost = one.cost_usd if other.cost_usd is None else round((one.cost_usd or 0) + other.cost_usd, 10)
    return replace(
        one,
        sent=one.sent + other.sent,
        received=one.received + other.received,
        cache_read=_both(one.cache_read, other.cache_read),
        cache_written=_both(one.cache_written, other.cache_written),
        cost_usd=cost,
    )


def difference(now: Some, before: Some | None) -> Some:
    """Return the difference of two counts. A smaller count means that counting started again."""
    if before is None or now.sent < before.sent or now.received < before.received:
        return now
    cost = None if now.cost_usd is None else max(round(now.cost_usd - (before.cost_usd or 0), 10), 0.0)
    return replace(
        now,
        sent=now.sent - before.sent,
        received=now.received - before.received,
        cache_read=None if now.cache_read is None else max(now.cache_read - (before.cache_read or 0), 0),
        cache_written=None
        if now.cache_written is None
        else max(now.cache_written - (before.cache_written or 0), 0),
        cost_usd=cost,
    )


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
