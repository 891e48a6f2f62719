"""The core of one run of Claude Code, over all of its CLIs: a wait for a rate limit does not end the turn.

Lines of the CLI after the limit do not count, and neither does its end. The next CLI
begins with an init. It would begin a turn, but here it only introduces the CLI.
"""

from collections.abc import Callable

from turnwire.normalize.core import Core, Stats
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Message, Received, Sent, SessionInput
from turnwire.protocol.claude.messages import StreamEvent, User
from turnwire.protocol.claude.system import Init
from turnwire.runner.retry import RateLimitRetry, Wait


class RunCore:
    """Passes inputs that count to the family's core, or to none if lines are passed on unchanged."""

    def __init__(self, retry: RateLimitRetry, now: Callable[[], float], core: Core | None) -> None:
        """`now` returns seconds since 1970."""
        self.wait: Wait | None = None
        """The wait to make; None without one."""
        self.stopped_at: Message | None = None
        """The message that announced the limit."""
        self._retry = retry
        self._now = now
        self._core = core
        self._goes_on = False

    @property
    def stats(self) -> Stats:
        """Counts of the lines so far."""
        return Stats() if self._core is None else self._core.stats

    @property
    def turns(self) -> int:
        """How many turns were started."""
        return 0 if self._core is None else self._core.turns

    @property
    def busy(self) -> bool:
        """True while a turn is open, if a core follows it."""
        return self._core is not None and self._core.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait: none does in a run."""
        return ()

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        """Return the events of a message that was received."""
        if self.wait is not None:
            return []
        # a piece of a stream, as most lines are, tells of no limit and introduces nobody
        if type(message) is not StreamEvent:
            self.wait = self._retry.handle(message, self._now())
            if self.wait is not None:
                self.stopped_at = message
                return []
            if self._goes_on and isinstance(message, Init):
                self._goes_on = False
                return []
        return [] if self._core is None else self._core.receive(message, line)

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Return the events that follow."""
        if self.wait is not None:
            return []
        match happened:
            case Received(line, message):
                return self.receive(message, line)
            case Sent(message=message) if not isinstance(message, User):
                return []  # the control protocol is between the runner and the CLI
            case _:
                pass
        return [] if self._core is None else self._core.handle(happened)

    def go_on(self) -> None:
        """Another CLI continues the turn."""
        self.wait = self.stopped_at = None
        self._goes_on = True
