"""What delivery costs: latency, fan-out, growth of a log, coming back, and a frontend that does not read.

    python bench/bench_hub.py [--quick] [latency | fan-out | growth | return | stalled]…

The peers are websockets' own: a server that sends bare messages, and its `broadcast`. Frontends run in another process.
Figures are of this machine; the ratios are what to compare.
"""

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.typing import Subprotocol

from hub.config import HubConfig, Limits
from hub.frames import AnyCommand
from hub.frames_out import SessionSummary
from hub.host import Frontend
from hub.hub import Hub
from journal.base import Entry, Journal, Retention
from journal.memory import MemoryJournal
from journal.sqlite import SqliteJournal
from normalize.envelope import Envelope

SESSION = "s1"
PADDING = "x" * 200
FRONTENDS = Path(__file__).with_name("hub_frontends.py")
LIMITS = Limits(connections=2000, newcomers=2000, silence_s=3600)


def event(text: str) -> bytes:
    return b'{"type":"message_chunk","session_id":"c0ffee","text":"%s"}' % text.encode()


class NoHost:
    """Has one session and does nothing."""

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        raise NotImplementedError(command.type, frontend.name)

    def sessions(self) -> Sequence[SessionSummary]:
        return [SessionSummary(session=SESSION, state="idle", last_seq=0, pending=0)]

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        return watcher


@asynccontextmanager
async def hub_of(journal: Journal) -> AsyncIterator[tuple[str, str, Hub]]:
    """Serve a journal; gives the WebSocket's address, a token and the hub."""
    hub = Hub(journal, NoHost(), HubConfig(limits=LIMITS))
    await hub.start()
    yield f"ws://127.0.0.1:{hub.port}/ws", hub.tokens.view, hub
    await hub.stop()


@asynccontextmanager
async def bare_server() -> AsyncIterator[tuple[str, set[ServerConnection]]]:
    """A websockets server that says it caught up and leaves the rest to `broadcast`."""
    connections: set[ServerConnection] = set()

    async def handler(connection: ServerConnection) -> None:
        await connection.send('{"type":"caught_up"}')
        connections.add(connection)
        await connection.wait_closed()
        connections.discard(connection)

    async with serve(
        handler,
        "127.0.0.1",
        0,
        compression=None,
        subprotocols=[Subprotocol("turnwire.v1")],
        ping_interval=None,
    ) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/ws", connections


@asynccontextmanager
async def frontends(
    mode: str, url: str, token: str, count: int, number: int
) -> AsyncIterator[asyncio.StreamReader]:
    """Run frontends in another process; gives what they say, once they are ready."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(FRONTENDS), mode, url, token, str(count), str(number), stdout=-1, limit=1 << 26
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b'"ready"\n'
    try:
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def journals(kind: str, retention: Retention | None = None) -> AsyncIterator[Journal]:
    """An empty journal."""
    kept = retention or Retention()
    if kind == "memory":
        yield MemoryJournal(kept)
    else:
        with TemporaryDirectory() as folder:
            journal = await SqliteJournal.open(Path(folder) / "journal.db", kept)
            yield journal
            await journal.close()


# --- latency


async def echo(events: int) -> list[float]:
    """Return how long messages took there and back, over a bare websockets server."""

    async def handler(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with serve(handler, "127.0.0.1", 0, compression=None) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with frontends("echo", url, "x", 1, events) as said:
            took: list[float] = json.loads(await said.readline())
            return took


async def stamped(send: Callable[[str], Awaitable[None]], events: int) -> None:
    for _ in range(events):
        await send(f"@{time.monotonic_ns()}@{PADDING}")
        await asyncio.sleep(0.004)


async def latency(events: int) -> None:
    print(f"\nLatency, from append to the frontend's frame, {events} events, microseconds")
    went = sorted(await echo(events))
    there_and_back = went[len(went) // 2]
    print(
        f"bare websockets echo, there and back: p50 {there_and_back:.0f}, p99 {went[len(went) * 99 // 100]:.0f}"
    )
    print(
        f"{'':28}{'frontends':>10}{'p50':>9}{'p99':>9}{'ratio p50':>11}{'ratio p99':>11}{'to echo p50':>13}"
    )
    for count in (1, 50):
        peer: tuple[float, float] = (0, 0)
        for name in ("bare websockets", "memory", "SQLite"):
            ages = await (
                bare_ages(count, events) if name.startswith("bare") else hub_ages(name, count, events)
            )
            ages.sort()
            p50, p99 = ages[len(ages) // 2], ages[len(ages) * 99 // 100]
            peer = peer if peer[0] else (p50, p99)
            label = name if name.startswith("bare") else f"hub, journal {name}"
            print(
                f"{label:28}{count:>10}{p50:>9.0f}{p99:>9.0f}{p50 / peer[0]:>11.2f}{p99 / peer[1]:>11.2f}"
                f"{p50 / there_and_back:>13.2f}",
                flush=True,
            )


async def bare_ages(count: int, events: int) -> list[float]:
    async with bare_server() as (url, connections), frontends("latency", url, "x", count, events) as said:

        async def send(text: str) -> None:
            broadcast(
                connections, Envelope(SESSION, 1, "2026-01-02T03:04:05.678901Z", event(text)).frame, text=True
            )

        await stamped(send, events)
        ages: list[float] = json.loads(await said.readline())
        return ages


async def hub_ages(kind: str, count: int, events: int) -> list[float]:
    async with (
        journals(kind) as journal,
        hub_of(journal) as (url, token, _),
        frontends("latency", url, token, count, events) as said,
    ):

        async def send(text: str) -> None:
            await journal.append(SESSION, [Entry(event(text))])

        await stamped(send, events)
        ages: list[float] = json.loads(await said.readline())
        return ages


# --- fan-out


async def fan_out(count: int, events: int) -> None:
    print(
        f"\nFan-out to {count} frontends, one event at a time: events delivered per CPU second of the server"
    )
    ratios: list[float] = []
    for _ in range(3):
        bare, ours = await bare_fan_out(count, events), await hub_fan_out(count, events)
        ratios.append(ours / bare)
        print(f"broadcast {bare:>10.0f}   hub {ours:>10.0f}   ratio {ours / bare:.2f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.2f}")


async def bare_fan_out(count: int, events: int) -> float:
    async with bare_server() as (url, connections), frontends("follow", url, "x", count, events) as said:
        cpu = time.process_time()
        for seq in range(1, events + 1):
            frame = Envelope(SESSION, seq, "2026-01-02T03:04:05.678901Z", event(PADDING)).frame
            broadcast(connections, frame, text=True)
            await asyncio.sleep(0)
        await said.readline()
        return count * events / (time.process_time() - cpu)


async def hub_fan_out(count: int, events: int) -> float:
    journal = MemoryJournal()
    async with hub_of(journal) as (url, token, _), frontends("follow", url, token, count, events) as said:
        cpu = time.process_time()
        for _ in range(events):
            await journal.append(SESSION, [Entry(event(PADDING))])
            # Until all have it: events that pile up would share a frame, and the peer's cannot.
            for _ in range(count // 100 + 4):
                await asyncio.sleep(0)
        await said.readline()
        return count * events / (time.process_time() - cpu)


# --- growth


async def growth(kind: str, last: int) -> None:
    print(f"\nCost of an event as the log grows, journal {kind}, one frontend, two events at a time")
    print(f"{'log holds':>12}{'CPU us/event':>14}{'ratio':>8}")
    base = 0.0
    async with (
        journals(kind) as journal,
        hub_of(journal) as (url, token, hub),
        frontends("drain", url, token, 1, 0),
    ):
        for depth in (depth for depth in (1000, 10_000, 100_000, 1_000_000) if depth <= last):
            await deepen(journal, depth)
            await delivered(hub)
            cost = statistics.median([await window_cost(hub, journal, 2500) for _ in range(9)])
            base = base or cost
            print(f"{depth:>12}{cost:>14.1f}{cost / base:>8.2f}", flush=True)


async def window_cost(hub: Hub, journal: Journal, window: int) -> float:
    cpu = time.process_time()
    await deepen(journal, journal.last(SESSION) + window)
    await delivered(hub)
    return (time.process_time() - cpu) / window * 1e6


async def delivered(hub: Hub) -> None:
    """Wait until no frontend is behind."""
    while hub.lag:  # noqa: ASYNC110 - what is measured must not be told of it
        await asyncio.sleep(0.0005)


async def deepen(journal: Journal, last: int) -> None:
    pair = [Entry(event(PADDING)), Entry(event(PADDING))]
    held = journal.last(SESSION)
    while held < last:
        held = await journal.append(SESSION, pair)
        if held % 8 == 0:
            await asyncio.sleep(0)
    await journal.flush()


# --- coming back


async def coming_back(kind: str, held: int) -> None:
    print(f"\nComing back to a log of {held} events, journal {kind}: until caught up, the median of 7")
    print(f"{'missed':>12}{'ms':>9}{'us/event':>10}")
    async with journals(kind) as journal, hub_of(journal) as (url, token, _):
        await deepen(journal, held)
        for missed in (0, 10, 100, 1000, 10_000):
            took: list[float] = []
            for _ in range(7):
                protocols = [Subprotocol("turnwire.v1"), Subprotocol(f"turnwire.token.{token}")]
                async with connect(url, subprotocols=protocols, compression=None, max_size=None) as websocket:
                    await websocket.recv()
                    command = {
                        "type": "subscribe",
                        "id": "1",
                        "session": SESSION,
                        "after": journal.last(SESSION) - missed,
                        "epoch": journal.epoch,
                    }
                    start = time.perf_counter()
                    await websocket.send(json.dumps(command))
                    while not (await websocket.recv(decode=False)).startswith(b'{"type":"caught_up"'):
                        pass
                    took.append(time.perf_counter() - start)
            ms = statistics.median(took) * 1000
            print(f"{missed:>12}{ms:>9.2f}{ms * 1000 / missed if missed else 0:>10.2f}")


# --- a frontend that does not read


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


async def stalled_frontend(events: int, readers: int = 50) -> None:
    print(f"\nOne stalled frontend beside {readers} reading ones, journal SQLite")
    print(f"{'':24}{'events':>9}{'seconds':>9}{'CPU s':>8}{'memory grew by MB':>19}")
    alone: list[float] = []
    beside: list[float] = []
    # In turns, so that what else the machine does falls on both.
    for _ in range(3):
        alone.append(await reported(events // 10, readers, stalled=False))
        beside.append(await reported(events // 10, readers, stalled=True))
    await reported(events, readers, stalled=True)
    print(f"ratio of the medians of CPU time {statistics.median(beside) / statistics.median(alone):.2f}")


async def reported(events: int, readers: int, *, stalled: bool) -> float:
    seconds, cpu, grown = await reading(events, readers, stalled=stalled)
    name = "beside a stalled one" if stalled else "readers alone"
    print(f"{name:24}{events:>9}{seconds:>9.1f}{cpu:>8.1f}{grown / (1 << 20):>19.1f}", flush=True)
    return cpu


async def reading(events: int, readers: int, *, stalled: bool) -> tuple[float, float, int]:
    async with journals("SQLite") as journal, hub_of(journal) as (url, token, _):
        await warm(journal)
        last = journal.last(SESSION)
        async with (
            frontends("stalled" if stalled else "drain", url, token, 1, 0),
            frontends("follow", url, token, readers, last + events) as said,
        ):
            gc.collect()
            before, peak = resident(), 0
            start, cpu = time.perf_counter(), time.process_time()
            batch = [Entry(event(PADDING))] * 20
            for number in range(events // len(batch)):
                await journal.append(SESSION, batch)
                if number % 8 == 0:
                    # What the CLI writes comes over a pipe: the event loop has its turn.
                    await journal.flush()
                if number % 500 == 0:
                    peak = max(peak, resident())
            assert await said.readline() == b'"done"\n'
            return time.perf_counter() - start, time.process_time() - cpu, max(peak, resident()) - before


async def warm(journal: Journal) -> None:
    """Fill the journal's caches, so that what grows afterwards grows with the frontends."""
    await deepen(journal, 40_000)


async def latency_part(quick: bool) -> None:
    await latency(100 if quick else 500)


async def fan_out_part(quick: bool) -> None:
    await fan_out(100 if quick else 1000, 50 if quick else 200)


async def growth_part(quick: bool) -> None:
    for kind in ("memory", "SQLite"):
        await growth(kind, 10_000 if quick else 1_000_000)


async def return_part(quick: bool) -> None:
    for kind in ("memory", "SQLite"):
        await coming_back(kind, 20_000 if quick else 100_000)


async def stalled_part(quick: bool) -> None:
    await stalled_frontend(20_000 if quick else 1_000_000)


PARTS = {
    "latency": latency_part,
    "fan-out": fan_out_part,
    "growth": growth_part,
    "return": return_part,
    "stalled": stalled_part,
}


async def main(parts: Sequence[str]) -> None:
    for name, part in PARTS.items():
        if not set(parts) & set(PARTS) or name in parts:
            await part("--quick" in parts)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
