"""Attacker: whoever else can reach the Redis server, and is careless or means harm."""

import asyncio
import os
import shutil
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis.asyncio import Redis

from journals import RedisProcess
from live import Frontend, running, scripted_setup
from turnwire.client import Client, CommandFailed
from turnwire_process import DEADLINE, Served
from waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]

ECHO = """
fallback:
  steps:
    - text: "echo: {prompt}"
"""


@pytest.fixture
def server() -> Iterator[RedisProcess]:
    # A path of a socket may have about a hundred characters.
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        yield server
        server.kill()


async def ready(served: Served) -> int:
    def get() -> int:
        try:
            with urllib.request.urlopen(f"{served.base}/readyz", timeout=DEADLINE) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    return await asyncio.to_thread(get)


async def becomes(served: Served, status: int) -> None:
    async with asyncio.timeout(DEADLINE):
        while await ready(served) != status:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.1)


def trouble_of(client: Client, session: str) -> str | None:
    return next(known.trouble for known in client.known_sessions if known.session == session)


async def test_lost_and_spoilt_keys_cost_their_session_and_garbage_on_the_channel_nobody(
    tmp_path: Path, server: RedisProcess
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    variables = {"TURNWIRE_JOURNAL": "redis", "TURNWIRE_REDIS_URL": server.url}
    async with running(tmp_path, setup, **variables) as (first, served), Redis.from_url(server.url) as vandal:
        await first.turn("one")
        client = first.client
        lost, spoilt = [Frontend(client, await client.create(workspace=str(tmp_path))) for _ in range(2)]
        for each in (lost, spoilt):
            await each.turn("one")
        for garbage in (b"", b"\xff\xfe", b"x y", b" "):
            await vandal.publish("turnwire:news", garbage)
        await vandal.delete(*(f"turnwire:{kind}:{lost.session}" for kind in ("log", "state", "beside")))
        await vandal.delete(f"turnwire:state:{spoilt.session}")
        await vandal.set(f"turnwire:state:{spoilt.session}", "rubbish")
        # the one goes on behind what is lost, the other ends, and the first has noticed nothing
        await lost.turn("two")
        await spoilt.prompt("two")
        await until(lambda: "WRONGTYPE" in str(trouble_of(client, spoilt.session)), DEADLINE)
        complete = await first.turn("two")
        assert complete.data.outcome == "completed"
        assert first.seqs == list(range(1, len(first.seqs) + 1))
        assert lost.seqs == list(range(1, len(lost.seqs) + 1))
        assert await ready(served) == 200
        # what others publish is still heard
        await vandal.client_kill_filter(_type="pubsub")
        await becomes(served, 200)
        await until(lambda: trouble_of(client, first.session) is None, DEADLINE)


async def test_a_session_whose_log_is_spoilt_at_the_start_can_be_deleted_and_leaves_nothing(
    tmp_path: Path, server: RedisProcess
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    variables = {"TURNWIRE_JOURNAL": "redis", "TURNWIRE_REDIS_URL": server.url}
    async with Redis.from_url(server.url) as vandal:
        async with running(tmp_path, setup, **variables) as (frontend, _):
            await frontend.turn("one")
            spoilt = frontend.session
        assert await vandal.exists(f"turnwire:log:{spoilt}") == 1
        await vandal.delete(f"turnwire:state:{spoilt}")
        await vandal.set(f"turnwire:state:{spoilt}", "rubbish")
        async with running(tmp_path, setup, **variables) as (frontend, _):
            assert spoilt in [known.session for known in frontend.client.known_sessions]
            await frontend.client.delete_session(spoilt)
            assert await vandal.exists(f"turnwire:log:{spoilt}", f"turnwire:beside:{spoilt}") == 0
            await frontend.turn("two")
        async with running(tmp_path, setup, **variables) as (frontend, _):
            assert spoilt not in [known.session for known in frontend.client.known_sessions]


async def test_a_server_that_goes_and_comes_back_is_told_by_readyz_both_times(
    tmp_path: Path, server: RedisProcess
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    variables = {"TURNWIRE_JOURNAL": "redis", "TURNWIRE_REDIS_URL": server.url}
    async with running(tmp_path, setup, **variables) as (frontend, served):
        await frontend.turn("one")
        # nobody writes: only the listener can know
        server.kill()
        await becomes(served, 503)
        server.start()
        await becomes(served, 200)
        await frontend.turn("two")


async def test_a_server_that_stands_still_is_told_and_costs_nothing_once_it_goes_on(
    tmp_path: Path, server: RedisProcess
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    variables = {"TURNWIRE_JOURNAL": "redis", "TURNWIRE_REDIS_URL": f"{server.url}?socket_timeout=0.5"}
    async with running(tmp_path, setup, **variables) as (frontend, served):
        await frontend.turn("one")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(CommandFailed, match=r"journal_unavailable: .*Timeout"):
                await frontend.prompt("two")
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await becomes(served, 200)
        # nobody writes, and no connection ends: only who asks can know
        os.kill(server.pid, signal.SIGSTOP)
        try:
            await becomes(served, 503)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await becomes(served, 200)
        await frontend.turn("three")
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
