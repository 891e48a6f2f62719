"""A cgroup for each CLI, where cgroup v2 is writable (Linux). The kernel kills all of it at once.

A process that is forked into a cgroup cannot be faster than the kernel, which kills all of it as one (cgroup.kill, since 5.14).
A cgroup lies beneath the sidecar's own, enables no controller, and nobody is moved into it but the fork that becomes the CLI.
Its name tells whose it is: `turnwire-PID-RANDOM`, the pid that of the supervisor who made it.
Part of the supervisor as well (adapter/process/supervisor.py): it imports nothing that is not loaded there.
"""

import os
import select
import signal
import time

from turnwire.adapter.process.suspend_aware_timer import SuspendAwareTimer

MOUNTED_AT = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
PREFIX = "turnwire-"


def own(mounts: str, membership: str) -> str | None:
    """Return the folder of the cgroup that we are in; None where there is no cgroup v2, or we see another part of it.

    Args:
        mounts: the text of /proc/self/mountinfo (proc_pid_mountinfo(5)).
        membership: the text of /proc/self/cgroup, where cgroup v2 is the line `0::PATH` (cgroups(7)).
    """
    paths = [line[3:] for line in membership.splitlines() if line.startswith("0::/")]
    seen: dict[str, str] = {}
    for line in mounts.splitlines():
        mount, _, filesystem = line.partition(" - ")
        root, point = mount.split(" ")[3:5]
        # of two mounts at one place the later hides the earlier
        seen.pop(point, None)
        if point in MOUNTED_AT and filesystem.startswith("cgroup2 "):
            seen[point] = root.rstrip("/")
    for point, root in seen.items():
        for path in paths:
            # `..` stands for what is above our cgroup namespace
            if ".." not in f"{root}{path}".split("/") and f"{path}/".startswith(f"{root}/"):
                return (point + path[len(root) :]).rstrip("/")
    return None


def find_own() -> str | None:
    """Return the folder of the cgroup that we are in, if any."""
    try:
        with open("/proc/self/cgroup", "rb") as membership, open("/proc/self/mountinfo", "rb") as mounts:
            return own(os.fsdecode(mounts.read()), os.fsdecode(membership.read()))
    except OSError:
        return None


def create(beneath: str) -> str:
    """Make a cgroup for a CLI and return its folder; raises OSError."""
    path = f"{beneath}/{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    os.mkdir(path)
    return path


def enter(path: str) -> None:
    """Enter a cgroup; raises OSError."""
    _write(f"{path}/cgroup.procs", b"0")


def kill(path: str) -> None:
    """Kill all that is in a cgroup; before Linux 5.14 all that is seen in it, which has to be repeated."""
    try:
        _write(f"{path}/cgroup.kill", b"1")
    except OSError:
        _kill_each(path)


def end(path: str, seconds: float) -> bool:
    """Kill all processes of a cgroup, wait up to `seconds` until it is empty, and remove it. Return whether it is gone."""
    timer = SuspendAwareTimer(seconds, time.monotonic())
    while is_populated(path):
        kill(path)
        _wait_for_events(path, min(0.1, timer.pause(time.monotonic())))
        if timer.left(time.monotonic()) <= 0:
            break
    return remove(path)


def is_populated(path: str) -> bool:
    """Tell whether a process is in a cgroup or below; one that has exited and is not waited for is not."""
    try:
        with open(f"{path}/cgroup.events", "rb") as file:
            return b"populated 1" in file.read().splitlines()
    except OSError:
        return False


def remove(path: str) -> bool:
    """Remove a cgroup and its children, unless a process is in one; tell whether it is gone."""
    if not is_populated(path):
        for folder, *_ in os.walk(path, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                break  # somebody has just entered it; the next start looks again
    return not os.path.exists(path)


def remove_left(beneath: str) -> None:
    """Remove the cgroups that supervisors who are no more have left empty."""
    try:
        names = os.listdir(beneath)
    except OSError:
        return
    for name in names:
        pid = name.removeprefix(PREFIX).partition("-")[0]
        if name.startswith(PREFIX) and pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
            remove(f"{beneath}/{name}")


def _kill_each(path: str) -> None:
    try:
        # what is frozen starts nobody, and can be killed
        _write(f"{path}/cgroup.freeze", b"1")
    except OSError:
        pass  # before Linux 5.2
    for pid in _members(path):
        try:
            process = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            # it was looked at after the open: what it says is true of this process, or this process is no more
            if _is_in(pid, os.path.basename(path)):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        except OSError:
            pass
        finally:
            os.close(process)


def _members(path: str) -> list[int]:
    """List the processes in a cgroup and below it that have a pid in our namespace."""
    found: list[int] = []
    for folder, *_ in os.walk(path):
        try:
            with open(f"{folder}/cgroup.procs", "rb") as file:
                found += (pid for pid in map(int, file.read().split()) if pid > 0)
        except OSError:
            pass  # it has gone
    return found


def _is_in(pid: int, name: str) -> bool:
    with open(f"/proc/{pid}/cgroup", "rb") as file:
        lines = os.fsdecode(file.read()).splitlines()
    return any(line.startswith("0::") and name in line.split("/") for line in lines)


def _wait_for_events(path: str, seconds: float) -> None:
    try:
        events = os.open(f"{path}/cgroup.events", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.read(events, 4096)  # only what changes after a read is told
        poll = select.poll()
        poll.register(events, select.POLLPRI)
        if is_populated(path):
            poll.poll(max(0, seconds) * 1000)
    except OSError:
        pass
    finally:
        os.close(events)


def _write(path: str, words: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, words)
    finally:
        os.close(fd)
