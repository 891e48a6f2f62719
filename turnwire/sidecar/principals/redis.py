"""Tokens in Redis, beside the journal: hubs and sidecars of all machines have the same ones, and learn of a change at once.

A hash `tokens` has one field per token. A channel of the same name announces every change. All tokens are read when the
channel is heard and at every message. While it is not heard, the last known tokens count, and they still expire.
Needs the extra `redis`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from redis.exceptions import RedisError

from turnwire._runtime.task_owner import TaskOwner
from turnwire.hub.principals import BadPrincipal
from turnwire.journal.base import Journal, JournalUnavailable
from turnwire.journal.redis.connection import Connection, connect
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.subscriber import Subscriber
from turnwire.sidecar.principals.file import TokensUnusable
from turnwire.sidecar.principals.kept import KeptToken, TokenTable, read_each, row
from turnwire.sidecar.principals.watched import WatchedTokens

RETRY_S = 0.5
"""Seconds before the next attempt after the server failed."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


@asynccontextmanager
async def subscriber_of(url: str, journal: Journal) -> AsyncIterator[Subscriber]:
    """Yield the subscriber of a journal in Redis; beside another kind of journal, one of its own. Raises JournalUnavailable."""
    if isinstance(journal, RedisJournal):
        yield journal.subscriber
        return
    subscriber = Subscriber(connect(url))
    try:
        async with TaskOwner() as tasks:
            tasks.keep("subscriber of tokens", subscriber.run())
            yield subscriber
    finally:
        await subscriber.connection.close()


class RedisPrincipals(WatchedTokens):
    """Implements turnwire.hub.principals.Principals."""

    def __init__(
        self, subscriber: Subscriber, *, prefix: str = "turnwire:", retry_s: float = RETRY_S
    ) -> None:
        """`subscriber`: the journal's, which is run as long as this is."""
        super().__init__()
        self._connection = subscriber.connection
        self._name = f"{prefix}tokens"
        self._changes = subscriber.subscription(self._name)
        self._retry_s = retry_s
        self._is_heard = True
        """False once the loss of the subscription was logged."""

    def refresh(self) -> None:
        """Do nothing: the channel announces changes."""

    async def begin(self) -> None:
        """Read the tokens; raises JournalUnavailable."""
        try:
            await self._read()
        except RedisError as error:
            raise JournalUnavailable(
                f"The tokens in the Redis at {self._connection.name} cannot be read: {error}."
            ) from error

    async def run(self) -> None:
        """Follow changes and expire tokens, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.expire())
            while True:
                try:
                    async for _ in self._changes:
                        await self._read()
                        self._is_heard = True
                except (RedisError, OSError) as error:
                    if self._is_heard:
                        log.warning(
                            "changes of tokens cannot be read; turnwire tries again",
                            extra={"server": self._connection.name, "error": str(error)},
                        )
                    self._is_heard = False
                await asyncio.sleep(self._retry_s)

    async def close(self) -> None:
        """Hear of no more changes."""
        self._changes.close()

    async def _read(self) -> None:
        try:
            self.replace(TokenTable(await _all(self._connection, self._name)))
        except BadPrincipal as error:
            log.warning(
                "the tokens of principals cannot be used; nobody can log in with one",
                extra={"server": self._connection.name, "error": str(error)},
            )
            self.replace(TokenTable())


async def _all(connection: Connection, name: str) -> list[KeptToken]:
    return read_each(cast("dict[bytes, bytes]", await connection.redis.hgetall(name)))


class RedisTokens:
    """The same tokens, for the commands that create and revoke them. Blocking."""

    def __init__(self, url: str, *, prefix: str = "turnwire:") -> None:
        self._url = url
        self._name = f"{prefix}tokens"

    def tokens(self) -> list[KeptToken]:
        """Return the tokens; raises TokensUnusable."""
        return self._do(lambda connection: _all(connection, self._name))

    def add(self, token: KeptToken) -> None:
        """Keep one more, and tell; raises TokensUnusable."""

        async def add(connection: Connection) -> None:
            await cast("Awaitable[Any]", connection.redis.hset(self._name, token.id, row(token).decode()))
            await connection.redis.publish(self._name, token.id)

        self._do(add)

    def revoke(self, ids: Sequence[str]) -> None:
        """Keep these no more, and tell; raises TokensUnusable."""

        async def revoke(connection: Connection) -> None:
            await cast("Awaitable[Any]", connection.redis.hdel(self._name, *ids))
            await connection.redis.publish(self._name, " ".join(ids))

        self._do(revoke)

    def _do(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        async def done() -> Result:
            connection = connect(self._url)
            try:
                return await work(connection)
            except (RedisError, BadPrincipal) as error:
                raise TokensUnusable(
                    f"The tokens in the Redis at {connection.name} cannot be used: {error}"
                ) from error
            finally:
                await connection.close()

        try:
            return asyncio.run(done())
        except JournalUnavailable as error:
            raise TokensUnusable(str(error)) from error
