"""What happened in a session, in order, for the one who consumes it: received and sent lines, decisions, the end.

Bounded by bytes: whoever reads the CLI waits for room, so a consumer that lags stops the CLI instead of filling memory.
What is written or decided never waits; it is little, and comes from people.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator

from normalize.core import Happened
from normalize.inputs import Ended, Received, Sent

EACH = 256
"""Bytes that a line counts beside its own: short ones cost more than they are long."""

BATCH = 256
"""What is given to the consumer at once; others go on before it gets more."""

BATCH_BYTES = 1024 * 1024
"""Bytes of lines that are given at once, unless one line alone has more."""


class Inbox:
    """A queue with one consumer."""

    def __init__(self, capacity: int) -> None:
        """`capacity`: bytes of lines that may wait before reading stops, with what each costs beside its bytes."""
        self._capacity = capacity
        self._waiting: deque[Happened] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._error: Exception | None = None
        self._room = asyncio.Event()
        self._room.set()

    def put(self, happened: Happened) -> None:
        """Add what happened; never waits."""
        self._waiting.append(happened)
        if isinstance(happened.input, Received | Sent):
            self._size += len(happened.input.line) + EACH
            if self._size > self._capacity:
                self._room.clear()
        self._filled.set()

    def fail(self, error: Exception) -> None:
        """Have the consumer raise an error, behind everything that waits."""
        self._error = error
        self._filled.set()

    def widen(self) -> None:
        """Let everything in from now on: the session ends, and there may be no consumer any more."""
        self._capacity = sys.maxsize
        self._room.set()

    async def room(self) -> None:
        """Wait until the consumer has caught up."""
        await self._room.wait()

    async def batches(self) -> AsyncIterator[list[Happened]]:
        """Yield what waits, in order, some at a time; the last batch ends with Ended. Raises what `fail` was told."""
        while True:
            await self._filled.wait()
            batch = self._some()
            if self._size <= self._capacity:
                self._room.set()
            if batch:
                yield batch
                if isinstance(batch[-1].input, Ended):
                    return
            if self._waiting:
                await asyncio.sleep(0)
            elif self._error is not None:
                raise self._error
            else:
                self._filled.clear()

    def _some(self) -> list[Happened]:
        batch: list[Happened] = []
        size = 0
        while self._waiting and len(batch) < BATCH and size < BATCH_BYTES:
            happened = self._waiting.popleft()
            batch.append(happened)
            if isinstance(happened.input, Received | Sent):
                size += len(happened.input.line) + EACH
        self._size -= size
        return batch
