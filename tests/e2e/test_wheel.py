"""The built wheel: what is in it, and that turnwire runs from it alone."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire_client import connect
from turnwire_process import environment, turnwire

LINKED = {"adapter", "normalize", "tracing"}
"""Folders of the repository that are packages below turnwire."""


def run(*argv: str | Path, cwd: Path) -> None:
    done = subprocess.run([str(word) for word in argv], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # from what git knows: nothing of the work tree's leftovers may get into a wheel
    run("git", "clone", "--quiet", ROOT, folder / "source", cwd=folder)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, folder / "source", cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.long
def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"turnwire"}
    assert not [name for name in names if "fixtures" in name or "/tests/" in name or "/test_" in name]
    assert {
        "turnwire/hub/static/index.html",
        "turnwire/scripted_agent/scripts/demo.yaml",
        "turnwire/protocol/dialects/__init__.py",
    } <= set(names)
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    tops = {*LINKED, "turnwire"}
    modules = {name for name in listed.stdout.splitlines() if name.split("/")[0] in tops}
    assert {name if name.startswith("turnwire/") else f"turnwire/{name}" for name in modules} <= set(names)


@pytest.mark.long
async def test_turnwire_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, wheel, cwd=tmp_path)
    env = environment(
        tmp_path / "home", PYTHONPATH=str(installed), PYTHONSAFEPATH="1", TURNWIRE_PASS_ENV="PYTHON*"
    )
    async with turnwire(tmp_path, "run", "--agent", "demo", env=env) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[0].session)
        await frontend.turn("/help")
        assert "This is a scripted agent" in frontend.text()
