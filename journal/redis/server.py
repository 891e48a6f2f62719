"""One Redis as the journal sees it: commands in, plain values out, and every failure a sentence.

redis-py's answers are loosely typed; what comes back is given its type here and nowhere else. Needs the extra `redis`.
"""

import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import cast

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from journal.base import JournalUnavailable, Retention
from journal.redis.scripts import APPEND, DELETE, EPOCH, RETAIN
from journal.sqlite.rows import Append, EventRow, Extent


@dataclass(frozen=True, slots=True)
class State:
    """A log as the server has it."""

    extent: Extent
    micros: int
    deleted: bool


ROOM = 1 << 16
"""Bytes that are written to see whether they can be."""


class RedisServer:
    """The keys of one journal on one server, all beginning with `prefix`."""

    def __init__(self, url: str, prefix: str) -> None:
        # One immediate retry, for a connection that the server closed meanwhile; longer waits are the journal's to plan.
        self._redis = redis.asyncio.Redis.from_url(url, retry=Retry(NoBackoff(), 1))
        self._prefix = prefix
        self._channel = f"{prefix}news"
        self.writer = uuid.uuid4().hex
        """Names this journal among all that write to the server."""
        where = self._redis.connection_pool.connection_kwargs
        self.name = str(where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}")
        """The server's address without its password."""

    def explain(self, error: RedisError) -> JournalUnavailable:
        """Return the refusal for what the server or the connection reported."""
        said = str(error) or type(error).__name__
        if said.startswith("JOURNAL "):
            return JournalUnavailable(
                f"The Redis at {self.name} does not have what was journaled there: {said.removeprefix('JOURNAL ')}. Either "
                "another sidecar writes the same session, or the server lost events. Restart turnwire to begin anew."
            )
        return JournalUnavailable(
            f"The Redis at {self.name} cannot be used: {said}. Check that it runs and has memory left; what waits is then written."
        )

    async def begin(self) -> str:
        """Check that the server keeps what it is given; return the epoch, a new one when it may have lost events."""
        about: dict[str, str] = await self._redis.info()
        if about.get("maxmemory_policy", "noeviction") != "noeviction":
            raise JournalUnavailable(
                f"The Redis at {self.name} drops keys when its memory is full (maxmemory-policy {about['maxmemory_policy']}). "
                "Set the policy to noeviction or use another server."
            )
        keys = (f"{self._prefix}epoch", f"{self._prefix}run")
        safe = "yes" if await self._always_synced() else "no"
        epoch: bytes = await self._redis.eval(EPOCH, 2, *keys, uuid.uuid4().hex, str(about["run_id"]), safe)
        return epoch.decode()

    async def take_room(self) -> None:
        """Write what tells whether the server takes anything."""
        await self._redis.set(f"{self._prefix}room", bytes(ROOM))

    async def states(self, session: str | None = None) -> dict[str, State]:
        """Return one log, or all."""
        sessions = [session] if session is not None else sorted(await self._sessions())
        pipeline = self._redis.pipeline(transaction=False)
        for name in sessions:
            pipeline.hmget(self._keys(name)[1], _STATE)
        rows: list[list[bytes | None]] = await pipeline.execute()
        return {name: _state(row) for name, row in zip(sessions, rows, strict=True)}

    async def append(
        self, batches: Sequence[Append], retention: Retention, oldest: int
    ) -> tuple[list[Extent], RedisError | None]:
        """Append in order, in one round trip; return what the logs hold, up to the first batch that failed, and why."""
        pipeline = self._redis.pipeline(transaction=False)
        limits = _limits(retention)
        for batch in batches:
            arguments: list[bytes | str | int] = [
                batch.session,
                self.writer,
                batch.first,
                batch.micros,
                *limits,
                oldest,
                self._channel,
            ]
            for entry in batch.entries:
                arguments += (entry.event, _there(entry.whole), _there(entry.raw))
            pipeline.eval(APPEND, 4, *self._keys(batch.session), *arguments)
        answers: list[list[int] | RedisError] = await pipeline.execute(raise_on_error=False)
        extents: list[Extent] = []
        for answer in answers:
            if isinstance(answer, RedisError):
                return extents, answer
            extents.append(Extent(*answer))
        return extents, None

    async def events(self, session: str, after: int, last: int, count: int) -> list[EventRow]:
        """Return at most `count` events after one number and not beyond another."""
        found = await self._redis.xrange(self._keys(session)[0], f"{after + 1}-0", f"{last}-0", count)
        rows = cast("list[tuple[bytes, dict[bytes, bytes]]]", found)
        return [EventRow(int(key[:-2]), int(fields[b"t"]), fields[b"e"]) for key, fields in rows]

    async def beside(self, session: str, seq: int) -> tuple[bytes | None, bytes | None]:
        """Return what was kept of an event beside it: whole and raw."""
        found = await self._redis.hmget(self._keys(session)[2], [f"{seq}w", f"{seq}r"])
        whole, raw = cast("list[bytes | None]", found)
        return (whole[1:] if whole else None), (raw[1:] if raw else None)

    async def retain(self, session: str, retention: Retention, oldest: int) -> Extent:
        """Apply retention to one log."""
        return Extent(*await self._redis.eval(RETAIN, 4, *self._keys(session), *_limits(retention), oldest))

    async def delete(self, session: str) -> Extent:
        """Delete one log's events."""
        return Extent(*await self._redis.eval(DELETE, 4, *self._keys(session)))

    async def news(self) -> AsyncGenerator[str | None]:
        """Yield None once all that follows will be told, then each session that another journal has appended to."""
        async with self._redis.pubsub() as channel:
            await channel.subscribe(self._channel)
            while True:
                message = await channel.get_message(timeout=None)
                if message is None:
                    continue
                if message["type"] == "subscribe":
                    yield None
                elif message["type"] == "message":
                    writer, session = message["data"].decode().split(" ", 1)
                    if writer != self.writer:
                        yield session

    async def close(self) -> None:
        """Let go of the connections."""
        await self._redis.aclose()

    async def _always_synced(self) -> bool:
        try:
            found = await self._redis.config_get("append*")
        except RedisError:
            # Hosted servers often forbid CONFIG; then the worse is assumed.
            return False
        return found.get("appendonly") == "yes" and found.get("appendfsync") == "always"

    async def _sessions(self) -> set[str]:
        members = cast("set[bytes]", await self._redis.smembers(f"{self._prefix}sessions"))
        return {member.decode() for member in members}

    def _keys(self, session: str) -> tuple[str, str, str, str]:
        stream, state, beside = (f"{self._prefix}{kind}:{session}" for kind in ("log", "state", "beside"))
        return stream, state, beside, f"{self._prefix}sessions"


_STATE = ["first", "last", "size", "micros", "deleted"]


def _state(row: Sequence[bytes | None]) -> State:
    first, last, size, micros, deleted = (int(value or b"0") for value in row)
    return State(Extent(first or 1, last, size), micros, bool(deleted))


def _limits(retention: Retention) -> tuple[int, int]:
    count, size = retention.max_count, retention.max_bytes
    return (-1 if count is None else count), (-1 if size is None else size)


def _there(value: bytes | None) -> bytes:
    return b"" if value is None else b"+" + value
