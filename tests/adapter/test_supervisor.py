"""What a CLI leaves behind, whatever sessions and environments it gave itself, and those who are killed at the wrong time."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapter.process.cli import CliProcess
from adapter.process.identity import MARK, start_time
from adapter.process.supervisor import below, children, children_of_all, children_of_threads, is_below, parent
from adapter.process.transport import Exit
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
) -> AsyncIterator[CliProcess]:
    process = await CliProcess.spawn(
        [sys.executable, "-I", "-S", "-c", program],
        workspace=folder,
        environment=environment,
        supervised=supervised,
        unheard=unheard,
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
    program = f"{DAEMON}\nimport signal\nsignal.signal(signal.SIGTERM, lambda *_: print(2, flush=True))\nprint(daemon(), flush=True)\ninput()"
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


async def test_each_one_that_starts_the_next_and_goes_is_caught(tmp_path: Path) -> None:
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
    async with running(program, tmp_path) as process:
        await until((tmp_path / "last").exists)
        supervisor = parent(process.identity.pid)
        assert await process.wait() == Exit(code=0)
        assert not is_alive(supervisor)
        last = (tmp_path / "last").read_text()
    assert (tmp_path / "last").read_text() == last
    assert not last or not is_alive(int(last))


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
    # Python itself has ignored SIGPIPE and SIGXFSZ when it becomes the shell
    assert [line.split()[1].lstrip("0") for line in signals] == ["", "1001000"]


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


async def test_a_spawn_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
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
    await until(lambda: not [pid for pid in below(os.getpid()) if "supervisor" in command(pid)])


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
