"""What is kept in memory of a log: bounded, shared, and never in the way of the truth."""

import asyncio
from pathlib import Path

import pytest

from turnwire.journal.base import Entry
from turnwire.journal.reading.cache import TailCache
from turnwire.journal.reading.tail import Tail
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor, Envelope


def envelopes(session: str, first: int, last: int, size: int = 10) -> list[Envelope]:
    return [Envelope(session, seq, "ts", b"x" * size) for seq in range(first, last + 1)]


def test_the_end_of_a_log_is_kept_up_to_its_bound() -> None:
    cache = TailCache(log_count=100)
    for first in range(1, 1000, 7):
        cache.add("a", envelopes("a", first, first + 6))
        tail = cache.reaching("a", first + 6)
        assert tail is not None
        assert min(first + 6, 75) <= len(tail) <= 100
        assert tail.last == first + 6
        assert cache.size == len(tail) * 10


def test_bytes_bound_a_log_but_its_newest_event_stays() -> None:
    cache = TailCache(log_bytes=1000)
    cache.add("a", envelopes("a", 1, 50, 100))
    assert cache.size <= 1000
    cache.add("a", envelopes("a", 51, 51, 5000))
    assert cache.reaching("a", 50) is not None
    assert cache.reaching("a", 49) is None
    assert cache.size == 5000


def test_the_log_that_was_silent_longest_goes_first() -> None:
    cache = TailCache(all_bytes=1000)
    for session in ("a", "b", "a", "c"):
        tail = cache.reaching(session, 10**9)
        first = tail.last + 1 if tail else 1
        cache.add(session, envelopes(session, first, first + 29))
    assert cache.reaching("b", 30) is None
    assert cache.reaching("a", 30) is not None
    assert cache.size == 900


def test_forgetting_what_retention_took() -> None:
    cache = TailCache()
    cache.add("a", envelopes("a", 1, 10))
    cache.forget("a", 5)
    assert (cache.reaching("a", 3), cache.size) == (None, 60)
    assert cache.reaching("a", 4) is not None
    cache.forget("a", 11)
    cache.forget("never", 5)
    assert (cache.reaching("a", 10), cache.size) == (None, 0)


@pytest.mark.parametrize("dropped", [0, 3])
def test_a_page_of_a_tail_keeps_to_count_and_size(dropped: int) -> None:
    tail = Tail()
    for envelope in envelopes("a", 1, 10):
        tail.add(envelope)
    assert [e.seq for e in tail.drop(dropped)] == list(range(1, dropped + 1))
    assert [e.seq for e in tail.after(4, 3, 1000)] == [5, 6, 7]
    assert [e.seq for e in tail.after(4, 100, 25)] == [5, 6]
    assert [e.seq for e in tail.after(4, 100, 0)] == [5]
    assert [e.seq for e in tail.after(0, 2, 1000)] == [dropped + 1, dropped + 2]
    assert not tail.after(10, 5, 1000)
    assert tail.size == (10 - dropped) * 10


async def test_live_readers_share_envelopes_and_read_no_sql(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    statements: list[str] = []
    journal.reader.connection.set_trace_callback(statements.append)
    cursors = [Cursor(journal.epoch, 0)] * 20
    for n in range(50):
        await journal.append("a", [Entry(b'{"n":%d}' % n)])
        await journal.flush()
        pages = await asyncio.gather(*(journal.read_after("a", cursor) for cursor in cursors))
        cursors = [page.cursor for page in pages]
        assert len({id(page.envelopes[0]) for page in pages}) == 1
    assert statements == []
    assert await journal.whole("a", 1) is not None
    assert len(statements) == 1
    await journal.close()
