"""The only thread that writes a journal file.

It takes everything that waits, writes it in one transaction, and tells the event loop what has become readable. While
it commits one group, the next one gathers. So a slow disk makes groups larger, and not the queue longer. A group that
cannot be written is kept and tried again, so a temporarily full disk loses no accepted event.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from turnwire.journal.base import JournalUnavailable, Retention
from turnwire.journal.rows import Append, Extent
from turnwire.journal.sqlite.checkpoints import Checkpoints, Thresholds
from turnwire.journal.sqlite.errors import explain, refused
from turnwire.journal.sqlite.mark import CALLS
from turnwire.journal.sqlite.opening import OpenedFile, end_life
from turnwire.journal.sqlite.presence import Presence
from turnwire.journal.sqlite.rows import append_all, retain_all
from turnwire.journal.sqlite.schema import transaction

T = TypeVar("T")

GROUP_BYTES = 8 << 20
"""A group ends after this much."""
RETRY_S = 0.5
"""How long a group that could not be written waits."""
SWEEP_S = 60.0
"""How often idle logs are looked over for retention by age."""
ROOM = 1 << 16
"""Bytes that are written to see whether they can be."""
SPARE_PAGES = 1024
"""Free pages from which on the file is made smaller, this many at a time."""

_OF_THE_BATCH = frozenset(
    (sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE)
)
"""Primary result codes that are the values' fault."""


_COUNT_CALL = "INSERT INTO meta VALUES (?, '1') ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1"


class Listener(Protocol):
    """Called in the event loop with the thread's results."""

    def committed(self, appends: list[Append], extents: dict[int, Extent]) -> None:
        """These are in the file now, and these logs hold this."""
        ...

    def refused(self, batch: Append, reason: JournalUnavailable) -> None:
        """This batch will never be in the file, for a reason of its own."""
        ...

    def stuck(self, reason: JournalUnavailable) -> None:
        """Waiting batches cannot be written at present."""
        ...


class _Call(Struct, frozen=True):
    run: Callable[[], None]
    refuse: Callable[[JournalUnavailable], None]


class _Stop:
    pass


class Writer:
    """Owns the connection for writing, from construction until `stop`."""

    def __init__(
        self,
        opened: OpenedFile,
        retention: Retention,
        thresholds: Thresholds,
        listener: Listener,
    ) -> None:
        self._connection = opened.connection
        self._path = path = opened.path
        self._presence = Presence(path)
        self._mark, self._committed = opened.mark, opened.committed
        self._retention = retention
        self._ages = opened.ages
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        # Bounded by the journal, which counts what it put in and what came out.
        self._queue: SimpleQueue[Append | _Call | _Stop] = SimpleQueue()
        self._held: _Call | _Stop | None = None
        self._stopping = threading.Event()
        self._sweep_at = time.monotonic()
        self._ailing = False
        """Whether the last attempt to write has failed with nothing waiting: then a sweep is to find out when it is over."""
        self._stopped: asyncio.Future[JournalUnavailable | None] = self._loop.create_future()
        self._checkpoints = Checkpoints(opened, self._between_commits, thresholds)
        self._thread = threading.Thread(target=self._main, name=f"journal {path.name}", daemon=True)
        self._thread.start()

    def append(self, batch: Append) -> None:
        """Queue a batch."""
        self._queue.put(batch)

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in a transaction after everything that was queued before it.

        Raises its errors, and JournalUnavailable while nothing can be written.
        """
        done: asyncio.Future[T] = self._loop.create_future()

        def run() -> None:
            try:
                with self._transaction():
                    result = function(self._connection)
                    self._connection.execute(_COUNT_CALL, (CALLS,))
                    (sessions,) = self._connection.execute("SELECT count(*) FROM session").fetchone()
            except sqlite3.Error as error:
                self._tell(_fail, done, explain(self._path, error))
            except Exception as error:  # noqa: BLE001 - the caller's function, the caller's exception
                self._tell(_fail, done, error)
            else:
                self._note(calls=1, sessions=sessions)
                self._tell(_succeed, done, result)

        self._queue.put(_Call(run, lambda reason: self._tell(_fail, done, reason)))
        return await done

    async def check(self) -> None:
        """Write a little after everything that was queued before. If that fails, raises JournalUnavailable and reports it."""
        done: asyncio.Future[None] = self._loop.create_future()

        def run() -> None:
            try:
                with self._transaction():
                    _take_room(self._connection)
            except sqlite3.Error as error:
                reason = explain(self._path, error)
                self._fall_ill(reason)
                self._tell(_fail, done, reason)
            else:
                self._tell(_succeed, done, None)

        self._queue.put(_Call(run, lambda reason: self._tell(_fail, done, reason)))
        await done

    async def retain(self) -> None:
        """Apply retention after all that was queued before."""
        extents = await self.call(lambda connection: retain_all(connection, self._retention, self._ages))
        self._listener.committed([], extents)

    async def stop(self) -> None:
        """Write what is queued, close the file and end the thread. Raises JournalUnavailable if that fails."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._queue.put(_Stop())
        reason = await asyncio.shield(self._stopped)
        self._thread.join()
        if reason is not None:
            raise reason

    def _between_commits(self, run: Callable[[], None]) -> None:
        self._queue.put(_Call(run, lambda _: run()))

    def _transaction(self) -> transaction:
        """Begin a transaction, if the file is still there. Raises sqlite3.Error."""
        self._presence.check()
        return transaction(self._connection)

    def _note(self, *, events: int = 0, calls: int = 0, sessions: int | None = None) -> None:
        """Note what was committed, before it is announced."""
        known = self._committed
        self._committed = replace(
            known,
            events=known.events + events,
            calls=known.calls + calls,
            sessions=known.sessions if sessions is None else sessions,
        )
        self._mark.write(self._committed)

    def _tell(self, function: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            # The loop was closed without closing the journal; there is nobody left to tell.
            pass

    def _main(self) -> None:
        reason: JournalUnavailable | None = None
        while reason is None:
            match self._next():
                case _Stop():
                    break
                case _Call(run=run):
                    run()
                case list() as group:
                    reason = self._write(group)
            self._checkpoints.look()
        self._checkpoints.stop()
        try:
            end_life(self._connection)
        except sqlite3.Error as error:
            reason = reason or explain(self._path, error)
        self._mark.close()
        self._tell(_succeed, self._stopped, reason)

    def _next(self) -> list[Append] | _Call | _Stop:
        """Return the next work: waiting appends as a group, or a single other item."""
        if (held := self._held) is not None:
            self._held = None
            return held
        while True:
            try:
                taken = self._queue.get(timeout=max(self._sweep_at - time.monotonic(), 0))
            except Empty:
                self._sweep()
                self._checkpoints.look()
            else:
                return self._gather(taken) if isinstance(taken, Append) else taken

    def _gather(self, first: Append) -> list[Append]:
        group, size = [first], first.size
        while size < GROUP_BYTES:
            try:
                more = self._queue.get_nowait()
            except Empty:
                break
            if not isinstance(more, Append):
                self._held = more
                break
            group.append(more)
            size += more.size
        return group

    def _write(self, group: list[Append]) -> JournalUnavailable | None:
        """Write a group, trying until it is written or the journal is closed; return why it was given up.

        A failed group is written batch by batch. On a disk with little room some of it may fit. A batch that fails
        for its own reason is refused without the others.
        """
        alone = False
        while group:
            part = group[:1] if alone else group
            try:
                with self._transaction():
                    extents = append_all(self._connection, part, self._retention)
            except Exception as error:  # noqa: BLE001 - whatever one session's events do to us, the others' go on
                reason = explain(self._path, error)
                if len(part) > 1:
                    alone = True
                    continue
                if self._is_its_own(error):
                    self._tell(self._listener.refused, part[0], refused(self._path, part[0].session, error))
                    group = group[1:]
                    continue
            else:
                self._ailing = False
                self._note(events=sum(len(batch.entries) for batch in part))
                self._tell(self._listener.committed, part, extents)
                group = group[len(part) :]
                alone = False
                continue
            self._tell(self._listener.stuck, reason)
            self._checkpoints.hurry()
            if isinstance(self._held, _Stop):
                lost = sum(len(batch.entries) for batch in group)
                return JournalUnavailable(f"{reason} Closed with {lost} events unwritten.")
            self._stopping.wait(RETRY_S)
            self._take_in(group, reason)
        return None

    def _is_its_own(self, error: Exception) -> bool:
        """Return whether an error concerns one batch or the pages of one session's log, rather than the disk."""
        if isinstance(error, MemoryError):
            return False
        code = getattr(error, "sqlite_errorcode", None)
        if not isinstance(error, sqlite3.Error) or code is None or code & 0xFF in _OF_THE_BATCH:
            return True
        if code & 0xFF != sqlite3.SQLITE_CORRUPT:
            return False
        try:
            with self._transaction():
                _take_room(self._connection)
        except sqlite3.Error:
            return False
        return True

    def _take_in(self, group: list[Append], reason: JournalUnavailable) -> None:
        """Add what was queued meanwhile to the group. Refuse calls, whose callers wait."""
        more: Append | _Call | _Stop | None = self._held
        self._held = None
        while not isinstance(more, _Stop):
            match more:
                case Append():
                    group.append(more)
                case _Call(refuse=refuse):
                    refuse(reason)
                case None:
                    pass
            try:
                more = self._queue.get_nowait()
            except Empty:
                return
        self._held = more

    def _sweep(self) -> None:
        self._sweep_at = time.monotonic() + SWEEP_S
        try:
            with self._transaction():
                if self._ailing:
                    _take_room(self._connection)
                extents = retain_all(self._connection, self._retention, self._ages)
            self._ailing = False
            self._tell(self._listener.committed, [], extents)
            (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
            if free > SPARE_PAGES:
                # As a script: `execute` would stop after the first of the pages.
                self._connection.executescript(f"PRAGMA incremental_vacuum({SPARE_PAGES})")
        except sqlite3.Error as error:
            self._fall_ill(explain(self._path, error))

    def _fall_ill(self, reason: JournalUnavailable) -> None:
        """Nothing waits to be written that would be tried again: have a sweep try soon."""
        self._ailing = True
        self._sweep_at = time.monotonic() + RETRY_S
        self._tell(self._listener.stuck, reason)
        self._checkpoints.hurry()


def _take_room(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('room', ?)", ("0" * ROOM,))


def _succeed(future: asyncio.Future[T], result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[T], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
