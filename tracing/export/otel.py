"""Export finished spans as the standard OTEL_* variables say: the SDK's provider, sampler, limits and exporters.

The session never waits: a full queue or a dead collector loses spans, with a count and one log line, and nothing
else. This module is imported only when tracing is on.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SpanExporter,
    SpanExportResult,
)

from turnwire.tracing.export.batches import batches
from turnwire.tracing.export.sdk_log import listen
from turnwire.tracing.export.spans import ExportedTrace
from turnwire.tracing.export.trace_ids import SeededIds
from turnwire.tracing.export.wanted import DELIVERY, Signal, TracingError, exporters_of, protocol_of
from turnwire.tracing.spans.genai_facts import SCHEMA_URL
from turnwire.tracing.spans.span import Origin, Trace

log = logging.getLogger(DELIVERY)

CLOSE_S = 3.0
"""How long the end of a session may wait for a collector."""
INTERRUPTED_S = 0.1
"""Seconds that an interrupted exporter has to stop."""
REPLAY_CLOSE_S = 30.0
"""Seconds that a replay waits for its spans: it has nothing else to do."""
CALM_S = 60.0
"""Seconds without loss after which another loss is logged again. A slow collector would otherwise be logged all the time."""

QUEUE, BATCH, DELAY_MS = 2048, 512, 5000
"""The SDK's own defaults of OTEL_BSP_MAX_QUEUE_SIZE, …_MAX_EXPORT_BATCH_SIZE and …_SCHEDULE_DELAY."""


class SpanExport:
    """Where spans go."""

    def __init__(
        self,
        version: str,
        *,
        exporters: Sequence[SpanExporter] | None = None,
        processors: Sequence[str] = (),
    ) -> None:
        """Build the provider.

        Args:
            version: turnwire's version, as `service.version` and version of the instrumentation scope.
            exporters: replace those of OTEL_TRACES_EXPORTER.
            processors: the user's span processors, as `module:attribute`, called without arguments.

        Raises:
            TracingError: a configured part is unavailable.
        """
        listen()
        self._queue = number("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE)
        self._batch = min(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH), self._queue)
        delay = number("OTEL_BSP_SCHEDULE_DELAY", DELAY_MS)
        used = trace_exporters() if exporters is None else exporters
        self._provider = TracerProvider(
            resource=resource(version), id_generator=SeededIds(), shutdown_on_exit=False
        )
        self._started = _Started()
        self._provider.add_span_processor(self._started)
        for name in processors:
            self._provider.add_span_processor(load_processor(name))
        self._deliveries = [_Delivery(exporter) for exporter in used]
        for delivery in self._deliveries:
            self._provider.add_span_processor(delivery.counted)
            self._provider.add_span_processor(BatchSpanProcessor(delivery, self._queue, delay, self._batch))
        self._sending: threading.Thread | None = None
        self._has_told = False
        self._tracer = self._provider.get_tracer("turnwire", version, schema_url=SCHEMA_URL)

    @property
    def started(self) -> int:
        """Number of started spans, without those that the sampler left out."""
        return self._started.spans

    @property
    def lost(self) -> int:
        """Number of spans that no collector accepted, as far as known. Waiting spans may be added."""
        return sum(delivery.lost(waiting=self._queue + self._batch) for delivery in self._deliveries)

    def trace(self, seed: bytes, origin: Origin | None = None) -> Trace:
        """Return a trace whose ids depend only on the seed, and on its origin if there is one."""
        return ExportedTrace(self._tracer, seed, origin)

    def flush_when_full(self) -> None:
        """Send a batch as soon as it is full: a replay can wait and must lose nothing."""
        if any(delivery.waiting >= self._batch for delivery in self._deliveries):
            self._provider.force_flush()

    def send_soon(self) -> None:
        """Send what waits in a thread, unless one is doing so: for an end that cannot wait long."""
        if self._sending is None or not self._sending.is_alive():
            self._sending = threading.Thread(target=self._provider.force_flush, name="spans", daemon=True)
            self._sending.start()

    def close(self, within_s: float = CLOSE_S) -> int:
        """Send what is queued, and stop. Returns how many spans were lost.

        Args:
            within_s: seconds after which a running attempt is interrupted.
        """
        # The provider's own patience is half a minute for each exporter, whatever the exporter's.
        closing = threading.Thread(target=self._provider.shutdown, name="tracing ends", daemon=True)
        closing.start()
        closing.join(within_s)
        if closing.is_alive():
            for delivery in self._deliveries:
                delivery.shutdown()
            closing.join(INTERRUPTED_S)  # so that why is told, not only that
        return self.tell_lost()

    def tell_lost(self) -> int:
        """Return how many spans were lost so far, for an end. Logged once."""
        lost = sum(delivery.lost(waiting=0) for delivery in self._deliveries)
        if lost and not self._has_told:
            self._has_told = True
            log.warning("spans were lost", extra={"lost": lost})
        return lost


class _Delivery(SpanExporter):
    """An exporter with counts of the spans that it received and accepted."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.counted = _Counter()
        self._taken = 0
        self._failed = 0
        self._said = listen()
        self._in_trouble = False
        self._lost_at = 0.0
        self._closed = threading.Lock()

    @property
    def waiting(self) -> int:
        """Spans that wait to be sent, or were dropped since there was no more room."""
        return self.counted.spans - self._taken - self._failed

    def lost(self, *, waiting: int) -> int:
        """Return how many were lost when at most so many wait."""
        return self._failed + max(self.waiting - waiting, 0)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans, patiently; in the thread of the processor. A batch that is refused loses no other."""
        results = [self._send(batch) for batch in batches(spans)]
        return next((one for one in results if one is not SpanExportResult.SUCCESS), SpanExportResult.SUCCESS)

    def _send(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._said.taken()  # warnings before an attempt that succeeded explain no later one
        try:
            result = self._exporter.export(spans)
            why = None if result is SpanExportResult.SUCCESS else self._said.taken()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in an exporter must not end the thread
            result, why = SpanExportResult.FAILURE, f"{type(error).__name__}: {error}"
        if why is None:
            self._taken += len(spans)
            if self._in_trouble and time.monotonic() - self._lost_at > CALM_S:
                self._in_trouble = False
                log.info("spans are sent again")
            return result
        self._failed += len(spans)
        self._lost_at = time.monotonic()
        if not self._in_trouble:
            self._in_trouble = True
            log.warning(
                "spans cannot be sent and are lost; the sessions are not affected",
                extra={"why": why},
            )
        return result

    def shutdown(self) -> None:
        """Interrupt the running export, only once."""
        if self._closed.acquire(blocking=False):
            self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Make the exporter send its own queue."""
        return self._exporter.force_flush(timeout_millis)


class _Started(SpanProcessor):
    """Counts the spans that are recorded."""

    def __init__(self) -> None:
        self.spans = 0

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Count it."""
        del span, parent_context
        self.spans += 1


class _Counter(SpanProcessor):
    """Counts the spans that are to be exported."""

    def __init__(self) -> None:
        self.spans = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Count it when it is sampled."""
        if span.context is not None and span.context.trace_flags.sampled:
            self.spans += 1


def load_processor(name: str) -> SpanProcessor:
    """Return the processor that `module:attribute` makes when it is called without arguments; raises TracingError."""
    module, _, attribute = name.partition(":")
    try:
        made = getattr(import_module(module), attribute)()
    except Exception as error:
        raise TracingError(
            f"trace_processors names {name!r}, which gives no span processor ({type(error).__name__}: {error}); "
            "it takes module:attribute of an installed package, called without arguments"
        ) from error
    if not isinstance(made, SpanProcessor):
        raise TracingError(
            f"trace_processors names {name!r}, which gives a {type(made).__name__}; "
            "it takes what makes an opentelemetry.sdk.trace.SpanProcessor"
        )
    return made


def trace_exporters() -> list[SpanExporter]:
    """Return the exporters that OTEL_TRACES_EXPORTER names; raises TracingError."""
    return [make() for make in load_exporters("TRACES")]


def try_exporters(timeout_s: float) -> str | None:
    """Export no spans by OTLP; return why that failed, or None. Raises TracingError.

    Args:
        timeout_s: seconds that an exporter may try.
    """
    said = listen()
    for make in load_exporters("TRACES"):
        exporter = make(timeout=timeout_s)
        if isinstance(exporter, ConsoleSpanExporter):
            continue
        try:
            if exporter.export([]) is not SpanExportResult.SUCCESS:
                return said.taken()
        finally:
            exporter.shutdown()
    return None


def load_exporters(signal: Signal) -> list[Callable[..., Any]]:
    """Return the exporters' classes for a signal, by their registered names; raises TracingError."""
    group, found = f"opentelemetry_{signal.lower()}_exporter", []
    for name in exporters_of(signal):
        registered = name
        if name == "otlp":
            registered = "otlp_proto_grpc" if protocol_of(signal) == "grpc" else "otlp_proto_http"
        known = {point.name: point for point in entry_points(group=group)}
        if registered not in known:
            raise TracingError(
                f"OTEL_{signal}_EXPORTER names {name!r}, which no installed package provides; "
                f"there are none, otlp, {', '.join(sorted(set(known) - {'otlp'}))}"
            )
        found.append(_checked(signal, name, known[registered]))
    return found


def _checked(signal: Signal, name: str, point: EntryPoint) -> Callable[..., Any]:
    """Return the exporter's class. An exporter that cannot be made raises TracingError."""
    make = point.load()

    def made(**options: object) -> Any:
        # Standard output may be a protocol of ours (`turnwire stdio`, `turnwire runner`, events as lines).
        told = {"out": sys.stderr} if name == "console" else options
        try:
            return make(**told)
        except Exception as error:
            raise TracingError(
                f"the exporter {name!r} of OTEL_{signal}_EXPORTER cannot be made as its variables say "
                f"({type(error).__name__}: {error}). Correct the variable"
            ) from error

    return made


def resource(version: str) -> Resource:
    """Return the sender's attributes: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, or else the name turnwire."""
    found = Resource.create({"service.version": version})
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: "turnwire"}))
    return found


def number(name: str, default: int) -> int:
    """Return a variable's number above 0. Raises TracingError."""
    value = os.environ.get(name) or str(default)
    if not value.isdecimal() or int(value) == 0:
        raise TracingError(f"{name} is {value!r}; it must be a number above 0")
    return int(value)
