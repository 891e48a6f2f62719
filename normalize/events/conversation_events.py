"""Events of the conversation: turns, texts and tool calls."""

from typing import Literal

from turnwire.normalize.events.base import Event, ThreadEvent
from turnwire.normalize.model import JsonObject, JsonValue, Published
from turnwire.normalize.payloads import NormalizedPayload
from turnwire.normalize.payloads.files import ContentPart

Outcome = Literal[
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
"""How a turn ended; `max_tokens`: the answer was cut off, `refusal`: the model would not go on."""


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn_started"):
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
    turn succeeded. Then the call is complete, as Claude Code's deferred calls are, or unknown.
    """
    background: bool | None = None
    """True if the work continues in the background. `task_update` events report on it."""
    elapsed_ms: int | None = None
    """How long it has been running, in progress updates."""
    uuid: str | None = None
    """UUID of the user message that carried the result."""


class TokenSums(Published, frozen=True, kw_only=True):
    """Tokens by kind."""

    input_tokens: int | None = None
    """Tokens sent, cached ones not included."""
    output_tokens: int | None = None
    """Tokens received."""
    cache_read_input_tokens: int | None = None
    """Tokens read from the cache."""
    cache_creation_input_tokens: int | None = None
    """Tokens written to the cache."""


class CompleteData(Published, frozen=True, kw_only=True):
    """Cost and result of a turn. Times in milliseconds, money in US dollars."""

    outcome: Outcome | None = None
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
    four fields above have them all, or if they are unknown.
    """
    tokens_of: Literal["last_call", "lines"] | None = None
    """Set if the token fields above may be less than the turn's. `last_call`: the agent counts only the last call of the model.
    `lines`: the CLI began the next turn without a result of this one. The next turn's `cost_usd` contains its cost.
    """
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


class Complete(Event, frozen=True, kw_only=True, tag="complete"):
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


class Retraction(Event, frozen=True, kw_only=True, tag="retraction"):
    """The CLI withdrew messages it had written; a frontend removes their texts."""

    message_uuids: list[str] | None = None
    """UUIDs of messages that no longer count."""
    message_ids: list[str] | None = None
    """API message ids, if only those are known (a broken stream)."""


class Queued(Event, frozen=True, kw_only=True, tag="queued"):
    """A prompt waits for its turn."""

    position: int | None = None
    """Place in the queue, from 1."""
    prompt: str | None = None
    """The prompt's UUID."""
    text: str | None = None
    """Its text, where no `user_message` has it before the prompt is served."""


class Injected(Event, frozen=True, kw_only=True, tag="injected"):
    """Waiting prompts joined the running turn."""

    message_count: int
    """How many."""
    content_length: int | None = None
    """Their length in characters."""
    prompts: list[str] | None = None
    """Their UUIDs."""


class Withdrawn(Event, frozen=True, kw_only=True, tag="withdrawn"):
    """A waiting prompt was taken back and will not be served."""

    prompt: str
    """The prompt's UUID."""
