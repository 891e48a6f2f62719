"""A tool call's arguments as JSON and its result as text, bounded in size. Pure.

AG-UI and the AI SDK have strings for both. The typed payload goes beside them, for frontends that know it.
"""

import msgspec

from turnwire.client.payloads import GenericPayload, McpToolPayload, NormalizedPayload
from turnwire.client.shown import result_fields, result_text
from turnwire.client.values import JsonObject, JsonValue

LARGEST = 1 << 20
"""Largest value in one event, in bytes of JSON. AG-UI's clients refuse an event of more than 10 Mi characters."""

CUT = LARGEST // 6
"""Characters kept of a longer text. A character takes at most six bytes in JSON."""


def json_size(value: JsonValue) -> int:
    """Return a value's size as JSON, in bytes."""
    return len(msgspec.json.encode(value))


def fitting(value: JsonValue) -> JsonValue:
    """Return a value, or `{"too_large": BYTES}` for one beyond LARGEST. The hub's `payload.get` gives the whole."""
    size = json_size(value)
    return value if size <= LARGEST else {"too_large": size}


def arguments(payload: NormalizedPayload) -> str:
    """Return the call's arguments as a JSON object: the payload's fields without its results."""
    given: JsonValue
    match payload:
        case GenericPayload(generic=generic):
            given = generic.input if isinstance(generic.input, dict) else {"input": generic.input}
        case McpToolPayload(mcp_tool=tool):
            given = tool.input
        case _:
            given = body(payload)
            for name in result_fields(payload):
                given.pop(name, None)
    return msgspec.json.encode(given).decode()


def result(payload: NormalizedPayload | None, error: str | None) -> str:
    """Return a call's result as text: what a human reads, else the payload's result as JSON. Cuts a text beyond LARGEST."""
    text = _result(payload, error)
    return text if json_size(text) <= LARGEST else f"{text[:CUT]}\n[{len(text) - CUT} characters left out]"


def _result(payload: NormalizedPayload | None, error: str | None) -> str:
    said = None if payload is None else result_text(payload)
    if error:
        return f"{said}\n{error}" if said and error not in said else error
    if said is not None:
        return said
    return "" if payload is None else _rest(payload)


def body(payload: NormalizedPayload) -> JsonObject:
    """Return the payload's one populated field."""
    found: JsonObject = msgspec.to_builtins(payload)[payload.kind]
    return found


def _rest(payload: NormalizedPayload) -> str:
    everything = body(payload)
    kept = everything.get("output")
    if kept is None:
        kept = {name: everything[name] for name in result_fields(payload) if everything.get(name) is not None}
    return msgspec.json.encode(kept).decode() if kept not in (None, {}) else ""
