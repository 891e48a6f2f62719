"""Turns: from prompt to result. One is open at most; each is started once and ended once.

`Turn` also keeps what is known of the turn until its end: whether it was interrupted, what failed in it.
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
    """It has an event already: its line said when it happened."""


class Turn(Struct):
    """What is known of the open turn."""

    id: str
    origin: Origin
    prompts: dict[str, None] = field(default_factory=dict)
    """UUIDs of the prompts it serves."""
    began: bool = False
    """Its `init` has come."""
    active: bool = False
    """The main thread has done something since."""
    interrupted: bool = False
    """It was interrupted."""
    failure: Failure | None = None
    """The last error of the main thread's model."""
    local_output: list[str] = field(default_factory=list)
    """What slash commands printed; the result may repeat it."""


class Turns:
    """Opens and closes turns."""

    def __init__(self, place: EventContext, first: int) -> None:
        self._place = place
        self._next = first
        self.current: Turn | None = None

    @property
    def count(self) -> int:
        """Turns started so far, those before this core included."""
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
        failed = data.is_error and data.outcome != "interrupted"
        error = "; ".join(data.errors) if data.errors and failed else None
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
        """What follows belongs to no turn. Apart from `complete`, since the turn's error comes after it."""
        self._place.enter_turn(None)
