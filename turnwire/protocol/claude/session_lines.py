"""Lines of the files that the CLI keeps of its conversations, `~/.claude/projects/FOLDER/SESSION.jsonl`: what each says of itself.

They are no stdout: keys are in camel case, messages form a tree by `parentUuid`, turns have no result, and most types are
the CLI's own bookkeeping. `message` and `toolUseResult` are left as they came, for whoever wants them. As with stdout, one
odd field costs only itself, and a line that says nothing is a value.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct, field

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.parsing import generic, lenient
from turnwire.protocol.parsing.depth import is_too_deep
from turnwire.protocol.text import scrub_json


class Attachment(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the CLI put beside a prompt; only prompts that joined a running turn are read."""

    type: str = ""
    """queued_command, or one of many that are not for people."""
    prompt: Json = None
    """The text or the blocks of a prompt that joined the running turn."""
    source_uuid: str | None = None
    """That prompt's own UUID."""
    command_mode: str | None = field(default=None, name="commandMode")
    """prompt; task-notification for the end of a background task."""


class CostState(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a model has cost, in the words of a `cost-state`."""

    input_tokens: int = field(default=0, name="inputTokens")
    output_tokens: int = field(default=0, name="outputTokens")
    cache_read_input_tokens: int = field(default=0, name="cacheReadInputTokens")
    cache_creation_input_tokens: int = field(default=0, name="cacheCreationInputTokens")
    cache_creation_1h_input_tokens: int = field(default=0, name="cacheCreationEphemeral1hInputTokens")
    web_search_requests: int = field(default=0, name="webSearchRequests")
    cost_usd: int | float = field(default=0, name="costUSD")


class Progress(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a `progress` line tells of a tool that runs."""

    type: str = ""
    """agent_progress, hook_progress, bash_progress, …"""
    agent_id: str | None = field(default=None, name="agentId")
    """The subagent that it tells of."""


class SessionLine(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="camel"):
    """One line of a session file."""

    type: str = ""
    """user, assistant, system, attachment, summary, progress, …"""
    subtype: str = ""
    """Of `system`: compact_boundary, local_command, api_error, turn_duration, …"""
    uuid: str | None = None
    """The record's own id; lines of bookkeeping have none."""
    parent_uuid: str | None = None
    """The record before it in the conversation."""
    logical_parent_uuid: str | None = None
    """The same of the first record after a compaction, whose `parentUuid` is null."""
    is_sidechain: bool | None = None
    """True for what a subagent says and is told."""
    agent_id: str | None = None
    """The subagent's run."""
    is_meta: bool | None = None
    """True for what the CLI says to the model in the user's name."""
    is_compact_summary: bool | None = None
    """True for the summary that replaces the conversation above it."""
    is_api_error_message: bool | None = None
    """True if the text is an error of the API."""
    error: str | None = None
    """The kind of that error."""
    api_error_status: int | None = None
    """Its HTTP status."""
    timestamp: str | None = None
    """When it was written: ISO 8601, UTC."""
    session_id: str | None = None
    """The session it was written in; a fork's copies name the fork."""
    request_session_id: str | None = None
    """The session that asked the model, of a copy in a fork (2.1.330)."""
    request_id: str | None = None
    """The API's request id."""
    cwd: str | None = None
    """The working directory."""
    git_branch: str | None = None
    """The branch that was checked out."""
    version: str | None = None
    """The CLI's version."""
    permission_mode: str | None = None
    """The permission mode of a prompt."""
    entrypoint: str | None = None
    """cli, sdk-cli, sdk-ts, …"""
    origin: JsonObject | None = None
    """Who wrote a prompt, if no human did: {kind: task-notification, …}."""
    message: msgspec.Raw = msgspec.Raw()
    """The message, in the API's vocabulary."""
    tool_use_result: msgspec.Raw = msgspec.Raw()
    """What a tool returned, structured."""
    permission_decision: JsonObject | None = None
    """How it was decided that a tool may run, or may not (2.1.330)."""
    content: str | None = None
    """The text of a `system` line, or of an operation on the queue."""
    level: str | None = None
    """info, warning, error, of a `system` line."""
    compact_metadata: JsonObject | None = None
    """trigger, preTokens and postTokens of a compaction."""
    attachment: Attachment | None = None
    """Of `attachment`."""
    data: Progress | None = None
    """Of `progress`."""
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    """Of `progress`: the call that started the subagent."""
    leaf_uuid: str | None = None
    """Of `summary`: the record that the summarised conversation ends with; it may be another file's."""
    summary: str | None = None
    """Of `summary`: a title."""
    custom_title: str | None = None
    """Of `custom-title`: the title that a human gave."""
    ai_title: str | None = None
    """Of `ai-title`: the title that a model gave."""
    cost_usd: int | float | None = field(default=None, name="costUSD")
    """Dollars of an answer (before 1.0.9 or so)."""
    total_cost_usd: int | float | None = field(default=None, name="totalCostUSD")
    """Of `cost-state`: dollars of the session, its resumed past and that of its fork's origin included (2.1.330)."""
    model_usage: dict[str, CostState] = field(default_factory=dict)
    """Of `cost-state`: what each model has used, likewise."""


class Bookkeeping(Struct, frozen=True, gc=False, rename="camel"):
    """What is looked at of a line of bookkeeping, most of which are long and say nothing."""

    type: str = ""
    uuid: str | None = None
    is_sidechain: bool | None = None
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None


NO_LINE = SessionLine()
"""What a line is that is no JSON object."""

_RAW = ("message", "tool_use_result")
_ENCODED = {of.name: of.encode_name for of in msgspec.structs.fields(SessionLine)}
_decode = msgspec.json.Decoder(SessionLine).decode
_decode_bookkeeping = msgspec.json.Decoder(Bookkeeping).decode
_TYPE = b'{"type":"'


def read(line: bytes) -> SessionLine:
    """Read a line; NO_LINE for one that is no object, or nested too deep. Never raises."""
    if is_too_deep(line):
        return NO_LINE
    try:
        return _decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _by_fields(line)


def bookkeeping(line: bytes, types: Collection[str]) -> Bookkeeping | None:
    """Read a line of one of these types without looking at the rest of it; None for any other, and for a record of a conversation.

    It is quick for lines that begin with their type, as the CLI writes them; it does not recognise others.
    """
    if not line.startswith(_TYPE) or is_too_deep(line):
        return None
    try:
        found = _decode_bookkeeping(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return found if found.type in types and found.uuid is None and not found.is_sidechain else None


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
    """What is looked at of a block before its conversation is read."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    text: str | None = None
    input: Json = None


class CacheCreation(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens that a cache keeps, by how long."""

    ephemeral_1h_input_tokens: int = 0
    """Those kept for an hour, which cost more."""


class Tokens(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of an answer."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_creation: CacheCreation | None = None


class MessageHead(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is looked at of a message before its conversation is read."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Tokens | None = None
    content: str | list[BlockHead] = ""

    @property
    def blocks(self) -> list[BlockHead]:
        """The content as blocks."""
        if isinstance(self.content, str):
            return [BlockHead("text", text=self.content)] if self.content else []
        return self.content

    @property
    def text(self) -> str:
        """What it says in words."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join(block.text for block in self.content if block.type == "text" and block.text)


NO_MESSAGE = MessageHead()
_decode_head = msgspec.json.Decoder(MessageHead).decode


def head(raw: msgspec.Raw) -> MessageHead:
    """Read the head of a message; NO_MESSAGE where there is none. Never raises."""
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
