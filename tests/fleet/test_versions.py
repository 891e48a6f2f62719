"""Hubs and workers of other releases: what they have in Redis is written down here as they wrote it, and stays as it is."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fleets import ANN, CALM, Fleet, Sessions, key, prompt
from redis.asyncio import Redis

from journals import RedisProcess
from turnwire.fleet.messages import worker_of
from turnwire.journal.base import Entry
from turnwire.journal.redis.journal import RedisJournal
from turnwire.normalize.events.envelope import Cursor
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

FIRST_LEASE = (
    b'{"name":"old","version":"0.0.9","labels":["linux"],"workspaces":["/srv"],"agents":[],"group":"g","sessions":1,'
    b'"max_sessions":9,"processes":0,"max_processes":9}'
)
"""Of a worker before states, hosts and schemas."""
NEWER_LEASE = FIRST_LEASE.replace(
    b'"name":"old"', b'"name":"new","speaks":["carrier pigeon"],"moons":2'
).replace(b"0.0.9", b"9.0.0")
FIRST_ENTRY = b'{"session":"s-old","state":"idle","last_seq":0,"pending":0,"created":"2026-01-02T03:04:05.000000Z","worker":"old"}'
FIRST_ORDER = (
    b'{"id":"hub-0-1","hub":"hub-0","command":{"type":"prompt","id":"1","session":"s-mine","text":"hi"},'
    b'"frontend":{"name":"ann","role":"control"}}'
)
NEWER_ORDER = FIRST_ORDER.replace(b"hub-0-1", b"hub-0-2").replace(b'"frontend"', b'"urgent":true,"frontend"')
FIRST_APPEND = {b"t": b"1767323045000000", b"s": b"17", b"e": b'{"type":"notice"}'}


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        server.start()
        yield server
        server.kill()


async def test_workers_and_sessions_of_older_and_newer_releases_are_known_and_their_commands_done(
    redis: RedisProcess,
) -> None:
    fleet, mine = Fleet(redis.url, CALM), Sessions("m")
    mine.there = {"s-mine": 1}
    async with Redis.from_url(redis.url) as client:
        await client.execute_command("SADD", "turnwire:fleet:workers", "old", "new")  # type: ignore[no-untyped-call]  # as the library has it
        for name, lease in (("old", FIRST_LEASE), ("new", NEWER_LEASE)):
            fields = ("instance", "i", "place", "p", "about", lease)
            await client.execute_command("HSET", key(name, "lease"), *fields)  # type: ignore[no-untyped-call]  # as above
        entry = ("worker", "old", "fence", "1", "summary", FIRST_ENTRY, "group", "g", "record", "s-old")
        await client.execute_command("HSET", key("s-old", "entry"), *entry)  # type: ignore[no-untyped-call]  # as above
        await client.execute_command("SADD", "turnwire:fleet:sessions", "s-old")  # type: ignore[no-untyped-call]  # as above
        async with fleet.worker(mine, "mine") as _, fleet.hub() as hub:
            assert [one.worker for one in hub.workers()] == ["mine", "new", "old"]
            await until(lambda: {one.session for one in hub.sessions()} == {"s-old", "s-mine"})
            assert {one.session: one.state for one in hub.sessions()} == {"s-old": "idle", "s-mine": "idle"}
            for order in (FIRST_ORDER, NEWER_ORDER):
                await client.xadd(key("mine", "orders"), {"o": order})
            await until(lambda: mine.said == [("s-mine", "hi")] * 2)
            replies = await client.xread({key("hub-0", "replies"): "0"}, count=2, block=60_000)
            assert replies
            assert await hub.execute(prompt("s-mine", "again"), ANN) == {"by": "ann"}


async def test_a_log_of_an_older_release_is_read_and_goes_on(redis: RedisProcess) -> None:
    async with Redis.from_url(redis.url) as client:
        await client.execute_command("SADD", "turnwire:sessions", "s")  # type: ignore[no-untyped-call]  # as above
        await client.xadd("turnwire:log:s", FIRST_APPEND, id="1-0")  # type: ignore[arg-type]  # fields are bytes here
        state = (
            "first",
            "1",
            "last",
            "1",
            "size",
            "17",
            "writer",
            "w" * 32,
            "micros",
            "1767323045000000",
            "deleted",
            "0",
        )
        await client.execute_command("HSET", "turnwire:state:s", *state)  # type: ignore[no-untyped-call]  # as above
    worker = await RedisJournal.open(redis.url, owner="mine")
    hub = await RedisJournal.open(redis.url, reads_only=True)
    try:
        assert await worker.claim("s")
        await worker.append("s", [Entry(b'{"type":"notice","text":"2"}')])
        await worker.flush()
        await until(lambda: hub.last("s") == 2)
        page = await hub.read_after("s", Cursor(hub.epoch, 0))
        assert [(one.seq, one.event) for one in page.envelopes] == [
            (1, b'{"type":"notice"}'),
            (2, b'{"type":"notice","text":"2"}'),
        ]
    finally:
        await worker.close()
        await hub.close()


@pytest.mark.parametrize(
    ("told", "wish", "state"),
    [
        (b"", "", "serving"),
        (b"serving", "cordon", "cordoned"),
        (b"cordoned", "", "serving"),
        (b"draining", "", "draining"),
        (b"resting", "", "resting"),
        (b"resting", "cordon", "resting"),
    ],
)
def test_a_state_that_a_newer_worker_tells_of_itself_stays_and_gets_no_sessions(
    told: bytes, wish: str, state: str
) -> None:
    lease = NEWER_LEASE.replace(b'"version"', b'"state":"%s","version"' % told) if told else FIRST_LEASE
    worker = worker_of(lease, wish)
    assert (worker.state, worker.takes_sessions) == (state, state == "serving")
