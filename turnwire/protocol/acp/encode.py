"""Messages to lines, each ending in a newline."""

import msgspec

from turnwire.protocol.acp.messages import Id
from turnwire.protocol.json_values import Json, JsonObject

_encode = msgspec.json.Encoder().encode


def request(request_id: Id, method: str, params: Json = None) -> bytes:
    """Return the line of a request."""
    return _line(
        {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {} if params is None else params}
    )


def notification(method: str, params: Json = None) -> bytes:
    """Return the line of a notification."""
    return _line({"jsonrpc": "2.0", "method": method, "params": {} if params is None else params})


def response(request_id: Id, result: Json) -> bytes:
    """Return the line of a good answer."""
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def error(request_id: Id, code: int, message: str, data: Json = None) -> bytes:
    """Return the line of a bad answer."""
    body: JsonObject = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return _line({"jsonrpc": "2.0", "id": request_id, "error": body})


def _line(value: JsonObject) -> bytes:
    return _encode(value) + b"\n"
