"""Tokens and money of turns, whether an agent counts calls of the model, turns or the conversation."""

from msgspec import Struct

from turnwire.normalize.common.tokens import added, difference
from turnwire.normalize.streams.observations import Usage
from turnwire.protocol.quantities import MOST


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
        if not all(0 <= figure <= MOST for figure in figures):
            return
        match usage.of:
            case "call":
                self._calls = usage if self._calls is None else added(self._calls, usage)
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
            turn = None if self.goes_on and self._before is None else difference(thread, self._before)
        self._before = thread
        return Bill(turn=turn, total=thread)
