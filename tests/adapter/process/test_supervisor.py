"""What a CLI leaves behind, whatever sessions and environments it gave itself, and those who are killed at the wrong time."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from turnwire.adapter.process import cgroup
from turnwire.adapter.process.child import Child, Start, Supervised
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.identity import MARK, start_time
from turnwire.adapter.process.supervisor import (
    below,
    children,
    children_of_all,
    children_of_threads,
    is_below,
    parent,
)
from turnwire.adapter.process.transport import Exit
from waiting import until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="supervisors are Linux's")

ENVIRONMENT = {"PATH": os.environ["PATH"]}

DAEMON = """
import os, time
def daemon():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(writing, str(os.getpid()).encode())
        os.closerange(0, 3)
        os.execve("/bin/sleep", ["sleep", "600"], {})
    os.wait()
    return int(os.read(reading, 20))
"""
"""Two forks, a session of its own, no environment, no pipe of ours."""


@asynccontextmanager
async def running(
    program: str,
    folder: Path,
    environment: Mapping[str, str] = ENVIRONMENT,
    *,
    supervised: bool = True,
    unheard: float = 30,
    contained: bool = True,
) -> AsyncIterator[CliProcess]:
    process = await CliProcess.spawn(
        [sys.executable, "-I", "-S", "-c", program],
        workspace=folder,
        environment=environment,
        supervised=supervised,
        unheard=unheard,
        contained=contained,
    )
    try:
        async with asyncio.timeout(60):
            yield process
    finally:
        if not process.has_exited:
            process.kill()
        process.discard()
        await process.wait()


async def said(process: CliProcess) -> object:
    output = b""
    while not output.endswith(b"\n") and (chunk := await process.read()):
        output += chunk
    return json.loads(output)


def is_alive(pid: int) -> bool:
    return start_time(pid) is not None


async def test_a_daemon_without_environment_goes_with_its_cli(tmp_path: Path) -> None:
    program = f"{DAEMON}\nprint([daemon() for _ in range(3)], flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemons = await said(process)
        assert isinstance(daemons, list)
        assert all(map(is_alive, daemons))
        process.close_input()
        assert await process.wait() == Exit(code=1)
        assert not any(map(is_alive, daemons))


async def test_a_daemon_gets_the_signal_of_its_cli(tmp_path: Path) -> None:
    # the handler comes last: the daemon has none even before it has become another program; it may come amid a print
    program = f"{DAEMON}\nimport signal\npid = daemon()\nsignal.signal(signal.SIGTERM, lambda *_: os.write(1, b'2\\n'))\nprint(pid, flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemon = await said(process)
        assert isinstance(daemon, int)
        process.signal(signal.SIGTERM)
        assert await said(process) == 2
        await until(lambda: not is_alive(daemon))
        assert not process.has_exited


async def test_clis_side_by_side_lose_only_their_own(tmp_path: Path) -> None:
    program = f"{DAEMON}\nprint(daemon(), flush=True)\ninput()"
    async with running(program, tmp_path) as one, running(program, tmp_path) as other:
        first, second = await said(one), await said(other)
        assert isinstance(first, int)
        assert isinstance(second, int)
        one.kill()
        assert await one.wait() == Exit(signal="SIGKILL")
        assert not is_alive(first)
        assert is_alive(second)
        assert not other.has_exited


async def test_what_is_orphaned_and_ends_is_waited_for(tmp_path: Path) -> None:
    program = """
import os
for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
print(1, flush=True)
input()
"""
    async with running(program, tmp_path) as process:
        await said(process)
        supervisor = parent(process.identity.pid)
        await until(lambda: children(supervisor) == [process.identity.pid])


@pytest.mark.parametrize("contained", [True, False], ids=["cgroup", "subreaper"])
async def test_each_one_that_starts_the_next_and_goes_is_caught(tmp_path: Path, contained: bool) -> None:
    program = """
import os, sys
print(1, flush=True)
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    while True:
        if os.fork():
            os._exit(0)
        with open("last", "w") as file:
            file.write(str(os.getpid()))
"""
    async with running(program, tmp_path, contained=contained) as process:
        await until((tmp_path / "last").exists)
        supervisor = parent(process.identity.pid)
        assert await process.wait() == Exit(code=0)
        assert not is_alive(supervisor)
        last = (tmp_path / "last").read_text()
    assert (tmp_path / "last").read_text() == last
    assert not last or not is_alive(int(last))


STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    open("told", "w").write(str(os.getpid()))
    os.rename("told", "daemon")
time.sleep(600)
"""


async def supervised(program: str, folder: Path) -> Supervised:
    start = Start(
        argv=[sys.executable, "-I", "-S", "-c", program],
        workspace=folder,
        environment=ENVIRONMENT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    return await Supervised.start(start, "mark", on_exit=lambda: None)


async def test_who_does_not_heed_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        process = await supervised(STUBBORN, tmp_path)
        await until((tmp_path / "daemon").exists)
        daemon = int((tmp_path / "daemon").read_text())
        assert await process.end(0.05)
    assert process.code == -signal.SIGKILL
    assert not is_alive(process.pid)
    assert not is_alive(daemon)
    process.close()


async def test_a_supervisor_that_is_let_go_ends_what_runs_by_itself(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        process = await supervised(
            f"{DAEMON}\nopen('daemon', 'w').write(str(daemon()))\ntime.sleep(600)", tmp_path
        )
        await until(lambda: (tmp_path / "daemon").exists() and (tmp_path / "daemon").read_text() != "")
        supervisor = parent(process.pid)
        process.close()
        await until(lambda: not is_alive(supervisor))
    assert not is_alive(process.pid)
    assert not is_alive(int((tmp_path / "daemon").read_text()))


# The way through the supervisor leaves no trace in the CLI


async def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    given = {"LC_ALL": "C", "ODD": "a=b\nc", "BYTES": "\udcff"}
    program = "import json; print(json.dumps(open('/proc/self/environ', 'rb').read().decode('latin-1')), flush=True)"
    async with running(program, tmp_path, given) as process:
        found = await said(process)
        assert isinstance(found, str)
        pairs = dict(pair.split("=", 1) for pair in found.split("\0") if pair)
        assert pairs == {"LC_ALL": "C", "ODD": "a=b\nc", "BYTES": "\xff", MARK: process.identity.mark}


async def test_it_leads_its_session_and_has_three_descriptors_and_no_signal_ignored(tmp_path: Path) -> None:
    program = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
fds = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
print(json.dumps([os.getsid(0) == os.getpgid(0) == os.getpid(), sorted(fds), os.getcwd()]), flush=True)
os.execv("/bin/sh", ["sh", "-c", "grep -E 'SigIgn|SigBlk' /proc/self/status; exit 0"])
"""
    async with running(program, tmp_path) as process:
        output = b""
        while chunk := await process.read():
            output += chunk
    first, *signals = output.decode().splitlines()
    assert json.loads(first) == [True, ["0", "1", "2"], str(tmp_path)]
    # Python itself has ignored SIGPIPE and SIGXFSZ when it becomes the shell; what we were started with, as in the
    # background of a shell, stays
    (own,) = [
        line.split()[1]
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("SigIgn")
    ]
    pythons = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    blocked, ignored = (int(line.split()[1], 16) for line in signals)
    assert (blocked, ignored) == (0, int(own, 16) | pythons)


def test_uvloop_leaves_it_no_other_descriptors_either(tmp_path: Path) -> None:
    program = """
import json, os, time
fds = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
print(json.dumps(sorted(fds)), flush=True)
os.close(1)
time.sleep(600)
"""

    async def look() -> None:
        async with running(program, tmp_path) as process:
            output = b""
            async with asyncio.timeout(60):
                # it lives on, and so it is the end of its output that ends this
                while chunk := await process.read():
                    output += chunk
            assert json.loads(output) == ["0", "1", "2"]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(look())


async def test_a_closed_pipe_ends_it_as_it_ends_any_program(tmp_path: Path) -> None:
    process = await CliProcess.spawn(
        ["/bin/sh", "-c", "kill -PIPE $$; exit 5"], workspace=tmp_path, environment=ENVIRONMENT
    )
    async with asyncio.timeout(60):
        assert await process.wait() == Exit(signal="SIGPIPE")


# Somebody ends or stops the supervisor


async def test_a_cli_whose_supervisor_was_killed_goes_with_it(tmp_path: Path) -> None:
    program = """
import subprocess, sys
child = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
print(child.pid, flush=True)
input()
"""
    async with running(program, tmp_path) as process:
        child = await said(process)
        assert isinstance(child, int)
        os.kill(parent(process.identity.pid), signal.SIGKILL)
        assert await process.wait() == Exit(signal="SIGKILL")
        assert not is_alive(process.identity.pid)
        assert not is_alive(child)


async def test_a_supervisor_that_was_stopped_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with running("print(1, flush=True)\ninput()", tmp_path, unheard=0.1) as process:
        await said(process)
        os.kill(parent(process.identity.pid), signal.SIGSTOP)
        process.kill()
        assert await process.wait() == Exit(signal="SIGKILL")
        assert not is_alive(process.identity.pid)


async def test_a_supervisor_that_was_killed_before_it_said_anything_is_an_exit(tmp_path: Path) -> None:
    program = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); input()"
    async with running(program, tmp_path) as process:
        assert await process.wait() == Exit(signal="SIGKILL")


async def test_a_spawn_that_is_cancelled_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisors: list[Child] = []
    transports: list[asyncio.BaseTransport] = []
    connection_made = Child.connection_made

    def noting(self: Child, transport: asyncio.BaseTransport) -> None:
        supervisors.append(self)
        transports.append(transport)
        connection_made(self, transport)

    monkeypatch.setattr(Child, "connection_made", noting)
    program = (
        f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    for turns in range(12):
        starting = asyncio.create_task(
            CliProcess.spawn(
                [sys.executable, "-I", "-S", "-c", program], workspace=tmp_path, environment=ENVIRONMENT
            )
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        if not starting.cancelled():
            process = starting.result()
            process.kill()
            await process.wait()
        assert all(transport.is_closing() for transport in transports)
    # The loop hears of an end after all others: without it nothing would be let go of.
    await until(lambda: supervisors and all(one.exited.is_set() for one in supervisors))
    assert not [pid for pid in below(os.getpid()) if "supervisor" in command(pid)]


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


# Who is below whom


async def test_both_ways_to_find_children_find_the_same(tmp_path: Path) -> None:
    program = f"{DAEMON}\nimport subprocess\nsubprocess.Popen(['/bin/sleep', '600'])\nprint(daemon(), flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemon = await said(process)
        assert isinstance(daemon, int)
        supervisor = parent(process.identity.pid)
        await until(lambda: parent(daemon) == supervisor)
        assert (
            set(children_of_threads(supervisor))
            == set(children_of_all(supervisor))
            == {process.identity.pid, daemon}
        )
        assert len(below(supervisor)) == 3
        assert all(is_below(pid, supervisor) for pid in below(supervisor))
        assert not is_below(os.getpid(), supervisor)
        assert not is_below(0, supervisor)


# A cgroup of its own, where there may be one


def cgroup_here() -> str | None:
    """The folder of our own cgroup, if one may be made beneath it."""
    own = cgroup.find_own()
    try:
        path = None if own is None else cgroup.create(own)
    except OSError:
        return None
    return own if path is not None and cgroup.remove(path) else None


def place(pid: int) -> str:
    """The path of a process's cgroup v2."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next((line[3:] for line in lines if line.startswith("0::")), "")


@pytest.fixture
def beneath() -> str:
    own = cgroup_here()
    if own is None:
        pytest.skip("no cgroup v2 here beneath which we may make one")
    return own


UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
HYBRID = (
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)


@pytest.mark.parametrize(
    ("mounts", "membership", "folder"),
    [
        (UNIFIED, "0::/\n", "/sys/fs/cgroup"),
        (UNIFIED, "0::/user.slice/a b.scope\n", "/sys/fs/cgroup/user.slice/a b.scope"),
        (HYBRID, "4:memory:/a\n0::/b\n", "/sys/fs/cgroup/unified/b"),
        # the mount shows a part of the tree
        (UNIFIED.replace(" / ", " /docker/1 "), "0::/docker/1/b\n", "/sys/fs/cgroup/b"),
        (UNIFIED.replace(" / ", " /docker/1 "), "0::/docker/11\n", None),
        (UNIFIED.replace(" / ", " /docker/1 "), "0::/\n", None),
        # we are outside of our namespace's root, or the mount is
        (UNIFIED, "0::/../other\n", None),
        (UNIFIED.replace(" / ", " /../.. "), "0::/\n", None),
        # hidden below another file system
        (UNIFIED + "44 30 0:40 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", "0::/\n", None),
        (UNIFIED.replace("/sys/fs/cgroup", "/elsewhere"), "0::/\n", None),
        (UNIFIED, "4:memory:/a\n", None),
        ("", "", None),
    ],
)
def test_our_own_cgroup_is_found(mounts: str, membership: str, folder: str | None) -> None:
    assert cgroup.own(mounts, membership) == folder


async def test_a_cli_and_its_daemons_are_in_a_cgroup_that_goes_with_it(tmp_path: Path) -> None:
    own = cgroup_here()
    program = f"{DAEMON}\nprint(daemon(), flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemon = await said(process)
        assert isinstance(daemon, int)
        cli, supervisor = process.identity.pid, parent(process.identity.pid)
        assert place(supervisor) == place(os.getpid())
        if own is not None:
            folder = Path(own, place(cli).rpartition("/")[2])
            assert folder.name.startswith(f"{cgroup.PREFIX}{supervisor}-")
            assert {cli, daemon} <= set(map(int, (folder / "cgroup.procs").read_text().split()))
        else:
            folder = Path("/nonexistent")
            assert place(cli) == place(os.getpid())
        process.close_input()
        assert await process.wait() == Exit(code=1)
        assert not is_alive(daemon)
        assert not folder.exists()


async def test_a_daemon_goes_though_somebody_killed_the_supervisor(tmp_path: Path, beneath: str) -> None:
    program = f"{DAEMON}\nprint(daemon(), flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemon = await said(process)
        assert isinstance(daemon, int)
        folder = Path(beneath, place(daemon).rpartition("/")[2])
        os.kill(parent(process.identity.pid), signal.SIGKILL)
        await process.wait()
        await until(lambda: not is_alive(daemon))
        assert not folder.exists()


async def test_cgroups_that_a_cli_made_go_with_its_own(tmp_path: Path, beneath: str) -> None:
    program = f"""
import os
path = {beneath!r} + "/" + open("/proc/self/cgroup").read().split("0::")[1].strip().rpartition("/")[2]
os.makedirs(path + "/a/b")
if os.fork() == 0:
    open(path + "/a/b/cgroup.procs", "w").write("0")
    print('"' + path + '"', flush=True)
input()
"""
    async with running(program, tmp_path) as process:
        path = await said(process)
        assert isinstance(path, str)
        process.kill()
        await process.wait()
        assert not Path(path).exists()


@pytest.mark.parametrize("missing", ["folder", "procs"])
async def test_a_cli_starts_and_loses_its_daemons_where_no_cgroup_can_be_had(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tree = tmp_path / "tree"
    if missing == "procs":
        tree.mkdir()
    monkeypatch.setattr(cgroup, "find_own", lambda: str(tree))
    caplog.set_level(logging.DEBUG, "turnwire.adapter")
    program = f"{DAEMON}\nprint(daemon(), flush=True)\ninput()"
    async with running(program, tmp_path) as process:
        daemon = await said(process)
        assert isinstance(daemon, int)
        process.close_input()
        assert await process.wait() == Exit(code=1)
        assert not is_alive(daemon)
        assert process.stderr_tail.startswith("Traceback")
    (record,) = (record for record in caplog.records if record.name.startswith("turnwire.adapter"))
    assert "No such file" in record.__dict__["reason"]
    assert not tree.exists() or not list(tree.iterdir())


def test_only_what_the_dead_left_empty_is_removed(tmp_path: Path) -> None:
    dead, living = 2**22 + 1, os.getpid()  # no pid is greater than 2**22
    names = [f"turnwire-{dead}-a", f"turnwire-{living}-a", "turnwire-x", f"other-{dead}-a"]
    for name in (*names, f"turnwire-{dead}-b"):
        (tmp_path / name).mkdir()
    (tmp_path / f"turnwire-{dead}-b" / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    cgroup.remove_left(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], f"turnwire-{dead}-b"}


def test_what_is_in_a_cgroup_is_killed_by_the_kernel_where_it_can(tmp_path: Path) -> None:
    for name in ("cgroup.kill", "cgroup.procs"):
        (tmp_path / name).touch()
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    assert not cgroup.end(str(tmp_path), 0)  # it is still populated
    assert (tmp_path / "cgroup.kill").read_text() == "1"
    cgroup.enter(str(tmp_path))
    assert (tmp_path / "cgroup.procs").read_text() == "0"


async def test_without_the_kernels_help_nobody_is_killed_who_is_not_in_the_cgroup_any_more(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "turnwire-1-a"
    folder.mkdir()
    other = await asyncio.create_subprocess_exec("/bin/sleep", "600")
    no_more = 2**22 + 1
    (folder / "cgroup.procs").write_text(f"0\n{other.pid}\n{no_more}\n")
    cgroup.kill(str(folder))
    assert is_alive(other.pid)
    other.kill()
    assert await other.wait() == -signal.SIGKILL, "it was this one alone that killed it"
    assert not cgroup.remove(str(folder)), "somebody has something in it"
    assert folder.exists()


async def test_a_chain_ends_on_a_kernel_without_a_kill_of_cgroups(tmp_path: Path, beneath: str) -> None:
    folder = cgroup.create(beneath)
    program = f"""
import os, time
end = time.monotonic() + 60
open({folder + "/cgroup.procs"!r}, "w").write("0")
print(1, flush=True)
os.setsid() if os.fork() == 0 else os._exit(0)
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    assert cgroup.is_populated(folder)

    def is_over() -> bool:
        cgroup._kill_each(folder)
        return not cgroup.is_populated(folder)

    await until(is_over, 45)
    assert await process.stdout.read() == b""
    await process.wait()
    assert cgroup.remove(folder)


# Without a supervisor, as elsewhere than on Linux


async def test_a_cli_without_a_supervisor_takes_its_group_with_it(tmp_path: Path) -> None:
    program = """
import subprocess, sys
print([subprocess.Popen(["/bin/sleep", "600"], start_new_session=own).pid for own in (False, True)], flush=True)
print(input(), flush=True)
raise SystemExit(3)
"""
    async with running(program, tmp_path, supervised=False) as process:
        pids = await said(process)
        assert isinstance(pids, list)
        await process.write(b"2\n")
        assert await said(process) == 2
        assert await process.wait() == Exit(code=3)
        assert not any(map(is_alive, pids))


async def test_a_cli_without_a_supervisor_can_be_killed(tmp_path: Path) -> None:
    async with running("print(1, flush=True)\ninput()", tmp_path, supervised=False) as process:
        await said(process)
        process.kill()
        assert await process.wait() == Exit(signal="SIGKILL")
