"""A disk that is full or fails while the journal is open: nothing accepted is lost, readers go on, and it is said."""

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from journals import SqliteOpener
from turnwire.journal.base import Entry, JournalError, JournalUnavailable
from turnwire.journal.sessions import SessionRecord
from turnwire.journal.sqlite import journal as sqlite
from turnwire.journal.sqlite import writer
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.sessions import SqliteSessions
from turnwire.normalize.events.envelope import Cursor

BEGINNING = Cursor("", 0)
BIG = Entry(b"{}" + b" " * 100_000)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "RETRY_S", 0.02)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    await journal.append("a", [Entry(b"{}")] * 10)
    await journal.flush()
    yield journal
    await journal.close()


async def limit_pages(journal: SqliteJournal, more: int) -> None:
    """Leave room for so many more pages; a large number frees the disk."""

    def limit(connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={count + more}").fetchall()

    await journal.writer.call(limit)


async def fails(journal: SqliteJournal) -> None:
    """Wait until what was accepted could not be written."""
    async with asyncio.timeout(60):
        with pytest.raises(JournalUnavailable):
            await journal.flush()
    assert journal.trouble is not None


async def recovers(journal: SqliteJournal) -> None:
    """Wait until it was written after all."""
    written = asyncio.Event()
    unwatch = journal.watch(lambda session, last: written.set())
    async with asyncio.timeout(60):
        if journal.trouble is not None:
            await written.wait()
    unwatch()
    assert journal.trouble is None


@contextmanager
def small_files(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a disk that fills up under all programs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_what_was_accepted_while_the_disk_was_full_is_written_when_it_is_not(
    journal: SqliteJournal,
) -> None:
    with small_files(200_000):
        assert await journal.append("a", [BIG] * 5) == 15
        await fails(journal)
        assert journal.trouble is not None
        assert str(journal.path) in journal.trouble
        assert await journal.append("a", [Entry(b"{}")]) == 16
        assert await journal.append("b", [Entry(b"{}")]) == 1
        assert (journal.last("a"), journal.last("b")) == (10, 0)
        assert len((await journal.read_after("a", BEGINNING)).envelopes) == 10
    await recovers(journal)
    await journal.flush()
    page = await journal.read_after("a", BEGINNING)
    assert [e.seq for e in page.envelopes] == list(range(1, 17))
    assert journal.last("b") == 1


async def test_a_full_disk_is_called_a_full_disk(journal: SqliteJournal) -> None:
    await limit_pages(journal, 0)
    await journal.append("a", [BIG])
    await fails(journal)
    assert "No space is left" in str(journal.trouble)
    with pytest.raises(JournalUnavailable, match="No space is left"):
        await limit_pages(journal, 1000)
    # The limit can only be raised through the writer, which is stuck; so the journal is given up.
    with pytest.raises(JournalUnavailable, match="Closed with 1 events unwritten"):
        await journal.close()
    journal.close = _closed  # type: ignore[method-assign]


async def _closed() -> None: ...


async def test_a_full_disk_is_known_before_anything_waits_and_its_end_too(journal: SqliteJournal) -> None:
    told: list[bool] = []
    news = asyncio.Event()

    def watcher() -> None:
        told.append(journal.trouble is not None)
        news.set()

    journal.watch_trouble(watcher)
    with small_files(1):
        for _ in range(3):
            with pytest.raises(JournalUnavailable, match=str(journal.path)):
                await journal.check()
        assert journal.trouble is not None
        with pytest.raises(JournalUnavailable):
            await journal.check()
        news.clear()
    async with asyncio.timeout(60):
        await news.wait()
    assert told == [True, False]
    await journal.check()


async def test_readers_far_behind_go_on_while_the_disk_is_full(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    await journal.append("a", [Entry(b"%d" % n) for n in range(3000)])
    await journal.flush()
    with small_files(100_000):
        await journal.append("a", [BIG] * 3)
        await fails(journal)
        page = await journal.read_after("a", BEGINNING, count=5)
        assert [e.event for e in page.envelopes] == [b"0", b"1", b"2", b"3", b"4"]
    await journal.close()
    assert journal.last("a") == 3003


async def test_appending_waits_while_the_disk_is_full_and_the_backlog_too_and_nothing_is_lost(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal._backlog, "_limit", 350_000)
    with small_files(1):
        for expected in range(11, 15):
            assert await journal.append("a", [BIG]) == expected
        await fails(journal)
        assert journal.is_full
        waiting = [asyncio.ensure_future(journal.append(session, [BIG])) for session in "aba"]
        await asyncio.wait(waiting, timeout=0.2)
        assert not any(one.done() for one in waiting)
    async with asyncio.timeout(30):
        assert await asyncio.gather(*waiting) == [15, 1, 16]
        await journal.flush()
    assert [e.seq for e in (await journal.read_after("a", BEGINNING, size=1 << 30)).envelopes] == list(
        range(1, 17)
    )
    assert journal.trouble is None


async def test_one_who_waits_for_room_is_refused_when_the_journal_is_closed(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal._backlog, "_limit", 350_000)
    with small_files(150_000):
        await journal.append("a", [BIG] * 4)
        await fails(journal)
        waiting = asyncio.ensure_future(journal.append("a", [BIG]))
        await asyncio.sleep(0)
        with pytest.raises(JournalUnavailable, match="Closed with 4 events unwritten"):
            await journal.close()
        with pytest.raises(JournalUnavailable, match="is closed"):
            await waiting
    journal.close = _closed  # type: ignore[method-assign]


async def test_a_session_whose_log_takes_nothing_more_is_refused_and_the_others_go_on(
    journal: SqliteJournal, caplog: pytest.LogCaptureFixture
) -> None:
    # rows in the place of the next ones, as a damaged log table would have it
    taken = "INSERT INTO event VALUES ((1 << 40) | 12, 0, 0, x'', 0)"
    await journal.writer.call(lambda connection: connection.execute(taken))
    await journal.append("a", [Entry(b'{"n":11}')] * 3)
    await journal.append("b", [Entry(b"{}")] * 2)
    with pytest.raises(JournalUnavailable, match="UNIQUE"):
        await journal.flush()
    await journal.flush()
    assert (journal.last("a"), journal.last("b")) == (10, 2)
    assert journal.trouble is None
    assert "events are lost" in caplog.text
    with pytest.raises(JournalUnavailable, match="UNIQUE"):
        await journal.append("a", [Entry(b"{}")])
    assert await journal.append("b", [Entry(b"{}")]) == 3
    # told once; the next life of the session begins behind what was lost, with a gap
    assert await journal.append("a", [Entry(b"{}")]) == 14
    await journal.flush()
    page = await journal.read_after("a", Cursor(journal.epoch, 10), count=1)
    assert page.gap is not None


async def test_events_that_no_file_can_have_cost_their_session_alone(journal: SqliteJournal) -> None:
    await journal.append("no \ud800 name", [Entry(b"{}")])
    await journal.append("b", [Entry(b"{}")])
    with pytest.raises(JournalUnavailable):
        await journal.flush()
    await journal.flush()
    assert journal.last("b") == 1
    with pytest.raises(JournalUnavailable):
        await journal.append("no \ud800 name", [Entry(b"{}")])


async def test_appending_waits_while_the_backlog_is_full_and_then_goes_on_in_order(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal._backlog, "_limit", 100_000)
    async with asyncio.timeout(30):
        for expected in range(11, 211):
            assert await journal.append("a", [BIG]) == expected
        await journal.flush()
    assert journal.last("a") == 210


async def test_calls_are_refused_while_the_disk_is_full_and_the_record_is_kept_in_memory(
    journal: SqliteJournal,
) -> None:
    sessions = await SqliteSessions.open(journal)
    record = SessionRecord(session="a", created="2026")
    with small_files(150_000):
        await journal.append("a", [BIG] * 3)
        await fails(journal)
        async with asyncio.timeout(60):
            with pytest.raises(JournalUnavailable):
                await sessions.put(record)
        with pytest.raises(JournalUnavailable):
            await journal.delete("a")
        assert await sessions.get("a") == record
    await recovers(journal)
    await sessions.put(record)
    assert await (await SqliteSessions.open(journal)).list() == [record]


async def test_closing_on_a_full_disk_says_how_much_is_lost_and_lets_go_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = await SqliteJournal.open(path)
    with small_files(150_000):
        await journal.append("a", [BIG] * 3)
        await fails(journal)
        await journal.append("a", [BIG] * 4)
        with pytest.raises(JournalUnavailable, match="Closed with 7 events unwritten"):
            await journal.close()
    journal = await SqliteOpener(path)()  # type: ignore[assignment]
    assert journal.last("a") == 0
    await journal.close()


async def test_an_append_no_file_could_hold_is_refused_by_itself(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BATCH_BYTES", 1000)
    with pytest.raises(JournalError, match="cannot be journaled at once"):
        await journal.append("a", [BIG])
    assert await journal.append("a", [Entry(b"{}")]) == 11


async def test_a_call_that_fails_changes_nothing_and_harms_nobody(journal: SqliteJournal) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM event")
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await journal.writer.call(fail)
    with pytest.raises(JournalUnavailable, match="no such table"):
        await journal.writer.call(lambda connection: connection.execute("DELETE FROM nowhere"))
    assert await journal.append("a", [Entry(b"{}")]) == 11
    await journal.flush()
    assert len((await journal.read_after("a", BEGINNING)).envelopes) == 11


async def test_a_watcher_that_raises_is_reported_and_harms_no_other(journal: SqliteJournal) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: reported.append(str(context["message"]))
    )
    seen: list[int] = []

    def broken(session: str, last: int) -> None:
        raise ValueError(last)

    journal.watch(broken)
    journal.watch(lambda session, last: seen.append(last))
    await journal.append("a", [Entry(b"{}")])
    await journal.flush()
    assert seen == [11]
    assert reported == ["A watcher of the journal failed on session 'a'"]
