"""Measurements -> the text that Prometheus scrapes, by prometheus-client's own counters and histograms.

Names are the instruments' own with underscores, units and `_total` as Prometheus has them.
"""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from turnwire.tracing.metrics.measurements import RECORDED, Instrument, Measurement

UNITS = {"s": "_seconds", "By": "_bytes"}


class PrometheusMeter:
    """Counts for one process."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        """`read` gives the values of the instruments that are only read; it is called at each scrape."""
        # a series more for each of ours, which this text format has no place for
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library does not annotate it
        self._registry = CollectorRegistry()
        self._recorded = {one.name: _metric(one, self._registry) for one in RECORDED}
        self._registry.register(_Readings(read))

    def record(self, measurements: Iterable[Measurement]) -> None:
        """Count measurements in."""
        for one in measurements:
            metric = self._recorded[one.of.name]
            series = metric.labels(*one.labels) if one.labels else metric
            if isinstance(series, Counter):
                series.inc(one.value)
            else:
                series.observe(one.value)

    def text(self) -> tuple[str, bytes]:
        """Return content type and text of a scrape."""
        return CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry)


class _Readings(Collector):
    """The values of the sidecar's parts at the moment of a scrape."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Return the families."""
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for one in self._read():
            of = one.of
            family = families.get(of.name)
            if family is None:
                kind = CounterMetricFamily if of.kind == "counter" else GaugeMetricFamily
                family = families[of.name] = kind(_bare_name(of), of.about, labels=_labels(of))
            family.add_metric(list(one.labels), one.value)
        yield from families.values()

    def describe(self) -> Iterable[Metric]:
        """Say nothing: asking for names must not read values."""
        return []


def _metric(one: Instrument, registry: CollectorRegistry) -> Counter | Histogram:
    if one.kind == "counter":
        return Counter(_bare_name(one), one.about, _labels(one), registry=registry)
    return Histogram(_bare_name(one), one.about, _labels(one), registry=registry, buckets=one.boundaries)


def prometheus_name(instrument: Instrument) -> str:
    """Return an instrument's name as Prometheus has it."""
    return _bare_name(instrument) + ("_total" if instrument.kind == "counter" else "")


def _bare_name(instrument: Instrument) -> str:
    """The library adds `_total` to a counter's name itself."""
    return instrument.name.replace(".", "_") + UNITS.get(instrument.unit, "")


def _labels(instrument: Instrument) -> list[str]:
    return [label.replace(".", "_") for label in instrument.labels]
