"""`turnwire run` with the scripted agent: a whole turn over a real socket, and every way to start it wrongly."""

import asyncio
from pathlib import Path

import pytest

from preloaded import ran
from turnwire.client import Answer, Client, connect
from turnwire.client import events as ev
from turnwire.client.events import AgentEvent
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, TURNWIRE, environment
from turnwire_process import preloaded_turnwire as turnwire

TURN_S = 60.0


async def play(client: Client, session: str) -> list[AgentEvent]:
    """Follow a session until its first turn is complete, saying yes to everything."""
    seen: list[AgentEvent] = []
    async for received in client.follow(session):
        if not isinstance(received, EventFrame):
            continue
        event = received.event
        seen.append(event)
        if isinstance(event, ev.PermissionRequest):
            await client.respond(session, event.pending_id, event.permission_options[0].option_id)
        elif isinstance(event, ev.QuestionRequest):
            answers: dict[str, str | list[str]] = {
                asked.question: asked.options[0].label for asked in event.questions or []
            }
            await client.answer(session, event.pending_id, Answer(answers))
        elif isinstance(event, ev.Complete):
            break
    return seen


@pytest.mark.long
async def test_the_demo_plays_a_whole_turn(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo") as running, connect(running.url) as client:
        (session,) = [summary.session for summary in await client.sessions()]
        await client.prompt(session, "Make the greeting friendlier.")
        async with asyncio.timeout(DEADLINE):
            seen = await play(client, session)
    types = [event.type for event in seen]
    assert types.count("turn_started") == types.count("complete") == 1
    assert {
        "message_chunk",
        "reasoning",
        "tool_call",
        "tool_update",
        "permission_resolved",
        "agent_plan",
    } <= set(types)
    calls = [event.tool_call_id for event in seen if isinstance(event, ev.ToolCall)]
    ended = [
        event.tool_call_id
        for event in seen
        if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"
    ]
    assert sorted(calls) == sorted(ended)


@pytest.mark.parametrize(
    ("arguments", "says", "code"),
    [
        (["run", "--", "no-such-cli-anywhere"], "no-such-cli-anywhere", 1),
        (["run", "--", "false"], "false", 1),
        (["run", "--agent", "nobody"], "nobody", 1),
        (["run", "--agent", "demo", "--workspace", "/no/such/folder"], "/no/such/folder", 1),
        (["run", "--agent", "demo", "--port", "70000"], "--port", 2),
        (["run", "--agent", "demo", "--host", "192.0.2.1"], "192.0.2.1", 1),
        (["serve", "--config", "/no/such/file.toml"], "/no/such/file.toml", 2),
        (["serve", "--rules", "/no/such/rules.toml"], "/no/such/rules.toml", 1),
        (["replay", "/no/such/recording"], "/no/such/recording", 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_wrong_start_is_one_sentence_that_names_what_is_wrong(
    arguments: list[str], says: str, code: int, tmp_path: Path
) -> None:
    env = environment(tmp_path, TURNWIRE_PORT="0")
    result = ran(arguments, cwd=tmp_path, env=env)
    said = result.stderr.decode()
    assert result.returncode == code, said
    assert says in said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said


SILENT = """case "$*" in *--version*) echo '2.1.330 (Claude Code)';; *) exec sleep 1000;; esac"""
"""A program that says its version, and nothing else."""


async def test_an_agent_that_has_not_answered_yet_can_be_stopped_without_ending_the_sidecar(
    tmp_path: Path,
) -> None:
    async with (
        turnwire(tmp_path, "run", "--", "sh", "-c", SILENT, "sh") as running,
        connect(running.url) as client,
    ):
        await client.close_session(running.session)
        async with asyncio.timeout(DEADLINE):
            assert [summary.state for summary in await client.sessions()] == ["exited"]


@pytest.mark.long
async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    async with turnwire(tmp_path / "first", "run", "--agent", "demo") as first:
        port = first.base.rpartition(":")[2]
        second = await asyncio.create_subprocess_exec(
            *TURNWIRE,
            *("run", "--agent", "demo", "--port", port),
            env=environment(tmp_path / "second"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(DEADLINE):
            _, said = await second.communicate()
    assert second.returncode == 1
    assert f"port {port}" in said.decode()
    assert "--port" in said.decode()
