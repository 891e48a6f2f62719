"""The connection by which a process hears of changes in Redis: what a lost connection costs, and that it ends nothing."""

import asyncio
import errno
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from journals import RedisProcess
from turnwire._runtime.task_owner import TaskOwner
from turnwire.journal.redis import subscriber as subscribers
from turnwire.journal.redis.connection import connect
from turnwire.journal.redis.subscriber import Subscriber, Subscription
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        yield server
        server.kill()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscribers, "RETRY_S", 0.02)


@asynccontextmanager
async def subscriber(url: str) -> AsyncIterator[Subscriber]:
    here = Subscriber(connect(url))
    try:
        async with TaskOwner() as tasks:
            tasks.keep("subscriber", here.run())
            yield here
    finally:
        await here.connection.close()


async def heard(part: Subscription, count: int) -> list[tuple[str, bytes | None]]:
    """The next items of an iteration; a loss begins it anew."""
    found: list[tuple[str, bytes | None]] = []
    async with asyncio.timeout(60):
        while True:
            try:
                async for item in part:
                    found.append(item)
                    if len(found) == count:
                        return found
            except RedisError:
                found.clear()
    raise AssertionError("unreachable")


async def test_all_parts_of_a_process_share_one_connection_and_each_hears_its_own(
    redis: RedisProcess,
) -> None:
    async with subscriber(redis.url) as here:
        one, two = here.subscription("a", "b"), here.subscription("b")
        assert await heard(one, 2) == [("b", None), ("a", None)]
        assert await heard(two, 1) == [("b", None)]
        two.add("c")
        iterator = aiter(two)
        assert await anext(iterator) == ("b", None)
        assert await anext(iterator) == ("c", None)
        client = here.connection.redis
        for channel in ("a", "b", "c"):
            await client.publish(channel, channel)
        assert await anext(iterator) == ("b", b"b")
        assert await anext(iterator) == ("c", b"c")
        # what another part hears is heard at once
        two.add("a")
        assert await anext(iterator) == ("a", None)
        two.remove("c")
        one.close()
        one.close()
        await until(lambda: here.heard == {"a", "b"})
        assert len(await client.client_list(_type="pubsub")) == 1
        two.close()
        await until(lambda: not here.heard)
        three = here.subscription("z")
        assert await heard(three, 1) == [("z", None)]


async def test_a_part_that_is_too_far_behind_is_told_that_it_missed_something(
    redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscribers, "WAITING", 3)
    async with subscriber(redis.url) as here:
        part = here.subscription("a")
        assert await heard(part, 1) == [("a", None)]
        for number in range(5):
            await here.connection.redis.publish("a", str(number))
        await until(lambda: part._lost)
        with pytest.raises(RedisError, match="more was told than could be read"):
            await anext(part)
        assert await anext(part) == ("a", None)


async def test_a_server_that_says_nothing_is_asked_and_one_that_does_not_answer_is_left(
    redis: RedisProcess,
) -> None:
    async with subscriber(f"{redis.url}?socket_timeout=0.1") as here:
        part = here.subscription("a")
        assert await heard(part, 1) == [("a", None)]
        (before,) = await here.connection.redis.client_list(_type="pubsub")
        # Silence is no loss.
        said = ""
        while said != "ping":
            (now,) = await here.connection.redis.client_list(_type="pubsub")
            assert now["id"] == before["id"]
            said = now["cmd"]
        os.kill(redis.pid, signal.SIGSTOP)
        try:
            with pytest.raises(RedisError, match="not answered"):
                async with asyncio.timeout(60):
                    await anext(part)
            await until(lambda: not here.heard)
        finally:
            os.kill(redis.pid, signal.SIGCONT)
        assert await heard(part, 1) == [("a", None)]


@pytest.mark.parametrize("answers", ["not at all", "half open"])
async def test_a_connection_that_ends_for_want_of_an_answer_is_made_again_and_holds_nothing_up(
    redis: RedisProcess, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[PubSub] = []
    parse_response = PubSub.parse_response

    async def seen(channel: PubSub, *arguments: Any, **more: Any) -> Any:
        used.append(channel)
        return await parse_response(channel, *arguments, **more)

    monkeypatch.setattr(PubSub, "parse_response", seen)
    async with subscriber(redis.url) as here:
        part = here.subscription("a")
        assert await heard(part, 1) == [("a", None)]
        connection: Any = used[-1].connection
        reader, writer = connection._reader, connection._writer
        used.clear()
        # What the kernel tells of a connection whose other end answers no more, and what asyncio makes of it.
        error = OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        if answers == "half open":
            reader.set_exception(error)
        else:
            writer.transport.get_protocol().connection_lost(error)
        async with asyncio.timeout(60):
            with suppress(RedisError):  # or the library has connected again
                assert await anext(part) == ("a", None)
        assert await heard(part, 1) == [("a", None)]
        began = time.process_time()
        await here.connection.redis.publish("a", "on")
        assert await anext(part) == ("a", b"on")
        assert time.process_time() - began < 5
        assert len(used) < 50, "it was asked again and again"
