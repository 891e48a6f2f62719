"""Decode one line to one message. Nothing raises.

Updates and permission requests take msgspec's one pass from bytes to types. All other messages, and lines
that do not fit, go through a generic parser and are built field by field, so that a wrong field costs only
itself.
"""

from collections.abc import Callable

import msgspec

from turnwire.protocol.acp.content import TextContent
from turnwire.protocol.acp.messages import (
    AcpMessage,
    Batch,
    Notification,
    PermissionParams,
    PermissionRequest,
    Request,
    Response,
    RpcError,
    SessionUpdate,
    Unknown,
    UpdateParams,
)
from turnwire.protocol.acp.updates import AgentMessageChunk, AgentThoughtChunk
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.malformed import BLANK, Malformed
from turnwire.protocol.parsing import generic, lenient
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep
from turnwire.protocol.text import scrub, scrub_inside, scrub_json

NOT_AN_OBJECT = "not a JSON object"
MOST_IN_A_BATCH = 10_000
"""Messages of one line that are looked at."""

_IN_PIECES = ("agent_message_chunk", "agent_thought_chunk")
"""Updates whose text may be split in the middle of a character."""

_decode_line: Callable[[bytes], SessionUpdate | PermissionRequest] = msgspec.json.Decoder(
    SessionUpdate | PermissionRequest
).decode


def decode(line: bytes) -> AcpMessage:
    """Return a line's message. Malformed if it is neither a JSON object nor a list of objects."""
    if not line:
        return Malformed("", BLANK)
    try:
        message = _decode_line(line)
    except (ValueError, RecursionError):
        return _decode_odd(line)
    if type(message) is SessionUpdate and _is_flat(message):
        return message
    return _beyond(line) if is_too_deep(line) else message


def message_of(value: Json) -> AcpMessage:
    """Return the message that a value of JSON is."""
    if not isinstance(value, dict):
        return Malformed(scrub(str(value)[:1000]), NOT_AN_OBJECT)
    method = value.get("method")
    if not isinstance(method, str):
        return _response(value)
    method = scrub(method)
    params = value.get("params")
    if method == "session/update" and "id" not in value and isinstance(params, dict):
        return SessionUpdate(_params(params))
    if method == "session/request_permission" and "id" in value and isinstance(params, dict):
        return PermissionRequest(_id(value["id"]), lenient.build(PermissionParams, scrub_json(params)))
    if "id" in value:
        return Request(_id(value["id"]), method, scrub_json(params))
    return Notification(method, scrub_json(params))


def _is_flat(message: SessionUpdate) -> bool:
    """Tell whether it is a piece of text, as most lines are: nothing in it can be deep."""
    update = message.params.update
    if not isinstance(update, AgentMessageChunk | AgentThoughtChunk):
        return False
    return update.meta is None and message.params.meta is None and type(update.content) is TextContent


def _decode_odd(line: bytes) -> AcpMessage:
    try:
        value = generic.load(line)
    except ValueError as error:
        return Malformed(_text(line), str(error) if line.strip() else BLANK)
    except RecursionError:
        return _beyond(line)
    if isinstance(value, list) and 0 < len(value) <= MOST_IN_A_BATCH:
        return Batch([message_of(item) for item in value])
    return message_of(value) if isinstance(value, dict) else Malformed(_text(line), NOT_AN_OBJECT)


def _response(value: JsonObject) -> Response | Unknown:
    if "error" in value:
        error = scrub_json(value["error"])
        told = lenient.build(RpcError, error) if isinstance(error, dict) else RpcError(data=error)
        return Response(_id(value.get("id")), None, told)
    if "result" in value and not ("type" in value and "id" not in value):
        return Response(_id(value.get("id")), scrub_json(value["result"]))
    return Unknown(scrub_json(value))


def _params(params: JsonObject) -> UpdateParams:
    """Build the params with valid strings, except half pairs at the ends of a chunk's text."""
    cleaned: JsonObject = scrub_json(params)
    update = params.get("update")
    if isinstance(update, dict) and update.get("sessionUpdate") in _IN_PIECES:
        match update.get("content"):
            case {"type": "text", "text": str(text)}:
                cleaned["update"]["content"]["text"] = scrub_inside(text)
            case _:
                pass
    return lenient.build(UpdateParams, cleaned)


def _id(value: Json) -> str | int | float | None:
    """Return an id that JSON-RPC allows. Any other value becomes text."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return scrub_json(value) if isinstance(value, str) else value
    return scrub(str(value)[:200])


def _beyond(line: bytes) -> Malformed:
    return Malformed(_text(line), TOO_DEEP)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
