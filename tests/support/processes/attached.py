"""Servers that end with the process that runs the tests, however that ends: a shell outlives it, and kills those that it has left."""

import atexit
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# Each line has all who are to be killed; after the last one nobody is there to write another.
_WATCH = 'while read -r pids; do left=$pids; done; [ -z "$left" ] || kill -9 $left'


class _Watch:
    def __init__(self) -> None:
        # What interrupts the tests by their terminal is not to reach it.
        self._shell = subprocess.Popen(
            ["sh", "-c", _WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._pids: set[int] = set()
        atexit.register(self._shell.communicate)

    def tell(self, *, begun: int = 0, ended: int = 0) -> None:
        """Say who is to be killed from now on."""
        self._pids = (self._pids | {begun}) - {0, ended}
        assert self._shell.stdin is not None
        if self._shell.stdin.closed:
            return  # the tests are over, and the shell has killed all that were left
        self._shell.stdin.write(" ".join(map(str, self._pids)).encode() + b"\n")
        self._shell.stdin.flush()


@cache
def _watch(_pid: int) -> _Watch:
    """One for each process: those that a fork has made have servers of their own."""
    return _Watch()


def start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a server whose output goes to the end of a file."""
    # A file: nobody reads on, and a server whose pipe is full stands still.
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    _watch(os.getpid()).tell(begun=process.pid)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a server, as a crash does."""
    process.kill()
    _watch(os.getpid()).tell(ended=process.pid)
    process.wait()
