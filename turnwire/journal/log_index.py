"""The event loop's knowledge of each log: assigned numbers, and the readable ones among them."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from turnwire.journal.base import Entry, LogSummary
from turnwire.journal.rows import EMPTY, Append, Extent, LogRow


class Log(Struct):
    """One session's log, as its journal's event loop sees it."""

    id: int
    session: str
    accepted: int = 0
    """Newest number given."""
    extent: Extent = EMPTY
    """The readable numbers."""
    micros: int = 0
    """When the newest was accepted."""
    deleted: bool = False


class LogIndex:
    """All logs by session."""

    def __init__(self, rows: Iterable[LogRow] = ()) -> None:
        self._by_session: dict[str, Log] = {}
        self._by_id: dict[int, Log] = {}
        self._next = 1
        for row in rows:
            self._add(Log(row.id, row.session, row.extent.last, row.extent, row.micros, row.deleted))

    def __iter__(self) -> Iterator[Log]:
        return iter(tuple(self._by_session.values()))

    def find(self, session: str) -> Log | None:
        """Return a log, if there is or was one."""
        return self._by_session.get(session)

    def get_or_add(self, session: str) -> Log:
        """Return a session's log, a new one when it has none."""
        log = self._by_session.get(session)
        return self._add(Log(self._next, session)) if log is None else log

    def numbered(self, number: int) -> Log:
        """Return the log with an id."""
        return self._by_id[number]

    def accept(self, session: str, entries: Sequence[Entry], micros: int, size: int) -> Append:
        """Number entries. Their time is not before that of earlier entries."""
        log = self.get_or_add(session)
        first = log.accepted + 1
        log.accepted += len(entries)
        log.micros = max(log.micros, micros)
        return Append(log.id, session, first, log.micros, entries, size)

    def accepted(self, session: str) -> int:
        """Return the newest number given."""
        log = self._by_session.get(session)
        return log.accepted if log else 0

    def last(self, session: str) -> int:
        """Return the newest readable number."""
        log = self._by_session.get(session)
        return log.extent.last if log else 0

    def summaries(self) -> list[LogSummary]:
        """List the logs that were not deleted."""
        return [
            LogSummary(session, log.extent.first, log.extent.last, log.extent.size)
            for session, log in self._by_session.items()
            if not log.deleted and log.extent.last
        ]

    def _add(self, log: Log) -> Log:
        self._by_session[log.session] = self._by_id[log.id] = log
        self._next = max(self._next, log.id + 1)
        return log
