"""Delivery by cursor: a reader's events come from the log, never from a queue, so none can be dropped.

A subscription is either behind (its reader's task pulls page after page, as fast as the connection takes them) or
live (the session's feed, feed.py, writes to all live ones at once). Both follow one rule: write bytes and move the
cursor in the same step, and only from exactly where the cursor is. So a frontend gets every number once, in order,
even if both run at the same time.
"""

import asyncio
from typing import Protocol

from msgspec import Struct

from turnwire._runtime.task_owner import set_within
from turnwire.hub.delivery.batch import Batch
from turnwire.hub.delivery.log import LogGap
from turnwire.hub.delivery.pages import LogUnreadable, Pages
from turnwire.hub.principals import HIDDEN
from turnwire.hub.wire.frames_out import CaughtUp, GapFrame, Lag, OutFrame, ReplyError
from turnwire.normalize.events.envelope import Cursor
from turnwire.protocol.errors import TurnwireError

LAG_COUNT = 1000
LAG_INTERVAL_S = 1.0
"""Number of events behind from which a frontend gets `lag`, and how often."""

AGAIN_S = 0.5
"""Seconds after which logs that could not be read are tried again."""


class BoundedWriter(Protocol):
    """The writing side of a connection, as far as it says when to write."""

    @property
    def writable(self) -> bool:
        """Is there less in the write buffer than its limit?"""
        ...

    async def drained(self) -> None:
        """Wait until it is writable; raises SinkClosed."""
        ...

    def has_room(self, size: int) -> bool:
        """Return whether this many bytes fit into the budget of unread bytes of all frontends."""
        ...

    async def room(self, size: int) -> bool:
        """Wait until they may; False when the sink is closed."""
        ...


class FrontendWriter(BoundedWriter, Protocol):
    """The writing side of a connection. Writing never waits; a reader asks before it writes events."""

    def deliver(self, batch: Batch) -> None:
        """Write events."""
        ...

    def send_frame(self, frame: OutFrame) -> None:
        """Write any other frame."""
        ...


class SinkClosed(TurnwireError):
    """Nothing can be written any more; raised by `Sink.drained`."""


class LiveReaders(Protocol):
    """Where subscriptions go that have read all there was."""

    def join(self, subscription: "Subscription") -> bool:
        """Deliver to it from now on; False when it must read on before."""
        ...

    def leave(self, subscription: "Subscription") -> None:
        """Stop delivering to it. A subscription that never joined is no error."""
        ...


class Subscription(Struct, eq=False):
    """One session, as one reader follows it."""

    session: str
    reader: "FrontendReader"
    cursor: Cursor
    """Where the reader is: the last event written to its sink."""
    told: bool = False
    """The frontend was told that it caught up, and not since then that it lags."""
    lag_told_at: float = 0.0
    fault: str = ""
    """Why its log could not be read when it was last; empty when it could."""
    again_at: float = 0.0
    """When it is tried again, by the event loop's clock."""

    def deliver(self, batch: Batch, cursor: Cursor) -> None:
        """Write the events that follow the cursor, and move it on."""
        self.reader.sink.deliver(batch)
        self.cursor = cursor


class FrontendReader:
    """The subscriptions of one connection. `run` is its only sender of events that are not live."""

    def __init__(self, pages: Pages, feeds: LiveReaders, sink: FrontendWriter) -> None:
        self.sink = sink
        self.hides_faults = False
        """Whether faults are told without names of servers and files."""
        self._pages = pages
        self._feeds = feeds
        self._subscriptions: dict[str, Subscription] = {}
        self._behind: list[Subscription] = []
        self._work = asyncio.Event()

    def subscribe(self, session: str, cursor: Cursor) -> None:
        """Follow a session from a cursor; a second time: from another place."""
        self.unsubscribe(session)
        subscription = self._subscriptions[session] = Subscription(session, self, cursor)
        self.fall_behind(subscription)

    def unsubscribe(self, session: str) -> bool:
        """Follow it no more; False when it was not followed."""
        subscription = self._subscriptions.pop(session, None)
        if subscription is None:
            return False
        self._feeds.leave(subscription)
        if subscription in self._behind:
            self._behind.remove(subscription)
        return True

    def close(self) -> None:
        """Follow nothing any more."""
        for session in list(self._subscriptions):
            self.unsubscribe(session)

    @property
    def lag(self) -> int:
        """By how many events the slowest subscription is behind."""
        following = self._subscriptions.values()
        return max((self._pages.last(one.session) - one.cursor.seq for one in following), default=0)

    def fall_behind(self, subscription: Subscription) -> None:
        """Pull for this subscription until it has caught up."""
        self._behind.append(subscription)
        self._work.set()

    async def run(self) -> None:
        """Serve the subscriptions that are behind, a page each in turn; returns when the sink is closed."""
        try:
            while True:
                await self._work.wait()
                self._work.clear()
                while self._behind:
                    for subscription in tuple(self._behind):
                        await self.sink.drained()
                        if subscription.again_at <= _now():
                            await self._pull(subscription)
                    soonest = min((one.again_at for one in self._behind), default=0.0)
                    if soonest > _now():
                        self._work.clear()
                        await set_within(self._work, soonest - _now())
        except SinkClosed:
            self.close()

    async def _pull(self, subscription: Subscription) -> None:
        try:
            page = await self._pages.after(subscription.session, subscription.cursor)
        except LogUnreadable as fault:
            self._tell_fault(subscription, str(fault))
            return
        subscription.fault, subscription.again_at = "", 0.0
        if subscription not in self._behind:
            return
        if page.batch is not None and not self.sink.has_room(size := page.batch.size):
            # Nothing is held meanwhile: the page is read again.
            del page
            await self.sink.room(size)
            return
        if page.gap is not None:
            self.sink.send_frame(gap_frame(subscription.session, page.gap, page.cursor.epoch))
        if page.batch is None:
            subscription.cursor = page.cursor
        else:
            self._tell_lag(subscription, page.last - page.cursor.seq + len(page.batch.envelopes))
            subscription.deliver(page.batch, page.cursor)
        if page.cursor.seq == page.last and self._feeds.join(subscription):
            self._behind.remove(subscription)
            if not subscription.told:
                subscription.told = True
                self.sink.send_frame(CaughtUp(session=subscription.session, seq=page.cursor.seq))

    def _tell_fault(self, subscription: Subscription, why: str) -> None:
        subscription.again_at = _now() + AGAIN_S
        if self.hides_faults:
            why = HIDDEN["journal_unavailable"]
        if subscription.fault == why or subscription not in self._behind:
            return
        subscription.fault, subscription.told = why, False
        behind = max(0, self._pages.last(subscription.session) - subscription.cursor.seq)
        error = ReplyError(code="journal_unavailable", message=why)
        self.sink.send_frame(Lag(session=subscription.session, behind=behind, error=error))

    def _tell_lag(self, subscription: Subscription, behind: int) -> None:
        now = _now()
        if behind > LAG_COUNT and now - subscription.lag_told_at >= LAG_INTERVAL_S:
            subscription.lag_told_at = now
            subscription.told = False
            self.sink.send_frame(Lag(session=subscription.session, behind=behind))


def _now() -> float:
    return asyncio.get_running_loop().time()


def gap_frame(session: str, gap: LogGap, epoch: str) -> GapFrame:
    """Return the frame that reports missing events."""
    return GapFrame(session=session, first=gap.first, last=gap.last, epoch=epoch)
