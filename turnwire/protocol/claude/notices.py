"""Messages outside the conversation: limits, progress, suggestions, the state of a prompt.

Nothing here starts, continues or ends a turn.
"""

from msgspec import Struct, field

from turnwire.protocol.json_values import Json
from turnwire.protocol.quantities import Amount, Count


class RateLimitInfo(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="camel"):
    """How much of the account's allowance is used."""

    status: str = ""
    """allowed, allowed_warning or rejected."""
    resets_at: Amount | None = None
    """When the window ends, in seconds since 1970."""
    rate_limit_type: str | None = None
    """five_hour, seven_day, …"""
    utilization: Amount | None = None
    """The share that is used, 0 to 1."""
    overage_status: str | None = None
    """The same for paid overage."""
    is_using_overage: bool | None = None
    """Whether overage is being paid for."""


class RateLimitEvent(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="rate_limit_event"
):
    """The account's allowance changed."""

    rate_limit_info: RateLimitInfo = RateLimitInfo()
    """How it is now."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class RateLimit(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="rate_limit"
):
    """The API is limiting, in Kandev's older spelling."""

    message: Json = None
    """What to tell the user; text, or an object of no known shape."""
    retry_after: Amount | None = None
    """Seconds to wait."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class ToolUseSummary(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="tool_use_summary"
):
    """A line about a few tool calls, for people."""

    summary: str = ""
    """The line."""
    preceding_tool_use_ids: list[str] = field(default_factory=list)
    """The calls it is about."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class ToolProgress(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="tool_progress"
):
    """A tool is still at work."""

    tool_use_id: str = ""
    """The call."""
    tool_name: str = ""
    """The tool."""
    parent_tool_use_id: str | None = None
    """The tool call whose subagent called it."""
    elapsed_time_seconds: Amount = 0
    """For how long it runs."""
    task_id: str | None = None
    """The background task, if it became one."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class AuthStatus(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="auth_status"
):
    """The state of a sign-in."""

    is_authenticating: bool | None = field(default=None, name="isAuthenticating")
    """Whether it is going on."""
    output: list[str] = field(default_factory=list)
    """Its output."""
    error: str | None = None
    """Why it failed."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class PromptSuggestion(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="prompt_suggestion"
):
    """What the user might want to say next (on request)."""

    suggestion: str = ""
    """The prompt."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class CommandLifecycle(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="command_lifecycle"
):
    """What became of a prompt that carried a uuid (2.1.330)."""

    command_uuid: str = ""
    """The prompt."""
    state: str = ""
    """queued, started, completed, cancelled, …"""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class ConversationReset(
    Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    tag_field="type",
    tag="conversation_reset",
):
    """The conversation starts over, by /clear (2.1.330)."""

    new_conversation_id: str | None = None
    """The new conversation."""
    trigger: str | None = None
    """clear, …"""
    user_message_uuid: str | None = None
    """The prompt that did it."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class Goal(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What the session works towards until a condition holds."""

    condition: str = ""
    """When it is reached."""
    iterations: Count | None = None
    """How often it was looked at, and did not hold."""
    set_at: Amount | None = None
    """When it was set, in milliseconds since 1970."""
    tokens_at_start: Count | None = None
    """Tokens used when it was set."""
    last_reason: str | None = None
    """Why it did not hold the last time."""


class ActiveGoal(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="active_goal"
):
    """The goal was set, looked at, or cleared."""

    value: Goal | None = None
    """The goal; None when there is none any more."""
    uuid: str | None = None
    """The line's own id."""
    session_id: str | None = None
    """The CLI's session."""


class TranscriptMirror(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="transcript_mirror"
):
    """Rows of the CLI's own transcript, for a host that keeps a copy (`--session-mirror`)."""

    file_path: str = field(default="", name="filePath")
    """The transcript that they belong to."""
    entries: list[Json] = field(default_factory=list)
    """The rows."""


class KeepAlive(Struct, frozen=True, gc=False, tag_field="type", tag="keep_alive"):
    """Nothing, said from time to time. Never to be written to a CLI (1.0.120 exits)."""
