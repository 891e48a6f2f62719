"""`turnwire attach --native` of agents other than Claude Code: into the real interface in a terminal, and back, offline."""

import json
from pathlib import Path

import pytest
from real_agents import OPENCODE, QWEN, RealAgent
from scripted_models import Say, scripted_models
from tmux import Terminal, terminal

from live import Frontend
from turnwire.client import commands, connect
from turnwire.client.events import Complete, MessageChunk, TurnStarted, UserMessage
from turnwire_process import TURNWIRE, environment, turnwire
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 240.0


async def typed(place: Terminal, prompt: str) -> None:
    """Type a prompt, and Enter once the interface shows all of it."""
    place.say(prompt)
    await until(lambda: place.text().count(prompt) == 1, 60)
    place.keys("Enter")


@pytest.mark.parametrize("agent", [QWEN, OPENCODE], ids=lambda agent: agent.name)
async def test_a_conversation_goes_into_the_interface_and_back(tmp_path: Path, agent: RealAgent) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_models() as models:
        given = agent.prepare(tmp_path / "home", models.url)
        program, *rest = agent.command()
        (tmp_path / "bin").mkdir()
        named = tmp_path / "bin" / agent.name
        named.write_text(
            f'#!/bin/sh\nexec {" ".join([program, *(one for one in rest if "/" in one)])} "$@"\n'
        )
        named.chmod(0o755)
        words = [str(named), *(one for one in rest if "/" not in one)]
        (tmp_path / "turnwire.toml").write_text(
            f'agent = "{agent.name}"\n[agents.{agent.name}]\ncommand = {json.dumps(words)}\n[agents.{agent.name}.env]\n'
            + "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
        )
        env = environment(tmp_path / "home", **given)
        attach = " ".join([*TURNWIRE, "attach", "--native", "--state-dir", str(tmp_path / "state")])
        run = ("run", "--workspace", str(project))
        async with turnwire(tmp_path, *run, env=env) as served, connect(served.url) as client:
            frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
            models.answers.append([Say("headless-one")])
            await frontend.prompt("first-prompt")
            await frontend.until(Complete)
            async with terminal(tmp_path, attach, "one", env, width=120, height=40) as place:
                await place.sees("headless-one")
                models.answers.append([Say("interface-two")])
                await typed(place, "second-prompt")
                await place.sees("interface-two")
                while "interface-two" not in frontend.text():
                    await frontend.next()
                await client.command(commands.NativeTakeBack(session=frontend.session, now=True))
                await place.sees("over", "brkint", "extproc")
                assert place.is_as_found
            await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 2)
            await until(lambda: client.known_sessions[0].in_terminal is None, 60)
            models.answers.append([Say("headless-three")])
            await frontend.prompt("third-prompt")
            await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 3)
            assert "".join(one.text for one in frontend.seen(MessageChunk)) == (
                "headless-oneinterface-twoheadless-three"
            )
            assert [one.text for one in frontend.seen(UserMessage)] == [
                "first-prompt",
                "second-prompt",
                "third-prompt",
            ]
            assert len(frontend.seen(TurnStarted)) == 3
            # the agent knows all of it
            assert "interface-two" in json.dumps(models.requests[-1])
