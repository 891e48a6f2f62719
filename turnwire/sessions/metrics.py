"""What a sidecar measures, for Prometheus at /metrics and, where it is configured, for an OTLP collector."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from turnwire._runtime.version import VERSION
from turnwire.hub.host import Host
from turnwire.hub.hub import Hub
from turnwire.journal.base import Journal, JournalError
from turnwire.tracing.export.wanted import metrics_wanted
from turnwire.tracing.metrics import measurements as m
from turnwire.tracing.metrics.measurements import Measurement

if TYPE_CHECKING:
    from turnwire.tracing.metrics.prometheus import PrometheusMeter

REFRESH_S = 5.0
"""How old the values may be that the OTLP exporter reads, and the journal's size at /metrics."""


class Metrics:
    """The meters of one process, and what they read."""

    def __init__(self) -> None:
        """Raises TracingError."""
        self.lines = 0
        """Lines that CLIs wrote."""
        self.fleet: Callable[[], Sequence[Measurement]] = tuple
        """What a hub or worker measures of its fleet."""
        self.spans_lost: Callable[[], int] = lambda: 0
        self._journal_size = 0
        self._journal_damaged: Callable[[], int] = lambda: 0
        self._latest: Sequence[Measurement] = ()
        self._read: Callable[[], list[Measurement]] = list
        self._otlp = None
        if metrics_wanted():
            from turnwire.tracing.metrics.otel import OtelMeter  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

            # The SDK's thread gets what the event loop has read: nothing here is made for two threads.
            self._otlp = OtelMeter(VERSION, lambda: self._latest)

    @cached_property
    def _prometheus(self) -> "PrometheusMeter":
        from turnwire.tracing.metrics.prometheus import PrometheusMeter  # noqa: PLC0415 - with the first measurement, or the first scrape

        return PrometheusMeter(self._now)

    def record(self, measurements: Sequence[Measurement]) -> None:
        """Count measurements in."""
        if not measurements:
            return
        self._prometheus.record(measurements)
        if self._otlp is not None:
            self._otlp.record(measurements)

    def text(self) -> tuple[str, bytes]:
        """Return content type and text of /metrics."""
        return self._prometheus.text()

    async def watch(self, hub: Hub, host: Host, journal: Journal, *, has_sessions: bool = True) -> None:
        """Read what the sidecar's parts say of themselves, until cancelled.

        Where sessions are others', as at the hub of a fleet, these report them and their journal.
        """
        self._read = lambda: self._readings(hub, host) if has_sessions else self._of_frontends(hub)
        self._journal_damaged = lambda: journal.damaged
        while True:
            try:
                self._journal_size = sum(log.size for log in await journal.logs())
            except JournalError:
                pass  # /readyz says it; the last size stands
            self._latest = self._read()
            await asyncio.sleep(REFRESH_S)

    def close(self) -> None:
        """Send what there is."""
        self._latest = self._read()
        if self._otlp is not None:
            self._otlp.close()

    def _now(self) -> list[Measurement]:
        return self._read()

    def _readings(self, hub: Hub, host: Host) -> list[Measurement]:
        sessions = host.sessions()
        states = Counter(session.state for session in sessions)
        return [
            *self._of_frontends(hub),
            Measurement(m.LINES, self.lines),
            Measurement(m.SPANS_LOST, self.spans_lost()),
            Measurement(m.PENDING, sum(session.pending or 0 for session in sessions)),
            Measurement(m.JOURNAL_SIZE, self._journal_size),
            Measurement(m.JOURNAL_DAMAGED, self._journal_damaged()),
            *(Measurement(m.SESSIONS, count, (state,)) for state, count in sorted(states.items())),
        ]

    def _of_frontends(self, hub: Hub) -> list[Measurement]:
        return [
            Measurement(m.FRONTENDS, hub.frontends),
            Measurement(m.LAG, hub.lag),
            *(
                Measurement(m.REFUSED, count, (reason,))
                for reason, count in sorted(hub.refusals.counts.items())
            ),
            *self.fleet(),
        ]
