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
"""Bytes of lines that may wait before reading stops, with what each costs beside its bytes."""

EACH = 256
"""Bytes that a line counts beside its own: short ones cost more than they are long."""

BATCH = 256
"""What is given to the consumer at once; others go on before it gets more."""

BATCH_BYTES = 1024 * 1024
"""Bytes of lines that are given at once, unless one line alone has more."""

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
            self._size += len(happened.line) + EACH
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
        """Yield what waits, in order, some at a time; the last batch ends with Ended."""
        while True:
            await self._filled.wait()
            batch = self._some()
            if self._size <= self._capacity:
                self._room.set()
            yield batch
            if isinstance(batch[-1], Ended):
                return
            if self._waiting:
                await asyncio.sleep(0)
            else:
                self._filled.clear()

    def _some(self) -> list[SessionInput]:
        batch: list[SessionInput] = []
        size = 0
        while self._waiting and len(batch) < BATCH and size < BATCH_BYTES:
            happened = self._waiting.popleft()
            batch.append(happened)
            if isinstance(happened, Received | Sent):
                size += len(happened.line) + EACH
        self._size -= size
        return batch
