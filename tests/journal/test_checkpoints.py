"""The write-ahead log is moved into the file beside the commits: none waits for it, and it stays small."""

import asyncio
import os
import resource
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from turnwire.journal.base import Entry
from turnwire.journal.sqlite import checkpoints, writer
from turnwire.journal.sqlite.checkpoints import Thresholds, checkpoint
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor

SMALL = Thresholds(move=64 << 10, empty=256 << 10, told=512 << 10)
ENTRY = Entry(b"{}" + b" " * 3000)
PATIENCE_S = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(path, thresholds=SMALL)
    yield journal
    await journal.close()


def wal_size(path: Path) -> int:
    return path.with_name(path.name + "-wal").stat().st_size


async def write(journal: SqliteJournal) -> None:
    await journal.append("a", [ENTRY])
    await journal.flush()


async def write_until(journal: SqliteJournal, condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await write(journal)


async def numbers(journal: SqliteJournal) -> list[int]:
    cursor, found = Cursor("", 0), list[int]()
    while cursor.seq < journal.last("a"):
        page = await journal.read_after("a", cursor)
        found += [envelope.seq for envelope in page.envelopes]
        cursor = page.cursor
    return found


class Standing:
    """A checkpoint as on a disk that does not answer, until it is released."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.released = threading.Event()

    def __call__(self, connection: sqlite3.Connection, mode: str) -> bool:
        if mode == "PASSIVE":
            self.began.set()
            assert self.released.wait(PATIENCE_S)
        return checkpoint(connection, mode)


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Standing:
    standing = Standing()
    monkeypatch.setattr(checkpoints, "checkpoint", standing)
    return standing


async def test_commits_and_readers_go_on_while_a_checkpoint_stands_still(
    journal: SqliteJournal, standing: Standing
) -> None:
    await write_until(journal, standing.began.is_set)
    try:
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(200):
                await write(journal)
        assert journal.trouble is None
        assert await numbers(journal) == list(range(1, journal.last("a") + 1))
        assert wal_size(journal.path) > SMALL.empty  # nothing was moved meanwhile
    finally:
        standing.released.set()
    await write_until(journal, lambda: wal_size(journal.path) <= SMALL.move)


async def test_closing_waits_for_a_checkpoint_and_leaves_neither_log_nor_thread(
    path: Path, standing: Standing
) -> None:
    journal = await SqliteJournal.open(path, thresholds=SMALL)
    await write_until(journal, standing.began.is_set)
    closing = asyncio.ensure_future(journal.close())
    await asyncio.sleep(0)
    assert not closing.done()
    standing.released.set()
    await asyncio.wait_for(closing, PATIENCE_S)
    assert not path.with_name(path.name + "-wal").exists()
    assert [one.name for one in threading.enumerate() if path.name in one.name] == []
    await journal.close()


async def test_the_log_begins_anew_under_a_writer_that_never_rests(journal: SqliteJournal) -> None:
    sizes = [0]

    def began_anew() -> bool:
        sizes.append(wal_size(journal.path))
        return sum(size < before for before, size in pairwise(sizes)) >= 3

    # One is queued before the other is committed.
    await asyncio.gather(*(write_until(journal, began_anew) for _ in range(3)))
    assert journal.trouble is None


async def test_the_log_begins_anew_when_a_reader_lets_go_of_it_and_is_told_of_before(
    journal: SqliteJournal, caplog: pytest.LogCaptureFixture
) -> None:
    await write(journal)
    reader = sqlite3.connect(journal.path, isolation_level=None)
    try:
        reader.execute("BEGIN")
        (count,) = reader.execute("SELECT count(*) FROM event").fetchone()
        await write_until(journal, lambda: "a reader holds an old state" in caplog.text)
        assert wal_size(journal.path) > SMALL.told
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (count,)
        assert journal.trouble is None
    finally:
        reader.close()
    await write_until(journal, lambda: wal_size(journal.path) <= SMALL.move)


async def test_a_checkpoint_that_fails_is_logged_once_and_costs_no_event(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, fails = 0, True

    def failing(connection: sqlite3.Connection, mode: str) -> bool:
        nonlocal tried
        tried += 1
        if fails:
            raise sqlite3.OperationalError("disk I/O error")
        return checkpoint(connection, mode)

    monkeypatch.setattr(checkpoints, "checkpoint", failing)
    journal = await SqliteJournal.open(path, thresholds=SMALL)
    await write_until(journal, lambda: tried >= 3)
    assert journal.trouble is None
    assert caplog.text.count("cannot be moved into its file") == 1
    fails = False
    await write_until(journal, lambda: wal_size(path) <= SMALL.move)
    assert await numbers(journal) == list(range(1, journal.last("a") + 1))
    await journal.close()


async def test_a_disk_that_does_not_take_the_file_keeps_the_log_from_being_emptied_and_is_logged(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[str] = []

    def noted(connection: sqlite3.Connection, mode: str) -> bool:
        modes.append(mode)
        return checkpoint(connection, mode)

    def failing(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(checkpoints, "checkpoint", noted)
    journal = await SqliteJournal.open(path, thresholds=SMALL)
    # The writer rests after each commit, and could begin the log anew by itself.
    other = sqlite3.connect(path, isolation_level=None)
    try:
        await write(journal)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM event").fetchone()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            await write_until(journal, lambda: modes.count("PASSIVE") >= 10)
        assert "TRUNCATE" not in modes
        assert caplog.text.count("cannot be moved into its file") == 1
        await write_until(journal, lambda: "TRUNCATE" in modes)
    finally:
        other.close()
    await journal.close()


async def test_a_full_disk_has_the_room_that_the_log_takes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_S", 0.02)
    journal = await SqliteJournal.open(path)
    told: list[str | None] = []
    changed = asyncio.Event()

    def watcher() -> None:
        told.append(journal.trouble)
        changed.set()

    journal.watch_trouble(watcher)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        async with asyncio.timeout(PATIENCE_S):
            # What is written over and over needs no room in the file.
            while not told:
                try:
                    await journal.check()
                except Exception:  # noqa: BLE001 - it is told
                    break
            while journal.trouble is not None:
                changed.clear()
                await changed.wait()
            await journal.check()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [one is not None for one in told] == [True, False]
    await journal.close()
