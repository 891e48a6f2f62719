"""Agents that speak miriad or JSON-RPC, end to end: `turnwire run`, the hub, a frontend."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from live import AgentSetup, Frontend, kinds, scripted_setup
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire_process import DEADLINE
from turnwire_process import preloaded_turnwire as turnwire

SCRIPT = """
turns:
  - match: "^read"
    steps:
      - text: I'll read that file for you.
      - tool: read
        input: {filePath: /tmp/test.txt}
        result: Hello from test file!
        until: told
      - text: "The file contains: Hello from test file!"
  - match: "^hang"
    steps: [{text: Waiting.}, {hang: true}]
  - match: "^memory"
    steps: [{system: consolidation, fields: {entries_created: 2, entries_updated: 1}}, {text: Remembered.}]
  - match: "^fail"
    steps: [{fail: error_during_execution, errors: ["it broke"]}]
fallback:
  steps: [{text: "Heard {prompt}"}]
"""


def setup(folder: Path, dialect: str) -> AgentSetup:
    made = scripted_setup(folder, "2.1.330", SCRIPT)
    return AgentSetup(
        dialect, (*made.argv, "--dialect", dialect), made.env | {"TURNWIRE_DIALECT": dialect}, made.ask
    )


@asynccontextmanager
async def session(folder: Path, dialect: str) -> AsyncIterator[Frontend]:
    made = setup(folder, dialect)
    async with (
        turnwire(folder, "run", "--", *made.argv, env=made.env) as served,
        connect(served.url) as client,
    ):
        yield Frontend(client, client.known_sessions[-1].session)


@pytest.fixture(params=["miriad", "json_rpc"])
async def frontend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Frontend]:
    async with session(tmp_path, request.param) as running:
        yield running


async def heard(frontend: Frontend, count: int) -> None:
    """Ask the agent how many prompts wait: it answers once it has read what was written before, not only we have sent it."""
    status = await frontend.client.control(frontend.session, {"subtype": "status"})
    assert isinstance(status, dict)
    assert (status["running"], status["queued_messages"]) == (True, count)


@pytest.mark.long
async def test_a_session_with_queueing_and_injection(frontend: Frontend, tmp_path: Path) -> None:
    await frontend.prompt("read it")
    call = await frontend.until(ev.ToolCall)
    assert call.tool_name == "read"
    await frontend.prompt("one")
    await frontend.prompt("two")
    await heard(frontend, 2)
    (tmp_path / "told").touch()
    injected = await frontend.until(ev.Injected)
    complete = await frontend.until(ev.Complete)
    assert (injected.message_count, injected.content_length) == (2, len("one\n\ntwo"))
    assert complete.data.outcome == "completed"
    positions = [event.position for event in frontend.seen(ev.Queued) if event.position is not None]
    assert set(positions) == {1, 2}
    assert frontend.text() == (
        "I'll read that file for you.The file contains: Hello from test file!Heard while working: one\n\ntwo"
    )
    update = frontend.seen(ev.ToolUpdate)[-1]
    assert (update.tool_call_id, update.tool_status) == (call.tool_call_id, "complete")
    assert len(frontend.seen(ev.TurnStarted)) == 1
    assert (await frontend.turn("thanks")).data.outcome == "completed"
    assert frontend.text().endswith("Heard thanks")
    assert not {"unknown", "malformed"} & set(kinds(frontend.events))


async def test_an_interrupt_ends_the_turn_as_interrupted(frontend: Frontend) -> None:
    await frontend.prompt("hang")
    await frontend.until(ev.MessageChunk)
    await asyncio.wait_for(frontend.client.interrupt(frontend.session), DEADLINE)
    assert (await frontend.until(ev.Complete)).data.outcome == "interrupted"
    assert (await frontend.turn("again")).data.outcome == "completed"


async def test_an_error_ends_the_turn_as_one(frontend: Frontend) -> None:
    await frontend.prompt("fail")
    assert (await frontend.until(ev.Complete)).data.outcome == "error"


async def test_consolidation_is_told(frontend: Frontend) -> None:
    await frontend.turn("memory")
    assert [(event.entries_created, event.entries_updated) for event in frontend.seen(ev.Consolidation)] == [
        (2, 1)
    ]


async def test_status_is_asked_for_as_a_control_request(frontend: Frontend) -> None:
    await frontend.turn("hi")
    answer = await frontend.client.control(frontend.session, {"subtype": "status"})
    assert isinstance(answer, dict)
    assert (answer["running"], answer["queued_messages"]) == (False, 0)


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["miriad", "json_rpc"])
async def test_a_recorded_session_is_replayed_to_the_same_events(tmp_path: Path, dialect: str) -> None:
    made = setup(tmp_path, dialect)
    folder = tmp_path / "recordings"
    folder.mkdir()
    env = made.env | {"TURNWIRE_RECORD": "1", "TURNWIRE_RECORD_DIR": str(folder)}
    async with turnwire(tmp_path, "run", "--", *made.argv, env=env) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("read it")
        await frontend.until(ev.ToolCall)
        await frontend.prompt("one")
        await heard(frontend, 1)
        (tmp_path / "told").touch()
        await frontend.until(ev.Complete)
        await frontend.prompt("hang")
        await frontend.until(ev.MessageChunk)
        await frontend.client.interrupt(frontend.session)
        await frontend.until(ev.Complete)
        await frontend.turn("memory")
        live = [msgspec.json.encode(event) for event in frontend.events]
    (recording,) = folder.glob("raw-*")
    command = (sys.executable, "-m", "turnwire", "translate", str(recording))
    process = await asyncio.create_subprocess_exec(*command, env=made.env, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(DEADLINE):
        replayed, _ = await process.communicate()
    assert replayed.splitlines()[: len(live)] == live


async def test_what_such_an_agent_cannot_do_is_refused(tmp_path: Path) -> None:
    made = setup(tmp_path, "miriad")
    with pytest.raises(AssertionError, match="an agent that speaks miriad cannot do this"):
        async with turnwire(tmp_path, "run", "--policy", "supervised", "--", *made.argv, env=made.env):
            pass
