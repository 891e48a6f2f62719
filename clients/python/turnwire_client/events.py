"""The events of a session: `type` tells which.

Generated from `turnwire schema frames` by `make client-types`; do not edit.
"""

from typing import TYPE_CHECKING, TypeAlias

from .payloads import ContentPart, NormalizedPayload, Question, TodoItem
from .values import Event, JsonObject, JsonValue, Value

if TYPE_CHECKING:
    from typing import Literal
else:
    from .values import AnyWord as Literal


class SessionEvent(Event, frozen=True, kw_only=True):
    """A fact about a session. `type` names its kind. Empty fields are left out of the JSON."""

    session_id: str | None = None
    """The CLI's session id. It can change on resume; turnwire's own id is in the envelope."""
    operation_id: str | None = None
    """Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns."""
    truncated: dict[str, int] | None = None
    """Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole."""


class ThreadEvent(SessionEvent, frozen=True, kw_only=True):
    """A fact about one thread of the conversation: the main one, or a subagent's."""

    parent_tool_call_id: str | None = None
    """The tool call whose subagent this belongs to; absent in the main thread."""
    message_id: str | None = None
    """The API message's id, if known; the line's UUID for text that the model did not write."""
    block_index: int | None = None
    """Index of the content block within its message, if known."""
    history: bool | None = None
    """True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn."""


class TurnStarted(SessionEvent, frozen=True, kw_only=True, tag="turn_started"):
    """A turn began. Exactly one `complete` with the same operation_id follows."""

    origin: Literal["user", "queued", "background", "autonomous"]
    """Why: a prompt, a prompt that had waited, the end of a background task, or the CLI's or turnwire's own accord."""
    prompts: list[str] | None = None
    """UUIDs of the prompts that it serves, as far as they are known at its start."""


class UserMessage(ThreadEvent, frozen=True, kw_only=True, tag="user_message"):
    """A message to the agent from a human, or from a program in their place."""

    text: str
    """The text; empty when there are only attachments."""
    uuid: str | None = None
    """The message's UUID."""
    parts: list[ContentPart] | None = None
    """Images and documents."""
    synthetic: bool | None = None
    """True when the CLI, or turnwire, made it up itself."""


class MessageChunk(ThreadEvent, frozen=True, kw_only=True, tag="message_chunk"):
    """A piece of the agent's text. Pieces with the same message_id and block_index belong together, in order."""

    text: str
    """The piece."""
    replace: bool | None = None
    """True for a correction: it replaces all earlier pieces of the block."""
    source: Literal["local_command", "result", "synthetic"] | None = None
    """Where the text is from when the model did not write it in a message: output of a slash command, the
    turn's result, a message the CLI made up. Absent for the model's own text."""
    parts: list[ContentPart] | None = None
    """Content other than text: images, sounds, resources."""
    is_delta: bool | None = None
    """True when more of the same block may follow."""


class Reasoning(ThreadEvent, frozen=True, kw_only=True, tag="reasoning"):
    """A piece of the agent's thinking."""

    reasoning_text: str
    """The piece; empty for redacted thinking."""
    replace: bool | None = None
    """True if this replaces all earlier pieces of the block."""
    redacted: bool | None = None
    """True when the API encrypted it."""
    is_delta: bool | None = None
    """True when more of the same block may follow."""


class ToolCall(ThreadEvent, frozen=True, kw_only=True, tag="tool_call"):
    """The agent calls a tool. One per tool_use block."""

    tool_call_id: str
    """Unique in the session."""
    agent_call_id: str | None = None
    """The agent's own id of the call, where that is another: agents use ids again."""
    tool_name: str
    """The tool, as the agent calls it."""
    tool_title: str
    """One line for humans."""
    tool_status: Literal["running"]
    """Always running: the update that follows ends it."""
    normalized: NormalizedPayload
    """The call's action."""


class ToolUpdate(ThreadEvent, frozen=True, kw_only=True, tag="tool_update"):
    """News of a tool call. Exactly one update with a status other than running ends it."""

    tool_call_id: str
    """The call."""
    tool_name: str | None = None
    """The tool, as the agent calls it."""
    tool_title: str | None = None
    """One line for humans."""
    tool_status: Literal["running", "complete", "error", "unknown"]
    """`running` reports progress; the others are final. `unknown`: the agent never reported how the call ended."""
    normalized: NormalizedPayload | None = None
    """The call's payload, enriched with its result."""
    error: str | None = None
    """Why it failed."""
    reason: Literal["failed", "denied", "interrupted", "process_exited", "no_result"] | None = None
    """The kind of failure. `no_result`: the turn ended without a result for the call, which is an error unless the
    turn succeeded. Then the call is complete, as Claude Code's deferred calls are, or unknown."""
    background: bool | None = None
    """True if the work continues in the background. `task_update` events report on it."""
    elapsed_ms: int | None = None
    """How long it has been running, in progress updates."""
    uuid: str | None = None
    """UUID of the user message that carried the result."""


class TokenSums(Value, frozen=True, kw_only=True):
    """Tokens by kind."""

    input_tokens: int | None = None
    """Tokens sent, cached ones not included."""
    output_tokens: int | None = None
    """Tokens received."""
    cache_read_input_tokens: int | None = None
    """Tokens read from the cache."""
    cache_creation_input_tokens: int | None = None
    """Tokens written to the cache."""


class CompleteData(Value, frozen=True, kw_only=True):
    """Cost and result of a turn. Times in milliseconds, money in US dollars."""

    outcome: (
        Literal[
            "completed",
            "interrupted",
            "error",
            "max_turns",
            "max_tokens",
            "refusal",
            "budget",
            "process_exited",
            "hung",
        ]
        | None
    ) = None
    """How it ended; always there in our own events, absent in events that others recorded."""
    is_error: bool
    """True when the turn failed."""
    cost_usd: float | None = None
    """Cost of this turn. Absent if a resumed CLI's total cannot be separated from earlier costs."""
    total_cost_usd: float | None = None
    """The CLI's own total of its process. /clear resets it; the total of a resumed process may include its past."""
    duration_ms: int | None = None
    """From prompt to result."""
    duration_api_ms: int | None = None
    """Time spent waiting for the API."""
    num_turns: int | None = None
    """Rounds of model and tools, as the CLI counts them."""
    input_tokens: int | None = None
    """Tokens sent in this turn, cached ones not included."""
    output_tokens: int | None = None
    """Tokens received in this turn."""
    cache_read_input_tokens: int | None = None
    """Tokens read from the cache in this turn."""
    cache_creation_input_tokens: int | None = None
    """Tokens written to the cache in this turn."""
    all_tokens: TokenSums | None = None
    """Tokens of everything in `cost_usd`, including subagents, compaction and helper models. Absent if the
    four fields above have them all, or if they are unknown."""
    tokens_of: Literal["last_call", "lines"] | None = None
    """Set if the token fields above may be less than the turn's. `last_call`: the agent counts only the last call of the model.
    `lines`: the CLI began the next turn without a result of this one. The next turn's `cost_usd` contains its cost."""
    total_input_tokens: int | None = None
    """Tokens sent by the CLI process up to now, cached ones not included."""
    total_output_tokens: int | None = None
    """Tokens received by the CLI process up to now."""
    last_message_uuid: str | None = None
    """The last committed message: the value for `--resume-session-at` from 2.0.76 on."""
    resume_token: str | None = None
    """The value for `--resume-session-at` in the version that wrote this: a message id for 2.0.14, a UUID later."""
    errors: list[str] | None = None
    """The errors, without repetition."""
    api_error_status: int | None = None
    """HTTP status of a failed API call."""
    subtype: str | None = None
    """The result's subtype as the CLI wrote it."""
    stop_reason: str | None = None
    """Why the model stopped."""
    structured_output: JsonValue = None
    """The answer under a JSON schema."""
    permission_denials: list[JsonObject] | None = None
    """Tool calls that were denied: tool_name, tool_use_id, tool_input."""
    prompts: list[str] | None = None
    """UUIDs of the prompts the turn has served."""
    origin: Literal["user", "queued", "background", "autonomous"] | None = None
    """Why the turn began, as known at its end. `turn_started` may have guessed."""
    exit_code: int | None = None
    """Exit code of a CLI that ended before the turn did."""
    signal: str | None = None
    """Signal that ended such a CLI, such as SIGKILL."""
    stderr_tail: str | None = None
    """The last text on standard error."""


class Complete(SessionEvent, frozen=True, kw_only=True, tag="complete"):
    """A turn ended. Exactly one for every turn that started, whatever happens to the CLI."""

    data: CompleteData
    """Cost and result of the turn."""
    error: str | None = None
    """All errors in one line."""
    last_message_uuid: str | None = None
    """The same as in `data`."""


class Error(ThreadEvent, frozen=True, kw_only=True, tag="error"):
    """Something failed. After `complete` it is the turn's error; otherwise an error within the turn.

    An interrupted turn has no error: nothing failed. Its `complete` has the outcome
    `interrupted` and `is_error` false, whatever the agent's own line says (Claude's: `error_during_execution`).
    """

    error: str
    """The text for a human."""
    code: str | None = None
    """authentication_failed, billing_error, rate_limit, invalid_request, server_error, …"""
    status: int | None = None
    """HTTP status of a failed API call."""


class Retraction(SessionEvent, frozen=True, kw_only=True, tag="retraction"):
    """The CLI withdrew messages it had written; a frontend removes their texts."""

    message_uuids: list[str] | None = None
    """UUIDs of messages that no longer count."""
    message_ids: list[str] | None = None
    """API message ids, if only those are known (a broken stream)."""


class Queued(SessionEvent, frozen=True, kw_only=True, tag="queued"):
    """A prompt waits for its turn."""

    position: int | None = None
    """Place in the queue, from 1."""
    prompt: str | None = None
    """The prompt's UUID."""
    text: str | None = None
    """Its text, where no `user_message` has it before the prompt is served."""


class Injected(SessionEvent, frozen=True, kw_only=True, tag="injected"):
    """Waiting prompts joined the running turn."""

    message_count: int
    """How many."""
    content_length: int | None = None
    """Their length in characters."""
    prompts: list[str] | None = None
    """Their UUIDs."""


class Withdrawn(SessionEvent, frozen=True, kw_only=True, tag="withdrawn"):
    """A waiting prompt was taken back and will not be served."""

    prompt: str
    """The prompt's UUID."""


class RememberedRule(Value, frozen=True, kw_only=True):
    """A rule that an answer adds for later calls."""

    rule: str
    """The rule as the agent writes it, such as `Bash(npm publish *)`, or the directory that it opens,
    or the permission mode that it switches to."""
    destination: str
    """How far it reaches: session, localSettings, projectSettings, userSettings."""
    file: str | None = None
    """File in which the agent saves it: relative to the top of the git repository, or to the working directory without one; or
    below `~`. Absent for a rule of this session only, or if the file is unknown."""


class PermissionOption(Value, frozen=True, kw_only=True):
    """One way to answer a permission request."""

    option_id: str
    """The value for `permission.respond`."""
    name: str
    """The button's text."""
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]
    """The option's meaning."""
    effect: str | None = None
    """What choosing it comes to: what is allowed from now on, where, and until when. Frontends show it; no two options of a
    request have the same. Absent in logs of older versions."""
    destination: str | None = None
    """Where an always-answer is remembered: session, localSettings, projectSettings, userSettings."""
    remembers: list[RememberedRule] | None = None
    """Every rule that this answer adds. Absent if the agent does not say what it remembers."""

    def label(self) -> str:
        """Return one text for the answer: the name of one that counts once, and what any other comes to."""
        counts_once = self.kind in ("allow_once", "reject_once")
        return self.name if counts_once else self.effect or self.name


class PermissionRequest(ThreadEvent, frozen=True, kw_only=True, tag="permission_request"):
    """The agent waits for permission to call a tool."""

    pending_id: str
    """Names this request in `permission.respond`; the control request's id."""
    tool_call_id: str | None = None
    """The tool call that waits; found by name and input where the CLI does not say (1.0, 2.0)."""
    tool_name: str | None = None
    """The tool, as the agent calls it."""
    permission_title: str
    """One line for humans. For a command it is the command itself. A command that the agent does not reveal is called unknown."""
    agent_title: str | None = None
    """The agent's own title, if it differs. Its model may have chosen the words, so never decide by them."""
    permission_options: list[PermissionOption]
    """The possible answers, in the agent's order: some agents begin with one that lasts. `kind` says what each is."""
    action_type: Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"]
    """The kind of action."""
    action_details: JsonObject | None = None
    """The command, the path, the address …"""
    tool_input: JsonObject | None = None
    """The tool's arguments, for editing."""
    normalized: NormalizedPayload | None = None
    """The tool call's payload, so that a dialog can show the diff or the command."""
    reason: str | None = None
    """Why the CLI asks."""
    blocked_path: str | None = None
    """The path outside the allowed ones."""
    suggestions: list[JsonObject] | None = None
    """permission_suggestions as the CLI made them."""
    agent_id: str | None = None
    """The subagent that asks."""

    def allow_once(self) -> str:
        """Return the id of the option that allows this call and no later one; raises LookupError if the agent offers none."""
        return self._option("allow_once")

    def deny(self) -> str:
        """Return the id of the option that refuses this call, and no later one if the agent offers that; raises LookupError."""
        return self._option("reject_once", "reject_always")

    def _option(self, *kinds: str) -> str:
        for kind in kinds:
            for option in self.permission_options:
                if option.kind == kind:
                    return option.option_id
        offered = ", ".join(f"{one.option_id} ({one.kind})" for one in self.permission_options) or "none"
        raise LookupError(
            f"Request {self.pending_id} has no option of the kind {' or '.join(kinds)}. Choose among its options: {offered}."
        )


class PermissionResolved(SessionEvent, frozen=True, kw_only=True, tag="permission_resolved"):
    """A pending request was answered, and how."""

    pending_id: str
    """The request."""
    tool_call_id: str | None = None
    """The tool call that waited."""
    tool_name: str | None = None
    """The tool."""
    behavior: Literal["allow", "deny", "ask", "answer"]
    """The decision; `answer` for questions and dialogs; `ask` when a hook passed it on to a human."""
    option_id: str | None = None
    """The option that was chosen."""
    by: str | None = None
    """The decider: a frontend's name, `policy:NAME`, `rule:NUMBER`, `timeout`, …"""
    waited_ms: int | None = None
    """How long the request had waited."""
    message: str | None = None
    """The text for the agent."""
    updated_input: JsonObject | None = None
    """The arguments as edited, when they were."""
    destination: str | None = None
    """Where an always-answer is remembered."""
    interrupt: bool | None = None
    """True when the denial also stopped the turn."""
    unasked: bool | None = None
    """True if nobody was asked: a rule or a policy decided as the request arrived. No `permission_request` or `question_request`
    was
    published for it; the next three fields describe it."""
    permission_title: str | None = None
    """The line that a dialog would have shown. Only if `unasked`."""
    action_type: Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"] | None = None
    """The kind of action. Only if `unasked`; absent for a question."""
    action_details: JsonObject | None = None
    """The command, the path, the address …. Only if `unasked`."""


class PermissionCancelled(SessionEvent, frozen=True, kw_only=True, tag="permission_cancelled"):
    """A pending request is void; its dialog closes."""

    pending_id: str
    """The request."""
    tool_call_id: str | None = None
    """The tool call that waited."""
    reason: Literal["cancelled", "interrupted", "process_exited", "timeout", "turn_ended"] | None = None
    """Why."""


class QuestionRequest(ThreadEvent, frozen=True, kw_only=True, tag="question_request"):
    """The agent, an MCP server or the CLI asks a human and waits."""

    pending_id: str
    """Names this request in `question.answer`."""
    kind: Literal["ask_user", "elicitation", "dialog"]
    """Who asks: the agent, an MCP server or the CLI."""
    tool_call_id: str | None = None
    """The tool call that waits."""
    questions: list[Question] | None = None
    """The questions, of ask_user."""
    message: str | None = None
    """The question's text, for the other kinds."""
    requested_schema: JsonValue = None
    """JSON Schema of the answer, of an elicitation."""
    mode: str | None = None
    """`form` or `url`, of an elicitation."""
    url: str | None = None
    """Where to answer, of an elicitation by url."""
    mcp_server: str | None = None
    """The MCP server that asks."""
    details: JsonObject | None = None
    """The rest of the request as it came."""


class SandboxDenied(SessionEvent, frozen=True, kw_only=True, tag="sandbox_denied"):
    """The sandbox refused something: a host that nobody allowed, or a file that is read-only or hidden."""

    kind: Literal["host", "path"]
    """The kind of the refused thing."""
    target: str
    """HOST:PORT, or the path."""
    reason: str
    """Why, and what would allow it; for humans."""
    tool_call_id: str | None = None
    """The tool call that caused it, if known."""


class Mode(Value, frozen=True, kw_only=True):
    """A mode that a session can be in."""

    id: str
    """The value that switches to it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""


class SessionMode(SessionEvent, frozen=True, kw_only=True, tag="session_mode"):
    """The permission mode changed."""

    current_mode_id: str
    """default, acceptEdits, plan, bypassPermissions, …; of other agents whatever they call it."""
    available_modes: list[Mode] | None = None
    """The modes there are, where the agent lists them; absent when they are as they were."""


class AgentPlan(ThreadEvent, frozen=True, kw_only=True, tag="agent_plan"):
    """The agent shows its plan."""

    plan_content: str
    """The plan in Markdown."""
    plan_file_path: str | None = None
    """The file that holds it (2.1)."""
    tool_call_id: str | None = None
    """The ExitPlanMode call."""
    plan_id: str | None = None
    """The plan's id, for agents with several plans. A later plan with the same id replaces it."""
    items: list[TodoItem] | None = None
    """Its entries, where it is a list of things to do; `plan_content` shows the same."""


class HookActivity(ThreadEvent, frozen=True, kw_only=True, tag="hook_activity"):
    """A hook ran, in the CLI or in the sidecar."""

    phase: Literal["started", "progress", "finished", "callback", "answered"]
    """started, progress, finished: run by the CLI; callback, answered: asked of us and answered."""
    hook_event: str | None = None
    """PreToolUse, PostToolUse, Stop, …"""
    hook_id: str | None = None
    """The CLI's id of the run, or the control request's id of a callback."""
    hook_name: str | None = None
    """The hook's name, or the callback's."""
    tool_call_id: str | None = None
    """The tool call it concerns."""
    tool_name: str | None = None
    """The tool it concerns."""
    outcome: str | None = None
    """The outcome: success, error, cancelled, allow, deny, ask, block, …"""
    output: str | None = None
    """Its output or answer."""
    stderr: str | None = None
    """Its output on standard error."""
    exit_code: int | None = None
    """Its exit code."""


class SessionStatusData(Value, frozen=True, kw_only=True):
    """The data of session_status."""

    session_status: Literal["new", "resumed"]
    """Is the conversation new, or does it go on?"""
    init: bool | None = None
    """True: the CLI itself reported it."""


class SessionStatus(SessionEvent, frozen=True, kw_only=True, tag="session_status"):
    """The CLI has a session. Published once per session id."""

    data: SessionStatusData
    """New or resumed."""


class Command(Value, frozen=True, kw_only=True):
    """A slash command."""

    name: str
    """Without the slash."""
    description: str | None = None
    """A description."""
    argument_hint: str | None = None
    """The arguments that may follow it."""


class AvailableCommands(SessionEvent, frozen=True, kw_only=True, tag="available_commands"):
    """The slash commands; each event replaces the list."""

    available_commands: list[Command]
    """All of them."""


class McpServerStatus(Value, frozen=True, kw_only=True):
    """An MCP server in the CLI's list."""

    name: str
    """Its name."""
    status: str | None = None
    """connected, failed, needs-auth, pending, …"""


class Model(Value, frozen=True, kw_only=True):
    """A model that a session can use."""

    id: str
    """The value that switches to it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""


class AuthMethod(Value, frozen=True, kw_only=True):
    """A way to log in to the agent."""

    id: str
    """The value that chooses it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """The credentials that it needs."""


class SessionInfo(SessionEvent, frozen=True, kw_only=True, tag="session_info"):
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


class OptionValue(Value, frozen=True, kw_only=True):
    """One value of an option."""

    value: str
    """The value."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""
    group: str | None = None
    """The group of values it is listed in."""


class SessionOption(Value, frozen=True, kw_only=True):
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


class SessionOptions(SessionEvent, frozen=True, kw_only=True, tag="session_options"):
    """The settings of the session that the agent lists. Each event replaces the list."""

    options: list[SessionOption]
    """All of them."""


class ContextWindow(SessionEvent, frozen=True, kw_only=True, tag="context_window"):
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


class RateLimit(SessionEvent, frozen=True, kw_only=True, tag="rate_limit"):
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


class CompactBoundary(SessionEvent, frozen=True, kw_only=True, tag="compact_boundary"):
    """The conversation before this was replaced by a summary."""

    trigger: str | None = None
    """manual or auto."""
    pre_tokens: int | None = None
    """Context before, in tokens."""
    post_tokens: int | None = None
    """Context after, in tokens."""


class Cut(SessionEvent, frozen=True, kw_only=True, tag="cut"):
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


class History(SessionEvent, frozen=True, kw_only=True, tag="history"):
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


class ApiRetry(SessionEvent, frozen=True, kw_only=True, tag="api_retry"):
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


class Consolidation(SessionEvent, frozen=True, kw_only=True, tag="consolidation"):
    """The agent wrote to its long-term memory."""

    entries_created: int
    """New entries."""
    entries_updated: int
    """Changed entries."""


class ProcessStatus(SessionEvent, frozen=True, kw_only=True, tag="process_status"):
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


class Notice(SessionEvent, frozen=True, kw_only=True, tag="notice"):
    """A fact worth publishing that has no event type."""

    kind: str
    """The subject: the CLI's message type or subtype."""
    level: Literal["info", "warning", "error"]
    """How important."""
    text: str
    """The text for a human."""
    details: JsonObject | None = None
    """The message's own fields."""


class TraceContext(SessionEvent, frozen=True, kw_only=True, tag="trace_context"):
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


class Unknown(SessionEvent, frozen=True, kw_only=True, tag="unknown"):
    """A line of a type that this version does not know. The whole line is here."""

    message_type: str
    """The line's type, with its subtype after a slash."""
    raw: str
    """The line."""


class Malformed(SessionEvent, frozen=True, kw_only=True, tag="malformed"):
    """A line that is no message of the protocol."""

    reason: str
    """What is wrong with it."""
    raw: str
    """The line, or its beginning."""
    size: int
    """Its size in bytes."""


AgentEvent: TypeAlias = (
    TurnStarted
    | UserMessage
    | MessageChunk
    | Reasoning
    | ToolCall
    | ToolUpdate
    | Complete
    | Error
    | Retraction
    | Queued
    | Injected
    | Withdrawn
    | PermissionRequest
    | PermissionResolved
    | PermissionCancelled
    | QuestionRequest
    | SandboxDenied
    | SessionMode
    | AgentPlan
    | HookActivity
    | SessionStatus
    | AvailableCommands
    | SessionInfo
    | SessionOptions
    | ContextWindow
    | RateLimit
    | TaskUpdate
    | CompactBoundary
    | Cut
    | History
    | ApiRetry
    | Consolidation
    | ProcessStatus
    | Notice
    | TraceContext
    | Unknown
    | Malformed
)
"""Any event of a session; `type` tells which."""


__all__ = [
    "AgentEvent",
    "AgentPlan",
    "ApiRetry",
    "AuthMethod",
    "AvailableCommands",
    "Command",
    "CompactBoundary",
    "Complete",
    "CompleteData",
    "Consolidation",
    "ContextWindow",
    "Cut",
    "Error",
    "History",
    "HookActivity",
    "Injected",
    "Malformed",
    "McpServerStatus",
    "MessageChunk",
    "Mode",
    "Model",
    "Notice",
    "OptionValue",
    "PermissionCancelled",
    "PermissionOption",
    "PermissionRequest",
    "PermissionResolved",
    "ProcessStatus",
    "QuestionRequest",
    "Queued",
    "RateLimit",
    "Reasoning",
    "RememberedRule",
    "Retraction",
    "SandboxDenied",
    "SessionEvent",
    "SessionInfo",
    "SessionMode",
    "SessionOption",
    "SessionOptions",
    "SessionStatus",
    "SessionStatusData",
    "TaskUpdate",
    "ThreadEvent",
    "TokenSums",
    "ToolCall",
    "ToolUpdate",
    "TraceContext",
    "TurnStarted",
    "Unknown",
    "UserMessage",
    "Withdrawn",
]
