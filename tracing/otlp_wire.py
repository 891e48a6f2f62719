"""Finished spans -> an ExportTraceServiceRequest of OTLP 1.x, as the bytes of its protobuf.

Written directly, since going through the SDK's span objects and the generated protobuf classes costs several times
what making the spans does. A test holds the bytes against what the SDK's own encoder writes.
"""

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tracing.span import Attribute, Attributes, FinishedSpan, SpanEvent

_INTERNAL, _CLIENT = b"\x30\x01", b"\x30\x03"
"""Field 6: the kind of span."""
_SHORT = 64
"""Characters of a value that may well come again: ids, names, words."""
_STATUS_ERROR = b"\x18\x02"
_FLAGS = b"\x85\x01" + (0x100).to_bytes(4, "little")
"""Field 16, fixed32: it is known whether the parent is remote (it never is)."""
_WELL = b"\x7a\x00" + _FLAGS
"""Field 15 before that: a status that says nothing."""


def request(resource: Attributes, version: str, spans: Iterable[FinishedSpan]) -> bytes:
    """Return the request's bytes."""
    scope = _sized(b"\x0a", _text(b"\x0a", "turnwire") + _text(b"\x12", version))
    scoped = _sized(b"\x12", scope + b"".join([_sized(b"\x12", _span(span)) for span in spans]))
    return _sized(b"\x0a", _sized(b"\x0a", _attributes(b"\x0a", resource)) + scoped)


def _span(span: FinishedSpan) -> bytes:
    trace_id, span_id, parent_id, name, start, end, attributes, events, error, client = span
    return b"\x0a\x10%b\x12\x08%b%b%b%b\x39%b\x41%b%b%b%b" % (
        trace_id.to_bytes(16, "big"),
        span_id.to_bytes(8, "big"),
        b"" if parent_id is None else b"\x22\x08" + parent_id.to_bytes(8, "big"),
        _name(b"\x2a", name),
        _CLIENT if client else _INTERNAL,
        start.to_bytes(8, "little"),
        end.to_bytes(8, "little"),
        _attributes(b"\x4a", attributes),
        b"".join([_event(event) for event in events]),
        _WELL if error is None else _sized(b"\x7a", _text(b"\x12", error) + _STATUS_ERROR) + _FLAGS,
    )


def _event(event: SpanEvent) -> bytes:
    name, at, attributes = event
    content = b"\x09%b%b%b" % (
        at.to_bytes(8, "little"),
        _name(b"\x12", name),
        _attributes(b"\x1a", attributes),
    )
    return _sized(b"\x5a", content)


def _attributes(tag: bytes, attributes: Attributes) -> bytes:
    return b"".join(
        [
            _pair(tag, key, value)
            if type(value) is str and len(value) < _SHORT
            else _sized(tag, _name(b"\x0a", key) + _sized(b"\x12", _value(value)))
            for key, value in attributes.items()
        ]
    )


@lru_cache(maxsize=4096)
def _pair(tag: bytes, key: str, value: str) -> bytes:
    return _sized(tag, _name(b"\x0a", key) + _sized(b"\x12", _text(b"\x0a", value)))


def _value(value: Attribute) -> bytes:
    kind = type(value)
    if kind is str:
        return _text(b"\x0a", value)  # type: ignore[arg-type]  # a str, as the line above says
    if kind is bool:
        return b"\x10\x01" if value else b"\x10\x00"
    if kind is int:
        return b"\x18" + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)  # type: ignore[operator]  # an int
    if kind is float:
        return b"\x21" + struct.pack("<d", value)
    items: Sequence[str] = value  # type: ignore[assignment]  # nothing else is left
    return _sized(b"\x2a", b"".join([_sized(b"\x0a", _value(item)) for item in items]))


def _text(tag: bytes, text: str) -> bytes:
    return _sized(tag, text.encode("utf-8", "replace"))


@lru_cache(maxsize=1024)
def _name(tag: bytes, name: str) -> bytes:
    """Names come again and again."""
    return _text(tag, name)


def _sized(tag: bytes, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return b"%b%c%b" % (tag, size, content)
    if size < 0x4000:
        return b"%b%c%c%b" % (tag, size & 0x7F | 0x80, size >> 7, content)
    return tag + _varint(size) + content


def _varint(value: int) -> bytes:
    if value < 0x80:
        return value.to_bytes(1, "little")
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
