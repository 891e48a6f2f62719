"""Supervise one CLI, as a small process: CONTROL[,SHIELD] MARK BENEATH PROGRAM ARGUMENT… (Linux).

It starts the program with its own stdin, stdout and stderr, which it then lets go: no byte passes through it. As a child
subreaper it becomes the parent of whatever is orphaned below it, so that all that the program started is found without
asking anybody, whatever sessions, groups and environments it gave itself. A child's pid cannot be used anew before its
parent has waited for it; so only children are killed, whose own children are ours next, until there is none. BENEATH is the
folder of our own cgroup, or empty: if we may, the program gets one beneath it, whose killing is faster than any chain of forks.

SHIELD says that the program is a sandbox, which is to ignore the signals that ask to end: a descriptor that it gets, or -1.
CONTROL is a socket. To us: `signal N`, and `end GRACE INSIST` once nothing may be left: the seconds from SIGTERM to SIGKILL,
and those that SIGKILL is tried for. From us: `contained FOLDER` or `uncontained REASON`, `started PID`, `exited CODE` (negative for a signal), `ended COUNT` (how many
could not be ended), then we go. Its end says that the sidecar has gone, and nothing may be left either.
Standard library alone, and little of it: this starts as often as a CLI does.
"""

import ctypes
import os
import select
import signal
import time

from turnwire.adapter.process import cgroup
from turnwire.adapter.process.suspend_aware_timer import SuspendAwareTimer

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CANNOT_RUN = 127

ORPHANED = (2.0, 60.0)
"""GRACE and INSIST after the sidecar has gone."""

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a program to end."""

PAUSE_MS = 20
"""How long nothing new has to be seen before the next look at what is being killed."""


def main(arguments: list[str]) -> None:
    """Start the program and stand over it until nothing is left of it; never returns."""
    (first, shield, others), mark, beneath, argv = (
        arguments[0].partition(","),
        arguments[1].encode(),
        arguments[2],
        arguments[3:],
    )
    control, passed = int(first), [int(one) for one in others.split(",") if one]
    os.set_inheritable(control, False)
    close_all_but(control, *passed)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    environment = given_environment()
    environment[b"TURNWIRE_PROCESS"] = mark
    supervisor = os.getpid()
    own = own_cgroup(control, beneath)
    pid = os.fork()
    if pid == 0:
        if own is not None:
            enter(control, own)
        become(libc, supervisor, argv, environment, ignored=ASKING if shield else ())
    for one in passed:
        os.close(one)
    let_go()
    Supervisor(control, pid, own).run()
    os._exit(0)  # nothing is to be tidied, which would take time


def close_all_but(*kept: int) -> None:
    """Close extra descriptors. uvloop leaves a second descriptor of each pipe to us, and so to the program. With one
    of its stdout, the program could close stdout without an end of file.
    """
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # it was the listing's own


def given_environment() -> dict[bytes, bytes]:
    """Return the environment as it was given to us; Python adds to its own in the locale C."""
    with open("/proc/self/environ", "rb") as file:
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair]
    return {name: value for name, _, value in pairs}


def own_cgroup(control: int, beneath: str) -> str | None:
    """Make a cgroup for the program, if we may."""
    if not beneath:
        return None
    cgroup.remove_left(beneath)
    try:
        path = cgroup.create(beneath)
    except OSError as error:
        say(control, f"uncontained {error}")
        return None
    say(control, f"contained {path}")
    return path


def enter(control: int, path: str) -> None:
    """Have this fork enter the program's cgroup, before the program is there to start anybody."""
    try:
        cgroup.enter(path)
    except OSError as error:
        say(control, f"uncontained {error}")


def become(
    libc: ctypes.CDLL,
    supervisor: int,
    argv: list[str],
    environment: dict[bytes, bytes],
    *,
    ignored: tuple[int, ...] = (),
) -> None:
    """Turn this fork into the program, which dies with its supervisor; never returns."""
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        if os.getppid() == supervisor:
            os.execve(argv[0], argv, environment)
    except OSError as error:
        os.write(2, f"turnwire: cannot run {argv[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(CANNOT_RUN)


def let_go() -> None:
    """Hold nothing that belongs to the program: its pipes end with it, its workspace can be removed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    os.chdir("/")


class Supervisor:
    """Serves the sidecar, and outlives it."""

    def __init__(self, control: int, program: int, own: str | None) -> None:
        self._control = control
        self._cgroup = own
        """The folder of the program's cgroup."""
        self._program: int | None = program
        """Its pid, which is its group's as well, until it was waited for."""
        for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        self._ended, waking = os.pipe()
        for fd in (self._ended, waking):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self._ended, select.POLLIN)
        self._say(f"started {program}")

    def run(self) -> None:
        """Do what the sidecar says until it says `end`, or nothing more."""
        os.set_blocking(self._control, False)
        self._poll.register(self._control, select.POLLIN)
        received = b""
        while True:
            self._reap()
            self._wait(None)
            try:
                chunk = os.read(self._control, 4096)
            except BlockingIOError:
                continue
            except OSError:
                chunk = b""
            if not chunk:
                self._orphaned()
                return
            *lines, received = (received + chunk).split(b"\n")
            for line in lines:
                command, _, argument = line.partition(b" ")
                if command == b"signal":
                    self._signal(int(argument))
                else:
                    self._poll.unregister(self._control)
                    self._say(f"ended {self._end(*map(float, argument.split()))}")
                    return

    def _orphaned(self) -> None:
        self._poll.unregister(self._control)
        if self._program is not None:
            os.kill(self._program, signal.SIGKILL)
        self._end(*ORPHANED)

    def _signal(self, number: int) -> None:
        """Send a signal once to each process: to the program's group at a blow, then to the others."""
        self._reap()
        if number == signal.SIGKILL and self._cgroup is not None:
            cgroup.kill(self._cgroup)
        group = self._program
        if group is not None:
            try:
                os.killpg(group, number)
            except PermissionError:
                pass  # all of it runs as somebody else
        for pid in below(os.getpid()):
            send(pid, number, except_group=group)

    def _end(self, grace: float, insist: float) -> int:
        """End everything and remove the cgroup, and return how many resist."""
        resisting = self._end_all(grace, insist)
        if self._cgroup is not None and not cgroup.remove(self._cgroup):
            cgroup.end(self._cgroup, insist)
        return resisting

    def _end_all(self, grace: float, insist: float) -> int:
        if self._reap():
            return 0
        self._signal(signal.SIGTERM)
        if self._gone_within(grace, signal.SIGTERM):
            return 0
        self._signal(signal.SIGKILL)
        if self._gone_within(insist, signal.SIGKILL):
            return 0
        return len(children(os.getpid()))

    def _gone_within(self, seconds: float, number: int) -> bool:
        """Wait until no process is left, and tell whether that is so. With SIGKILL, processes that appear in the
        meantime get it too.
        """
        known: set[int] = set()
        timer = SuspendAwareTimer(seconds, time.monotonic())
        while not self._reap():
            left_ms = int(timer.pause(time.monotonic()) * 1000)
            if left_ms <= 0:
                return False
            if number != signal.SIGKILL:
                self._wait(left_ms)
                continue
            if self._cgroup is not None:
                cgroup.kill(self._cgroup)
            new = set(children(os.getpid())) - known
            for pid in new:
                kill(pid)
            # one that starts the next and goes is caught by looking again at once
            known |= new
            if not new:
                known.clear()
                self._wait(min(PAUSE_MS, left_ms))
        return True

    def _wait(self, milliseconds: int | None) -> None:
        self._poll.poll(milliseconds)
        try:
            while os.read(self._ended, 4096):
                pass
        except BlockingIOError:
            pass

    def _reap(self) -> bool:
        """Reap all ended processes, and tell whether none is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return False
                if pid == self._program:
                    self._program = None
                    self._say(f"exited {os.waitstatus_to_exitcode(status)}")
        except ChildProcessError:
            return True

    def _say(self, line: str) -> None:
        say(self._control, line)


def say(control: int, line: str) -> None:
    """Tell the sidecar."""
    try:
        os.write(control, os.fsencode(line) + b"\n")
    except OSError:
        pass  # it has gone, which we are about to read


def kill(pid: int) -> None:
    """Kill one of our children."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # PermissionError: a program that runs as somebody else


def send(pid: int, number: int, *, except_group: int | None) -> None:
    """Send a signal to a process below us, and to no other that has its pid by now."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        # it was looked at after the open: what it says is true of this process, or this process is no more
        if is_below(pid, os.getpid()) and (except_group is None or os.getpgid(pid) != except_group):
            signal.pidfd_send_signal(process, number)
    except OSError:
        pass
    finally:
        os.close(process)


def below(pid: int) -> list[int]:
    """List the processes below one, nearest first."""
    found = children(pid)
    for process in found:
        found += children(process)
    return found


def is_below(pid: int, ancestor: int) -> bool:
    """Tell whether a process descends from another."""
    while pid > 1 and pid != ancestor:
        pid = parent(pid)
    return pid == ancestor


def children(pid: int) -> list[int]:
    """List the children of a process."""
    return children_of_threads(pid) if os.path.exists("/proc/thread-self/children") else children_of_all(pid)


def children_of_threads(pid: int) -> list[int]:
    """List the children of a process as its threads know them; needs a kernel with CONFIG_PROC_CHILDREN."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # it has gone
    return found


def children_of_all(pid: int) -> list[int]:
    """List the children of a process by asking every process for its parent."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and parent(int(name)) == pid]


def parent(pid: int) -> int:
    """Return the parent of a process; 0 when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # the command's name stands in parentheses and may contain anything
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0
