"""`system` messages: everything the CLI says about itself, one class for each subtype.

The subtype is the msgspec tag, so `case Init():` is enough; `case System():` catches the rest. A subtype without a
model is an `UnknownSystem` with its raw object. Hooks and background tasks are in `turnwire.protocol.claude.tasks`, what miriad-code's
agent says in system messages is in `turnwire.protocol.miriad.system`.
"""

from msgspec import Struct, field

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.quantities import Amount, Count


class System(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="subtype"):
    """The base of every system message."""

    session_id: str | None = None
    """The CLI's session."""

    @property
    def subtype(self) -> str:
        """The word that tells system messages apart."""
        return str(self.__struct_config__.tag)


class McpServer(Struct, frozen=True, gc=False, omit_defaults=True):
    """An MCP server as `init` lists it."""

    name: str = ""
    """The server's name."""
    status: str = ""
    """connected, failed, needs-auth, pending, …"""
    source: str | None = None
    """Where it was configured: sdk, dynamic, … (2.1.330)."""


class Init(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="init"):
    """A session begins, or (every version repeats it) a turn does."""

    cwd: str | None = None
    """The working directory."""
    model: str | None = None
    """The model of the main thread."""
    tools: list[str] = field(default_factory=list)
    """Names of the tools. The subagent tool is listed as Task even where its calls are named Agent (2.1)."""
    mcp_servers: list[McpServer] = field(default_factory=list)
    """MCP servers and how they are."""
    permission_mode: str | None = field(default=None, name="permissionMode")
    """default, acceptEdits, plan, bypassPermissions, …"""
    slash_commands: list[str] = field(default_factory=list)
    """Names of the commands, without a slash."""
    version: str | None = field(default=None, name="claude_code_version")
    """The CLI's version (from 2.0.76 or before; not in 2.0.14)."""
    permission_mode_snake: str | None = field(default=None, name="permission_mode")
    """The permission mode as Qwen Code spells it."""
    output_style: str | None = None
    """How the assistant is told to write."""
    api_key_source: str | None = field(default=None, name="apiKeySource")
    """Where the credentials come from."""
    agents: list[str] = field(default_factory=list)
    """Names of the subagents (from 2.0)."""
    skills: list[str] = field(default_factory=list)
    """Names of the skills (from 2.1)."""
    session_status: str | None = None
    """new or resumed, as Kandev's first message says; no real CLI does."""
    largest_context: Count | None = None
    """The most tokens that an answer of this model has had, of a conversation that is read from its file; no CLI says it."""


class Status(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="status"):
    """What the CLI is doing, or a change of the permission mode."""

    status: str | None = None
    """compacting, requesting, or null when it is over."""
    permission_mode: str | None = field(default=None, name="permissionMode")
    """The permission mode, where it changed."""
    compact_result: str | None = None
    """success or failed, after a compaction."""
    compact_error: str | None = None
    """Why it failed (2.1.330)."""
    running: bool | None = None
    """Whether a turn runs; in miriad-code's answer to a status request."""
    queued_messages: Count | None = None
    """How many prompts wait; likewise."""
    user_message_uuids: list[str] = field(default_factory=list)
    """The prompts that are being answered (2.1.330)."""


class CompactMetadata(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a compaction did."""

    trigger: str | None = None
    """manual or auto."""
    pre_tokens: Count | None = None
    """Context tokens before."""
    post_tokens: Count | None = None
    """Context tokens after (2.1)."""


class CompactBoundary(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="compact_boundary"
):
    """The conversation above this point was replaced by a summary."""

    compact_metadata: CompactMetadata | None = None
    """How."""


class ApiRetry(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="api_retry"):
    """A request to the API failed and is tried again (2.1)."""

    attempt: Count = 0
    """Which attempt failed, from 1."""
    max_retries: Count = 0
    """How many there will be."""
    retry_delay_ms: Amount = 0
    """Milliseconds until the next one."""
    error_status: Count | None = None
    """The HTTP status; null if there was no answer."""
    error: str = ""
    """The kind of error: rate_limit, overloaded, server_error, …"""


class Retry(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="retry"):
    """The same as Qwen Code says it: without a number, a status or a reason."""


class SessionStateChanged(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="session_state_changed"
):
    """The session is idle, running or waiting for a human (on request)."""

    state: str = ""
    """idle, running or requires_action."""


class SessionTitleChanged(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="session_title_changed"
):
    """The session got a title."""

    title: str | None = None
    """The title."""


class Informational(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="informational"):
    """A note for the user, such as the message of a hook (2.1)."""

    content: str = ""
    """The note."""
    level: str = ""
    """notice, warning, …"""
    tag: str | None = None
    """What it is about, for programs."""
    tool_use_id: str | None = None
    """The tool call it is about."""
    prevent_continuation: bool | None = None
    """True if it is the reason why the turn does not go on."""


class Notification(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="notification"):
    """A note for the user that a terminal would show for a while."""

    key: str | None = None
    """What it is about, for programs."""
    text: str = ""
    """The note."""
    priority: str | None = None
    """low, medium, high or immediate."""


class LocalCommandOutput(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="local_command_output"
):
    """What a slash command that needs no model printed."""

    uuid: str | None = None
    """The line's own id: `/compact` lets some come again."""
    content: str = ""
    """The output."""


class PermissionDenied(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="permission_denied"
):
    """A tool call was refused without anybody being asked (2.1)."""

    tool_name: str = ""
    """The tool."""
    tool_use_id: str | None = None
    """The call."""
    decision_reason_type: str | None = None
    """What decided: rule, mode, hook, …"""
    message: str = ""
    """Why."""


class ModelFallback(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="model_fallback"):
    """Another model answers from here on (2.1.330)."""

    trigger: str | None = None
    """Why: overloaded, …"""
    original_model: str | None = None
    """The model that was asked for."""
    fallback_model: str | None = None
    """The model that answers."""
    content: str = ""
    """The same for people."""


class ThinkingTokens(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="thinking_tokens"):
    """The model is reasoning; how much so far (2.1.330)."""

    estimated_tokens: Count = 0
    """Tokens so far."""
    estimated_tokens_delta: Count = 0
    """Tokens since the last such message."""


class ControlRequestProgress(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="control_request_progress"
):
    """Our control request takes long (2.1.330)."""

    request_id: str = ""
    """The request."""
    status: str = ""
    """started, …"""


class CommandsChanged(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="commands_changed"
):
    """The slash commands changed."""

    commands: list[Json] = field(default_factory=list)
    """The commands: {name, description, …}."""


class UnknownSystem(System, frozen=True, gc=False, kw_only=True, tag="\x00unknown"):
    """A system message of another subtype; `raw` has it whole."""

    raw: JsonObject
    """The message as it came."""

    @property
    def subtype(self) -> str:
        """The message's own subtype; "" if it has none."""
        return text_at(self.raw, "subtype")
