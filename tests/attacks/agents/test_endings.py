"""A CLI that exits while what it started lives on: holding its output, in sessions of their own, without its environment.

Whoever wrote the agent's prompt can have it start such processes. Turnwire's close, delete, runner, stdio and SIGTERM must
end all the same, the turn once, and nothing of it may be left.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from live import Frontend, gone
from turnwire.adapter.process import cgroup
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire_process import DEADLINE, TURNWIRE, environment, turnwire
from waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descendants are adopted on Linux alone"),
]

AGENT = Path(__file__).parents[2] / "support" / "agents" / "leaving_agent.py"
LOST = ["holder", "chatters", "deaf", "daemon"]
"""Ways to leave a process behind, all in sessions of their own and with an empty environment."""


def agent(folder: Path, *ways: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(AGENT), str(folder / "pids"), *ways]


def left(folder: Path) -> list[int]:
    """The agent and what it has left."""
    pids: list[int] = json.loads((folder / "pids").read_text())
    return pids


def serve(folder: Path, *ways: str) -> Sequence[str]:
    project = folder / "project"
    project.mkdir()
    return ("run", "--workspace", str(project), "--", *agent(folder, *ways))


async def over(frontend: Frontend) -> list[ev.Complete]:
    """Prompt, and return the ends of turns up to the end of the CLI."""
    await frontend.prompt("go")
    await frontend.until(ev.ProcessStatus, lambda status: status.state == "exited")
    return frontend.seen(ev.Complete)


@pytest.mark.parametrize("way", LOST)
async def test_the_turn_of_a_cli_that_exits_ends_once_whatever_holds_its_output(
    tmp_path: Path, way: str
) -> None:
    async with turnwire(tmp_path, *serve(tmp_path, way)) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        (complete,) = await over(frontend)
        assert complete.data.outcome == "process_exited"
        assert frontend.text() == "last words"
        (exited,) = (event for event in frontend.seen(ev.ProcessStatus) if event.state == "exited")
        assert exited.exit_code == 3
        await gone(left(tmp_path))


@pytest.mark.parametrize("deletes", [False, True], ids=["close", "delete"])
@pytest.mark.parametrize("ways", [["holder", "stays"], ["daemon", "deaf", "stays"]], ids="-".join)
async def test_close_and_delete_return_and_leave_nothing(
    tmp_path: Path, deletes: bool, ways: list[str]
) -> None:
    async with turnwire(tmp_path, *serve(tmp_path, *ways)) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        await frontend.until(ev.MessageChunk)
        end = client.delete_session if deletes else client.close_session
        async with asyncio.timeout(DEADLINE):
            await end(frontend.session)
        await gone(left(tmp_path))


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("ways", [["holder"], ["holder", "daemon", "deaf", "stays"]], ids="-".join)
async def test_turnwire_ends_and_leaves_nothing(
    tmp_path: Path, stop: signal.Signals, ways: list[str]
) -> None:
    async with turnwire(tmp_path, *serve(tmp_path, *ways)) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        await frontend.until(ev.MessageChunk)
        if stop is signal.SIGKILL:
            await served.kill()
        else:
            served.process.send_signal(stop)
            await served.ended()
        await gone(left(tmp_path))


async def test_sessions_side_by_side_lose_only_their_own(tmp_path: Path) -> None:
    (tmp_path / "turnwire.toml").write_text(
        f"[agents]\nfirst = {json.dumps(agent(tmp_path / 'first', 'daemon', 'stays'))}\n"
        f"second = {json.dumps(agent(tmp_path / 'second', 'daemon', 'stays'))}\n"
    )
    async with turnwire(tmp_path, "serve") as served, connect(served.url) as client:
        frontends = []
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            session = await client.create(workspace=str(tmp_path / name), agent=name)
            frontends.append(Frontend(client, session))
            await frontends[-1].prompt("go")
            await frontends[-1].until(ev.MessageChunk)
        await client.close_session(frontends[0].session)
        await gone(left(tmp_path / "first"))
        for pid in left(tmp_path / "second"):
            os.kill(pid, 0)
    await gone(left(tmp_path / "second"))


async def test_a_chain_of_processes_that_start_the_next_and_go_has_an_end(tmp_path: Path) -> None:
    chain = tmp_path / "pids.chain"
    async with turnwire(tmp_path, *serve(tmp_path, "chain")) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await over(frontend)
    last = chain.stat().st_mtime_ns
    await asyncio.sleep(0.2)
    assert chain.stat().st_mtime_ns == last


FAST_CHAIN = """
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    time_t end = time(0) + 300;
    if (open(PIPE, O_WRONLY) < 0) return 1;
    for (int chains = 0; chains < 4; chains++) {
        if (fork() > 0) continue;
        setsid();
        while (time(0) < end) {
            pid_t next = fork();
            if (next > 0) _exit(0);
            if (next == 0) setsid();
        }
        _exit(0);
    }
    return 0;
}
"""
"""Chains whose every process lives for microseconds, in a session of its own; each holds the writing end of PIPE."""

FAST_CHAIN_IN_PYTHON = """
import os, sys, time
end = time.monotonic() + 300
os.set_inheritable(os.open(PIPE, os.O_WRONLY), True)
for _ in range(4):
    if os.fork():
        continue
    os.setsid()
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        os.setsid()
    os._exit(0)
"""


def fast_chain(program: Path, pipe: Path) -> None:
    """Make the program that starts the chains: in C, where there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        program.write_text(f"#!{sys.executable} -IS\nPIPE = {str(pipe)!r}\n{FAST_CHAIN_IN_PYTHON}")
        program.chmod(0o700)
    else:
        source = f"#define PIPE {json.dumps(str(pipe))}\n{FAST_CHAIN}".encode()
        subprocess.run([compiler, "-O1", "-xc", "-o", str(program), "-"], input=source, check=True)


def may_have_cgroups() -> bool:
    """Tell whether a CLI can be given a cgroup here."""
    own = cgroup.find_own()
    try:
        path = None if own is None else cgroup.create(own)
    except OSError:
        return False
    return path is not None and cgroup.remove(path)


@pytest.mark.parametrize("stop", [None, signal.SIGTERM, signal.SIGKILL], ids=["close", "SIGTERM", "SIGKILL"])
async def test_a_chain_that_is_faster_than_whoever_looks_has_an_end(
    tmp_path: Path, stop: signal.Signals | None
) -> None:
    """Where no cgroup may be made, nothing is certain to catch it: there the CLI starts and its daemons are caught."""
    contained = may_have_cgroups()
    own = cgroup.find_own()
    before = set(Path(own).iterdir()) if own is not None else set()
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    fast_chain(tmp_path / "pids.program", tmp_path / "pipe")
    ways = ["program", "stays"] if contained else ["daemon", "deaf", "stays"]
    async with turnwire(tmp_path, *serve(tmp_path, *ways)) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        await frontend.until(ev.MessageChunk)
        agent_pid = left(tmp_path)[0]
        place = Path(f"/proc/{agent_pid}/cgroup").read_text().splitlines()[-1]
        assert (f"/{cgroup.PREFIX}" in place) is contained
        if stop is None:
            async with asyncio.timeout(DEADLINE):
                await client.close_session(frontend.session)
        elif stop is signal.SIGKILL:
            await served.kill()
        else:
            served.process.send_signal(stop)
            await served.ended()
        ended = asyncio.Event()
        # without a writer, and after there was one, the reader is told of the end
        asyncio.get_running_loop().add_reader(reading, ended.set)
        try:
            if contained:
                async with asyncio.timeout(120):
                    await ended.wait()
        finally:
            asyncio.get_running_loop().remove_reader(reading)
            os.close(reading)
        await gone(left(tmp_path))
        if contained and own is not None:
            mine = Path(own, place.rpartition("/")[2])
            assert mine not in before
            await until(lambda: not mine.exists(), 120)


async def run_with(folder: Path, *arguments: str, said: bytes) -> tuple[int | None, bytes, bytes]:
    """Run a command with an input that ends, and return how it ended."""
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *arguments,
        cwd=folder,
        env=environment(folder / "home"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            stdout, stderr = await process.communicate(said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, stdout, stderr


def configured(folder: Path, *ways: str) -> str:
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps(agent(folder, *ways))}\n")
    return f"--config={config}"


PROMPT = {"type": "user", "message": {"role": "user", "content": "go"}}


@pytest.mark.parametrize("way", LOST)
async def test_a_run_ends_once_and_so_does_the_runner(tmp_path: Path, way: str) -> None:
    params = {"model": "m", "message": PROMPT, "rate_limit_max_retries": 0}
    request = json.dumps({"type": "run", "id": "1", "params": params}).encode() + b"\n"
    config = configured(tmp_path, way)
    code, stdout, _ = await run_with(tmp_path, "runner", "--agent=under", config, said=request)
    lines = [json.loads(line) for line in stdout.splitlines()]
    (end,) = (line for line in lines if line["type"] == "end")
    assert end["status"] == "error"
    assert "exited" in end["error"]
    assert any("last words" in json.dumps(line) for line in lines)
    assert code == 0
    await gone(left(tmp_path))


@pytest.mark.parametrize("way", LOST)
async def test_stdio_passes_the_last_words_and_the_exit_code(tmp_path: Path, way: str) -> None:
    config = configured(tmp_path, way)
    said = json.dumps(PROMPT).encode() + b"\n"
    code, stdout, _ = await run_with(tmp_path, "stdio", "--agent=under", config, "-p", said=said)
    assert b"last words" in stdout
    assert code == 3
    await gone(left(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_stdio_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    config = configured(tmp_path, "holder", "daemon", "deaf", "stays")
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        "stdio",
        "--agent=under",
        config,
        "-p",
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(PROMPT).encode() + b"\n")
    await until((tmp_path / "pids").exists, DEADLINE)
    process.send_signal(number)
    try:
        async with asyncio.timeout(DEADLINE):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    await gone(left(tmp_path))
