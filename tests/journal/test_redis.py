"""The journal in Redis: servers that crash, forget, fill up or evict, and sidecars that share one."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from journal.base import Entry, Gap, JournalUnavailable, Retention
from journal.redis import journal as redis_streams
from journal.redis.journal import RedisJournal
from journals import RedisProcess
from normalize.events.envelope import Cursor

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

BEGINNING = Cursor("", 0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_streams, "RETRY_S", 0.02)


@pytest.fixture
def folder() -> Iterator[Path]:
    # A path of a socket may have about a hundred characters.
    with TemporaryDirectory(prefix="redis-") as folder:
        yield Path(folder)


@pytest.fixture
def forgetful(folder: Path) -> Iterator[RedisProcess]:
    """A server that keeps nothing when it ends."""
    server = RedisProcess(folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def durable(folder: Path) -> Iterator[RedisProcess]:
    """A server that has on disk what it acknowledged."""
    server = RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def journal(forgetful: RedisProcess) -> AsyncIterator[RedisJournal]:
    journal = await RedisJournal.open(forgetful.url)
    await journal.append("a", [Entry(b"{}")] * 10)
    await journal.flush()
    yield journal
    await journal.close()


async def seqs(journal: RedisJournal, session: str = "a") -> list[int]:
    return [e.seq for e in (await journal.read_after(session, BEGINNING)).envelopes]


async def fails(journal: RedisJournal) -> str:
    async with asyncio.timeout(10):
        with pytest.raises(JournalUnavailable) as refused:
            await journal.flush()
    return str(refused.value)


class Heard:
    """A watcher that can be waited for."""

    def __init__(self, journal: RedisJournal) -> None:
        self._seen: set[tuple[str, int]] = set()
        self._news = asyncio.Event()
        journal.watch(self._hear)

    def _hear(self, session: str, last: int) -> None:
        self._seen.add((session, last))
        self._news.set()

    async def of(self, session: str, last: int) -> None:
        async with asyncio.timeout(10):
            while (session, last) not in self._seen:
                self._news.clear()
                await self._news.wait()


async def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(JournalUnavailable, match=r"The Redis at 127\.0\.0\.1:1 cannot be used") as refused:
        await RedisJournal.open("redis://user:secret@127.0.0.1:1/0")
    assert "secret" not in str(refused.value)


async def test_a_crash_of_a_durable_server_costs_nothing(durable: RedisProcess) -> None:
    journal = await RedisJournal.open(durable.url)
    await journal.append("a", [Entry(b'{"n":1}')])
    await journal.flush()
    durable.kill()
    assert await journal.append("a", [Entry(b'{"n":2}', raw=b"raw")]) == 2
    assert str(durable.socket) in await fails(journal)
    assert journal.trouble
    assert await journal.append("a", [Entry(b'{"n":3}')]) == 3
    for refused in (journal.whole("a", 1), journal.retain(), journal.delete("a")):
        with pytest.raises(JournalUnavailable):
            await refused
    heard = Heard(journal)
    durable.start()
    await heard.of("a", 3)
    assert not journal.trouble
    assert await seqs(journal) == [1, 2, 3]
    epoch = journal.epoch
    await journal.close()
    durable.kill()
    durable.start()
    again = await RedisJournal.open(durable.url)
    assert again.epoch == epoch
    assert await seqs(again) == [1, 2, 3]
    await again.close()


async def test_a_server_that_forgot_is_found_out_and_the_next_start_begins_another_epoch(
    forgetful: RedisProcess,
) -> None:
    journal = await RedisJournal.open(forgetful.url)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.flush()
    forgetful.kill()
    forgetful.start()
    await journal.append("a", [Entry(b"{}")])
    assert "log ends at 0, not at 3" in await fails(journal)
    with pytest.raises(JournalUnavailable, match="Closed with 1 events unwritten"):
        await journal.close()
    again = await RedisJournal.open(forgetful.url)
    assert again.epoch != journal.epoch
    assert (await again.read_after("a", Cursor(journal.epoch, 3))).gap == Gap(1, 3)
    await again.close()


async def test_a_restart_that_may_have_lost_the_last_events_begins_another_epoch(folder: Path) -> None:
    server = RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "everysec")
    server.start()
    first = await RedisJournal.open(server.url)
    await first.append("a", [Entry(b"{}")])
    await first.close()
    same = await RedisJournal.open(server.url)
    assert same.epoch == first.epoch
    await same.close()
    server.kill()
    server.start()
    other = await RedisJournal.open(server.url)
    assert other.epoch != first.epoch
    assert await seqs(other) == [1]
    await other.close()
    server.kill()


async def test_an_answer_lost_on_its_way_does_not_append_twice(journal: RedisJournal) -> None:
    batch = journal._logs.accept("a", [Entry(b"{}")] * 2, 1, 4)
    for _ in range(2):
        extents, failure = await journal._server.append([batch], Retention(), 0)
        assert failure is None
        assert (extents[0].first, extents[0].last) == (1, 12)


async def test_others_hear_of_what_is_appended_and_can_read_it(
    forgetful: RedisProcess, journal: RedisJournal
) -> None:
    other = await RedisJournal.open(forgetful.url)
    heard = Heard(other)
    assert other.last("a") == 10
    await journal.append("a", [Entry(b'{"n":11}')])
    await journal.append("b c", [Entry(b"{}")])
    await heard.of("a", 11)
    await heard.of("b c", 1)
    page = await other.read_after("a", Cursor(journal.epoch, 10))
    assert [e.event for e in page.envelopes] == [b'{"n":11}']
    await other.close()


async def test_a_session_can_move_to_another_sidecar_but_not_be_written_by_two(
    forgetful: RedisProcess, journal: RedisJournal
) -> None:
    other = await RedisJournal.open(forgetful.url)
    heard = Heard(journal)
    assert await other.append("a", [Entry(b"{}")]) == 11
    await heard.of("a", 11)
    assert await journal.append("a", [Entry(b"{}")]) == 12
    await journal.flush()
    assert await seqs(journal) == list(range(1, 13))
    other._logs.of("a").accepted = 11
    await other.append("a", [Entry(b"{}")])
    assert "another sidecar writes the same session" in await fails(other)
    with pytest.raises(JournalUnavailable):
        await other.close()
    assert await seqs(journal) == list(range(1, 13))


async def test_a_server_without_memory_left_is_trouble_that_passes(journal: RedisJournal) -> None:
    redis = journal._server._redis
    await redis.config_set("maxmemory", "1")
    with pytest.raises(JournalUnavailable, match="used memory > 'maxmemory'"):
        await journal.check()
    assert await journal.append("a", [Entry(b"{}")]) == 11
    assert "used memory > 'maxmemory'" in await fails(journal)
    heard = Heard(journal)
    await redis.config_set("maxmemory", "0")
    await heard.of("a", 11)
    assert await seqs(journal) == list(range(1, 12))


async def test_a_server_that_evicts_is_refused(folder: Path) -> None:
    server = RedisProcess(folder, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    server.start()
    with pytest.raises(JournalUnavailable, match="noeviction"):
        await RedisJournal.open(server.url)
    server.kill()
