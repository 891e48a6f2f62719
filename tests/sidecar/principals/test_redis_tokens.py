"""Principals' tokens in a real Redis: made and revoked there, heard of at once, and kept while the server is gone."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis as blocking

from journals import RedisProcess
from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import Settings
from turnwire.hub.principals import Scope
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.redis.connection import connect
from turnwire.journal.redis.subscriber import Subscriber
from turnwire.sidecar.principals.configured import principals_of, tokens_of
from turnwire.sidecar.principals.file import TokensUnusable
from turnwire.sidecar.principals.kept import KeptToken, new_token
from turnwire.sidecar.principals.redis import RedisPrincipals, RedisTokens

Until = Callable[[Callable[[], bool]], Awaitable[None]]
"""A wait until something holds, looked at whenever tokens have changed."""


@pytest.fixture
def server() -> Iterator[RedisProcess]:
    with tempfile.TemporaryDirectory(prefix="turnwire-tokens-") as folder:  # a socket's path must be short
        process = RedisProcess(Path(folder))
        process.start()
        yield process
        process.kill()


@pytest.fixture
def gone(tmp_path: Path) -> str:
    return f"unix://{tmp_path}/nobody.sock"


def made(name: str) -> tuple[str, KeptToken]:
    return new_token(name, "control", Scope(own=True), now=0, lasts_s=None)


@asynccontextmanager
async def listening(
    url: str,
) -> AsyncIterator[tuple[RedisPrincipals, Until]]:
    """Principals that hear of changes, and a wait until something holds of them; it begins when they listen."""
    subscriber = Subscriber(connect(url))
    here, changed = RedisPrincipals(subscriber, retry_s=0.01), asyncio.Event()
    here.watch(changed.set)

    async def until(holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                changed.clear()
                await changed.wait()

    try:
        await here.begin()
        changed.clear()
        async with TaskOwner() as tasks:
            running = tasks.begin("tokens", here.run())
            tasks.keep("subscriber", subscriber.run())
            async with asyncio.timeout(60):
                await changed.wait()  # what is read when the channel begins to be heard
            yield here, until
            running.cancel()
    finally:
        await here.close()
        await subscriber.connection.close()


async def test_a_token_in_redis_counts_as_soon_as_it_is_made_and_not_once_it_is_revoked(
    server: RedisProcess,
) -> None:
    tokens = RedisTokens(server.url)
    (token, kept), (_, other) = made("ann"), made("bob")
    async with listening(server.url) as (here, until):
        assert here.of_token(token) is None
        await asyncio.to_thread(tokens.add, kept)
        await until(lambda: here.of_token(token) is not None)
        await asyncio.to_thread(tokens.add, other)
        assert sorted(one.name for one in await asyncio.to_thread(tokens.tokens)) == ["ann", "bob"]
        await asyncio.to_thread(tokens.revoke, [kept.id])
        await until(lambda: here.of_token(token) is None)
        await until(lambda: here.of_id(other.id) is not None)


class Heard(logging.Handler):
    """Hears what is logged, and sets an event."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.heard = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.heard.set()


async def test_tokens_count_while_their_redis_is_gone_and_each_time_it_is_gone_is_told_once(
    server: RedisProcess,
) -> None:
    log, heard = logging.getLogger("turnwire.sidecar.principals.redis"), Heard()
    log.addHandler(heard)
    token, kept = made("ann")
    try:
        async with listening(server.url) as (here, until):
            for time in (1, 2):
                await asyncio.to_thread(RedisTokens(server.url).add, kept)
                await until(lambda: here.of_token(token) is not None)
                heard.heard.clear()
                server.kill()
                async with asyncio.timeout(60):
                    await heard.heard.wait()
                here.refresh()
                assert here.of_token(token) is not None
                server.start()  # it has kept nothing
                await until(lambda: here.of_token(token) is None)
                assert heard.messages == ["changes of tokens cannot be read; turnwire tries again"] * time
    finally:
        log.removeHandler(heard)


async def test_a_row_in_redis_that_is_no_token_lets_nobody_in_and_is_told_to_who_lists_them(
    server: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    token, kept = made("ann")
    tokens = RedisTokens(server.url)
    async with listening(server.url) as (here, until):
        await asyncio.to_thread(tokens.add, kept)
        await until(lambda: here.of_token(token) is not None)
        with blocking.Redis.from_url(server.url) as client:
            client.hset("turnwire:tokens", "x", "{")
            client.publish("turnwire:tokens", "x")
        await until(lambda: here.of_token(token) is None)
    assert "nobody can log in with one" in caplog.text
    with pytest.raises(TokensUnusable, match="one entry is not a token"):
        await asyncio.to_thread(tokens.tokens)


async def test_a_hub_does_not_begin_without_the_redis_of_its_tokens(gone: str) -> None:
    settings = Settings(journal="redis", redis_url=gone)
    with pytest.raises(JournalUnavailable, match=r"nobody.sock cannot be read"):
        async with principals_of(settings, MemoryJournal()):
            raise AssertionError("it has begun")


def test_tokens_of_a_redis_that_does_not_answer_or_is_none_can_be_neither_made_nor_read(gone: str) -> None:
    with pytest.raises(TokensUnusable, match=r"nobody.sock cannot be used"):
        tokens_of(Settings(journal="redis", redis_url=gone)).add(made("ann")[1])
    with pytest.raises(TokensUnusable, match="is not a URL of a Redis"):
        RedisTokens("http://example.org").tokens()
