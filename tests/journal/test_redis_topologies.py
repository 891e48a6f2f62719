"""The journal in Redis as it is run: a cluster, a primary that fails over, TLS, a user with the rights that are documented."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from ports import free_ports
from redis_topologies import DEADLINE, Node, cluster, replicated, running

from recordings import ROOT
from turnwire.journal.base import Entry, JournalUnavailable, Retention
from turnwire.journal.redis.connection import connect
from turnwire.journal.redis.journal import RedisJournal
from turnwire.normalize.events.envelope import Cursor
from waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]

BEGINNING = Cursor("", 0)


@pytest.fixture
async def folder() -> AsyncIterator[Path]:
    with TemporaryDirectory(prefix="redis-") as name:
        yield Path(name)


async def texts(journal: RedisJournal, session: str) -> list[bytes]:
    """All events of a log, page by page; a gap is a failure."""
    found: list[bytes] = []
    cursor = Cursor(journal.epoch, 0)
    while cursor.seq < journal.last(session):
        page = await journal.read_after(session, cursor)
        assert page.gap is None
        found += [one.event for one in page.envelopes]
        cursor = page.cursor
    return found


async def test_a_session_of_a_cluster_is_in_one_slot_and_all_that_was_seen_survives_a_node(
    folder: Path,
) -> None:
    async with cluster(folder) as nodes:
        url = f"redis+cluster://127.0.0.1:1,127.0.0.1:{nodes[1].port},127.0.0.1:{nodes[2].port}"
        journal = await RedisJournal.open(url, Retention(max_count=200))
        other = await RedisJournal.open(url)
        sessions = [f"s-{number}" for number in range(12)]
        for number in range(5):
            for session in sessions:
                await journal.append(session, [Entry(b'{"n":%d}' % number, b"{}", b"raw")])
        await journal.flush()
        sizes = [len(await node.ask("KEYS", "turnwire:log:*")) for node in nodes]
        assert sum(sizes) == 12
        assert all(sizes), "sessions are spread over the nodes"
        await until(lambda: all(other.last(session) == 5 for session in sessions), DEADLINE)
        for session in sessions:
            assert await texts(other, session) == [b'{"n":%d}' % number for number in range(5)]
        whole = await other.whole("s-3", 2)
        assert whole is not None
        assert (whole.event, whole.raw) == (b"{}", b"raw")
        # a node goes in the middle of it: what it has waits, and is there once, in order
        nodes[0].kill()
        for number in range(5, 40):
            for session in sessions:
                await journal.append(session, [Entry(b'{"n":%d}' % number)])
        await until(lambda: journal.trouble, DEADLINE)
        nodes[0].start()
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    await journal.flush()
                    break
                except JournalUnavailable:
                    await asyncio.sleep(0.1)  # it is tried again by the journal itself
        await until(lambda: all(other.last(session) == 40 for session in sessions), DEADLINE)
        for session in sessions:
            assert await texts(other, session) == [b'{"n":%d}' % number for number in range(40)]
        await journal.append("s-0", [Entry(b"{}")] * 400)
        await journal.flush()
        assert await nodes[0].ask("PING")
        assert (await journal.read_after("s-0", BEGINNING)).gap is not None
        await journal.delete("s-1")
        epoch = journal.epoch
        await journal.close()
        await other.close()
        owned = await RedisJournal.open(url, owner="w")
        assert await owned.claim("of-a-fleet"), "with its entry in the directory, in one slot"
        await owned.close()
        again = await RedisJournal.open(url)
        assert again.epoch == epoch, "all nodes have on disk what they acknowledged"
        assert {log.session for log in await again.logs()} >= set(sessions) - {"s-1"}
        await again.close()
        with pytest.raises(JournalUnavailable, match=r"redis\+cluster://"):
            await RedisJournal.open(f"redis://127.0.0.1:{nodes[0].port}")


async def test_a_failover_under_load_costs_nothing_that_a_reader_saw(folder: Path) -> None:
    async with replicated(folder) as (primary, replica, sentinel):
        url = f"redis+sentinel://127.0.0.1:1,127.0.0.1:{sentinel.port}/turnwire"
        journal = await RedisJournal.open(url, replicas=1)
        other = await RedisJournal.open(url, replicas=1)
        seen: list[bytes] = []

        async def follow() -> None:
            news = asyncio.Event()
            other.watch(lambda *_: news.set())
            cursor = Cursor(other.epoch, 0)
            while len(seen) < 600:
                news.clear()
                while cursor.seq < other.last("a"):
                    try:
                        page = await other.read_after("a", cursor)
                    except JournalUnavailable:
                        await asyncio.sleep(0.1)  # the server is away
                        continue
                    assert page.gap is None
                    seen.extend(one.event for one in page.envelopes)
                    cursor = page.cursor
                if len(seen) < 600:
                    await news.wait()

        following = asyncio.create_task(follow())
        for number in range(300):
            await journal.append("a", [Entry(b'{"n":%d}' % number)])
            await asyncio.sleep(0)
        await until(lambda: len(seen) > 10, DEADLINE)
        primary.kill()
        before = len(seen)
        for number in range(300, 600):
            await journal.append("a", [Entry(b'{"n":%d}' % number)])
        # not sooner: an empty primary that is back before the sentinel has left it may be made the primary again
        await sentinel.until(str(replica.port).encode(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "turnwire")
        await replica.until(b"role:master", "INFO", "replication")
        # nobody has a copy yet of what the new primary has: nothing of it counts until somebody has
        await until(lambda: journal.trouble, DEADLINE)
        assert len(seen) < 600
        primary.start()
        async with asyncio.timeout(DEADLINE):  # sentinels take their time until they make it a replica
            await following
        assert before <= len(seen)
        assert seen == [b'{"n":%d}' % number for number in range(600)]
        assert await texts(other, "a") == seen
        await until(lambda: journal.trouble is None, DEADLINE)
        await journal.close()
        await other.close()


async def test_what_a_failover_may_lose_is_told_at_the_start_and_lost_with_a_gap(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with replicated(folder) as (primary, replica, sentinel):
        journal = await RedisJournal.open(f"redis+sentinel://127.0.0.1:{sentinel.port}/turnwire")
        (told,) = [row for row in caplog.records if "may lose the newest events" in row.message]
        assert "redis_replicas" in str(vars(told))
        assert "appendfsync" in str(vars(told))
        epoch = journal.epoch
        await journal.append("a", [Entry(b"{}")])
        await journal.flush()
        # what the replica does not get any more is lost with the primary
        await replica.ask("REPLICAOF", "NO", "ONE")
        await journal.append("a", [Entry(b"{}")])
        await journal.flush()
        primary.kill()
        await sentinel.until(str(replica.port).encode(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "turnwire")
        async with asyncio.timeout(DEADLINE):
            while journal.last("a") < 3:
                await journal.append("a", [Entry(b"{}")])
                try:
                    await journal.flush()
                except JournalUnavailable:
                    await until(lambda: journal.trouble is None, DEADLINE)
        assert "the server lost events of a session" in caplog.text
        await journal.close()
        again = await RedisJournal.open(f"redis+sentinel://127.0.0.1:{sentinel.port}/turnwire")
        assert again.epoch != epoch
        await again.close()


async def test_tls_is_spoken_to_who_has_the_right_certificate_alone(folder: Path) -> None:
    (port,) = free_ports(1)
    pem = str(ROOT / "tests" / "hub" / "localhost.pem")
    node = Node(
        folder, 0, "--tls-port", str(port), "--tls-cert-file", pem, "--tls-key-file", pem, "--tls-auth-clients", "no",
        "--requirepass", "secret",
    )  # fmt: skip
    node.start()
    try:
        url = f"rediss://:secret@localhost:{port}/0?ssl_ca_certs={pem}"
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    journal = await RedisJournal.open(url)
                    break
                except JournalUnavailable:
                    await asyncio.sleep(0.05)  # a process that begins tells nobody
        await journal.append("a", [Entry(b"{}")])
        await journal.flush()
        await journal.close()
        for wrong in (f"rediss://:secret@localhost:{port}/0", f"redis://:secret@localhost:{port}/0"):
            with pytest.raises(JournalUnavailable):
                await RedisJournal.open(wrong)
    finally:
        node.kill()


async def test_a_full_server_says_so_and_goes_on_when_it_has_room_again(folder: Path) -> None:
    (port,) = free_ports(1)
    node = Node(folder, port, "--maxmemory", "6mb")
    async with running(node):
        journal = await RedisJournal.open(f"redis://127.0.0.1:{port}", Retention(max_bytes=1 << 20))
        # what retention bounds is bounded: twelve times what there is room for
        for number in range(72):
            await journal.append("a", [Entry(b'{"n":"%s"}' % (b"%d" % number * 500_000)[:500_000])])
            await journal.flush()
        for number in range(64):
            await journal.append(f"b-{number}", [Entry(b'{"n":"%s"}' % (b"x" * 400_000))])
        await until(lambda: journal.trouble, DEADLINE)
        assert "is full" in str(journal.trouble)
        assert "maxmemory" in str(journal.trouble)
        await node.ask("CONFIG", "SET", "maxmemory", "100mb")
        await until(lambda: journal.trouble is None, DEADLINE)
        await journal.flush()
        assert [journal.last(f"b-{number}") for number in range(64)] == [1] * 64
        await journal.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "redis+sentinel://localhost",
        "redis+sentinel://h/name/x",
        "redis+cluster://",
        "redis+cluster://u:secret@h:port",
        "redis://u:secret@h:port",
    ],
)
def test_what_is_no_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(JournalUnavailable, match="redis_url") as refused:
        connect(url)
    assert "secret" not in str(refused.value)
