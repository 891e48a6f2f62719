"""Spans as the SDK's processors get them, kept in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from turnwire.tracing.export.otel import SpanExport
from turnwire.tracing.spans.span import Attribute


@dataclass(frozen=True)
class SpanEvent:
    """Something within a span."""

    name: str
    at: int
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True)
class Exported:
    """A span that was exported."""

    trace_id: int
    span_id: int
    parent_id: int | None
    name: str
    start: int
    end: int
    attributes: Mapping[str, Attribute]
    events: tuple[SpanEvent, ...]
    error: str | None
    links: tuple[tuple[int, int], ...] = ()
    """Traces and spans that it is linked to."""


class MemoryExport(SpanExport):
    """An export that keeps what it gets, at once."""

    def __init__(self) -> None:
        super().__init__("1", exporters=())
        self._kept = InMemorySpanExporter()
        self._provider.add_span_processor(SimpleSpanProcessor(self._kept))

    def kept(self) -> Sequence[ReadableSpan]:
        """What was exported, as the SDK has it."""
        return self._kept.get_finished_spans()

    def spans(self) -> list[Exported]:
        """What was exported, in the order in which it ended."""
        return [_exported(span) for span in self._kept.get_finished_spans()]


def _exported(span: ReadableSpan) -> Exported:
    assert span.context is not None
    return Exported(
        trace_id=span.context.trace_id,
        span_id=span.context.span_id,
        parent_id=None if span.parent is None else span.parent.span_id,
        name=span.name,
        start=span.start_time or 0,
        end=span.end_time or 0,
        attributes=dict(span.attributes or {}),  # type: ignore[arg-type]  # sequences are tuples of texts here
        events=tuple(
            SpanEvent(event.name, event.timestamp, dict(event.attributes or {}))  # type: ignore[arg-type]  # as above
            for event in span.events
        ),
        error=None if span.status.is_ok or span.status.is_unset else span.status.description,
        links=tuple((link.context.trace_id, link.context.span_id) for link in span.links),
    )
