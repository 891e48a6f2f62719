"""Measurements -> the text that Prometheus scrapes.

Names are the instruments' own with underscores, units and `_total` as Prometheus has them. Values are added up here,
a few steps for each, and become families of prometheus-client when somebody scrapes.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tracing.measurements import RECORDED, Instrument, Measurement

UNITS = {"s": "_seconds", "By": "_bytes"}


@dataclass(slots=True)
class _Sum:
    """What was measured under one set of labels."""

    total: float
    counts: list[int]
    """By boundary, and beyond the last; empty for a counter."""


class PrometheusMeter(Collector):
    """Counts for one process."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        """`read` gives the values of the instruments that are only read; it is called at each scrape."""
        self._read = read
        self._sums: dict[str, dict[tuple[str, ...], _Sum]] = {one.name: {} for one in RECORDED}
        for one in RECORDED:
            if not one.labels:
                self._sums[one.name][()] = _empty(one)
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def record(self, measurements: Iterable[Measurement]) -> None:
        """Count measurements in."""
        for of, value, labels in measurements:
            sums = self._sums[of.name]
            found = sums.get(labels)
            if found is None:
                found = sums[labels] = _empty(of)
            found.total += value
            if found.counts:
                found.counts[bisect_left(of.boundaries, value)] += 1

    def text(self) -> tuple[str, bytes]:
        """Return content type and text of a scrape."""
        return CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Return the families."""
        for one in RECORDED:
            yield self._recorded(one)
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for of, value, labels in self._read():
            family = families.get(of.name)
            if family is None:
                family = families[of.name] = _family(of)
            family.add_metric(list(labels), value)
        yield from families.values()

    def describe(self) -> Iterable[Metric]:
        """Say nothing: asking for names must not read values."""
        return []

    def _recorded(self, one: Instrument) -> Metric:
        sums = self._sums[one.name].items()
        if one.kind == "counter":
            counter = _family(one)
            for labels, found in sums:
                counter.add_metric(list(labels), found.total)
            return counter
        histogram = HistogramMetricFamily(prometheus_name(one), one.about, labels=_labels(one))
        for labels, found in sums:
            histogram.add_metric(list(labels), _buckets(one, found.counts), found.total)
        return histogram


def _empty(one: Instrument) -> _Sum:
    return _Sum(0.0, [0] * (len(one.boundaries) + 1) if one.kind == "histogram" else [])


def _buckets(one: Instrument, counts: list[int]) -> list[tuple[str, float]]:
    """Prometheus counts in each bucket what is in the smaller ones, too."""
    found, so_far = [], 0
    for boundary, count in zip((*map(float, one.boundaries), "+Inf"), counts, strict=True):
        so_far += count
        found.append((str(boundary), float(so_far)))
    return found


def _family(one: Instrument) -> CounterMetricFamily | GaugeMetricFamily:
    kind = CounterMetricFamily if one.kind == "counter" else GaugeMetricFamily
    return kind(prometheus_name(one).removesuffix("_total"), one.about, labels=_labels(one))


def prometheus_name(instrument: Instrument) -> str:
    """Return an instrument's name as Prometheus has it."""
    name = instrument.name.replace(".", "_") + UNITS.get(instrument.unit, "")
    return f"{name}_total" if instrument.kind == "counter" else name


def _labels(instrument: Instrument) -> list[str]:
    return [label.replace(".", "_") for label in instrument.labels]
