"""One Redis as the journal sees it: commands in, plain values out, and every failure a sentence.

redis-py's answers are loosely typed; what comes back is given its type here and nowhere else. Needs the extra `redis`.
"""

import logging
import socket
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from redis.exceptions import OutOfMemoryError, RedisError, ResponseError

from turnwire.journal.base import JournalUnavailable, LogUnreadable, Retention
from turnwire.journal.damage import is_json_object
from turnwire.journal.redis.archive_file import ArchivedEvent, Part
from turnwire.journal.redis.connection import NOT_BY_DIGEST, Connection, connect, digest
from turnwire.journal.redis.scripts import ADOPT, APPEND, ARCHIVE, CLAIM, DELETE, DELETE_FROM, EPOCH, RETAIN
from turnwire.journal.redis.subscriber import Subscriber
from turnwire.journal.rows import Append, EventRow, Extent

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogState:
    """A log as the server has it."""

    extent: Extent
    micros: int
    deleted: bool


NOBODY = ""
"""Owner of a log that was deleted while its worker was gone: nobody can claim it."""


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose a log is."""

    owner: str
    """Name of the worker; NOBODY for a log that was deleted while its worker was gone."""
    fence: int
    """Grows with each owner, and each life of one."""


@dataclass(frozen=True, slots=True)
class ArchiveReference:
    """The file with a log's old events."""

    name: str
    host: str
    """Machine that wrote it."""
    last: int
    """Newest number in it that the log still has."""
    first_part: int
    """Newest number of its first part that the log still has."""


UNREADABLE = "JOURNAL the state of the log cannot be read"
"""Reply of the scripts for a state that turnwire did not write."""
LARGEST = (1 << 53) - 1
"""The largest number in a log."""
LATEST = LARGEST
"""The latest time of an event, in microseconds since 1970: in the year 2255."""
_LOOK_AGAIN = b"look again"
"""What tells on the journal's channel that another epoch has begun."""
TELL_S = 1.0
"""Seconds between two messages to all about one log. Who follows its session hears of each append at once."""
ROOM = 1 << 16
"""Bytes that are written to see whether they can be."""


class RedisServer:
    """The keys of one journal on one server, all beginning with `prefix`."""

    def __init__(self, url: str, prefix: str, owner: str | None = None, *, replicas: int = 0) -> None:
        """With an `owner` all writes are for that worker, and logs of other workers accept nothing.

        A write counts once this number of `replicas` have it. Raises JournalUnavailable for a wrong URL.
        """
        self._connection = connect(url)
        self._redis = self._connection.redis
        self._replicas = replicas
        self._prefix = prefix
        self._owner = owner or ""
        self._fences: dict[str, int] = {}
        """Of logs that were claimed; one that was begun has the first."""
        self._channel = f"{prefix}news"
        self._untold: dict[str, str] = {}
        """What is to be told to all of the logs that have grown."""
        self.subscriber = Subscriber(self._connection)
        """Hears what other processes tell, while somebody runs it."""
        self._subscription = self.subscriber.subscription()
        self.writer = uuid.uuid4().hex
        """Names this journal among all that write to the server."""
        self.unreadable: set[str] = set()
        """Sessions whose logs have a state that could not be read."""
        self._warned_of = ""
        """When the server may lose events, as it was logged."""
        self.name = self._connection.name
        """The server's address without its password."""

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise JournalUnavailable in place of what the server or the connection reports."""
        try:
            yield
        except RedisError as error:
            raise self.explain(error) from error

    def explain(self, error: RedisError) -> JournalUnavailable:
        """Return the refusal for what the server or the connection reported."""
        said = str(error) or type(error).__name__
        if said == UNREADABLE:
            return LogUnreadable(
                f"What the Redis at {self.name} has of the session's log cannot be read: others have been at its keys. The session can be"
                " deleted; other sessions go on."
            )
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
        if isinstance(error, OutOfMemoryError) or "OOM " in said:
            return JournalUnavailable(
                f"The Redis at {self.name} is full: {said} Raise its maxmemory, or lower retain_bytes or retain_days and start anew; what waits"
                " is then written."
            )
        return JournalUnavailable(
            f"The Redis at {self.name} cannot be used: {said.rstrip('.')}. Check that it runs and has memory left; what waits is then written."
        )

    async def begin(self, over: str | None = None) -> str:
        """Check that the server keeps what it is given; return the epoch, a new one when it may have lost events.

        The new one differs from `over`.
        """
        told = await self._connection.about()
        for about in told:
            if (policy := about.get("maxmemory_policy", "noeviction")) != "noeviction":
                raise JournalUnavailable(
                    f"The Redis at {self.name} drops keys when its memory is full (maxmemory-policy {policy}). "
                    "Set the policy to noeviction or use another server."
                )
            if about.get("cluster_enabled") and not self._connection.is_cluster:
                raise JournalUnavailable(
                    f"The Redis at {self.name} belongs to a cluster: redis_url must begin with redis+cluster:// (rediss+cluster:// for TLS)."
                )
        synced = await self._connection.always_synced()
        if (lossy := _may_lose(told, self._replicas, synced=synced)) and lossy != self._warned_of:
            log.warning(
                "the Redis may lose the newest events that frontends have seen; docs/journal.md says how to prevent it",
                extra={"server": self.name, "when": lossy},
            )
        self._warned_of = lossy
        keys = [self._own("epoch"), self._own("run")]
        runs = " ".join(sorted(str(about["run_id"]) for about in told))
        # A primary that replicas follow is another after a failover, with all that counted.
        safe = "yes" if synced and (self._replicas or not lossy) else "no"
        epoch: bytes = await self._connection.run(EPOCH, keys, uuid.uuid4().hex, runs, safe, over or "")
        return epoch.decode()

    async def epoch(self) -> str:
        """Return the epoch, empty where there is none yet. Raises RedisError."""
        return (cast("bytes | None", await self._redis.get(self._own("epoch"))) or b"").decode()

    async def begin_epoch(self) -> str:
        """Begin a new epoch, have all hubs look at the logs again, and return it. Raises RedisError."""
        epoch = uuid.uuid4().hex
        await self._redis.set(self._own("epoch"), epoch)
        await self._redis.publish(self._channel, _LOOK_AGAIN)
        return epoch

    def _own(self, kind: str) -> str:
        """Return a key of the journal itself, in one slot of a cluster with its others."""
        return f"{self._prefix}{{own}}:{kind}" if self._connection.is_cluster else f"{self._prefix}{kind}"

    async def take_room(self) -> None:
        """Write what tells whether the server takes anything."""
        await self._redis.set(f"{self._prefix}room", bytes(ROOM))

    async def ask(self, *, only_reads: bool) -> None:
        """See whether the server answers and, unless it `only_reads`, would take something; writes nothing. Raises RedisError."""
        await self._connection.ping()
        if not only_reads:
            # The server refuses this one as it would any other, and there is never such a key to be changed.
            await self._redis.set(f"{self._prefix}never", b"", xx=True)

    async def witness(self) -> bytes | None:
        """Return what was kept of the clocks."""
        return cast("bytes | None", await self._redis.get(f"{self._prefix}ages"))

    async def keep_witness(self, witness: str) -> None:
        """Keep what is known of the clocks."""
        await self._redis.set(f"{self._prefix}ages", witness)

    async def states(self, session: str | None = None) -> dict[str, LogState]:
        """Return one log, or all; with `replicas`, once these have what is returned."""
        sessions = [session] if session is not None else sorted(await self._sessions())
        pipeline = self._redis.pipeline(transaction=False)
        for name in sessions:
            pipeline.hmget(self._keys(name)[1], _STATE)
        rows = await self._replicated(pipeline, sessions)
        states: dict[str, LogState] = {}
        for name, row in zip(sessions, rows, strict=True):
            # One session's keys that others have been at keep no other session from being known.
            state = row if isinstance(row, RedisError) else _state(row)
            if isinstance(state, LogState):
                states[name] = state
                self.unreadable.discard(name)
            else:
                self.unreadable.add(name)
                log.error(
                    "the state of a session's log cannot be read",
                    extra={"server": self.name, "session": name, "error": str(state)},
                )
        return states

    async def append(
        self, batches: Sequence[Append], retention: Retention, oldest: int
    ) -> tuple[list[Extent], RedisError | None]:
        """Append in order, in one round trip; return what the logs hold, up to the first batch that failed, and why."""
        extents, failure = await self._append(batches, retention, oldest, in_full=False)
        if isinstance(failure, NOT_BY_DIGEST):
            # What a batch has appended it does not append again.
            extents, failure = await self._append(batches, retention, oldest, in_full=True)
        for batch, extent in zip(batches, extents, strict=False):
            where = f"{extent.first} {extent.last} {extent.size} {batch.micros}"
            self._untold[batch.session] = f"{self.writer} {where} {batch.session}"
        if extents and (self._replicas or failure is not None):
            for session in dict.fromkeys(batch.session for batch in batches[: len(extents)]):
                await self._redis.publish(self._news_of(session), self._untold[session])
        return extents, failure

    async def _append(
        self, batches: Sequence[Append], retention: Retention, oldest: int, *, in_full: bool
    ) -> tuple[list[Extent], RedisError | None]:
        """Do so by the script's digest; `in_full` sends the script, which servers then know."""
        pipeline = self._redis.pipeline(transaction=False)
        command, script = ("EVAL", APPEND) if in_full else ("EVALSHA", digest(APPEND))
        limits = _limits(retention)
        names = list(dict.fromkeys(batch.session for batch in batches))
        # Each session is told of once. What is to be on replicas first is told when it is there.
        telling = {} if self._replicas else {batch.session: batch for batch in batches}
        pipeline.sadd(f"{self._prefix}sessions", *names)
        for batch in batches:
            arguments: list[bytes | str | int] = [
                batch.session,
                self.writer,
                batch.first,
                batch.micros,
                *limits,
                oldest,
                self._news_of(batch.session) if telling.get(batch.session) is batch else "",
                *self._fence(batch.session),
            ]
            for entry in batch.entries:
                arguments += (entry.event, _there(entry.whole), _there(entry.raw))
            pipeline.execute_command(command, script, 3, *self._keys(batch.session), *arguments)
        listed, *answers = await self._replicated(pipeline, names)
        if isinstance(listed, RedisError):
            return [], listed
        extents: list[Extent] = []
        for answer in answers:
            if isinstance(answer, RedisError):
                break
            extents.append(Extent(*answer))
        return extents, answers[len(extents)] if len(extents) < len(batches) else None

    async def _replicated(self, pipeline: Any, sessions: Sequence[str]) -> list[Any]:
        """Do commands about sessions; return their answers, errors too, once replicas have all there was then. Raises RedisError."""
        if not self._replicas or not sessions:
            return list(await pipeline.execute(raise_on_error=False))
        keys = [self._keys(name)[0] for name in sessions]
        homes = self._connection.homes(keys)
        for home in homes:
            # It counts from the last command of its connection, also where that has written nothing.
            self._connection.wait(pipeline, home, self._replicas)
        answers = list(await pipeline.execute(raise_on_error=False))
        if homes != self._connection.homes(keys):
            # Something was sent on to another node than the one whose replicas were asked.
            raise RedisError("the cluster moved a session during the command")
        if any(isinstance(answer, NOT_BY_DIGEST) for answer in answers):
            # All of it is sent again, whatever replicas have.
            return answers[: -len(homes)]
        for found in answers[-len(homes) :]:
            if isinstance(found, RedisError):
                raise found
            if found < self._replicas:
                raise RedisError(
                    f"{found} of the {self._replicas} replicas (redis_replicas) have the newest events"
                )
        return answers[: -len(homes)]

    async def tell(self) -> None:
        """Tell all who listen which logs have grown since it was last told. Raises RedisError; then it is told the next time."""
        told = dict(self._untold)
        if not told:
            return
        if self._connection.is_cluster:
            # Its pipelines go by the slots of keys.
            for message in told.values():
                await self._redis.publish(self._channel, message)
        else:
            pipeline = self._redis.pipeline(transaction=False)
            for message in told.values():
                pipeline.publish(self._channel, message)
            await pipeline.execute()
        for session, message in told.items():
            if self._untold.get(session) is message:
                del self._untold[session]

    def follow(self, session: str) -> None:
        """Hear at once of this session; of others within TELL_S."""
        self._subscription.add(self._news_of(session))

    def unfollow(self, session: str) -> None:
        """Hear of this session as of any other."""
        self._subscription.remove(self._news_of(session))

    def hears_at_once(self, session: str) -> bool:
        """Tell whether a session's own channel is heard."""
        return self._subscription.hears(self._news_of(session))

    def _news_of(self, session: str) -> str:
        return f"{self._channel}:{session}"

    async def events(self, session: str, after: int, last: int, count: int) -> list[EventRow]:
        """Return at most `count` events after one number and not beyond another."""
        found = await self._redis.xrange(self._keys(session)[0], f"{after + 1}-0", f"{last}-0", count)
        rows = cast("list[tuple[bytes, dict[bytes, bytes]]]", found)
        return [row for key, fields in rows if (row := _event(key, fields)) is not None]

    async def rows(self, session: str, after: int, last: int, count: int) -> list[ArchivedEvent]:
        """Return at most `count` events after one number and not beyond another, with what was cut from each. Raises RedisError."""
        found = await self.events(session, after, last, count)
        if not found:
            return []
        names = [name for row in found for name in (f"{row.seq}w", f"{row.seq}r")]
        cut = cast("list[bytes | None]", await self._redis.hmget(self._keys(session)[2], names))
        return [
            ArchivedEvent(row.seq, row.micros, row.event, whole and whole[1:], raw and raw[1:])
            for row, whole, raw in zip(found, cut[::2], cut[1::2], strict=True)
        ]

    async def archive_of(self, session: str) -> ArchiveReference | None:
        """Return the file with a log's old events, if there is one. Raises RedisError."""
        found = await self._redis.hmget(self._keys(session)[1], ["archive", "archived"])
        archive, archived = cast("list[bytes | None]", found)
        name, _, host = (_text(archive or b"") or "").partition(" ")
        lasts = [part.partition(b":")[0] for part in (archived or b"").split()]
        if not name or "/" in name or not lasts:
            return None
        try:
            return ArchiveReference(name, host, _counted(lasts[-1]), _counted(lasts[0]))
        except ValueError as error:
            raise RedisError(f"the file of session {session!r} cannot be read ({error})") from error

    async def set_archive(
        self, session: str, last: int, name: str, parts: Sequence[Part], former: str
    ) -> bool:
        """Note that a file has all events of a log up to its `last`, and drop them here; False where the log is another by now.

        `former`: the file that had some of them, empty without one. Raises RedisError. Then it may have been done all the same.
        """
        held = " ".join(f"{part.last}:{part.micros}:{part.size}" for part in parts)
        file = f"{name} {socket.gethostname()}"
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.eval(ARCHIVE, 3, *self._keys(session), *self._fence(session), last, file, held, former)
        (found,) = await self._replicated(pipeline, [session])
        if isinstance(found, RedisError):
            if str(found).startswith("FENCED "):
                return False
            raise found
        return bool(found)

    async def archives(self, files: Sequence[tuple[str, int]]) -> list[str | None]:
        """Return of files, given by session and fence, which file the log names instead: empty for none, None where that is not ours to say.

        It is the owner's to say, and anybody's of a log that is nobody's. A later owner's file is not. Raises RedisError.
        """
        pipeline = self._redis.pipeline(transaction=False)
        for session, _ in files:
            pipeline.hmget(self._keys(session)[1], ["archive", "owner", "fence"])
        named: list[str | None] = []
        for (_, fence), row in zip(files, await pipeline.execute(raise_on_error=False), strict=True):
            archive, owner, held = (None, None, None) if isinstance(row, RedisError) else row
            is_ours = owner is not None and _text(owner) in {self._owner, NOBODY}
            is_past = held is not None and held.isdigit() and fence <= int(held)
            named.append((_text(archive or b"") or "").partition(" ")[0] if is_ours and is_past else None)
        return named

    async def adopt(self, session: str, last: int) -> bool:
        """Let a log that the server lost events of go on after a number; False when others have written beyond it."""
        adopted = bool(
            await self._connection.run(ADOPT, self._keys(session), session, last, *self._fence(session))
        )
        if adopted:
            await self._redis.sadd(f"{self._prefix}sessions", session)
        return adopted

    async def ownership(self, session: str) -> Ownership | None:
        """Return the owner of a log; None if it has none."""
        try:
            found = await self._redis.hmget(self._keys(session)[1], ["owner", "fence"])
        except ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            return None
        owner, fence = cast("list[bytes | None]", found)
        if owner is None or fence is None:
            return None
        try:
            return Ownership(owner.decode(), _counted(fence))
        except ValueError as error:
            raise RedisError(
                f"the owner of the log of session {session!r} cannot be read ({error})"
            ) from error

    async def claim(self, session: str, former: Ownership | None) -> LogState | None:
        """Make a log the owner's in a new life; return it, or None where it is another's than the former one."""
        taken_from = ("", "") if former is None else (former.owner, former.fence)
        pipeline = self._redis.pipeline(transaction=False)
        keys = (*self._keys(session), entry_key(self._prefix, session))
        pipeline.eval(CLAIM, len(keys), *keys, session, self._owner, *taken_from)
        (found,) = await self._replicated(pipeline, [session])
        if isinstance(found, RedisError):
            raise found
        fence, *state = cast("list[int]", found)
        if not fence:
            return None
        self._fences[session] = fence
        first, last, size, micros, deleted = state
        return LogState(Extent(first, last, size), micros, bool(deleted))

    async def beside(self, session: str, seq: int) -> tuple[bytes | None, bytes | None]:
        """Return the whole event and its raw line, where they are stored beside it."""
        found = await self._redis.hmget(self._keys(session)[2], [f"{seq}w", f"{seq}r"])
        whole, raw = cast("list[bytes | None]", found)
        return (whole[1:] if whole else None), (raw[1:] if raw else None)

    async def retain(self, session: str, retention: Retention, oldest: int) -> Extent:
        """Apply retention to one log."""
        return Extent(*await self._connection.run(RETAIN, self._keys(session), *_limits(retention), oldest))

    async def delete(self, session: str, last: int) -> Extent:
        """Delete one log's events; `last` is where it ends, as far as known, should its state not tell."""
        keys, fence = self._keys(session), self._fence(session)
        extent = Extent(*await self._connection.run(DELETE, keys, *fence, last))
        self.unreadable.discard(session)
        return extent

    async def delete_from(self, session: str, former: Ownership) -> tuple[int, Extent | None]:
        """Delete the log of an owner that is gone; return its new fence, 0 if another worker owns it by now.

        The extent is None where that was done before.
        """
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.eval(DELETE_FROM, 3, *self._keys(session), former.owner, former.fence)
        (found,) = await self._replicated(pipeline, [session])
        if isinstance(found, RedisError):
            raise found
        fence, *extent = cast("list[int]", found)
        return fence, Extent(*extent) if extent else None

    async def news(self) -> AsyncGenerator[tuple[str, LogState] | str | None]:
        """Yield None once all is heard, and when all is to be looked at again. Yield each log that another journal has
        appended to, and a session from whose own channel it hears from now on. Raises RedisError when the connection is lost.
        """
        puzzled, begun = False, False
        self._subscription.add(self._channel)
        async for channel, message in self._subscription:
            if channel == self._channel and message in {None, _LOOK_AGAIN}:
                begun = True
                yield None
            elif message is None:
                if begun:
                    yield channel.removeprefix(f"{self._channel}:")
            elif (told := _told(message)) is None:
                if not puzzled:
                    log.warning(
                        "another program published on the journal's channel",
                        extra={"server": self.name, "channel": self._channel},
                    )
                puzzled = True
            elif told[0] != self.writer:
                yield told[1:]

    async def close(self) -> None:
        """Let go of the connections."""
        await self._connection.close()

    async def _sessions(self) -> set[str]:
        members = cast("set[bytes]", await self._redis.smembers(f"{self._prefix}sessions"))
        return {name for member in members if (name := _text(member)) is not None}

    def fence(self, session: str) -> int:
        """Return the number of a log's owner and life; of a log that was begun here, the first."""
        return self._fences.get(session, 1)

    def _fence(self, session: str) -> tuple[str, str]:
        return (self._owner, str(self.fence(session))) if self._owner else ("", "")

    def _keys(self, session: str) -> tuple[str, str, str]:
        name = self._connection.tagged(session)
        state = state_key(self._connection, self._prefix, session)
        return f"{self._prefix}log:{name}", state, f"{self._prefix}beside:{name}"


def state_key(connection: Connection, prefix: str, session: str) -> str:
    """Return the key of a log's state, which says whose the log is."""
    return f"{prefix}state:{connection.tagged(session)}"


def entry_key(prefix: str, session: str) -> str:
    """Return the key of a session's entry in the directory of a fleet, in a cluster beside its log."""
    return f"{prefix}fleet:{{{session}}}:entry"


def _may_lose(told: Sequence[Mapping[str, Any]], replicas: int, *, synced: bool) -> str:
    """Return when a Redis loses what it has acknowledged, as a phrase; nothing where it does not."""
    when = []
    if not synced:
        when.append("it is restarted or its machine fails (appendonly yes with appendfsync always keeps all)")
    if not replicas and any(about.get("connected_slaves") for about in told):
        when.append("a replica takes its place (redis_replicas waits for them)")
    return ", or ".join(when)


_STATE = ["first", "last", "size", "micros", "deleted"]


def _state(row: Sequence[bytes | None]) -> LogState | ValueError:
    try:
        first, last, size, micros, deleted = (_counted(value or b"0") for value in row)
    except ValueError as error:
        return error
    extent = Extent(first or 1, last, size)
    if extent.first > last + 1 or micros > LATEST:
        return ValueError(f"no log has {extent} at {micros}")
    return LogState(extent, micros, bool(deleted))


def _event(key: bytes, fields: Mapping[bytes, bytes]) -> EventRow | None:
    """Return an event; None for an entry that turnwire did not write, which counts as lost."""
    seq, _, within = key.partition(b"-")
    try:
        row = EventRow(_counted(seq), _counted(fields[b"t"]), fields[b"e"])
    except (KeyError, ValueError):
        return None
    return row if within == b"0" and row.micros <= LATEST and is_json_object(row.event) else None


def _counted(value: bytes) -> int:
    """Read a number that a log can have; raises ValueError. Beyond these neither Lua nor JavaScript counts one by one."""
    if not value.isdigit() or len(value) > len(str(LARGEST)) or (number := int(value)) > LARGEST:
        raise ValueError(f"not a number of a log: {value[:40]!r}")
    return number


def _told(message: bytes) -> tuple[str, str, LogState] | None:
    """Return the writer, the session and its log from a message of turnwire."""
    writer, *numbers, session = [*(_text(message) or "").split(" ", 5), ""][:6]
    try:
        first, last, size, micros = (_counted(number.encode()) for number in numbers)
    except ValueError:
        return None
    if len(writer) != 32 or not session or not 0 < first <= last + 1 or micros > LATEST:
        return None
    return writer, session, LogState(Extent(first, last, size), micros, deleted=False)


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
