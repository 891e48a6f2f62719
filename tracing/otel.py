"""Finished spans -> OTLP, by gRPC or HTTP as the standard OTEL_* variables say; in batches, from a thread.

The stream never waits: a full queue or a dead collector loses spans, with a count and one log line, and nothing
else. This module is imported only when tracing is on.
"""

import os
from collections.abc import Sequence

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tracing.span import FinishedSpan

ROOM = 1024
"""Spans that are queued before `export_all` waits; the SDK's queue takes 2048 unless OTEL_BSP_MAX_QUEUE_SIZE differs."""


class TracingError(Exception):
    """Spans cannot be exported as configured; the message says which setting and what it takes."""


def exporter() -> SpanExporter:
    """Return the exporter that the environment describes; raises TracingError."""
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"
    )
    match protocol:
        case "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc  # noqa: PLC0415 - only one of the two is paid for

            return Grpc()
        case "http/protobuf":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http  # noqa: PLC0415 - as above

            return Http()
        case _:
            raise TracingError(
                f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}; it can be grpc or http/protobuf"
            )


class SpanExport:
    """Where finished spans go."""

    def __init__(
        self, version: str, to: SpanExporter | None = None, *, queue_size: int | None = None
    ) -> None:
        self._resource = Resource.create(
            {"service.name": os.environ.get("OTEL_SERVICE_NAME", "turnwire"), "service.version": version}
        )
        self._scope = InstrumentationScope("turnwire", version)
        self._processor = BatchSpanProcessor(to or exporter(), max_queue_size=queue_size)
        self._waiting = 0

    def export(self, spans: Sequence[FinishedSpan]) -> None:
        """Queue spans; returns at once."""
        for span in spans:
            self._processor.on_end(self._readable(span))

    def export_all(self, spans: Sequence[FinishedSpan]) -> None:
        """Send spans and wait for room when there is none: for a replay, which can wait and must lose nothing."""
        for span in spans:
            self._processor.on_end(self._readable(span))
            self._waiting += 1
            if self._waiting >= ROOM:
                self.flush()
                self._waiting = 0

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until what is queued has gone out; False when it could not in time."""
        return self._processor.force_flush(int(timeout_s * 1000))

    def close(self) -> None:
        """Send what is queued, within the exporter's own time limit, and stop."""
        self._processor.shutdown()  # type: ignore[no-untyped-call]  # the SDK does not annotate it

    def _readable(self, span: FinishedSpan) -> ReadableSpan:
        parent = None if span.parent_id is None else _context(span.trace_id, span.parent_id)
        return ReadableSpan(
            span.name,
            context=_context(span.trace_id, span.span_id),
            parent=parent,
            resource=self._resource,
            attributes=span.attributes,
            events=[Event(event.name, event.attributes, event.at) for event in span.events],
            kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
            status=Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=self._scope,
        )


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
