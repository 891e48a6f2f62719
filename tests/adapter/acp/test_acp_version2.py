"""Agents that speak version 2 of the protocol, and those that do not speak it well."""

import asyncio
from pathlib import Path

import pytest
from acp_stage import AcpStage

from turnwire.adapter.acp.handshake import Choice, read_conversation, read_facts, server_of
from turnwire.adapter.options import CommandOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize import events as ev
from turnwire.protocol.json_values import JsonObject


@pytest.fixture
def stage(tmp_path: Path) -> AcpStage:
    folder = tmp_path / "work"
    folder.mkdir()
    return AcpStage(folder.resolve())


async def test_turns_end_by_the_state_that_the_agent_tells(stage: AcpStage) -> None:
    async with stage.session("v2") as run:
        first, second = await asyncio.gather(run.session.prompt("text"), run.session.prompt("again"))
        await run.until(lambda: len(run.of(ev.Complete)) == 2)
        assert run.told[0]["params"]["capabilities"]["elicitation"] == {"form": {}, "url": {}}
        assert [event.data.prompts for event in run.of(ev.Complete)] == [[first], [second]]
        assert [event.text for event in run.of(ev.UserMessage)] == ["text", "again"]
        assert run.text == "Hello. again "
        # an agent that says that it works, and then that it does not, need not say why
        assert (await run.turn("unsaid")).data.outcome == "completed"
        assert (await run.turn("refuse")).error == "the model is not there"
        assert (await run.turn("text")).data.outcome == "completed"


async def test_leave_is_asked_about_a_subject_and_modes_are_options(stage: AcpStage) -> None:
    async with stage.session("v2") as run:
        await run.session.set_permission_mode("code")
        chosen = run.told[-1]["params"]
        assert (chosen["configId"], chosen["value"], chosen["type"]) == ("mode", "code", "id")
        await run.session.prompt("tool")
        asked = await run.asked()
        run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
        await run.until(lambda: run.of(ev.Complete))
        assert run.outcomes == ["completed"]
        assert [event.tool_status for event in run.of(ev.ToolUpdate)][-1] == "complete"


async def test_an_interrupt_ends_the_turn(stage: AcpStage) -> None:
    async with stage.session("v2") as run:
        await run.session.prompt("tool wait")
        await run.asked()
        await run.session.interrupt()
        assert run.outcomes == ["interrupted"]


@pytest.mark.parametrize("again", [True, False])
async def test_a_conversation_goes_on_and_is_told_again_where_that_is_wanted(
    stage: AcpStage, again: bool
) -> None:
    command = CommandOptions(resume="agent-session-1", replay_history=again)
    async with stage.session("v2", command=command) as run:
        await run.turn("text")
        (asked,) = [said for said in run.told if said["method"] == "session/resume"]
        assert ("replayFrom" in asked["params"]) is again
        old = [event.text for event in run.of(ev.UserMessage) if event.history]
        assert old == (["an old prompt"] if again else [])
        assert run.text == ("an old answer" if again else "") + "Hello. "


@pytest.mark.parametrize("way", ["v1-alone", "repeats"])
async def test_an_agent_that_speaks_version_1_alone_is_spoken_to_in_it(stage: AcpStage, way: str) -> None:
    async with stage.session(way) as run:
        assert (await run.turn("text")).data.outcome == "completed"
        assert run.session.capabilities.permission_modes == ("ask", "plan", "code")


async def test_version_1_is_offered_where_the_agent_may_use_our_files(stage: AcpStage) -> None:
    async with stage.session("v2", client_files="read") as run:
        with pytest.raises(RequestFailed, match="speaks version 2"):
            await asyncio.shield(run.session.initialized)
        assert run.told[0]["params"]["protocolVersion"] == 1


def test_what_an_agent_of_version_2_can_do() -> None:
    session: JsonObject = {"prompt": {"image": {}}, "mcp": {"stdio": {}, "http": {}}, "fork": {}}
    said: JsonObject = {
        "protocolVersion": 2,
        "info": {"name": "a", "version": "1"},
        "capabilities": {"session": session},
        "authMethods": [{"type": "agent", "methodId": "key", "name": ""}],
    }
    facts = read_facts(said)
    assert (facts.version, facts.resumes, facts.loads, facts.forks, facts.images) == (
        2,
        True,
        False,
        True,
        True,
    )
    assert (facts.mcp, facts.more_folders, facts.logins) == (frozenset({"stdio", "http"}), False, ("key",))
    assert read_facts({**said, "capabilities": {"session": None, "auth": {}}}).resumes is False


def test_options_and_servers_in_the_words_of_version_2() -> None:
    option = {"configId": "model", "category": "model", "options": [{"value": "a"}], "currentValue": "a"}
    models = read_conversation("s", {"configOptions": [option]}).models
    assert models == Choice("session/set_config_option", "value", ("a",), "a", "model", is_typed=True)
    server: JsonObject = {"command": "x"}
    assert server_of("n", server, is_typed=True)["type"] == "stdio"
    assert "type" not in server_of("n", server)
