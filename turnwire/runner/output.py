"""One stream that many runs write to: whole lines, in order, in a thread, within a bound.

A thread, since a stream may be a file or a terminal, and since a stalled reader must block only the
thread. Runs `put` and wait for room in turn. So a slow reader slows them down, and only the next one is woken. Lines
that must be written in any case, such as the end of a run, do not wait. Their sender waits afterwards, until the
stream is below a limit.
"""

import asyncio
import os
import select
import threading
from collections import deque

from turnwire.protocol.errors import TurnwireError

CAPACITY = 1024 * 1024
"""Bytes that may wait to be written before `put` waits."""


class OutputLost(TurnwireError):
    """The stream has no reader any more."""


class Output:
    """Writes to a file descriptor."""

    def __init__(self, fd: int, capacity: int = CAPACITY) -> None:
        self._fd = fd
        self._capacity = capacity
        self._blocks: deque[bytes] = deque()
        self._waiting: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self._filled = threading.Condition()
        self._size = 0
        self._progress = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._error: OSError | None = None
        threading.Thread(target=self._write, daemon=True, name=f"output {fd}").start()

    def add(self, lines: bytes) -> None:
        """Write whole lines; never waits."""
        if self._error is not None:
            return
        self._size += len(lines)
        with self._filled:
            self._blocks.append(lines)
            self._filled.notify()

    async def put(self, lines: bytes) -> None:
        """Write whole lines once there is room. Raises OutputLost."""
        self._check()
        if self._size < self._capacity and not self._waiting:
            self.add(lines)
            return
        written: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append((lines, written))
        await written
        self._check()

    async def below(self, size: int) -> None:
        """Wait until fewer than so many bytes wait to be written; raises OutputLost."""
        while self._size >= size:
            self._check()
            self._progress.clear()
            await self._progress.wait()
        self._check()

    async def flush(self) -> None:
        """Wait until everything is written; raises OutputLost."""
        await self.below(1)

    async def lost(self) -> None:
        """Wait until the reader is gone, then raise OutputLost."""
        while True:
            self._check()
            self._progress.clear()
            await self._progress.wait()

    def _check(self) -> None:
        if self._error is not None:
            raise OutputLost(f"the reader of the output is gone: {self._error.strerror}")

    def _write(self) -> None:
        while True:
            with self._filled:
                while not self._blocks:
                    self._filled.wait()
                block = b"".join(self._blocks)
                self._blocks.clear()
            try:
                self._write_all(block)
            except OSError as error:
                self._tell(len(block), error)
                return
            if not self._tell(len(block), None):
                return

    def _write_all(self, block: bytes) -> None:
        left = memoryview(block)
        while left:
            try:
                left = left[os.write(self._fd, left) :]
            except BlockingIOError:  # whoever made the pipe may have made it non-blocking
                select.select([], [self._fd], [])

    def _tell(self, written: int, error: OSError | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._written, written, error)
        except RuntimeError:  # the loop is closed: nobody is left who waits
            return False
        return True

    def _written(self, size: int, error: OSError | None) -> None:
        self._size -= size
        self._error = error
        while self._waiting and (self._size < self._capacity or error is not None):
            lines, written = self._waiting.popleft()
            if not written.done():  # who waited may have been cancelled
                self.add(lines)
                written.set_result(None)
        self._progress.set()
