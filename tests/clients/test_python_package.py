"""The Python client stands alone: built, installed beside nothing of the sidecar, it drives a real one."""

import asyncio
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from recordings import ROOT
from turnwire_process import DEADLINE, turnwire

pytestmark = pytest.mark.long

SCRIPT = r"""
import asyncio, sys
from turnwire_client import AccessRefused, CommandFailed, EventFrame, connect
from turnwire_client.events import Complete, MessageChunk, PermissionRequest

async def main(url):
    async with connect(url, name="alone") as client:
        (summary,) = await client.sessions()
        assert summary.session == client.named_session
        try:
            await client.set_model("s-nowhere", "opus")
        except CommandFailed as refused:
            print(refused.code)
        following = client.follow(summary.session)
        await client.prompt(summary.session, "/help")
        async for frame in following:
            match frame:
                case EventFrame(event=MessageChunk(text=text)):
                    print(text, end="")
                case EventFrame(event=Complete(data=data)):
                    print("\n" + data.outcome)
                    break
    try:
        async with connect(url.partition("#")[0], "not-the-token"):
            pass
    except AccessRefused:
        print("refused")
    print(sorted(name for name in sys.modules if name in {"pydantic", "turnwire", "structlog"}))

asyncio.run(main(sys.argv[1]))
"""


def run(*argv: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in argv], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    # from what git knows: nothing of the work tree's leftovers may get into a wheel
    run("git", "clone", "--quiet", ROOT, folder / "source", cwd=folder)
    run(
        sys.executable,
        "-m",
        "build",
        "--outdir",
        folder,
        folder / "source" / "clients" / "python",
        cwd=folder,
    )
    return folder


def test_wheel_and_sdist_hold_the_client_and_nothing_else(made: Path) -> None:
    (wheel,), (sdist,) = made.glob("*.whl"), made.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"turnwire_client"}
    assert "turnwire_client/py.typed" in names
    modules = {path.name for path in (ROOT / "clients" / "python" / "turnwire_client").glob("*.py")}
    assert {f"turnwire_client/{name}" for name in modules} <= set(names)
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", "turnwire_client/py.typed"} <= packed


async def test_installed_alone_it_drives_a_real_sidecar(made: Path, tmp_path: Path) -> None:
    (wheel,) = made.glob("*.whl")
    place = tmp_path / "bare"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    (tmp_path / "drive.py").write_text(SCRIPT)
    async with turnwire(tmp_path, "run", "--agent", "demo") as served, asyncio.timeout(DEADLINE):
        said = await asyncio.to_thread(run, python, "-I", tmp_path / "drive.py", served.url, cwd=tmp_path)
    lines = said.splitlines()
    assert lines[0] == "unknown_session"
    assert "This is a scripted agent" in said
    assert lines[-3:] == ["completed", "refused", "[]"]


def test_a_program_is_checked_against_the_types_it_ships(made: Path, tmp_path: Path) -> None:
    (wheel,) = made.glob("*.whl")
    installed = tmp_path / "installed"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, wheel, cwd=tmp_path)
    (tmp_path / "program.py").write_text(
        "from turnwire_client import Client\n"
        "from turnwire_client.events import Complete\n\n"
        "async def ask(client: Client, done: Complete) -> str | None:\n"
        "    reveal_type(done.data.outcome)\n"
        "    return await client.prompt('s', text='hi')\n"
    )
    env = {"MYPYPATH": str(installed), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "program.py"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Literal['completed']" in done.stdout
