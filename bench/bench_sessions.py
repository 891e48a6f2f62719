#!/usr/bin/env python
"""What sessions cost in the sidecar: memory of an idle one, and whether idle ones slow an active one down.

    python bench/bench_sessions.py [SESSIONS]

Runs `turnwire serve` with agents that are shell scripts (they replay recorded turns), so that the machine measures the
sidecar. An idle session has run one turn and has a living process. Memory is the sidecar's alone. The cost of an active
session is CPU time per line of a long turn, in two sidecars by turns: one with nothing else, one with the idle sessions.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from turnwire.client import Client, connect
from turnwire.client.events import Complete
from turnwire.client.frames import EventFrame

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures" / "2.1.330"
REPEAT = 200
WINDOWS = 15
"""Pairs of long turns whose costs are compared: one in a sidecar without idle sessions, one in a sidecar with them."""

AGENT = """#!/bin/sh
while read -r line; do
  case "$line" in
    *'"initialize"'*)
      echo '{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1","response":{}}}' ;;
    *'"type":"user"'*) cat "$0.turn" ;;
  esac
done
"""


def script(folder: Path, name: str, turn: list[bytes]) -> Path:
    """An agent that answers every prompt with a recorded turn."""
    path = folder / name
    path.write_text(AGENT)
    path.chmod(0o755)
    path.with_name(f"{name}.turn").write_bytes(b"".join(turn))
    return path


def recorded(scenario: str) -> list[bytes]:
    """The lines of a recorded session that are no control messages."""
    lines = (FIXTURES / scenario / "stdout.jsonl").read_bytes().splitlines(keepends=True)
    return [line for line in lines if b'"control_' not in line]


def one_turn(scenario: str) -> list[bytes]:
    """Its lines up to the first result."""
    lines = recorded(scenario)
    last = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return lines[: last + 1]


def long_turn() -> list[bytes]:
    """A turn that streams for long."""
    lines = one_turn("partial-messages")
    return [lines[0], *[line for line in lines if b'"stream_event"' in line] * REPEAT, lines[-1]]


@asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[tuple[Client, int]]:
    """Run `turnwire serve` and connect to it; gives its process id as well."""
    config = folder / "turnwire.toml"
    busy, idle = script(folder, "busy", long_turn()), script(folder, "idle", one_turn("plain-text"))
    config.write_text(
        f'max_sessions = 2000\nmax_processes = 2000\n[agents]\nbusy = ["{busy}"]\nidle = ["{idle}"]\n'
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "turnwire", "serve", "--config", str(config), "--agent", "idle", "--port", "0"),
        *("--state-dir", str(folder / "state"), "--log-level", "error"),
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        cwd=folder,
    )
    assert process.stdout is not None
    try:
        url = ""
        while "token=" not in url:
            url = (await process.stdout.readline()).decode().strip()
        async with connect(url.split()[-1]) as client:
            yield client, process.pid
    finally:
        process.terminate()
        await process.wait()


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu(pid: int) -> float:
    """Seconds of CPU time that the threads of a process have used."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


async def turn(client: Client, session: str) -> None:
    """Run a turn to its end."""
    await client.prompt(session, "Go.")
    following = client.follow(session)
    async for frame in following:
        if isinstance(frame, EventFrame) and isinstance(frame.event, Complete):
            break
    following.close()


async def line_cost(client: Client, pid: int, session: str) -> float:
    """Microseconds of CPU time that a line of a long turn takes."""
    before = cpu(pid)
    await turn(client, session)
    return (cpu(pid) - before) / len(long_turn()) * 1e6


async def idle_memory(client: Client, pid: int, folder: str, count: int) -> float:
    """Create so many sessions that have run one turn, and return the bytes that each takes."""
    await turn(client, await client.create(agent="idle", workspace=folder))
    before = resident(pid)
    for _ in range(count):
        await turn(client, await client.create(agent="idle", workspace=folder))
    await asyncio.sleep(1)
    return (resident(pid) - before) / count


async def main(count: int) -> None:
    """Measure and print."""
    with TemporaryDirectory() as name, TemporaryDirectory() as other:
        async with serve(Path(name)) as (client, pid), serve(Path(other)) as (quiet, quiet_pid):
            busy = await client.create(agent="busy", workspace=name)
            alone = await quiet.create(agent="busy", workspace=other)
            # What a first turn of that length leaves in memory is not an idle session's.
            await turn(client, busy)
            await turn(quiet, alone)
            memory = await idle_memory(client, pid, name, count)
            idle = cpu(pid)
            await asyncio.sleep(5)
            idle = (cpu(pid) - idle) / 5
            costs = [
                (await line_cost(quiet, quiet_pid, alone), await line_cost(client, pid, busy))
                for _ in range(WINDOWS)
            ]
    lonely, crowded = (median(column) for column in zip(*costs, strict=True))
    print(f"memory of an idle session     {memory / 1024:8.0f} KiB  ({count} sessions)")
    print(f"CPU of {count} idle sessions     {idle * 100:8.2f} %")
    print(f"a line of an active session   {lonely:8.1f} us alone, {crowded:.1f} us among {count} idle ones")
    print(
        f"ratio                         {crowded / lonely:8.2f}  (medians of {WINDOWS} turns each, by turns)"
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
