"""Limit the unread bytes of all connections together: large answers and events wait for room.

Each connection has limits, but a hundred connections could still hold a hundred large events. So data larger than
SMALL is written only while all unread data stays below a limit. If there is no room and frontends have not read a
byte for a while, the one that holds the most is disconnected. It can reconnect and resume.
"""

import asyncio
from typing import Protocol

from turnwire._runtime.task_owner import set_within

SMALL = 1 << 18
"""Bytes that need no room: a page of events (turnwire.hub.delivery.pages)."""


class SlowConnection(Protocol):
    """A connection that has more unread than its write limit."""

    @property
    def closed(self) -> bool:
        """Can nothing be written any more?"""
        ...

    @property
    def unread(self) -> int:
        """Bytes that wait to be written to it."""
        ...

    def stuck_s(self, now: float) -> float:
        """Return for how long it has read nothing."""
        ...

    def drop(self, reason: str) -> None:
        """Cut it; the reason is one of turnwire.hub.server.refusals.REASONS."""
        ...


class UnreadBudget:
    """Counts unread bytes, and makes room."""

    def __init__(self, limit: int, grace_s: float) -> None:
        self._limit = limit
        self._grace_s = grace_s
        self._stalled: set[SlowConnection] = set()
        self._changed = asyncio.Event()

    @property
    def total(self) -> int:
        """Bytes that wait on connections over their write limit."""
        return sum(one.unread for one in self._stalled)

    def stalls(self, holder: SlowConnection) -> None:
        """Count a connection as over its write limit from now on."""
        self._stalled.add(holder)

    def flows(self, holder: SlowConnection) -> None:
        """Stop counting a connection. One that was not counted is no error."""
        self._stalled.discard(holder)
        self._changed.set()

    def has_room(self, size: int) -> bool:
        """Return whether this many bytes may be written. Data larger than the limit may be written only alone."""
        if size <= SMALL:
            return True
        total = self.total
        return total == 0 or total + size <= self._limit

    async def room(self, size: int, mine: SlowConnection) -> bool:
        """Wait until this many bytes may be written. False if the connection is closed."""
        while not mine.closed:
            self._shed(size)
            if self.has_room(size):
                return True
            self._changed.clear()
            await set_within(self._changed, self._grace_s)  # then look again who has read nothing
        return False

    def _shed(self, size: int) -> None:
        """Disconnect connections that have read nothing for the grace time, the largest first, until there is room."""
        now = asyncio.get_running_loop().time()
        stuck = [one for one in self._stalled if one.stuck_s(now) >= self._grace_s]
        for one in sorted(stuck, key=lambda holder: holder.unread, reverse=True):
            if self.has_room(size):
                return
            self._stalled.discard(one)
            one.drop("unread")
