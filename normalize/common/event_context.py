"""The session and turn that an event belongs to.

The parts of a core share one `EventContext`. `here` holds the fields that every event repeats. It is rebuilt
only when the session or the turn changes.
"""

from typing import TypedDict


class EventFields(TypedDict):
    """The fields that every event takes: `MessageChunk(**place.here, text="…")`."""

    session_id: str | None
    operation_id: str | None


class EventContext:
    """The current session and turn."""

    __slots__ = ("here",)

    def __init__(self) -> None:
        self.here: EventFields = {"session_id": None, "operation_id": None}

    @property
    def session_id(self) -> str | None:
        """The CLI's session id; None until a message named it."""
        return self.here["session_id"]

    def enter_session(self, session_id: str) -> None:
        """Switch to this session of the CLI."""
        self.here = {"session_id": session_id, "operation_id": self.here["operation_id"]}

    def enter_turn(self, operation_id: str | None) -> None:
        """Switch to this turn, or to none."""
        self.here = {"session_id": self.here["session_id"], "operation_id": operation_id}
