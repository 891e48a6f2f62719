"""The guard ends what was started and puts the terminal back when its process is killed."""

import asyncio
import os
import pty
import signal
import sys
import termios
from pathlib import Path

import pytest

from recordings import ROOT
from waiting import until

SCRIPT = """
import subprocess, sys, termios, time, tty
from turnwire.frontends.terminal.guard import guarded
with guarded() as guard:
    child = subprocess.Popen(["sleep", "100"], stdin=subprocess.DEVNULL)
    guard.ends(child.pid)
    tty.setraw(0)
    open(sys.argv[1], "w").write(f"{child.pid}")
    if sys.argv[2] == "waits":
        time.sleep(100)
    child.kill()
    child.wait()
    guard.ended(child.pid)
"""


@pytest.mark.parametrize("way", ["killed", "left"])
async def test_a_killed_terminal_is_left_as_it_was_found_and_a_left_one_is_not_touched(
    tmp_path: Path, way: str
) -> None:
    ours, theirs = pty.openpty()
    try:
        before = termios.tcgetattr(theirs)
        noted = tmp_path / "pid"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SCRIPT, str(noted), "waits" if way == "killed" else "leaves",
            stdin=theirs, cwd=ROOT,
        )  # fmt: skip
        if way == "killed":
            await until(lambda: noted.exists() and noted.read_text() != "", 60)
            assert termios.tcgetattr(theirs) != before
            process.send_signal(signal.SIGKILL)
        await process.wait()
        if way == "killed":
            await until(lambda: termios.tcgetattr(theirs) == before, 60)
            assert b"\x1b[?1049l" in os.read(ours, 1 << 16)
        else:
            assert termios.tcgetattr(theirs) != before
        await until(lambda: not Path(f"/proc/{noted.read_text()}").exists(), 60)
    finally:
        os.close(ours)
        os.close(theirs)
