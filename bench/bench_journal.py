"""What the journal costs: appending as a log grows, following it, coming back to it, and memory.

    python bench/bench_journal.py [EVENTS]

Figures are of this machine; the ratios are what to compare. Cost per event is that of the best of several windows of
appends at each depth, in batches of two events as one CLI message makes them, including the time until all were readable.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from turnwire.journal.base import Entry, Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.mark import Mark
from turnwire.normalize.events.envelope import Cursor

TEXT = b'{"type":"message_chunk","session_id":"s","text":"' + b"x" * 340 + b'"'
WINDOWS = 9
WINDOW = 2000
FOLLOWERS = 1000


def resident() -> int:
    """Return the bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def batch() -> list[Entry]:
    """Return two events with bytes of their own, and the line they came from."""
    return [Entry(TEXT + b"}", raw=TEXT + b',"usage":' + TEXT + b"}"), Entry(TEXT + b"}")]


async def append(journal: Journal, session: str, last: int) -> None:
    """Append until the log has so many events, giving the event loop its turn now and then."""
    while (newest := await journal.append(session, batch())) < last:
        if newest % 20 == 0:
            await asyncio.sleep(0)
    await journal.flush()


async def timed(work: Callable[[], Awaitable[object]], repeat: int = 1) -> tuple[float, float]:
    """Return wall and CPU microseconds of one repetition."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        await work()
    return (time.perf_counter() - wall) / repeat * 1e6, (time.process_time() - cpu) / repeat * 1e6


async def growth(name: str, journal: Journal, depths: list[int]) -> None:
    """Print what an event costs at each depth of a log, and what memory it takes."""
    print(
        f"\n{name}: appending\n{'log holds':>12} {'µs/event':>10} {'CPU µs':>8} {'ratio':>7} {'resident MB':>12}"
    )
    gc.collect()
    empty = resident()
    first = 0.0
    last = 0
    for depth in depths:
        if last < depth:
            await append(journal, "grown", depth)
        last = journal.last("grown")
        windows: list[tuple[float, float]] = []
        for _ in range(WINDOWS):
            last += WINDOW
            windows.append(await timed(lambda last=last: append(journal, "grown", last)))  # type: ignore[misc]
        wall = min(w for w, _ in windows) / WINDOW
        cpu = min(c for _, c in windows) / WINDOW
        first = first or cpu
        print(f"{depth:12,} {wall:10.2f} {cpu:8.2f} {cpu / first:7.2f} {(resident() - empty) / 1e6:12.1f}")


async def latency(journal: Journal) -> None:
    """Print how long an append takes to be announced."""
    announced = asyncio.Event()
    unwatch = journal.watch(lambda *_: announced.set())
    took: list[float] = []
    for _ in range(5000):
        announced.clear()
        start = time.perf_counter()
        await journal.append("latency", batch())
        await announced.wait()
        took.append((time.perf_counter() - start) * 1e6)
    unwatch()
    took.sort()
    print(
        f"append to announcement: p50 {took[len(took) // 2]:.0f} µs, p99 {took[len(took) * 99 // 100]:.0f} µs"
    )


async def reading(journal: Journal, shallow: int) -> None:
    """Print what following costs, and coming back after having missed some."""
    await append(journal, "shallow", shallow)
    last = journal.last("grown")

    async def follow() -> None:
        for _ in range(FOLLOWERS):
            page = await journal.read_after("grown", Cursor(journal.epoch, last - 2))
            assert len(page.envelopes) == 2
            assert page.envelopes[0].frame

    wall, _ = await timed(follow, 5)
    print(f"{FOLLOWERS} followers reading the newest two events: {wall / FOLLOWERS:.2f} µs each")

    async def catch_up(session: str, missed: int) -> None:
        cursor = Cursor(journal.epoch, journal.last(session) - missed)
        while cursor.seq < journal.last(session):
            cursor = (await journal.read_after(session, cursor)).cursor

    print(f"{'missed':>12} {'of':>12} {'ms':>8} {'µs/event':>10}")
    for session in ("shallow", "grown"):
        for missed in (100, 1000, 10_000, 100_000):
            held = journal.last(session)
            if missed <= held:
                wall, _ = await timed(lambda s=session, m=missed: catch_up(s, m), 3)  # type: ignore[misc]
                print(f"{missed:12,} {held:12,} {wall / 1000:8.2f} {wall / missed:10.2f}")


async def mark_cost(journal: SqliteJournal) -> None:
    """Print what noting each commit beside the journal costs: one event a commit, with and without it, in turn."""
    write = Mark.write
    ratios: dict[str, list[float]] = {"wall": [], "CPU": []}

    async def commits() -> None:
        for _ in range(500):
            await journal.append("mark", batch())
            await journal.flush()

    for _ in range(WINDOWS):
        noted = await timed(commits)
        Mark.write = lambda *_: None  # type: ignore[method-assign]
        bare = await timed(commits)
        Mark.write = write  # type: ignore[method-assign]
        for name, one, other in zip(ratios, noted, bare, strict=True):
            ratios[name].append(one / other)
    for name, found in ratios.items():
        print(f"commits of one batch, noted to not noted, {name}: {sorted(found)[WINDOWS // 2]:.2f}")


async def main(events: int) -> None:
    """Measure both backends."""
    depths = [depth for depth in (1_000, 10_000, 100_000, 1_000_000) if depth <= events]
    memory = MemoryJournal()
    await growth("memory", memory, depths)
    await latency(memory)
    await reading(memory, 20_000)
    await memory.close()
    del memory
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        journal = await SqliteJournal.open(path)
        await growth("sqlite", journal, depths)
        await latency(journal)
        await mark_cost(journal)
        await reading(journal, 20_000)
        await journal.close()
        size = path.stat().st_size

        async def open_and_close() -> None:
            await (await SqliteJournal.open(path)).close()

        wall, _ = await timed(open_and_close, 3)
        print(f"opening and closing the file of {size / 1e6:.0f} MB: {wall / 1000:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
