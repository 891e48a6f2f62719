"""Leave the terminal as it was found, and end what was started there, even if this process is killed.

A guard is a fork that waits for this process to end. It then ends the processes that it was told of, puts the terminal's settings back,
and switches off what an interface may have switched on: another screen, the mouse, marked pastes.
"""

import os
import signal
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

RESET = b"\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?25h\x1b[0m\r\n"
"""The usual screen, no mouse, no reports of focus, plain pastes and keys, a cursor, no colours."""

END_S = 3.0
"""Seconds that a process has to end before it is killed."""

_LOOK_S = 0.05

_IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTERM)


class Guard:
    """The process that waits. Made by `guarded`."""

    def __init__(self, pipe: int, found: list[object] | None) -> None:
        self._pipe = pipe
        self._found = found

    def ends(self, pid: int, grace: float = END_S) -> None:
        """Have a process ended if this one is killed; after `grace` seconds it is killed, too."""
        os.write(self._pipe, f"+{pid} {grace}\n".encode())

    def ended(self, pid: int) -> None:
        """Forget a process that has ended."""
        os.write(self._pipe, f"-{pid}\n".encode())

    def restore(self, *, reset: bool) -> None:
        """Put the terminal's settings back; `reset` also what an interface may have switched on."""
        _restore(self._found, reset=reset)


@contextmanager
def guarded() -> Iterator[Guard]:
    """Guard the terminal of standard input; to be called before any thread runs."""
    found = _settings()
    theirs, ours = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            _wait(theirs, found)
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        yield Guard(ours, found)
    finally:
        with suppress(BrokenPipeError):
            os.write(ours, b"done\n")
        os.close(ours)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def _settings() -> list[object] | None:
    try:
        return list(termios.tcgetattr(sys.stdin.fileno()))
    except (termios.error, ValueError, OSError):
        return None  # no terminal


def _wait(pipe: int, found: list[object] | None) -> None:
    """Wait for the end of the other process, and clear up unless it has said that it is done."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    pids: dict[int, float] = {}
    with os.fdopen(pipe) as lines:
        for line in lines:
            if line == "done\n":
                return
            pid, _, grace = line[1:].partition(" ")
            if line[0] == "+":
                pids[int(pid)] = float(grace)
            else:
                pids.pop(int(pid), None)
    began = time.monotonic()
    left = [pid for pid in pids if _is_signalled(pid, signal.SIGTERM)]
    while left:
        time.sleep(_LOOK_S)
        late = time.monotonic() - began
        left = [pid for pid in left if _is_signalled(pid, signal.SIGKILL if late > pids[pid] else 0)]
    _restore(found, reset=True)


def _is_signalled(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _restore(found: list[object] | None, *, reset: bool) -> None:
    if found is None:
        return
    with suppress(OSError, termios.error):  # the terminal is gone
        if reset:
            os.write(sys.stdin.fileno(), RESET)
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, found)  # type: ignore[arg-type]  # as it was read
