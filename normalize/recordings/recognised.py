"""A core for recordings: of the family that the first message is of.

What comes before a line that tells (a banner, an answer that could be anybody's) is taken as Claude's; a family that is
told later goes on from there, once, and what was open before is ended. A message of another family is one that Claude's core
has no handler for: so most lines are not looked at twice, and the other family is not imported before it is there.
"""

from typing import TYPE_CHECKING

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, ProcessStatus
from turnwire.normalize.inputs import Announced, Ended, Message, Received, Sent, SessionInput
from turnwire.protocol.acp.messages import ACP_TYPES

if TYPE_CHECKING:
    from turnwire.normalize.acp.core import AcpCore

_ACP = frozenset(ACP_TYPES)


class RecognisedCore(ClaudeCore):
    """Claude's core, until a message is of another family."""

    def __init__(self, *, resumed: bool = False, first_turn: int = 1) -> None:
        """`resumed`: the session goes on with an earlier conversation; `first_turn`: number of the first turn."""
        super().__init__(resumed=resumed, first_turn=first_turn)
        self._resumed = resumed
        self._other: AcpCore | None = None

    @property
    def turns(self) -> int:
        """How many turns were started, those before the first one of this core included."""
        return super().turns if self._other is None else self._other.turns

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return super().busy if self._other is None else self._other.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return super().pending if self._other is None else self._other.pending

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Translate whatever has happened in the session."""
        if type(happened) is Announced and isinstance(happened.event, ProcessStatus):
            return self._follow_start(happened, happened.event)
        if self._other is not None:
            return self._other.handle(happened)
        if isinstance(happened, Received | Sent) and type(happened.message) in _ACP:
            ended, other = self._go_on()
            return ended + other.handle(happened)
        return super().handle(happened)

    def odd(self, message: Message, line: bytes | None) -> list[AgentEvent]:
        """Pass on what is of another family, and all that comes after it."""
        if self._other is not None:
            return self._other.receive(message, line)
        if type(message) not in _ACP:
            return super().odd(message, line)
        ended, other = self._go_on()
        return ended + other.receive(message, line)

    def _follow_start(self, happened: Announced, status: ProcessStatus) -> list[AgentEvent]:
        """Forget what turnwire had forgotten when it started this process: it had been restarted itself."""
        before = status.after_turns
        if status.state != "started" or before is None or before < 0:
            return super().handle(happened) if self._other is None else self._other.handle(happened)
        end = Ended("end_of_input")
        left = super().handle(end) if self._other is None else self._other.handle(end)
        stats = self.stats
        self.__init__(first_turn=before + 1)  # type: ignore[misc]  # it begins anew
        self.stats = stats
        return [event for event in left if not isinstance(event, ProcessStatus)] + super().handle(happened)

    def _go_on(self) -> "tuple[list[AgentEvent], AcpCore]":
        """Return what ends with the family that was taken for the session's, and the core of the other."""
        from turnwire.normalize.acp.core import AcpCore  # noqa: PLC0415 - most recordings have nothing of it

        ended = super().handle(Ended("end_of_input"))
        self._other = AcpCore(resumed=self._resumed, first_turn=super().turns + 1)
        self._other.stats = self.stats
        return [event for event in ended if not isinstance(event, ProcessStatus)], self._other
