"""Operations with a duration. Metrics are measured from them; with an exporter they become OpenTelemetry spans.

Times are nanoseconds since 1970. `Trace` and `Span` in this module are not exported. tracing/export/spans.py has
subclasses that carry a span of the OpenTelemetry SDK, so the code that makes spans does not depend on the SDK.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from turnwire.normalize.model import JsonValue

Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute]

CUT_MARK = "…"


class Span:
    """An operation, running or finished."""

    __slots__ = ("attributes", "end", "name", "start")

    def __init__(self, name: str, start: int, attributes: dict[str, Attribute]) -> None:
        self.name = name
        self.start = start
        self.end = start
        """End time, once it is finished."""
        self.attributes = attributes
        """Attributes. Change them only through `update`."""

    def update(self, attributes: Attributes) -> None:
        """Add or replace attributes."""
        self.attributes.update(attributes)

    def add_event(self, name: str, at: int, attributes: Attributes) -> None:
        """Note something that happened at one moment. Kept only if spans are exported."""

    def finish(self, end: int, error: str | None = None) -> "Span":
        """Finish the span and return it. The duration is never negative, even if the clock went back.

        Args:
            end: nanoseconds since 1970.
            error: what went wrong; None for success.
        """
        del error  # used by the exported span; metrics take it from the attributes
        self.end = max(end, self.start)
        return self


class Origin(NamedTuple):
    """The origin of a trace, in W3C terms."""

    traceparent: str
    """Ids of the trace and of its first span. Empty if the trace is the caller's, and the seed gives the ids of spans."""
    parent: str | None = None
    """The `traceparent` of the caller's span, which is the parent of the first span."""
    tracestate: str | None = None
    """The caller's `tracestate`."""
    baggage: str | None = None
    """The caller's `baggage`."""


class Trace:
    """The spans of one turn, or of the time between turns."""

    def begin(
        self,
        name: str,
        at: int,
        parent: Span | None,
        attributes: dict[str, Attribute],
        *,
        client: bool = False,
        link: Span | None = None,
    ) -> Span:
        """Begin a span.

        Args:
            name: its name.
            at: nanoseconds since 1970.
            parent: the parent span; None for the first span of the trace.
            attributes: initial attributes.
            client: True if the span is a call to another service.
            link: a related span of another trace.
        """
        del parent, client, link
        return Span(name, at, attributes)

    def salt(self, what: bytes) -> None:
        """Mix these bytes into the ids that follow."""


class TraceSource(Protocol):
    """Makes traces."""

    def trace(self, seed: bytes, origin: Origin | None = None) -> Trace:
        """Return a new trace. Its ids depend only on the seed, or on the origin if known."""
        ...


def cut_text(data: bytes, limit: int) -> str:
    """Decode UTF-8, cut to at most `limit` bytes on a character boundary. A cut text is marked."""
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore") + CUT_MARK


def fit(value: JsonValue, limit: int) -> JsonValue:
    """Return a JSON value whose text has at most about `limit` bytes. Long strings and lists in it are cut, and marked."""
    size = len(msgspec.json.encode(value))
    room = limit
    while size > limit and room > _LEAST:
        room //= 2
        value = _shortened(value, room)
        size = len(msgspec.json.encode(value))
    return value if size <= limit else CUT_MARK


_LEAST = 8
"""Bytes of a string below which cutting strings no longer helps."""


def _shortened(value: JsonValue, room: int) -> JsonValue:
    match value:
        case str():
            return cut_text(value.encode("utf-8", "replace"), room) if len(value) * 4 > room else value
        case list():
            most = max(room // 8, 1)
            kept: list[JsonValue] = [_shortened(item, room) for item in value[:most]]
            return kept if len(value) <= most else [*kept, CUT_MARK]
        case dict():
            most = max(room // 8, 1)
            shown = {
                cut_text(name.encode("utf-8", "replace"), room): _shortened(item, room)
                for name, item in list(value.items())[:most]
            }
            return shown if len(value) <= most else {**shown, CUT_MARK: CUT_MARK}
        case _:
            return value


_NAME = re.compile(r"[\w:-]*")


def tool_name(name: str, *, with_texts: bool) -> str:
    """Return a tool's name for a span. Some agents put a sentence there, which counts as text."""
    return name if with_texts or _NAME.fullmatch(name) else "tool"
