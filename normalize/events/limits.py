"""Sizes of published values: long texts are split, long fields of payloads are cut.

The agent's text and reasoning are never cut. Text longer than the limit becomes several chunks. Any other
string that is too long is cut at a character's boundary, and the event lists it in `truncated`. The journal keeps
the whole event beside it.
"""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from turnwire.normalize.events import AgentEvent, MessageChunk, Reasoning
from turnwire.normalize.model import Published

Model = TypeVar("Model", bound=Published)

TEXT_LIMIT = 262_144
"""Bytes of UTF-8 in one chunk of text."""

ALWAYS_FITS = TEXT_LIMIT // 4
"""Characters that are never more than TEXT_LIMIT bytes."""


def pieces(text: str) -> Sequence[str]:
    """Return the text in pieces of at most TEXT_LIMIT bytes; none for the empty text."""
    if len(text) <= ALWAYS_FITS:
        return [text] if text else []
    return [text[start : start + ALWAYS_FITS] for start in range(0, len(text), ALWAYS_FITS)]


def cut(event: AgentEvent, limit: int) -> AgentEvent:
    """Return the event with every string of more than `limit` bytes cut; the event itself if there is none."""
    if isinstance(event, MessageChunk | Reasoning):
        return event
    sizes: dict[str, int] = {}
    changed = _cut_model(event, limit, "", sizes)
    return event if not sizes else replace(changed, truncated=sizes)


def cut_text(text: str, limit: int) -> str:
    """Return the longest beginning of the text with at most `limit` bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _cut_model(model: Model, limit: int, path: str, sizes: dict[str, int]) -> Model:
    changed: dict[str, object] = {}
    for name in model.__struct_fields__:
        value = getattr(model, name)
        shorter = _cut_value(value, limit, f"{path}{name}", sizes)
        if shorter is not value:
            changed[name] = shorter
    return replace(model, **changed) if changed else model


def _cut_value(value: object, limit: int, path: str, sizes: dict[str, int]) -> object:
    """Return a value with its long strings cut. Returns the same object if nothing in it is too long."""
    if isinstance(value, str):
        if len(value) * 4 <= limit:
            return value
        size = len(value.encode("utf-8", "replace"))
        if size <= limit:
            return value
        sizes[path] = size
        return cut_text(value, limit)
    if isinstance(value, Published):
        return _cut_model(value, limit, f"{path}.", sizes)
    before = len(sizes)
    if isinstance(value, list):
        items = [_cut_value(item, limit, f"{path}.{index}", sizes) for index, item in enumerate(value)]
        return value if len(sizes) == before else items
    if isinstance(value, dict):
        members = {key: _cut_value(item, limit, f"{path}.{key}", sizes) for key, item in value.items()}
        return value if len(sizes) == before else members
    return value
