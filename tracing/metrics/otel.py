"""Measurements -> the SDK's own counters and histograms, exported as the standard OTEL_* variables say. This module is imported only when that is configured.

The SDK's reader exports from a thread of its own, every OTEL_METRIC_EXPORT_INTERVAL.
"""

from collections.abc import Callable, Iterable, Sequence

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricReader,
    PeriodicExportingMetricReader,
)

from turnwire.tracing.export.otel import load_exporters, resource
from turnwire.tracing.export.sdk_log import listen
from turnwire.tracing.export.spans import context_of
from turnwire.tracing.metrics.measurements import READ, RECORDED, Instrument, Measurement
from turnwire.tracing.spans.genai_facts import SCHEMA_URL

CLOSE_S = 1.5
"""How long the end of the process may wait for a collector."""


def metric_readers() -> list[MetricReader]:
    """Return readers for the exporters that OTEL_METRICS_EXPORTER names; raises TracingError."""
    return [PeriodicExportingMetricReader(make()) for make in load_exporters("METRICS")]


class OtelMeter:
    """Sends measurements of one process."""

    def __init__(
        self,
        version: str,
        read: Callable[[], Sequence[Measurement]],
        readers: Sequence[MetricReader] | None = None,
    ) -> None:
        """Make the instruments.

        Args:
            version: turnwire's version.
            read: returns the values of instruments that are read on demand; called from another thread.
            readers: replace those of OTEL_METRICS_EXPORTER.

        Raises:
            TracingError: the configured exporter is unavailable.
        """
        listen()
        self._read = read
        self._provider = MeterProvider(
            metric_readers() if readers is None else readers,
            resource=resource(version),
            shutdown_on_exit=False,
        )
        meter = self._provider.get_meter("turnwire", version, schema_url=SCHEMA_URL)
        self._counters = {
            one.name: meter.create_counter(one.name, one.unit, one.about)
            for one in RECORDED
            if one.kind == "counter"
        }
        self._histograms = {
            one.name: meter.create_histogram(
                one.name, one.unit, one.about, explicit_bucket_boundaries_advisory=one.boundaries
            )
            for one in RECORDED
            if one.kind == "histogram"
        }
        for one in READ:
            create = (
                meter.create_observable_counter if one.kind == "counter" else meter.create_observable_gauge
            )
            create(one.name, [self._observer(one)], one.unit, one.about)

    def record(self, measurements: Iterable[Measurement]) -> None:
        """Count measurements in; each may lead to its span, as an exemplar."""
        for one in measurements:
            context = context_of(one.span)
            if one.of.kind == "histogram":
                self._histograms[one.of.name].record(one.value, _attributes(one), context)
            else:
                self._counters[one.of.name].add(one.value, _attributes(one), context)

    def close(self) -> None:
        """Send the current values, within a short time."""
        self._provider.shutdown(CLOSE_S * 1000)

    def _observer(self, instrument: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_options: CallbackOptions) -> Iterable[Observation]:
            return [Observation(one.value, _attributes(one)) for one in self._read() if one.of is instrument]

        return observe


def _attributes(one: Measurement) -> dict[str, str]:
    return {name: value for name, value in zip(one.of.labels, one.labels, strict=True) if value}
