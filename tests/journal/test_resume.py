"""Resuming at any cursor, any number of times, gives exactly the log: in any way of appending and paging."""

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnwire.journal import queued
from turnwire.journal.base import Entry, Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.reading.cache import TailCache
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor
from turnwire.testing.journal_contract import Opener


@dataclass(frozen=True)
class Step:
    """Append a batch, then let a reader with its own page limits read some pages."""

    batch: tuple[int, ...]
    reader: int
    pages: int
    count: int
    size: int
    flush: bool


STEPS = st.lists(
    st.builds(
        Step,
        st.lists(st.integers(0, 300), max_size=6).map(tuple),
        st.integers(0, 2),
        st.integers(0, 4),
        st.integers(1, 7),
        st.integers(1, 900),
        st.booleans(),
    ),
    max_size=30,
)


async def follow(journal: Journal, steps: list[Step]) -> None:
    log: list[bytes] = []
    cursors = {reader: Cursor("", 0) for reader in range(3)}
    got: dict[int, list[bytes]] = {reader: [] for reader in range(3)}

    async def read(reader: int, count: int, size: int) -> bool:
        page = await journal.read_after("s", cursors[reader], count=count, size=size)
        assert page.gap is None
        assert [e.seq for e in page.envelopes] == list(
            range(cursors[reader].seq + 1, cursors[reader].seq + 1 + len(page.envelopes))
        )
        assert len(page.envelopes) <= count
        assert len(page.envelopes) <= 1 or sum(len(e.event) for e in page.envelopes) <= size
        got[reader] += [e.event for e in page.envelopes]
        cursors[reader] = page.cursor
        return page.cursor.seq < page.last

    for step in steps:
        batch = [b"%d " % (len(log) + i) + b"x" * padding for i, padding in enumerate(step.batch)]
        await journal.append("s", [Entry(event) for event in batch])
        log += batch
        if step.flush:
            await journal.flush()
        for _ in range(step.pages):
            await read(step.reader, step.count, step.size)
    await journal.flush()
    for reader in range(3):
        while await read(reader, 5, 1000):
            pass
        assert got[reader] == log


@settings(max_examples=60)
@given(STEPS)
def test_in_memory(steps: list[Step]) -> None:
    asyncio.run(follow(MemoryJournal(), steps))


@settings(
    max_examples=40,
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS, log_count=st.integers(1, 8), log_bytes=st.integers(1, 500))
def test_in_a_file_however_little_is_cached(
    monkeypatch: pytest.MonkeyPatch, steps: list[Step], log_count: int, log_bytes: int
) -> None:
    async def main(path: Path) -> None:
        journal = await SqliteJournal.open(path)
        await follow(journal, steps)
        await journal.close()

    monkeypatch.setattr(queued, "TailCache", lambda: TailCache(log_count=log_count, log_bytes=log_bytes))
    with TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "journal.db"))


class Forgetful:
    """A client that disconnects at random and comes back with a cursor it had before."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.got: list[bytes] = []
        self.disconnects = 0

    async def follow(self, journal: Journal, total: int, times: int) -> None:
        news = asyncio.Event()
        unwatch = journal.watch(lambda session, last: news.set())
        cursor = Cursor("", 0)
        while len(self.got) < total or self.disconnects < times:
            news.clear()
            page = await journal.read_after("s", cursor, count=self.chance.randint(1, 40))
            assert page.gap is None
            self.got += [e.event for e in page.envelopes]
            cursor = page.cursor
            assert cursor.seq == len(self.got)
            if self.disconnects < times and self.chance.random() < 0.5:
                self.disconnects += 1
                # Sometimes all it had is still there, sometimes it had not stored the last.
                back = self.chance.randint(0, min(len(self.got), 300)) if self.chance.random() < 0.7 else 0
                del self.got[len(self.got) - back :]
                cursor = Cursor(journal.epoch if self.got else "", len(self.got))
            elif cursor.seq == page.last and len(self.got) < total:
                await news.wait()
        unwatch()


async def test_after_a_thousand_random_disconnects_every_client_has_exactly_the_log(opener: Opener) -> None:
    journal = await opener()
    log = [b"%d" % n for n in range(2000)]
    clients = [Forgetful(seed) for seed in range(10)]
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        for client in clients:
            tasks.create_task(client.follow(journal, len(log), 100))
        chance = random.Random(0)
        first = 0
        while first < len(log):
            count = chance.randint(1, 9)
            await journal.append("s", [Entry(event) for event in log[first : first + count]])
            first += count
            if chance.random() < 0.5:
                await journal.flush()
            await asyncio.sleep(0)
    assert [client.got == log for client in clients] == [True] * 10
    assert sum(client.disconnects for client in clients) == 1000
    await journal.close()
