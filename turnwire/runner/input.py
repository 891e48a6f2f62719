"""Read standard input in a thread, chunk by chunk: it may be a file or a terminal as well as a pipe."""

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import AsyncIterator

CHUNK = 1 << 16
AHEAD = 2
"""Chunks that are read before anybody asks for them."""


class Input:
    """Reads a file descriptor to its end."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._slots = threading.Semaphore(AHEAD)
        self._chunks: deque[bytes] = deque()
        self._filled = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, daemon=True, name=f"input {fd}").start()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the chunks until the end."""
        while True:
            while not self._chunks:
                self._filled.clear()
                await self._filled.wait()
            chunk = self._chunks.popleft()
            if not chunk:
                return
            yield chunk
            self._slots.release()

    def _read(self) -> None:
        chunk = b"-"
        while chunk:
            self._slots.acquire()
            chunk = self._chunk()
            try:
                self._loop.call_soon_threadsafe(self._take, chunk)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    def _chunk(self) -> bytes:
        while True:
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:  # whoever made the pipe may have made it non-blocking
                select.select([self._fd], [], [])
            except OSError:
                return b""  # a terminal that hung up

    def _take(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._filled.set()
