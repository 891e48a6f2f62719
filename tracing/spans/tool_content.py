"""Arguments and results of tool calls, read from their payloads: what spans say of agents whose wire has no other place for them."""

import msgspec

from turnwire.normalize.model import JsonValue
from turnwire.normalize.payloads import NormalizedPayload

_RESULTS: dict[str, tuple[str, ...]] = {
    "http_request": ("response", "is_error", "status", "bytes", "results"),
    "create_task": ("task_id",),
    "manage_todos": ("old_items",),
    "show_plan": ("approved", "feedback"),
    "ask_user": ("answers",),
    "mcp_tool": ("output", "is_error"),
}
"""Kind of a payload -> its fields that hold the result. Of all others it is `output`."""

_NAMES = {"generic": "input", "mcp_tool": "input"}
"""Kind of a payload -> the field with the agent's own arguments."""


def arguments_of(payload: NormalizedPayload) -> JsonValue:
    """Return the arguments of a call: the agent's own if the payload has them, else the payload's fields without the result."""
    body = _body(payload)
    if (name := _NAMES.get(payload.kind)) is not None:
        return body.get(name)
    results = _RESULTS.get(payload.kind, ("output",))
    return {name: value for name, value in body.items() if name not in results}


def result_of(payload: NormalizedPayload) -> JsonValue:
    """Return the result of a call; None if there is none. A result of one text alone is that text."""
    body = _body(payload)
    found = {
        name: body[name] for name in _RESULTS.get(payload.kind, ("output",)) if body.get(name) is not None
    }
    if tuple(found) == ("output",) or tuple(found) == ("response",):
        (only,) = found.values()
        return _text_alone(only)
    return found or None


def _text_alone(value: JsonValue) -> JsonValue:
    match value:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return text
        case [only]:
            return _text_alone(only)
        case {"content": str(text), **rest} if not rest.keys() - {"line_count"}:
            return text
        case _:
            return value


def _body(payload: NormalizedPayload) -> dict[str, JsonValue]:
    found = msgspec.to_builtins(getattr(payload, payload.kind))
    assert isinstance(found, dict), "a payload's body is an object"
    return found
