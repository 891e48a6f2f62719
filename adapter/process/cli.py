"""A CLI as a process of its own group: chunks of stdout, whole lines to stdin, a bounded tail of stderr, its exit.

Works on asyncio's subprocess protocol instead of streams: a StreamReader has a line limit and waits for every pipe
before it tells of the exit. Reading stops while the reader lags behind by READ_AHEAD bytes, which in turn stops the CLI.
Stderr is read like stdout by whoever asks for that.
"""

import asyncio
import os
import shutil
import signal
import sys
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from adapter.process import launch
from adapter.process.identity import MARK, ProcessIdentity, expected, identify, reap, signal_all
from adapter.process.transport import Exit, ProcessGone
from adapter.process.watchdog import Watchdog
from protocol.errors import TurnwireError

READ_AHEAD = 1024 * 1024
"""Bytes of a pipe that are held for its reader, at most (and one chunk more)."""

STDERR_TAIL = 16 * 1024
"""Bytes of stderr that are kept."""

_PIPE_GRACE = 1.0


class ProgramNotFound(TurnwireError):
    """There is no such program to run."""


class _Incoming:
    """What came through one pipe and waits for its reader."""

    def __init__(self) -> None:
        self.pipe: asyncio.ReadTransport | None = None
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._more = asyncio.Event()
        self._ended = asyncio.Event()
        self._is_discarded = False

    def take(self, data: bytes) -> None:
        if self._is_discarded:
            return
        self._chunks.append(data)
        self._held += len(data)
        if self._held > READ_AHEAD and self.pipe is not None:
            self.pipe.pause_reading()
        self._more.set()

    def end(self) -> None:
        self._ended.set()
        self._more.set()

    def discard(self) -> None:
        self._is_discarded = True
        self._take_all()

    async def read(self) -> bytes:
        while not self._chunks:
            if self._ended.is_set():
                return b""
            self._more.clear()
            await self._more.wait()
        return self._take_all()

    async def over(self) -> None:
        """What the CLI started may hold the pipe open for ever: it has ended, too, when nothing comes any more."""
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(_PIPE_GRACE):
                    await self._ended.wait()
            except TimeoutError:
                if not self._chunks:
                    self.end()

    def _take_all(self) -> bytes:
        whole = self._chunks.popleft() if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        if self._held > READ_AHEAD and self.pipe is not None and not self._ended.is_set():
            self.pipe.resume_reading()
        self._held = 0
        return whole


class _Pipes(asyncio.SubprocessProtocol):
    """What the event loop tells of the process."""

    def __init__(self, *, reads_stderr: bool) -> None:
        self.transport: asyncio.SubprocessTransport | None = None
        self.stdout = _Incoming()
        self.stderr = _Incoming() if reads_stderr else None
        self.stderr_tail = bytearray()
        self.writable = asyncio.Event()
        self.writable.set()
        self.input_lost = False
        self.exited = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.SubprocessTransport, transport)
        self.stdout.pipe = cast(asyncio.ReadTransport, self.transport.get_pipe_transport(1))
        if self.stderr is not None:
            self.stderr.pipe = cast(asyncio.ReadTransport, self.transport.get_pipe_transport(2))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.stdout.take(data)
            return
        self.stderr_tail += data
        del self.stderr_tail[:-STDERR_TAIL]
        if self.stderr is not None:
            self.stderr.take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio names it
        if fd == 0:
            self.input_lost = True
            self.writable.set()
        elif fd == 1:
            self.stdout.end()
        elif self.stderr is not None:
            self.stderr.end()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.input_lost = True
        self.writable.set()


class CliProcess:
    """A running CLI; a Transport."""

    def __init__(self, pipes: _Pipes, identity: ProcessIdentity, watchdog: Watchdog | None) -> None:
        assert pipes.transport is not None
        self.identity = identity
        """What to record, so that it can be reaped after a crash of the sidecar."""
        self.is_over = False
        """True once `wait` has returned: nothing of it is left."""
        self._pipes = pipes
        self._transport = pipes.transport
        self._watchdog = watchdog
        self._lock = asyncio.Lock()

    @classmethod
    async def spawn(
        cls,
        argv: Sequence[str],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        watchdog: Watchdog | None = None,
        reads_stderr: bool = False,
    ) -> "CliProcess":
        """Start the CLI in its workspace, with exactly this environment.

        With `reads_stderr`, its stderr has to be read as its stdout has; its tail is kept anyway.

        Raises:
            ProgramNotFound: the program or the workspace does not exist.
        """
        if not workspace.is_dir():  # noqa: ASYNC240  one stat, before anything runs
            raise ProgramNotFound(f"the workspace {workspace} is not a directory; create it or name another")
        program = find_program(argv[0], environment)
        mark = uuid.uuid4().hex
        if watchdog is not None:
            # Before it is there: we may be killed before we can tell its pid, and the death signal reaches it alone.
            watchdog.guard(expected(mark))
        try:
            _, pipes = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Pipes(reads_stderr=reads_stderr),
                *_with_parent_death_signal([program, *argv[1:]]),
                cwd=workspace,
                env={**environment, MARK: mark},
                start_new_session=True,
            )
            assert pipes.transport is not None
            pid = pipes.transport.get_pid()
            try:
                identity = identify(pid, mark)
            except ProcessLookupError:
                identity = ProcessIdentity(pid, "exited", mark)
            if watchdog is not None:
                watchdog.guard(identity)
        finally:
            if watchdog is not None:
                watchdog.release(expected(mark))
        return cls(pipes, identity, watchdog)

    async def read(self) -> bytes:
        """Return what came since the last read, at least one byte; b"" at the end of stdout."""
        return await self._pipes.stdout.read()

    async def read_stderr(self) -> bytes:
        """Return what came on stderr since the last read, at least one byte; b"" at its end."""
        stderr = self._pipes.stderr
        return b"" if stderr is None else await stderr.read()

    def discard_stderr(self) -> None:
        """Let go whatever else comes on stderr."""
        if self._pipes.stderr is not None:
            self._pipes.stderr.discard()

    def discard(self) -> None:
        """Let go all that comes: there is no reader any more, who would keep the process from being over."""
        self._pipes.stdout.discard()
        self.discard_stderr()

    async def write(self, line: bytes) -> None:
        """Write a whole line; returns when the CLI takes more. Raises ProcessGone."""
        async with self._lock:
            stdin = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))
            if stdin is None or stdin.is_closing() or self._pipes.input_lost:
                raise ProcessGone("the CLI takes no more input")
            stdin.write(line)
            await self._pipes.writable.wait()
            if self._pipes.input_lost:
                raise ProcessGone("the CLI closed its input while it was written to")

    def close_input(self) -> None:
        """Close stdin: the CLI finishes what it does, and exits."""
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole process group, and to whatever else the CLI started."""
        signal_all([self.identity], number, fresh=True)

    def kill(self) -> None:
        """Send SIGKILL to all of it."""
        self.signal(signal.SIGKILL)

    @property
    def has_exited(self) -> bool:
        """True once the process is gone; its last output may still wait to be read."""
        return self._pipes.exited.is_set()

    async def exited(self) -> None:
        """Wait until the process is gone."""
        await self._pipes.exited.wait()

    async def exits_within(self, seconds: float) -> bool:
        """Wait until the process is gone, for so many seconds at most, and tell whether it is."""
        try:
            async with asyncio.timeout(seconds):
                await self.exited()
        except TimeoutError:
            return False
        return True

    async def wait(self) -> Exit:
        """Wait for the exit of the process and the end of its output, end its leftovers, and say how it ended."""
        await self._pipes.exited.wait()
        await self._pipes.stdout.over()
        if self._pipes.stderr is not None:
            await self._pipes.stderr.over()
        await asyncio.to_thread(reap, [self.identity], fresh=True)
        if self._watchdog is not None:
            self._watchdog.release(self.identity)
        ended = _exit(self._transport.get_returncode())
        self._transport.close()
        self.is_over = True
        return ended

    @property
    def stderr_tail(self) -> str:
        """The last of what it said on stderr."""
        return self._pipes.stderr_tail.decode("utf-8", "replace")


def find_program(program: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program as the CLI's environment would find it; raises ProgramNotFound."""
    found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        raise ProgramNotFound(f"there is no program {program!r}; install it, or name its path")
    return str(Path(found).absolute())


def _with_parent_death_signal(argv: list[str]) -> list[str]:
    if not sys.platform.startswith("linux") or not sys.executable:
        return argv  # elsewhere the watchdog alone sees to it
    return [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), *argv]


def _exit(returncode: int | None) -> Exit:
    if returncode is None:
        return Exit()
    if returncode >= 0:
        return Exit(code=returncode)
    try:
        return Exit(signal=signal.Signals(-returncode).name)
    except ValueError:
        return Exit(signal=f"signal {-returncode}")
