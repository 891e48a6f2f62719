"""The built wheel: what is in it, and that turnwire runs from it alone."""

import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire.client import connect
from turnwire_process import environment, turnwire

LINKED = {
    "adapter": "adapter",
    "normalize": "normalize",
    "tracing": "tracing",
    "clients/python/turnwire_client": "client",
}
"""Folders of the repository that are packages below turnwire, and the names that they have there."""


def run(*argv: str | Path, cwd: Path, env: Mapping[str, str] | None = None, stdin: str = "") -> str:
    """Run a command that succeeds; returns what it printed."""
    words = [str(word) for word in argv]
    done = subprocess.run(words, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


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
    modules = {name for name in listed.stdout.splitlines() if name.startswith("turnwire/")}
    for folder, package in LINKED.items():
        modules |= {
            f"turnwire/{package}{name.removeprefix(folder)}"
            for name in listed.stdout.splitlines()
            if name.startswith(f"{folder}/")
        }
    assert modules <= set(names)


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


NEEDED_FOR = {
    "acp": "import turnwire.client",
    "asgi": "import starlette, turnwire.embedded",
    "mcp": "import turnwire.frontends.mcp.server",
    "usechat": "import turnwire.frontends.ai_sdk.app",
    "agui": "import ag_ui, starlette, uvicorn",
    "push": "import http_ece, py_vapid",
    "qr": "import segno",
    "tui": "import turnwire.frontends.terminal.app",
    "redis": "import hiredis, redis",
    "testing": "import pytest, pytest_asyncio; import turnwire.testing",
    "uvloop": "import uvloop",
}
"""What can be imported when an extra is installed."""


@pytest.mark.long
def test_the_wheel_installs_with_each_extra_as_the_hints_say(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=True)
    python, program = (tmp_path / "bare" / "bin" / name for name in ("python", "turnwire"))
    (packages,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    before = {path.name for path in packages.iterdir()}
    install = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    run(*install, "--no-deps", wheel, cwd=tmp_path)
    added = {path.name for path in packages.iterdir()} - before
    assert {name for name in added if not name.endswith(".dist-info")} == {"turnwire"}
    assert len(added) == 2
    run(*install, "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)

    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    editor = (program, "acp", "--agent", "demo", "--port", "0")
    assert '"protocolVersion":1' in run(*editor, cwd=tmp_path, env=env, stdin=json.dumps(hello) + "\n")
    run(program, "conform", "agent", "--help", cwd=tmp_path, env=env)

    agui = [str(word) for word in (program, "agui", "--connect", "http://127.0.0.1:9", "--host", "192.0.2.1")]
    refused = subprocess.run(agui, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (hinted,) = re.findall(r"pip install 'turnwire\[(\w+)\]'", refused.stderr)
    assert hinted == "agui"

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert NEEDED_FOR.keys() == extras.keys() - {"dev"}
    for extra, statement in NEEDED_FOR.items():
        # turnwire is there: pip takes it as it is and adds what the extra names
        said = run(*install, "-c", ROOT / "constraints.txt", f"turnwire[{extra}]", cwd=tmp_path)
        assert "does not provide" not in said
        run(python, "-c", statement, cwd=tmp_path)
    # 192.0.2.1 is nobody's address: agui is there now, and says that it cannot listen
    there = subprocess.run(agui, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert "cannot listen" in there.stderr
    assert "pip install" not in there.stderr
