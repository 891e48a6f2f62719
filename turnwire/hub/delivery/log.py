"""The event log as the hub sees it: read after a cursor, and be notified of new events.

Structural, so that hub and journal do not import each other: every turnwire.journal.base.Journal is an EventLog.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from turnwire.normalize.events.envelope import Cursor, Envelope


class LogGap(Protocol):
    """Numbers a reader does not get; both ends belong to it."""

    @property
    def first(self) -> int:
        """First deleted number."""
        ...

    @property
    def last(self) -> int:
        """Last deleted number."""
        ...


class LogPage(Protocol):
    """The envelopes after a cursor, in order, without holes."""

    @property
    def gap(self) -> LogGap | None:
        """The gap before the envelopes."""
        ...

    @property
    def envelopes(self) -> Sequence[Envelope]:
        """The next ones."""
        ...

    @property
    def cursor(self) -> Cursor:
        """Where the reader is after this page."""
        ...

    @property
    def last(self) -> int:
        """The newest readable number of the log."""
        ...


class WholeEvent(Protocol):
    """An event in full, and the line it came from."""

    @property
    def event(self) -> bytes:
        """The event uncut."""
        ...

    @property
    def raw(self) -> bytes | None:
        """The line."""
        ...


@runtime_checkable
class SharedLog(Protocol):
    """A log that others write, too, and that is announced later for sessions that nobody follows."""

    def follow(self, session: str) -> Callable[[], None]:
        """Announce progress of a session at once until the returned function is called."""
        ...


class EventLog(Protocol):
    """An append-only log per session, with the part of it that the hub uses."""

    @property
    def epoch(self) -> str:
        """The life of the logs."""
        ...

    def last(self, session: str) -> int:
        """Return the newest number of a session; 0 when it never had one."""
        ...

    async def read_after(self, session: str, cursor: Cursor, *, count: int = ..., size: int = ...) -> LogPage:
        """Return the envelopes after the cursor, at least one if there is any."""
        ...

    async def whole(self, session: str, seq: int) -> WholeEvent | None:
        """Return one event uncut; None when the log does not have it."""
        ...

    def watch(self, watcher: Callable[[str, int], None]) -> Callable[[], None]:
        """Announce progress of every log to the watcher until the returned function is called."""
        ...
