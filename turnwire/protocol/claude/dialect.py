"""The dialect of Claude Code itself: one message per line.

Lines of a CLI pass byte for byte. Messages of other agents are written here with every field that the official SDKs read
without checking: the SDKs raise if a field is missing that a CLI always writes.
"""

from msgspec import structs

from turnwire.protocol.claude.blocks import AnyBlock, ThinkingBlock, UnknownBlock
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import encode, encode_input, to_json
from turnwire.protocol.claude.messages import Assistant, Message, User
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects.base import Dialect, Exchange
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import SystemFailure

NO_MODEL = "<unknown>"
"""Model name of an agent that does not name its model."""

_READ: dict[str, JsonObject] = {
    "result": {"duration_ms": 0, "duration_api_ms": 0, "is_error": False, "num_turns": 0},
    "system": {"subtype": "unknown"},
    "stream_event": {"uuid": ""},
    "rate_limit_event": {"uuid": ""},
    "conversation_reset": {"uuid": "", "new_conversation_id": ""},
}
"""Type of message -> fields that the SDKs read, with defaults."""


class ClaudeHost:
    """Drives a CLI."""

    def read(self, line: bytes) -> Exchange:
        """Handle a line of the CLI."""
        return Exchange([decode(line)])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:  # noqa: ARG002 - never for a CLI's own line
        """Write to the CLI's stdin. Raises EncodeError for a message that would crash it."""
        return Exchange(lines=[encode_input(message)])


class ClaudeAgent:
    """The CLI's side of the dialect, for other agents."""

    def __init__(self) -> None:
        self._session_id = ""

    def read(self, line: bytes) -> Exchange:
        """Handle a line of the host."""
        message = decode(line)
        if isinstance(message, User):
            self._session_id = message.session_id or self._session_id
        return Exchange([message])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Write a message to the host. line: the line that it came from, written unchanged."""
        if isinstance(message, Malformed):
            return Exchange()
        if line is not None:
            return Exchange(lines=[line + b"\n"])
        value = self._whole(message)
        return Exchange(lines=[line_of(value)] if text_at(value, "type") else [])

    def pause(self) -> list[bytes]:
        """Return nothing: no line waits for another one."""
        return []

    def refuse(self, prompt: Message, reason: str) -> Exchange:  # noqa: ARG002 - the dialect cannot name the prompt
        """Report that a prompt was refused."""
        return Exchange(lines=[encode(SystemFailure(message=reason))])

    def _whole(self, message: Message) -> JsonObject:
        """Return a message of another agent as a CLI would write it."""
        if isinstance(message, Assistant):
            message = _assistant(message)
        elif isinstance(message, Result):
            message = _result(message)
        said: JsonObject = to_json(message)
        kind = text_at(said, "type")
        if isinstance(named := said.get("session_id"), str) and named:
            self._session_id = named
        elif kind in _READ:
            said = {**said, "session_id": self._session_id}
        return {**_READ.get(kind, {}), **said}


def _assistant(message: Assistant) -> Assistant:
    blocks: list[AnyBlock] = [
        structs.replace(block, signature="")
        if isinstance(block, ThinkingBlock) and block.signature is None
        else block
        for block in message.blocks
        if not isinstance(block, UnknownBlock) or block.type
    ]
    body = structs.replace(message.message, content=blocks, model=message.message.model or NO_MODEL)
    return structs.replace(message, message=body)


def _result(message: Result) -> Result:
    """Convert miriad-code's subtypes `cancelled` and `error` to a CLI's result."""
    match message.subtype:
        case "cancelled":
            ended = structs.replace(message, terminal_reason="aborted_streaming")
        case "error":
            errors = message.errors or ([message.text] if message.text else [])
            ended = structs.replace(message, errors=errors)
        case _:
            return message
    # a CLI writes no text in these results
    return structs.replace(ended, subtype="error_during_execution", is_error=True, result=None)


CLAUDE = Dialect("claude", ClaudeHost, ClaudeAgent)
