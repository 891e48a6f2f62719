"""Pages of the logs, shared by the readers that want the same one: after a restart all frontends come back at once.

Pages end at multiples of PAGE_COUNT, so that readers who began at different places soon want the same ones. A page is read
once however many wait for it, kept for a moment, and its frames are encoded once (batch.py).
"""

import asyncio
from collections import OrderedDict

from msgspec import Struct

from turnwire.hub.delivery.batch import Batch
from turnwire.hub.delivery.log import EventLog, LogGap
from turnwire.normalize.events.envelope import Cursor, Envelope

PAGE_COUNT = 512
PAGE_SIZE = 1 << 18
"""A page is what a connection may hold beyond its write limit: a quarter of a MiB, or one larger event."""

KEPT = 8
KEPT_S = 5.0
KEPT_SIZE = 4 * PAGE_SIZE
"""So many pages are kept for so long; one with an event larger than this is not."""

STRETCH_PAGES = 4
"""A stretch, which a frontend asks for, is so many pages: fewer commands for a long log."""

_Key = tuple[str, Cursor, str]
"""A session, a cursor, and the life of the logs in which it was read."""


class CatchUpPage(Struct, frozen=True):
    """What follows a cursor."""

    gap: LogGap | None
    batch: Batch | None
    """The events; None when there are no more."""
    cursor: Cursor
    """Where the reader is after this page."""
    last: int
    """The newest number there was."""


class Stretch(Struct, frozen=True):
    """Some of what follows a cursor, as one frontend asked for it."""

    gap: tuple[int, int] | None
    """First and last number that are gone, before the events."""
    envelopes: list[Envelope]
    """In order, without holes."""
    cursor: Cursor
    """Where it ends."""
    last: int
    """The newest number there was."""


class Pages:
    """Reads the logs for those who are behind."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._kept: OrderedDict[_Key, tuple[float, CatchUpPage]] = OrderedDict()
        self._running: dict[_Key, asyncio.Event] = {}

    def last(self, session: str) -> int:
        """Return the newest number of a session."""
        return self._events.last(session)

    async def after(self, session: str, cursor: Cursor) -> CatchUpPage:
        """Return what follows a cursor."""
        key = session, cursor, self._events.epoch
        while (page := self._fresh(key)) is None and (running := self._running.get(key)) is not None:
            await running.wait()
        if page is not None:
            return page
        done = self._running[key] = asyncio.Event()
        try:
            page = await self._read(session, cursor)
        finally:
            # Also when this reader left: another one of those who wait reads then.
            del self._running[key]
            done.set()
        self._keep(key, page)
        return page

    async def between(self, session: str, cursor: Cursor, before: int) -> Stretch:
        """Return what follows a cursor and is below a number: a few pages of it, of at most a MiB or with one larger event."""
        page = await self.after(session, cursor)
        gap = None if page.gap is None else (page.gap.first, min(page.gap.last, before - 1))
        envelopes = list(page.batch.envelopes) if page.batch is not None else []
        pages = 1
        while pages < STRETCH_PAGES and page.cursor.seq < min(page.last, before - 1):
            following = await self.after(session, page.cursor)
            if following.gap is not None or following.batch is None or following.batch.size > PAGE_SIZE:
                break
            page, pages = following, pages + 1
            envelopes += following.batch.envelopes
        end = Cursor(page.cursor.epoch, min(page.cursor.seq, before - 1))
        return Stretch(gap, [one for one in envelopes if one.seq <= end.seq], end, page.last)

    async def _read(self, session: str, cursor: Cursor) -> CatchUpPage:
        count = PAGE_COUNT - cursor.seq % PAGE_COUNT
        page = await self._events.read_after(session, cursor, count=count, size=PAGE_SIZE)
        batch = Batch(page.cursor.epoch, page.envelopes) if page.envelopes else None
        return CatchUpPage(page.gap, batch, page.cursor, page.last)

    def _fresh(self, key: _Key) -> CatchUpPage | None:
        until, page = self._kept.get(key, (0.0, None))
        if page is None or until < asyncio.get_running_loop().time():
            return None
        # The end of the log moves; what was read before it does not.
        at_end = page.cursor.seq == page.last
        return None if at_end and self._events.last(key[0]) != page.last else page

    def _keep(self, key: _Key, page: CatchUpPage) -> None:
        size = 0 if page.batch is None else sum(len(envelope.event) for envelope in page.batch.envelopes)
        if size > KEPT_SIZE:
            return
        self._kept[key] = asyncio.get_running_loop().time() + KEPT_S, page
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
