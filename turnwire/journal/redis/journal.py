"""The journal in Redis Streams: logs that several sidecars and hubs share, one of them writing each session.

As with SQLite the event loop numbers entries and queues them, and they are announced once the server has them; here a
task sends what waits in one round trip. What other sidecars append is heard over a channel and read from the server.
It is as durable as the server is configured to be. Needs the extra `redis`. See docs/journal.md.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Self

from redis.exceptions import (
    AskError,
    ClusterError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import TimeoutError as RedisTimeout

from turnwire._runtime.task_owner import TaskOwner, heed_cancellation, set_within
from turnwire.journal.ages import AgeClock, Limits, kept, read, steadily
from turnwire.journal.base import (
    KEEP_ALL,
    Entry,
    JournalUnavailable,
    Page,
    Retention,
    WholeEntry,
)
from turnwire.journal.damage import is_json_object
from turnwire.journal.log_index import LogIndex
from turnwire.journal.queued import QueuedJournal, envelopes_of
from turnwire.journal.reading.paging import page_of, place
from turnwire.journal.redis.archive import Archive
from turnwire.journal.redis.archive_file import ArchivedEvent
from turnwire.journal.redis.server import TELL_S, LogState, Ownership, RedisServer
from turnwire.journal.redis.subscriber import Subscriber
from turnwire.journal.rows import Append, EventRow, Extent
from turnwire.journal.timestamps import MICROSECONDS, Clock, now, stamp
from turnwire.normalize.events.envelope import Cursor, Envelope

log = logging.getLogger(__name__)

GROUP_BYTES = 4 << 20
"""What is sent in one round trip, about."""
RETRY_S = 0.5
"""How long the server is left alone after it failed."""
ASK_S = 2.0
"""Seconds between checks of a server that nobody writes to: would it accept a write?"""
FOLLOW_S = 5.0
"""How long a session is listened to after nobody follows it any more."""
LOOK_S = 0.5
"""Seconds between checks of a server that is only read."""
ANSWERED_S = 1.0
"""Seconds after which a server that is only read, and has not answered, is reported. Both together are less than two."""
SWEEP_S = 60.0
"""How often idle logs are looked over for retention by age."""

MOVE_S = 1.0
"""Least time between two looks for quiet sessions."""

_OF_THE_SERVER = (
    "OOM", "LOADING", "BUSY", "MISCONF", "READONLY", "MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "TRYAGAIN",
    "NOAUTH", "NOPERM", "UNKILLABLE",
)  # fmt: skip
"""What a server says of itself, whatever it was asked; also in what a script passes on."""

_OF_THE_SERVER_TYPES = (
    AskError,
    ClusterError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)
"""The same where the library has made an error of its own of it, and left the word out."""


_OF_OUR_SCRIPTS = ("JOURNAL ", "FENCED ")
"""How the refusals begin that are about one log, and quote what its keys hold."""


def _is_of_the_server(failure: Exception) -> bool:
    if str(failure).startswith(_OF_OUR_SCRIPTS):
        return False
    return isinstance(failure, _OF_THE_SERVER_TYPES) or any(code in str(failure) for code in _OF_THE_SERVER)


class RedisJournal(QueuedJournal):
    """Implements `turnwire.journal.base.Journal`; made by `open`."""

    def __init__(
        self, server: RedisServer, epoch: str, retention: Retention, clock: Clock, ages: AgeClock
    ) -> None:
        super().__init__(epoch, LogIndex(), clock, f"the Redis at {server.name}")
        self._server = server
        self._retention = retention
        self._ages = ages
        self._have_refused: set[str] = set()
        """Sessions whose own log has refused something since it was claimed."""
        self._archive: Archive | None = None
        """Where events of quiet sessions are, if they may be in files."""
        self._followed: Counter[str] = Counter()
        """Sessions whose appends are to be heard of at once, and how many want it."""
        self._at_once: set[str] = set()
        """Those of which all is heard at once."""
        self._subscription_error: JournalUnavailable | None = None
        """Why it is not heard what other sidecars write."""
        self._isolating_failure = False
        """Whether one batch is sent at a time, to find out which cannot be."""
        # Bounded by the backlog.
        self._queue: deque[Append] = deque()
        self._work = asyncio.Event()
        self._closing = asyncio.Event()
        self._reads_only = False
        """Whether it leaves retention to others, and has no numbers of its own by which it would see what is lost."""
        self._tasks = TaskOwner()
        # `close` waits for the one and ends the other.
        self._writing: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        url: str,
        retention: Retention = KEEP_ALL,
        *,
        prefix: str = "turnwire:",
        clock: Clock = now,
        steady: Clock = steadily,
        owner: str | None = None,
        reads_only: bool = False,
        replicas: int = 0,
        archive_dir: Path | None = None,
        archive_after_s: float | None = None,
    ) -> Self:
        """Connect to the server and learn what logs it has; raises JournalUnavailable.

        With an `owner`, a worker of a fleet, it has the logs alone that are begun or claimed by it, and others' take nothing of it.
        One that `reads_only` leaves retention to those who write. What `replicas` replicas do not have yet is not readable.
        Events of an owner's sessions that are quiet for `archive_after_s` go to files in `archive_dir`, from where all journals read them.
        """
        server = RedisServer(url, prefix, owner, replicas=replicas)
        try:
            epoch, states = await server.begin(), {} if owner else await server.states()
            ages = AgeClock(
                clock,
                steady,
                Limits.for_retention(retention.max_age_s),
                known=read(await server.witness()),
                newest=max((state.micros for state in states.values()), default=0),
            )
            journal = cls(server, epoch, retention, clock, ages)
            journal._take_over(states)
            journal._reads_only = reads_only
            if archive_dir is not None:
                journal._archive = Archive(server, archive_dir, archive_after_s if owner else None, retention)
                if journal._archive.after_s is not None:
                    await journal._archive.begin()
                    journal._tasks.keep("journal archive", journal._move_quiet(journal._archive))
            if owner is None:
                journal._listening = journal._tasks.keep("journal news", journal._listen())
            journal._tasks.keep("journal subscriber", server.subscriber.run())
            if not reads_only:
                journal._tasks.keep("journal digest", journal._tell())
            journal._writing = journal._tasks.keep("journal writer", journal._write())
            journal._tasks.keep("journal readiness", journal._ask())
        except RedisError as error:
            await server.close()
            raise server.explain(error) from error
        except JournalUnavailable:
            await server.close()
            raise
        return journal

    @property
    def subscriber(self) -> Subscriber:
        """What hears what other processes tell in this Redis; it is run as long as the journal is open."""
        return self._server.subscriber

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written at present, or what others write is not heard."""
        trouble = self._backlog.trouble or self._subscription_error
        return None if trouble is None else str(trouble)

    def has_refused(self, session: str) -> bool:
        """Whether a session's own log has refused something since it was claimed, also if `append` has raised it."""
        return session in self._have_refused

    async def check(self) -> None:
        """Write a little; raises JournalUnavailable when the server does not take it, or has not taken what waits."""
        if self._backlog.trouble is not None:
            raise self._backlog.trouble
        with self._server.explained():
            await self._server.take_room()

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Number the entries and queue them to be sent."""
        await self._backlog.room(session)
        if entries:
            size = sum(entry.size for entry in entries)
            self._backlog.accept(size)
            self._queue.append(self._logs.accept(session, entries, self._clock(), size))
            self._work.set()
        return self._logs.accepted(session)

    def size(self, session: str) -> int:
        """Return how many bytes a session's log has."""
        known = self._logs.find(session)
        return 0 if known is None else known.extent.size

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        """Return what follows the cursor: from the cache when it reaches that far back, else from the server."""
        if self._reads_only and session not in self._at_once:
            # Of these it hears a little later. Where the server is away, what is to be read fails below.
            with suppress(JournalUnavailable):
                await self._newest(session)
        last, epoch = self._logs.last(session), self._epoch
        if cursor.seq > last and cursor.epoch == epoch and self._listening is not None:
            # Another hub has told the reader of what was not heard here yet.
            last = await self._newest(session)
        after = place(cursor, epoch, last) or 0
        envelopes: Sequence[Envelope] = ()
        if after < last:
            tail = self._cache.reaching(session, after)
            if tail is not None and tail.last >= last:
                envelopes = tail.after(after, count, size)
            else:
                rows = await self._read(session, after, last, count=count, size=size)
                envelopes = [Envelope(session, row.seq, stamp(row.micros), row.event) for row in rows]
        return page_of(cursor, epoch, last, envelopes)

    async def _newest(self, session: str) -> int:
        with self._server.explained():
            self._take_over(await self._server.states(session))
        return self._logs.last(session)

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        """Return one event uncut."""
        with self._server.explained():
            rows = await self._server.events(session, seq - 1, seq, 1) if seq > 0 else []
            if not rows:
                found = await self._from_file(session, seq - 1, seq, 1, 0)
                return WholeEntry(found[0].whole or found[0].event, found[0].raw) if found else None
            whole, raw = await self._server.beside(session, seq)
        if whole is not None and not is_json_object(whole):
            self._damage.found(session, seq, seq)
            return None
        return WholeEntry(rows[0].event if whole is None else whole, raw)

    async def delete(self, session: str) -> None:
        """Forget a session's events."""
        if self._logs.find(session) is None and session not in self._server.unreadable:
            return
        await self.flush(session)
        with self._server.explained():
            extent = await self._server.delete(session, self._logs.last(session))
        known = self._logs.get_or_add(session)
        known.extent, known.deleted, known.accepted = extent, True, max(known.accepted, extent.last)
        self._cache.forget(session, known.extent.first)
        if self._archive is not None:
            await self._archive.forget(session)

    async def delete_from(self, session: str, former: Ownership) -> int:
        """Delete the events of a session whose owner is gone, and let nobody claim its log again.

        Returns its new fence; 0 if another worker owns it by now. Raises JournalUnavailable.
        """
        with self._server.explained():
            fence, extent = await self._server.delete_from(session, former)
        if extent is not None and (known := self._logs.find(session)) is not None:
            known.extent, known.deleted = extent, True
            self._cache.forget(session, extent.first)
        if extent is not None and self._archive is not None:
            await self._archive.forget(session)
        return fence

    async def retain(self) -> None:
        """Apply retention to all logs now."""
        for known in self._logs:
            try:
                known.extent = await self._server.retain(known.session, self._retention, self._oldest())
            except ResponseError as error:
                if _is_of_the_server(error):
                    raise self._server.explain(error) from error
                log.warning(
                    "retention could not be applied to a session's log",
                    extra={"server": self._server.name, "session": known.session, "error": str(error)},
                )
            except RedisError as error:
                raise self._server.explain(error) from error
            self._cache.forget(known.session, known.extent.first)

    async def begin_epoch(self) -> None:
        """Begin a new epoch: what was read of the logs does not count any more. Raises JournalUnavailable."""
        with self._server.explained():
            self._epoch = await self._server.begin_epoch()

    def fence(self, session: str) -> int:
        """Return the fence of a log, if this journal knows it."""
        return self._server.fence(session)

    async def ownership(self, session: str) -> Ownership | None:
        """Return the owner of a log, None if it has none. Raises JournalUnavailable."""
        with self._server.explained():
            return await self._server.ownership(session)

    async def claim(self, session: str, former: Ownership | None = None) -> bool:
        """Claim a log in a new life: one without an owner, our own, or that of `former`. Returns False if another
        worker owns it. Raises JournalUnavailable.
        """
        # What waits was numbered in a life before, and has to be refused or taken in that life.
        while any(batch.session == session for batch in self._queue):
            try:
                await self._backlog.flush(session)
            except JournalUnavailable:
                if self._backlog.trouble is not None:
                    raise
        with self._server.explained():
            state = await self._server.claim(session, former)
        if state is not None:
            self._have_refused.discard(session)
            self._backlog.forgive(session)
            self._take_over({session: state})
            # What was numbered in a life before and refused is nobody's any more.
            self._logs.get_or_add(session).accepted = state.extent.last
        return state is not None

    def follow(self, session: str) -> Callable[[], None]:
        """Announce progress of a session at once until the returned function is called; of others within a second."""
        self._followed[session] += 1
        if self._followed[session] == 1 and self._listening is not None:
            self._server.follow(session)

        def end() -> None:
            self._followed[session] -= 1
            if not self._followed[session]:
                del self._followed[session]
                self._at_once.discard(session)
                self._server.unfollow(session)

        def later() -> None:
            # A frontend that cannot keep up for a moment is back soon.
            asyncio.get_running_loop().call_later(FOLLOW_S, end)

        return later

    async def close(self) -> None:
        """Send what is queued and disconnect; raises JournalUnavailable when the server does not take it."""
        self._backlog.close(JournalUnavailable(f"The journal in the Redis at {self._server.name} is closed."))
        self._closing.set()
        self._work.set()
        try:
            if self._writing is not None:
                await self._writing
            with suppress(RedisError):
                await self._server.tell()
        finally:
            await self._tasks.close()
            await self._server.close()
        if self._queue:
            lost = sum(len(batch.entries) for batch in self._queue)
            raise JournalUnavailable(f"{self.trouble} Closed with {lost} events unwritten.")

    async def _write(self) -> None:
        """Send what waits until the journal is closed and all is sent, or the server refuses it even then."""
        loop = asyncio.get_running_loop()
        sweep_at = loop.time() + SWEEP_S
        while self._queue or not self._closing.is_set():
            heed_cancellation()
            try:
                if self._queue:
                    if not await self._send():
                        if self._closing.is_set():
                            return
                        await set_within(self._closing, RETRY_S)
                else:
                    self._work.clear()
                    await set_within(self._work, sweep_at - loop.time())
                if loop.time() >= sweep_at:
                    sweep_at = loop.time() + SWEEP_S
                    if not self._reads_only:
                        await self._sweep()
            except Exception as error:
                # Without this task nothing would be written any more, and nobody would know.
                log.exception(
                    "the journal's writer failed and is restarted", extra={"server": self._server.name}
                )
                self._backlog.stuck(self._explain(error))
                if self._closing.is_set():
                    return
                await set_within(self._closing, RETRY_S)

    async def _ask(self) -> None:
        """Find out, where nothing is sent, when the server stops taking anything, and when it begins again."""
        while True:
            await asyncio.sleep(LOOK_S if self._reads_only else ASK_S)
            heed_cancellation()
            if self._queue:
                # The writer finds out.
                continue
            failure: RedisError | None = None
            try:
                async with asyncio.timeout(ANSWERED_S if self._reads_only else None):
                    await self._server.ask(only_reads=self._reads_only)
            except TimeoutError:
                failure = RedisTimeout(f"it has not answered for {ANSWERED_S:g} s")
            except RedisError as error:
                failure = error
            if self._queue:
                continue
            if failure is not None:
                self._backlog.stuck(self._server.explain(failure))
            else:
                self._backlog.commit(0, 0)

    async def _send(self) -> bool:
        """Send what waits, as much as goes into one round trip; False when the server takes nothing at present."""
        group: list[Append] = []
        size = 0
        for batch in self._queue:
            group.append(batch)
            size += batch.size
            if size >= GROUP_BYTES or self._isolating_failure:
                break
        extents: list[Extent] = []
        failure: Exception | None
        try:
            extents, failure = await self._server.append(group, self._retention, self._oldest())
        except Exception as error:  # noqa: BLE001 - whatever one session's events do to us, the others' go on
            failure = error
        if extents:
            self._committed(extents)
        if failure is None:
            self._isolating_failure = False
            return True
        if not isinstance(failure, RedisError) and len(group) > 1:
            self._isolating_failure = True
            return True
        try:
            if await self._is_settled(self._queue[0], failure):
                return True
        except RedisError as error:
            failure = error
        self._backlog.stuck(self._explain(failure))
        return False

    async def _is_settled(self, batch: Append, failure: Exception) -> bool:
        """See to a batch that fails for a reason of its own session's; False when the server is at fault. Raises RedisError."""
        said = str(failure)
        if isinstance(failure, RedisError) and not isinstance(failure, ResponseError):
            return False
        if isinstance(failure, MemoryError) or _is_of_the_server(failure):
            return False
        if said.startswith("JOURNAL "):
            try:
                if await self._server.adopt(batch.session, batch.first - 1):
                    log.error(
                        "the server lost events of a session; the session goes on after them, and readers get a gap",
                        extra={"server": self._server.name, "session": batch.session, "before": batch.first},
                    )
                    return True
            except ResponseError as error:
                failure = error
        # A server that takes other things is not at fault.
        await self._server.take_room()
        self._queue.popleft()
        self._have_refused.add(batch.session)
        self._lose(batch, self._explain(failure), server=self._server.name)
        return True

    def _explain(self, failure: Exception) -> JournalUnavailable:
        if isinstance(failure, RedisError):
            return self._server.explain(failure)
        return JournalUnavailable(f"Events cannot be sent to the Redis at {self._server.name}: {failure!r}.")

    def _committed(self, extents: list[Extent]) -> None:
        sessions: dict[str, int] = {}
        size = 0
        for extent in extents:
            batch = self._queue.popleft()
            size += batch.size
            known = self._logs.get_or_add(batch.session)
            known.extent, known.deleted = extent, False
            self._cache.add(batch.session, envelopes_of(batch))
            self._cache.forget(batch.session, extent.first)
            sessions[batch.session] = batch.first + len(batch.entries) - 1
        self._backlog.commit(len(extents), size)
        for session, last in sessions.items():
            self._watchers.announce(session, last)

    async def _listen(self) -> None:
        """Hear what others append, and begin anew whenever that ends."""
        while True:
            try:
                async with aclosing(self._server.news()) as told:
                    async for news in told:
                        if news is None:
                            await self._look_again()
                            self._at_once = {*filter(self._server.hears_at_once, self._followed)}
                            self._hear(None)
                        elif isinstance(news, str):
                            await self._newest(news)
                            if news in self._followed:
                                self._at_once.add(news)
                        elif self._reads_only and news[1].extent.last < self.last(news[0]):
                            await self._look_closer(news[0])
                        else:
                            self._take_over(dict([news]))
            except Exception as error:  # noqa: BLE001 - whatever it was, it is told, and listening goes on
                self._at_once.clear()
                reason = JournalUnavailable(
                    f"What other sidecars write to the Redis at {self._server.name} is not heard: {str(error) or repr(error)}. "
                    "It is tried again."
                )
                if self._subscription_error is None:
                    log.warning(
                        "the journal's listener failed and is restarted", extra={"error": str(reason)}
                    )
                self._hear(reason)
                heed_cancellation()
                await asyncio.sleep(RETRY_S)

    async def _tell(self) -> None:
        """Tell those who follow other sessions which logs have grown."""
        while True:
            await asyncio.sleep(TELL_S)
            heed_cancellation()
            try:
                await self._server.tell()
            except RedisError:
                pass  # the writer reports it; it is told later

    async def _look_again(self, over: str | None = None) -> None:
        """Read the list of all logs again, and check whether earlier reads still count; raises RedisError and JournalUnavailable."""
        epoch = await self._server.begin(over) if self._reads_only else self._epoch
        states = await self._server.states()
        former = self._logs
        if epoch != self._epoch:
            log.warning(
                "the server may have lost events that frontends have read; all readers start again",
                extra={"server": self._server.name},
            )
            self._epoch, self._logs = epoch, LogIndex()
        self._take_over(states)
        if self._logs is not former:
            for known in former:
                self._watchers.announce(known.session, self._logs.last(known.session))

    async def _look_closer(self, session: str) -> None:
        """See whether a log ends before what was read of it, and not just the news of it came late. Raises as above."""
        state = (await self._server.states(session)).get(session)
        if state is None or state.extent.last < self._logs.last(session):
            await self._look_again(over=self._epoch)

    def _hear(self, error: JournalUnavailable | None) -> None:
        changed = str(error) != str(self._subscription_error)
        self._subscription_error = error
        if changed:
            self._backlog.tell()

    def _take_over(self, states: Mapping[str, LogState]) -> None:
        for session, state in states.items():
            known = self._logs.find(session)
            # Anybody may publish any name; it is worth remembering when there is something under it.
            if state.extent.last <= (0 if known is None else known.extent.last):
                continue
            known = known or self._logs.get_or_add(session)
            known.extent, known.deleted = state.extent, state.deleted
            known.accepted = max(known.accepted, state.extent.last)
            known.micros = max(known.micros, state.micros)
            self._watchers.announce(session, state.extent.last)

    async def _read(self, session: str, after: int, last: int, *, count: int, size: int) -> list[EventRow]:
        extent, begin = self._logs.get_or_add(session).extent, after + 1
        usual = max(1, extent.size // max(1, extent.last - extent.first + 1))
        rows: list[EventRow] = []
        in_file = self._archive is not None and self._archive.reaches(session, begin)
        asked_file = in_file or self._archive is None
        with self._server.explained():
            while after < last and len(rows) < count and (size > 0 or not rows):
                # The server can be told a count alone; what is asked for is about what there is room for.
                ask = min(count - len(rows), 1 + max(size, 0) // usual)
                if in_file:
                    found = await self._from_file(session, after, last, ask, size)
                    more, in_file = [EventRow(row.seq, row.micros, row.event) for row in found], False
                    if not more:
                        continue
                else:
                    more = await self._server.events(session, after, last, ask)
                    if not rows and not asked_file and (not more or more[0].seq > begin):
                        in_file = asked_file = True
                        continue
                for row in more:
                    size -= len(row.event)
                    if rows and (size < 0 or row.seq != rows[-1].seq + 1):
                        return rows
                    if not rows and row.seq > begin:
                        self._note_lost(session, begin, row.seq - 1)
                    rows.append(row)
                if not more:
                    break
                after = more[-1].seq
        if not rows and begin <= last:
            self._note_lost(session, begin, last)
        return rows

    async def _from_file(
        self, session: str, after: int, last: int, count: int, size: int
    ) -> list[ArchivedEvent]:
        """Return events that are in a file, and not in the server any more. Raises ArchiveUnreadable and RedisError."""
        after = max(after, self._logs.get_or_add(session).extent.first - 1)
        if self._archive is None or after >= last:
            return []
        return await self._archive.read(session, after, last, count, size)

    async def archive_quiet(self) -> None:
        """Move the events of quiet sessions into files now. Raises JournalUnavailable."""
        if self._archive is None or self._archive.after_s is None:
            return
        before = self._ages() - int(self._archive.after_s * MICROSECONDS)
        try:
            for known in self._logs:
                first, last = known.extent.first, known.extent.last
                if known.deleted or known.micros > before or known.accepted != last:
                    continue
                if known.session in self._server.unreadable or self._archive.is_moved(
                    known.session, first, last
                ):
                    continue
                await self._archive.move(known.session, self._server.fence(known.session))
            await self._archive.sweep()
        except RedisError as error:
            raise self._server.explain(error) from error
        except OSError as error:
            raise JournalUnavailable(
                f"Old events cannot be moved into files: {error.strerror or error}."
            ) from error

    async def _move_quiet(self, archive: Archive) -> None:
        assert archive.after_s is not None
        while True:
            await asyncio.sleep(max(MOVE_S, min(SWEEP_S, archive.after_s)))
            heed_cancellation()
            try:
                await self.archive_quiet()
            except JournalUnavailable:
                pass  # of Redis the writer tells; of a file the archive has
            except Exception:
                log.exception("old events could not be moved into files; it is tried again")

    def _note_lost(self, session: str, first: int, last: int) -> None:
        first = max(first, self._logs.get_or_add(session).extent.first)
        if first <= last:
            self._damage.found(session, first, last)

    async def _sweep(self) -> None:
        try:
            await self.retain()
            await self._server.keep_witness(kept(self._ages.witness))
        except RedisError as error:
            self._backlog.stuck(self._server.explain(error))
        except JournalUnavailable as reason:
            self._backlog.stuck(reason)

    def _oldest(self) -> int:
        age = self._retention.max_age_s
        return 0 if age is None else self._ages() - int(age * MICROSECONDS)
