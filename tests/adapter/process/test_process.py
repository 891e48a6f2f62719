"""Real processes: small programs that behave as CLIs do, and as they should not."""

import asyncio
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from turnwire.adapter.process.cli import READ_AHEAD, STDERR_TAIL, CliProcess, ProgramNotFound
from turnwire.adapter.process.identity import MARK, ProcessIdentity, identify, is_alive, members, reap
from turnwire.adapter.process.shutdown import StopDeadlines, shut_down
from turnwire.adapter.process.transport import Exit, ProcessGone
from waiting import until

ENVIRONMENT = {"PATH": os.environ["PATH"]}
QUICK = StopDeadlines(interrupt=0.2, close=0.2, terminate=0.2)

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(1)
"""

ECHO = """
import sys
for line in sys.stdin:
    print(line, end="", flush=True)
"""


@asynccontextmanager
async def running(program: str, folder: Path, *arguments: str) -> AsyncIterator[CliProcess]:
    process = await CliProcess.spawn(
        [sys.executable, "-c", program, *arguments], workspace=folder, environment=ENVIRONMENT
    )
    try:
        async with asyncio.timeout(60):
            yield process
    finally:
        if not process.has_exited:
            process.kill()
        await process.wait()


async def everything(process: CliProcess) -> bytes:
    output = b""
    while chunk := await process.read():
        output += chunk
    return output


def test_nobody_is_looked_for_where_nobody_is_to_be_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", lambda _: pytest.fail("looked for somebody"))
    assert not reap([], looks=5)


async def test_lines_go_in_and_come_out(tmp_path: Path) -> None:
    async with running(ECHO, tmp_path) as process:
        for number in range(3):
            await process.write(b"line %d\n" % number)
        process.close_input()
        assert await everything(process) == b"line 0\nline 1\nline 2\n"
        assert await process.wait() == Exit(code=0)


@pytest.mark.long
async def test_a_line_longer_than_any_buffer_comes_out_whole(tmp_path: Path) -> None:
    program = "import sys; sys.stdout.write('x' * 20_000_000 + '\\n')"
    async with running(program, tmp_path) as process:
        assert len(await everything(process)) == 20_000_001


@pytest.mark.long
async def test_a_reader_that_lags_stops_the_writer(tmp_path: Path) -> None:
    program = """
import sys
for n in range(400):
    sys.stdout.write("x" * 65536)
    sys.stdout.flush()
    open("written", "w").write(str(n))
"""
    async with running(program, tmp_path) as process:
        first = await process.read()
        written, before = tmp_path / "written", ""
        while not before or written.read_text() != before:
            before = written.read_text() if written.exists() else ""
            await asyncio.sleep(0.1)
        assert int(before) * 65536 < 2 * READ_AHEAD
        assert len(first) + len(await everything(process)) == 400 * 65536


async def test_what_was_written_before_the_exit_is_read_after_it(tmp_path: Path) -> None:
    async with running("print('x' * 300_000)", tmp_path) as process:
        chunk = await process.read()
        await process.exited() if len(chunk) > 200_000 else None
        assert len(chunk + await everything(process)) == 300_001


async def test_stderr_is_drained_and_its_tail_kept(tmp_path: Path) -> None:
    program = "import sys; sys.stderr.write('x' * 1_000_000 + 'the end'); print('done')"
    async with running(program, tmp_path) as process:
        assert await everything(process) == b"done\n"
        await process.wait()
        assert process.stderr_tail.endswith("the end")
        assert len(process.stderr_tail) == STDERR_TAIL


@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("raise SystemExit(3)", Exit(code=3)),
        ("import os; os.kill(os.getpid(), 9)", Exit(signal="SIGKILL")),
        ("import os; os.kill(os.getpid(), 15)", Exit(signal="SIGTERM")),
    ],
)
async def test_how_it_ended_is_told(program: str, ended: Exit, tmp_path: Path) -> None:
    async with running(program, tmp_path) as process:
        assert await process.wait() == ended


async def test_writing_to_one_that_has_gone_says_so(tmp_path: Path) -> None:
    async with running("pass", tmp_path) as process:
        await process.exited()
        with pytest.raises(ProcessGone):
            await process.write(b"x\n")


async def test_a_write_that_waits_for_a_reader_ends_with_the_process(tmp_path: Path) -> None:
    async with running(STUBBORN, tmp_path) as process:
        await process.read()
        writing = asyncio.create_task(process.write(b"x" * 10_000_000))
        await asyncio.sleep(0.05)
        assert not writing.done()
        process.kill()
        with pytest.raises(ProcessGone):
            await writing


async def test_the_environment_is_what_was_given_and_the_mark(tmp_path: Path) -> None:
    program = "import os; print(sorted(os.environ.items()))"
    os.environ["TURNWIRE_TEST_SECRET"] = "must not be passed on"
    try:
        async with running(program, tmp_path) as process:
            output = (await everything(process)).decode()
    finally:
        del os.environ["TURNWIRE_TEST_SECRET"]
    assert "TURNWIRE_TEST_SECRET" not in output
    assert MARK in output


async def test_a_missing_program_or_workspace_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProgramNotFound, match="there is no program 'no-such-cli'"):
        await CliProcess.spawn(["no-such-cli"], workspace=tmp_path, environment=ENVIRONMENT)
    with pytest.raises(ProgramNotFound, match="is not a directory"):
        await CliProcess.spawn(["true"], workspace=tmp_path / "missing", environment=ENVIRONMENT)


def test_where_too_few_descriptors_are_left_nothing_is_started_and_nothing_left_open(tmp_path: Path) -> None:
    async def too_few(more: int) -> int:
        numbers = {int(each.name) for each in Path("/proc/self/fd").iterdir()}
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = next(number for number in range(len(numbers) + 1) if number not in numbers)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, limits[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                await CliProcess.spawn(["true"], workspace=tmp_path, environment={"PATH": os.environ["PATH"]})
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        return len(list(Path("/proc/self/fd").iterdir()))

    # what uvloop would have opened one by one, and left open
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        opened = [runner.run(too_few(more)) for more in range(8, 14)]
    assert opened == opened[:1] * len(opened)


async def test_a_program_that_cannot_run_says_why_on_stderr(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELFnonsense")
    broken.chmod(0o755)
    process = await CliProcess.spawn([str(broken)], workspace=tmp_path, environment=ENVIRONMENT)
    async with asyncio.timeout(60):
        assert await process.wait() == Exit(code=127)
    assert f"cannot run {broken}" in process.stderr_tail


# Stopping, step by step


async def test_closing_stdin_is_enough_for_a_well_behaved_one(tmp_path: Path) -> None:
    async with running(ECHO, tmp_path) as process:
        await process.write(b"x\n")
        await process.read()
        assert await shut_down(process, StopDeadlines(close=60)) == "close stdin"
        assert await shut_down(process, StopDeadlines()) is None


async def test_one_that_ignores_stdin_gets_sigterm(tmp_path: Path) -> None:
    async with running("import time; print('ready', flush=True); time.sleep(60)", tmp_path) as process:
        await process.read()
        assert await shut_down(process, StopDeadlines(close=0.1, terminate=60)) == "SIGTERM"
        assert await process.wait() == Exit(signal="SIGTERM")


async def test_one_that_ignores_sigterm_gets_sigkill(tmp_path: Path) -> None:
    async with running(STUBBORN, tmp_path) as process:
        await process.read()
        assert await shut_down(process, QUICK) == "SIGKILL"
        assert await process.wait() == Exit(signal="SIGKILL")


async def test_an_interrupt_that_hangs_costs_its_time_alone(tmp_path: Path) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async with running(ECHO, tmp_path) as process:
        deadlines = StopDeadlines(interrupt=0.1, close=60)
        assert await shut_down(process, deadlines, before=[hang]) == "close stdin"


# What a CLI leaves behind

LEAVES = """
import subprocess, sys
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"
same = subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE)
own = subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE, start_new_session=True)
same.stdout.readline(), own.stdout.readline()
print(same.pid, own.pid, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="leftovers of other sessions are found by /proc"
)
async def test_leftovers_in_the_group_and_out_of_it_go_with_the_process(tmp_path: Path) -> None:
    async with running(LEAVES, tmp_path) as process:
        pids = [int(word) for word in (await process.read()).split()]
        await process.wait()
        assert members([process.identity]) == []
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                identify(pid, process.identity.mark)


async def test_a_leftover_that_holds_stdout_does_not_hold_up_the_end(tmp_path: Path) -> None:
    program = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
print("last words")
"""
    async with running(program, tmp_path) as process:
        waiting = asyncio.create_task(process.wait())
        assert await everything(process) == b"last words\n"
        assert await waiting == Exit(code=0)


async def test_an_identity_survives_being_written_down(tmp_path: Path) -> None:
    async with running(STUBBORN, tmp_path) as process:
        await process.read()
        again = ProcessIdentity.from_text(process.identity.to_text())
        assert vars(again) == vars(process.identity)
        assert is_alive(again)
        assert await asyncio.to_thread(reap, [again], 0.2)
        await process.exited()
        assert not is_alive(again)
        assert not await asyncio.to_thread(reap, [again], 0.2)


async def test_a_pid_that_belongs_to_another_process_by_now_is_left_alone(tmp_path: Path) -> None:
    async with running(STUBBORN, tmp_path) as process:
        await process.read()
        stale = ProcessIdentity(process.identity.pid, "00000000:1", "another")
        assert not reap([stale], 0.1)
        assert not process.has_exited
        assert is_alive(process.identity)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the parent-death signal is Linux's")
async def test_a_cli_dies_with_its_parent(tmp_path: Path) -> None:
    program = f"""
import asyncio, os, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from turnwire.adapter.process.cli import CliProcess

async def main():
    process = await CliProcess.spawn([sys.executable, "-c", {STUBBORN!r}], workspace=Path("."), environment={{}})
    await process.read()
    print(process.identity.to_text(), flush=True)
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        said, _ = await parent.communicate()
        assert parent.returncode == -signal.SIGKILL
        orphan = ProcessIdentity.from_text(said.decode().strip())
        await until(lambda: not is_alive(orphan))
