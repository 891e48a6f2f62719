"""A collector that is dead or slow changes nothing in the stream, and the sidecar ends all the same."""

import asyncio
import json
import re
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from otlp_collector import otlp_collector

from recordings import ROOT, Recording, recording
from turnwire.client import BEGINNING, connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire.config.settings import Settings
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.inputs import SessionInput
from turnwire.recordings.reading import read
from turnwire.sessions.metrics import Metrics
from turnwire.sessions.observers import Observers
from turnwire.sessions.pipeline import Pipeline
from turnwire.tracing.export.otel import SpanExport
from turnwire_process import DEADLINE, TURNWIRE, environment, turnwire

if TYPE_CHECKING:
    from turnwire.tracing.export.log_records import LogExport

SCRIPT = """
version: 2.1.330
fallback:
  steps:
    - text: "A text that is streamed in pieces, "
    - tool: Bash
      input: {command: "ls", description: "List"}
      result: "one two"
      structured: {stdout: "one two", stderr: "", interrupted: false}
    - text: "and its end."
"""
TURNS = 3


@asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """The port of a server that accepts, reads, and never answers."""

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
        writer.close()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def closed() -> AsyncIterator[int]:
    """A port that nobody listens on, and nobody else can take meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


Collector = Callable[[], AbstractAsyncContextManager[int]]


async def turns(folder: Path, **variables: str) -> tuple[list[str], list[str]]:
    """Run some turns, end the sidecar, and return their events and the log's lines."""
    folder.mkdir()
    (folder / "script.yaml").write_text(SCRIPT)
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(folder / "script.yaml"), "--seed", "1"]
    (folder / "turnwire.toml").write_text(f"[agents]\nscripted = {json.dumps(argv)}\n")
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH", **variables)
    found = []
    async with (
        turnwire(folder, "run", "--agent", "scripted", env=env) as served,
        connect(served.url) as client,
    ):
        (session,) = [summary.session for summary in await client.sessions()]
        following, ends = client.follow(session, BEGINNING), 0
        await client.prompt(session, "go")
        async with asyncio.timeout(DEADLINE):
            async for frame in following:
                # where nothing is traced there is no context to tell of
                if isinstance(frame, EventFrame) and not isinstance(frame.event, ev.TraceContext):
                    found.append(msgspec.json.encode(frame.event).decode())
                    if isinstance(frame.event, ev.Complete):
                        ends += 1
                        if ends == TURNS:
                            break
                        await client.prompt(session, "go on")
    return [masked(event, folder) for event in found], (folder / "turnwire.log").read_text().splitlines()


def masked(event: str, folder: Path) -> str:
    """An event without what no two runs share: ids, times, the folder."""
    event = event.replace(str(folder), "FOLDER")
    event = re.sub(r'"(pid|duration_ms|duration_api_ms|elapsed_ms)":[\d.]+', r'"\1":0', event)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "UUID", event)


@pytest.mark.long
@pytest.mark.parametrize("collector", [silent, closed])
async def test_live_turns_go_on_as_without_tracing(collector: Collector, tmp_path: Path) -> None:
    async with collector() as port, asyncio.TaskGroup() as tasks:
        without = tasks.create_task(turns(tmp_path / "without"))
        runs = [
            tasks.create_task(
                turns(
                    tmp_path / protocol[:4],
                    OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}",
                    OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
                    OTEL_BSP_SCHEDULE_DELAY="10",
                    # The end must not wait for the exporters' own patience: with this it would be killed.
                    OTEL_EXPORTER_OTLP_TIMEOUT="600",
                )
            )
            for protocol in ("grpc", "http/protobuf")
        ]
    expected, quiet = without.result()
    assert len(expected) > TURNS * 4
    assert quiet == []
    for run in runs:
        events, log = run.result()
        assert events == expected
        words = [json.loads(line)["event"] for line in log]
        assert "spans were lost" in words
        assert len(words) == len(set(words)) <= 3, log  # each sort of trouble once, however often it happened


class Stuck(SpanExporter):
    """An exporter that waits for a collector for ever."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.released = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        assert spans
        self.entered.set()
        self.released.wait()
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self.released.set()


async def journaled(made: Recording, observers: Observers | None) -> list[bytes]:
    journal = MemoryJournal()
    pipeline = Pipeline(
        "s",
        journal,
        field_limit=262144,
        observers=observers.for_session("s", "claude") if observers is not None else (),
    )
    for timed in read(made.folder):
        batch: list[SessionInput] = [timed.input]
        await pipeline.feed(batch)
    await journal.flush()
    page = await journal.read_after("s", Cursor("", 0), count=100_000, size=1 << 30)
    return [envelope.event for envelope in page.envelopes]


@pytest.mark.parametrize("scenario", ["partial-messages", "perm-allow", "parallel-tools"])
async def test_a_stuck_exporter_leaves_the_journal_byte_for_byte_the_same(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recording("2.1.330", scenario)
    stuck = Stuck()
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    metrics = Metrics()
    observers = Observers(Settings(state_dir=tmp_path), metrics)
    export = observers._export = SpanExport("1", exporters=[stuck])
    # All of it passes while the exporter holds its first batch: nothing waits for it.
    with_tracing = await journaled(made, observers)
    assert stuck.entered.wait(DEADLINE)
    assert not stuck.released.is_set()
    assert with_tracing == await journaled(made, None)
    assert export.lost > 0
    assert export.close(within_s=0.01) > 16


async def test_an_end_waits_for_no_signal_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released, entered = threading.Event(), threading.Semaphore(0)

    def hang() -> None:
        entered.release()
        released.wait()

    metrics = Metrics()
    monkeypatch.setattr(metrics, "close", hang)
    observers = Observers(Settings(state_dir=tmp_path), metrics)
    observers._export = cast("SpanExport", SimpleNamespace(close=lambda _: hang(), tell_lost=int))
    observers._logs = cast("LogExport", SimpleNamespace(close=hang))
    try:
        async with asyncio.timeout(DEADLINE):
            await asyncio.to_thread(observers.close, 0.2)
            for _ in range(3):  # all three are asked, none after the other
                assert await asyncio.to_thread(entered.acquire, timeout=DEADLINE)
        assert not released.is_set()
    finally:
        released.set()


@pytest.mark.long
@pytest.mark.parametrize("collector", [silent, closed])
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_one_agent_on_stdin_tells_once_of_a_dead_collector(
    collector: Collector, protocol: str, tmp_path: Path
) -> None:
    async with collector() as port:
        out, err, code = await query(
            tmp_path,
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}",
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            # the exporters' own patience would be the end of an SDK's
            OTEL_EXPORTER_OTLP_TIMEOUT="600",
            OTEL_BSP_SCHEDULE_DELAY="10",
            # before it is registered, the SDK's reader of metrics complains of itself
            OTEL_METRIC_EXPORT_INTERVAL="1000",
        )
    assert (json.loads(out.splitlines()[-1])["result"], code) == ("ok", 0)
    # on a slow machine the trouble of spans is told before its sum at the end, and metrics are tried, too
    told = [json.loads(line)["event"] for line in err.splitlines()]
    assert 1 <= len(told) == len(set(told)) <= 3, told
    assert all("lost" in line or "cannot be sent" in line for line in told), err


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_one_agent_on_stdin_sends_all_to_a_collector_that_lives(protocol: str, tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        to = {**collector.environment(protocol), "OTEL_BSP_SCHEDULE_DELAY": "600000"}
        _, err, code = await query(tmp_path, **to)
        assert (err, code) == (b"", 0)
        names = [span.name for span in collector.spans()]
    assert {"turnwire.session", "streamjson.prompt"} <= set(names)


async def query(folder: Path, **variables: str) -> tuple[bytes, bytes, int | None]:
    """Have one prompt answered by `turnwire stdio`, as an SDK does, and return what it said and how it ended."""
    (folder / "script.yaml").write_text("fallback: {steps: [{text: ok}]}")
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(folder / "script.yaml")]
    (folder / "turnwire.toml").write_text(f"[agents]\nunder = {json.dumps(argv)}\n")
    process = await asyncio.create_subprocess_exec(
        *(*TURNWIRE, "stdio", "--agent=under", f"--config={folder / 'turnwire.toml'}"),
        cwd=folder,
        env={**environment(folder / "home", **variables), "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        out, err = await process.communicate(b'{"type":"user","message":{"role":"user","content":"hi"}}\n')
    return out, err, process.returncode
