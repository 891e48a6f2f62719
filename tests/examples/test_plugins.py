"""The example plug-ins, installed as distributions of their own beside turnwire."""

import subprocess
import sys
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire.client import connect
from turnwire_process import TURNWIRE, environment, turnwire

INSTALL_S = 300.0
"""Seconds that building and installing may take."""


def installed(folder: Path, example: str) -> Path:
    """Build and install an example into a folder that can stand on PYTHONPATH."""
    target = folder / "site-packages"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "-q", "--no-deps"),
            *("--disable-pip-version-check", "--target", target, ROOT / "examples" / example),
        ],
        check=True,
        timeout=INSTALL_S,
        capture_output=True,
    )
    return target


def with_plugin(folder: Path, target: Path) -> dict[str, str]:
    return environment(folder / "home", PYTHONPATH=f"{target}:{ROOT}", TURNWIRE_PASS_ENV="PYTHON*")


def said(env: dict[str, str], folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*TURNWIRE, *arguments], env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_journal_that_is_not_installed_is_refused_with_those_there_are(tmp_path: Path) -> None:
    code, text = said(environment(tmp_path / "home"), tmp_path, "run", "--journal", "lines://here")
    assert code == 2
    assert "there is no journal 'lines'; choose one of memory, redis, sqlite" in " ".join(text.split())


@pytest.mark.long
async def test_the_example_journal_passes_the_suite_and_keeps_a_session(tmp_path: Path) -> None:
    target = installed(tmp_path, "journal_plugin")
    env = with_plugin(tmp_path, target)
    suite = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"),
            *("-o", "asyncio_default_fixture_loop_scope=function", "--rootdir", tmp_path),
            ROOT / "examples" / "journal_plugin" / "test_lines.py",
        ],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert suite.returncode == 0, suite.stdout
    state = tmp_path / "state"
    options = ("--journal", "lines", "--state-dir", str(state))
    async with (
        turnwire(tmp_path, "run", "--agent", "demo", *options, env=env) as served,
        connect(served.url) as client,
    ):
        session = client.known_sessions[0].session
        await Frontend(client, session).turn("/help")
    assert (state / "journal.jsonl").stat().st_size > 1000
    async with (
        turnwire(tmp_path, "serve", "--agent", "demo", *options, env=env) as served,
        connect(served.url) as client,
    ):
        assert [known.session for known in client.known_sessions] == [session]
        frontend = Frontend(client, session)
        while await frontend.next() is not None:
            pass
        assert sum(event.type == "complete" for event in frontend.events) == 1
    code, text = said(env, tmp_path, "doctor", "--journal", "lines", "--state-dir", str(state))
    assert "journal.jsonl" in text, (code, text)
