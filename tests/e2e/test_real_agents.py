"""Real agents other than Claude Code through `turnwire run`, offline: the same things, done in each one's own way."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from real_agents import GEMINI, OPENCODE, QWEN, RealAgent
from scripted_models import Say, ScriptedModels, Wait, scripted_models

from live import Frontend, in_sandbox
from turnwire.client import commands, connect
from turnwire.client.events import (
    Complete,
    MessageChunk,
    PermissionRequest,
    SessionInfo,
    ToolUpdate,
    UserMessage,
)
from turnwire.config.known_agents import KNOWN
from turnwire_process import environment, turnwire

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 240.0
"""Seconds until a step counts as hanging: these agents take long to start, and have the machine for themselves nowhere."""


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with scripted_models() as served:
        yield served


@asynccontextmanager
async def running(
    folder: Path, agent: RealAgent, models: ScriptedModels, *more: str, sandboxed: bool = False
) -> AsyncIterator[Frontend]:
    """`turnwire run --agent NAME` with the agent's own settings, and a frontend of its session."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    env = environment(folder / "home", **in_sandbox(models.url))
    said = f"command = {json.dumps(agent.command())}\nfamily = {json.dumps(KNOWN[agent.name].family)}"
    given = "".join(
        f"{name} = {json.dumps(value)}\n"
        for name, value in agent.prepare(folder / "home", models.url).items()
    )
    address = models.url.removeprefix("http://").partition("/")[0]
    held = f'sandbox = "network"\nsandbox_hosts = ["{address}"]\n' if sandboxed else ""
    (folder / "turnwire.toml").write_text(
        f"{held}[agents.{agent.name}]\n{said}\n[agents.{agent.name}.env]\n{given}"
    )
    options = ("run", "--agent", agent.name, "--workspace", str(project), *more)
    async with turnwire(folder, *options, env=env) as served, connect(served.url) as client:
        yield Frontend(client, client.known_sessions[-1].session, PATIENCE)


def of_kind(frontend: Frontend, kind: str) -> list[ToolUpdate]:
    """The ends of calls of a kind."""
    return [
        update
        for update in frontend.seen(ToolUpdate)
        if update.tool_status != "running"
        and update.normalized is not None
        and update.normalized.kind == kind
    ]


def own_session(frontend: Frontend) -> str | None:
    """The agent's own id of the session, as it was told last."""
    return next((info.session_id for info in reversed(frontend.seen(SessionInfo)) if info.session_id), None)


async def test_a_conversation_of_opencodes_database_is_listed_and_gone_on_with(
    models: ScriptedModels, tmp_path: Path
) -> None:
    async with running(tmp_path, OPENCODE, models) as frontend:
        models.answers.append([Say("The violet window is shut.")])
        await frontend.turn("What of the window?")
        conversation = own_session(frontend)
    listing = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "turnwire", "sessions", "--agent", "opencode", "--json", "--config", str(tmp_path / "turnwire.toml"),
        env=environment(tmp_path / "home"), cwd=tmp_path / "project", stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        told, _ = await listing.communicate()
    (one,) = [json.loads(line) for line in told.splitlines()]
    assert (one["id"], one["agent"], one["folder"]) == (conversation, "opencode", str(tmp_path / "project"))
    async with running(tmp_path, OPENCODE, models, "--resume", one["id"]) as frontend:
        await frontend.until(Complete)  # of the past
        models.answers.append([Say("It is open.")])
        await frontend.turn("And the door?")
        said = [message.text for message in frontend.seen(UserMessage)]
        assert said == ["What of the window?", "And the door?"]
        assert "The violet window is shut." in json.dumps(models.requests[-1])
        assert frontend.text() == "The violet window is shut.It is open."


@pytest.mark.parametrize("agent", [GEMINI, OPENCODE, QWEN], ids=lambda agent: agent.name)
async def test_leave_edits_commands_interrupts_and_resuming(
    agent: RealAgent, models: ScriptedModels, tmp_path: Path
) -> None:
    await _whole_session(agent, models, tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")
@pytest.mark.parametrize("agent", [GEMINI, QWEN], ids=lambda agent: agent.name)
async def test_an_edit_and_a_command_in_a_sandbox(
    agent: RealAgent, models: ScriptedModels, tmp_path: Path
) -> None:
    await _whole_session(agent, models, tmp_path, sandboxed=True)


async def _whole_session(
    agent: RealAgent, models: ScriptedModels, tmp_path: Path, *, sandboxed: bool = False
) -> None:
    made = tmp_path / "project" / "made.txt"
    async with running(tmp_path, agent, models, sandboxed=sandboxed) as frontend:
        # leave is asked for an edit and a command, each is allowed, and both are done
        models.answers.extend([
            [Say("I write it."), agent.write(made, "one\n")],
            [agent.shell("echo from-the-shell > out.txt; cat out.txt")],
            [Say("Both are done.")],
        ])  # fmt: skip
        done = await frontend.turn("Remember the number 4711.")
        assert done.data.outcome == "completed", done
        assert "I write it." in frontend.text()
        assert frontend.text().endswith("Both are done.")
        assert made.read_text() == "one\n"
        assert [request.action_type for request in frontend.seen(PermissionRequest)] == [
            "file_write",
            "command",
        ]
        (edit,) = of_kind(frontend, "modify_file")
        assert edit.tool_status == "complete"
        (command,) = of_kind(frontend, "shell_exec")
        assert command.tool_status == "complete"
        assert "from-the-shell" in json.dumps(models.requests[2]), "the model has the command's output"

        if sandboxed:
            return  # what follows is the agent's own, in a sandbox or not

        # what is refused is not done, and the session goes on whatever the agent makes of it
        refused = tmp_path / "project" / "refused.txt"
        models.answers.extend([[agent.write(refused, "no")], [Say("Then not.")]])
        await frontend.prompt("Write another.")
        request = await frontend.until(PermissionRequest)
        reject = next(option for option in request.permission_options if option.kind == "reject_once")
        await frontend.respond(request, reject.option_id)
        await frontend.until(Complete)
        assert not refused.exists()
        models.answers.clear()

        # an interrupt ends the turn in the middle of an answer
        models.answers.append([Say("This will take long"), Wait()])
        await frontend.prompt("Talk.")
        await frontend.until(MessageChunk, lambda chunk: "This will" in chunk.text)
        await frontend.client.interrupt(frontend.session)
        assert (await frontend.until(Complete)).data.outcome == "interrupted"

        # another process goes on with the conversation
        first = own_session(frontend)
        await frontend.client.close_session(frontend.session)
        agent.age(tmp_path / "home")
        await frontend.client.resume(frontend.session)
        models.answers.append([Say("It was 4711.")])
        before = len(models.requests)
        assert (await frontend.turn("Which number?")).data.outcome == "completed"
        assert "It was 4711." in frontend.text()
        assert "Remember the number 4711." in json.dumps(models.requests[before])
        assert own_session(frontend) == first
        assert first is not None
        await _kept(frontend, models, agent, tmp_path / "home", first)


async def _kept(
    frontend: Frontend, models: ScriptedModels, agent: RealAgent, home: Path, conversation: str
) -> None:
    """What the agent has kept itself is the conversation that was heard, and another session goes on with it."""
    await frontend.client.close_session(frontend.session)
    agent.age(home)
    (listed,) = (await asked(frontend, commands.LibraryList()))["conversations"]
    assert (listed["id"], listed["agent"], listed["session"]) == (conversation, agent.name, frontend.session)
    opened = (await asked(frontend, commands.SessionCreate(resume=conversation)))["session"]
    read = await Frontend(frontend.client, opened, PATIENCE).caught_up()
    assert [one.text for one in read.seen(UserMessage)] == [one.text for one in frontend.seen(UserMessage)]
    for said in ("I write it.", "Both are done.", "It was 4711."):
        assert said in frontend.text()
        assert said in read.text()
    # OpenCode ends a turn with a refusal
    assert ("Then not." in read.text()) is (agent is not OPENCODE)
    (edit,) = of_kind(read, "modify_file")[:1]
    assert edit.tool_status == "complete"
    (command,) = of_kind(read, "shell_exec")
    assert command.tool_status == "complete"
    assert "from-the-shell" in json.dumps(to_builtins(command.normalized))
    models.answers.append([Say("Still 4711.")])
    before = len(models.requests)
    done = await read.turn("Once more?")
    assert done.operation_id == f"turn-{len(frontend.seen(Complete)) + 1}"
    assert "Remember the number 4711." in json.dumps(models.requests[before])


async def asked(frontend: Frontend, command: commands.AnyCommand) -> dict[str, Any]:
    """The result of a command."""
    result: dict[str, Any] = msgspec.to_builtins(await frontend.client.command(command))
    return result
