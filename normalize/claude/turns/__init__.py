"""Turns: from prompt to result. At most one is open. Each starts once and ends once.

`Turn` also keeps facts about the turn until its end: whether it was interrupted, and its errors.
"""

from msgspec import Struct, field

from turnwire.normalize.common.endings import Origin
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import Complete, CompleteData, TurnStarted


class Failure(Struct):
    """An error the CLI reported as the answer of the model."""

    message: str
    code: str | None = None
    status: int | None = None
    told: bool = False
    """The error already has an event, published with its line."""


class Turn(Struct):
    """The open turn."""

    id: str
    origin: Origin
    prompts: dict[str, None] = field(default_factory=dict)
    """UUIDs of the prompts it serves."""
    unserved: set[str] = field(default_factory=set)
    """Those of which the CLI reported that they wait."""
    began: bool = False
    """Its `init` has arrived."""
    active: bool = False
    """The main thread has done something since."""
    interrupted: bool = False
    """It was interrupted."""
    failure: Failure | None = None
    """The last error of the main thread's model."""
    local_output: list[str] = field(default_factory=list)
    """Output of slash commands. The result may repeat it."""


class Turns:
    """Opens and closes turns."""

    def __init__(self, place: EventContext, first: int) -> None:
        self._place = place
        self._next = first
        self.current: Turn | None = None

    @property
    def count(self) -> int:
        """Number of turns started, including those before this core."""
        return self._next - 1

    def start(self, origin: Origin, prompts: list[str]) -> tuple[Turn, TurnStarted]:
        """Open a turn. There must be none."""
        turn = self.current = Turn(f"turn-{self._next}", origin, dict.fromkeys(prompts))
        self._next += 1
        self._place.enter_turn(turn.id)
        return turn, TurnStarted(
            session_id=self._place.session_id,
            operation_id=turn.id,
            origin=origin,
            prompts=[*prompts] or None,
        )

    def complete(self, data: CompleteData) -> Complete:
        """Close the open turn."""
        error = "; ".join(data.errors) if data.errors and data.is_error else None
        here = self._place.here
        event = Complete(
            session_id=here["session_id"],
            operation_id=here["operation_id"],
            data=data,
            error=error,
            last_message_uuid=data.last_message_uuid,
        )
        self.current = None
        return event

    def permission_outcome(self) -> None:
        """Leave the turn. Separate from `complete`, since the turn's error follows it."""
        self._place.enter_turn(None)
