"""How the Python client follows a session: which frames it takes, and from where it asks again. Pure but for one wake-up.

A following holds a bounded number of events. When its consumer is slow it gives the subscription back and asks again
later, from where it is: so neither memory nor the other followings of the connection suffer.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Literal

from hub.wire.frames_out import CaughtUp, EventFrame, GapFrame, Lag
from normalize.events.envelope import Cursor

Received = EventFrame | GapFrame | CaughtUp | Lag
"""What following a session gives: its events, and how it goes with them."""

HELD = 4096
"""So many frames may wait for the consumer."""


class Following(AsyncIterator[Received]):
    """An asynchronous iterator over a session's events that goes on over reconnects.

    Each event comes once, in order. A GapFrame tells of events that are gone; when it begins at or before
    what was seen, the log has begun anew and all that was seen is void.
    """

    def __init__(self, session: str, after: Cursor, ask: Callable[["Following"], None]) -> None:
        self.session = session
        self.cursor = after
        """The last event that was given to the consumer; what to pass to `follow` to go on from there."""
        self.next = after
        """The last event taken from the hub: where to ask again."""
        self.state: Literal["idle", "asked", "subscribed", "full", "closed"] = "idle"
        self._ask = ask
        self._any_seq = False
        self._held: deque[tuple[Received, Cursor]] = deque()
        self._progress = asyncio.Event()
        self._failure: Exception | None = None

    def asked(self) -> None:
        """Note that a subscription was asked for: what comes before it is confirmed belongs to an older one."""
        self.state = "asked"

    def confirmed(self, epoch: str) -> None:
        """Note that it was granted, in this life of the log."""
        if self.state == "asked":
            self.state = "subscribed"
            if self.next.seq == 0:
                self.next = Cursor(epoch, 0)

    def lost(self) -> None:
        """Note that the connection is gone."""
        if self.state in {"asked", "subscribed"}:
            self.state = "idle"

    def fail(self, failure: Exception) -> None:
        """End the iteration with an error, after what is held."""
        self._failure = failure
        self._progress.set()

    def close(self) -> None:
        """End the iteration, after what is held."""
        self.state = "closed"
        self._progress.set()

    def take(self, frame: Received) -> bool:
        """Take a frame of this session; False when events are missing before it, or no more can be held."""
        if self.state != "subscribed":
            return True
        if isinstance(frame, EventFrame):
            if frame.seq <= self.next.seq and not self._any_seq:
                return True
            if frame.seq != self.next.seq + 1 and not self._any_seq:
                return False
            self._any_seq = False
            self.next = Cursor(self.next.epoch, frame.seq)
        elif isinstance(frame, GapFrame):
            # A log that began anew counts from the beginning, whatever number the gap ends with.
            self._any_seq = frame.first <= self.next.seq
            self.next = Cursor(frame.epoch, frame.last)
        self._held.append((frame, self.next))
        self._progress.set()
        if len(self._held) >= HELD:
            self.state = "full"
            return False
        return True

    async def __anext__(self) -> Received:
        """Return the next frame, waiting for it as long as it takes."""
        while not self._held:
            if self._failure is not None:
                raise self._failure
            if self.state == "closed":
                raise StopAsyncIteration
            self._progress.clear()
            await self._progress.wait()
        frame, self.cursor = self._held.popleft()
        if self.state == "full" and len(self._held) <= HELD // 2:
            self.state = "idle"
            self._ask(self)
        return frame
