"""Lines of the CLI's own conversation files, `~/.claude/projects/FOLDER/SESSION.jsonl`.

They differ from stdout: keys are in camel case, messages form a tree by `parentUuid`, turns have no result, and most types
are the CLI's bookkeeping. `message` and `toolUseResult` are left raw for later decoding. As on stdout, a wrong field loses
only itself, and a line without meaning is a value.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.parsing import generic, lenient
from turnwire.protocol.parsing.depth import is_too_deep
from turnwire.protocol.quantities import Amount, Count
from turnwire.protocol.text import scrub_json

WORKFLOW = "wf_"
"""What the id of a workflow's run begins with; its subagents' files lie in a folder of this name."""


class Attachment(Struct, frozen=True, gc=False, omit_defaults=True):
    """Data that the CLI adds to a prompt. turnwire reads only prompts that joined a running turn."""

    type: str = ""
    """queued_command, or one of many types that are not for people."""
    prompt: Json = None
    """The text or the blocks of a prompt that joined the running turn."""
    source_uuid: str | None = None
    """That prompt's own UUID."""
    command_mode: str | None = field(default=None, name="commandMode")
    """prompt; task-notification for the end of a background task."""


class CostState(Struct, frozen=True, gc=False, omit_defaults=True):
    """The usage and cost of one model in a `cost-state`."""

    input_tokens: Count = field(default=0, name="inputTokens")
    output_tokens: Count = field(default=0, name="outputTokens")
    cache_read_input_tokens: Count = field(default=0, name="cacheReadInputTokens")
    cache_creation_input_tokens: Count = field(default=0, name="cacheCreationInputTokens")
    cache_creation_1h_input_tokens: Count = field(default=0, name="cacheCreationEphemeral1hInputTokens")
    web_search_requests: Count = field(default=0, name="webSearchRequests")
    cost_usd: Amount = field(default=0, name="costUSD")


class Progress(Struct, frozen=True, gc=False, omit_defaults=True):
    """The content of a `progress` line: news of a running tool."""

    type: str = ""
    """agent_progress, hook_progress, bash_progress, …"""
    agent_id: str | None = field(default=None, name="agentId")
    """The subagent that it is about."""


class LineFields(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="camel"):
    """The fields of a line that are read before its conversation is, and with it."""

    type: str = ""
    """user, assistant, system, attachment, summary, progress, …"""
    subtype: str = ""
    """Of `system`: compact_boundary, local_command, api_error, turn_duration, …"""
    uuid: str | None = None
    """The record's own id; lines of bookkeeping have none."""
    parent_uuid: str | None = None
    """The record before it in the conversation."""
    logical_parent_uuid: str | None = None
    """The record before it, for the first record after a compaction. Its `parentUuid` is null."""
    is_sidechain: bool | None = None
    """True for messages from and to a subagent."""
    agent_id: str | None = None
    """The subagent's run."""
    is_meta: bool | None = None
    """True for texts that the CLI wrote in the user's name."""
    is_compact_summary: bool | None = None
    """True for the summary that replaces the conversation above it."""
    timestamp: str | None = None
    """When it was written: ISO 8601, UTC."""
    session_id: str | None = None
    """The session that it was written in. Copies in a fork name the fork."""
    request_session_id: str | None = None
    """For a copy in a fork: the session that called the model (2.1.330)."""
    request_id: str | None = None
    """The API's request id."""
    advisor_model: str | None = None
    """The model that an answer may consult."""
    cwd: str | None = None
    """The working directory."""
    git_branch: str | None = None
    """The branch that was checked out."""
    version: str | None = None
    """The CLI's version."""
    origin: JsonObject | None = None
    """Who wrote a prompt, if no human did: {kind: task-notification, …}."""
    tool_use_result: msgspec.Raw = msgspec.Raw()
    """The tool's structured result."""
    content: str | None = None
    """The text of a `system` line, or of a queue operation."""
    attachment: Attachment | None = None
    """Of `attachment`."""
    data: Progress | None = None
    """Of `progress`."""
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    """Of `progress`: the call that started the subagent."""
    leaf_uuid: str | None = None
    """Of `summary`: the last record of the summarised conversation, possibly in another file."""
    summary: str | None = None
    """Of `summary`: a title."""
    custom_title: str | None = None
    """Of `custom-title`: the title that a human gave."""
    ai_title: str | None = None
    """Of `ai-title`: the title that a model gave."""
    cost_usd: Amount | None = field(default=None, name="costUSD")
    """Cost of an answer in dollars (before about 1.0.9)."""
    total_cost_usd: Amount | None = field(default=None, name="totalCostUSD")
    """Of `cost-state`: cost of the session in dollars, including its resumed past and its fork's origin (2.1.330)."""


class SessionLine(LineFields, frozen=True, kw_only=True):
    """One line of a session file."""

    is_api_error_message: bool | None = None
    """True if the text is an error of the API."""
    error: str | None = None
    """The kind of that error."""
    api_error_status: Count | None = None
    """Its HTTP status."""
    permission_mode: str | None = None
    """The permission mode of a prompt."""
    entrypoint: str | None = None
    """cli, sdk-cli, sdk-ts, …"""
    message: msgspec.Raw = msgspec.Raw()
    """The message, in the API's vocabulary."""
    permission_decision: JsonObject | None = None
    """The decision about a tool call, and its reason (2.1.330)."""
    level: str | None = None
    """info, warning, error, of a `system` line."""
    compact_metadata: JsonObject | None = None
    """trigger, preTokens and postTokens of a compaction."""
    model_usage: dict[str, CostState] = field(default_factory=dict)
    """Of `cost-state`: usage and cost of each model, with the same scope."""


NO_LINE = SessionLine()
"""Stands for a line that is not a JSON object."""

_RAW = ("message", "tool_use_result")
_ENCODED = {of.name: of.encode_name for of in msgspec.structs.fields(SessionLine)}
_decode = msgspec.json.Decoder(SessionLine).decode


def read(line: bytes) -> SessionLine:
    """Read a line. Returns NO_LINE if it is not a JSON object or nested too deeply. Never raises."""
    if is_too_deep(line):
        return NO_LINE
    try:
        return _decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _by_fields(line)


def _by_fields(line: bytes) -> SessionLine:
    try:
        value = generic.load(line)
    except (ValueError, RecursionError):
        return NO_LINE
    if not isinstance(value, dict):
        return NO_LINE
    scrubbed: dict[str, Any] = scrub_json(value)
    raw = {name: scrubbed.pop(_ENCODED[name]) for name in _RAW if _ENCODED[name] in scrubbed}
    built = lenient.build(SessionLine, scrubbed)
    return msgspec.structs.replace(
        built, **{name: msgspec.Raw(msgspec.json.encode(of)) for name, of in raw.items()}
    )


class BlockHead(Struct, frozen=True, gc=False, omit_defaults=True):
    """The fields of a block that are read before its conversation is."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    text: str | None = None
    input: Json = None


class CacheCreation(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens written to the cache, by duration."""

    ephemeral_1h_input_tokens: Count = 0
    """Tokens cached for an hour, which cost more."""


class Tokens(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of an answer."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    cache_creation: CacheCreation | None = None


class Iteration(Tokens, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one step of an answer."""

    type: str = ""
    """message, compaction, fallback_message: within the answer's own tokens; advisor_message: not."""
    model: str | None = None
    """Of an advisor."""


class AnswerTokens(Tokens, frozen=True, gc=False, omit_defaults=True):
    """Tokens of an answer and of the models that it consulted."""

    iterations: list[Iteration] | None = None

    @property
    def advice(self) -> list[Iteration]:
        """What advisors took, which is not among the answer's own tokens."""
        return [one for one in self.iterations or () if one.type == "advisor_message"]


class MessageHead(Struct, frozen=True, gc=False, omit_defaults=True):
    """The fields of a message that are read before its conversation is."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: AnswerTokens | None = None
    content: str | list[BlockHead] = ""

    @property
    def blocks(self) -> list[BlockHead]:
        """The content as blocks."""
        if isinstance(self.content, str):
            return [BlockHead("text", text=self.content)] if self.content else []
        return self.content

    @property
    def calls(self) -> list[BlockHead]:
        """The blocks that call tools."""
        if isinstance(self.content, str):
            return []
        return [block for block in self.content if block.type == "tool_use"]

    @property
    def text(self) -> str:
        """The text of the message."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join([block.text for block in self.content if block.type == "text" and block.text])


NO_MESSAGE = MessageHead()
_decode_head = msgspec.json.Decoder(MessageHead).decode


def head(raw: msgspec.Raw) -> MessageHead:
    """Read the head of a message. Returns NO_MESSAGE if there is none. Never raises."""
    line = bytes(raw)
    if not line:
        return NO_MESSAGE
    try:
        return _decode_head(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        try:
            value = generic.load(line)
        except (ValueError, RecursionError):
            return NO_MESSAGE
        return lenient.build(MessageHead, scrub_json(value)) if isinstance(value, dict) else NO_MESSAGE


class LineHead(LineFields, frozen=True, kw_only=True):
    """What is read of a line before its conversation is. Most of a long line is not among it."""

    message: MessageHead = NO_MESSAGE
    """Of `user` and `assistant`."""
    model_usage: dict[str, CostState] | None = None
    """As of SessionLine."""


NO_HEAD = LineHead()
"""Stands for a line that is not a JSON object."""

_decode_line_head = msgspec.json.Decoder(LineHead).decode
_OF_LINE = [of.name for of in msgspec.structs.fields(LineHead) if of.name != "message"]


def look_over(lines: Sequence[bytes]) -> list[LineHead]:
    """Read the heads of lines, as `look` does each."""
    if not any(map(is_too_deep, lines)):
        try:
            return [_decode_line_head(line) for line in lines]
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            pass  # each by itself, then
    return [look(line) for line in lines]


def look(line: bytes) -> LineHead:
    """Read the head of a line: the values that `read` and `head` give, in one step. Never raises.

    Returns NO_HEAD if the line is not a JSON object or nested too deeply.
    """
    if is_too_deep(line):
        return NO_HEAD
    try:
        return _decode_line_head(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return head_of(read(line))


def head_of(line: SessionLine) -> LineHead:
    """Return the head of a line that is read."""
    if line is NO_LINE:
        return NO_HEAD
    message = head(line.message) if line.type in ("user", "assistant") else NO_MESSAGE
    return LineHead(message=message, **{name: getattr(line, name) for name in _OF_LINE})
