"""Events of the session, its process and the API behind it; and of lines that were not understood."""

from typing import Literal

from turnwire.normalize.events.base import Event, ThreadEvent
from turnwire.normalize.model import JsonObject, Published


class SessionStatusData(Published, frozen=True, kw_only=True):
    """The data of session_status."""

    session_status: Literal["new", "resumed"]
    """Is the conversation new, or does it go on?"""
    init: bool | None = None
    """True: the CLI itself reported it."""


class SessionStatus(Event, frozen=True, kw_only=True, tag="session_status"):
    """The CLI has a session. Published once per session id."""

    data: SessionStatusData
    """New or resumed."""


class Command(Published, frozen=True, kw_only=True):
    """A slash command."""

    name: str
    """Without the slash."""
    description: str | None = None
    """A description."""
    argument_hint: str | None = None
    """The arguments that may follow it."""


class AvailableCommands(Event, frozen=True, kw_only=True, tag="available_commands"):
    """The slash commands; each event replaces the list."""

    available_commands: list[Command]
    """All of them."""


class McpServerStatus(Published, frozen=True, kw_only=True):
    """An MCP server in the CLI's list."""

    name: str
    """Its name."""
    status: str | None = None
    """connected, failed, needs-auth, pending, …"""


class AuthMethod(Published, frozen=True, kw_only=True):
    """A way to log in to the agent."""

    id: str
    """The value that chooses it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """The credentials that it needs."""


class Model(Published, frozen=True, kw_only=True):
    """A model that a session can use."""

    id: str
    """The value that switches to it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""


class OptionValue(Published, frozen=True, kw_only=True):
    """One value of an option."""

    value: str
    """The value."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""
    group: str | None = None
    """The group of values it is listed in."""


class SessionOption(Published, frozen=True, kw_only=True):
    """Something that can be set for a session."""

    id: str
    """The value that sets it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""
    category: str | None = None
    """mode, model, thought_level, permissions, …"""
    kind: str | None = None
    """select or boolean."""
    current: str | None = None
    """Its value; `true` or `false` of a boolean."""
    values: list[OptionValue] | None = None
    """The choices of a select."""


class SessionOptions(Event, frozen=True, kw_only=True, tag="session_options"):
    """The settings of the session that the agent lists. Each event replaces the list."""

    options: list[SessionOption]
    """All of them."""


class SessionInfo(Event, frozen=True, kw_only=True, tag="session_info"):
    """The CLI's facts about itself. Published when they change."""

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
    agent_name: str | None = None
    """Which agent it is, as it calls itself; absent for Claude Code."""
    agent_title: str | None = None
    """The same, for humans."""
    models: list[Model] | None = None
    """Models that can be chosen. Published once, and when they change."""
    capabilities: JsonObject | None = None
    """The agent's capabilities in its protocol's words. Published once."""
    auth_methods: list[AuthMethod] | None = None
    """Ways to log in. Published once."""


class ContextWindow(Event, frozen=True, kw_only=True, tag="context_window"):
    """How full the main model's context is, in tokens."""

    context_window_size: int | None = None
    """Size of the window; null if unknown."""
    context_window_used: int
    """Tokens used."""
    context_window_remaining: int | None = None
    """Tokens left; null if the size is unknown."""
    context_efficiency: float | None = None
    """Used share in per cent; null if the size is unknown."""
    model: str | None = None
    """The main model."""


class RateLimit(Event, frozen=True, kw_only=True, tag="rate_limit"):
    """The API limits the rate, or warns that it soon will."""

    rate_limit_message: str
    """The text for a human."""
    status: str | None = None
    """allowed_warning or rejected; that all is well is not published."""
    resets_at: int | None = None
    """When the limit resets: seconds since 1970."""
    rate_limit_type: str | None = None
    """Which limit: five_hour, seven_day, …"""
    utilization: float | None = None
    """How much of it is used, from 0 to 1."""


class TaskUpdate(ThreadEvent, frozen=True, kw_only=True, tag="task_update"):
    """News of a background task: a subagent, or a command."""

    task_id: str
    """The CLI's id of the task."""
    tool_call_id: str | None = None
    """The tool call that started it."""
    task_status: str
    """running, completed, failed, stopped, killed, …"""
    task_type: str | None = None
    """local_agent, local_bash, …"""
    description: str | None = None
    """The task's purpose."""
    summary: str | None = None
    """The task's result."""
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


class CompactBoundary(Event, frozen=True, kw_only=True, tag="compact_boundary"):
    """The conversation before this was replaced by a summary."""

    trigger: str | None = None
    """manual or auto."""
    pre_tokens: int | None = None
    """Context before, in tokens."""
    post_tokens: int | None = None
    """Context after, in tokens."""


class Cut(Event, frozen=True, kw_only=True, tag="cut"):
    """The conversation continues from an earlier message. Later messages no longer count."""

    text: str
    """The same in words."""
    reason: Literal["rewind", "retry"]
    """A human went back to a message, or repeated the last prompt."""
    at: str | None = None
    """The message, as it was named; absent for the conversation's beginning."""
    within: str | None = None
    """The turn that counts up to that message only."""
    void_turns: list[str]
    """Turns that no longer count, in order."""


class History(Event, frozen=True, kw_only=True, tag="history"):
    """Events between two of these were read from elsewhere and are older than this session. Times are those of the reading."""

    state: Literal["began", "ended"]
    """Whether it begins or ends here."""
    text: str
    """The same in words."""
    conversation: str | None = None
    """The agent's own id of a conversation in its files."""
    forked_from: str | None = None
    """turnwire's session that this one was branched off."""
    at: str | None = None
    """The message of that session after which it was branched off; absent for its end."""
    turns: int | None = None
    """Turns of the conversation that was read."""
    began: str | None = None
    """When the conversation that was read began: RFC 3339, UTC."""
    ended: str | None = None
    """When it went on last."""


class ApiRetry(Event, frozen=True, kw_only=True, tag="api_retry"):
    """A call to the API failed and is tried again."""

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


class Consolidation(Event, frozen=True, kw_only=True, tag="consolidation"):
    """The agent wrote to its long-term memory."""

    entries_created: int
    """New entries."""
    entries_updated: int
    """Changed entries."""


class ProcessStatus(Event, frozen=True, kw_only=True, tag="process_status"):
    """The CLI's process started or ended."""

    state: Literal["started", "exited", "stalled", "resumed"]
    """`stalled`: no output for longer than configured; `resumed`: it speaks again."""
    pid: int | None = None
    """Its process id."""
    agent: str | None = None
    """For `started`: the agent's name in turnwire's settings."""
    provider: str | None = None
    """For `started`: where the model runs, if variables of Claude Code say so, such as `aws.bedrock`."""
    resumed: bool | None = None
    """True when it was started to go on with an earlier conversation."""
    after_turns: int | None = None
    """For `started`: turns before it, if turnwire resumes following the session after its own restart."""
    exit_code: int | None = None
    """Its exit code."""
    signal: str | None = None
    """The signal that ended it, such as SIGKILL."""
    stderr_tail: str | None = None
    """The last text on standard error."""
    reason: str | None = None
    """Why, if known: stop requested, end of recording, …"""
    silent_ms: int | None = None
    """How long it has been silent, of `stalled`."""


class TraceContext(Event, frozen=True, kw_only=True, tag="trace_context"):
    """The trace of an agent's process, or of a prompt's turn (W3C Trace Context and Baggage).

    turnwire publishes it when spans are exported: before an agent starts, and before each prompt. A replay of the
    recording then gives the same spans, and a frontend can link to the trace.
    """

    traceparent: str
    """Our own span: `turnwire.session` of the process, or `streamjson.prompt` of the turn."""
    prompt: str | None = None
    """UUID of the prompt; absent for the agent's process."""
    parent: str | None = None
    """The caller's `traceparent`; our span is a child of that one."""
    tracestate: str | None = None
    """The caller's `tracestate`."""
    baggage: str | None = None
    """The caller's `baggage`."""


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """A fact worth publishing that has no event type."""

    kind: str
    """The subject: the CLI's message type or subtype."""
    level: Literal["info", "warning", "error"]
    """How important."""
    text: str
    """The text for a human."""
    details: JsonObject | None = None
    """The message's own fields."""


class Unknown(Event, frozen=True, kw_only=True, tag="unknown"):
    """A line of a type that this version does not know. The whole line is here."""

    message_type: str
    """The line's type, with its subtype after a slash."""
    raw: str
    """The line."""


class Malformed(Event, frozen=True, kw_only=True, tag="malformed"):
    """A line that is no message of the protocol."""

    reason: str
    """What is wrong with it."""
    raw: str
    """The line, or its beginning."""
    size: int
    """Its size in bytes."""
