"""The one connection of a process on which Redis tells what has changed. All parts of the process listen by it.

A server that says nothing for as long as it may take for an answer is asked, and has as long again: then the connection counts as lost
and another is made. Each part is told when a channel is heard, again after each loss: it has missed what was said in between.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Never, Self

from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisUnreachable
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from turnwire._runtime.task_owner import TaskOwner, heed_cancellation
from turnwire.journal.redis.connection import Connection

RETRY_S = 0.5
"""Seconds before another connection is made."""
WAITING = 1 << 16
"""Messages that a part of the process may be behind by. One that is further behind is told that it has missed some."""


class Subscription:
    """What one part of the process listens to: an iterator of channels and messages, None where a channel is heard from now on.

    It raises RedisError once for each connection that is lost. Each iteration begins with the channels that are heard.
    """

    def __init__(self, subscriber: "Subscriber", channels: Iterable[str]) -> None:
        self._subscriber = subscriber
        self.channels = set(channels)
        self._told: deque[tuple[str, bytes | None]] = deque()
        self._lost: RedisError | None = None
        self._something = asyncio.Event()

    def add(self, channel: str) -> None:
        """Listen to one more channel."""
        self.channels.add(channel)
        self._subscriber.changed()
        if self.hears(channel):
            self.tell(channel, None)

    def remove(self, channel: str) -> None:
        """Listen to a channel no more."""
        self.channels.discard(channel)
        self._subscriber.changed()

    def hears(self, channel: str) -> bool:
        """Tell whether a channel is heard at present."""
        return channel in self._subscriber.heard

    def close(self) -> None:
        """Listen to nothing more."""
        self._subscriber.leave(self)

    def tell(self, channel: str, message: bytes | None) -> None:
        """Pass on what was said."""
        if len(self._told) >= WAITING:
            self.lose(RedisError("more was told than could be read"))
            self._begin()
        self._told.append((channel, message))
        self._something.set()

    def lose(self, error: RedisError) -> None:
        """Pass on that the connection is lost, or that something was missed."""
        self._told.clear()
        self._lost = error
        self._something.set()

    def _begin(self) -> None:
        self._told.clear()
        self._told.extend((channel, None) for channel in _ordered(self.channels & self._subscriber.heard))

    def __aiter__(self) -> Self:
        self._begin()
        return self

    async def __anext__(self) -> tuple[str, bytes | None]:
        while True:
            if (error := self._lost) is not None:
                self._lost = None
                raise error
            if self._told:
                return self._told.popleft()
            self._something.clear()
            await self._something.wait()


class Subscriber:
    """The connection; `run` keeps it up."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._parts: list[Subscription] = []
        self._changed = asyncio.Event()
        self.heard: set[str] = set()
        """Channels of which the server has said that it tells."""

    def subscription(self, *channels: str) -> Subscription:
        """Return what listens to channels, until it is closed."""
        part = Subscription(self, channels)
        self._parts.append(part)
        self._changed.set()
        return part

    def leave(self, part: Subscription) -> None:
        """Tell a part nothing more."""
        if part in self._parts:
            self._parts.remove(part)
            self._changed.set()

    def changed(self) -> None:
        """Take note that the parts listen to other channels."""
        self._changed.set()

    async def run(self) -> Never:
        """Keep the connection up, until cancelled."""
        while True:
            # The library swallows a cancellation that comes while it connects.
            heed_cancellation()
            try:
                await self._follow()
            except Exception as error:  # noqa: BLE001 - whatever it was, the parts are told, and another connection is made
                lost = error if isinstance(error, RedisError) else RedisUnreachable(str(error) or repr(error))
                self.heard.clear()
                for part in self._parts:
                    part.lose(lost)
            await asyncio.sleep(RETRY_S)

    async def _follow(self) -> None:
        # A cluster's client does not know its nodes before its first command.
        await self.connection.ping()
        async with self.connection.redis.pubsub() as channel:
            while not (wanted := self._wanted()):
                self._changed.clear()
                await self._changed.wait()
            await channel.subscribe(*_ordered(wanted))
            async with _never_connected_again(channel), TaskOwner() as tasks:
                changing = tasks.begin("channels of the subscriber", self._change(channel, wanted))
                hearing = tasks.begin("messages of the subscriber", self._hear(channel))
                ended, _ = await asyncio.wait((changing, hearing), return_when=asyncio.FIRST_COMPLETED)
                for one in ended:
                    await one

    async def _change(self, channel: PubSub, subscribed: set[str]) -> None:
        """Subscribe to what is wanted from now on, and to nothing else."""
        while True:
            self._changed.clear()
            wanted = self._wanted()
            if added := wanted - subscribed:
                await channel.subscribe(*_ordered(added))
            if gone := subscribed - wanted:
                await channel.unsubscribe(*gone)
            subscribed = wanted
            heed_cancellation()
            await self._changed.wait()

    async def _hear(self, channel: PubSub) -> None:
        is_asked = False
        while True:
            heed_cancellation()
            # Of a connection that has ended for want of an answer (ETIMEDOUT) the library returns None, too, and at once.
            message = await channel.get_message(timeout=self.connection.answer_s)
            if message is None:
                if is_asked:
                    raise RedisTimeout(f"it has not answered for {self.connection.answer_s:g} s")
                await channel.ping()
            elif message["channel"] is not None:
                self._pass_on(message["type"], message["channel"].decode(), message["data"])
            is_asked = message is None

    def _pass_on(self, kind: str, channel: str, data: bytes) -> None:
        if kind == "unsubscribe":
            self.heard.discard(channel)
            return
        self.heard.add(channel)
        for part in self._parts:
            if channel in part.channels:
                part.tell(channel, data if kind == "message" else None)

    def _wanted(self) -> set[str]:
        return {channel for part in self._parts for channel in part.channels}


@asynccontextmanager
async def _never_connected_again(channel: PubSub) -> AsyncIterator[None]:
    """Keep the library from making a lost connection anew: two tasks that find it lost would make two and leave one of them open."""
    connection: Any = channel.connection
    before, connection.retry = connection.retry, Retry(NoBackoff(), 0, supported_errors=())
    try:
        yield
    finally:
        connection.retry = before


def _ordered(channels: Iterable[str]) -> list[str]:
    """Return channels in the order of their subscription: `news` after the channels whose names begin with it."""
    return sorted(channels, reverse=True)
