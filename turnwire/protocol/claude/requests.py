"""Bodies of control requests: what the CLI asks its host, and what a host asks the CLI.

The subtype is the msgspec tag. A subtype without a model is an `UnknownRequest`, which is also the way to send one.
"""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.json_values import Foreign, Json, JsonObject, text_at


class Request(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="subtype"):
    """The base of every control request's body."""

    @property
    def subtype(self) -> str:
        """The word that tells requests apart."""
        return str(self.__struct_config__.tag)


class CanUseTool(Request, frozen=True, gc=False, kw_only=True, omit_defaults=False, tag="can_use_tool"):
    """May this tool run? Asked by the CLI; the turn waits for the answer."""

    tool_name: str = ""
    """The tool."""
    input: JsonObject = field(default_factory=dict)
    """The call's arguments."""
    title: str | None = None
    """The question, if the CLI has its own words for it (2.1.330)."""
    tool_use_id: str | None = None
    """The call; 1.0 and 2.0.14 do not say."""
    permission_suggestions: list[JsonObject] = field(default_factory=list)
    """What to send back as `updatedPermissions` to be asked less: addRules, setMode, addDirectories."""
    blocked_path: str | None = None
    """The path that needs permission."""
    blocked_paths: str | list[str] | None = None
    """The same field in Kandev's lines: paths, joined by commas."""
    decision_reason: str | None = None
    """The reason for the request, for people."""
    decision_reason_type: str | None = None
    """The reason for the request, for programs."""
    description: str | None = None
    """What the call does, in a few words (2.1)."""
    display_name: str | None = None
    """The tool's name for people (2.1)."""
    agent_id: str | None = None
    """The subagent that calls."""
    classifier_approvable: bool | None = None
    """True if the CLI's classifier may still allow it (2.1.330)."""
    matched_ask_rule: JsonObject | None = None
    """The rule that asks: {source, tool_name, rule_content} (2.1.330)."""
    suppress_always_allow_rule: bool | None = None
    """True if "always" must not be offered (2.1.330)."""
    default_to_no: bool | None = None
    """True if a deny is to be the choice at hand (2.1.330)."""
    requires_user_interaction: bool | None = None
    """True if no rule may answer: it is a question to a human (2.1.330)."""
    mcp_server: JsonObject | None = None
    """The MCP server that has the tool: {name, source} (2.1.330)."""


class HookCallback(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="hook_callback"):
    """A hook that the host registered fires."""

    callback_id: str = ""
    """The hook, by the id given in `initialize`."""
    input: JsonObject = field(default_factory=dict)
    """`hook_event_name` and what belongs to it."""
    tool_use_id: str | None = None
    """The tool call, for tool hooks."""


class McpMessage(Request, frozen=True, gc=False, kw_only=True, omit_defaults=False, tag="mcp_message"):
    """A JSON-RPC message to (or from) an MCP server that lives in the host."""

    server_name: str = ""
    """The server."""
    message: JsonObject = field(default_factory=dict)
    """The JSON-RPC message."""


class Elicitation(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="elicitation"):
    """An MCP server asks the user something."""

    mcp_server_name: str = ""
    """The server."""
    message: str = ""
    """The question."""
    mode: str | None = None
    """form or url."""
    requested_schema: JsonObject | None = None
    """JSON Schema of the answer."""
    url: str | None = None
    """Where to go, in url mode."""
    elicitation_id: str | None = None
    """The id by which a url elicitation is completed."""
    property_order: list[str] | None = None
    """The schema's properties in the server's order (2.1.330)."""
    title: str | None = None
    """The question's title in the server's words (2.1.330)."""
    display_name: str | None = None
    """The server's or tool's name for people (2.1.330)."""
    description: str | None = None
    """What it is about, in the server's words (2.1.330)."""


class RequestUserDialog(
    Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="request_user_dialog"
):
    """The CLI wants the host to show a dialog."""

    dialog_kind: str = ""
    """Which dialog."""
    payload: JsonObject = field(default_factory=dict)
    """What it shows."""
    tool_use_id: str | None = None
    """The tool call it belongs to."""


class Initialize(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="initialize"):
    """The first request of a host: its hooks; the answer lists commands, models and agents."""

    hooks: JsonObject | None = None
    """{event: [{matcher, hookCallbackIds, timeout}]}."""
    sdk_mcp_servers: list[str] | None = field(default=None, name="sdkMcpServers")
    """MCP servers that live in the host."""
    json_schema: JsonObject | None = field(default=None, name="jsonSchema")
    """The schema that the final answer must have."""
    system_prompt: Json = field(default=None, name="systemPrompt")
    """The system prompt, instead of the CLI's own."""
    append_system_prompt: str | None = field(default=None, name="appendSystemPrompt")
    """What to add to the system prompt."""
    agents: JsonObject | None = None
    """Subagents, by name."""
    supported_dialog_kinds: list[str] | None = field(default=None, name="supportedDialogKinds")
    """The dialogs that the host can show (2.1.330)."""
    forward_subagent_text: bool | None = field(default=None, name="forwardSubagentText")
    """Whether to say what subagents say as well (2.1.330)."""
    title: str | None = None
    """The session's title."""
    skills: list[str] | None = None
    """The skills that are offered; all when absent."""
    plugins: list[Json] | None = None
    """Plugins: {type: local, path}."""
    plan_mode_instructions: str | None = field(default=None, name="planModeInstructions")
    """What to do in plan mode, instead of the CLI's own words."""
    exclude_dynamic_sections: bool | None = field(default=None, name="excludeDynamicSections")
    """Whether to keep what differs by machine out of the system prompt."""
    agent_progress_summaries: bool | None = field(default=None, name="agentProgressSummaries")
    """Whether to sum up what subagents do."""
    tool_aliases: JsonObject | None = field(default=None, name="toolAliases")
    """Other names of tools."""
    prompt_suggestions: bool | None = field(default=None, name="promptSuggestions")
    """Whether to suggest the next prompt after a turn."""


class Interrupt(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="interrupt"):
    """Stop the running turn."""

    cancel_queued: bool | None = None
    """True to drop the prompts that wait as well (2.1.330)."""


class SetPermissionMode(
    Request, frozen=True, gc=False, kw_only=True, omit_defaults=False, tag="set_permission_mode"
):
    """Change the permission mode."""

    mode: str = "default"
    """default, acceptEdits, plan, bypassPermissions, …"""


class SetModel(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="set_model"):
    """Change the model."""

    model: str | None = None
    """The model; absent for the default."""


class SetMaxThinkingTokens(
    Request, frozen=True, gc=False, kw_only=True, omit_defaults=False, tag="set_max_thinking_tokens"
):
    """Limit the reasoning."""

    max_thinking_tokens: int | None = None
    """The limit; null for none."""


class RewindFiles(Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="rewind_files"):
    """Put files back to where they were at a user message."""

    user_message_id: str = ""
    """The user message's uuid."""
    dry_run: bool | None = None
    """True to be told only what would change."""


class McpStatus(Request, frozen=True, gc=False, kw_only=True, tag="mcp_status"):
    """How are the MCP servers?"""


class GetContextUsage(Request, frozen=True, gc=False, kw_only=True, tag="get_context_usage"):
    """What fills the context window?"""


class StopTask(Request, frozen=True, gc=False, kw_only=True, tag="stop_task"):
    """Stop a background task."""

    task_id: str = ""
    """The task."""


class CancelAsyncMessage(
    Request, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="cancel_async_message"
):
    """Take back a prompt that is still queued."""

    message_uuid: str = ""
    """The prompt's uuid."""


class GetStatus(Request, frozen=True, gc=False, kw_only=True, tag="status"):
    """Is a turn running, and how many prompts wait? Of miriad-code; no Claude CLI knows it."""


class EndSession(Request, frozen=True, gc=False, kw_only=True, tag="end_session"):
    """End the session."""


class UnknownRequest(Request, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """A request of another subtype; `raw` is its body. Also how to send a request this package does not model."""

    @property
    def subtype(self) -> str:
        """The request's own subtype; "" if it has none."""
        return text_at(self.raw, "subtype")


AnyRequest: TypeAlias = (
    CanUseTool
    | HookCallback
    | McpMessage
    | Elicitation
    | RequestUserDialog
    | Initialize
    | Interrupt
    | SetPermissionMode
    | SetModel
    | SetMaxThinkingTokens
    | RewindFiles
    | McpStatus
    | GetContextUsage
    | StopTask
    | CancelAsyncMessage
    | EndSession
    | GetStatus
    | UnknownRequest
)
