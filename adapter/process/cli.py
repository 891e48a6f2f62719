"""A CLI as a process of its own session: chunks of stdout, whole lines to stdin, a bounded tail of stderr, its exit.

The pipes are ours (adapter/process/pipes.py) and not asyncio's streams: a StreamReader has a line limit and waits for every pipe
before it tells of the exit. Reading stops while the reader lags behind by READ_AHEAD bytes, which in turn stops the CLI.
The caller may read stderr like stdout. On Linux a supervisor (adapter/process/supervisor.py) stands over the CLI
and ends what it leaves, in a cgroup of its own where there may be one; elsewhere that is found by its process group.
"""

import asyncio
import os
import shutil
import signal
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.child import CAN_SUPERVISE, Child, Start, Supervised
from turnwire.adapter.process.identity import MARK, ProcessIdentity, expected, identify, reap, signal_all
from turnwire.adapter.process.pipes import READ_AHEAD, ChildPipes, OutputGrace, pipes
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.protocol.errors import TurnwireError

__all__ = ["MAX_ARGUMENT", "READ_AHEAD", "STDERR_TAIL", "CliProcess", "ProgramNotFound", "find_program"]

STDERR_TAIL = 16 * 1024
"""Bytes of stderr that are kept."""

LEFT_GRACE = 2.0
"""Seconds that what a CLI left has between SIGTERM and SIGKILL."""

MAX_ARGUMENT = 128 * 1024 - 1
"""Maximum bytes of one argument on Linux (MAX_ARG_STRLEN, without the NUL). Other systems limit only the sum."""

UNHEARD = 3.0
"""Seconds to wait for a supervisor that should kill; somebody may have stopped it."""


class ProgramNotFound(TurnwireError):
    """There is no such program to run."""


class Entry(Protocol):
    """How a program is started in a sandbox."""

    @property
    def argv(self) -> Sequence[str]:
        """What to start."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Its environment."""
        ...

    @property
    def passed(self) -> Sequence[int]:
        """The descriptors that it gets besides."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


class Enters(Protocol):
    """A sandbox, as far as starting a program in it goes (adapter/sandbox/sandbox.py)."""

    def enter(self, argv: Sequence[str], workspace: Path, environment: Mapping[str, str]) -> Entry:
        """Return how to start a program in it."""
        ...


class _Tail:
    """The last of what was said."""

    def __init__(self) -> None:
        self.kept = bytearray()

    def see(self, data: bytes) -> None:
        self.kept += data
        del self.kept[:-STDERR_TAIL]


class CliProcess:
    """A running CLI; a Transport."""

    def __init__(self, ends: ChildPipes, tail: _Tail, watchdog: Watchdog | None, unheard: float) -> None:
        self.identity: ProcessIdentity
        """What to record, so that it can be reaped after a crash of the sidecar."""
        self._ends = ends
        self._tail = tail
        self._watchdog = watchdog
        self._unheard = unheard
        self._running: Child | Supervised
        self._clearing = asyncio.Lock()
        self.is_over = False
        """True once `wait` has returned: nothing of it is left."""

    @classmethod
    async def spawn(
        cls,
        argv: Sequence[str],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        watchdog: Watchdog | None = None,
        reads_stderr: bool = False,
        grace: OutputGrace | None = None,
        supervised: bool = CAN_SUPERVISE,
        contained: bool = True,
        unheard: float = UNHEARD,
        sandbox: Enters | None = None,
    ) -> "CliProcess":
        """Start the CLI in its workspace, with exactly this environment.

        Args:
            argv: the program, looked for in the environment's PATH, and its arguments.
            workspace: its working directory.
            environment: its environment; the mark is added to it.
            watchdog: ends the CLI should the sidecar die.
            reads_stderr: its stderr has to be read as its stdout has; its tail is kept anyway.
            grace: how long an output is listened to that others hold open after the exit.
            supervised: have a supervisor adopt what it leaves; Linux only.
            contained: have the supervisor give it a cgroup of its own, where it may.
            sandbox: where it is to run; None for nowhere in particular.
            unheard: seconds that a supervisor may take to kill; then it is killed with the CLI.

        Raises:
            ProgramNotFound: the program or the workspace does not exist.
            OSError: no process can be started.
        """
        if not workspace.is_dir():  # noqa: ASYNC240  one stat, before anything runs
            raise ProgramNotFound(f"the workspace {workspace} is not a directory; create it or name another")
        program = find_program(argv[0], environment)
        argv = [program, *argv[1:]]
        mark = uuid.uuid4().hex
        entry = None
        if sandbox is not None:
            entry = sandbox.enter(argv, workspace, environment)
            argv, environment = entry.argv, entry.environment
        tail = _Tail()
        discards, sees = (False, not reads_stderr), (lambda _: None, tail.see)
        async with pipes(grace or OutputGrace(), discards=discards, sees=sees) as ends:
            self = cls(ends, tail, watchdog, unheard)
            start = Start(
                argv=argv,
                workspace=workspace,
                environment=environment,
                stdin=ends.their_stdin,
                stdout=ends.their_stdout,
                stderr=ends.their_stderr,
                shield=None if entry is None else entry.passed,
            )
            try:
                await self._start(start, mark, supervised=supervised, contained=contained and entry is None)
            finally:
                if entry is not None:
                    entry.close()
        return self

    async def _start(self, start: Start, mark: str, *, supervised: bool, contained: bool) -> None:
        watchdog = self._watchdog
        if watchdog is not None:
            # Before it is there: we may be killed before we can tell its pid.
            watchdog.guard(expected(mark))
        try:
            if supervised:
                self._running = await Supervised.start(
                    start, mark, on_exit=self._ends.process_exited, contained=contained
                )
            else:
                marked = replace(start, environment={**start.environment, MARK: mark})
                self._running = await Child.start(marked, on_exit=self._ends.process_exited)
            try:
                self.identity = identify(self._running.pid, mark)
            except ProcessLookupError:
                self.identity = ProcessIdentity(self._running.pid, "exited", mark)
            if watchdog is not None:
                watchdog.guard(self.identity)
        finally:
            if watchdog is not None:
                watchdog.release(expected(mark))

    async def read(self) -> bytes:
        """Return what came since the last read, at least one byte; b"" at the end of stdout."""
        return await self._ends.stdout.read()

    async def read_stderr(self) -> bytes:
        """Return what came on stderr since the last read, at least one byte; b"" at its end."""
        return await self._ends.stderr.read()

    def discard_stderr(self) -> None:
        """Let go whatever else comes on stderr."""
        self._ends.stderr.discard()

    def discard(self) -> None:
        """Let go all that comes: there is no reader any more, who would keep the process from being over."""
        self._ends.stdout.discard()
        self._ends.stderr.discard()

    async def write(self, line: bytes) -> None:
        """Write a whole line; returns when the CLI takes more. Raises ProcessGone."""
        await self._ends.stdin.write(line)

    def close_input(self) -> None:
        """Close stdin: the CLI finishes what it does, and exits."""
        self._ends.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole process group, and to whatever else the CLI started."""
        if isinstance(self._running, Supervised):
            self._running.signal(number)
        else:
            signal_all([self.identity], number, fresh=True)

    def kill(self) -> None:
        """Send SIGKILL to all of it."""
        self.signal(signal.SIGKILL)
        if isinstance(self._running, Supervised):
            suspend_aware.call_later(self._unheard, partial(self._insist, self._running))

    def _insist(self, running: Supervised) -> None:
        if not running.exited.is_set():
            running.kill_supervisor()
            signal_all([self.identity], signal.SIGKILL)

    @property
    def has_exited(self) -> bool:
        """True once the process is gone; its last output may still wait to be read."""
        return self._running.exited.is_set()

    async def exited(self) -> None:
        """Wait until the process is gone."""
        await self._running.exited.wait()

    async def exits_within(self, seconds: float) -> bool:
        """Wait until the process is gone, for so many seconds at most, and tell whether it is."""
        return await suspend_aware.within(seconds, self.exited())

    async def wait(self) -> Exit:
        """Wait for the exit of the process and the end of its output, end its leftovers, and say how it ended."""
        await self.exited()
        await self._ends.over()
        async with self._clearing:
            if not self.is_over:
                await self._clear()
                self.is_over = True
        return _exit(self._running.code)

    async def _clear(self) -> None:
        if isinstance(self._running, Supervised):
            await self._running.end(LEFT_GRACE)
            # what carries the mark and is not below it: the hooks we run; and all of it where somebody killed the supervisor
            await asyncio.to_thread(reap, [expected(self.identity.mark)], LEFT_GRACE)
        else:
            await asyncio.to_thread(reap, [self.identity], LEFT_GRACE, fresh=True)
        if self._watchdog is not None:
            self._watchdog.release(self.identity)
        self._running.close()
        self._ends.close()

    @property
    def stderr_tail(self) -> str:
        """The last of what it said on stderr."""
        return self._tail.kept.decode("utf-8", "replace")


def find_program(program: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program as the CLI's environment would find it; raises ProgramNotFound."""
    found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        raise ProgramNotFound(f"there is no program {program!r}; install it, or name its path")
    return str(Path(found).absolute())


def _exit(returncode: int | None) -> Exit:
    if returncode is None:
        return Exit()
    if returncode >= 0:
        return Exit(code=returncode)
    try:
        return Exit(signal=signal.Signals(-returncode).name)
    except ValueError:
        return Exit(signal=f"signal {-returncode}")
