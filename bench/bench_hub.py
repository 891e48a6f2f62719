"""What delivery costs: latency, fan-out, growth of a log, and coming back.

    python bench/bench_hub.py [--quick] [latency | fan-out | socket.io | growth | return]…

The peers are websockets' own: a server that sends bare messages, and its `broadcast`. Frontends run in another process.
`socket.io` installs the package of that name into a temporary folder, so it needs node and npm. Figures are of this machine; the
ratios are what to compare.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.typing import Subprotocol

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.hub_setting import (
    PADDING,
    SESSION,
    bare_server,
    deepen,
    delivered,
    event,
    frontends,
    hub_of,
    journals,
)
from turnwire.hub.hub import Hub
from turnwire.journal.base import Entry, Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events.envelope import Envelope

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


# --- socket.io

PAUSE_S = 0.2
"""From one event to the next: long enough for each peer to be done with the one before."""


async def beside_socket_io(count: int, events: int, rounds: int) -> None:
    print(f"\nOne event each {PAUSE_S * 1000:.0f} ms to {count} frontends, three servers in turns")
    print(f"{'':28}{'p50 ms':>9}{'p99 ms':>9}{'CPU, us a delivery':>20}")
    with TemporaryDirectory() as folder:
        install = ("install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "socket.io@4")
        assert await (await asyncio.create_subprocess_exec("npm", *install)).wait() == 0
        measured: dict[str, list[tuple[float, float, float]]] = {}
        for _ in range(rounds):
            for name, peer in (("hub", hub_pushes), ("broadcast", bare_pushes), ("socket.io", node_pushes)):
                ages, cpu_s = await peer(count, events, folder)
                ages.sort()
                p50, p99 = (ages[len(ages) * part // 100] / 1000 for part in (50, 99))
                measured.setdefault(name, []).append((p50, p99, cpu_s * 1e6 / len(ages)))
    for name, rows in measured.items():
        p50, p99, cpu = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:28}{p50:>9.1f}{p99:>9.1f}{cpu:>20.1f}", flush=True)


async def paced(send: Callable[[str], Awaitable[None]], events: int) -> float:
    """Send so many stamped texts; returns the CPU seconds that this took here."""
    cpu = time.process_time()
    for _ in range(events):
        await send(f"@{time.monotonic_ns()}@{PADDING}")
        await asyncio.sleep(PAUSE_S)
    return time.process_time() - cpu


async def aged(said: asyncio.StreamReader) -> list[float]:
    assert await said.readline() == b'"done"\n'
    ages: list[float] = json.loads(await said.readline())
    return ages


async def hub_pushes(count: int, events: int, _: str) -> tuple[list[float], float]:
    journal = MemoryJournal()
    async with (
        hub_of(journal) as (url, token, _hub),
        frontends("ages", url, token, count, events) as said,
    ):

        async def send(text: str) -> None:
            await journal.append(SESSION, [Entry(event(text))])

        cpu_s = await paced(send, events)
        return await aged(said), cpu_s


async def bare_pushes(count: int, events: int, _: str) -> tuple[list[float], float]:
    async with bare_server() as (url, connections), frontends("ages", url, "x", count, events) as said:

        async def send(text: str) -> None:
            frame = Envelope(SESSION, 1, "2026-01-02T03:04:05.678901Z", event(text)).frame
            broadcast(connections, frame, text=True)

        cpu_s = await paced(send, events)
        return await aged(said), cpu_s


async def node_pushes(count: int, events: int, folder: str) -> tuple[list[float], float]:
    script = str(Path(__file__).with_name("socket_io_server.mjs"))
    arguments = (script, folder, str(events), str(PAUSE_S * 1000))
    node = await asyncio.create_subprocess_exec("node", *arguments, stdin=-1, stdout=-1)
    assert node.stdin is not None
    assert node.stdout is not None
    try:
        url = f"ws://127.0.0.1:{int(await node.stdout.readline())}"
        async with frontends("socket_io", url, "x", count, events) as said:
            node.stdin.write(b"begin\n")
            ages = await aged(said)
            return ages, float(await node.stdout.readline())
    finally:
        node.kill()
        await node.wait()


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


async def latency_part(quick: bool) -> None:
    await latency(100 if quick else 500)


async def fan_out_part(quick: bool) -> None:
    await fan_out(100 if quick else 1000, 50 if quick else 200)


async def socket_io_part(quick: bool) -> None:
    await beside_socket_io(60 if quick else 600, 10 if quick else 50, 1 if quick else 5)


async def growth_part(quick: bool) -> None:
    for kind in ("memory", "SQLite"):
        await growth(kind, 10_000 if quick else 1_000_000)


async def return_part(quick: bool) -> None:
    for kind in ("memory", "SQLite"):
        await coming_back(kind, 20_000 if quick else 100_000)


PARTS = {
    "latency": latency_part,
    "fan-out": fan_out_part,
    "socket.io": socket_io_part,
    "growth": growth_part,
    "return": return_part,
}


async def main(parts: Sequence[str]) -> None:
    for name, part in PARTS.items():
        if not set(parts) & set(PARTS) or name in parts:
            await part("--quick" in parts)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
