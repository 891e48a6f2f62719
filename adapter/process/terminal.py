"""A program on a pseudo-terminal of its own, such as a person's shell: bytes out when they are asked for, bytes in, a size, an end.

Nothing is read ahead: while nobody reads, the kernel's buffer fills up and the program waits. On Linux the supervisor of
adapter/process/supervisor.py stands over it, so that the end takes everything that the program has started.
"""

import asyncio
import fcntl
import os
import signal
import struct
import sys
import termios
import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.child import CAN_SUPERVISE, Child, Start, Supervised, kill_group
from turnwire.adapter.process.cli import Enters
from turnwire.protocol.errors import TurnwireError

PIECE = 16 * 1024
"""Most bytes that one read returns."""

MOST_UNTAKEN = 64 * 1024
"""Bytes of input that wait for a program that does not read."""

LAST_S = 0.5
"""Seconds that the last output may take to come through, after the end."""

HANGUP_S = 1.0
"""Seconds from SIGHUP to SIGKILL."""


class InputFull(TurnwireError):
    """The program has not read what was typed before."""


class TerminalProcess:
    """A program that runs on a pseudo-terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._running: Child | Supervised
        self._wake = asyncio.Event()
        """There may be something to read, or the program has exited."""
        self._untaken = bytearray()
        self._is_writing = False
        self._ending = asyncio.Lock()
        self._is_over = False
        """Nothing of the program is left."""
        self._is_closed = False

    @classmethod
    async def spawn(
        cls,
        argv: Sequence[str],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        columns: int,
        rows: int,
        sandbox: Enters | None = None,
    ) -> "TerminalProcess":
        """Start a program in its workspace; its path must be absolute. Raises OSError.

        Args:
            argv: the program and its arguments.
            workspace: its working directory.
            environment: its whole environment; names that begin with `TURNWIRE_` are dropped.
            columns: characters of a line.
            rows: lines.
            sandbox: where it is to run; None for nowhere in particular.
        """
        argv = [*_launcher(), *argv]
        master, slave = os.openpty()
        self, entry = cls(master), None
        try:
            os.set_blocking(master, False)
            self.resize(columns, rows)
            if sandbox is not None:
                entry = sandbox.enter(argv, workspace, environment)
                argv, environment = entry.argv, entry.environment
            start = Start(
                argv=argv,
                workspace=workspace,
                environment=environment,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                shield=None if entry is None else entry.passed,
            )
            if CAN_SUPERVISE:
                mark = uuid.uuid4().hex
                self._running = await Supervised.start(
                    start, mark, on_exit=self._wake.set, contained=entry is None
                )
            else:
                self._running = await Child.start(start, on_exit=self._wake.set)
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
            if entry is not None:
                entry.close()
        return self

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._running.code

    async def read(self) -> bytes:
        """Return what the program wrote, at least one byte; b"" once it has exited and all was read, or after `close`. For one reader.

        Its exit ends what it has started, too.
        """
        while not self._is_closed:
            self._wake.clear()
            try:
                return os.read(self._master, PIECE)
            except BlockingIOError:
                pass
            except OSError:  # EIO: nobody has the terminal open any more
                await self._exits()
                await self._end()
                return b""
            if self._running.exited.is_set() and not self._is_over:
                await self._end()
            elif not await self._readable(LAST_S if self._is_over else None):
                return b""
        return b""

    def write(self, typed: bytes) -> None:
        """Give the program input; raises InputFull, and drops what comes after the end."""
        if self._is_closed or self._running.exited.is_set():
            return
        if len(self._untaken) + len(typed) > MOST_UNTAKEN:
            raise InputFull(
                f"the program has not read {len(self._untaken)} bytes that were typed; wait until it does, or close it"
            )
        self._untaken += typed
        self._pass_on()

    def resize(self, columns: int, rows: int) -> None:
        """Set the size; the kernel tells the program."""
        if not self._is_closed:
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def close(self) -> None:
        """End the program and all that it has started: SIGHUP first, SIGKILL after HANGUP_S seconds."""
        if not self._is_closed:
            self._is_closed = True
            self._hang_up()
            self._wake.set()
        await self._end()
        self._running.close()

    async def _end(self) -> None:
        async with self._ending:
            if self._is_over:
                return
            running = self._running
            if not running.exited.is_set():
                if isinstance(running, Supervised):
                    running.signal(signal.SIGHUP)
                else:
                    os.killpg(running.pid, signal.SIGHUP)
                await self._exits()
            if isinstance(running, Supervised):
                running.signal(signal.SIGKILL)
                await running.end(0)
            else:
                kill_group(running.pid)
                await running.exited.wait()
            self._is_over = True

    async def _exits(self) -> None:
        """Wait for the exit, HANGUP_S seconds at most."""
        await suspend_aware.within(HANGUP_S, self._running.exited.wait())  # otherwise it is killed next

    async def _readable(self, seconds: float | None) -> bool:
        """Wait until there may be something to read; False after so many seconds without."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._master, self._wake.set)
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return False
        finally:
            if not self._is_closed:  # otherwise the descriptor is another's by now
                loop.remove_reader(self._master)
        return True

    def _pass_on(self) -> None:
        """Write what the terminal takes now, and the rest once it takes more."""
        loop = asyncio.get_running_loop()
        try:
            while self._untaken:
                del self._untaken[: os.write(self._master, self._untaken)]
        except BlockingIOError:
            if not self._is_writing:
                self._is_writing = True
                loop.add_writer(self._master, self._pass_on)
            return
        except OSError:
            self._untaken.clear()  # it has exited
        if self._is_writing:
            self._is_writing = False
            loop.remove_writer(self._master)

    def _hang_up(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._master)
        loop.remove_writer(self._master)
        self._untaken.clear()
        os.close(self._master)


@cache
def _launcher() -> Sequence[str]:
    """Return how the launcher is run: by the interpreter itself, as a virtual environment may be where a sandbox does not show it."""
    program = Path(__file__).with_name("terminal_launcher.py").read_text(encoding="utf-8")
    return [str(Path(sys.executable).resolve()), "-I", "-S", "-c", program]
