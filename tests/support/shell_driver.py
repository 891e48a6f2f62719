"""Runs lines of shell from standard input, each ended by a NUL, and leaves none of their processes behind.

    python shell_driver.py SHELL

The environment has PATH, HOME and the like; the line's number is in LINE. What a line starts is killed when it takes
longer than `SECONDS`, has more than `PROCESSES`, or outlives its shell. The driver adopts orphans to find them all.
"""

import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path

SECONDS = 3.0
"""Of a line."""
LINGERING = 0.3
"""Seconds for what the shell left in the background."""
PROCESSES = 60
"""At once, of a line."""

_SET_CHILD_SUBREAPER = 36
_LIMITED = 'ulimit -t 2 -f 2048; : >f; exec "$1" -c "$2" x'


def descendants() -> set[int]:
    """Return the living processes below this one; what has ended is reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return set()
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        one = waiting.pop()
        try:
            told = Path(f"/proc/{one}/task/{one}/children").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        below = {int(number) for number in told.split()} - found
        found |= below
        waiting += below
    return found


def kill(sent: signal.Signals, processes: set[int]) -> None:
    for one in processes:
        try:
            os.kill(one, sent)
        except ProcessLookupError:
            pass


def end_all() -> None:
    """Kill the processes below this one: all are stopped first, that none starts another meanwhile."""
    stopped: set[int] = set()
    while living := descendants():
        kill(signal.SIGSTOP, living - stopped)
        if living <= stopped:
            kill(signal.SIGKILL, living)
            time.sleep(0.001)
        stopped |= living


def run(shell: str, number: int, line: bytes) -> None:
    """Run a line and wait for its end."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    nowhere += [(os.POSIX_SPAWN_OPEN, to, os.devnull, os.O_WRONLY, 0) for to in (1, 2)]
    environment = {**os.environ, "LINE": str(number), "R": "rm", "N": "R"}
    child = os.posix_spawn(
        "/bin/sh",
        [*map(os.fsencode, ("sh", "-c", _LIMITED, "sh", shell)), line],
        environment,
        file_actions=nowhere,
        setsid=True,
    )
    until, lives = time.monotonic() + SECONDS, True
    while living := descendants():
        if lives and child not in living:
            until, lives = min(until, time.monotonic() + LINGERING), False
        if time.monotonic() > until:
            end_all()
            return
        time.sleep(0.001)


def limit() -> None:
    """Have the kernel limit the processes of this user, which is a new one where this is the superuser."""
    others = 0
    if os.geteuid() == 0:
        user = 100_000 + os.getpid()
        for folder in (".", "stub", "tools", "../traces"):
            os.chown(folder, user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    else:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                others += (
                    len(list((process / "task").iterdir())) if process.stat().st_uid == os.geteuid() else 0
                )
            except OSError:  # it ended meanwhile
                pass
    resource.setrlimit(resource.RLIMIT_NPROC, (others + PROCESSES,) * 2)


def main() -> None:
    limit()
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the processes of lines cannot be adopted")
    for number, line in enumerate(sys.stdin.buffer.read().split(b"\0")[:-1]):
        run(sys.argv[1], number, line)


if __name__ == "__main__":
    main()
