"""Modules of a project that is on PYTHONPATH are never imported, whatever they are called."""

import subprocess
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire.client import connect
from turnwire_process import TURNWIRE, environment, turnwire


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a module named as each folder of turnwire; each writes a file when it is imported."""
    folder = tmp_path / "project"
    folder.mkdir()
    names = {path.name for path in (ROOT / "turnwire").iterdir() if path.is_dir()} | {"files", "tasks"}
    for name in names:
        (folder / f"{name}.py").write_text(
            "from pathlib import Path\nPath(__file__).with_suffix('.imported').touch()\n"
        )
    (folder / "files.py").unlink()
    (folder / "files").mkdir()
    return folder


def test_a_folder_files_does_not_stop_turnwire_agents(tmp_path: Path, project: Path) -> None:
    env = environment(tmp_path / "home", PYTHONPATH=str(project))
    done = subprocess.run(
        [*TURNWIRE, "agents", "--json"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(project.glob("*.imported"))


async def test_a_module_tasks_is_not_executed_in_the_sidecar(tmp_path: Path, project: Path) -> None:
    env = environment(tmp_path / "home", PYTHONPATH=str(project), TURNWIRE_PASS_ENV="PYTHON*")
    async with turnwire(tmp_path, "run", "--agent", "demo", env=env) as served, connect(served.url) as client:
        await Frontend(client, client.known_sessions[0].session).turn("/help")
    assert not list(project.glob("*.imported"))
