"""Nothing outlives the sidecar, not even one that was killed by SIGKILL.

A small process of its own session holds the reading end of a pipe and a list of what runs. When the pipe breaks,
the sidecar has gone, and the watchdog (adapter/process/watch.py) ends every process on the list, group and leftovers. One serves all sessions.
It works where there are pipes; on Linux it is the second to act, after each CLI's supervisor (adapter/process/supervisor.py).
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from turnwire.adapter.process.identity import ProcessIdentity

WATCHDOG = (
    "-I",
    "-S",
    "-c",
    "import sys; sys.path.insert(0, sys.argv[1]); from turnwire.adapter.process.watch import watch; watch()",
    str(Path(__file__).parents[3]),
)
"""How Python becomes the watchdog's own process."""

_CLOSE_DEADLINE = 15.0


class Watchdog:
    """The sidecar's end of the pipe."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    @property
    def pid(self) -> int:
        """The watchdog's process id."""
        return self._child.pid

    @classmethod
    @asynccontextmanager
    async def start(cls) -> AsyncIterator["Watchdog"]:
        """Run a watchdog while the context is open."""
        child = subprocess.Popen(  # noqa: ASYNC220  a fork and an exec; nothing is waited for
            [sys.executable, *WATCHDOG],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={},
            cwd="/",
        )
        try:
            yield cls(child)
        finally:
            if child.stdin is not None:
                child.stdin.close()
            try:
                await asyncio.to_thread(child.wait, _CLOSE_DEADLINE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def guard(self, identity: ProcessIdentity) -> None:
        """Put a process on the list."""
        self._tell(f"+{identity.to_text()}\n")

    def release(self, identity: ProcessIdentity) -> None:
        """Take a process off the list: it and its leftovers are gone."""
        self._tell(f"-{identity.to_text()}\n")

    def _tell(self, line: str) -> None:
        if self._child.stdin is None:
            return
        try:
            # lines are far shorter than PIPE_BUF, so they arrive whole
            os.write(self._child.stdin.fileno(), line.encode())
        except BrokenPipeError:
            pass  # somebody ended the watchdog; the supervisors and the record on disk remain
