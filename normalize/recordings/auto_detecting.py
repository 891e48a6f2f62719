"""A core for recordings: of the family that the first message is of.

Lines before the deciding one (a banner, an answer of any family) count as Claude's. A family that is recognised later
continues from there, once. What was open before is ended. A message of another family has an attribute `family`, and
Claude's core has no handler for it. So most lines are looked at once, and the other family is imported only when it
is there.
"""

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent, ProcessStatus
from turnwire.normalize.inputs import Announced, Ended, Message, Received, Sent, SessionInput


class AutoDetectingCore(ClaudeCore):
    """Claude's core, until a message is of another family."""

    def __init__(self, *, resumed: bool = False, first_turn: int = 1, family: str | None = None) -> None:
        """`family` names the family, where the lines need not tell it. Raises UnknownFamily."""
        super().__init__(resumed=resumed, first_turn=first_turn)
        self._resumed = resumed
        self._family = family
        self._other: Core | None = None
        if family is not None:
            self._go_on(family)

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
        if isinstance(happened, Received | Sent) and (family := _family_of(happened.message)) is not None:
            ended, other = self._hand_over(family)
            return ended + other.handle(happened)
        return super().handle(happened)

    def unhandled(self, message: Message, line: bytes | None) -> list[AgentEvent]:
        """Pass on what is of another family, and all that comes after it."""
        if self._other is not None:
            return self._other.receive(message, line)
        family = _family_of(message)
        if family is None:
            return super().unhandled(message, line)
        ended, other = self._hand_over(family)
        return ended + other.receive(message, line)

    def _follow_start(self, happened: Announced, status: ProcessStatus) -> list[AgentEvent]:
        """Forget what turnwire had forgotten when it started this process: it had been restarted itself."""
        before = status.after_turns
        if status.state != "started" or before is None or before < 0:
            return super().handle(happened) if self._other is None else self._other.handle(happened)
        end = Ended("end_of_input")
        left = super().handle(end) if self._other is None else self._other.handle(end)
        stats = self.stats
        self.__init__(first_turn=before + 1, family=self._family)  # type: ignore[misc]  # it starts over
        self.stats = stats
        if self._other is not None:
            self._other.stats = stats  # type: ignore[misc]  # as below
        told = super().handle(happened) if self._other is None else self._other.handle(happened)
        return [event for event in left if not isinstance(event, ProcessStatus)] + told

    def _hand_over(self, family: str) -> tuple[list[AgentEvent], Core]:
        """Return what ends with the family that was taken for the session's, and the core of the other."""
        ended = super().handle(Ended("end_of_input"))
        other = self._go_on(family)
        return [event for event in ended if not isinstance(event, ProcessStatus)], other

    def _go_on(self, family: str) -> Core:
        """Let the core of a family do all that follows, and its figures be ours."""
        from turnwire.normalize.families import new_core  # noqa: PLC0415 - families have this core

        self._other = new_core(family, resumed=self._resumed, first_turn=super().turns + 1)
        self._other.stats = self.stats  # type: ignore[misc]  # cores have it as an attribute, but for those of runs
        return self._other


def _family_of(message: Message) -> str | None:
    return getattr(message, "family", None)
