"""The interface of every journal, and its values.

One log per session, with contiguous numbers from 1. Appended entries become readable, and are announced to
watchers, only once they are as durable as the backend makes them: nothing is published before it is journaled.
Every backend passes the same suite, turnwire/testing/journal_contract.py.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from turnwire.normalize.events.envelope import Cursor, Envelope
from turnwire.protocol.errors import TurnwireError


class Entry(Struct, frozen=True, gc=False):
    """An appended event as it is published, and the data cut from it."""

    event: bytes
    """The published event, `turnwire.normalize.events.to_json`."""
    whole: bytes | None = None
    """The event uncut, when fields were cut for size."""
    raw: bytes | None = None
    """The line this event came from. Events of one line carry it once, with the first."""

    @property
    def size(self) -> int:
        """Bytes to keep."""
        return len(self.event) + len(self.whole or b"") + len(self.raw or b"")


class Gap(Struct, frozen=True, gc=False):
    """Range of numbers that a reader does not get, both ends included.

    If a gap begins after the reader's cursor, retention made it. If it begins at 1, at or before the cursor, the
    reader's numbers belong to another lifetime of the log. Its events are then void, and all that follows is new.
    """

    first: int
    last: int


class Page(Struct, frozen=True):
    """The envelopes after a cursor: at most as many as requested, in order, without holes."""

    gap: Gap | None
    """The gap before the envelopes: retention deleted these numbers, or another lifetime of the log had them."""
    envelopes: Sequence[Envelope]
    """The next ones."""
    cursor: Cursor
    """Where the reader is after this page."""
    last: int
    """The newest readable number of the log; equal to `cursor.seq` when the reader has caught up."""


class WholeEntry(Struct, frozen=True, gc=False):
    """An event in full, and the line it came from."""

    event: bytes
    """The event uncut; the published one when nothing was cut from it."""
    raw: bytes | None
    """The line, when this event's entry carried it."""


class LogSummary(Struct, frozen=True):
    """One session's log."""

    session: str
    first: int
    """Oldest number still there; `last + 1` when the log is empty."""
    last: int
    """Newest number; 0 when nothing was ever appended."""
    size: int
    """Bytes it holds."""


class Retention(Struct, frozen=True):
    """How much of each log is kept; None is without limit."""

    max_age_s: float | None = None
    """Older events go."""
    max_count: int | None = None
    """Most events. A backend may delete up to a sixteenth more at once, to do it rarely."""
    max_bytes: int | None = None
    """Most bytes, those kept for `whole` included. The newest event always stays."""


KEEP_ALL = Retention()
"""No limit."""


Durability = Literal["process", "power"]
"""What a readable event survives.

`process`: the end of turnwire. A power failure may lose the last events; the logs then get another epoch.
`power`: a power failure as well, at the price of one fsync for each group of batches.
"""

Watcher = Callable[[str, int], None]
"""Called in the event loop with a session and the newest readable number of its log. Must not block."""


class JournalError(TurnwireError):
    """The journal cannot work. The message says what is wrong, where, and what to do."""


class JournalUnavailable(JournalError):
    """The storage is missing, locked, read-only, full or damaged."""


class LogUnreadable(JournalUnavailable):
    """The stored data of one session's log was not written by turnwire. The log can be deleted. Other logs are unaffected."""


class JournalInUse(JournalUnavailable):
    """Another sidecar has it."""


class Journal(Protocol):
    """An append-only log per session. All methods run in one event loop."""

    @property
    def epoch(self) -> str:
        """The life of the log: another epoch, another count. Survives restarts where the events do."""
        ...

    @property
    def damaged(self) -> int:
        """How many events were found damaged or missing when they were read, since the start; readers get a gap."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be made durable at present, as a sentence for people; None when all is well."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be made durable that `append` waits as well."""
        ...

    def refusal(self, session: str) -> JournalUnavailable | None:
        """Return why a session's own log refused accepted events. The next `append` raises it and clears it."""
        ...

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Tell the watcher when `trouble` has begun, changed or ended, or there is a refusal, until the returned function is called."""
        ...

    async def check(self) -> None:
        """Check by writing that the journal can write now. Raises JournalUnavailable if not.

        For callers that are about to start work that would be lost. Otherwise trouble shows only once something waits.
        """
        ...

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Accept entries in order and return the number of the last.

        Returns once they are accepted and numbered, before they are durable. Waits while the backend's bound is reached, as
        long as that takes. Meanwhile the caller should not read more.
        Raises JournalUnavailable if the journal is closed, and once after the session's own log has refused
        earlier accepted entries, which are then lost. Entries are refused as a whole.
        """
        ...

    async def flush(self, session: str | None = None) -> None:
        """Wait until all that was accepted is readable. Raises JournalUnavailable when it cannot be made so.

        With a `session` it waits for what was accepted of that one, and what other sessions' logs refuse is no error.
        """
        ...

    def last(self, session: str) -> int:
        """Return the newest number that is or was readable in a session's log; 0 if there never was one."""
        ...

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        """Return the envelopes after the cursor: at most `count` and about `size` bytes, at least one if any.

        A cursor of another epoch, or beyond the log, reads from the log's beginning, after a gap that says so.
        """
        ...

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        """Return one event uncut; None when the log does not have it."""
        ...

    async def logs(self) -> list[LogSummary]:
        """List all logs."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session's events. An unknown session is no error.

        Its numbers are not reused: a log that continues later does so with the next number, after a gap.
        """
        ...

    async def retain(self) -> None:
        """Apply retention now. Backends do so by themselves as well: on append, and now and then for idle logs."""
        ...

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Announce progress of every log to the watcher until the returned function is called."""
        ...

    async def close(self) -> None:
        """Make everything durable and let go of the storage."""
        ...
