"""The example plug-ins, installed as distributions of their own beside turnwire."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from live import Frontend
from recordings import ROOT
from turnwire.client import connect
from turnwire.client.events import MessageChunk
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


@pytest.mark.long
async def test_the_example_family_is_run_read_and_tried_like_ones_of_ours(tmp_path: Path) -> None:
    target = installed(tmp_path, "family_plugin")
    env = with_plugin(tmp_path, target)
    suite = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"),
            *("-o", "asyncio_default_fixture_loop_scope=function", "--rootdir", tmp_path),
            ROOT / "examples" / "family_plugin" / "test_echo.py",
        ],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert suite.returncode == 0, suite.stdout
    command = ("--family", "echo", "--", sys.executable, str(target / "echo_agent.py"))
    state, records = tmp_path / "state", tmp_path / "records"
    options = ("--record", "--record-dir", str(records), "--state-dir", str(state))
    async with (
        turnwire(tmp_path, "run", *options, *command, env=env) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[0].session)
        await frontend.turn("Hello, echo.")
    assert "Hello, echo." in "".join(
        event.text for event in frontend.events if isinstance(event, MessageChunk)
    )
    (recording,) = records.rglob("raw-*.jsonl")
    log = tmp_path / "stdout.jsonl"
    log.write_text('{"echo":"hello","session":"e"}\n{"echo":"say","session":"e","text":"Hi."}\n')
    for call in (("translate", recording), ("replay", recording), ("translate", log), ("replay", log)):
        code, text = said(env, tmp_path, *map(str, call))
        assert (code, '"message_chunk"' in text) == (0, True), (call, text)
    code, text = said(env, tmp_path, "inspect", str(log))
    assert (code, "2 published" in text) == (0, True), text
    code, text = said(env, tmp_path, "doctor", str(log))
    assert "all types and fields of 2 lines are known" in text
    code, text = said(env, tmp_path, "conform", "agent", "--json", *command)
    verdicts = {finding["verdict"] for finding in json.loads(text)}
    # its only tool is a shell: whether it asks about files cannot be tried
    assert (code, verdicts) == (0, {"held", "not supported", "not tested"}), text
    config = tmp_path / "turnwire.toml"
    config.write_text(
        f'[agents.echo]\nfamily = "echo"\ncommand = ["{sys.executable}", "{target}/echo_agent.py"]\n'
    )
    code, text = said(env, tmp_path, "agents", "--config", str(config))
    assert (code, "speaks echo" in text) == (0, True), text
    code, text = said(env, tmp_path, "sessions", "--config", str(config))
    assert code == 0, text


def test_a_family_that_is_not_installed_is_refused_with_those_there_are(tmp_path: Path) -> None:
    code, text = said(environment(tmp_path / "home"), tmp_path, "run", "--family", "echo", "--", "x")
    assert code == 2
    assert "no family 'echo' can be run; choose one of claude, qwen, acp" in " ".join(text.split())


def registering(folder: Path, value: str) -> dict[str, str]:
    """Return an environment in which a distribution registers the frontend `titles`."""
    about = folder / "titles-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: titles\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(f"[turnwire.frontends]\ntitles = {value}\n")
    example = ROOT / "examples" / "frontend_plugin"
    return environment(folder / "home", PYTHONPATH=f"{folder}:{example}:{ROOT}")


def test_a_frontend_of_another_distribution_is_a_command(tmp_path: Path) -> None:
    env = registering(tmp_path, "turnwire_titles:TITLES")
    code, text = said(env, tmp_path, "titles", "--help")
    assert (code, "The URL that `turnwire run` prints" in " ".join(text.split())) == (0, True), text


def test_a_frontend_that_cannot_be_loaded_is_refused_by_name(tmp_path: Path) -> None:
    code, text = said(registering(tmp_path, "no_such_module:TITLES"), tmp_path, "titles")
    assert (code, text.startswith("turnwire: the frontend titles cannot be loaded: ")) == (1, True), text


def test_a_frontend_of_another_type_is_refused_by_name(tmp_path: Path) -> None:
    code, text = said(registering(tmp_path, "turnwire_titles:titles"), tmp_path, "titles")
    assert (code, "turnwire_titles:titles of turnwire.frontends is not a FrontendPlugin" in text) == (1, True)


@pytest.mark.long
async def test_the_example_frontend_follows_a_turn(tmp_path: Path) -> None:
    env = {**registering(tmp_path, "turnwire_titles:TITLES"), "TURNWIRE_PASS_ENV": "PYTHON*"}
    async with turnwire(tmp_path, "run", "--agent", "demo", env=env) as served:
        code, text = await asyncio.to_thread(said, env, tmp_path, "titles", served.url, "/help")
    assert (code, text.strip()) == (0, "completed"), text


@pytest.mark.long
def test_a_family_without_policies_is_sound(tmp_path: Path) -> None:
    target = installed(tmp_path, "family_plugin")
    agents = target / "turnwire_echo_agents.py"
    agents.write_text(agents.read_text().replace("policies=True, never_asks=()", "policies=False"))
    command = ("--family", "echo", "--", sys.executable, str(target / "echo_agent.py"))
    env = with_plugin(tmp_path, target)
    code, text = said(env, tmp_path, "conform", "agent", "--json", *command)
    found = {one["check"]: one for one in json.loads(text)}
    assert [one for one in found.values() if one["verdict"] in ("broken", "not tried")] == []
    supervised = found[
        "Under the policy supervised it asks before it runs a command and before it writes a file"
    ]
    assert (supervised["verdict"], supervised["detail"]) == ("not supported", "its family has no policies")
    assert code == 0
