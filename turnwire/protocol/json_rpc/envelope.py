"""JSON-RPC 2.0 objects and how messages travel in them.

A message is a notification whose `method` is its type and whose `params` is the message; on the way in `params` may
also hold it under `message`, or leave the type to `method`.
"""

from typing import TypeAlias

from turnwire.protocol.claude.decode import NOT_AN_OBJECT, decode, message_of
from turnwire.protocol.claude.messages import Message, Unknown
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing import generic
from turnwire.protocol.text import scrub_json

Id: TypeAlias = str | int | float | None
"""A request's id, of the caller's choice."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
FAILED = -32000
CANCELLED = -32800


def notification(method: str, params: Json) -> bytes:
    """Return the line of a notification."""
    return line_of({"jsonrpc": "2.0", "method": method, "params": params})


def request(request_id: Id, method: str, params: Json) -> bytes:
    """Return the line of a request."""
    return line_of({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def response(request_id: Id, result: Json) -> bytes:
    """Return the line of a good response."""
    return line_of({"jsonrpc": "2.0", "id": request_id, "result": result})


def error(request_id: Id, code: int, text: str, carried: Json = None) -> bytes:
    """Return the line of an error response. `carried` becomes the error's data."""
    body: JsonObject = {"code": code, "message": text}
    if carried is not None:
        body["data"] = carried
    return line_of({"jsonrpc": "2.0", "id": request_id, "error": body})


def is_id(value: Json) -> bool:
    """Tell whether JSON-RPC allows the value as an id."""
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def open_line(line: bytes) -> list[JsonObject | Message]:
    """Return the contents of a line: envelopes as objects, other messages as they are. A batch has several."""
    message = decode(line)
    if isinstance(message, Malformed) and line.lstrip().startswith(b"["):
        try:
            batch = scrub_json(generic.load(line))
        except (ValueError, RecursionError):
            return [message]
        return [_opened(item) for item in batch] or [message]
    return [message.raw if isinstance(message, Unknown) and "jsonrpc" in message.raw else message]


def carried_message(method: str, params: Json) -> Message | None:
    """Return the message in the params of a notification; None if there is none."""
    if not isinstance(params, dict):
        return None
    for candidate in (params, params.get("message"), {**params, "type": method}):
        if isinstance(candidate, dict) and not isinstance(message := message_of(candidate), Unknown):
            return message
    return Unknown(params) if text_at(params, "type") else None


def _opened(item: Json) -> JsonObject | Message:
    if not isinstance(item, dict):
        return Malformed(str(item), NOT_AN_OBJECT)
    return item if "jsonrpc" in item else message_of(item)
