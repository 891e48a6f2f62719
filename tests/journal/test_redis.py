"""The journal in Redis: servers that crash, forget, fill up or evict, and sidecars that share one."""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pytest
import redis.asyncio as redis_library
from ports import free_ports
from redis.exceptions import RedisError
from redis_topologies import Node, running

from journals import RedisProcess
from turnwire._runtime.task_owner import TaskOwner
from turnwire.journal.base import KEEP_ALL, Entry, Gap, JournalUnavailable, LogUnreadable, Retention
from turnwire.journal.redis import journal as redis_streams
from turnwire.journal.redis.connection import connect
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import NOBODY, LogState, Ownership, RedisServer
from turnwire.journal.redis.subscriber import Subscriber
from turnwire.normalize.events.envelope import Cursor
from turnwire.testing.journal_contract import fill
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

BEGINNING = Cursor("", 0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_streams, "RETRY_S", 0.02)
    monkeypatch.setattr("turnwire.journal.redis.subscriber.RETRY_S", 0.02)
    monkeypatch.setattr(redis_streams, "ASK_S", 0.1)


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
def started(folder: Path) -> Iterator[Callable[..., RedisProcess]]:
    """Start a server with options."""
    servers: list[RedisProcess] = []

    def start(*options: str) -> RedisProcess:
        servers.append(RedisProcess(folder, *options))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
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
    async with asyncio.timeout(60):
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
        async with asyncio.timeout(60):
            while (session, last) not in self._seen:
                self._news.clear()
                await self._news.wait()


async def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(JournalUnavailable, match=r"The Redis at 127\.0\.0\.1:1 cannot be used") as refused:
        await RedisJournal.open("redis://user:secret@127.0.0.1:1/0")
    assert "secret" not in str(refused.value)


async def test_a_loop_that_ends_without_closing_the_journal_waits_for_none_of_its_tasks(
    durable: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As redis-py does while it connects to a server that is away: the one cancellation of the loop's end is swallowed."""
    journal = await RedisJournal.open(durable.url)
    trying = asyncio.Event()

    async def news(_: RedisServer) -> AsyncGenerator[None]:
        try:
            trying.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RedisError("cannot connect") from None
        yield None

    monkeypatch.setattr(RedisServer, "news", news)
    durable.kill()
    await trying.wait()
    tasks = [task for task in asyncio.all_tasks() if task.get_name().startswith("journal ")]
    assert len(tasks) == 5
    for task in tasks:
        task.cancel()
    done, _ = await asyncio.wait(tasks, timeout=60)
    assert done == set(tasks)
    with contextlib.suppress(asyncio.CancelledError):  # of its writer, which is over
        await journal.close()


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
    await until(lambda: not journal.trouble)
    assert await seqs(journal) == [1, 2, 3]
    epoch = journal.epoch
    await journal.close()
    durable.kill()
    durable.start()
    again = await RedisJournal.open(durable.url)
    assert again.epoch == epoch
    assert await seqs(again) == [1, 2, 3]
    await again.close()


async def test_a_server_that_forgot_costs_what_it_forgot_and_the_next_start_begins_another_epoch(
    forgetful: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    journal = await RedisJournal.open(forgetful.url)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.flush()
    forgetful.kill()
    forgetful.start()
    heard = Heard(journal)
    assert await journal.append("a", [Entry(b'{"n":4}')]) == 4
    await heard.of("a", 4)
    assert "the server lost events of a session" in caplog.text
    # numbers go on, so that nobody takes one event for another
    assert (await journal.read_after("a", Cursor(journal.epoch, 3))).gap is None
    await until(lambda: journal.trouble is None)
    await journal.close()
    again = await RedisJournal.open(forgetful.url)
    assert again.epoch != journal.epoch
    page = await again.read_after("a", BEGINNING)
    assert (page.gap, [e.seq for e in page.envelopes]) == (Gap(1, 3), [4])
    await again.close()


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        (("log", "state", "beside"), []),
        (("state",), list(range(1, 11))),
        (("log",), []),
        (("beside",), list(range(1, 11))),
    ],
)
async def test_a_server_that_lost_keys_of_one_session_costs_that_and_stops_nobody(
    journal: RedisJournal, lost: tuple[str, ...], kept: list[int]
) -> None:
    redis = journal._server._redis
    await redis.delete(*(f"turnwire:{kind}:a" for kind in lost))
    heard = Heard(journal)
    assert await journal.append("a", [Entry(b'{"n":11}')]) == 11
    assert await journal.append("b", [Entry(b"{}")]) == 1
    await heard.of("a", 11)
    await heard.of("b", 1)
    assert journal.trouble is None
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    assert await seqs(other) == [*kept, 11]
    gap = (await other.read_after("a", BEGINNING)).gap
    assert gap == (None if kept else Gap(1, 10))
    await other.close()


async def test_events_that_are_gone_from_the_middle_are_a_gap_and_counted(journal: RedisJournal) -> None:
    redis = journal._server._redis
    await redis.xdel("turnwire:log:a", "4-0", "5-0", "10-0")
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    gaps, got, cursor = list[Gap](), list[int](), BEGINNING
    while cursor.seq < 10:
        page = await other.read_after("a", cursor)
        gaps += [page.gap] if page.gap else []
        got += [e.seq for e in page.envelopes]
        cursor = page.cursor
    assert (gaps, got) == ([Gap(4, 5), Gap(10, 10)], [1, 2, 3, 6, 7, 8, 9])
    assert other.damaged == 3
    await other.close()


@pytest.mark.parametrize("retention", [KEEP_ALL, Retention(max_count=5), Retention(max_age_s=10)])
async def test_retention_of_a_log_whose_events_are_gone_keeps_the_server_no_longer_than_any_other(
    journal: RedisJournal, retention: Retention
) -> None:
    redis = journal._server._redis
    await redis.delete("turnwire:log:a")
    await redis.hset("turnwire:state:a", "last", "900000000000")
    other = await RedisJournal.open(f"unix://{journal._server.name}", retention)
    async with asyncio.timeout(60):
        await other.retain()
    kept = {log.session: (log.first, log.last) for log in await other.logs()}
    assert kept == {"a": (900000000000 - 4 if retention.max_count else 1, 900000000000)}
    await other.close()


async def test_entries_that_are_no_event_of_ours_are_a_gap_and_counted(journal: RedisJournal) -> None:
    redis: Any = journal._server._redis  # the library's types want more than it takes
    wrong: list[dict[str, bytes]] = [
        {"e": b"\xff\xfe"}, {"e": b""}, {"e": b'{"type":'}, {"e": b"[]"}, {"t": b"9" * 30}, {"t": b"soon"}, {"e_": b"{}"},
    ]  # fmt: skip
    await redis.delete("turnwire:log:a")
    for number, fields in enumerate(wrong, 1):
        given = {"t": b"1", "s": b"2"} | ({} if "e_" in fields else {"e": b"{}"}) | fields
        await redis.xadd("turnwire:log:a", given, id=f"{number}-0")
    await redis.xadd("turnwire:log:a", {"t": "1", "s": "2", "e": "{}"}, id="10-0")
    await redis.hset("turnwire:beside:a", "10w", b"+\xff")
    page = await journal.read_after("a", BEGINNING)  # of the end that is remembered
    assert page.gap is None
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    page = await other.read_after("a", BEGINNING)
    assert (page.gap, [e.seq for e in page.envelopes]) == (Gap(1, 9), [10])
    assert other.damaged == 9
    assert await other.whole("a", 10) is None
    assert await other.whole("a", 1) is None
    await other.close()


@pytest.mark.parametrize(
    "state",
    [
        {"last": "9" * 18}, {"last": "-1"}, {"first": "12"}, {"size": "nan"}, {"size": "1e3"}, {"micros": "9" * 17}, {"owner": "worker", "fence": "many"},
    ],
)  # fmt: skip
async def test_a_state_that_no_log_of_ours_has_costs_its_session_alone(
    journal: RedisJournal, state: dict[str, str]
) -> None:
    redis: Any = journal._server._redis  # the library's types want more than it takes
    await redis.hset("turnwire:state:a", mapping=state)
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    worker = await RedisJournal.open(f"unix://{journal._server.name}", owner="worker")
    await fill(other, "b", 1)
    await fill(worker, "c", 1)
    if "owner" in state:
        with pytest.raises(JournalUnavailable, match="the log of session 'a' cannot be read"):
            await worker.ownership("a")
    else:
        assert await worker.ownership("a") is None
        assert other.last("a") == 0
    with pytest.raises(LogUnreadable, match="others have been at its keys"):
        await worker.claim("a")
    # who knows where the log ends goes on behind that
    if "owner" not in state:
        assert await journal.append("a", [Entry(b"{}")]) == 11
        await journal.flush()
        assert (await seqs(journal))[-1] == 11
    await worker.close()
    await other.close()


async def spoil(redis: Any, key: str) -> None:
    await redis.delete(key)
    await redis.set(key, "a string")


@pytest.mark.parametrize("spoilt", ["state", "state and log", "numbers"])
async def test_a_log_whose_state_others_have_spoilt_can_be_deleted_and_its_numbers_are_not_given_again(
    forgetful: RedisProcess, journal: RedisJournal, spoilt: str
) -> None:
    redis: Any = journal._server._redis
    if spoilt == "numbers":
        await redis.hset("turnwire:state:a", mapping={"last": "x"})
    else:
        await spoil(redis, "turnwire:state:a")
    if spoilt == "state and log":
        await spoil(redis, "turnwire:log:a")
    begun = await RedisJournal.open(forgetful.url)
    assert begun.last("a") == 0
    await begun.delete("a")
    known = 0 if spoilt == "state and log" else 10
    assert not await redis.exists("turnwire:log:a", "turnwire:beside:a")
    assert await begun.logs() == []
    assert await begun.append("a", [Entry(b"{}")]) == known + 1
    await begun.flush()
    assert await seqs(begun) == [known + 1]
    # as one does who has known it all along
    await spoil(redis, "turnwire:state:a")
    await journal.delete("a")
    assert await journal.append("a", [Entry(b"{}")]) > 10
    await journal.flush()
    await until(lambda: begun.last("a") > 10)
    await begun.close()
    again = await RedisJournal.open(forgetful.url)
    assert not again._server.unreadable
    await again.close()


async def test_a_spoilt_log_of_a_fleet_is_deleted_by_its_owner_or_when_that_is_gone(
    forgetful: RedisProcess, journal: RedisJournal
) -> None:
    redis: Any = journal._server._redis
    worker = await RedisJournal.open(forgetful.url, owner="worker")
    reader = await RedisJournal.open(forgetful.url, reads_only=True)
    for name in ("other's", "own", "gone"):
        await worker.append(name, [Entry(b"{}")])
    await worker.flush()
    await redis.hset("turnwire:state:other's", mapping={"owner": "other", "last": "x"})
    with pytest.raises(JournalUnavailable, match="log of other in its life 1"):
        await worker.delete("other's")
    for name in ("own", "gone"):
        await spoil(redis, f"turnwire:state:{name}")
        assert await reader.ownership(name) is None
    await worker.delete("own")
    assert await reader.ownership("own") == Ownership("worker", 1)
    assert await reader.delete_from("gone", Ownership("worker", 1)) == 2
    assert await reader.ownership("gone") == Ownership(NOBODY, 2)
    assert not await redis.exists("turnwire:log:own", "turnwire:log:gone")
    await worker.close()
    await reader.close()


async def test_a_refusal_that_quotes_a_word_of_the_server_is_still_about_its_session(
    journal: RedisJournal,
) -> None:
    await journal._server._redis.hset("turnwire:state:a", mapping={"owner": "BUSY OOM", "fence": "1"})
    await journal.append("a", [Entry(b"{}")])
    assert "BUSY OOM" in await fails(journal)
    assert journal.trouble is None
    await journal.append("b", [Entry(b"{}")])
    await journal.flush()


class _Swallowing:
    """A subscription that takes a cancellation for its own affair, as the library's does while it connects."""

    def __init__(self) -> None:
        self.connecting = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def subscribe(self, *_: str) -> None:
        self.connecting.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async def get_message(self, **_: object) -> None:
        await asyncio.Event().wait()


async def test_a_cancellation_while_the_listener_connects_is_heeded(
    journal: RedisJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription = _Swallowing()
    monkeypatch.setattr(redis_library.Redis, "pubsub", lambda _: subscription)
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    assert other._listening is not None
    await subscription.connecting.wait()
    other._listening.cancel()
    done, _ = await asyncio.wait([other._listening], timeout=60)
    assert done
    await other.close()


async def test_a_lost_connection_is_made_anew_once_also_where_channels_change_meanwhile(
    forgetful: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, may_open, asked = asyncio.open_unix_connection, asyncio.Event(), asyncio.Event()

    async def open_later(*args: Any, **options: Any) -> Any:
        asked.set()
        await may_open.wait()
        return await opened(*args, **options)

    connection = connect(forgetful.url)
    subscriber = Subscriber(connection)
    async with redis_library.Redis.from_url(forgetful.url) as client:
        async with TaskOwner() as tasks:
            running = tasks.begin("the subscriber", subscriber.run())
            subscriber.subscription("one")
            await until(lambda: "one" in subscriber.heard)
            await client.ping()
            monkeypatch.setattr(asyncio, "open_unix_connection", open_later)
            await client.client_kill_filter(_type="pubsub")
            await asked.wait()
            subscriber.subscription("two")
            for _ in range(20):
                await asyncio.sleep(0)
            may_open.set()
            await until(lambda: "two" in subscriber.heard)
            running.cancel()
        await connection.close()
        async with asyncio.timeout(60):  # the server takes note of a closed socket in its own time
            while len(await client.client_list()) > 1:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.005)


async def test_a_session_whose_keys_are_something_else_is_refused_and_the_others_go_on(
    journal: RedisJournal, caplog: pytest.LogCaptureFixture
) -> None:
    redis = journal._server._redis
    await redis.delete("turnwire:state:a")
    await redis.set("turnwire:state:a", "a string")
    heard = Heard(journal)
    await journal.append("a", [Entry(b"{}")])
    await journal.append("b", [Entry(b"{}")])
    with pytest.raises(JournalUnavailable, match="WRONGTYPE"):
        await journal.flush()
    await heard.of("b", 1)
    assert journal.trouble is None
    assert "events are lost" in caplog.text
    with pytest.raises(JournalUnavailable, match="WRONGTYPE"):
        await journal.append("a", [Entry(b"{}")])
    # nor does it keep a sidecar from starting
    other = await RedisJournal.open(f"unix://{journal._server.name}")
    assert other.last("b") == 1
    await other.close()


async def test_garbage_on_the_channel_and_among_the_names_is_passed_over(
    forgetful: RedisProcess, journal: RedisJournal, caplog: pytest.LogCaptureFixture
) -> None:
    redis = journal._server._redis
    await redis.sadd("turnwire:sessions", b"\xff\xfe", "nobody", "odd")
    await redis.hset("turnwire:state:odd", mapping={"last": "many"})
    other = await RedisJournal.open(forgetful.url)
    heard = Heard(journal)
    for garbage in (
        b"",
        b"x",
        b"\xff\xfe\x00",
        b"no-writer s",
        b" " * 40,
        b"f" * 32 + b" odd",
        b"f" * 32 + b" none",
        b"f" * 32 + b" 5 1 0 0 ends before it begins",
    ):
        await redis.publish("turnwire:news", garbage)
    await other.append("b", [Entry(b"{}")])
    await heard.of("b", 1)
    assert journal.trouble is None
    assert [log.session for log in await journal.logs()] == ["a", "b"]
    assert "another program published" in caplog.text
    assert "the state of a session's log cannot be read" in caplog.text
    await other.close()


async def test_a_listener_that_lost_its_connection_says_so_and_comes_back(
    durable: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = await RedisJournal.open(durable.url)
    changed = asyncio.Event()
    journal.watch_trouble(changed.set)

    async def reaches(troubled: bool) -> None:
        async with asyncio.timeout(30):
            while (journal.trouble is not None) is not troubled:
                changed.clear()
                await changed.wait()

    durable.kill()
    await reaches(True)
    assert "is not heard" in str(journal.trouble)
    durable.start()
    await reaches(False)
    other = await RedisJournal.open(durable.url)
    heard = Heard(journal)
    await other.append("a", [Entry(b"{}")])
    await heard.of("a", 1)
    await other.close()
    await journal.close()


async def test_a_listener_that_fails_for_a_reason_of_ours_comes_back_too(
    forgetful: RedisProcess, journal: RedisJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_over, failures = journal._take_over, 0

    def failing(states: Mapping[str, LogState]) -> None:
        nonlocal failures
        if failures < 3:
            failures += 1
            raise AttributeError("broken on purpose")
        take_over(states)

    monkeypatch.setattr(journal, "_take_over", failing)
    other = await RedisJournal.open(forgetful.url)
    heard = Heard(journal)
    await other.append("b", [Entry(b"{}")])
    await heard.of("b", 1)
    assert failures == 3
    await until(lambda: journal.trouble is None)
    await other.close()


async def test_a_restart_that_may_have_lost_the_last_events_begins_another_epoch(
    started: Callable[..., RedisProcess],
) -> None:
    server = started("--appendonly", "yes", "--appendfsync", "everysec")
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
    # Redis keeps back what it writes, for two seconds at most, while the disk has not taken what came before.
    assert await seqs(other) in ([1], [])
    await other.close()


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
    other._logs.get_or_add("a").accepted = 11
    await other.append("a", [Entry(b"{}")])
    assert "another sidecar writes the same session" in await fails(other)
    await other.close()
    assert await seqs(journal) == list(range(1, 13))


async def test_a_server_without_memory_left_is_trouble_that_passes(journal: RedisJournal) -> None:
    redis = journal._server._redis
    await redis.config_set("maxmemory", "1")
    with pytest.raises(JournalUnavailable, match="used memory > 'maxmemory'"):
        await journal.check()
    assert await journal.append("a", [Entry(b"{}")]) == 11
    assert "used memory > 'maxmemory'" in await fails(journal)
    assert not journal.is_full, "what waits has room"
    with pytest.raises(JournalUnavailable, match="is full"):
        await journal.check()
    heard = Heard(journal)
    await redis.config_set("maxmemory", "0")
    await heard.of("a", 11)
    assert await seqs(journal) == list(range(1, 12))


async def test_a_server_that_cannot_save_is_trouble_that_passes_and_costs_no_event(
    started: Callable[..., RedisProcess], tmp_path: Path
) -> None:
    place = tmp_path / "saved"
    place.mkdir()
    server = started("--dir", str(place), "--save", "3600 1", "--appendonly", "no")
    async with redis_library.Redis.from_url(server.url) as client:

        async def saved(status: str) -> None:
            await client.bgsave()
            async with asyncio.timeout(60):
                while (await client.info("persistence"))["rdb_last_bgsave_status"] != status:  # noqa: ASYNC110 - Redis tells nobody
                    await asyncio.sleep(0.02)

        journal = await RedisJournal.open(server.url)
        assert await journal.append("a", [Entry(b"{}")]) == 1
        await journal.flush()
        place.rmdir()
        await saved("err")
        await until(lambda: "MISCONF" in str(journal.trouble))
        assert await journal.append("a", [Entry(b"{}")]) == 2
        assert "MISCONF" in await fails(journal)
        await client.config_set("stop-writes-on-bgsave-error", "no")
        await until(lambda: journal.trouble is None)
        await journal.flush()
        assert await seqs(journal) == [1, 2]
        await journal.close()


@pytest.mark.parametrize("reads_only", [False, True])
async def test_a_server_that_stands_still_or_fails_is_told_and_its_return_too_while_nobody_writes(
    forgetful: RedisProcess, reads_only: bool
) -> None:
    journal = await RedisJournal.open(f"{forgetful.url}?socket_timeout=0.2", reads_only=reads_only)
    assert journal.trouble is None
    os.kill(forgetful.pid, signal.SIGSTOP)
    try:
        await until(lambda: "Timeout" in str(journal.trouble))
    finally:
        os.kill(forgetful.pid, signal.SIGCONT)
    await until(lambda: journal.trouble is None)
    forgetful.kill()
    await until(lambda: "cannot be used" in str(journal.trouble))
    # what the sweep tells of is over like all else
    await journal._sweep()
    forgetful.start()
    await until(lambda: journal.trouble is None)
    if not reads_only:
        await journal.check()
    await journal.close()


async def test_a_server_that_would_take_nothing_is_told_before_anybody_writes(journal: RedisJournal) -> None:
    redis = journal._server._redis
    before = sorted(await redis.keys("*"))
    await redis.config_set("maxmemory", "1")
    await until(lambda: "is full" in str(journal.trouble))
    await redis.config_set("maxmemory", "0")
    await until(lambda: journal.trouble is None)
    assert sorted(await redis.keys("*")) == before, "asking writes nothing"


async def test_a_server_that_evicts_is_refused(started: Callable[..., RedisProcess]) -> None:
    server = started("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    with pytest.raises(JournalUnavailable, match="noeviction"):
        await RedisJournal.open(server.url)


@asynccontextmanager
async def two_workers(server: RedisProcess) -> AsyncIterator[tuple[RedisJournal, RedisJournal]]:
    """The journals of two workers. The log `a` has one event, of the first."""
    first = await RedisJournal.open(server.url, owner="first")
    second = await RedisJournal.open(server.url, owner="second")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(first.close)
        stack.push_async_callback(second.close)
        await first.append("a", [Entry(b'{"n":1}')])
        await first.flush()
        yield first, second


async def test_a_worker_s_log_takes_nothing_of_another_worker_nor_of_an_earlier_life(
    durable: RedisProcess,
) -> None:
    async with two_workers(durable) as (first, second):
        was = await second.ownership("a")
        assert was == Ownership("first", 1)
        assert not await second.claim("a"), "it is another's, which was not named"
        assert await first.claim("a"), "a new life of its owner"
        assert not await second.claim("a", was), "it was looked at before its owner came back"
        assert await second.claim("a", await second.ownership("a"))
        assert second.last("a") == 1
        await first.append("a", [Entry(b'{"n":"lost"}')])
        with pytest.raises(JournalUnavailable, match="no more of this worker's"):
            await first.flush()
        assert "second" in str(first.refusal("a"))
        await first.append("b", [Entry(b'{"n":"another session"}')])
        await first.flush()
        await second.append("a", [Entry(b'{"n":2}')])
        await second.flush()
        assert await seqs(first, "b") == [1], "other sessions go on"
        assert [e.event for e in (await second.read_after("a", BEGINNING)).envelopes] == [
            b'{"n":1}',
            b'{"n":2}',
        ]
        with pytest.raises(JournalUnavailable, match="no more of this worker's"):
            await first.delete("a")


async def test_a_log_that_was_taken_back_takes_what_is_new_and_nothing_of_its_earlier_life(
    durable: RedisProcess,
) -> None:
    async with two_workers(durable) as (first, second):
        assert await second.claim("a", await second.ownership("a"))
        # Of this the writer has not sent anything when the log is taken back: the log ends where it says.
        await first.append("a", [Entry(b'{"n":"lost"}')])
        assert await first.claim("a", await second.ownership("a"))
        assert (first.refusal("a"), first.has_refused("a")) == (None, False)
        await first.append("a", [Entry(b'{"n":2}')])
        await first.flush()
        assert [e.event for e in (await first.read_after("a", BEGINNING)).envelopes] == [
            b'{"n":1}',
            b'{"n":2}',
        ]
        assert await second.claim("a", await second.ownership("a"))
        await first.append("a", [Entry(b"{}")])
        durable.kill()
        with pytest.raises(JournalUnavailable, match="cannot be used"):
            await first.claim("a", Ownership("second", 4))
        durable.start()


async def test_the_log_of_an_owner_that_is_gone_is_deleted_by_a_reader_and_is_nobody_s_from_then_on(
    durable: RedisProcess,
) -> None:
    owner = await RedisJournal.open(durable.url, owner="first")
    heir = await RedisJournal.open(durable.url, owner="second")
    hub = await RedisJournal.open(durable.url, reads_only=True)
    async with AsyncExitStack() as stack:
        for journal in (owner, heir, hub):
            stack.push_async_callback(journal.close)
        await owner.append("a", [Entry(b'{"n":"secret"}', b"{}", b"raw")] * 3)
        await owner.flush()
        await Heard(hub).of("a", 3)
        was = Ownership("first", 1)
        assert not await hub.delete_from("a", Ownership("first", 2)), "it has begun another life"
        assert await hub.delete_from("a", was) == 2
        assert await hub.delete_from("a", was) == 2, "again, where the first answer was lost"
        assert await seqs(hub) == []
        assert await hub.whole("a", 1) is None
        assert await hub.ownership("a") == Ownership(NOBODY, 2)
        await owner.append("a", [Entry(b'{"n":"late"}')])
        with pytest.raises(JournalUnavailable, match="no more of this worker's"):
            await owner.flush()
        assert not await owner.claim("a")
        assert not await heir.claim("a", was)
        assert await hub.delete_from("never written", was) == 2


async def test_one_that_only_reads_hears_of_what_workers_append(durable: RedisProcess) -> None:
    writer = await RedisJournal.open(durable.url, owner="worker")
    reader = await RedisJournal.open(durable.url, reads_only=True)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(writer.close)
        stack.push_async_callback(reader.close)
        heard = Heard(reader)
        await writer.append("a", [Entry(b"{}")] * 3)
        await heard.of("a", 3)
        assert await seqs(reader) == [1, 2, 3]
        assert reader.epoch == writer.epoch


@pytest.mark.parametrize(
    "is_heard", [True, False], ids=["heard as it goes on", "heard once it went on beyond"]
)
async def test_who_only_reads_begins_anew_where_the_server_lost_what_was_read_and_its_worker_goes_on_before_that(
    folder: Path, *, is_heard: bool
) -> None:
    """A worker in its next life numbers again what the server has lost: by no number a reader could tell."""
    server = RedisProcess(folder)
    server.start()
    worker = await RedisJournal.open(server.url, owner="w")
    readers = [await RedisJournal.open(server.url, reads_only=True) for _ in range(2)]
    try:
        for session in ("a", "gone"):
            await worker.append(session, [Entry(b'{"n":"lost"}')] * 5)
        await worker.flush()
        for reader in readers:
            await until(lambda reader=reader: reader.last("a") == reader.last("gone") == 5)  # type: ignore[misc]  # bound here
        epoch = readers[0].epoch
        if is_heard:
            # as a node of a cluster that is not the one that is listened to
            async with redis_library.Redis.from_url(server.url) as client:
                await client.delete(*await client.keys("turnwire:*:*"))
        else:
            server.kill()
            server.start()
        again = await RedisJournal.open(server.url, owner="w")
        await again.append("a", [Entry(b'{"n":"new"}')] * (3 if is_heard else 8))
        await again.flush()
        await again.close()
        for reader in readers:
            await until(lambda reader=reader: reader.epoch != epoch)  # type: ignore[misc]  # bound here
            await until(lambda reader=reader: reader.last("a"))  # type: ignore[misc]  # bound here
            page = await reader.read_after("a", Cursor(epoch, 2))
            assert page.gap == Gap(1, 2)
            assert {envelope.event for envelope in page.envelopes} == {b'{"n":"new"}'}
            assert page.envelopes[0].seq == 1
            assert reader.last("gone") == 0
        assert len({reader.epoch for reader in readers}) == 1, "a cursor of one is one of the others"
    finally:
        for reader in readers:
            await reader.close()
        with contextlib.suppress(JournalUnavailable):
            await worker.close()
        server.kill()


@pytest.mark.parametrize(
    ("retention", "read"), [(Retention(), []), (Retention(max_age_s=86400, max_bytes=1 << 30), ["1"])]
)
async def test_an_append_reads_one_event_at_most_while_retention_takes_none(
    forgetful: RedisProcess, retention: Retention, read: list[str]
) -> None:
    journal = await RedisJournal.open(forgetful.url, retention)
    await journal.append("a", [Entry(b"{}")] * 100)
    await journal.flush()
    async with redis_library.from_url(forgetful.url) as client, client.monitor() as monitor:
        await journal.append("a", [Entry(b"{}")])
        await journal.flush()
        await client.echo("enough")
        commands: list[str] = []
        async for told in monitor.listen():
            commands.append(told["command"])
            if commands[-1] == "ECHO enough":
                break
    await journal.close()
    assert [command.split()[-1] for command in commands if command.startswith("XRANGE")] == read
    assert any(command.startswith("XADD") for command in commands)


async def test_each_question_that_a_server_does_not_answer_is_a_sentence_and_what_was_not_written_is_told(
    forgetful: RedisProcess, journal: RedisJournal
) -> None:
    reader = await RedisJournal.open(forgetful.url, reads_only=True)
    own = await RedisJournal.open(forgetful.url)
    epoch = reader.epoch
    forgetful.kill()
    for asked in (
        reader.read_after("a", BEGINNING),
        reader.read_after("a", Cursor(epoch, 11)),
        reader.whole("a", 1),
        reader.ownership("a"),
        reader.claim("a"),
        reader.delete_from("a", Ownership("first", 1)),
        own.delete("a"),
        own.retain(),
        own.check(),
    ):
        with pytest.raises(JournalUnavailable, match="cannot be used"):
            await asked
    await own._sweep()
    assert "cannot be used" in str(own.trouble)
    await own.append("a", [Entry(b"{}")] * 3)
    with pytest.raises(JournalUnavailable, match="Closed with 3 events unwritten"):
        await own.close()
    await reader.close()
    forgetful.start()


async def test_events_that_cannot_be_sent_at_all_cost_their_own_session_alone(
    journal: RedisJournal, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard(journal)
    for session in ("b", "no \udcff UTF-8", "c"):
        await journal.append(session, [Entry(b"{}")])
    with pytest.raises(JournalUnavailable, match="cannot be sent"):
        await journal.flush()
    await heard.of("b", 1)
    await heard.of("c", 1)
    assert "events are lost" in caplog.text
    assert journal.trouble is None
    assert "cannot be sent" in str(journal.refusal("no \udcff UTF-8"))


async def test_keys_that_others_have_been_at_refuse_what_needs_them_and_nothing_else(
    forgetful: RedisProcess, journal: RedisJournal
) -> None:
    redis = journal._server._redis
    # an event that is none, in a log of its own
    await redis.xadd("turnwire:log:odd", {"x": "y"}, id="1-0")
    await redis.hset("turnwire:state:odd", mapping={"first": 1, "last": 1, "size": 1, "micros": 1})
    await redis.sadd("turnwire:sessions", "odd")
    other = await RedisJournal.open(forgetful.url, owner="w")
    reader = await RedisJournal.open(forgetful.url, reads_only=True)
    page = await reader.read_after("odd", BEGINNING)
    assert (page.envelopes, page.gap, reader.damaged) == ([], Gap(1, 1), 1)
    await redis.set("turnwire:state:b", "a string")
    with pytest.raises(LogUnreadable, match="cannot be read"):
        await other.claim("b")
    assert await reader.delete_from("b", Ownership("w", 1)) == 2
    await redis.set("turnwire:state:odd", "a string")
    await reader.retain()
    await redis.delete("turnwire:sessions")
    await redis.set("turnwire:sessions", "a string")
    await journal.append("a", [Entry(b"{}")])
    with pytest.raises(JournalUnavailable, match="WRONGTYPE"):
        await journal.flush()
    await other.close()
    await reader.close()


@pytest.mark.long
async def test_what_replicas_are_to_have_counts_once_they_have_it(folder: Path) -> None:
    ports = free_ports(2)
    primary, replica = (Node(folder / str(port), port) for port in ports)
    async with running(primary, replica), AsyncExitStack() as stack:
        journal = await RedisJournal.open(f"redis://127.0.0.1:{primary.port}", replicas=1)
        stack.push_async_callback(journal.close)
        reader = await RedisJournal.open(f"redis://127.0.0.1:{primary.port}", replicas=1, reads_only=True)
        stack.push_async_callback(reader.close)
        heard = Heard(reader)
        await journal.append("a", [Entry(b"{}")] * 2)
        assert "0 of the 1 replicas (redis_replicas) have the newest events" in await fails(journal)
        assert (journal.last("a"), reader.last("a")) == (0, 0)
        assert await primary.ask("XLEN", "turnwire:log:a") == 2, "it waits for a copy alone"
        await replica.ask("REPLICAOF", "127.0.0.1", str(primary.port))
        await heard.of("a", 2)
        assert await seqs(reader) == [1, 2]
        await until(lambda: journal.trouble is None)
        await journal.append("a", [Entry(b"{}")])
        await heard.of("a", 3)
        assert await replica.ask("XLEN", "turnwire:log:a") == 3


async def test_a_node_of_a_cluster_is_told_of_itself_and_is_no_server_alone(folder: Path) -> None:
    port, bus = free_ports(2)
    node = Node(
        folder, port, "--cluster-enabled", "yes", "--cluster-port", str(bus), "--appendonly", "yes",
        "--appendfsync", "always",
    )  # fmt: skip
    async with running(node):
        await node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        with pytest.raises(JournalUnavailable, match=r"redis\+cluster://"):
            await RedisJournal.open(f"redis://127.0.0.1:{port}")
        connection = connect(f"redis+cluster://127.0.0.1:{port}")
        try:
            (about,) = await connection.about()
            assert about["cluster_enabled"]
            assert await connection.always_synced()
            assert [home.port for home in connection.homes(["a", "b"]) if home is not None] == [port]
            assert connection.tagged("a") == "{a}"
            with pytest.raises(ValueError, match="no transaction"):
                connection.redis.pipeline(transaction=True)
        finally:
            await connection.close()


async def test_a_server_that_does_not_tell_how_it_writes_is_taken_for_one_that_may_lose(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisProcess(folder, "--rename-command", "CONFIG", "")
    server.start()
    try:
        journal = await RedisJournal.open(server.url)
        assert "may lose the newest events" in caplog.text
        await journal.close()
    finally:
        server.kill()


async def test_that_a_server_may_lose_events_is_logged_once_however_often_it_is_reached_again(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisProcess(folder)
    server.start()
    hub = await RedisJournal.open(server.url, reads_only=True)
    try:
        for _ in range(2):
            before = hub.epoch
            server.kill()
            server.start()
            await until(lambda before=before: hub.epoch != before)  # type: ignore[misc]  # bound here
    finally:
        await hub.close()
        server.kill()
    said = [one.message for one in caplog.records if "may lose the newest events" in one.message]
    assert len(said) == 1


async def test_a_script_goes_to_the_server_once_and_again_when_that_has_forgotten_it(
    forgetful: RedisProcess,
) -> None:
    entry = Entry(b'{"type":"notice","text":"%s"}' % (b"x" * 250))
    writer = await RedisJournal.open(forgetful.url, owner="a")
    async with redis_library.Redis.from_url(forgetful.url) as client:

        async def sent(count: int) -> int:
            before = (await client.info("stats"))["total_net_input_bytes"]
            for _ in range(count):
                await writer.append("s", [entry])
                await writer.flush()
            return int((await client.info("stats"))["total_net_input_bytes"] - before)

        try:
            await sent(1)
            assert await sent(10) < 10 * 1024, "the event, its state, and no script"
            await client.script_flush()
            for session in ("s", "t", "s"):
                await writer.append(session, [entry])
            await writer.flush()
            assert (writer.last("s"), writer.last("t")) == (13, 1)
            assert await sent(10) < 10 * 1024
            assert [one.seq for one in (await writer.read_after("s", BEGINNING)).envelopes] == list(
                range(1, 24)
            )
        finally:
            await writer.close()


async def test_a_user_that_may_run_no_script_by_its_digest_runs_it_in_full(forgetful: RedisProcess) -> None:
    async with redis_library.Redis.from_url(forgetful.url) as client:
        await client.execute_command("ACL", "SETUSER", "old", "on", ">word", "~*", "&*", "+@all", "-evalsha")  # type: ignore[no-untyped-call]  # as the library has it
    writer = await RedisJournal.open(forgetful.url.replace("unix://", "unix://old:word@"), owner="a")
    try:
        await writer.append("s", [Entry(b"{}")] * 2)
        await writer.flush()
        assert await writer.claim("s")
        assert writer.last("s") == 2
    finally:
        await writer.close()


async def test_a_hub_hears_at_once_of_what_it_follows_and_within_a_second_of_the_rest(
    durable: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = asyncio.Event()
    told = RedisServer.tell

    async def when_told(server: RedisServer) -> None:
        if tell.is_set():
            await told(server)

    monkeypatch.setattr(RedisServer, "tell", when_told)
    writer = await RedisJournal.open(durable.url, owner="w")
    hub = await RedisJournal.open(durable.url, reads_only=True)
    try:
        await writer.append("followed", [Entry(b'{"n":1}')])
        await writer.append("other", [Entry(b'{"n":1}')])
        await writer.flush()
        heard = Heard(hub)
        unfollow = hub.follow("followed")
        again = hub.follow("followed")
        await heard.of("followed", 1)
        await until(lambda: "followed" in hub._at_once)
        await writer.append("other", [Entry(b'{"n":2}')])
        await writer.append("followed", [Entry(b'{"n":2}')])
        await heard.of("followed", 2)
        assert hub.last("other") < 2, "it was not told yet"
        # Who reads it sees all the same what the server has.
        page = await hub.read_after("other", Cursor(hub.epoch, 0))
        assert ([one.seq for one in page.envelopes], page.last) == ([1, 2], 2)
        # A connection that ends is made again for all of it.
        async with redis_library.Redis.from_url(durable.url) as client:
            await client.client_kill_filter(_type="pubsub")
            await writer.append("followed", [Entry(b'{"n":3}')])
            await heard.of("followed", 3)
            await until(lambda: "followed" in hub._at_once)
            monkeypatch.setattr("turnwire.journal.redis.journal.FOLLOW_S", 0)
            unfollow()
            again()
            await until(lambda: "followed" not in hub._at_once)
            channels: list[bytes | str] = []
            while channels != [b"turnwire:news"]:
                channels = await client.pubsub_channels("turnwire:*")
        await writer.append("followed", [Entry(b'{"n":4}')])
        await writer.append("other", [Entry(b'{"n":3}')])
        await writer.flush()
        tell.set()
        await heard.of("other", 3)
        await heard.of("followed", 4)
    finally:
        await writer.close()
        await hub.close()


async def test_what_could_not_be_told_is_told_later(
    durable: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwire.journal.redis.journal.TELL_S", 0.01)
    writer = await RedisJournal.open(durable.url, owner="w")
    hub = await RedisJournal.open(durable.url, reads_only=True)
    failures = [RedisError("away"), RedisError("away")]
    told = RedisServer.tell

    async def fails_first(server: RedisServer) -> None:
        if server._untold and failures:
            raise failures.pop()
        await told(server)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(RedisServer, "tell", fails_first)
            heard = Heard(hub)
            await writer.append("s", [Entry(b"{}")])
            await heard.of("s", 1)
            await until(lambda: not failures)

        async def refused(*_: object) -> None:
            raise RedisError("the connection is gone")

        with monkeypatch.context() as patched:
            patched.setattr("redis.asyncio.client.PubSub.subscribe", refused)
            hub.follow("s")
            await until(lambda: hub.trouble is not None)
        hub.follow("t")
        await until(lambda: hub._at_once == {"s", "t"})
    finally:
        await writer.close()
        await hub.close()


async def test_hubs_are_told_once_of_what_goes_to_the_server_together(forgetful: RedisProcess) -> None:
    writer = await RedisJournal.open(forgetful.url)
    async with redis_library.Redis.from_url(forgetful.url) as client, client.pubsub() as channel:
        try:
            await channel.subscribe("turnwire:news:s", "turnwire:news:t")
            for _ in range(2):
                await channel.get_message(timeout=60)
            await client.set("turnwire:state:spoilt", "of another program")
            for session in ("s", "t", "s", "spoilt", "s"):
                await writer.append(session, [Entry(b"{}")])
            with pytest.raises(JournalUnavailable, match="WRONGTYPE"):
                await writer.flush()
            told: list[tuple[str, int]] = []
            while not {("s", 3), ("t", 1)} <= set(told):
                message = await channel.get_message(ignore_subscribe_messages=True, timeout=60)
                assert message is not None
                _, _, last, _, _, session = message["data"].split(b" ")
                told.append((session.decode(), int(last)))
            assert ("s", 1) not in told, "it went together with a later one"
        finally:
            await writer.close()
