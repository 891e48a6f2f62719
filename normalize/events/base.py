"""The fields of every event: where it belongs. Each event class adds only its own fields."""

from turnwire.normalize.model import Published


class Event(Published, frozen=True, kw_only=True, tag_field="type"):
    """A fact about a session. `type` names its kind. Empty fields are left out of the JSON."""

    session_id: str | None = None
    """The CLI's session id. It can change on resume; turnwire's own id is in the envelope."""
    operation_id: str | None = None
    """Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns."""
    truncated: dict[str, int] | None = None
    """Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole."""

    @property
    def type(self) -> str:
        """Which event this is: the `type` of its JSON."""
        return str(self.__struct_config__.tag)


class ThreadEvent(Event, frozen=True, kw_only=True):
    """A fact about one thread of the conversation: the main one, or a subagent's."""

    parent_tool_call_id: str | None = None
    """The tool call whose subagent this belongs to; absent in the main thread."""
    message_id: str | None = None
    """The API message's id, if known; the line's UUID for text that the model did not write."""
    block_index: int | None = None
    """Index of the content block within its message, if known."""
    history: bool | None = None
    """True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn."""
