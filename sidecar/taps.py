"""Who sees a session's inputs and events beside the journal: the recorder and the tracer, where they are wanted."""

import time
from collections.abc import Sequence

from normalize.events import AgentEvent
from normalize.inputs import SessionInput
from sidecar.pipeline import Tap
from sidecar.settings import Settings
from sidecar.version import VERSION
from tracing.recorder import Recorder
from tracing.wanted import tracing_wanted


class Taps:
    """Makes the taps of each session, and closes what they write to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._recorders: list[Recorder] = []
        self._tracer = _tracer()

    def of(self, session: str, agent: str) -> Sequence[Tap]:
        """Return the taps of a session; raises OSError when a recording cannot be written."""
        taps: list[Tap] = []
        if self._settings.record:
            recorder = Recorder(self._settings.record_dir, session)
            self._recorders.append(recorder)
            taps.append(recorder.tap)
        if self._tracer is not None:
            taps.append(self._tracer.tap(session, agent))
        return taps

    def close(self) -> None:
        """Write out what waits."""
        for recorder in self._recorders:
            recorder.close()
        if self._tracer is not None:
            self._tracer.close()


class _Tracer:
    """Spans of all sessions, to one exporter."""

    def __init__(self) -> None:
        from tracing.otel import SpanExport  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

        self._export = SpanExport(VERSION)

    def tap(self, session: str, agent: str) -> Tap:
        from tracing.spans import SpanMaker  # noqa: PLC0415 - as above

        maker = SpanMaker(session, agent=agent)

        def take(item: SessionInput, events: Sequence[AgentEvent]) -> None:
            self._export.export(maker.take(item, events, time.time_ns()))

        return take

    def close(self) -> None:
        self._export.close()


def _tracer() -> _Tracer | None:
    return _Tracer() if tracing_wanted() else None
