"""Identify a process by its pid and start time, so that a reused pid is never taken for an old process.

Everything a CLI starts inherits a mark in its environment, by which its leftovers are found on Linux even after they
left the process group (the CLI runs shell commands in sessions of their own). Elsewhere the process group must do. It
imports little, and only from the standard library: the watchdog runs it without site-packages, and starts as often as
an agent.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Collection

from turnwire.adapter.process.suspend_aware_timer import SuspendAwareTimer

MARK = "TURNWIRE_PROCESS"
"""The environment variable that carries the mark."""

_LINUX = sys.platform.startswith("linux")
_PAUSE = 0.02
_NOBODY = -1
"""The pid of what is known by its mark alone; no group has it."""


class ProcessIdentity:
    """A process that was started as leader of its own group; stays valid across crashes of the sidecar."""

    def __init__(self, pid: int, start_time: str, mark: str) -> None:
        self.pid = pid
        """Process id; also the id of its process group."""
        self.start_time = start_time
        """When it started, in the terms of the system; opaque."""
        self.mark = mark
        """The value of MARK in its environment and in that of its descendants."""

    def to_text(self) -> str:
        """Return the identity as one line to be stored."""
        return f"{self.pid} {self.mark} {self.start_time}"

    @classmethod
    def from_text(cls, text: str) -> "ProcessIdentity":
        """Return the identity of a stored line; raises ValueError."""
        pid, mark, start_time = text.split(" ", 2)
        return cls(int(pid), start_time, mark)


def expected(mark: str) -> ProcessIdentity:
    """Return what stands for a process that is about to be started, and for all that it starts: its mark alone."""
    return ProcessIdentity(_NOBODY, "expected", mark)


def identify(pid: int, mark: str) -> ProcessIdentity:
    """Return the identity of a running process; raises ProcessLookupError when there is none."""
    started = start_time(pid)
    if started is None:
        raise ProcessLookupError(f"no process {pid}")
    return ProcessIdentity(pid, started, mark)


def start_time(pid: int) -> str | None:
    """Return when a process started; None when there is no such process, or only its zombie."""
    if not _LINUX:
        return _start_time_by_ps(pid)
    try:
        status = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # the command's name stands in parentheses and may contain anything
    fields = status.rpartition(b")")[2].decode("ascii").split()
    return None if fields[0] in "ZX" else f"{_boot()}:{fields[19]}"


def parent(pid: int) -> int | None:
    """Return the process that has started a process, or that has taken it over since; None when there is no such process."""
    try:
        if not _LINUX:
            return int(_ps(pid, "ppid="))
        return int(_read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, ValueError):
        return None


def _start_time_by_ps(pid: int) -> str | None:
    state, _, started = _ps(pid, "stat=,lstart=").partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def _ps(pid: int, columns: str) -> str:
    import subprocess  # noqa: PLC0415 - the watchdog starts with little, and on Linux it never needs this

    shown = subprocess.run(
        ["/bin/ps", "-o", columns, "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()


def is_alive(identity: ProcessIdentity) -> bool:
    """Tell whether this very process runs."""
    return start_time(identity.pid) == identity.start_time


def members(identities: Collection[ProcessIdentity]) -> list[int]:
    """List the living processes of the groups and those with a mark, except our own; Linux only."""
    groups = {str(identity.pid).encode() for identity in identities}
    marks = {f"{MARK}={identity.mark}".encode() for identity in identities}
    found: list[int] = []
    for name in os.listdir("/proc") if _LINUX else ():
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        try:
            # the command's name stands in parentheses and may contain anything
            state, _, group, *_ = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if state not in b"ZX" and (
                group in groups or not marks.isdisjoint(_read(f"/proc/{name}/environ").split(b"\0"))
            ):
                found.append(int(name))
        except OSError:
            continue  # it has gone, or belongs to somebody else
    return found


def signal_all(identities: Collection[ProcessIdentity], number: int, *, fresh: bool = False) -> bool:
    """Send a signal to the processes, their groups and all that carry their marks; tell whether anybody was there.

    `fresh` says that the processes are our children and have at most just exited, so their groups are still theirs.
    """
    owned = [identity for identity in identities if fresh or _owns_group(identity)]
    there = False
    for identity in owned:
        try:
            os.killpg(identity.pid, number)
            there = not _LINUX
        except (ProcessLookupError, PermissionError):
            pass  # PermissionError: macOS says so of a group of zombies
    strangers = [expected(identity.mark) for identity in identities if identity not in owned]
    for pid in members([*owned, *strangers]):
        try:
            os.kill(pid, number)
            there = True
        except ProcessLookupError:
            pass
    return there


def reap(
    identities: Collection[ProcessIdentity],
    grace: float = 2.0,
    *,
    fresh: bool = False,
    looks: int = 1,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """End processes and everything they left, by TERM and after `grace` seconds by KILL; tell whether there were any.

    Blocks. Used after a crash of turnwire, after an exit, and by the watchdog. `looks`: how many checks in a row must
    find no process. A process shows no mark during an exec.
    """
    if not identities:
        return False
    for _ in range(looks):
        if signal_all(identities, signal.SIGTERM, fresh=fresh):
            break
        time.sleep(_PAUSE * (looks > 1))
    else:
        return False
    timer = SuspendAwareTimer(2 * grace, clock())
    unseen = 0
    while unseen < looks:
        left = timer.left(clock())
        late = left <= grace
        unseen = 0 if signal_all(identities, signal.SIGKILL if late else 0, fresh=fresh) else unseen + 1
        if left <= 0:
            break  # what SIGKILL does not end is stuck in the kernel
        if unseen < looks:
            time.sleep(_PAUSE)
    return True


def _owns_group(identity: ProcessIdentity) -> bool:
    """A number is reused only when no process and no group has it. So a group without its leader is the old one."""
    current = start_time(identity.pid)
    if current is None and _LINUX:
        return identity.start_time.startswith(_boot())
    return current == identity.start_time


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id")[:8].decode("ascii")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
