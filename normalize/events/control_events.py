"""Events of the control plane: requests to a human or a policy, and decisions."""

from typing import Literal, TypeAlias

from turnwire.normalize.events.base import Event, ThreadEvent
from turnwire.normalize.model import JsonObject, JsonValue, Published
from turnwire.normalize.payloads import NormalizedPayload
from turnwire.normalize.payloads.work import Question, TodoItem

ActionType: TypeAlias = Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"]


class RememberedRule(Published, frozen=True, kw_only=True):
    """A rule that an answer adds for later calls."""

    rule: str
    """The rule as the agent writes it, such as `Bash(npm publish *)`, or the directory that it opens,
    or the permission mode that it switches to."""
    destination: str
    """How far it reaches: session, localSettings, projectSettings, userSettings."""
    file: str | None = None
    """File in which the agent saves it: relative to the top of the git repository, or to the working directory without one; or
    below `~`. Absent for a rule of this session only, or if the file is unknown.
    """


class PermissionOption(Published, frozen=True, kw_only=True):
    """One way to answer a permission request."""

    option_id: str
    """The value for `permission.respond`."""
    name: str
    """The button's text."""
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]
    """The option's meaning."""
    effect: str | None = None
    """What choosing it comes to: what is allowed from now on, where, and until when. Frontends show it; no two options of a
    request have the same. Absent in logs of older versions.
    """
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
    action_type: ActionType
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


class PermissionResolved(Event, frozen=True, kw_only=True, tag="permission_resolved"):
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
    published for it; the next three fields describe it.
    """
    permission_title: str | None = None
    """The line that a dialog would have shown. Only if `unasked`."""
    action_type: ActionType | None = None
    """The kind of action. Only if `unasked`; absent for a question."""
    action_details: JsonObject | None = None
    """The command, the path, the address …. Only if `unasked`."""


class PermissionCancelled(Event, frozen=True, kw_only=True, tag="permission_cancelled"):
    """A pending request is void; its dialog closes."""

    pending_id: str
    """The request."""
    tool_call_id: str | None = None
    """The tool call that waited."""
    reason: Literal["cancelled", "interrupted", "process_exited", "timeout", "turn_ended"] | None = None
    """Why."""


class SandboxDenied(Event, frozen=True, kw_only=True, tag="sandbox_denied"):
    """The sandbox refused something: a host that nobody allowed, or a file that is read-only or hidden."""

    kind: Literal["host", "path"]
    """The kind of the refused thing."""
    target: str
    """HOST:PORT, or the path."""
    reason: str
    """Why, and what would allow it; for humans."""
    tool_call_id: str | None = None
    """The tool call that caused it, if known."""


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


class Mode(Published, frozen=True, kw_only=True):
    """A mode that a session can be in."""

    id: str
    """The value that switches to it."""
    name: str | None = None
    """The same, for humans."""
    description: str | None = None
    """A description."""


class SessionMode(Event, frozen=True, kw_only=True, tag="session_mode"):
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
