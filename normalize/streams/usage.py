"""Tokens and money of turns, whether an agent counts calls of the model, turns or the conversation."""

from msgspec import Struct

from turnwire.normalize.streams.observations import Usage

MOST = 1 << 53
"""A figure beyond is no figure of tokens."""


class Bill(Struct, frozen=True, kw_only=True):
    """Tokens of a turn, and of the conversation so far; None if unknown."""

    turn: Usage | None
    total: Usage | None


class Counter:
    """The figures of one conversation."""

    def __init__(self) -> None:
        self._calls: Usage | None = None
        self._turn: Usage | None = None
        self._thread: Usage | None = None
        self._before: Usage | None = None
        """The count of the conversation at the end of the turn before."""
        self.goes_on = False
        """The conversation is older than what is known of it."""

    def take(self, usage: Usage) -> None:
        """Take a figure. Impossible figures are ignored."""
        figures = (usage.sent, usage.received, usage.cache_read or 0, usage.cache_written or 0)
        if not all(0 <= figure < MOST for figure in figures):
            return
        match usage.of:
            case "call":
                self._calls = usage if self._calls is None else _sum(self._calls, usage)
            case "turn":
                self._turn = usage
            case "thread":
                self._thread = usage

    def bill(self) -> Bill:
        """Return the figures of the turn that ends now."""
        calls, turn, thread = self._calls, self._turn, self._thread
        self._calls = self._turn = None
        turn = turn or calls  # those of subagents are among the calls, and not in the thread's count
        if turn is None and thread is not None and thread is not self._before:
            turn = None if self.goes_on and self._before is None else _since(thread, self._before)
        self._before = thread
        return Bill(turn=turn, total=thread)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        of=one.of,
        sent=one.sent + other.sent,
        received=one.received + other.received,
        cache_read=_both(one.cache_read, other.cache_read),
        cache_written=_both(one.cache_written, other.cache_written),
        cost_usd=one.cost_usd if other.cost_usd is None else round((one.cost_usd or 0) + other.cost_usd, 10),
    )


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def _since(now: Usage, before: Usage | None) -> Usage:
    """Return the difference of two counts. A smaller count means that counting started again."""
    if before is None or now.sent < before.sent or now.received < before.received:
        return now
    cost = None if now.cost_usd is None else max(round(now.cost_usd - (before.cost_usd or 0), 10), 0.0)
    return Usage(
        of="turn",
        sent=now.sent - before.sent,
        received=now.received - before.received,
        cache_read=None if now.cache_read is None else max(now.cache_read - (before.cache_read or 0), 0),
        cache_written=None
        if now.cache_written is None
        else max(now.cache_written - (before.cache_written or 0), 0),
        cost_usd=cost,
    )
