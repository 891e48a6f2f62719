"""A core for recordings: of the family that the first message is of.

What comes before a line that tells (a banner, an answer that could be anybody's) is taken as Claude's; a family that is
told later goes on from there, once, and what was open before is ended.
"""

from normalize.acp.core import AcpCore
from normalize.claude.core import ClaudeCore
from normalize.core import Core, Stats
from normalize.events import AgentEvent, ProcessStatus
from normalize.inputs import Ended, Message, Received, Sent, SessionInput
from protocol.acp.messages import ACP_TYPES

_ACP = frozenset(ACP_TYPES)


class RecognisedCore:
    """Passes on to the core of the family that the messages are of."""

    def __init__(self, *, resumed: bool = False, first_turn: int = 1) -> None:
        """`resumed`: the session goes on with an earlier conversation; `first_turn`: number of the first turn."""
        self._core: Core = ClaudeCore(resumed=resumed, first_turn=first_turn)
        self._resumed = resumed
        self._is_acp = False

    @property
    def stats(self) -> Stats:
        """What became of the lines so far."""
        return self._core.stats

    @property
    def turns(self) -> int:
        """How many turns were started, those before the first one of this core included."""
        return self._core.turns

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return self._core.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self._core.pending

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        """Translate a received message."""
        ended = self._go_on() if not self._is_acp and type(message) in _ACP else []
        return [*ended, *self._core.receive(message, line)] if ended else self._core.receive(message, line)

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Translate whatever has happened in the session."""
        ended: list[AgentEvent] = []
        if not self._is_acp and isinstance(happened, Received | Sent) and type(happened.message) in _ACP:
            ended = self._go_on()
        return [*ended, *self._core.handle(happened)]

    def _go_on(self) -> list[AgentEvent]:
        ended = self._core.handle(Ended("end_of_input"))
        stats, turns = self._core.stats, self._core.turns
        core = AcpCore(resumed=self._resumed, first_turn=turns + 1)
        core.stats = stats
        self._core, self._is_acp = core, True
        return [event for event in ended if not isinstance(event, ProcessStatus)]
