"""The journal in a SQLite file: what a frontend has seen survives the sidecar.

The event loop numbers entries and queues them. The writer's thread commits them in groups. Then they are announced,
in the event loop again, and kept in the tail cache. Only readers further behind read the file.
One sidecar uses the file at a time. docs/journal.md says what is guaranteed when.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

from turnwire.journal.ages import steadily
from turnwire.journal.base import (
    KEEP_ALL,
    Durability,
    Entry,
    JournalError,
    JournalUnavailable,
    Page,
    Retention,
    WholeEntry,
)
from turnwire.journal.log_index import LogIndex
from turnwire.journal.queued import QueuedJournal, envelopes_of
from turnwire.journal.reading.paging import page_of, place
from turnwire.journal.rows import Append, Extent
from turnwire.journal.sqlite.checkpoints import Thresholds
from turnwire.journal.sqlite.opening import OpenedFile, open_journal
from turnwire.journal.sqlite.reader import FileReader
from turnwire.journal.sqlite.rows import delete_log, entry_at, events_after
from turnwire.journal.sqlite.writer import Writer
from turnwire.journal.timestamps import Clock, now, stamp
from turnwire.normalize.events.envelope import Cursor, Envelope

log = logging.getLogger(__name__)

BATCH_BYTES = 1_000_000_000
"""SQLite's own limit for one value."""


class SqliteJournal(QueuedJournal):
    """Implements `turnwire.journal.base.Journal`; made by `open`."""

    def __init__(
        self, opened: OpenedFile, retention: Retention, clock: Clock, thresholds: Thresholds
    ) -> None:
        super().__init__(opened.epoch, LogIndex(opened.logs), clock, str(opened.path))
        self.path = opened.path
        self._lock = opened.lock
        self._file = opened.file
        self.reader = FileReader(opened.reading, opened.path)
        self.writer = Writer(opened, retention, thresholds, self)
        """For other users of the same file."""

    @classmethod
    async def open(
        cls,
        path: Path,
        retention: Retention = KEEP_ALL,
        *,
        durability: Durability = "process",
        clock: Clock = now,
        steady: Clock = steadily,
        thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
    ) -> Self:
        """Open the file, or make it and its folder; raises JournalUnavailable and then leaves it as it is."""
        opened = await asyncio.to_thread(
            open_journal, path, retention, durability, clock, steady, thresholds=thresholds
        )
        return cls(opened, retention, clock, thresholds)

    async def check(self) -> None:
        """Write a little. Raises JournalUnavailable if that fails, or if waiting events cannot be written."""
        if self._backlog.trouble is not None:
            raise self._backlog.trouble
        await self.writer.check()

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Number the entries and queue them for the writer."""
        size = sum(entry.size for entry in entries)
        if size >= BATCH_BYTES:
            raise JournalError(f"{size} bytes cannot be journaled at once; the limit is {BATCH_BYTES}.")
        await self._backlog.room(session)
        if entries:
            self._backlog.accept(size)
            self.writer.append(self._logs.accept(session, entries, self._clock(), size))
        return self._logs.accepted(session)

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        """Return the events after the cursor: from the cache if it reaches that far back, otherwise from the file."""
        last = self._logs.last(session)
        after = place(cursor, self._epoch, last) or 0
        envelopes: Sequence[Envelope] = ()
        if after < last:
            if (tail := self._cache.reaching(session, after)) is not None:
                envelopes = tail.after(after, count, size)
            else:
                envelopes = await self._read(session, after, last, count=count, size=size)
        return page_of(cursor, self._epoch, last, envelopes)

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        """Return one event uncut."""
        known = self._logs.find(session)
        if known is None or not known.extent.first <= seq <= known.extent.last:
            return None
        entry, is_damaged = await self.reader.call(partial(entry_at, log=known.id, seq=seq))
        if is_damaged:
            self._damage.found(session, seq, seq)
        if entry is None:
            return None
        return WholeEntry(entry.event if entry.whole is None else entry.whole, entry.raw)

    async def delete(self, session: str) -> None:
        """Forget a session's events."""
        if (known := self._logs.find(session)) is None:
            return
        last = known.accepted
        await self.writer.call(partial(delete_log, session=session))
        self._cache.forget(session, last + 1)
        if known.extent.last == last:
            known.extent = Extent(last + 1, last, 0)
            known.deleted = True

    async def retain(self) -> None:
        """Apply retention now."""
        await self.writer.retain()

    async def close(self) -> None:
        """Write what is queued and close the file. Raises JournalUnavailable if that fails."""
        self._backlog.close(JournalUnavailable(f"The journal {self.path} is closed."))
        try:
            await self.writer.stop()
        finally:
            self.reader.close()
            self._file.close()
            self._lock.release()

    def committed(self, appends: list[Append], extents: dict[int, Extent]) -> None:
        """Make committed events readable and announce them."""
        sessions: dict[str, list[Envelope]] = {}
        for batch in appends:
            sessions.setdefault(batch.session, []).extend(envelopes_of(batch))
        for session, envelopes in sessions.items():
            self._cache.add(session, envelopes)
        self._take_over(extents)
        self._backlog.commit(len(appends), sum(batch.size for batch in appends))
        for session, envelopes in sessions.items():
            self._watchers.announce(session, envelopes[-1].seq)

    def stuck(self, reason: JournalUnavailable) -> None:
        """Note that nothing can be written at present, and tell the waiting tasks."""
        self._backlog.stuck(reason)

    def refused(self, batch: Append, reason: JournalUnavailable) -> None:
        """Drop a batch that its session's log refuses: other logs accept theirs."""
        self._lose(batch, reason, journal=str(self.path))

    def _take_over(self, extents: dict[int, Extent]) -> None:
        for number, extent in extents.items():
            known = self._logs.numbered(number)
            known.extent, known.deleted = extent, known.deleted and extent.first > extent.last
            self._cache.forget(known.session, extent.first)

    async def _read(self, session: str, after: int, last: int, *, count: int, size: int) -> list[Envelope]:
        number = self._logs.get_or_add(session).id
        found = await self.reader.call(
            partial(events_after, log=number, after=after, last=last, count=count, size=size)
        )
        if found.damaged is not None:
            self._damage.found(session, *found.damaged)
        return [Envelope(session, row.seq, stamp(row.micros), row.event) for row in found.rows]
