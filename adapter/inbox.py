"""What happened in a session, in order, for the one who consumes it: received and sent lines, decisions, the end.

Bounded by bytes: whoever reads the CLI waits for room, so a consumer that lags stops the CLI instead of filling memory.
What is written or decided never waits; it is little, and comes from people.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator

from normalize.inputs import Decision, Ended, Received, Sent, SessionInput

CAPACITY = 8 * 1024 * 1024
"""Bytes of lines that may wait before reading stops."""

Happening = Received | Sent | Decision | Ended


class Inbox:
    """A queue with one consumer."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._waiting: deque[SessionInput] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, happened: Happening) -> None:
        """Add what happened; never waits."""
        self._waiting.append(happened)
        if isinstance(happened, Received | Sent):
            self._size += len(happened.line)
            if self._size > self._capacity:
                self._room.clear()
        self._filled.set()

    def widen(self) -> None:
        """Let everything in from now on: the session ends, and there may be no consumer any more."""
        self._capacity = sys.maxsize
        self._room.set()

    async def room(self) -> None:
        """Wait until the consumer has caught up."""
        await self._room.wait()

    async def batches(self) -> AsyncIterator[list[SessionInput]]:
        """Yield all that waits, in order, again and again; the last batch ends with Ended."""
        while True:
            await self._filled.wait()
            batch = list(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._filled.clear()
            self._room.set()
            yield batch
            if isinstance(batch[-1], Ended):
                return
