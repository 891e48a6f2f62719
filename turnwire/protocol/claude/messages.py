"""Messages: the conversation's own (`assistant`, `user`, `stream_event`), and `Message`, the union of all.

Fields that turnwire does not read are ignored. Absent and null are both None. Every str is valid Unicode, except that streamed
deltas may begin or end with half of a surrogate pair.
"""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.claude.blocks import AnyBlock, Content, TextBlock, Usage
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.notices import (
    ActiveGoal,
    AuthStatus,
    CommandLifecycle,
    ConversationReset,
    KeepAlive,
    PromptSuggestion,
    RateLimit,
    RateLimitEvent,
    ToolProgress,
    ToolUseSummary,
    TranscriptMirror,
)
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.stream import AnyApiEvent, UnknownApiEvent
from turnwire.protocol.claude.system import System
from turnwire.protocol.json_values import Foreign, Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.quantities import Count


class AssistantBody(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The inner message of `assistant`."""

    role: str = "assistant"
    """Always assistant."""

    id: str | None = None
    """The API's message id: all lines of one message share it, each carries one block."""
    content: Content = field(default_factory=list)
    """The blocks."""
    model: str | None = None
    """The model, or `<synthetic>` if the CLI wrote the text itself."""
    stop_reason: str | None = None
    """Why the model stopped; rarely known on these lines."""
    usage: Usage | None = None
    """Tokens; not final, never to be summed."""
    error: str | None = None
    """The error where the SDK's protocol puts it."""


class AbandonedBlocks(Struct, frozen=True, gc=False, omit_defaults=True):
    """Blocks of a message that will not be finished (2.1.330)."""

    api_message_id: str | None = None
    """The API's message id."""
    from_block_index: Count = 0
    """The first block that is void."""


class Assistant(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="assistant"
):
    """What the model (or, for errors, the CLI in its name) said."""

    message: AssistantBody = AssistantBody()
    """The message."""
    uuid: str | None = None
    """The line's own id; what --resume-session-at takes."""
    session_id: str | None = None
    """The CLI's session."""
    parent_tool_use_id: str | None = None
    """The tool call whose subagent speaks; None on the main thread."""
    error_kind: str | None = field(default=None, name="error")
    """authentication_failed, billing_error, rate_limit, invalid_request, server_error, unknown, …"""
    is_api_error_message: bool | None = None
    """True if the text is an error of the API (2.1)."""
    api_error_status: Count | None = None
    """The HTTP status of that error."""
    aborted: bool | None = None
    """True if an interrupt cut the message (2.1.220 and later)."""
    local_command_source: str | None = None
    """The raw output of a slash command whose text this is (2.1.330)."""

    @property
    def error(self) -> str | None:
        """The kind of error this message is, in either place; None if it is none."""
        return self.error_kind or self.message.error

    @property
    def blocks(self) -> list[AnyBlock]:
        """The content as blocks."""
        return as_blocks(self.message.content)


class UserBody(Struct, frozen=True, gc=False, kw_only=True):
    """The inner message of `user`."""

    role: str = "user"
    """Always user; CLIs exit on anything else."""
    content: Content = ""
    """A prompt, or tool results."""


class User(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="user"):
    """A prompt; or, from the CLI, tool results, echoes of prompts and output of commands."""

    message: UserBody = UserBody()
    """The message."""
    uuid: str | None = None
    """The line's own id; safe to resume at."""
    session_id: str | None = None
    """The CLI's session; any text in a prompt."""
    parent_tool_use_id: str | None = None
    """The tool call whose subagent this belongs to; None on the main thread."""
    tool_use_result: Json = None
    """What the tool returned, structured; its shape is the tool's own."""
    is_synthetic: bool | None = field(default=None, name="isSynthetic")
    """True if the CLI wrote it (a summary, a reminder)."""
    is_replay: bool | None = field(default=None, name="isReplay")
    """True if it echoes a prompt (from 2.0)."""
    priority: str | None = None
    """now, next or later, in a prompt."""
    origin: JsonObject | None = None
    """Who wrote it, if no human did: {kind: task-notification, …}."""
    tool_result_meta: list[JsonObject] = field(default_factory=list)
    """Of tool calls that did not run, why: {id, non_execution_kind} (2.1.330)."""

    @property
    def blocks(self) -> list[AnyBlock]:
        """The content as blocks."""
        return as_blocks(self.message.content)


class StreamEvent(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="stream_event"
):
    """A piece of a message that is being written (with --include-partial-messages; main thread only)."""

    event: AnyApiEvent = UnknownApiEvent(None)
    """The API's event."""
    parent_tool_use_id: str | None = None
    """The tool call whose subagent speaks."""
    abandoned_blocks: AbandonedBlocks | None = None
    """On message_stop: what will not be finished (2.1.330)."""


class Unknown(Foreign, frozen=True, gc=False):
    """An object whose type has no model, or that has none; `raw` has it whole."""

    @property
    def type(self) -> str:
        """The message's own type; "" if it has none."""
        return text_at(self.raw, "type")


Message: TypeAlias = (
    System
    | Assistant
    | User
    | Result
    | StreamEvent
    | RateLimitEvent
    | RateLimit
    | ToolUseSummary
    | ToolProgress
    | AuthStatus
    | PromptSuggestion
    | CommandLifecycle
    | ConversationReset
    | KeepAlive
    | ActiveGoal
    | TranscriptMirror
    | ControlRequest
    | ControlResponse
    | ControlCancelRequest
    | Unknown
    | Malformed
)
"""Every message; closed, so that a `match` over it can be closed (`case System():` takes all system messages)."""


def as_blocks(content: Content) -> list[AnyBlock]:
    """Return content as blocks: text alone is one text block, no text none."""
    if isinstance(content, str):
        return [TextBlock(content)] if content else []
    return content
