"""Read values of uncertain type: tool inputs and tool results.

Each reader takes the first of several spellings that has the wanted type, and returns None (or an empty list)
if none has. So a field of the wrong type costs only itself.
"""

import json
from collections.abc import Mapping

from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.protocol.parsing import depth

_DIGITS = 19
"""Digits of a text that is read as a number, at most."""

_MOST = 1 << 53
"""Whole numbers from here on change when they are read as floats."""

MAX_DEPTH = 64
"""Levels of a foreign value that are published as they are; readers of JSON stop at 200 or so."""


def fields(value: object) -> JsonObject:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def text(source: Mapping[str, JsonValue], name: str, *others: str) -> str | None:
    """Return the first of the named fields that is a string."""
    value = source.get(name)
    if isinstance(value, str):
        return value
    for other in others:
        value = source.get(other)
        if isinstance(value, str):
            return value
    return None


def whole(source: Mapping[str, JsonValue], *names: str) -> int | None:
    """Return the first of the named fields that is a whole number, or a string of digits, as some models write it.

    A number that JavaScript cannot hold counts as absent.
    """
    for name in names:
        value = source.get(name)
        if value is None or isinstance(value, bool):
            continue
        if (isinstance(value, float) and value.is_integer()) or (
            isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _DIGITS
        ):
            value = int(value)
        if isinstance(value, int) and abs(value) < _MOST:
            return value
    return None


def flag(source: Mapping[str, JsonValue], *names: str) -> bool | None:
    """Return the first of the named fields that is true or false."""
    for name in names:
        value = source.get(name)
        if isinstance(value, bool):
            return value
    return None


def objects(source: Mapping[str, JsonValue], name: str) -> list[JsonObject]:
    """Return the objects in the named list."""
    value = source.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(source: Mapping[str, JsonValue], name: str) -> list[str] | None:
    """Return the strings in the named list; None if there is no such list."""
    value = source.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else None


def parsed(words: str, otherwise: JsonValue = None) -> JsonValue:
    """Return the value of a JSON text; `otherwise` for a text that is none, or that is nested too deeply."""
    try:
        return depth.parse(words)
    except (ValueError, RecursionError):
        return otherwise


def shallow(value: JsonValue, room: int = MAX_DEPTH) -> JsonValue:
    """Return the value. Parts deeper than `room` levels become JSON text."""
    if isinstance(value, list):
        return [shallow(item, room - 1) for item in value] if room else _as_text(value)
    if isinstance(value, dict):
        return {key: shallow(item, room - 1) for key, item in value.items()} if room else _as_text(value)
    return value


def _as_text(value: JsonValue) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"
