"""The examples do what they say: each is run as its reader would run it."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from hub.client import connect
from recordings import ROOT
from turnwire_process import DEADLINE, environment, turnwire


async def run(folder: Path, *argv: str) -> str:
    """Run a program to its end and return what it printed."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=ROOT,
        env=environment(folder / "home"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return stdout.decode()


async def test_the_python_client_plays_the_whole_demo(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo") as served:
        printed = await run(
            tmp_path, sys.executable, "examples/python_client.py", served.url, "hello there", "--yes"
        )
    assert "This is a scripted agent" in printed
    assert "hello there" in printed
    assert "python -m pytest -q" in printed
    assert "How loud should the greeting be?" in printed
    assert "[completed," in printed


async def test_curl_follows_a_session(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo") as served:
        process = await asyncio.create_subprocess_exec(
            "examples/follow.sh", served.view_url, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            async with connect(served.url) as client, asyncio.timeout(DEADLINE):
                await client.prompt(client.known_sessions[0].session, "/help")
                lines: list[str] = []
                while '"type":"complete"' not in "".join(lines):
                    lines.append((await process.stdout.readline()).decode())
        finally:
            process.kill()
            await process.wait()
    assert any(line.startswith("id: ") for line in lines)
    assert any("scripted agent" in line for line in lines)


@pytest.mark.node
async def test_the_typescript_client_plays_the_whole_demo(tmp_path: Path) -> None:
    node = shutil.which("node")
    compiler = ROOT / "web" / "node_modules" / ".bin" / "tsc"
    assert node
    assert compiler.exists(), "run `make web-deps`"
    await run(tmp_path, str(compiler), "-p", "examples/typescript", "--outDir", str(tmp_path / "built"))
    (tmp_path / "built" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    (tmp_path / "built" / "package.json").write_text('{"type": "module"}')
    async with turnwire(tmp_path, "run", "--agent", "demo") as served:
        printed = await run(tmp_path, node, str(tmp_path / "built" / "follow.js"), served.url, "/help")
    assert "This is a scripted agent" in printed
    assert "[completed]" in printed
