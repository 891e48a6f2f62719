"""The position of a cursor in a log, and the announcement of progress, shared by all backends."""

import asyncio
from collections.abc import Callable, Sequence

from turnwire.journal.base import Gap, Page, Watcher
from turnwire.normalize.events.envelope import Cursor, Envelope


def place(cursor: Cursor, epoch: str, last: int) -> int | None:
    """Return the number after which a reader continues; None if its cursor does not belong to this log.

    Such a cursor comes from another epoch, or claims numbers this log never assigned.
    """
    if cursor.seq == 0:
        return 0
    if cursor.epoch != epoch or cursor.seq > last:
        return None
    return cursor.seq


def page_of(cursor: Cursor, epoch: str, last: int, envelopes: Sequence[Envelope]) -> Page:
    """Build the page for a reader at `cursor`, from what the log still has after its position.

    `envelopes` are contiguous and empty only if the log has nothing after that position. The gap is derived from
    them, not from a remembered first number: retention may have moved on while they were fetched.
    """
    after = place(cursor, epoch, last)
    first = envelopes[0].seq if envelopes else last + 1
    gap = None
    if after is None:
        # All that the reader has is void, so the gap begins at 1 even where numbers coincide.
        gap = Gap(1, max(cursor.seq, first - 1))
    elif first > after + 1:
        gap = Gap(after + 1, first - 1)
    seq = envelopes[-1].seq if envelopes else last
    return Page(gap, envelopes, Cursor(epoch, seq), last)


class Watchers:
    """Callbacks for new events."""

    def __init__(self) -> None:
        self._watchers: dict[object, Watcher] = {}

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Announce to the watcher until the returned function is called; calling it again is harmless."""
        key = object()
        self._watchers[key] = watcher

        def remove() -> None:
            self._watchers.pop(key, None)

        return remove

    def announce(self, session: str, last: int) -> None:
        """Call all watchers. A watcher may add or remove watchers meanwhile, and one that raises does not affect others."""
        for watcher in tuple(self._watchers.values()):
            try:
                watcher(session, last)
            except Exception as error:  # noqa: BLE001 - the event loop reports it as it does for its own callbacks
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"A watcher of the journal failed on session {session!r}", "exception": error}
                )
