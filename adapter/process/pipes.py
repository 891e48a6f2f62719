"""The pipes of a child process: chunks out, whole lines in, each within a bound; an output ends soon after the process.

What a process started may hold its output open long after its exit. What the process itself wrote is in the pipe by
then, and is read; whatever others say is waited for through OutputGrace, then the output is over without its end.
"""

import asyncio
import fcntl
import os
import socket
import struct
import termios
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import BinaryIO, cast

from msgspec import Struct

from turnwire.adapter.process.transport import ProcessGone

READ_AHEAD = 1024 * 1024
"""Bytes of a pipe that are held for its reader, at most (and one chunk more)."""


class OutputGrace(Struct, frozen=True, kw_only=True):
    """How long an output is listened to after the exit of its process, while others hold it open."""

    quiet: float = 0.5
    """Seconds of silence after which it is over."""
    latest: float = 3.0
    """Seconds after the exit at which reading ends, even if another process still writes."""


class PipeEnd:
    """Our end of a pipe, as an event loop takes it.

    uvloop closes the descriptor first and what it was given after it. In between a thread may open something under the same
    number. That is another's, and stays open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pipe = _identity(descriptor)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor, unless that has been done."""
        if self._pipe is not None and _identity(self._descriptor) == self._pipe:
            os.close(self._descriptor)
        self._pipe = None


def _identity(descriptor: int) -> tuple[int, int] | None:
    """Return what tells an open file from all others; None for a descriptor that is closed."""
    try:
        about = os.fstat(descriptor)
    except OSError:
        return None
    return about.st_dev, about.st_ino


class Incoming(asyncio.Protocol):
    """What came through one pipe and waits for its reader; the loop's protocol of its reading end."""

    def __init__(
        self, grace: OutputGrace, *, discards: bool = False, sees: Callable[[bytes], None] = lambda _: None
    ) -> None:
        self.ended = asyncio.Event()
        """Set once nothing more comes; what came may still wait to be read."""
        self._grace = grace
        self._sees = sees
        self._pipe: asyncio.ReadTransport | None = None
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._came = 0
        self._more = asyncio.Event()
        self._is_discarded = discards
        self._owed = 0
        self._latest = 0.0

    @classmethod
    async def open(
        cls,
        end: PipeEnd,
        grace: OutputGrace,
        *,
        discards: bool = False,
        sees: Callable[[bytes], None] = lambda _: None,
    ) -> "Incoming":
        """Read a pipe from now on, which is then ours to close; `sees` gets every chunk, read or discarded."""
        loop = asyncio.get_running_loop()
        try:
            _, incoming = await loop.connect_read_pipe(lambda: cls(grace, discards=discards, sees=sees), end)
        except BaseException:
            end.close()
            raise
        return incoming

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the pipe."""
        self._pipe = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Hold a chunk; the pipe is not read on while its reader lags."""
        self._came += len(data)
        self._owed -= len(data)
        self._sees(data)
        if self._is_discarded:
            return
        self._chunks.append(data)
        self._held += len(data)
        if self._lags and self._pipe is not None:
            self._pipe.pause_reading()
        self._more.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio names it
        """Note the end."""
        self._end()

    def process_exited(self) -> None:
        """Note that the process has exited. Its output is in the pipe; other writers have the grace period."""
        if self.ended.is_set() or self._pipe is None:
            return
        fd = self._pipe.get_extra_info("pipe").fileno()
        self._owed = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0]
        self._latest = asyncio.get_running_loop().time() + self._grace.latest
        self._look(-1)

    def discard(self) -> None:
        """Let go all that comes from now on."""
        self._is_discarded = True
        self._take_all()

    def close(self) -> None:
        """Hear nothing more; what came can still be read."""
        self._end()

    async def read(self) -> bytes:
        """Return what came since the last read, at least one byte; b"" at the end. For one reader."""
        while not self._chunks:
            if self.ended.is_set():
                return b""
            self._more.clear()
            await self._more.wait()
        return self._take_all()

    @property
    def _lags(self) -> bool:
        return self._held > READ_AHEAD

    def _look(self, came: int) -> None:
        """End the output of a process that has exited, unless something came since the last look."""
        loop = asyncio.get_running_loop()
        if self.ended.is_set():
            return
        is_read = not self._lags and self._owed <= 0
        if is_read and (came == self._came or loop.time() >= self._latest):
            self._end()
        else:
            loop.call_later(self._grace.quiet, self._look, self._came)

    def _end(self) -> None:
        self.ended.set()
        self._more.set()
        if self._pipe is not None:
            self._pipe.close()

    def _take_all(self) -> bytes:
        whole = self._chunks.popleft() if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        if self._lags and self._pipe is not None and not self.ended.is_set():
            self._pipe.resume_reading()
        self._held = 0
        return whole


class Outgoing(asyncio.BaseProtocol):
    """The way to the stdin of a process; the loop's protocol of its writing end."""

    def __init__(self) -> None:
        self._pipe: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_lost = False
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, end: PipeEnd) -> "Outgoing":
        """Write to a pipe from now on, which is then ours to close."""
        try:
            _, outgoing = await asyncio.get_running_loop().connect_write_pipe(cls, end)
        except BaseException:
            end.close()
            raise
        return outgoing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the pipe."""
        self._pipe = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio names it
        """Note that the reader is gone."""
        self._pipe = None
        self._lose()

    def pause_writing(self) -> None:
        """Make writers wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let who waits write on."""
        self._writable.set()

    def process_exited(self) -> None:
        """Note that the process has exited. Nothing is written to other holders of its stdin."""
        self._lose()

    async def write(self, line: bytes) -> None:
        """Write a whole line; returns when the process takes more. Raises ProcessGone."""
        async with self._lock:
            if self._pipe is None or self._pipe.is_closing() or self._is_lost:
                raise ProcessGone("the CLI does not accept input any more")
            self._pipe.write(line)
            await self._writable.wait()
            if self._is_lost:
                raise ProcessGone("the CLI closed its input during a write")

    def close(self) -> None:
        """Say that nothing more comes, once all that was written is taken."""
        if self._pipe is not None:
            self._pipe.close()

    def abort(self) -> None:
        """Close it at once; unwritten bytes are lost."""
        if self._pipe is not None:
            self._pipe.abort()

    def _lose(self) -> None:
        self._is_lost = True
        self._writable.set()


class ChildPipes(Struct, frozen=True):
    """The three pipes of a process that is being started: its own ends of them, and ours."""

    their_stdin: BinaryIO
    their_stdout: BinaryIO
    their_stderr: BinaryIO
    stdin: Outgoing
    stdout: Incoming
    stderr: Incoming

    def process_exited(self) -> None:
        """Say that the process has exited."""
        self.stdin.process_exited()
        self.stdout.process_exited()
        self.stderr.process_exited()

    async def over(self) -> None:
        """Wait for the end of both outputs."""
        await self.stdout.ended.wait()
        await self.stderr.ended.wait()

    def close(self) -> None:
        """Close what is ours; what came can still be read."""
        self.stdin.abort()
        self.stdout.close()
        self.stderr.close()


@asynccontextmanager
async def pipes(
    grace: OutputGrace,
    *,
    discards: tuple[bool, bool] = (False, False),
    sees: tuple[Callable[[bytes], None], Callable[[bytes], None]] = (lambda _: None, lambda _: None),
) -> AsyncIterator[ChildPipes]:
    """Make the pipes of a process that is started within; afterwards its ends are closed here, and ours as well if that fails.

    `discards` and `sees` are those of its stdout and its stderr.
    """
    async with AsyncExitStack() as theirs, AsyncExitStack() as ours:
        their_stdin, our_stdin = _input_pipe()
        theirs.enter_context(their_stdin)
        stdin = await Outgoing.open(our_stdin)
        ours.callback(stdin.abort)
        outputs: list[tuple[BinaryIO, Incoming]] = []
        for discarded, seen in zip(discards, sees, strict=True):
            reading, writing = pipe()
            theirs.enter_context(writing)
            incoming = await Incoming.open(reading, grace, discards=discarded, sees=seen)
            ours.callback(incoming.close)
            outputs.append((writing, incoming))
        (their_stdout, stdout), (their_stderr, stderr) = outputs
        yield ChildPipes(their_stdin, their_stdout, their_stderr, stdin, stdout, stderr)
        ours.pop_all()


def pipe() -> tuple[PipeEnd, BinaryIO]:
    """Return the reading end of a new pipe, which is ours, and the writing end."""
    reading, writing = os.pipe()
    return PipeEnd(reading), os.fdopen(writing, "wb", buffering=0)


def _input_pipe() -> tuple[BinaryIO, PipeEnd]:
    """Return the two ends of what is to be a process's stdin: a socket, whose writer notices when the reader has gone."""
    reading, writing = socket.socketpair()
    return os.fdopen(reading.detach(), "rb", buffering=0), PipeEnd(writing.detach())
