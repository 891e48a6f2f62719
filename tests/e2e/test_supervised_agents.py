"""`--policy supervised` with real agents of the Agent Client Protocol that would not ask by themselves, offline."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from real_agents import GEMINI, OPENCODE, QWEN, RealAgent
from scripted_models import Say, ScriptedModels, scripted_models

from live import Frontend
from turnwire.client import CommandFailed, connect
from turnwire.client.events import Complete, PermissionRequest
from turnwire_process import environment, turnwire

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 240.0


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with scripted_models() as served:
        yield served


def _loosen_opencode(home: Path) -> None:
    """Take away the settings that make OpenCode ask: without them it runs everything."""
    settings = home / ".config" / "opencode" / "opencode.json"
    said = json.loads(settings.read_text())
    del said["permission"]
    settings.write_text(json.dumps(said))


def _nothing(home: Path) -> None:
    """Leave the settings as they are."""


@asynccontextmanager
async def running(
    folder: Path,
    agent: RealAgent,
    models: ScriptedModels,
    more: Sequence[str],
    loosen: Callable[[Path], None],
    *options: str,
) -> AsyncIterator[Frontend]:
    project = folder / "project"
    project.mkdir()
    given = agent.prepare(folder / "home", models.url)
    loosen(folder / "home")
    (folder / "turnwire.toml").write_text(
        f'[agents.tried]\nfamily = "acp"\ncommand = {json.dumps([*agent.command(), *more])}\n[agents.tried.env]\n'
        + "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
    )
    words = ("run", "--agent", "tried", "--workspace", str(project), *options)
    env = environment(folder / "home")
    async with turnwire(folder, *words, env=env) as served, connect(served.url) as client:
        yield Frontend(client, client.known_sessions[-1].session, PATIENCE)


LOOSE = [
    pytest.param(GEMINI, ("--approval-mode", "yolo"), _nothing, id="gemini"),
    pytest.param(QWEN, ("--acp", "--approval-mode", "yolo"), _nothing, id="qwen"),
    pytest.param(OPENCODE, (), _loosen_opencode, id="opencode"),
]


@pytest.mark.parametrize(("agent", "more", "loosen"), LOOSE)
async def test_an_agent_that_would_ask_nothing_asks_about_an_edit_and_a_command(
    agent: RealAgent,
    more: Sequence[str],
    loosen: Callable[[Path], None],
    models: ScriptedModels,
    tmp_path: Path,
) -> None:
    written, touched = (tmp_path / "project" / name for name in ("written.txt", "touched.txt"))
    async with running(tmp_path, agent, models, more, loosen, "--policy", "supervised") as frontend:
        for call, action in (
            (agent.write(written, "no"), "file_write"),
            (agent.shell(f"touch {touched}"), "command"),
        ):
            models.answers.extend([[call], [Say("Then not.")]])
            await frontend.prompt("Go on.")
            request = await frontend.until(PermissionRequest)
            assert request.action_type == action
            if action == "command":
                assert request.permission_title == f"touch {touched}", request
            reject = next(option for option in request.permission_options if option.kind == "reject_once")
            await frontend.respond(request, reject.option_id)
            await frontend.until(Complete)
            models.answers.clear()
        assert not written.exists()
        assert not touched.exists()


async def test_an_agent_that_a_repository_allows_something_is_not_started(
    models: ScriptedModels, tmp_path: Path
) -> None:
    def allow(home: Path) -> None:
        said = {"agent": {"build": {"permission": {"*": "allow"}}}}
        (home.parent / "project" / "opencode.json").write_text(json.dumps(said))

    async with running(tmp_path, OPENCODE, models, (), allow, "--policy", "supervised") as frontend:
        with pytest.raises(
            CommandFailed, match=r"never asks about what opencode\.json in this folder allows"
        ):
            await frontend.prompt("Go on.")


@pytest.mark.parametrize(("agent", "more", "loosen"), LOOSE)
async def test_the_same_agent_asks_nothing_without_the_policy(
    agent: RealAgent,
    more: Sequence[str],
    loosen: Callable[[Path], None],
    models: ScriptedModels,
    tmp_path: Path,
) -> None:
    written = tmp_path / "project" / "written.txt"
    async with running(tmp_path, agent, models, more, loosen) as frontend:
        models.answers.extend([[agent.write(written, "yes")], [Say("Done.")]])
        await frontend.turn("Go on.")
        assert written.read_text() == "yes"
        assert frontend.seen(PermissionRequest) == []
