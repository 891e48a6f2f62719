"""Where an event belongs: the CLI's session and the turn.

One `EventContext` is shared by the parts of a core; `here` holds the fields that every event repeats, made anew
only when the session or the turn changes.
"""

from typing import TypedDict


class EventFields(TypedDict):
    """The fields that every event takes: `MessageChunk(**place.here, text="…")`."""

    session_id: str | None
    operation_id: str | None


class EventContext:
    """The session and the turn of what happens now."""

    __slots__ = ("here",)

    def __init__(self) -> None:
        self.here: EventFields = {"session_id": None, "operation_id": None}

    @property
    def session_id(self) -> str | None:
        """The CLI's session id; None until a message named it."""
        return self.here["session_id"]

    def enter_session(self, session_id: str) -> None:
        """What follows belongs to this session of the CLI."""
        self.here = {"session_id": session_id, "operation_id": self.here["operation_id"]}

    def enter_turn(self, operation_id: str | None) -> None:
        """What follows belongs to this turn, or to none."""
        self.here = {"session_id": self.here["session_id"], "operation_id": operation_id}
