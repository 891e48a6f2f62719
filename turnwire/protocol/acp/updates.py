"""The kinds of `session/update`, by `sessionUpdate`."""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.acp.content import AnyContent, AnyShown, Location, UnknownContent, UnknownShown
from turnwire.protocol.json_values import Foreign, Json, JsonObject, text_at
from turnwire.protocol.quantities import Count


def _nothing() -> AnyContent:
    return UnknownContent(raw=None)


class Update(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="sessionUpdate", rename="camel"):
    """The base of every update."""


class Chunk(Update, frozen=True, gc=False):
    """A piece of a message."""

    content: AnyContent = field(default_factory=_nothing)
    """The piece."""
    message_id: str | None = None
    """The message it belongs to; many agents name none."""
    meta: Json = field(name="_meta", default=None)
    """Further data of the agent: a usage, a parent call."""


class UserMessageChunk(Chunk, frozen=True, gc=False, tag="user_message_chunk"):
    """A piece of a user's message. In version 1 only in a replay."""


class AgentMessageChunk(Chunk, frozen=True, gc=False, tag="agent_message_chunk"):
    """A piece of the agent's text."""


class AgentThoughtChunk(Chunk, frozen=True, gc=False, tag="agent_thought_chunk"):
    """A piece of the agent's thoughts."""


class Whole(Update, frozen=True, gc=False):
    """Version 2: a whole message. Another one with the same id replaces it."""

    message_id: str | None = None
    """The message."""
    content: list[AnyContent] | None = None
    """All of it."""
    meta: Json = field(name="_meta", default=None)


class UserMessage(Whole, frozen=True, gc=False, tag="user_message"):
    """The user's message, which begins a turn."""


class AgentMessage(Whole, frozen=True, gc=False, tag="agent_message"):
    """The agent's text."""


class AgentThought(Whole, frozen=True, gc=False, tag="agent_thought"):
    """The agent's thoughts."""


class ToolCallUpdate(Update, frozen=True, gc=False, tag="tool_call_update"):
    """Update of a tool call. Absent fields are unchanged. In version 2 the first update begins the call."""

    tool_call_id: str = ""
    """Id of the call; unique in a session, but some agents start over in each turn."""
    title: str | None = None
    """One line for humans."""
    kind: str | None = None
    """read, edit, delete, move, search, execute, think, fetch, switch_mode, other."""
    status: str | None = None
    """pending, in_progress, completed, failed; in version 2 also paused and cancelled."""
    content: list[AnyShown] | None = None
    """The call's content. It replaces earlier content."""
    locations: list[Location] | None = None
    """The places it is about."""
    raw_input: Json = None
    """The tool's arguments."""
    raw_output: Json = None
    """The tool's result."""
    name: str | None = None
    """The tool's own name, if the agent gives it."""
    meta: Json = field(name="_meta", default=None)
    """Each agent's own: names, parents, terminals, structured results."""


class ToolCall(ToolCallUpdate, frozen=True, gc=False, tag="tool_call"):
    """The beginning of a tool call."""


class Plan(Update, frozen=True, gc=False, tag="plan"):
    """The agent's list of things to do, whole."""

    entries: list[JsonObject] | None = None
    """`{"content", "priority", "status"}` each."""


class PlanUpdate(Update, frozen=True, gc=False, tag="plan_update"):
    """A plan of several, by its id."""

    plan: JsonObject = field(default_factory=dict)
    """`{"planId", "type": "items", "entries"}`, or `markdown` with `content`, or `file` with `uri`."""


class PlanRemoved(Update, frozen=True, gc=False, tag="plan_removed"):
    """A plan is no more."""

    plan_id: str = ""
    """Which."""


class AvailableCommandsUpdate(Update, frozen=True, gc=False, tag="available_commands_update"):
    """The slash commands, all of them."""

    available_commands: list[JsonObject] | None = None
    """`{"name", "description", "input": {"hint"}}` each."""


class CurrentModeUpdate(Update, frozen=True, gc=False, tag="current_mode_update"):
    """The mode changed."""

    current_mode_id: str | None = None
    """To this one."""


class ConfigOptionUpdate(Update, frozen=True, gc=False, tag="config_option_update"):
    """The options of the session, all of them."""

    config_options: list[JsonObject] | None = None
    """`{"id", "name", "category", "type", "currentValue", "options"}` each."""


class SessionInfoUpdate(Update, frozen=True, gc=False, tag="session_info_update"):
    """The session's title."""

    title: str | None = None
    """Its title."""
    updated_at: str | None = None
    """When it last changed."""
    meta: Json = field(name="_meta", default=None)
    """Data of each agent. Codex reports its thread and retries here."""


class UsageUpdate(Update, frozen=True, gc=False, tag="usage_update"):
    """How full the context is, and what the session has cost."""

    used: Count | None = None
    """Tokens in the context."""
    size: Count | None = None
    """Tokens that fit."""
    cost: JsonObject | None = None
    """`{"amount", "currency"}` of the whole session."""
    meta: Json = field(name="_meta", default=None)


class StateUpdate(Update, frozen=True, gc=False, tag="state_update"):
    """Version 2: the session's state. `idle` with a reason ends a turn."""

    state: str | None = None
    """running, requires_action, idle."""
    stop_reason: str | None = None
    """Why the turn ended."""
    usage: JsonObject | None = None
    """Tokens of the turn."""
    error: Json = None
    """The failure."""
    meta: Json = field(name="_meta", default=None)


class TerminalUpdate(Update, frozen=True, gc=False, tag="terminal_update"):
    """Version 2: a terminal of the agent's own."""

    terminal_id: str = ""
    """Which."""
    command: str | None = None
    """The command that runs in it."""
    output: JsonObject | None = None
    """`{"data"}`, base64 encoded: all of its output so far."""
    exit_status: JsonObject | None = None
    """`{"exitCode", "signal"}`."""


class ToolCallContentChunk(Update, frozen=True, gc=False, tag="tool_call_content_chunk"):
    """Version 2: a call shows one thing more."""

    tool_call_id: str = ""
    """Which."""
    content: AnyShown = field(default_factory=lambda: UnknownShown(raw=None))
    """An addition to its content."""


class TerminalOutputChunk(Update, frozen=True, gc=False, tag="terminal_output_chunk"):
    """Version 2: a terminal of the agent's own shows more."""

    terminal_id: str = ""
    """Which."""
    data: str = ""
    """An addition to its content, base64 encoded."""


class Notice(Update, frozen=True, gc=False, tag="notice"):
    """Version 2: a message for a human that is not part of the conversation."""

    severity: str | None = None
    """info, warning, error."""
    title: str = ""
    """One line for humans."""
    description: str | None = None
    """More of them."""


class CompactionUpdate(Update, frozen=True, gc=False, tag="compaction_update"):
    """Version 2: a summary replaces the conversation so far."""

    compaction_id: str = ""
    """Which."""
    status: str | None = None
    """in_progress, completed, failed, cancelled."""
    error: str | None = None
    """Why it failed."""


class CompactionSummaryChunk(Update, frozen=True, gc=False, tag="compaction_summary_chunk"):
    """Version 2: a piece of that summary."""

    compaction_id: str = ""
    """Which."""


class UnknownUpdate(Update, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """An update of another kind, or none at all; `raw` has it whole."""

    @property
    def kind(self) -> str:
        """The update's own kind; "" if it has none."""
        return text_at(self.raw, "sessionUpdate")


AnyUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | UserMessage
    | AgentMessage
    | AgentThought
    | ToolCall
    | ToolCallUpdate
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | StateUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | ToolCallContentChunk
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | UnknownUpdate
)
"""Every update."""
