"""The family of `cursor-agent -p --output-format stream-json`.

Its lines of type system, user, assistant and result resemble Claude's. So they are claimed by members that Claude never writes, and the
texts by those that Claude always does.
"""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import LineShape, any_of

_NOT_CLAUDES = ("uuid", "parent_tool_use_id")

_has_shape = any_of(
    LineShape("system", ("apiKeySource",), ("tools", "uuid"), "init"),
    LineShape("thinking", ("session_id",), _NOT_CLAUDES, "delta"),
    LineShape("thinking", ("session_id",), _NOT_CLAUDES, "completed"),
    LineShape("tool_call", ("call_id", "tool_call")),
    LineShape("interaction_query", ("query_type",)),
    LineShape("assistant", ("timestamp_ms",), _NOT_CLAUDES),
    LineShape("assistant", ("model_call_id",), _NOT_CLAUDES),
    LineShape("result", ("request_id",), (*_NOT_CLAUDES, "num_turns")),
)


def _claims(value: JsonObject) -> bool:
    return _has_shape(value) or _is_last_text(value)


def _is_last_text(value: JsonObject) -> bool:
    """Tell whether a line is a text without a time: Claude's message has an id and a model."""
    message = value.get("message")
    return (
        value.get("type") == "assistant"
        and value.keys() == {"type", "message", "session_id"}
        and isinstance(message, dict)
        and message.keys() == {"role", "content"}
    )


CURSOR = stream_family(
    name="cursor-agent",
    title="Cursor (cursor-agent -p --output-format stream-json)",
    reader="turnwire.normalize.cursor.reader:CursorReader",
    claims=_claims,
)
