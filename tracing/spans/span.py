"""An operation with a duration: what metrics are measured from and, where spans are exported, what becomes one.

Times are nanoseconds since 1970. `Trace` and `Span` here go nowhere; those of tracing/export/spans.py carry a span of the
OpenTelemetry SDK along, so that the ones who follow a session need not know whether anybody exports.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute]

CUT_MARK = "…"


class Span:
    """An operation that has begun, and after `finish` one that is over."""

    __slots__ = ("attributes", "end", "name", "start")

    def __init__(self, name: str, start: int, attributes: dict[str, Attribute]) -> None:
        self.name = name
        self.start = start
        self.end = start
        """Its end, once it is finished."""
        self.attributes = attributes
        """What is known of it; changed by `update` alone."""

    def update(self, attributes: Attributes) -> None:
        """Add to what is known, or replace it."""
        self.attributes.update(attributes)

    def add_event(self, name: str, at: int, attributes: Attributes) -> None:
        """Note something that happened at one moment within the span; kept only where spans are exported."""

    def finish(self, end: int, error: str | None = None) -> "Span":
        """End the span and return it; a clock that went back gives it no length, never a negative one.

        Args:
            end: nanoseconds since 1970.
            error: what went wrong; None for a span that ended well.
        """
        del error  # told where spans are exported; metrics take it from the attributes
        self.end = max(end, self.start)
        return self


class Origin(NamedTuple):
    """Where a trace begins, in W3C terms."""

    traceparent: str
    """Ids of the trace and of its first span."""
    parent: str | None = None
    """The `traceparent` of a caller's span, which the first one is below."""
    tracestate: str | None = None
    """The caller's."""
    baggage: str | None = None
    """The caller's."""


class Trace:
    """The spans of one turn, or of what happens between turns."""

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
        """Open a span below another one, or the first one.

        Args:
            name: what it is called.
            at: nanoseconds since 1970.
            parent: the span above it.
            attributes: what is known of it.
            client: it calls another service.
            link: a span of another trace that it belongs to.
        """
        del parent, client, link
        return Span(name, at, attributes)

    def salt(self, what: bytes) -> None:
        """Make the ids that follow depend on something more."""


class TraceSource(Protocol):
    """Makes the traces of sessions."""

    def trace(self, seed: bytes, origin: Origin | None = None) -> Trace:
        """Return a trace whose ids depend on the seed alone, and on where it begins where that is known."""
        ...


def cut_text(data: bytes, limit: int) -> str:
    """Return UTF-8 as text of at most `limit` bytes, cut on a character boundary and marked."""
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore") + CUT_MARK


_NAME = re.compile(r"[\w:-]*")


def tool_name(name: str, *, with_texts: bool) -> str:
    """Return a tool's name for a span; some agents have a sentence there, and that is text."""
    return name if with_texts or _NAME.fullmatch(name) else "tool"
