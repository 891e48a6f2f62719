"""`make demo` in a clone that has nothing yet, as a newcomer runs it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire.client import connect

PATIENCE_S = 600.0
"""Seconds that the installation may take: packages come over a network."""

OLD_PIP = "pip==23.0.1"
"""The pip of Debian 12."""

ROOM_MB = 110
"""What a demo may take of the disk, its environment and all that it installs."""

DEVELOPMENT = ("mypy", "pytest", "ruff", "playwright", "claude_agent_sdk", "redis", "uvloop")


def surroundings() -> dict[str, str]:
    """Return a shell's environment: a make above this one would have its own say through these variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def megabytes(folder: Path) -> float:
    """Return what a folder takes of the disk, links counted once."""
    found = [path.lstat() for path in folder.rglob("*")]
    files = {(about.st_dev, about.st_ino): about for about in found}
    return sum(about.st_blocks * 512 for about in files.values()) / 1e6


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A bare clone: what is committed, with the Makefile that lies here, which is the one in question."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    shutil.copy(ROOT / "Makefile", clone / "Makefile")
    return clone


@pytest.fixture
def old_pip(clone: Path) -> None:
    """Give the clone an environment with the oldest pip that is promised to work."""
    python = clone / ".venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", clone / ".venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", OLD_PIP], check=True)


@pytest.mark.long
@pytest.mark.usefixtures("old_pip")
async def test_make_demo_in_a_bare_clone_installs_turnwire_alone_and_says_nothing_else(
    clone: Path,
    tmp_path: Path,
) -> None:
    process = await asyncio.create_subprocess_exec(
        "make",
        "demo",
        f"PYTHON={sys.executable}",
        "UV=not-installed",
        "DEMO_ARGS=--port 0",
        cwd=clone,
        env={**surroundings(), "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    printed: list[str] = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not printed or "to watch only" not in printed[-1]:
                line = (await process.stdout.readline()).decode()
                assert line, printed
                printed.append(line.strip())
            assert len(printed) == 3, printed
            assert printed[0] == "installing turnwire into .venv"
            assert printed[1].startswith("turnwire is ready; open http://")
            url = printed[1].split()[-1]
            async with connect(url) as client:
                frontend = Frontend(client, client.known_sessions[0].session)
                await frontend.turn("/help")
                assert "This is a scripted agent" in frontend.text()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()
    installed = clone / ".venv"
    assert megabytes(installed) < ROOM_MB
    (packages,) = installed.glob("lib/python*/site-packages")
    assert [name for name in DEVELOPMENT if (packages / name).exists()] == []


@pytest.mark.long
def test_what_pip_has_to_complain_of_is_printed(clone: Path) -> None:
    """Silence is for when nothing is wrong."""
    (clone / "constraints.txt").write_text("msgspec==0.0.0.1\n")
    done = subprocess.run(
        ["make", "demo", f"PYTHON={sys.executable}"], cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "ERROR: " in done.stderr
    assert "msgspec" in done.stderr
