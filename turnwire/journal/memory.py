"""The journal in memory: the shortest correct one, for demos, tests and sessions that need not outlive the sidecar.

Appended entries are readable, and announced, before `append` returns. Each instance is another lifetime of the logs. All logs
together
use a bounded amount of memory: beyond it the oldest events of the largest log are deleted, as by its own retention.
"""

import uuid
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from turnwire.journal.ages import AgeClock, Limits, steadily
from turnwire.journal.base import (
    KEEP_ALL,
    Entry,
    JournalUnavailable,
    LogSummary,
    Page,
    Retention,
    Watcher,
    WholeEntry,
)
from turnwire.journal.reading.paging import Watchers, page_of, place
from turnwire.journal.reading.tail import OVERHEAD, Tail
from turnwire.journal.timestamps import MICROSECONDS, Clock, now, stamp
from turnwire.normalize.events.envelope import Cursor, Envelope


class _Log(Struct):
    tail: Tail = field(default_factory=Tail)
    beside: dict[int, Entry] = field(default_factory=dict)
    """Entries that carry more than the published event."""
    size: int = 0
    newest: int = 0
    deleted: bool = False

    @property
    def footprint(self) -> int:
        """Bytes of memory that it uses, about."""
        return self.size + OVERHEAD * len(self.tail)

    def weight(self, envelope: Envelope) -> int:
        entry = self.beside.get(envelope.seq)
        return len(envelope.event) if entry is None else entry.size

    def drop(self, count: int) -> None:
        for envelope in self.tail.drop(count):
            self.size -= self.weight(envelope)
            self.beside.pop(envelope.seq, None)


class MemoryJournal:
    """Implements `turnwire.journal.base.Journal`."""

    def __init__(
        self,
        retention: Retention = KEEP_ALL,
        *,
        all_bytes: int | None = None,
        epoch: str | None = None,
        clock: Clock = now,
        steady: Clock = steadily,
    ) -> None:
        """Keep at most `all_bytes` of all logs together; None is without limit."""
        self._retention = retention
        self._all_bytes = all_bytes
        self._footprint = 0
        self._epoch = epoch or uuid.uuid4().hex
        self._clock = clock
        self._ages = AgeClock(clock, steady, Limits.for_retention(retention.max_age_s))
        self._logs: dict[str, _Log] = {}
        self._watchers = Watchers()

    @property
    def epoch(self) -> str:
        """The life of the logs: this instance's."""
        return self._epoch

    @property
    def damaged(self) -> int:
        """Always 0: memory is not checked."""
        return 0

    @property
    def trouble(self) -> str | None:
        """Always None: memory does not fail."""
        return None

    @property
    def is_full(self) -> bool:
        """Always False: retention makes room at once."""
        return False

    def refusal(self, session: str) -> JournalUnavailable | None:  # noqa: ARG002 - turnwire.journal.base.Journal
        """Return None: memory accepts everything."""
        return None

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002 - turnwire.journal.base.Journal
        """Never tell: memory does not fail."""
        return lambda: None

    async def check(self) -> None:
        """Do nothing: memory does not fail."""

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Append and announce."""
        log = self._logs.setdefault(session, _Log())
        if not entries:
            return log.tail.last
        before = log.footprint
        log.deleted = False
        log.newest = max(log.newest, self._clock())
        ts = stamp(log.newest)
        for entry in entries:
            seq = log.tail.last + 1
            log.tail.add(Envelope(session, seq, ts, entry.event))
            log.size += entry.size
            if entry.whole is not None or entry.raw is not None:
                log.beside[seq] = entry
        self._retain(log, exactly=False)
        self._footprint += log.footprint - before
        self._make_room(log)
        self._watchers.announce(session, log.tail.last)
        return log.tail.last

    async def flush(self, session: str | None = None) -> None:
        """Return at once: everything appended is readable."""

    def last(self, session: str) -> int:
        """Return the newest number of a session."""
        log = self._logs.get(session)
        return log.tail.last if log else 0

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        """Return the envelopes after the cursor."""
        log = self._logs.get(session)
        last = log.tail.last if log else 0
        after = place(cursor, self._epoch, last) or 0
        return page_of(cursor, self._epoch, last, log.tail.after(after, count, size) if log else ())

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        """Return one event uncut."""
        log = self._logs.get(session)
        envelope = log.tail.get(seq) if log else None
        if log is None or envelope is None:
            return None
        entry = log.beside.get(seq)
        if entry is None:
            return WholeEntry(envelope.event, None)
        return WholeEntry(entry.event if entry.whole is None else entry.whole, entry.raw)

    async def logs(self) -> list[LogSummary]:
        """List all logs."""
        return [
            LogSummary(session, log.tail.first, log.tail.last, log.size)
            for session, log in self._logs.items()
            if not log.deleted
        ]

    async def delete(self, session: str) -> None:
        """Forget a session's events."""
        if (log := self._logs.get(session)) is not None:
            self._footprint -= log.footprint
            log.drop(len(log.tail))
            log.deleted = True

    async def retain(self) -> None:
        """Apply retention to all logs."""
        for log in self._logs.values():
            before = log.footprint
            self._retain(log, exactly=True)
            self._footprint += log.footprint - before

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Announce progress to the watcher until the returned function is called."""
        return self._watchers.add(watcher)

    async def close(self) -> None:
        """Do nothing: the memory is freed with the instance."""

    def _make_room(self, appended: _Log) -> None:
        """Delete the excess from the largest logs. The newest appended event stays."""
        if self._all_bytes is None:
            return
        while self._footprint > self._all_bytes:
            others = (log for log in self._logs.values() if len(log.tail) > (log is appended))
            largest = max(others, key=lambda log: log.footprint, default=None)
            if largest is None:
                return
            before = largest.footprint
            # A sixteenth at once: taking from the front moves the rest.
            excess = max(self._footprint - self._all_bytes, before // 16)
            largest.drop(_lightest_prefix(largest, excess) or 1)
            self._footprint += largest.footprint - before

    def _retain(self, log: _Log, *, exactly: bool) -> None:
        kept = self._retention
        if kept.max_count is not None and len(log.tail) > kept.max_count:
            log.drop(len(log.tail) - kept.max_count + kept.max_count // 16)
        if kept.max_bytes is not None and log.size > kept.max_bytes:
            log.drop(_lightest_prefix(log, log.size - kept.max_bytes + kept.max_bytes // 16))
        if kept.max_age_s is not None and log.tail:
            oldest = stamp(self._ages() - int(kept.max_age_s * MICROSECONDS))
            # Taking from the front moves the list: on append it is done for a sixty-fourth at once.
            if exactly or log.tail[len(log.tail) // 64].ts < oldest:
                log.drop(next((i for i, e in enumerate(log.tail) if e.ts >= oldest), len(log.tail)))


def _lightest_prefix(log: _Log, weight: int) -> int:
    """Return how many of the oldest weigh at least `weight`; never all of them."""
    for index, envelope in enumerate(log.tail):
        weight -= log.weight(envelope)
        if weight <= 0:
            return min(index + 1, len(log.tail) - 1)
    return len(log.tail) - 1
