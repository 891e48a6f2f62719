"""What a frontend that never reads costs those who do: CPU time beside none in turns, and memory.

    python bench/bench_hub_stalled.py [--quick]

The journal is SQLite, so that what grows in memory grows with the frontends and not with the log.
"""

import asyncio
import gc
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.hub_setting import (
    PADDING,
    SESSION,
    deepen,
    event,
    frontends,
    hub_of,
    journals,
)
from turnwire.journal.base import Entry, Journal


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


if __name__ == "__main__":
    asyncio.run(stalled_frontend(20_000 if "--quick" in sys.argv else 1_000_000))
