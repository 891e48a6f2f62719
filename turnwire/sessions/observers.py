"""Observers of a session's inputs and events: the recorder and the tracer.

Both get the same moment, so that a recording replays to the times that were traced. Metrics are always measured:
they cost a look at each line.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakSet, WeakValueDictionary

from turnwire._runtime.version import VERSION
from turnwire.config.settings import Settings
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Ended, Received, SessionInput
from turnwire.recordings.recorder import Recorder, check_folder
from turnwire.sessions.metrics import Metrics
from turnwire.sessions.pipeline import Observer
from turnwire.tracing.export.wanted import STILL_SENDING, logs_wanted
from turnwire.tracing.metrics.measurements import Measurer
from turnwire.tracing.spans.maker import SpanMaker
from turnwire.tracing.spans.span import Span

if TYPE_CHECKING:
    from turnwire.tracing.export.log_records import LogExport
    from turnwire.tracing.export.otel import SpanExport

log = logging.getLogger(__name__)

CLOSE_S = 3.0
"""How long the end of the process may wait for a collector."""

REASON_S = 0.15
"""Seconds before the end at which the export of spans is interrupted, so that the reason can be logged."""


class Observers:
    """Makes the taps of each session, and closes what they write to."""

    def __init__(self, settings: Settings, metrics: Metrics, *, is_alone: bool = False) -> None:
        """Check what is configured.

        Args:
            settings: turnwire's settings.
            metrics: counts what is measured.
            is_alone: the process has one session, so that all its log lines are of that session.

        Raises:
            RecordingError: the folder of recordings cannot be written.
            TracingError: a configured exporter is unavailable.
        """
        self._is_alone = is_alone
        if settings.record:
            check_folder(settings.record_dir)
        self._settings = settings
        self._metrics = metrics
        self._measurer = Measurer()
        self._sessions: WeakSet[_Observer] = WeakSet()
        self._makers: WeakValueDictionary[str, SpanMaker] = WeakValueDictionary()
        self._logs = _log_export(self._current) if logs_wanted() else None
        self._export = export = _export(settings) if settings.traces else None
        if export is not None:
            metrics.spans_lost = lambda: export.lost

    def for_session(self, session: str, agent: str) -> Sequence[Observer]:
        """Return the taps of a session."""
        settings = self._settings
        maker = SpanMaker(
            session,
            export=self._export,
            agent=agent,
            **settings.span_options,
        )
        tap = _Observer(session, maker, settings, metrics=self._metrics, measurer=self._measurer)
        self._sessions.add(tap)
        self._makers[session] = maker
        return [tap.on_input]

    def _current(self, session: str | None) -> Span | None:
        """Return the span of now of a session; of a line without one, that of the only session of the process."""
        if session is None and self._is_alone:
            session = next(iter(self._makers.keys()), None)
        maker = None if session is None else self._makers.get(session)
        return None if maker is None else maker.current

    def send_soon(self) -> None:
        """Begin to send the spans that wait."""
        if self._export is not None:
            self._export.send_soon()

    def close(self, within_s: float = CLOSE_S) -> None:
        """Write and send everything that waits, all signals at once. The rest is lost.

        Args:
            within_s: seconds that a collector may take for it.
        """
        for session in self._sessions:
            session.close()
        export = self._export
        ends: list[Callable[[], object]] = [self._metrics.close]
        if self._logs is not None:
            ends.append(self._logs.close)
        if export is not None:
            ends.append(lambda: export.close(within_s - REASON_S))
        threads = [threading.Thread(target=end, name=STILL_SENDING, daemon=True) for end in ends]
        for thread in threads:
            thread.start()
        until = time.monotonic() + within_s
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0))
        if export is not None:
            export.tell_lost()


class _Observer:
    """Records, traces and measures one session."""

    def __init__(
        self,
        session: str,
        maker: SpanMaker,
        settings: Settings,
        *,
        metrics: Metrics,
        measurer: Measurer,
    ) -> None:
        self._session = session
        self._maker = maker
        self._settings = settings
        self._metrics = metrics
        self._measurer = measurer
        self._recorder: Recorder | None = None
        self._ended = False
        """Whether the recorder takes nothing more."""

    def on_input(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        """See an input and its events."""
        at = time.time_ns() // 1000 * 1000  # a recording keeps microseconds
        if self._settings.record:
            self._record(item, events, at)
        spans = self._maker.handle(item, events, at)
        if spans or events:
            measured = self._measurer.handle(events, spans)
            if measured:
                self._metrics.record(measured)
        if type(item) is Received:
            self._metrics.lines += 1

    def close(self) -> None:
        """Write the recording out."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def _record(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> None:
        if self._recorder is not None and self._ended:
            self._recorder.close()  # its rows stand before those of the next CLI
            self._recorder, self._ended = None, False
        if self._recorder is None:
            try:
                self._recorder = Recorder(self._settings.record_dir, self._session)
            except OSError as error:
                log.warning(
                    "no recording: the file cannot be opened",
                    extra={"session": self._session, "error": str(error)},
                )
                self._settings = self._settings.model_copy(update={"record": False})
                return
        self._recorder.tap(item, events, at)
        if isinstance(item, Ended):
            # A session at rest holds no thread and no files; the next CLI's lines are appended.
            self._recorder.end()
            self._ended = True


def _log_export(current: Callable[[str | None], Span | None]) -> "LogExport":
    from turnwire.tracing.export.log_records import LogExport  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

    return LogExport(VERSION, current)


def _export(settings: Settings) -> "SpanExport":
    from turnwire.tracing.export.otel import SpanExport  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

    return SpanExport(VERSION, processors=settings.trace_processors)
