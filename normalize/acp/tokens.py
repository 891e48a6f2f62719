"""Tokens of a turn or a session, and the difference of two counts."""

from msgspec import Struct


class Tokens(Struct, frozen=True, gc=False):
    """Tokens of a turn or a session. Cached tokens are not part of the sent ones."""

    sent: int
    received: int
    cache_read: int | None = None
    cache_written: int | None = None


class Counted(Struct, frozen=True, gc=False):
    """The usage of a response, for its turn."""

    turn: Tokens
    total: Tokens | None = None
    """The session's tokens, if the agent counts those."""
    is_of_last_call: bool = False
    """The turn called the model several times, and only the last call is counted."""


def added(one: Tokens, other: Tokens) -> Tokens:
    """Return the sum of two counts."""
    return Tokens(
        one.sent + other.sent,
        one.received + other.received,
        _both(one.cache_read, other.cache_read),
        _both(one.cache_written, other.cache_written),
    )


def difference(now: Tokens, before: Tokens | None) -> Tokens:
    """Return the difference of two counts. A smaller count means that counting started again."""
    if before is None or now.sent < before.sent or now.received < before.received:
        return now
    return Tokens(
        now.sent - before.sent,
        now.received - before.received,
        None if now.cache_read is None else max(now.cache_read - (before.cache_read or 0), 0),
        None if now.cache_written is None else max(now.cache_written - (before.cache_written or 0), 0),
    )


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
