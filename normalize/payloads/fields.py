"""Read values of uncertain type: tool inputs and tool results.

Each reader takes the first of several spellings that has the wanted type, and returns None (or an empty list)
if none has. So a field of the wrong type costs only itself.
"""

import json
from collections.abc import Mapping

from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.protocol.parsing import depth

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
    """Return the first of the named fields that is a whole number, or a string of digits, as some models write it."""
    for name in names:
        value = source.get(name)
        if value is None or isinstance(value, bool):
            continue
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
            return int(value)
    return None


def as_float(number: float | None) -> float | None:
    """Return a number as a float, as it will be read back; None for a whole number that no float can hold."""
    try:
        return None if number is None else float(number)
    except OverflowError:
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
