"""The inputs of a session in order, for its consumer: received and sent lines, decisions, the end.

It is bounded by bytes. The reader of the CLI waits for room, so a slow consumer stops the CLI instead of filling
memory. Sent lines and decisions never wait: they are few, and come from people.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator

from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Ended, Received, Sent

EACH = 256
"""Extra bytes for each line, because a short line costs more than its length."""

BATCH = 256
"""Most inputs in one batch. Other tasks run before the next one."""

BATCH_BYTES = 1024 * 1024
"""Maximum bytes of lines in one batch, with the extra bytes of each line. A single line may be larger."""


class Inbox:
    """A queue with one consumer."""

    def __init__(self, capacity: int) -> None:
        """capacity: maximum number of buffered bytes before reading stops, with the extra bytes of each line."""
        self._capacity = capacity
        self._waiting: deque[tuple[list[InputWithEvents], int]] = deque()
        """Batches with their sizes in bytes."""
        self._size = 0
        self._filled = asyncio.Event()
        self._error: Exception | None = None
        self._room = asyncio.Event()
        self._room.set()

    def put(self, batch: list[InputWithEvents]) -> None:
        """Add inputs. The inbox owns the list from now on. Never waits."""
        size = 0
        for item, _ in batch:
            if type(item) is Received or type(item) is Sent:
                size += len(item.line) + EACH
        if len(batch) > 1 and (len(batch) > BATCH or size > BATCH_BYTES):
            half = len(batch) // 2
            self.put(batch[:half])
            self.put(batch[half:])
            return
        self._waiting.append((batch, size))
        self._size += size
        if self._size > self._capacity:
            self._room.clear()
        self._filled.set()

    def fail(self, error: Exception) -> None:
        """Have the consumer raise an error, behind everything that waits."""
        self._error = error
        self._filled.set()

    def widen(self) -> None:
        """Accept everything from now on: the session ends, and there may be no consumer any more."""
        self._capacity = sys.maxsize
        self._room.set()

    async def room(self) -> None:
        """Wait until the consumer has caught up."""
        await self._room.wait()

    async def batches(self) -> AsyncIterator[list[InputWithEvents]]:
        """Yield waiting inputs, in order, in batches. The last batch ends with Ended. Raises the error given to `fail`."""
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

    def _some(self) -> list[InputWithEvents]:
        if not self._waiting:
            return []
        batch, size = self._waiting.popleft()
        while self._waiting:
            more, its_size = self._waiting[0]
            if len(batch) + len(more) > BATCH or size + its_size > BATCH_BYTES:
                break
            self._waiting.popleft()
            batch += more
            size += its_size
        self._size -= size
        return batch
