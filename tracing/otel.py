"""Finished spans -> OTLP, by gRPC or HTTP as the standard OTEL_* variables say; in batches, from a thread.

The stream never waits: a full queue or a dead collector loses spans, with a count and one log line, and nothing
else. This module is imported only when tracing is on.
"""

import os
from collections.abc import Sequence

import structlog
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tracing.otel_logs import listen
from tracing.outbox import Outbox
from tracing.span import FinishedSpan
from tracing.wanted import TracingError, protocol_of

log = structlog.get_logger()

CLOSE_S = 3.0
"""How long the end of a session may wait for a collector."""
REPLAY_CLOSE_S = 30.0
"""How long a replay waits, which has nothing else to do."""


def exporter(timeout_s: float | None = None) -> SpanExporter:
    """Return the exporter that the environment describes, the patience too unless it is given; raises TracingError."""
    if protocol_of("TRACES") == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc  # noqa: PLC0415 - only one of the two is paid for

        return Grpc(timeout=timeout_s)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http  # noqa: PLC0415 - as above

    return Http(timeout=timeout_s)


def resource(version: str) -> Resource:
    """Return who sends: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, or else the name turnwire."""
    found = Resource.create({"service.version": version})
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: "turnwire"}))
    return found


class SpanExport:
    """Where finished spans go."""

    def __init__(self, version: str, to: SpanExporter | None = None) -> None:
        """Raises TracingError."""
        self._resource = resource(version)
        self._scope = InstrumentationScope("turnwire", version)
        self._said = listen()
        self._exporter = to or exporter()
        self._outbox = Outbox(
            "spans",
            self._send,
            room=_number("OTEL_BSP_MAX_QUEUE_SIZE", 4096),
            batch=_number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
            delay_s=_number("OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000,
        )

    @property
    def lost(self) -> int:
        """Spans that no collector took."""
        return self._outbox.lost

    def export(self, spans: Sequence[FinishedSpan]) -> None:
        """Queue spans; returns at once."""
        self._outbox.put(spans)

    def export_all(self, spans: Sequence[FinishedSpan]) -> None:
        """Queue spans, and wait for room when there is none: for a replay, which can wait and must lose nothing."""
        self._outbox.put_all(spans)

    def close(self, within_s: float = CLOSE_S) -> int:
        """Send what is queued, and stop; return how many spans were lost."""
        sent = self._outbox.close(within_s)
        # This interrupts an attempt that is still being made.
        self._exporter.shutdown()
        if not sent or self.lost:
            log.warning("spans were lost", lost=self.lost)
        return self.lost

    def _send(self, spans: Sequence[FinishedSpan]) -> str | None:
        result = self._exporter.export([self._readable(span) for span in spans])
        return None if result is SpanExportResult.SUCCESS else self._said.taken()

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


def _number(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isdecimal() or int(value) == 0:
        raise TracingError(f"{name} is {value!r}; it takes a number above 0")
    return int(value)
