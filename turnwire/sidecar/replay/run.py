"""`turnwire replay`: recordings to standard output, to the console, or to an OTLP endpoint."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnwire._runtime.version import VERSION
from turnwire.config.settings import Settings
from turnwire.config.state_directory import claimed
from turnwire.hub.hub import Hub
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.core import happenings
from turnwire.normalize.events import to_json
from turnwire.normalize.events.limits import cut
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import SessionInput
from turnwire.protocol.visible import escaped_lines, ordered
from turnwire.recordings.pieces import distinct
from turnwire.recordings.reading import length, name_of, read
from turnwire.recordings.recorded import RecordingError, timed_happenings
from turnwire.sessions.metrics import Metrics
from turnwire.sidecar.process.supervision import supervised
from turnwire.sidecar.replay.player import BATCH, Player
from turnwire.sidecar.replay.progress import progress
from turnwire.sidecar.replay.sessions import ReplayHost
from turnwire.sidecar.serving.listening import with_hub
from turnwire.tracing.export.wanted import TracingError
from turnwire.tracing.spans.maker import SpanMaker

if TYPE_CHECKING:
    from turnwire.tracing.export.otel import SpanExport

LONG_AGO = 1e8
"""Times below this (1973) count from a recording's start; others are since 1970."""


async def to_stdout(
    settings: Settings, files: Sequence[Path], speed: float | None, family: str | None = None
) -> None:
    """Print the events of each recording, one after another, at its pace; raises RecordingError."""
    with progress() as bars:
        for file in distinct(files):
            await _print(file, settings.field_limit, speed, bars(file), family)


async def _print(
    file: Path,
    field_limit: int,
    speed: float | None,
    moved: Callable[[float], None],
    family: str | None,
) -> None:
    core = recorded_core(family)

    async def feed(batch: Sequence[SessionInput]) -> None:
        for _, events in happenings(core, batch):
            for event in events:
                data = to_json(event)
                if len(data) > field_limit:
                    data = to_json(cut(event, field_limit))
                sys.stdout.buffer.write(escaped_lines(data) + b"\n")
        sys.stdout.buffer.flush()
        moved(player.position)

    player = Player(read(file, family), length(file), feed, speed=speed)
    await player.run()
    moved(1.0)


async def to_console(
    settings: Settings, files: Sequence[Path], speed: float | None, family: str | None = None
) -> None:
    """Serve the recordings as sessions until a signal; raises RecordingError and PortError."""
    journal, metrics = MemoryJournal(), Metrics()
    async with supervised() as supervisor:
        host = ReplayHost(
            distinct(files),
            journal,
            supervisor.spawn,
            speed=speed,
            field_limit=settings.field_limit,
            family=family,
        )

        async def announce(hub: Hub) -> None:
            first = host.replays()[0].session
            typer.echo(f"turnwire is ready; {hub.invitation('control', first)}")

        try:
            with _watched(host), claimed(settings, Path()) as placed:
                await with_hub(
                    placed, journal, host, announce, start=_started, stop=host.stop, metrics=metrics
                )
        finally:
            await host.stop()
            metrics.close()


@contextmanager
def _watched(host: ReplayHost) -> Iterator[None]:
    """Show on a terminal how far each session is."""
    moved: dict[str, Callable[[float], None]] = {}

    def show() -> None:
        for session in host.replays():
            if session.session not in moved:
                moved[session.session] = bars(session.recording)
            moved[session.session](session.position)

    with progress() as bars:
        unwatch = host.watch_sessions(show)
        show()
        try:
            yield
        finally:
            unwatch()


async def to_otlp(settings: Settings, files: Sequence[Path], family: str | None = None) -> None:
    """Export the spans of each recording with its own times; raises RecordingError and TracingError."""
    from turnwire.tracing.export.otel import REPLAY_CLOSE_S, SpanExport  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

    export = SpanExport(VERSION, processors=settings.trace_processors)
    try:
        with progress() as bars:
            for file in distinct(files):
                before = export.started
                _export(settings, file, export, bars(file), family)
                typer.echo(ordered(f"{file}: {export.started - before} spans"), err=True)
    finally:
        lost = export.close(REPLAY_CLOSE_S)
    if lost:
        raise TracingError(f"{lost} spans did not reach the collector. Check it with `turnwire doctor`")


def _export(
    settings: Settings,
    file: Path,
    export: "SpanExport",
    moved: Callable[[float], None],
    family: str | None,
) -> None:
    """Make the spans of a recording; relative times count from when the file was written."""
    maker = SpanMaker(
        name_of(file),
        export=export,
        **settings.span_options,
    )
    core = recorded_core(family)
    written = _written(file)
    at = 0
    inputs = length(file)
    for number, (timed, events) in enumerate(timed_happenings(core, read(file, family))):
        if number % BATCH == 0:
            moved(number / inputs)
        if timed.at is None:
            at = max(at + 1000, written)
        else:
            at = round(timed.at * 1e6) * 1000 + (written if timed.at < LONG_AGO else 0)
        maker.handle(timed.input, events, at)
        export.flush_when_full()
    moved(1.0)


def _written(file: Path) -> int:
    """Return when a recording was made, for recordings with relative times only; nanoseconds since 1970."""
    try:
        return file.stat().st_mtime_ns
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}; name a recording") from error


async def _started() -> None:
    """The replays have begun with their host."""
