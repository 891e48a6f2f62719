"""The contract of every journal, and the values it deals in.

One log per session, contiguous numbers from 1. What was appended becomes readable, and is announced to
watchers, only once it is as durable as the backend makes it: so nothing is published before it is journaled.
Every backend passes the same suite, tests/journal/test_contract.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from normalize.envelope import Cursor, Envelope


@dataclass(frozen=True, slots=True)
class Entry:
    """What is appended: an event as it is published, and what was cut from it."""

    event: bytes
    """The published event, `normalize.events.to_json`."""
    whole: bytes | None = None
    """The event uncut, when fields were cut for size."""
    raw: bytes | None = None
    """The line this event came from; the events of one line carry it once, with the first."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers a reader asked for that the log no longer has; both ends belong to it."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Page:
    """What follows a cursor: at most as much as was asked for, in order, without holes."""

    gap: Gap | None
    """Comes before the envelopes: retention took these, or another life of the log had them."""
    envelopes: Sequence[Envelope]
    """The next ones."""
    cursor: Cursor
    """Where the reader is after this page."""
    last: int
    """The newest readable number of the log; equal to `cursor.seq` when the reader has caught up."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An event in full, and the line it came from."""

    event: bytes
    raw: bytes | None


@dataclass(frozen=True, slots=True)
class LogSummary:
    """One session's log."""

    session: str
    first: int
    """Oldest number still there; `last + 1` when the log is empty."""
    last: int
    """Newest number; 0 when nothing was ever appended."""
    size: int
    """Bytes it holds."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much of each log is kept; None is without limit."""

    max_age_s: float | None = None
    max_count: int | None = None
    max_bytes: int | None = None


Watcher = Callable[[str, int], None]
"""Called in the event loop with a session and the newest readable number of its log. Must not block."""


class JournalError(Exception):
    """The journal cannot do what it is for; the message says whose fault, where, and what to do."""


class JournalUnavailable(JournalError):
    """The storage is missing, locked, read-only, full or damaged."""


class Journal(Protocol):
    """An append-only log per session. All methods run in one event loop."""

    @property
    def epoch(self) -> str:
        """The life of the log: another epoch, another count. Survives restarts where the events do."""
        ...

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Accept entries in order and return the number of the last.

        Returns once they are accepted and numbered, which is before they are durable; waits only while
        more is accepted than the backend's bound allows. Raises JournalUnavailable when it has failed.
        """
        ...

    async def flush(self) -> None:
        """Wait until all that was accepted is readable."""
        ...

    def last(self, session: str) -> int:
        """Return the newest readable number of a session; 0 when it has none."""
        ...

    async def read_after(self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20) -> Page:
        """Return what follows the cursor: at most `count` envelopes and about `size` bytes, at least one if any.

        A cursor of another epoch, or beyond the log, reads from the log's beginning, after a gap that says so.
        """
        ...

    async def whole(self, session: str, seq: int) -> Whole | None:
        """Return one event uncut; None when the log does not have it."""
        ...

    async def logs(self) -> list[LogSummary]:
        """List all logs."""
        ...

    async def delete(self, session: str) -> None:
        """Forget a session's log; unknown sessions are no error."""
        ...

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Announce progress of every log to the watcher until the returned function is called."""
        ...

    async def close(self) -> None:
        """Make everything durable and let go of the storage."""
        ...
