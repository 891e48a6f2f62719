"""Read and write an agent's lines: read in slices of bounded size, written one after another by one task.

Reading does not wait for writing, but stops while MAX_POSTED lines wait to be written. So an agent that reads no
answers gets no further requests read. Of several blank lines in a row the first is reported, the others are counted.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from msgspec import Struct

from turnwire.adapter.process.transport import ProcessGone, Transport
from turnwire.protocol.framing import DEFAULT_LIMIT, LineFramer, OversizeLine

MAX_POSTED = 1024
"""Lines that may wait to be written before reading stops."""

Value = TypeVar("Value")


class _Posted(Struct, frozen=True):
    line: bytes
    before: Callable[[], None]
    after: Callable[[], None]
    written: asyncio.Future[None]


class Lines:
    """The two streams of one agent.

    Args:
        transport: the agent.
        limit: bytes of one line that are held, at most.
        most_posted: lines that may wait to be written before reading stops.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        limit: int = DEFAULT_LIMIT,
        most_posted: int = MAX_POSTED,
    ) -> None:
        self.blank = 0
        """Blank lines that were skipped."""
        self._is_blank = False
        """Whether the last line was blank."""
        self._transport = transport
        self._framer = LineFramer(limit)
        self._most_posted = most_posted
        self._posted: deque[_Posted] = deque()
        self._posted_bytes = 0
        self._has_written = asyncio.Event()
        self._has_posted = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._gone: ProcessGone | None = None

    @property
    def gone(self) -> ProcessGone | None:
        """Why nothing can be written any more; None while writing is possible."""
        return self._gone

    async def slices(self) -> AsyncIterator[list[bytes | OversizeLine]]:
        """Yield the agent's lines until its output ends, in lists of bounded size. Other tasks run between two of them."""
        while chunk := await self._transport.read():
            for lines in self._framer.slices(chunk):
                if told := self._told(lines):
                    yield told
                await asyncio.sleep(0)
                await self._has_room.wait()
        if (last := self._framer.close()) is not None:
            yield [last]

    def post(
        self, line: bytes, before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
    ) -> asyncio.Future[None]:
        """Queue lines with their newlines; b"" only waits its turn.

        The future completes when they were written. `before` is called right before that, `after` when the agent has taken
        them.
        """
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._gone is not None:
            fail(written, self._gone)
            return written
        self._posted.append(_Posted(line, before, after, written))
        self._posted_bytes += len(line)
        self._has_posted.set()
        if len(self._posted) >= self._most_posted:
            self._has_room.clear()
        return written

    async def below(self, size: int) -> None:
        """Wait until no more than so many bytes wait to be written, or nothing can be any more."""
        while self._posted_bytes > size:
            self._has_written.clear()
            await self._has_written.wait()

    async def all_written(self) -> None:
        """Wait until everything that was posted so far is written, or can be written no more."""
        if self._posted:
            await asyncio.wait([self._posted[-1].written])

    async def write_posted(self) -> None:
        """Write the queue until the agent accepts no more. The only task that writes."""
        try:
            # `give_up` may come between the words and their turn, and takes them with it
            while self._gone is None:
                await self._has_posted.wait()
                if self._posted:
                    await self._write_next()
        except ProcessGone as gone:
            self.give_up(gone)

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits and every later write: the agent is gone."""
        self._gone = reason
        for posted in self._posted:
            fail(posted.written, reason)
        self._posted.clear()
        self._posted_bytes = 0
        self._has_posted.set()
        self._has_room.set()
        self._has_written.set()

    async def _write_next(self) -> None:
        posted = self._posted[0]
        posted.before()
        if posted.line:
            await self._transport.write(posted.line)
        if not self._posted:
            return  # given up meanwhile
        self._posted.popleft()
        self._posted_bytes -= len(posted.line)
        self._has_written.set()
        if not posted.written.done():
            posted.written.set_result(None)
        posted.after()
        if not self._posted:
            self._has_posted.clear()
        if len(self._posted) < self._most_posted:
            self._has_room.set()

    def _told(self, lines: list[bytes | OversizeLine]) -> list[bytes | OversizeLine]:
        if b"" not in lines:
            self._is_blank = self._is_blank and not lines
            return lines
        told = []
        for line in lines:
            if line == b"" and self._is_blank:
                self.blank += 1
            else:
                told.append(line)
            self._is_blank = line == b""
        return told


def fail(future: asyncio.Future[Value], error: Exception) -> None:
    """Set a future's exception, unless it is done. Nobody has to read the exception."""
    if not future.done():
        future.set_exception(error)
        future.exception()
