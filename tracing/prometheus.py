"""Measurements -> the text that Prometheus scrapes.

Names are the instruments' own with underscores, units and `_total` as Prometheus has them.
"""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tracing.measurements import RECORDED, Instrument, Measurement

UNITS = {"s": "_seconds", "By": "_bytes"}


class PrometheusMeter:
    """Counts for one process."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        """`read` gives the values of the instruments that are only read; it is called at each scrape."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # prometheus-client does not annotate it
        self._registry = CollectorRegistry()
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}
        for instrument in RECORDED:
            self._make(instrument)
        self._registry.register(_Readings(read))

    def record(self, measurements: Iterable[Measurement]) -> None:
        """Count measurements in."""
        for one in measurements:
            name = one.of.name
            if (histogram := self._histograms.get(name)) is not None:
                (histogram.labels(*one.labels) if one.labels else histogram).observe(one.value)
            else:
                counter = self._counters[name]
                (counter.labels(*one.labels) if one.labels else counter).inc(one.value)

    def text(self) -> tuple[str, bytes]:
        """Return content type and text of a scrape."""
        return CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry)

    def _make(self, instrument: Instrument) -> None:
        name, labels = prometheus_name(instrument), _labels(instrument)
        if instrument.kind == "histogram":
            self._histograms[instrument.name] = Histogram(
                name, instrument.about, labels, registry=self._registry, buckets=instrument.boundaries
            )
        else:
            self._counters[instrument.name] = Counter(name, instrument.about, labels, registry=self._registry)


class _Readings(Collector):
    """Asks for the values at each scrape."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for one in self._read():
            family = families.get(one.of.name)
            if family is None:
                kind = CounterMetricFamily if one.of.kind == "counter" else GaugeMetricFamily
                name = prometheus_name(one.of).removesuffix("_total")
                family = families[one.of.name] = kind(name, one.of.about, labels=_labels(one.of))
            family.add_metric(list(one.labels), one.value)
        yield from families.values()


def prometheus_name(instrument: Instrument) -> str:
    """Return an instrument's name as Prometheus has it."""
    name = instrument.name.replace(".", "_") + UNITS.get(instrument.unit, "")
    return f"{name}_total" if instrument.kind == "counter" else name


def _labels(instrument: Instrument) -> list[str]:
    return [label.replace(".", "_") for label in instrument.labels]
