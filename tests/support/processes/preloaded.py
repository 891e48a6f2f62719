"""turnwire's processes without the half second that each spends on imports: forked off one process that has made them.

A process so started is one of its own: pid, environment, folder, signals, descriptors and exit code are as any other's, and it
runs `turnwire.sidecar.cli.main`. What it has not done is to begin: tests of the start, of endings and attacks begin theirs by exec.
"""

import asyncio
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from turnwire.config.secrecy import is_secret

PRELOADED = (
    "turnwire.sidecar.cli.commands",
    "turnwire.sidecar.serving.run",
    "turnwire.sidecar.checks.doctor",
    "turnwire.sidecar.replay.run",
    "uvloop",
    "preloaded",
)


def can_be_forked(env: Mapping[str, str]) -> bool:
    """Whether a process may be forked: one that is begun with secrets begins anew by exec, from what began it."""
    return not any(is_secret(name) for name in env)


@cache
def _forks() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


class Forked:
    """A process of turnwire, with what these tests use of asyncio's own."""

    def __init__(
        self, process: BaseProcess, stdout: asyncio.StreamReader, pipe: asyncio.ReadTransport
    ) -> None:
        self._process = process
        self.stdout = stdout
        self._pipe = pipe
        self._loop = asyncio.get_running_loop()
        self._gone = asyncio.Event()
        self._loop.add_reader(process.sentinel, self._ended)

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end, and close what it wrote to; returns the exit code."""
        await self._gone.wait()
        self._process.join()
        # its last words may still be on the way; what it started and left behind may hold its output open
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                while not self._pipe.is_closing():  # noqa: ASYNC110  the reader has another owner
                    await asyncio.sleep(0.005)
        self._pipe.close()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def _ended(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        self._gone.set()


async def forked(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: Path) -> Forked:
    """Start `turnwire ARGUMENTS` without input; stdout can be read, stderr goes to a file."""
    ours, theirs = _forks().Pipe(duplex=False)
    process = _forks().Process(target=_be_turnwire, args=(arguments, cwd, dict(env), theirs, stderr))
    process.start()
    theirs.close()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(ours.fileno()), "rb", buffering=0)
    ours.close()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return Forked(process, reader, transport)


def ran(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run `turnwire ARGUMENTS` without input to its end; forked where that can be done."""
    if not can_be_forked(env):
        return subprocess.run(
            [sys.executable, "-m", "turnwire", *arguments],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    out, theirs = _forks().Pipe(duplex=False)
    with tempfile.NamedTemporaryFile() as errors:
        process = _forks().Process(
            target=_be_turnwire, args=(arguments, cwd, dict(env), theirs, Path(errors.name))
        )
        process.start()
        theirs.close()
        guard = threading.Timer(timeout, process.kill)
        guard.start()
        with os.fdopen(os.dup(out.fileno()), "rb") as stdout:
            out.close()
            written = stdout.read()
        process.join(timeout)
        guard.cancel()
        assert process.exitcode is not None, "it closed its output and did not end"
        return subprocess.CompletedProcess(["turnwire", *arguments], process.exitcode, written, errors.read())


def _be_turnwire(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: Connection, stderr: Path
) -> None:
    errors = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for own, standard in ((nothing, 0), (stdout.fileno(), 1), (errors, 2)):
        os.dup2(own, standard)
    os.close(errors)
    os.close(nothing)
    stdout.close()
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)), line_buffering=True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.argv = ["turnwire", *arguments]

    from turnwire.sidecar.cli import main

    main()
