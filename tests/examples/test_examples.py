"""The examples do what they say: each is run by the README's own line, on a hub that knows an older session, too."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recordings import ROOT
from turnwire.client import connect
from turnwire_process import DEADLINE, Served
from turnwire_process import preloaded_turnwire as turnwire

BUILD_S = 300.0
"""Seconds that `npm ci` and the compiler may take."""

DEMO = ("run", "--agent", "demo")


def line_with(words: str) -> str:
    """Return the README's line that runs an example; this environment's Python stands for the one in .venv."""
    (line,) = [
        line
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if words in line and '"$URL"' in line
    ]
    return line.replace(".venv/bin/python", sys.executable)


@asynccontextmanager
async def shell(line: str, url: str, folder: Path = ROOT) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a line as its reader would, with the URL in a variable; what it left running is ended."""
    # npm knows from its user's environment where packages come from
    env = {
        **os.environ,
        "URL": url,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")]),
    }
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", line),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def printed(
    line: str, url: str, *, typed: str = "", seconds: float = DEADLINE, folder: Path = ROOT
) -> str:
    """Run a line to its end, with something typed, and return what it printed."""
    async with shell(line, url, folder) as process, asyncio.timeout(seconds):
        stdout, stderr = await process.communicate(typed.encode())
    assert process.returncode == 0, stdout.decode() + stderr.decode()
    return stdout.decode()


@asynccontextmanager
async def second_run(folder: Path) -> AsyncIterator[Served]:
    """A run in a folder that was run in before; fails when anything was done to the older session."""
    async with turnwire(folder, *DEMO) as first:
        pass
    async with turnwire(folder, *DEMO) as second, connect(second.url) as client:
        older, newer = client.known_sessions
        assert (older.session, newer.session) == (first.session, second.session)
        yield second
        older_now, newer_now = await client.sessions()
        assert (older_now.state, older_now.last_seq) == ("exited", older.last_seq)
        assert newer_now.last_seq > newer.last_seq


@pytest.mark.long
async def test_the_python_client_plays_the_whole_demo(tmp_path: Path) -> None:
    async with second_run(tmp_path) as served:
        line = line_with("examples/python_client.py")
        told = await printed(line, served.url, typed="1\n" * 20)
    assert "This is a scripted agent" in told
    assert "What is in this folder?" in told
    assert "python -m pytest -q" in told
    assert "How loud should the greeting be?" in told
    assert "[completed," in told


@pytest.mark.long
@pytest.mark.parametrize("named", [True, False], ids=["the one that the URL names", "the newest"])
async def test_curl_follows_a_session(named: bool, tmp_path: Path) -> None:
    async with second_run(tmp_path) as served:
        url = served.view_url if named else f"{served.base}/#token={served.token}"
        async with (
            shell(line_with("examples/follow.sh"), url) as process,
            connect(served.url) as client,
            asyncio.timeout(DEADLINE),
        ):
            assert process.stdout is not None
            await client.prompt(served.session, "/help")
            lines: list[str] = []
            while '"type":"complete"' not in "".join(lines):
                line = await process.stdout.readline()
                assert line, lines
                lines.append(line.decode())
    assert any(line.startswith("id: ") for line in lines)
    assert any("scripted agent" in line for line in lines)


@pytest.mark.long
async def test_the_python_client_says_when_the_session_is_not_there(tmp_path: Path) -> None:
    async with (
        turnwire(tmp_path, *DEMO) as served,
        shell(
            line_with("examples/python_client.py"),
            served.url.replace(served.session, "s-gone"),
        ) as process,
        asyncio.timeout(DEADLINE),
    ):
        _, stderr = await process.communicate()
    assert process.returncode == 1
    assert stderr.decode().strip() == "there is no session s-gone"


@pytest.mark.node
@pytest.mark.long
async def test_the_typescript_client_plays_the_whole_demo(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    listed = subprocess.run(
        ["git", "ls-files", ".npmrc", "package*.json", "clients/typescript", "console", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    async with second_run(tmp_path) as served:
        line = line_with("npm run example")
        told = await printed(line, served.url, seconds=BUILD_S, folder=clone)
    assert "This is a scripted agent" in told
    assert "What is in this folder?" in told
    assert "[completed]" in told
