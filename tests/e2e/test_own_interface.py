"""`turnwire claude` and `turnwire codex`: the real interfaces in a terminal, offline, and their sessions for other frontends."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from real_agents import CODEX
from scripted_models import scripted_models
from terminal import welcomed
from tmux import Terminal, terminal

from live import Frontend
from real_cli import real_cli, real_cli_environment
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import CommandFailed, connect
from turnwire.client.events import (
    Complete,
    MessageChunk,
    PermissionRequest,
    UserMessage,
)
from turnwire_process import TURNWIRE, environment
from waiting import until

pytestmark = pytest.mark.long

ANSWER = "A title"
"""What the scripted API answers to a request without tools, as Codex makes them for this model."""


def installed(folder: Path, name: str, program: str, env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which an agent is found by its name."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / name).symlink_to(program)
    own = {**environment(folder / "home"), **env}
    return {**own, "PATH": f"{folder / 'bin'}:{own['PATH']}", "TURNWIRE_STATE_DIR": str(folder / "state")}


async def typed(place: Terminal, prompt: str) -> None:
    """Type a prompt, and Enter once the interface shows all of it."""
    if prompt[0] in "[{":
        prompt = json.dumps(json.loads(prompt), separators=(",", ":"))
    place.say(prompt)
    await until(lambda: place.shows(prompt[-12:]), 60)
    place.keys("Enter")


@asynccontextmanager
async def opened(folder: Path, command: str, env: Mapping[str, str]) -> AsyncIterator[tuple[Terminal, str]]:
    """An agent's interface and the URL that is said before it; the interface clears the screen."""
    command = f"read go; {' '.join(TURNWIRE)} {command}"
    async with terminal(folder, command, "one", env, width=120, height=40) as place:
        place.run("pipe-pane", f"cat >{folder / 'drawn'}")
        place.keys("Enter")
        found: list[bytes] = []

        def is_said() -> bool:
            found[:] = re.findall(rb"also at (http\S+)\s", (folder / "drawn").read_bytes())
            return bool(found)

        await until((folder / "drawn").exists, 60)
        await until(is_said, 60)
        yield place, found[0].decode()


def said(frontend: Frontend) -> str:
    return "".join(one.text for one in frontend.seen(MessageChunk))


async def test_claude_is_as_ever_and_its_session_is_answered_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with scripted_messages_api() as api:
        own = real_cli_environment(tmp_path / "home", api.url)
        env = installed(tmp_path, "claude", str(real_cli()), own)
        welcomed(tmp_path / "home", tmp_path / "project", own["ANTHROPIC_API_KEY"])
        # the arguments are the agent's own
        async with opened(tmp_path, "claude --permission-mode default", env) as (place, url):
            await place.sees("? for shortcuts")
            async with connect(url) as client:
                assert client.known_sessions[0].in_terminal
                frontend = await Frontend(client, client.known_sessions[0].session).caught_up()
                prompt = plan([tool_use("Bash", command="echo 1 >one")], [text("from-the-model")])
                await typed(place, prompt)
                request = await frontend.until(PermissionRequest)
                await place.sees("Do you want to proceed?")
                await client.respond(frontend.session, request.pending_id, "allow_once")
                await place.sees("from-the-model")
                await frontend.until(Complete)
                assert (tmp_path / "project" / "one").read_text() == "1\n"
                assert [json.loads(one.text) for one in frontend.seen(UserMessage)] == [json.loads(prompt)]
                assert said(frontend) == "from-the-model"
                # it would wait for the end of the interface, and the sidecar ends then
                with pytest.raises(CommandFailed, match="ends with the agent's interface"):
                    await client.prompt(frontend.session, plan([text("never")]))
                asked = len(api.requests)
            place.keys("C-d")
            place.keys("C-d")
            await place.sees("over 0", "brkint", "extproc")
            assert place.is_as_found
            assert len(api.requests) == asked


async def test_codex_is_as_ever_and_its_session_is_seen_elsewhere(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_models() as models:
        (tmp_path / "home").mkdir()
        own = CODEX.prepare(tmp_path / "home", models.url)
        settings = tmp_path / "home" / ".codex" / "config.toml"
        # of an older model it asks whether to take a newer one
        configured = settings.read_text().replace("gpt-5.5", "gpt-6-sol")
        settings.write_text(f'{configured}[projects."{project}"]\ntrust_level = "trusted"\n')
        env = installed(tmp_path, "codex", CODEX.command()[0], own)
        async with opened(tmp_path, "codex", env) as (place, url):
            await place.sees("Ask Codex")
            async with connect(url) as client:
                frontend = await Frontend(client, client.known_sessions[0].session).caught_up()
                await typed(place, "say-something")
                await place.sees(ANSWER)
                await frontend.until(Complete)
                assert [one.text for one in frontend.seen(UserMessage)] == ["say-something"]
                assert said(frontend) == ANSWER
            place.keys("C-c")
            await place.sees("over 0", "brkint", "extproc")
            assert place.is_as_found
