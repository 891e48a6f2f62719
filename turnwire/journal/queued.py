"""What the journals share that number entries in the event loop, and have them written by a thread or a server."""

import logging
from collections.abc import Callable

from turnwire.journal.backlog import Backlog
from turnwire.journal.base import JournalUnavailable, LogSummary, Watcher
from turnwire.journal.damage import DamagedNumbers
from turnwire.journal.log_index import LogIndex
from turnwire.journal.reading.cache import TailCache
from turnwire.journal.reading.paging import Watchers
from turnwire.journal.rows import Append
from turnwire.journal.timestamps import Clock, stamp
from turnwire.normalize.events.envelope import Envelope

log = logging.getLogger(__name__)

BACKLOG_BYTES = 32 << 20
"""Accepted but not yet readable bytes from which on `append` waits."""


class QueuedJournal:
    """The parts of `turnwire.journal.base.Journal` that do not depend on where entries are written."""

    def __init__(self, epoch: str, logs: LogIndex, clock: Clock, name: str) -> None:
        """`name`: what log lines call the journal when its events are damaged."""
        self._epoch = epoch
        self._logs = logs
        self._clock = clock
        self._cache = TailCache()
        self._watchers = Watchers()
        self._backlog = Backlog(BACKLOG_BYTES)
        self._damage = DamagedNumbers(name)

    @property
    def epoch(self) -> str:
        """The life of the logs, until the storage may have lost events. Of one that only reads it may become another."""
        return self._epoch

    @property
    def damaged(self) -> int:
        """How many events were found damaged or missing when they were read."""
        return self._damage.count

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written at present."""
        return None if self._backlog.trouble is None else str(self._backlog.trouble)

    @property
    def is_full(self) -> bool:
        """Whether `append` waits for room."""
        return self._backlog.is_full

    def refusal(self, session: str) -> JournalUnavailable | None:
        """Return why a session's own log refused accepted events."""
        return self._backlog.refusal(session)

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Tell the watcher when `trouble` has become another."""
        return self._backlog.watch(watcher)

    async def flush(self, session: str | None = None) -> None:
        """Wait until all that was accepted is written, at least of one session."""
        await self._backlog.flush(session)

    def last(self, session: str) -> int:
        """Return the newest number that is known to be written."""
        return self._logs.last(session)

    async def logs(self) -> list[LogSummary]:
        """List all logs."""
        return self._logs.summaries()

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Announce progress to the watcher until the returned function is called."""
        return self._watchers.add(watcher)

    def _lose(self, batch: Append, reason: JournalUnavailable, **where: str) -> None:
        """Give up a batch that its session's log refuses: other logs accept theirs. `where`: the journal, for the log line."""
        last = batch.first + len(batch.entries) - 1
        log.error(
            "events are lost: the session's own log does not take them",
            extra={
                **where,
                "session": batch.session,
                "first": batch.first,
                "last": last,
                "error": str(reason),
            },
        )
        self._backlog.refuse(batch.session, 1, batch.size, reason)


def envelopes_of(batch: Append) -> list[Envelope]:
    """Return the entries of a batch as they are read."""
    ts = stamp(batch.micros)
    return [
        Envelope(batch.session, seq, ts, entry.event) for seq, entry in enumerate(batch.entries, batch.first)
    ]
