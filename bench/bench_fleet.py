"""What a fleet costs: the extra hop, events a second of hub and worker, idle hubs, a thousand frontends, bytes in Redis, growth.

    python bench/bench_fleet.py [--quick] [hop | rate | idle | thousand | bytes | growth | lists]…

Hubs, workers and a redis-server (appendfsync everysec, on a socket) are processes of this machine, and share its cores with the
frontends. Docs/scale.md has the figures of one run.
"""

import asyncio
import json
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/")), str(ROOT / "clients" / "python")]

import redis.asyncio  # noqa: E402
from plain_agent import program_of  # noqa: E402
from websockets.asyncio.client import ClientConnection, connect  # noqa: E402

from journals import RedisProcess  # noqa: E402
from turnwire.fleet.directory import Directory, KnownSession  # noqa: E402
from turnwire.fleet.messages import encode  # noqa: E402
from turnwire.fleet.store import DirectoryEntry, FleetStore  # noqa: E402
from turnwire.fleet.timing import Timing  # noqa: E402
from turnwire.hub.delivery.frontends import FrontendRegistry  # noqa: E402
from turnwire.hub.principals import Principal, Scope  # noqa: E402
from turnwire.hub.wire.frames_out import Sessions, SessionSummary  # noqa: E402
from turnwire.hub.wire.frames_out import encode as encode_frame  # noqa: E402
from turnwire_process import Served, environment, turnwire  # noqa: E402

TOKEN = "a-token-of-the-bench"
TICKS = os.sysconf("SC_CLK_TCK")

STAMPS = """
def answers(text):
    count, gap = (float(part) for part in text.split())
    for _ in range(int(count)):
        yield "@%d@%s" % (time.monotonic_ns(), "x" * 160)
        if gap:
            time.sleep(gap)
"""


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int) -> int:
    """Return the bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def spread(values: Sequence[float]) -> str:
    """Return median and 99th percentile of seconds, as milliseconds."""
    return f"p50 {statistics.median(values) * 1e3:6.2f} ms, p99 {statistics.quantiles(values, n=100)[98] * 1e3:6.2f} ms"


@dataclass
class Fleet:
    """What runs."""

    url: str
    redis: int
    """Its process."""
    worker: Served
    hubs: list[Served]


@asynccontextmanager
async def fleet(hubs: int) -> AsyncIterator[Fleet]:
    """Run one worker and so many hubs."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="fleet-")))
        server = RedisProcess(folder, "--appendonly", "yes")
        server.start()
        stack.callback(server.kill)
        (folder / "agent.py").write_text(program_of(STAMPS))
        agents = {
            "stamps": {"family": "claude", "command": [sys.executable, "-S", "-E", str(folder / "agent.py")]}
        }

        async def start(name: str, *arguments: str) -> Served:
            (folder / name).mkdir()
            env = environment(
                folder / name / "home",
                TURNWIRE_TOKEN=TOKEN,
                TURNWIRE_AGENTS=json.dumps(agents),
                TURNWIRE_AGENT="stamps",
                TURNWIRE_JOURNAL=server.url,
                TURNWIRE_KEEP_RAW="false",
            )
            return await stack.enter_async_context(turnwire(folder / name, *arguments, env=env))

        worker = await start("worker", "serve", "--worker", "worker")
        yield Fleet(server.url, server.pid, worker, [await start(f"hub-{n}", "hub") for n in range(hubs)])


class Frontend:
    """A bare frontend: when what it follows came, and how long commands took."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self.took: list[float] = []

    async def do(self, **command: Any) -> Any:
        """Send a command and return its result."""
        self._number += 1
        await self._socket.send(json.dumps({"id": str(self._number), **command}))
        while True:
            frame = json.loads(await self._socket.recv())
            if frame["type"] == "reply" and frame["id"] == str(self._number):
                assert frame["ok"], frame
                return frame.get("result")

    async def follow(self, session: str, count: int, ready: asyncio.Semaphore | None = None) -> None:
        """Follow a session until so many stamps have come."""
        await self.do(type="subscribe", session=session)
        if ready is not None:
            ready.release()
        while len(self.took) < count:
            text = await self._socket.recv(decode=False)
            now = time.monotonic_ns()
            start = 0
            while (start := text.find(b"@", start)) >= 0:
                end = text.find(b"@", start + 1)
                self.took.append((now - int(text[start + 1 : end])) / 1e9)
                start = end + 1


@asynccontextmanager
async def frontend(served: Served) -> AsyncIterator[Frontend]:
    """Connect to a hub, or to a worker's own."""
    url = served.base.replace("http", "ws") + "/ws"
    async with connect(
        url, additional_headers={"Authorization": f"Bearer {TOKEN}"}, compression=None, max_size=None
    ) as socket:
        await socket.recv()
        yield Frontend(socket)


async def created(client: Frontend) -> str:
    """Begin a session, and wait until its agent runs."""
    session: str = (await client.do(type="session.create"))["session"]
    return session


async def hop(scale: float) -> None:
    """Measure how much later events and replies come through a hub than from the worker itself."""
    async with fleet(1) as running, AsyncExitStack() as stack:
        near, far = [
            await stack.enter_async_context(frontend(one)) for one in (running.worker, running.hubs[0])
        ]
        session = await created(far)
        count = int(1000 * scale)
        asker = await stack.enter_async_context(frontend(running.worker))
        used = cpu_of(running.redis)
        async with asyncio.TaskGroup() as tasks:
            for one in (near, far):
                tasks.create_task(one.follow(session, count))
            await asyncio.sleep(0.5)
            await asker.do(type="prompt", session=session, text=f"{count} 0.004")
        print(
            f"  events, agent to frontend: at the worker {spread(near.took)}; through a hub {spread(far.took)}"
        )
        added = [late - soon for soon, late in zip(near.took, far.took, strict=False)]
        print(f"  of the same event, what the hop adds: {spread(added)}")
        print(
            f"  CPU of Redis {(cpu_of(running.redis) - used) / count * 1e6:.0f} µs an event that comes alone"
        )
        for name, served in (("at the worker", running.worker), ("through a hub", running.hubs[0])):
            async with frontend(served) as client:
                took = []
                for number in range(count):
                    before = time.perf_counter()
                    await client.do(type="session.rename", session=session, title=f"title {number}")
                    took.append(time.perf_counter() - before)
                    await asyncio.sleep(0.021)  # below the limit of commands a second
                print(f"  a command and its reply {name}: {spread(took)}")


async def rate(scale: float) -> None:
    """Measure the CPU that hub and worker use for an event, and what that makes a second and core."""
    for count in (1, 20):
        async with fleet(1) as running, AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(frontend(running.hubs[0])) for _ in range(count)]
            session = await created(clients[0])
            events = int(20_000 * scale)
            asker = await stack.enter_async_context(frontend(running.worker))
            pids = (running.worker.process.pid, running.hubs[0].process.pid)
            ready = asyncio.Semaphore(0)
            async with asyncio.TaskGroup() as tasks:
                for client in clients:
                    tasks.create_task(client.follow(session, events, ready))
                for _ in clients:
                    await ready.acquire()
                before, began = [cpu_of(pid) for pid in pids], time.perf_counter()
                await asker.do(type="prompt", session=session, text=f"{events} 0")
            took = time.perf_counter() - began
            worker, hub = (cpu_of(pid) - used for pid, used in zip(pids, before, strict=True))
            print(
                f"  {events} events to {count} frontends in {took:.2f} s: a core of the worker does {events / worker:,.0f} a second, "
                f"one of the hub {events / hub:,.0f} (that is {events * count / hub:,.0f} deliveries)"
            )


async def idle(scale: float) -> None:
    """Measure what events that nobody follows at a hub cost that hub, and how soon those come that a frontend follows there."""
    async with fleet(2) as running, AsyncExitStack() as stack:
        asker = await stack.enter_async_context(frontend(running.worker))
        client = await stack.enter_async_context(frontend(running.hubs[0]))
        session = await created(client)
        events = int(4000 * scale)
        pids = [hub.process.pid for hub in running.hubs]
        ready = asyncio.Semaphore(0)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(client.follow(session, events, ready))
            await ready.acquire()
            before = [cpu_of(pid) for pid in (*pids, running.redis)]
            await asker.do(type="prompt", session=session, text=f"{events} 0.004")
        followed, idle_hub, server = (
            cpu_of(pid) - used for pid, used in zip((*pids, running.redis), before, strict=True)
        )
        print(
            f"  CPU of an event that comes alone: {idle_hub / events * 1e6:.1f} µs at a hub without frontends, {followed / events * 1e6:.0f} µs "
            f"at the hub of the frontend, {server / events * 1e6:.0f} µs at Redis; {spread(client.took)}"
        )


async def thousand(scale: float) -> None:
    """Measure a thousand frontends of one session over four hubs."""
    count = int(1000 * scale)
    async with fleet(4) as running, AsyncExitStack() as stack:
        asker = await stack.enter_async_context(frontend(running.worker))
        session = await created(asker)
        alone = sum(resident(hub.process.pid) for hub in running.hubs)
        clients = [
            await stack.enter_async_context(frontend(running.hubs[number % 4])) for number in range(count)
        ]
        events = 60
        ready = asyncio.Semaphore(0)
        before = [cpu_of(hub.process.pid) for hub in running.hubs]
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.follow(session, events, ready))
            for _ in clients:
                await ready.acquire()
            await asker.do(type="prompt", session=session, text=f"{events} 0.25")
        took = [one for client in clients for one in client.took]
        used = [cpu_of(hub.process.pid) - was for hub, was in zip(running.hubs, before, strict=True)]
        print(
            f"  {count} frontends at 4 hubs, 4 events a second: {spread(took)}; CPU of all hubs {sum(used) * 1e6 / (events * count):.0f} µs "
            "a delivery; the frontends share the machine"
        )
        grown = sum(resident(hub.process.pid) for hub in running.hubs) - alone
        print(
            f"  memory of a hub: {alone / 4 / 2**20:.0f} MiB, and {grown / count / 2**10:.0f} KiB a frontend"
        )


async def bytes_of(scale: float) -> None:
    """Measure what a session takes in Redis, with and without events."""
    async with fleet(0) as running, frontend(running.worker) as client:
        session = await created(client)
        events = int(1000 * scale)
        server = redis.asyncio.Redis.from_url(running.url)

        async def used() -> dict[str, int]:
            found: dict[str, int] = {}
            async for key in server.scan_iter(f"*{session}*"):
                found[key.decode()] = await server.memory_usage(key, samples=0) or 0
            return found

        try:
            before = await used()
            await client.do(type="prompt", session=session, text=f"{events} 0")
            await client.follow(session, events)
            after = await used()
        finally:
            await server.aclose()
        print(f"  a new session: {sum(before.values())} bytes in {len(before)} keys")
        print(
            f"  an event of some 300 bytes: {(sum(after.values()) - sum(before.values())) / events:.0f} bytes"
        )


async def growth(scale: float) -> None:
    """Measure what more sessions cost a hub."""
    with TemporaryDirectory(prefix="fleet-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        store = FleetStore(server.url)
        try:
            there = 0
            for count in (1000, int(10_000 * scale)):
                for number in range(there, count):
                    summary = SessionSummary(
                        session=f"s-{number}", title="a title", state="idle", agent="claude", workspace="/code/project",
                        last_seq=0, pending=0, worker="w", created="2026-01-01T00:00:00.000000Z",
                    )  # fmt: skip
                    await store.put(DirectoryEntry(f"s-{number}", "w", 1, encode(summary), None, None))
                there = count
                directory = Directory(store, Timing())
                before = time.perf_counter()
                await directory.load()
                loaded = time.perf_counter() - before
                tracemalloc.start()
                another = Directory(store, Timing())
                await another.load()
                held, _ = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                before = time.perf_counter()
                frame = encode_frame(Sessions(sessions=list(directory.summaries(lambda _: 7))))
                listed = time.perf_counter() - before
                before = time.perf_counter()
                for _ in range(200):
                    await directory.refresh("s-7")
                one = (time.perf_counter() - before) / 200
                print(
                    f"  {count} sessions: a hub reads them in {loaded * 1e3:.0f} ms, writes their list in {listed * 1e3:.0f} ms "
                    f"({len(frame) / 1e6:.2f} MB to each frontend), holds {held / len(another.sessions) / 2**10:.1f} KiB of each, and takes one change in {one * 1e3:.2f} ms"
                )
        finally:
            await store.close()
            server.kill()


class _Listed:
    """A host that lists sessions as a hub of a fleet does."""

    def __init__(self, store: FleetStore, sessions: int, principals: int) -> None:
        self.directory = Directory(store, Timing())
        self.numbers: dict[str, int] = {}
        for number in range(sessions):
            name, owner = f"s-{number:08}", f"user{number % principals}"
            summary = SessionSummary(
                session=name,
                state="idle",
                last_seq=0,
                pending=0,
                owner=owner,
                workspace=f"/home/{owner}/{number % 7}",
                worker="w",
            )
            self.directory.sessions[name] = KnownSession("w", 1, summary, None)

    def sessions(self) -> Sequence[SessionSummary]:
        return self.directory.summaries(lambda name: self.numbers.get(name, 0))

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        return self.directory.watch(watcher)

    def change(self, number: int) -> None:
        name = f"s-{number % len(self.directory.sessions):08}"
        self.numbers[name] = number + 1
        self.directory.tell()


class _Viewer:
    writable = True

    def __init__(self) -> None:
        self.bytes = 0

    def send_text(self, text: bytes) -> None:
        self.bytes += len(text)


async def lists(scale: float) -> None:
    """Print what a change of one of 4,000 sessions costs a hub with 200 principals, each with one frontend."""
    sessions, principals = int(4000 * scale), int(200 * scale)
    store = FleetStore("redis://127.0.0.1:1")
    try:
        for words in (["own"], ["folder:/home/{user}"], ["own", "folder:/home/{user}"], ["all"]):
            host = _Listed(store, sessions, principals)
            registry = FrontendRegistry(cast("Any", host))
            viewers = [_Viewer() for _ in range(principals)]
            for number, viewer in enumerate(viewers):
                text = [word.replace("{user}", f"user{number}") for word in words]
                registry.join(viewer, Principal("control", f"user{number}", Scope.parse(text)))
            registry.start()
            took = []
            for number in range(8):
                began = time.perf_counter()
                host.change(number)
                took.append(time.perf_counter() - began)
                await asyncio.sleep(0.3)
            registry.stop()
            # The first change is published at once, later ones are when the interval is over.
            print(
                f"  {' '.join(words):32} a publish {statistics.median(took) * 1000:8.1f} ms, "
                f"{sum(viewer.bytes for viewer in viewers) / len(took) / 1e6:.2f} MB"
            )
    finally:
        await store.close()


PARTS = {
    "hop": hop, "rate": rate, "idle": idle, "thousand": thousand, "bytes": bytes_of, "growth": growth, "lists": lists,
}  # fmt: skip


async def main(arguments: Sequence[str]) -> None:
    """Measure what is named, or all."""
    scale = 0.1 if "--quick" in arguments else 1.0
    for name in [one for one in arguments if one in PARTS] or list(PARTS):
        print(name)
        await PARTS[name](scale)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
