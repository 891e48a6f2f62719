"""Live delivery: one task per session reads new events once and writes them to all readers that are up to date.

A reader falls behind if its write buffer is over its limit, or if it is not exactly where the feed is. Then it reads
on its own (subscription.py) until it is up to date again.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Self

from turnwire.hub.delivery.batch import Batch
from turnwire.hub.delivery.log import EventLog, SharedLog
from turnwire.hub.delivery.pages import PAGE_COUNT, PAGE_SIZE
from turnwire.hub.delivery.subscription import Subscription
from turnwire.normalize.events.envelope import Cursor
from turnwire.protocol.errors import TurnwireError

STEP = 128
"""After so many writes in a row other connections get their turn."""

log = logging.getLogger(__name__)


class Feed:
    """The live end of one session."""

    def __init__(self, session: str, events: EventLog) -> None:
        self.live: set[Subscription] = set()
        self.position = 0
        """Newest number handed to the live subscriptions."""
        self._epoch = ""
        """The life of the log that this number is of."""
        self.session = session
        self._events = events
        self._progress = asyncio.Event()

    def wake(self) -> None:
        """Look whether there is something new."""
        self._progress.set()

    def join(self, subscription: Subscription) -> bool:
        """Add a subscription that has read everything. False if the feed is ahead of it."""
        cursor = subscription.cursor
        if cursor.epoch != self._epoch:
            self.let_go()
        if not self.live:
            self.position, self._epoch = cursor.seq, cursor.epoch
        elif cursor.seq < self.position:
            return False
        self.live.add(subscription)
        if self.is_behind:
            self.wake()
        return True

    @property
    def is_behind(self) -> bool:
        """Whether the log is another than the live subscriptions have."""
        return self._events.last(self.session) != self.position or self._events.epoch != self._epoch

    async def run(self) -> None:
        """Deliver; runs until it is cancelled."""
        while True:
            await self._progress.wait()
            self._progress.clear()
            while self.live and self.is_behind:
                if not await self._deliver_page():
                    break

    async def _deliver_page(self) -> bool:
        start = self.position
        page = await self._events.read_after(
            self.session, Cursor(self._epoch, start), count=PAGE_COUNT, size=PAGE_SIZE
        )
        end = page.cursor
        if page.gap is not None:
            # Each reader finds the gap by itself and tells it to its frontend.
            self.let_go()
            return False
        self._epoch = end.epoch
        if not page.envelopes:
            return False
        batch = Batch(end.epoch, page.envelopes)
        size = batch.size
        self.position = end.seq
        for index, subscription in enumerate(tuple(self.live), 1):
            if subscription not in self.live:
                continue
            sink = subscription.reader.sink
            if subscription.cursor.seq == start and sink.writable and sink.has_room(size):
                subscription.deliver(batch, end)
            elif subscription.cursor.seq < end.seq:
                self._let_go(subscription)
            if index % STEP == 0:
                await asyncio.sleep(0)
        return True

    def let_go(self) -> None:
        """Let all live ones pull for themselves."""
        for subscription in tuple(self.live):
            self._let_go(subscription)

    def _let_go(self, subscription: Subscription) -> None:
        self.live.discard(subscription)
        subscription.reader.fall_behind(subscription)


class Feeds(AbstractAsyncContextManager["Feeds"]):
    """The feeds of all sessions that have live subscriptions; their tasks live inside this context."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None], Callable[[], None]]] = {}
        """Each with its task, and what ends the announcements of its session."""
        self._tasks = asyncio.TaskGroup()
        self._unwatch: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        """Watch the log."""
        await self._tasks.__aenter__()
        self._unwatch = self._events.watch(self._progress)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all feeds."""
        self._unwatch()
        for _, task, unfollow in self._feeds.values():
            task.cancel()
            unfollow()
        self._feeds.clear()
        await self._tasks.__aexit__(kind, error, trace)

    def join(self, subscription: Subscription) -> bool:
        """Deliver live to a subscription that has read all there was; False when it must read on."""
        known = self._feeds.get(subscription.session)
        if known is None:
            feed = Feed(subscription.session, self._events)
            events = self._events
            unfollow = events.follow(feed.session) if isinstance(events, SharedLog) else lambda: None
            self._feeds[subscription.session] = feed, self._tasks.create_task(self._run(feed)), unfollow
        else:
            feed = known[0]
        return feed.join(subscription)

    def leave(self, subscription: Subscription) -> None:
        """Deliver nothing more to it; a feed without anyone ends."""
        known = self._feeds.get(subscription.session)
        if known is None:
            return
        feed, task, unfollow = known
        feed.live.discard(subscription)
        if not feed.live:
            task.cancel()
            unfollow()
            del self._feeds[subscription.session]

    def _progress(self, session: str, _: int) -> None:
        known = self._feeds.get(session)
        if known is not None and known[0].is_behind:
            known[0].wake()

    async def _run(self, feed: Feed) -> None:
        try:
            await feed.run()
        except Exception as error:  # one unreadable log must not stop the feeds of the others
            if not isinstance(error, TurnwireError):
                log.exception("A session's log cannot be read.", extra={"session": feed.session})
            # Its readers find out for themselves, and tell their frontends.
            if (known := self._feeds.get(feed.session)) is not None and known[0] is feed:
                del self._feeds[feed.session]
                known[2]()
            feed.let_go()
