"""Retention that nobody asks for: idle logs are looked over now and then, and the disk gets its space back."""

import asyncio
import shutil
from pathlib import Path

import pytest

from journals import RedisOpener, RedisProcess
from turnwire.journal.base import Entry, JournalUnavailable, Retention
from turnwire.journal.redis import journal as redis_streams
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.rows import Append, Extent
from turnwire.journal.sqlite import writer
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor
from turnwire.testing.journal_contract import FakeClock

BIG = Entry(b"{}" + b" " * 100_000)


class Sweeps:
    """Counts what the writer does by itself."""

    def __init__(self, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
        self._committed = journal.committed
        self._stuck = journal.stuck
        self.done = asyncio.Event()
        self.failed = asyncio.Event()
        monkeypatch.setattr(journal, "committed", self.committed)
        monkeypatch.setattr(journal, "stuck", self.stuck)

    def committed(self, appends: list[Append], extents: dict[int, Extent]) -> None:
        self._committed(appends, extents)
        if not appends:
            self.done.set()

    def stuck(self, reason: JournalUnavailable) -> None:
        self._stuck(reason)
        self.failed.set()

    async def next(self) -> None:
        async with asyncio.timeout(60):
            for _ in range(2):  # one may have begun before what it is to find
                self.done.clear()
                await self.done.wait()


async def test_an_idle_log_loses_what_is_too_old(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SWEEP_S", 0.01)
    journal = await SqliteJournal.open(
        tmp_path / "journal.db", Retention(max_age_s=60), clock=clock, steady=clock.steady
    )
    sweeps = Sweeps(journal, monkeypatch)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.flush()
    await sweeps.next()
    assert len((await journal.read_after("a", Cursor("", 0))).envelopes) == 3
    clock.advance(61)
    await sweeps.next()
    assert not (await journal.read_after("a", Cursor("", 0))).envelopes
    await journal.close()


async def test_a_file_gets_smaller_bit_by_bit_when_much_was_dropped(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SWEEP_S", 0.01)
    path = tmp_path / "journal.db"
    journal = await SqliteJournal.open(path, Retention(max_age_s=60), clock=clock, steady=clock.steady)
    sweeps = Sweeps(journal, monkeypatch)
    for _ in range(10):
        await journal.append("a", [BIG] * 20)
        await journal.flush()
    clock.advance(61)
    for _ in range(10):
        await sweeps.next()
    await journal.close()
    assert path.stat().st_size < (writer.SPARE_PAGES + 100) * 4096
    journal = await SqliteJournal.open(path)
    assert journal.last("a") == 200
    await journal.close()


async def test_a_sweep_that_fails_is_trouble_until_the_next_one_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SWEEP_S", 0.01)
    journal = await SqliteJournal.open(tmp_path / "journal.db", Retention(max_age_s=60))
    sweeps = Sweeps(journal, monkeypatch)
    await journal.writer.call(lambda connection: connection.execute("ALTER TABLE log RENAME TO hidden"))
    async with asyncio.timeout(60):
        sweeps.failed.clear()
        await sweeps.failed.wait()
    assert "no such table" in str(journal.trouble)
    await journal.writer.call(lambda connection: connection.execute("ALTER TABLE hidden RENAME TO log"))
    await sweeps.next()
    assert journal.trouble is None
    await journal.close()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
async def test_an_idle_log_in_redis_loses_what_is_too_old(
    redis_server: RedisProcess, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_streams, "SWEEP_S", 0.01)
    journal = await RedisOpener(redis_server.url, "sweep:")(Retention(max_age_s=60), clock)
    assert isinstance(journal, RedisJournal)
    swept = asyncio.Event()
    retain = journal.retain

    async def noticed() -> None:
        await retain()
        swept.set()

    monkeypatch.setattr(journal, "retain", noticed)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.flush()
    clock.advance(61)
    async with asyncio.timeout(60):
        for _ in range(2):
            swept.clear()
            await swept.wait()
    assert not (await journal.read_after("a", Cursor("", 0))).envelopes
    await journal.close()
