#!/usr/bin/env python
"""What tracing costs: CPU time for each line, on against off, in all threads, until a collector has every span.

First of a whole sidecar: `turnwire run` with the scripted agent and one frontend; this is what the limit is for. Then
of its pipeline alone (decoding, translating, the SQLite journal, the taps), where it shows most: A is one recorded turn with
partial messages, repeated; B all recordings of one version, seventeen lines a session, with what was sent to the CLI.
`bare` has no taps at all: what metrics cost. The collector is a process of its own on loopback.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/"))]

from otlp_collector import otlp_collector  # noqa: E402 - found by the path above
from sidecar_cpu import TURNS, us_per_line  # noqa: E402 - as above

from turnwire.config.settings import Settings  # noqa: E402 - as above
from turnwire.journal.sqlite.journal import SqliteJournal  # noqa: E402 - as above
from turnwire.normalize.inputs import Ended, Received, Sent, SessionInput  # noqa: E402 - as above
from turnwire.protocol.claude.decode import decode  # noqa: E402 - as above
from turnwire.recordings.reading import read  # noqa: E402 - as above
from turnwire.sessions.metrics import Metrics  # noqa: E402 - as above
from turnwire.sessions.observers import Observers  # noqa: E402 - as above
from turnwire.sessions.pipeline import Pipeline  # noqa: E402 - as above

VERSION = "2.1.330"
LINES, ROUNDS, BATCH = 20_000, 3, 16
LIMIT = 2.0


@dataclass(frozen=True)
class Line:
    """A line, and whether the CLI wrote it."""

    data: bytes
    received: bool


def session(folder: Path) -> Iterator[Line]:
    for timed in read(folder):
        if isinstance(timed.input, Received | Sent):
            yield Line(timed.input.line, isinstance(timed.input, Received))


def workload(name: str) -> list[list[Line]]:
    """Sessions of about LINES lines in all."""
    folders = sorted((ROOT / "fixtures" / VERSION).glob("*/"))
    folders = [one for one in folders if name == "B" or one.name == "partial-messages"]
    sessions = [lines for one in folders if (lines := list(session(one)))]
    found: list[list[Line]] = []
    while sum(map(len, found)) < LINES:
        found += sessions
    return found


async def run(sessions: list[list[Line]], folder: Path, *, tapped: bool, **settings: bool) -> float:
    """Return the CPU seconds that the sessions cost."""
    journal = await SqliteJournal.open(folder / f"{time.monotonic_ns()}.sqlite3")
    metrics = Metrics()
    observers = Observers(Settings(state_dir=folder, **settings), metrics)  # type: ignore[arg-type]  # a flag is no path
    begin = time.process_time()  # what imports and the SDK's start cost is paid once
    for number, lines in enumerate(sessions):
        name = f"s{number}"
        used = observers.for_session(name, "claude") if tapped else ()
        pipeline = Pipeline(name, journal, field_limit=262_144, observers=used)
        for start in range(0, len(lines), BATCH):
            batch: list[SessionInput] = [
                Received(line.data, decode(line.data))
                if line.received
                else Sent(line.data, decode(line.data))
                for line in lines[start : start + BATCH]
            ]
            await pipeline.feed(batch)
        await pipeline.feed([Ended("exited", exit_code=0)])
    await journal.close()
    if observers._export is not None and observers._export.close(600):  # noqa: SLF001 - to wait longer than a sidecar would
        raise SystemExit("spans were lost: the figures would be too good")
    spent = time.process_time() - begin
    metrics.close()
    return spent


def whole(folder: Path, collector: dict[str, str]) -> float:
    """Measure a whole sidecar; return the ratio of on to off."""
    variants: dict[str, dict[str, str]] = {
        "off": {},
        "on": collector,
        "on, a span for each piece": collector | {"TURNWIRE_TRACE_FOLD_DELTAS": "false"},
        "on, with content": collector | {"TURNWIRE_TRACE_CONTENT": "true"},
    }
    best = dict.fromkeys(variants, float("inf"))
    for number in range(ROUNDS):
        for variant, variables in variants.items():
            place = folder / f"{number}-{variant.replace(' ', '-')}"
            best[variant] = min(best[variant], asyncio.run(us_per_line(place, **variables)))
    print(f"a sidecar, {TURNS} turns")
    for variant, spent in best.items():
        print(f"  {variant:28} {spent:7.1f} us a line   {spent / best['off']:5.2f} of off")
    return best["on"] / best["off"]


def measure(name: str, folder: Path, collector: dict[str, str]) -> None:
    sessions = workload(name)
    lines = sum(map(len, sessions))
    variants: dict[str, tuple[bool, dict[str, str], dict[str, bool]]] = {
        "bare": (False, {}, {}),
        "off": (True, {}, {}),
        "on": (True, collector, {}),
        "on, a span for each piece": (True, collector, {"trace_fold_deltas": False}),
        "on, with content": (True, collector, {"trace_content": True}),
    }
    best = dict.fromkeys(variants, float("inf"))
    for _ in range(ROUNDS):
        for variant, (tapped, environment, settings) in variants.items():
            os.environ.update(environment)
            try:
                spent = asyncio.run(run(sessions, folder, tapped=tapped, **settings))
            finally:
                for variable in environment:
                    del os.environ[variable]
            best[variant] = min(best[variant], spent)
    print(f"{name}: {lines} lines in {len(sessions)} sessions")
    for variant, spent in best.items():
        print(f"  {variant:28} {spent / lines * 1e6:7.1f} us a line   {spent / best['off']:5.2f} of off")


def main() -> None:
    with tempfile.TemporaryDirectory() as name, otlp_collector(Path(name)) as running:
        collector = running.environment("grpc") | {
            "OTEL_METRICS_EXPORTER": "none",
            # Nothing may be dropped here; a live sidecar drops what does not fit.
            "OTEL_BSP_MAX_QUEUE_SIZE": "10000000",
        }
        ratio = whole(Path(name), collector)
        for workload_name in ("A", "B"):
            measure(workload_name, Path(name), collector)
    if ratio > LIMIT:
        raise SystemExit(f"tracing costs {ratio:.2f} of off; the limit is {LIMIT}")


if __name__ == "__main__":
    main()
