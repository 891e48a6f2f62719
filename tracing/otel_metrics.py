"""Measurements -> OTLP, as the standard OTEL_* variables say. This module is imported only when that is configured.

The SDK's reader exports from a thread of its own, every OTEL_METRIC_EXPORT_INTERVAL.
"""

from collections.abc import Callable, Iterable, Sequence

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader

from tracing.measurements import READ, RECORDED, Instrument, Measurement
from tracing.otel import resource
from tracing.otel_logs import listen
from tracing.wanted import protocol_of

CLOSE_S = 1.5
"""How long the end of the process may wait for a collector."""


def exporter() -> MetricExporter:
    """Return the exporter that the environment describes; raises TracingError."""
    if protocol_of("METRICS") == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as Grpc  # noqa: PLC0415 - only one of the two is paid for

        return Grpc()
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as Http  # noqa: PLC0415 - as above

    return Http()


class OtelMeter:
    """Sends measurements of one process."""

    def __init__(
        self,
        version: str,
        read: Callable[[], Sequence[Measurement]],
        to: MetricExporter | None = None,
    ) -> None:
        """`read` gives the values of the instruments that are only read; it is called from another thread.

        Raises TracingError.
        """
        listen()
        self._read = read
        reader = PeriodicExportingMetricReader(to or exporter())
        self._provider = MeterProvider([reader], resource=resource(version), shutdown_on_exit=False)
        meter = self._provider.get_meter("turnwire", version)
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
        """Count measurements in."""
        for one in measurements:
            if one.of.kind == "histogram":
                self._histograms[one.of.name].record(one.value, _attributes(one))
            else:
                self._counters[one.of.name].add(one.value, _attributes(one))

    def close(self) -> None:
        """Send what there is, within a short time."""
        self._provider.shutdown(CLOSE_S * 1000)

    def _observer(self, instrument: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_options: CallbackOptions) -> Iterable[Observation]:
            return [Observation(one.value, _attributes(one)) for one in self._read() if one.of is instrument]

        return observe


def _attributes(one: Measurement) -> dict[str, str]:
    return {name: value for name, value in zip(one.of.labels, one.labels, strict=True) if value}
