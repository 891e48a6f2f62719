"""An output ends soon after its process, whoever holds it open; what the process itself wrote is read whole."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.pipes import READ_AHEAD, Incoming, OutputGrace, PipeEnd, pipe
from turnwire.adapter.process.program import run_program
from turnwire.adapter.process.transport import Exit

ENVIRONMENT = {"PATH": os.environ["PATH"]}

HOLDS = """
import os, sys, time
def hold(code="import time; time.sleep(600)"):
    child = os.fork()
    if child == 0:
        os.setsid()
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], {})
    return child
"""
CHATTERS = "import os\\nwhile True:\\n os.write(1, b'more\\\\n' * 1000)"


async def spawn(program: str, folder: Path, grace: OutputGrace | None = None) -> CliProcess:
    return await CliProcess.spawn(
        [sys.executable, "-I", "-S", "-c", HOLDS + program],
        workspace=folder,
        environment=ENVIRONMENT,
        grace=grace,
    )


async def everything(process: CliProcess) -> bytes:
    output = b""
    while chunk := await process.read():
        output += chunk
    return output


async def test_an_output_that_is_held_open_ends_with_its_process(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        process = await spawn("hold()\nprint('last words')\nraise SystemExit(3)", tmp_path)
        assert await everything(process) == b"last words\n"
        assert await process.wait() == Exit(code=3)


async def test_one_who_goes_on_to_write_does_not_keep_it_open(tmp_path: Path) -> None:
    grace = OutputGrace(quiet=0.05, latest=0.2)
    async with asyncio.timeout(60):
        process = await spawn(
            f"print('last words', flush=True)\nhold({CHATTERS!r})".replace("\\\\", "\\"), tmp_path, grace
        )
        assert (await everything(process)).startswith(b"last words\n")
        assert await process.wait() == Exit(code=0)


async def test_what_a_filter_says_right_after_the_exit_is_heard(tmp_path: Path) -> None:
    late = "import os, time; time.sleep(0.2); os.write(1, b'late\\\\n')".replace("\\\\", "\\")
    async with asyncio.timeout(60):
        process = await spawn(f"hold({late!r})", tmp_path, OutputGrace(quiet=20, latest=40))
        assert await everything(process) == b"late\n"
        await process.wait()


async def test_a_reader_that_lags_gets_all_that_was_written_before_the_exit(tmp_path: Path) -> None:
    size = READ_AHEAD + 60_000
    async with asyncio.timeout(60):
        process = await spawn(
            f"hold()\nprint('x' * {size - 1})", tmp_path, OutputGrace(quiet=0.01, latest=0.01)
        )
        await process.exited()
        await asyncio.sleep(0.2)
        assert len(await everything(process)) == size
        await process.wait()


async def test_nobody_has_to_read_what_is_left_of_an_output(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        process = await spawn("hold()\nprint('x' * 100_000)", tmp_path)
        assert await process.wait() == Exit(code=0)
        assert len(await everything(process)) == 100_001


async def test_an_end_is_an_end_before_any_exit() -> None:
    reading, writing = pipe()
    incoming = await Incoming.open(reading, OutputGrace())
    writing.write(b"all")
    writing.close()
    async with asyncio.timeout(60):
        assert await incoming.read() == b"all"
        assert await incoming.read() == b""
    incoming.process_exited()


def is_open(descriptor: int) -> bool:
    return Path(f"/proc/self/fd/{descriptor}").exists()


def test_an_end_of_a_pipe_is_closed_once() -> None:
    reading, writing = pipe()
    reading.close()
    assert not is_open(reading.fileno())
    os.dup2(writing.fileno(), reading.fileno())
    reading.close()
    assert is_open(reading.fileno()), "the number is another's by now"
    os.close(reading.fileno())
    writing.close()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_a_thread_opens_while_a_pipe_is_closed_stays_open(
    new_loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[int, int]] = []

    def close(end: PipeEnd) -> None:
        # the lowest free number: the pipe's own, where the loop has closed it
        opened.append((end.fileno(), os.open(os.devnull, os.O_RDONLY)))
        closes(end)

    async def read_to_the_end() -> None:
        reading, writing = pipe()
        incoming = await Incoming.open(reading, OutputGrace())
        writing.close()
        async with asyncio.timeout(60):
            assert await incoming.read() == b""

    closes = PipeEnd.close
    monkeypatch.setattr(PipeEnd, "close", close)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(read_to_the_end())
    ((number, another),) = opened
    assert is_open(another)
    assert number == another or not is_open(number)
    os.close(another)


@pytest.mark.parametrize("code", [0, 2])
async def test_a_program_is_done_when_it_exits(tmp_path: Path, code: int) -> None:
    program = f"open('holder', 'w').write(str(hold()))\nsys.stdout.write(sys.stdin.read() + '!')\nsys.stderr.write('?')\nsys.stderr.flush()\nsys.stdout.flush()\nos._exit({code})"
    async with asyncio.timeout(60):
        done = await run_program(
            [sys.executable, "-I", "-S", "-c", HOLDS + program],
            body=b"heard",
            workspace=tmp_path,
            environment={},
            most=100,
        )
    os.kill(int((tmp_path / "holder").read_text()), signal.SIGKILL)
    assert (done.code, done.stdout, done.stderr) == (code, b"heard!", b"?")


async def test_a_program_that_says_too_much_may_be_stopped(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        done = await run_program(
            ["yes"], body=b"", workspace=tmp_path, environment=ENVIRONMENT, most=10, stops_full=True
        )
    assert done.stdout == b"y\n" * 5 + b"y"
    assert done.code < 0
