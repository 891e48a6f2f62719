"""Accepted events that are not readable yet: their bound, and the tasks that wait for it.

This is the policy of a journal that writes outside the event loop. append waits while the bound is reached, however long that
takes. So the reader of an agent stops reading, and nothing is lost. A flush that cannot succeed fails instead of
waiting for a disk or a network. A session whose own log refuses events is refused alone, and the others continue.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from turnwire.journal.base import JournalUnavailable

log = logging.getLogger(__name__)


class Backlog:
    """Counts batches and their bytes between acceptance and commit, which happen in the same order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._accepted = self._committed = 0
        self._room = asyncio.Event()
        self._flushes: deque[tuple[int, str | None, asyncio.Future[None]]] = deque()
        self._closed: JournalUnavailable | None = None
        self._trouble: JournalUnavailable | None = None
        self._watchers: dict[object, Callable[[], None]] = {}
        self._refused: dict[str, JournalUnavailable] = {}
        """Why the last batch of a session was given up. The next append raises it."""

    @property
    def trouble(self) -> JournalUnavailable | None:
        """Why nothing can be written at present."""
        return self._trouble

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Tell the watcher when `trouble` has become another, until the returned function is called."""
        key = object()
        self._watchers[key] = watcher

        def remove() -> None:
            self._watchers.pop(key, None)

        return remove

    @property
    def is_full(self) -> bool:
        """Whether `room` waits."""
        return self._size >= self._limit

    async def room(self, session: str) -> None:
        """Wait for room. Raises JournalUnavailable once closed, or if the session's own log has refused something."""
        while True:
            if (refusal := self._closed or self._refused.pop(session, None)) is not None:
                raise refusal
            if not self.is_full:
                return
            self._room.clear()
            await self._room.wait()

    def accept(self, size: int) -> None:
        """Count a batch in."""
        self._accepted += 1
        self._size += size

    def commit(self, count: int, size: int) -> None:
        """Remove batches that became readable. The trouble is over."""
        self._turn(None)
        self._committed += count
        self._size -= size
        if self._size < self._limit:
            self._room.set()
        self._end_flushes()

    def refuse(self, session: str, count: int, size: int, reason: JournalUnavailable) -> None:
        """Discount batches that will never be readable, since their session's log refuses them."""
        self._refused[session] = reason
        kept: list[tuple[int, str | None, asyncio.Future[None]]] = []
        for flush in self._flushes:
            if flush[1] not in {None, session}:
                kept.append(flush)
            elif not flush[2].done():
                flush[2].set_exception(reason)
        self._flushes = deque(kept)
        self._committed += count
        self._size -= size
        self._room.set()
        self._end_flushes()
        self.tell()

    def refusal(self, session: str) -> JournalUnavailable | None:
        """Return why a session's last batch was dropped, until the next append has raised it."""
        return self._refused.get(session)

    def forgive(self, session: str) -> None:
        """Forget that a session's log has refused something: it takes what comes from now on."""
        if self._refused.pop(session, None) is not None:
            self.tell()

    async def flush(self, session: str | None = None) -> None:
        """Wait until all batches counted in are counted out; raises JournalUnavailable when that cannot be now.

        With a `session`, what the logs of other sessions refuse is no reason to fail.
        """
        if self._committed == self._accepted:
            return
        if self.trouble is not None:
            raise self.trouble
        flushed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._flushes.append((self._accepted, session, flushed))
        await flushed

    def stuck(self, reason: JournalUnavailable) -> None:
        """Note that nothing can be written at present, and tell the waiting tasks."""
        self._turn(reason)
        while self._flushes:
            *_, flushed = self._flushes.popleft()
            if not flushed.done():
                flushed.set_exception(reason)

    def _end_flushes(self) -> None:
        while self._flushes and self._flushes[0][0] <= self._committed:
            *_, flushed = self._flushes.popleft()
            if not flushed.done():
                flushed.set_result(None)

    def _turn(self, trouble: JournalUnavailable | None) -> None:
        changed = str(trouble) != str(self._trouble)
        self._trouble = trouble
        if changed:
            self.tell()

    def tell(self) -> None:
        """Tell the watchers that the journal's trouble is another."""
        for watcher in tuple(self._watchers.values()):
            try:
                watcher()
            except Exception:
                log.exception("an observer of the journal's trouble failed")

    def close(self, refusal: JournalUnavailable) -> None:
        """Accept no more."""
        self._closed = refusal
        self._room.set()
