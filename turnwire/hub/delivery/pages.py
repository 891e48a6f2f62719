"""Pages of the logs, shared by readers that want the same one: after a restart all frontends return at once.

Pages end at multiples of PAGE_COUNT, so readers with different positions soon want the same ones. A page is read
once for all its readers and kept for a moment. Its frames are encoded once (batch.py).
"""

import asyncio
import logging
from collections import OrderedDict

from msgspec import Struct, field

from turnwire.hub.delivery.batch import Batch
from turnwire.hub.delivery.log import EventLog, LogGap, WholeEvent
from turnwire.normalize.events.envelope import Cursor, Envelope
from turnwire.protocol.errors import TurnwireError

log = logging.getLogger(__name__)

PAGE_COUNT = 512
PAGE_SIZE = 1 << 18
"""Bytes of a page, beyond a connection's write limit: a quarter of a MiB, or one larger event."""

KEPT = 8
KEPT_S = 5.0
KEPT_SIZE = 4 * PAGE_SIZE
"""Bytes of pages that are kept. A page with an event larger than this is not kept."""

STRETCH_PAGES = 4
"""A stretch, which a frontend asks for, is so many pages: fewer commands for a long log."""

_Key = tuple[str, Cursor, str]
"""A session, a cursor, and the life of the logs in which it was read."""


class LogUnreadable(TurnwireError):
    """The log cannot be read at present. The message says why."""


class CatchUpPage(Struct, frozen=True):
    """The events after a cursor."""

    gap: LogGap | None
    batch: Batch | None
    """The events; None when there are no more."""
    cursor: Cursor
    """Where the reader is after this page."""
    last: int
    """The newest number there was."""


class Stretch(Struct, frozen=True):
    """Part of the events after a cursor, as one frontend requested it."""

    gap: tuple[int, int] | None
    """First and last number that are gone, before the events."""
    envelopes: list[Envelope]
    """In order, without holes."""
    cursor: Cursor
    """Where it ends."""
    last: int
    """The newest number there was."""


class _Reading(Struct):
    """A page that is being read."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    fault: LogUnreadable | None = None


class Pages:
    """Reads the logs for readers that are behind."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._kept: OrderedDict[_Key, tuple[float, CatchUpPage]] = OrderedDict()
        self._running: dict[_Key, _Reading] = {}
        self._unreadable: dict[str, str] = {}
        """Sessions whose logs could not be read on the last attempt, with the reason."""

    def last(self, session: str) -> int:
        """Return the newest number of a session."""
        return self._events.last(session)

    async def after(self, session: str, cursor: Cursor) -> CatchUpPage:
        """Return the events after a cursor. Raises LogUnreadable. A fault is logged once, however many logs and readers it
        affects.
        """
        key = session, cursor, self._events.epoch
        while (page := self._fresh(key)) is None and (running := self._running.get(key)) is not None:
            await running.done.wait()
            if running.fault is not None:
                # A server that does not answer is not waited for by each reader anew.
                raise running.fault
        if page is not None:
            return page
        reading = self._running[key] = _Reading()
        try:
            page = await self._read(session, cursor)
        except Exception as error:
            reading.fault = self._fault(session, error)
            raise reading.fault from error
        finally:
            # Also when this reader left: another one of those who wait reads then.
            del self._running[key]
            reading.done.set()
        self._keep(key, page)
        if (over := self._unreadable.get(session)) is not None:
            self._unreadable = {one: why for one, why in self._unreadable.items() if why != over}
        return page

    def _fault(self, session: str, error: Exception) -> LogUnreadable:
        why = str(error) or repr(error)
        if why not in self._unreadable.values():
            # What the log says of itself needs no traceback.
            trace = None if isinstance(error, TurnwireError) else error
            log.error(
                "A session's log cannot be read.", extra={"session": session, "error": why}, exc_info=trace
            )
        self._unreadable[session] = why
        return LogUnreadable(why)

    async def whole(self, session: str, seq: int) -> WholeEvent | None:
        """Return one event uncut; None when the log does not have it. Raises LogUnreadable."""
        try:
            return await self._events.whole(session, seq)
        except Exception as error:
            raise self._fault(session, error) from error

    async def between(self, session: str, cursor: Cursor, before: int) -> Stretch:
        """Return events after a cursor and below a number: a few pages of at most one MiB, or with one larger event.

        Raises LogUnreadable.
        """
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
