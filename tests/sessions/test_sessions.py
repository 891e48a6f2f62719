"""Many sessions in one sidecar: created, listed, resumed, forked, retried, closed and forgotten; and found again."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from turnwire.adapter.process.identity import start_time
from turnwire.client import BEGINNING, Client, CommandFailed, connect
from turnwire.client import events as ev
from turnwire.client.events import AgentEvent
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire

ECHO = """
version: 2.1.330
turns:
  - match: "^wait"
    steps:
      - text: "waiting"
      - wait: 60
  - match: "^die"
    steps:
      - text: "dying"
      - crash: 3
  - steps:
      - text: "echo: {prompt}"
"""


@asynccontextmanager
async def serving(folder: Path, *, settings: str = "") -> AsyncIterator[tuple[Served, Client]]:
    """`turnwire serve` with an agent that says back what it is told."""
    script = folder / "echo.yaml"
    script.write_text(ECHO)
    config = folder / "turnwire.toml"
    agent = json.dumps([sys.executable, "-m", "turnwire.scripted_agent", str(script)])
    config.write_text(f"{settings}\n[agents]\necho = {agent}\n")
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    async with turnwire(folder, "serve", "--agent", "echo", env=env) as served, connect(served.url) as client:
        yield served, client


async def until(client: Client, session: str, kind: type[AgentEvent], count: int = 1) -> list[AgentEvent]:
    """Follow from the beginning until the count-th event of a kind."""
    seen: list[AgentEvent] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame):
                seen.append(frame.event)
                if sum(isinstance(event, kind) for event in seen) == count:
                    return seen
    raise AssertionError("the log ended")


def texts(seen: list[AgentEvent]) -> str:
    return "".join(event.text for event in seen if isinstance(event, ev.MessageChunk))


@pytest.mark.long
async def test_sessions_run_side_by_side_and_each_has_its_own_log(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        names = [await client.create(workspace=str(tmp_path)) for _ in range(5)]
        for number, name in enumerate(names):
            await client.prompt(name, f"number {number}")
        for number, name in enumerate(names):
            assert f"echo: number {number}" in texts(await until(client, name, ev.Complete))
        assert sorted(summary.session for summary in await client.sessions()) == sorted(names)


@pytest.mark.long
async def test_a_session_of_a_killed_sidecar_is_listed_closed_and_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as (served, client):
        session = await client.create(workspace=str(tmp_path))
        await client.prompt(session, "first")
        await until(client, session, ev.Complete)
        await client.prompt(session, "wait for the kill")
        seen = await until(client, session, ev.TurnStarted, 2)
        (pid,) = [event.pid for event in seen if isinstance(event, ev.ProcessStatus)]
        await served.kill()
    assert pid is not None
    async with serving(tmp_path) as (_, client):
        (summary,) = await client.sessions()
        assert (summary.session, summary.state) == (session, "exited")
        seen = await until(client, session, ev.Complete, 2)
        outcomes = [event.data.outcome for event in seen if isinstance(event, ev.Complete)]
        assert outcomes == ["completed", "process_exited"]
        assert start_time(pid) is None
        await client.prompt(session, "again")
        seen = await until(client, session, ev.Complete, 3)
    assert "echo: again" in texts(seen)
    turns = [event.operation_id for event in seen if isinstance(event, ev.TurnStarted)]
    assert turns == ["turn-1", "turn-2", "turn-3"]


async def test_a_cli_that_dies_ends_its_turn_and_the_next_prompt_starts_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        session = await client.create(workspace=str(tmp_path))
        await client.prompt(session, "die now")
        seen = await until(client, session, ev.ProcessStatus, 2)
        (complete,) = [event for event in seen if isinstance(event, ev.Complete)]
        assert (complete.data.outcome, complete.data.exit_code) == ("process_exited", 3)
        await client.prompt(session, "still there?")
        assert "echo: still there?" in texts(await until(client, session, ev.Complete, 2))


@pytest.mark.long
async def test_a_retry_says_the_last_prompt_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        session = await client.create(workspace=str(tmp_path))
        await client.prompt(session, "die at once")
        await until(client, session, ev.ProcessStatus, 2)
        await client.retry(session)
        seen = await until(client, session, ev.Complete, 2)
        assert [event.text for event in seen if isinstance(event, ev.UserMessage)] == ["die at once"] * 2


@pytest.mark.long
async def test_a_fork_goes_on_under_a_session_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        session = await client.create(workspace=str(tmp_path))
        with pytest.raises(CommandFailed, match="nothing_to_resume"):
            await client.fork(session)
        await client.prompt(session, "root")
        await until(client, session, ev.Complete)
        branch = await client.fork(session)
        await client.prompt(branch, "leaf")
        seen = texts(await until(client, branch, ev.Complete, 2))
        assert seen.index("echo: root") < seen.index("echo: leaf")
        assert branch != session


async def test_what_cannot_be_done_is_refused_by_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        session = await client.create(workspace=str(tmp_path))
        for code, attempt in [
            ("unknown_session", client.prompt("nobody", "hello")),
            ("invalid_params", client.prompt(session, "  ")),
            ("invalid_params", client.create(workspace="/no/such/folder")),
            ("cannot_start", client.create(workspace=str(tmp_path), agent="nobody")),
            ("running", client.resume(session)),
            ("nothing_to_retry", client.retry(session)),
            ("unknown_request", client.respond(session, "no such request", "allow_once")),
        ]:
            with pytest.raises(CommandFailed) as refused:
                await attempt
            assert refused.value.code == code
        await client.prompt(session, "all the same")
        assert "echo: all the same" in texts(await until(client, session, ev.Complete))


@pytest.mark.long
async def test_limits_refuse_with_the_setting_to_raise(tmp_path: Path) -> None:
    async with serving(tmp_path, settings="max_sessions = 2\nmax_processes = 1\n") as (_, client):
        first = await client.create(workspace=str(tmp_path))
        with pytest.raises(CommandFailed, match="max_processes"):
            await client.create(workspace=str(tmp_path))
        await client.close_session(first)
        second = await client.create(workspace=str(tmp_path))
        with pytest.raises(CommandFailed, match="max_sessions"):
            await client.create(workspace=str(tmp_path))
        await client.delete_session(first)
        assert [summary.session for summary in await client.sessions()] == [second]


@pytest.mark.long
async def test_a_forgotten_session_stays_forgotten_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client):
        kept, gone = [await client.create(workspace=str(tmp_path)) for _ in range(2)]
        await client.delete_session(gone)
    async with serving(tmp_path) as (_, client):
        assert [summary.session for summary in await client.sessions()] == [kept]
