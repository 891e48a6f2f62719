#!/usr/bin/env python
"""How old an event is when a frontend has it: from the agent's write to the frame, through a whole sidecar.

    python bench/bench_live.py [--quick] [latency | sessions]…

`latency`: an agent writes a piece of a streamed text every 4 ms, `turnwire serve` translates, journals and delivers it (SQLite, Redis
where redis-server is installed, memory), to 1 and to 50 frontends in another process. The peers are a bare websockets server that
sends a message there and back (echo), and one that broadcasts to 50. Rounds in turns: the ratios are of the same round, and their median counts,
since the machine changes from one second to the next.

`sessions`: 1,000 sessions on one core, each with a line of its agent every second: decoded, translated, journaled in SQLite and sent to 50
frontends that follow twenty sessions each. The lines are fed to the sessions' pipelines: a thousand agents would be measured instead.
"""

import asyncio
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from websockets.asyncio.server import ServerConnection, broadcast, serve  # noqa: E402

from bench.bench_sessions import recorded, resident  # noqa: E402
from bench.hub_setting import (  # noqa: E402
    LIMITS,
    NoHost,
    bare_server,
    event,
    frontends,
    installed,
    journals,
)
from turnwire.client import Client, connect  # noqa: E402 - found by the path above, as what follows
from turnwire.hub.config import HubConfig  # noqa: E402
from turnwire.hub.hub import Hub  # noqa: E402
from turnwire.hub.wire.frames_out import SessionSummary  # noqa: E402
from turnwire.normalize.events.envelope import Envelope  # noqa: E402
from turnwire.normalize.inputs import Received  # noqa: E402
from turnwire.protocol.claude.decode import decode  # noqa: E402
from turnwire.sessions.pipeline import Pipeline  # noqa: E402

TARGETS = {"SQLite": 1.8, "Redis": 2.5}
"""Times the echo, the medians."""
PADDING = "x" * 200
PAUSE_S = 0.02
"""Between two events: fifty frontends in one process take some milliseconds to read one."""
SESSIONS, FRONTENDS = 1000, 50

AGENT = """#!{python} -ISE
import sys, time
before, piece, after = (open(sys.argv[0] + name, "rb").read() for name in (".before", ".piece", ".after"))
def say(lines):
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()
for line in sys.stdin:
    if '"initialize"' in line:
        say(b'{{"type":"control_response","response":{{"subtype":"success","request_id":"turnwire_1","response":{{}}}}}}\\n')
    elif '"type":"user"' in line:
        say(before)
        for _ in range({events}):
            time.sleep({pause})
            say(piece.replace(b"NOW", b"@%d@" % time.monotonic_ns()))
        say(after)
"""


def piece_of(text: str) -> tuple[bytes, bytes, bytes]:
    """Return what stands before the first piece of a streamed text, that piece with another text, and what follows."""
    lines = recorded("partial-messages")
    first = next(number for number, line in enumerate(lines) if b'"text_delta"' in line)
    last = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    content = json.loads(lines[first])
    content["event"]["delta"]["text"] = text
    rest = [line for line in lines[first : last + 1] if b'"text_delta"' not in line]
    return (
        b"".join(lines[:first]),
        json.dumps(content, separators=(",", ":")).encode() + b"\n",
        b"".join(rest),
    )


def write_agent(folder: Path, events: int) -> Path:
    path = folder / "agent"
    path.write_text(AGENT.format(python=sys.executable, events=events, pause=PAUSE_S))
    path.chmod(0o755)
    for name, content in zip(("before", "piece", "after"), piece_of(f"NOW{PADDING}"), strict=True):
        path.with_name(f"agent.{name}").write_bytes(content)
    return path


# --- latency


@asynccontextmanager
async def sidecar(folder: Path, journal: str, events: int) -> AsyncIterator[tuple[Client, str]]:
    """Run `turnwire serve`; gives a client of it and the address and token of its WebSocket, joined by a space."""
    folder.mkdir()  # noqa: ASYNC240 - nothing else is going on, here and below
    (folder / "turnwire.toml").write_text(f'[agents]\nsteady = ["{write_agent(folder, events)}"]\n')
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "turnwire", "serve", "--config", "turnwire.toml", "--agent", "steady", "--port", "0"),
        *("--journal", journal, "--state-dir", str(folder / "state"), "--log-level", "error"),
        stdout=asyncio.subprocess.PIPE,
        env=installed(folder),
        cwd=folder,
    )
    assert process.stdout is not None
    try:
        url = ""
        while "token=" not in url:
            line = await process.stdout.readline()
            if not line:
                raise SystemExit(f"turnwire serve ended (journal {journal})")
            url = line.decode().strip().split()[-1]
        address, _, token = url.partition("token=")
        async with connect(url) as client:
            yield client, f"ws{address.partition('#')[0].removeprefix('http').rstrip('/')}/ws {token}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Run a Redis that keeps nothing on disk, which would be the disk's figure; gives its address."""
    folder.mkdir()  # noqa: ASYNC240
    process = await asyncio.create_subprocess_exec(
        *("redis-server", "--port", "0", "--unixsocket", str(folder / "socket"), "--save", ""),
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        while not (folder / "socket").exists():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
        yield f"unix://{folder / 'socket'}?db=0"
    finally:
        process.terminate()
        await process.wait()


async def echo(events: int) -> list[float]:
    """Return how long messages took there and back, over a bare websockets server."""

    async def handler(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with serve(handler, "127.0.0.1", 0, compression=None) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with frontends("echo", url, "x", 1, events, str(PAUSE_S)) as said:
            took: list[float] = json.loads(await said.readline())
            return took


async def bare(count: int, events: int) -> list[float]:
    """Return the ages of messages that a bare websockets server broadcasts."""
    async with bare_server() as (url, connections), frontends("latency", url, "x", count, events) as said:
        for _ in range(events):
            text = event(f"@{time.monotonic_ns()}@{PADDING}")
            broadcast(connections, Envelope("s1", 1, "2026-01-02T03:04:05.678901Z", text).frame, text=True)
            await asyncio.sleep(PAUSE_S)
        ages: list[float] = json.loads(await said.readline())
        return ages


async def whole(client: Client, where: str, session: str, count: int, events: int) -> list[float]:
    """Return the ages of the pieces of one turn, at all frontends."""
    url, token = where.split()
    async with frontends("latency", url, token, count, events, session) as said:
        await client.prompt(session, "Go.")
        ages: list[float] = json.loads(await said.readline())
        return ages


def quantiles(ages: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(ages)
    return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]


async def latency(rounds: int, events: int) -> dict[str, float]:
    """Measure and print; returns the ratios to the echo by journal and number of frontends."""
    print(f"From an agent's write to a frontend's frame, {rounds} rounds of {events} events, microseconds")
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        kinds = {"memory": "memory", "SQLite": "sqlite"}
        if shutil.which("redis-server"):
            kinds["Redis"] = await stack.enter_async_context(redis_server(folder / "redis-server"))
        running = {}
        for name, journal in kinds.items():
            client, where = await stack.enter_async_context(sidecar(folder / name, journal, events))
            session = await client.create(agent="steady", workspace=str(folder / name))
            running[name] = client, where, session
        for _ in range(rounds):
            base, worst = quantiles(await echo(events))
            found.setdefault(("echo, there and back", 1), []).append((base, worst, 1.0))
            for count in (1, FRONTENDS):
                middle, worst = quantiles(await bare(count, events))
                found.setdefault(("bare websockets, one way", count), []).append(
                    (middle, worst, middle / base)
                )
                for name, (client, where, session) in running.items():
                    p50, p99 = quantiles(await whole(client, where, session, count, events))
                    # of many frontends the last one is as old as all of them take: the peer is who sends to as many
                    found.setdefault((name, count), []).append(
                        (p50, p99, p50 / (base if count == 1 else middle))
                    )
    print(f"{'':26}{'frontends':>10}{'p50':>9}{'p99':>9}{'to echo':>9}{'to bare':>9}")
    ratios = {}
    for (name, count), rows in found.items():
        p50, p99, ratio = (statistics.median(column) for column in zip(*rows, strict=True))
        cells = f"{ratio:>9.2f}" + " " * 9 if count == 1 else " " * 9 + f"{ratio:>9.2f}"
        print(f"{name:26}{count:>10}{p50:>9.0f}{p99:>9.0f}{cells}")
        ratios[f"{name}, {count}"] = ratio
    return ratios


# --- sessions


class ManySessions(NoHost):
    """Has sessions by number and does nothing."""

    def sessions(self) -> Sequence[SessionSummary]:
        return [
            SessionSummary(session=f"s{number}", state="running", last_seq=0, pending=0)
            for number in range(SESSIONS)
        ]


async def sessions(seconds: int) -> None:
    """Measure and print."""
    before, piece, _ = piece_of(f"NOW{PADDING}")
    opening = [Received(line, decode(line)) for line in before.splitlines()]
    pid = os.getpid()
    async with journals("SQLite") as journal:
        empty = resident(pid)
        hub = Hub(journal, ManySessions(), HubConfig(limits=LIMITS))
        await hub.start()
        pipelines = [
            Pipeline(f"s{number}", journal, field_limit=262_144, observers=()) for number in range(SESSIONS)
        ]
        for pipeline in pipelines:
            await pipeline.feed(opening)
        url = f"ws://127.0.0.1:{hub.port}/ws"
        async with frontends(
            "many", url, hub.tokens.view, FRONTENDS, SESSIONS * seconds, str(SESSIONS)
        ) as said:
            began, cpu = time.monotonic(), time.process_time()
            loop = asyncio.get_running_loop()

            async def live(pipeline: Pipeline, offset: float) -> None:
                for second in range(seconds):
                    await asyncio.sleep(max(began + offset + second - time.monotonic(), 0))
                    line = piece.replace(b"NOW", b"@%d@" % time.monotonic_ns()).rstrip()
                    await pipeline.feed([Received(line, decode(line))])

            draw = random.Random(1)
            async with asyncio.TaskGroup() as tasks:
                for pipeline in pipelines:
                    tasks.create_task(live(pipeline, draw.random()))
            ages: list[float] = json.loads(await said.readline())
            took, spent = loop.time() - began, time.process_time() - cpu
        grown = resident(pid) - empty
        await hub.stop()
    p50, p99 = quantiles(ages)
    print(f"\n{SESSIONS:,} sessions, an event a second each, {FRONTENDS} frontends, {seconds} s, one core")
    print(
        f"CPU           {spent / took * 100:8.1f} % of a core, {spent / (SESSIONS * seconds) * 1e6:.0f} us an event"
    )
    print(f"memory        {grown / SESSIONS / 1024:8.1f} KiB a session")
    print(f"age, p50      {p50:8.0f} us")
    print(f"age, p99      {p99:8.0f} us")


async def main(arguments: Sequence[str]) -> None:
    quick = "--quick" in arguments
    parts = [one for one in arguments if one != "--quick"] or ["latency", "sessions"]
    if "latency" in parts:
        await latency(3 if quick else 9, 50)
    if "sessions" in parts:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        await sessions(5 if quick else 20)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
