"""How a session is followed: which frames are taken, and from where it is asked again. Pure but for one wake-up.

A following holds a bounded number of events. When its consumer is slow it gives the subscription back and asks again
later, from where it is: so neither memory nor the other followings of the connection suffer.
"""

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal

from .errors import ProtocolError, TurnwireError
from .feed import BEGINNING, Cursor, Feed, Gap
from .frames import CaughtUp, EventFrame, GapFrame, Lag

Received = EventFrame | Gap | CaughtUp | Lag
"""What following a session gives: its events, and how it goes with them."""

HELD = 4096
"""So many frames may wait for the consumer."""

HOLES = 16
"""So often a hole is asked for again before an event comes; then the hub is not to be understood."""


_AWAITED: set["Following"] = set()
"""Followings that somebody waits for. The client does not keep them: one whose loop was left goes, and is followed no more."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Subscription:
    """What the hub was asked to send of a session, for one or more followings."""

    cursor: Cursor
    """It begins behind this: the earliest place of them all."""
    followings: tuple["Following", ...]


class Following(AsyncIterator[Received]):
    """An asynchronous iterator over a session's events that goes on over reconnects; made by `Client.follow`.

    Each event comes once, in order. A Gap tells of events that are gone. Raises CommandFailed when the hub
    refuses, and AccessRefused or ProtocolError when the client has failed. It ends with `close`, and once nothing refers to it.
    """

    def __init__(
        self,
        session: str,
        after: Cursor = BEGINNING,
        *,
        ask: Callable[[str], None],
        leave: Callable[["Following"], None],
        held: int = HELD,
    ) -> None:
        self.session = session
        self.cursor = after
        """The last event that was given to the consumer; what to pass to `follow` to go on from there."""
        self.state: Literal["idle", "asked", "subscribed", "full", "closed"] = "idle"
        self._feed = Feed(after)
        self._subscription: weakref.ref[Subscription] | None = None
        self._shared_from: Cursor | None = None
        """Where the subscription began, for this following and others."""
        self._asked_at = self._feed.cursor
        self._behind = True
        """Whether it is to be told that it has caught up."""
        self._ask = ask
        self._leave = leave
        self.held = held
        """So many frames may wait for the consumer; then they wait at the hub."""
        self._holes = 0
        self._held: deque[tuple[Received, Cursor]] = deque()
        self._progress = asyncio.Event()
        self._failure: TurnwireError | None = None

    @property
    def next(self) -> Cursor:
        """The last event taken from the hub: where to ask again."""
        return self._feed.cursor

    def close(self) -> None:
        """Follow it no more: the iteration ends after what is held."""
        if self.state != "closed":
            self.end()
            self._leave(self)

    def end(self) -> None:
        """End the iteration, after what is held; the hub is not told."""
        self.state = "closed"
        self._progress.set()

    def fail(self, failure: TurnwireError) -> None:
        """End the iteration with an error, after what is held."""
        self._failure = failure
        self.end()

    def on_subscribe(self, subscription: Subscription) -> None:
        """Note that a subscription was asked for: what comes before it is confirmed belongs to an older one."""
        self._behind = self._behind or self.state == "idle"
        self.state = "asked"
        self._subscription = weakref.ref(subscription)  # which refers to this following
        self._shared_from = subscription.cursor
        self._asked_at = self._feed.cursor

    def on_subscribed(self, subscription: Subscription, epoch: str, last: int) -> None:
        """Note that it was granted, in this life of the log."""
        if self.state == "asked" and self._subscription is not None and self._subscription() is subscription:
            self.state = "subscribed"
            self._feed.begin(epoch, last)

    def on_lost(self) -> None:
        """Note that the connection is gone."""
        if self.state in {"asked", "subscribed"}:
            self.state = "idle"

    def on_frame(self, frame: EventFrame | GapFrame | CaughtUp | Lag) -> bool:
        """Take a frame of this session; False when events are missing before it, or no more can be held."""
        if self.state != "subscribed":
            return True
        given: Received
        if isinstance(frame, EventFrame):
            match self._feed.on_number(frame.seq):
                case "repeat":
                    return True
                case "hole":
                    return self._hole(frame.seq)
                case "fresh":
                    self._holes = 0
                    given = frame
        elif isinstance(frame, GapFrame):
            gap = self._feed.gap(frame, self._others_place())
            if gap is None:
                return True
            given = gap
        elif isinstance(frame, CaughtUp) and not self._behind:
            return True
        else:
            self._behind = isinstance(frame, Lag)
            given = frame
        self._held.append((given, self._feed.cursor))
        self._progress.set()
        if len(self._held) >= self.held:
            self.state = "full"
            return False
        return True

    def _others_place(self) -> Cursor | None:
        """Return where the subscription began, if that was another following's place."""
        return None if self._shared_from == self._asked_at else self._shared_from

    def _hole(self, seq: int) -> bool:
        self._holes += 1
        if self._holes > HOLES:
            self.fail(
                ProtocolError(
                    f"The hub sends {self.session} from {seq} again and again, not what follows {self.next.seq}."
                )
            )
        return False

    async def __anext__(self) -> Received:
        """Return the next frame, waiting for it as long as it takes."""
        while not self._held:
            if self._failure is not None:
                raise self._failure
            if self.state == "closed":
                raise StopAsyncIteration
            self._progress.clear()
            _AWAITED.add(self)
            try:
                await self._progress.wait()
            finally:
                _AWAITED.discard(self)
        given, self.cursor = self._held.popleft()
        if self.state == "full" and len(self._held) <= self.held // 2:
            self.state = "idle"
            self._ask(self.session)
        return given
