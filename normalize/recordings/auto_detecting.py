"""A core for recordings, of the family of the first message that decides it.

Lines before the deciding one (a banner, an answer of any family) count as Claude's. A family that is recognised later
continues from there, once. Open turns and calls are ended first. A message of another family has an attribute `family`, and
Claude's core has no handler for it. So most lines are looked at once, and the other family is imported only when it
is needed.
"""

from typing import Protocol

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent, ProcessStatus
from turnwire.normalize.inputs import Announced, Ended, Message, Received, Sent, SessionInput


class FamilyCores(Protocol):
    """Makes the core of a named family."""

    def __call__(self, family: str, *, resumed: bool, first_turn: int) -> Core:
        """Raises an error for an unknown family."""
        ...


class AutoDetectingCore(ClaudeCore):
    """Claude's core, until a message is of another family."""

    def __init__(
        self,
        core_of: FamilyCores,
        *,
        resumed: bool = False,
        first_turn: int = 1,
        family: str | None = None,
    ) -> None:
        """`core_of` makes the core of a named family. `family` names the family if the lines need not decide it.

        Raises the errors of `core_of`.
        """
        super().__init__(resumed=resumed, first_turn=first_turn)
        self._core_of = core_of
        self._resumed = resumed
        self._family = family
        self._other: Core | None = None
        self._is_over = False
        """The output was read to its end. Further input is of another process, such as another service of a log."""
        if family is not None:
            self._go_on(family)

    @property
    def turns(self) -> int:
        """Number of turns started, including those before the first one of this core."""
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
        if self._is_over and isinstance(happened, Received | Sent):
            self._start_over(self.turns + 1)
        elif type(happened) is Ended and happened.reason == "end_of_input":
            self._is_over = True
        if type(happened) is Announced and isinstance(happened.event, ProcessStatus):
            return self._follow_start(happened, happened.event)
        if self._other is not None:
            return self._other.handle(happened)
        if isinstance(happened, Received | Sent) and (family := _family_of(happened.message)) is not None:
            ended, other = self._hand_over(family)
            return ended + other.handle(happened)
        return super().handle(happened)

    def unhandled(self, message: Message, line: bytes | None) -> list[AgentEvent]:
        """Switch to another family, whose core handles this line and all following ones."""
        if self._other is not None:
            return self._other.receive(message, line)
        family = _family_of(message)
        if family is None:
            return super().unhandled(message, line)
        ended, other = self._hand_over(family)
        return ended + other.receive(message, line)

    def _follow_start(self, happened: Announced, status: ProcessStatus) -> list[AgentEvent]:
        """Forget the state that turnwire itself had lost when it started this process after its own restart."""
        before = status.after_turns
        if status.state != "started" or before is None or before < 0:
            return super().handle(happened) if self._other is None else self._other.handle(happened)
        end = Ended("end_of_input")
        left = super().handle(end) if self._other is None else self._other.handle(end)
        self._start_over(before + 1)
        told = super().handle(happened) if self._other is None else self._other.handle(happened)
        return [event for event in left if not isinstance(event, ProcessStatus)] + told

    def _start_over(self, first_turn: int) -> None:
        stats = self.stats
        self.__init__(self._core_of, first_turn=first_turn, family=self._family)  # type: ignore[misc]  # it starts over
        self.stats = stats
        if self._other is not None:
            self._other.stats = stats  # type: ignore[misc]  # as below

    def _hand_over(self, family: str) -> tuple[list[AgentEvent], Core]:
        """Return the ends of everything open in the family assumed so far, and the core of the other family."""
        ended = super().handle(Ended("end_of_input"))
        other = self._go_on(family)
        return [event for event in ended if not isinstance(event, ProcessStatus)], other

    def _go_on(self, family: str) -> Core:
        """Pass everything that follows to the core of a family. Its stats continue ours."""
        self._other = self._core_of(family, resumed=self._resumed, first_turn=super().turns + 1)
        self._other.stats = self.stats  # type: ignore[misc]  # cores have it as an attribute, but for those of runs
        return self._other


def _family_of(message: Message) -> str | None:
    return getattr(message, "family", None)
