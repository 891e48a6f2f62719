"""Events of the session, its process and the API behind it; and what was not understood."""

from typing import Literal

from normalize.event_base import Event, ThreadEvent
from normalize.model import JsonObject, Published


class SessionStatusData(Published):
    """Spec 3's data of session_status."""

    session_status: Literal["new", "resumed"]
    """Is the conversation new, or does it go on?"""
    init: bool | None = None
    """True: the CLI said so itself."""


class SessionStatus(Event):
    """The CLI has a session. Once per session id."""

    type: Literal["session_status"] = "session_status"
    data: SessionStatusData
    """New or resumed."""


class Command(Published):
    """A slash command."""

    name: str
    """Without the slash."""
    description: str | None = None
    """What it does."""
    argument_hint: str | None = None
    """What may follow it."""


class AvailableCommands(Event):
    """The slash commands; each event replaces the list."""

    type: Literal["available_commands"] = "available_commands"
    available_commands: list[Command]
    """All of them."""


class McpServerStatus(Published):
    """An MCP server the CLI knows."""

    name: str
    """Its name."""
    status: str | None = None
    """connected, failed, needs-auth, pending, …"""


class SessionInfo(Event):
    """What the CLI says of itself; sent when it changes."""

    type: Literal["session_info"] = "session_info"
    model: str | None = None
    """The main model."""
    cwd: str | None = None
    """The workspace."""
    version: str | None = None
    """The CLI's version."""
    permission_mode: str | None = None
    """default, acceptEdits, plan, bypassPermissions, …"""
    tools: list[str] | None = None
    """Tools the agent has."""
    mcp_servers: list[McpServerStatus] | None = None
    """MCP servers and their state."""
    agents: list[str] | None = None
    """Subagents by name."""
    skills: list[str] | None = None
    """Skills by name."""
    output_style: str | None = None
    """The CLI's output style."""
    api_key_source: str | None = None
    """Where the CLI has its key from."""


class ContextWindow(Event):
    """How full the main model's context is, in tokens."""

    type: Literal["context_window"] = "context_window"
    context_window_size: int
    """Size of the window; 200000 until the CLI says otherwise (spec 3)."""
    context_window_used: int
    """Tokens used."""
    context_window_remaining: int
    """Tokens left, never below 0."""
    context_efficiency: float
    """Share used, in per cent."""
    model: str | None = None
    """The main model."""


class RateLimit(Event):
    """The API limits the rate, or warns that it soon will."""

    type: Literal["rate_limit"] = "rate_limit"
    rate_limit_message: str
    """What a human should read."""
    status: str | None = None
    """allowed, allowed_warning, rejected."""
    resets_at: int | None = None
    """When the limit resets: seconds since 1970."""
    rate_limit_type: str | None = None
    """Which limit: five_hour, seven_day, …"""
    utilization: float | None = None
    """How much of it is used, from 0 to 1."""


class TaskUpdate(ThreadEvent):
    """News of a background task: a subagent, or a command."""

    type: Literal["task_update"] = "task_update"
    task_id: str
    """The CLI's id of the task."""
    tool_call_id: str | None = None
    """The tool call that started it."""
    task_status: str
    """running, completed, failed, stopped, killed, …"""
    task_type: str | None = None
    """local_agent, local_bash, …"""
    description: str | None = None
    """What it is for."""
    summary: str | None = None
    """What came of it."""
    last_tool_name: str | None = None
    """The tool it used last."""
    total_tokens: int | None = None
    """Tokens it has used."""
    tool_uses: int | None = None
    """Tools it has called."""
    duration_ms: int | None = None
    """How long it has run."""
    output_file: str | None = None
    """The file with its whole output."""
    exit_code: int | None = None
    """Exit code of a command."""


class CompactBoundary(Event):
    """The conversation before this was replaced by a summary."""

    type: Literal["compact_boundary"] = "compact_boundary"
    trigger: str | None = None
    """manual or auto."""
    pre_tokens: int | None = None
    """Context before, in tokens."""
    post_tokens: int | None = None
    """Context after, in tokens."""


class ApiRetry(Event):
    """A call to the API failed and is tried again."""

    type: Literal["api_retry"] = "api_retry"
    attempt: int
    """Which attempt failed, from 1."""
    max_retries: int | None = None
    """How many there will be at most."""
    delay_ms: float | None = None
    """When the next one starts."""
    status: int | None = None
    """HTTP status."""
    error: str | None = None
    """What failed."""


class Consolidation(Event):
    """The agent wrote to its long-term memory (spec 1)."""

    type: Literal["consolidation"] = "consolidation"
    entries_created: int = 0
    """New entries."""
    entries_updated: int = 0
    """Changed entries."""


class ProcessStatus(Event):
    """The CLI's process started or ended."""

    type: Literal["process_status"] = "process_status"
    state: Literal["started", "exited", "stalled", "resumed"]
    """`stalled`: no output for longer than configured; `resumed`: it speaks again."""
    pid: int | None = None
    """Its process id."""
    exit_code: int | None = None
    """Its exit code."""
    signal: str | None = None
    """The signal that ended it, such as SIGKILL."""
    stderr_tail: str | None = None
    """The last it said on standard error."""
    reason: str | None = None
    """Why, when we know: stop requested, end of recording, …"""
    silent_ms: int | None = None
    """How long it has been silent."""


class Notice(Event):
    """Something worth telling that has no event of its own."""

    type: Literal["notice"] = "notice"
    kind: str
    """What about: the CLI's message type or subtype."""
    level: Literal["info", "warning", "error"] = "info"
    """How important."""
    text: str
    """What a human should read."""
    details: JsonObject | None = None
    """The message's own fields."""


class Unknown(Event):
    """A line of a type this version does not know. Nothing is lost: the line is here."""

    type: Literal["unknown"] = "unknown"
    message_type: str
    """The line's type, with its subtype after a slash."""
    raw: str
    """The line."""


class Malformed(Event):
    """A line that is no message of the protocol."""

    type: Literal["malformed"] = "malformed"
    reason: str
    """What is wrong with it."""
    raw: str
    """The line, or its beginning."""
    size: int
    """Its size in bytes."""
    line: int | None = None
    """Its number in the stream, from 1."""
