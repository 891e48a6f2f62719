"""How a running turnwire is asked to stop: turns are closed, frontends see it, recordings end; a second Ctrl-C waits for nothing."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from live import descendants, gone, running, scripted_setup
from turnwire.client.events import Complete, MessageChunk, ProcessStatus
from turnwire_process import DEADLINE, TURNWIRE, environment

HANGS = "fallback: {steps: [{text: 'I work.'}, {hang: true}]}"
STUBBORN = f"ignore: [interrupt, stdin_close, sigterm]\n{HANGS}"


def recorded(folder: Path) -> list[str]:
    """The kinds of the rows of the one recording."""
    (file,) = folder.glob("raw-*.jsonl")
    return [json.loads(line)["event"] for line in file.read_text().splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_frontend_sees_the_turn_end_and_the_recording_has_an_end(
    tmp_path: Path, number: signal.Signals
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", HANGS)
    options = ("--record", "--record-dir", str(tmp_path))
    async with running(tmp_path, setup, *options) as (frontend, served):
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        served.process.send_signal(number)
        await frontend.until(Complete)
        ended = await frontend.until(ProcessStatus, lambda status: status.state == "exited")
        assert ended.reason is None or "killed" not in ended.reason
        await served.ended()
    assert recorded(tmp_path)[-1] == "exit"


@pytest.mark.long
async def test_server_sent_events_have_the_last_ones_too(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", HANGS)
    async with running(tmp_path, setup) as (frontend, served):
        bearer = {"Authorization": f"Bearer {served.token}"}
        request = Request(f"{served.base}/sessions/{frontend.session}/events", headers=bearer)
        reading = asyncio.create_task(asyncio.to_thread(lambda: urlopen(request, timeout=DEADLINE).read()))
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        served.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(DEADLINE):
            text = (await reading).decode()
        await served.ended()
    assert '"type":"complete"' in text
    assert '"state":"exited"' in text


@pytest.mark.long
async def test_a_frontend_that_does_not_read_does_not_hold_the_end_up(tmp_path: Path) -> None:
    echo = "fallback: {steps: [{text: '{prompt}'}, {hang: true}]}"
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330", echo)) as (frontend, served):
        host, port = served.base.removeprefix("http://").split(":")
        head = f"GET /sessions/{frontend.session}/events HTTP/1.1\r\nHost: {host}:{port}\r\n"
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect((host, int(port)))
            deaf.sendall(f"{head}Authorization: Bearer {served.token}\r\n\r\n".encode())
            await frontend.prompt("word " * 200_000)
            await frontend.until(MessageChunk)
            served.process.send_signal(signal.SIGINT)
            await served.ended()


async def test_turnwire_says_that_it_stops_and_a_second_ctrl_c_waits_for_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330", STUBBORN)) as (frontend, served):
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        left = descendants(served.process.pid)
        assert left
        served.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(DEADLINE):
            while "Ctrl-C again" not in (tmp_path / "turnwire.log").read_text():  # noqa: ASYNC110 - a file has no events
                await asyncio.sleep(0.02)
        served.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(DEADLINE):
            assert await served.process.wait() == 128 + signal.SIGINT
        served.killed = True
        await gone(left)


@pytest.mark.long
async def test_a_ctrl_c_while_the_first_session_starts_stops_it(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\n[ $# = 1 ] && exec echo 2.1.330\ntouch started\nexec sleep 1000\n")
    silent.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *("run", "--port", "0", "--", str(silent)),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        while not (tmp_path / "started").exists():  # noqa: ASYNC110 - a file has no events
            await asyncio.sleep(0.02)
    left = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(DEADLINE):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert b"Traceback" not in out + err
    await gone(left)


@pytest.mark.long
async def test_a_closed_terminal_ends_it_well(tmp_path: Path) -> None:
    controlling, terminal = os.openpty()
    process = await asyncio.create_subprocess_exec(
        "setsid",
        "--ctty",
        "--wait",
        *TURNWIRE,
        *("run", "--port", "0", "--record", "--record-dir", str(tmp_path), "--prompt", "go"),
        *("--", *scripted_setup(tmp_path, "2.1.330", HANGS).argv),
        cwd=tmp_path,
        env=environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH"),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    shown = b""
    async with asyncio.timeout(DEADLINE):
        while b"to watch only" not in shown:
            shown += await asyncio.to_thread(os.read, controlling, 4096)
        left = descendants(process.pid)
        os.close(controlling)
        await process.wait()
    await gone(left)
    assert recorded(tmp_path)[-1] == "exit"


@pytest.mark.long
async def test_what_was_started_to_outlive_its_terminal_does(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        "nohup",
        *TURNWIRE,
        *("run", "--agent", "demo", "--port", "0"),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE):
        url = (await process.stdout.readline()).decode().split()[-1]
        process.send_signal(signal.SIGHUP)
        address = url.split("#")[0] + "healthz"
        assert await asyncio.to_thread(lambda: urlopen(address, timeout=DEADLINE).status) == 200
        process.terminate()
        assert await process.wait() == 0


THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\nasync def serve(message): ..."
BLOCKED = """
import asyncio, time
def block():
    open("blocked", "w").close()
    time.sleep(600)
asyncio.get_running_loop().call_soon(block)
async def serve(message): ...
"""
ENDLESS = """
import asyncio
async def endless():
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass
asyncio.current_task().endless = asyncio.create_task(endless())
async def serve(message): ...
"""


@pytest.mark.long
@pytest.mark.parametrize("hanging", [THREAD, ENDLESS, BLOCKED], ids=["thread", "task", "loop"])
async def test_what_does_not_end_does_not_keep_turnwire_from_its_end(tmp_path: Path, hanging: str) -> None:
    """A hosted MCP server is code of somebody else's in our process: it may do any of this."""
    (tmp_path / "hanging.py").write_text(hanging)
    (tmp_path / "turnwire.toml").write_text(
        "stop_timeout_s = 1\n[hosted_mcp.hangs]\nentry_point = 'hanging:serve'\n"
    )
    setup = scripted_setup(tmp_path, "2.1.330", HANGS)
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    env["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *("run", "--port", "0", "--config", "turnwire.toml", "--prompt", "go", "--", *setup.argv),
        cwd=tmp_path,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE):
            if hanging is BLOCKED:
                while not (tmp_path / "blocked").exists():  # noqa: ASYNC110 - a file has no events
                    await asyncio.sleep(0.02)
            else:
                assert b"turnwire is ready" in await process.stdout.readline()
            left = descendants(process.pid)
            process.terminate()
            _, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert b"did not end within 1 s of SIGTERM" in err
    assert process.returncode == 128 + signal.SIGTERM
    await gone(left)
