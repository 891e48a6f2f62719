"""One Redis as the journal sees it: commands in, plain values out, and every failure a sentence.

redis-py's answers are loosely typed; what comes back is given its type here and nowhere else. Needs the extra `redis`.
"""

import logging
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from journal.base import JournalUnavailable, Retention
from journal.redis.scripts import ADOPT, APPEND, CLAIM, DELETE, EPOCH, RETAIN
from journal.sqlite.rows import Append, EventRow, Extent

log = logging.getLogger(f"turnwire.{__name__}")


@dataclass(frozen=True, slots=True)
class State:
    """A log as the server has it."""

    extent: Extent
    micros: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose a log is."""

    owner: str
    """Name of the worker."""
    fence: int
    """Grows with each owner, and each life of one."""


ROOM = 1 << 16
"""Bytes that are written to see whether they can be."""


class RedisServer:
    """The keys of one journal on one server, all beginning with `prefix`."""

    def __init__(self, url: str, prefix: str, owner: str | None = None) -> None:
        """With an `owner` what is written is that worker's, and logs that are another's take nothing."""
        # One immediate retry, for a connection that the server closed meanwhile; longer waits are the journal's to plan.
        self._redis = redis.asyncio.Redis.from_url(url, retry=Retry(NoBackoff(), 1))
        self._prefix = prefix
        self._owner = owner or ""
        self._fences: dict[str, int] = {}
        """Of logs that were claimed; one that was begun has the first."""
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
                "another sidecar writes the same session, or others have been at its keys. Other sessions go on; continue in a new one."
            )
        if said.startswith("FENCED "):
            return JournalUnavailable(
                f"The session is no more of this worker's, so the Redis at {self.name} takes nothing of it: {said.removeprefix('FENCED ')}."
                " What was said here since is lost; go on where it is now."
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

    async def witness(self) -> bytes | None:
        """Return what was kept of the clocks."""
        return cast("bytes | None", await self._redis.get(f"{self._prefix}ages"))

    async def keep_witness(self, witness: str) -> None:
        """Keep what is known of the clocks."""
        await self._redis.set(f"{self._prefix}ages", witness)

    async def states(self, session: str | None = None) -> dict[str, State]:
        """Return one log, or all."""
        sessions = [session] if session is not None else sorted(await self._sessions())
        pipeline = self._redis.pipeline(transaction=False)
        for name in sessions:
            pipeline.hmget(self._keys(name)[1], _STATE)
        rows: list[list[bytes | None] | RedisError] = await pipeline.execute(raise_on_error=False)
        states: dict[str, State] = {}
        for name, row in zip(sessions, rows, strict=True):
            # One session's keys that others have been at keep no other session from being known.
            state = row if isinstance(row, RedisError) else _state(row)
            if isinstance(state, State):
                states[name] = state
            else:
                log.error(
                    "the state of a session's log cannot be read",
                    extra={"server": self.name, "session": name, "error": str(state)},
                )
        return states

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
                *self._fence(batch.session),
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
        return [row for key, fields in rows if (row := _event(key, fields)) is not None]

    async def adopt(self, session: str, last: int) -> bool:
        """Let a log that the server lost events of go on after a number; False when others have written beyond it."""
        return bool(
            await self._redis.eval(ADOPT, 4, *self._keys(session), session, last, *self._fence(session))
        )

    async def ownership(self, session: str) -> Ownership | None:
        """Return whose a log is; None where it is nobody's."""
        found = await self._redis.hmget(self._keys(session)[1], ["owner", "fence"])
        owner, fence = cast("list[bytes | None]", found)
        return None if owner is None or fence is None else Ownership(owner.decode(), int(fence))

    async def claim(self, session: str, former: Ownership | None) -> State | None:
        """Make a log the owner's in a new life; return it, or None where it is another's than the former one."""
        taken_from = ("", "") if former is None else (former.owner, former.fence)
        found = await self._redis.eval(CLAIM, 4, *self._keys(session), session, self._owner, *taken_from)
        fence, *state = cast("list[int]", found)
        if not fence:
            return None
        self._fences[session] = fence
        first, last, size, micros, deleted = state
        return State(Extent(first, last, size), micros, bool(deleted))

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
        return Extent(*await self._redis.eval(DELETE, 4, *self._keys(session), *self._fence(session)))

    async def news(self) -> AsyncGenerator[tuple[str, State] | None]:
        """Yield None once all that follows will be told, then each log that another journal has appended to, as it is then."""
        puzzled = False
        async with self._redis.pubsub() as channel:
            await channel.subscribe(self._channel)
            while True:
                message = await channel.get_message(timeout=None)
                if message is None:
                    continue
                if message["type"] == "subscribe":
                    yield None
                elif message["type"] == "message":
                    told = _told(message["data"])
                    if told is None:
                        if not puzzled:
                            log.warning(
                                "something that is not ours is published on the journal's channel",
                                extra={"server": self.name, "channel": self._channel},
                            )
                        puzzled = True
                    elif told[0] != self.writer:
                        yield told[1:]

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
        return {name for member in members if (name := _text(member)) is not None}

    def fence(self, session: str) -> int:
        """Return the number of a log's owner and life; of a log that was begun here, the first."""
        return self._fences.get(session, 1)

    def _fence(self, session: str) -> tuple[str, str]:
        return (self._owner, str(self.fence(session))) if self._owner else ("", "")

    def _keys(self, session: str) -> tuple[str, str, str, str]:
        stream, state, beside = (f"{self._prefix}{kind}:{session}" for kind in ("log", "state", "beside"))
        return stream, state, beside, f"{self._prefix}sessions"


_STATE = ["first", "last", "size", "micros", "deleted"]


def _state(row: Sequence[bytes | None]) -> State | ValueError:
    try:
        first, last, size, micros, deleted = (int(value or b"0") for value in row)
    except ValueError as error:
        return error
    return State(Extent(first or 1, last, size), micros, bool(deleted))


def _event(key: bytes, fields: Mapping[bytes, bytes]) -> EventRow | None:
    """Return an event; None for what none of ours ever was, which is as good as lost."""
    try:
        return EventRow(int(key.partition(b"-")[0]), int(fields[b"t"]), fields[b"e"])
    except (KeyError, ValueError):
        return None


def _told(message: bytes) -> tuple[str, str, State] | None:
    """Return the writer, the session and its log, which a message of ours names."""
    writer, *numbers, session = [*(_text(message) or "").split(" ", 5), ""][:6]
    try:
        first, last, size, micros = (int(number) for number in numbers)
    except ValueError:
        return None
    if len(writer) != 32 or not session or not 0 < first <= last + 1 or size < 0:
        return None
    return writer, session, State(Extent(first, last, size), micros, deleted=False)


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _limits(retention: Retention) -> tuple[int, int]:
    count, size = retention.max_count, retention.max_bytes
    return (-1 if count is None else count), (-1 if size is None else size)


def _there(value: bytes | None) -> bytes:
    return b"" if value is None else b"+" + value
