"""Who may decide what an agent does, end to end: the real CLI (offline), and the scripted agent as older versions.

Each test runs on both, in the same words: `setup.ask(command)` is a prompt that makes the agent ask for Bash.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_cli import hostile_cli

from live import AgentSetup, Frontend, real_setup, scripted_setup
from live import preloaded_running as running
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text, tool_use
from turnwire.client import CommandFailed, connect
from turnwire.client.events import (
    Complete,
    PermissionCancelled,
    PermissionRequest,
    PermissionResolved,
    Queued,
    ToolCall,
    ToolUpdate,
)
from turnwire.client.payloads import ModifyFilePayload
from turnwire_process import environment

LONG = pytest.mark.long
VERSIONS = ("real", *(pytest.param(older, marks=LONG) for older in ("1.0.120", "2.0.14", "2.1.101")))


def ask(command: str) -> str:
    """A prompt that makes the real CLI call Bash once, and say something after it."""
    return plan([tool_use("Bash", command=command, description="As told")], [text("That is all.")])


@pytest.fixture
def api() -> Iterator[ScriptedMessagesApi]:
    with scripted_messages_api() as running_api:
        yield running_api


@pytest.fixture(params=VERSIONS)
def setup(request: pytest.FixtureRequest, tmp_path: Path, api: ScriptedMessagesApi) -> AgentSetup:
    version = str(request.param)
    return real_setup(tmp_path, api, ask) if version == "real" else scripted_setup(tmp_path, version)


def final(frontend: Frontend) -> ToolUpdate:
    """The update that ended the last tool call."""
    return [update for update in frontend.seen(ToolUpdate) if update.tool_status != "running"][-1]


@pytest.mark.long
async def test_an_allowed_call_runs_and_says_who_allowed_it(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        assert request.tool_call_id == frontend.seen(ToolCall)[-1].tool_call_id
        assert request.action_type == "command"
        await frontend.respond(request)
        resolved = await frontend.until(PermissionResolved)
        assert (resolved.pending_id, resolved.behavior) == (request.pending_id, "allow")
        assert (await frontend.turn()).data.outcome == "completed"
        assert final(frontend).tool_status == "complete"
        assert (tmp_path / "project" / "made.txt").exists() is setup.real


async def test_always_is_not_asked_again(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        always = next(option for option in request.permission_options if option.kind == "allow_always")
        await frontend.respond(request, always.option_id)
        await frontend.turn()
        await frontend.turn(setup.ask("touch made.txt"))
        assert len(frontend.seen(PermissionRequest)) == 1
        assert final(frontend).tool_status == "complete"


BESIDE = """
    def ask(name, command, **more):
        rule = {"toolName": "Bash", "ruleContent": command}
        suggested = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
        asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}, "tool_use_id": name}
        asked = {**asked, "permission_suggestions": [suggested], **more}
        say(type="control_request", request_id=name, request=asked)

    ask("first", "npm test")
    ask("second", "npm test", agent_id="a-subagent")
    ask("third", "npm publish")
    told = {}
    while len(told) < 3:
        response = heard().get("response", {})
        told[response["request_id"]] = response["response"]["behavior"]
    open("told.json", "w").write(json.dumps(told))
    end()
"""


async def test_always_settles_what_waits_beside_it_and_nothing_else(tmp_path: Path) -> None:
    setup = AgentSetup(
        "beside", hostile_cli(tmp_path, BESIDE), environment(tmp_path / "home"), str, real=False
    )
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt("go")
        first, second, third = [await frontend.until(PermissionRequest) for _ in range(3)]
        await frontend.respond(first, "allow_always:session")
        settled = [await frontend.until(PermissionResolved) for _ in range(2)]
        assert [one.pending_id for one in settled] == [first.pending_id, second.pending_id]
        assert (settled[1].behavior, settled[1].by) == ("allow", "remembered")
        await frontend.respond(third, third.deny())
        await frontend.turn()
    told = json.loads((tmp_path / "project" / "told.json").read_text())
    assert told == {"first": "allow", "second": "allow", "third": "deny"}


@pytest.mark.long
async def test_a_write_over_a_file_asks_with_the_text_that_goes(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    place = tmp_path / "project" / "notes.txt"
    place.parent.mkdir()
    place.write_text("what goes\n")
    write = [tool_use("Write", file_path=str(place), content="what comes\n")]
    setup = real_setup(tmp_path, api, ask)
    async with running(tmp_path, setup) as (frontend, _):
        read = [tool_use("Read", file_path=str(place))]
        await frontend.prompt(plan(read, write, [text("Done.")]))
        request = await frontend.until(PermissionRequest)
        assert isinstance(request.normalized, ModifyFilePayload)
        [mutation] = request.normalized.modify_file.mutations
        assert (mutation.type, mutation.old_content) == ("overwrite", "what goes\n")
        assert "-what goes\n+what comes\n" in str(mutation.diff)
        [always] = [one for one in request.permission_options if one.kind == "allow_always"]
        assert "until this session ends: every edit of a file" in str(always.effect)
        await frontend.respond(request, request.allow_once())
        await frontend.turn()
        assert place.read_text() == "what comes\n"


@pytest.mark.long
async def test_a_fresh_session_with_the_rule_is_not_asked_either(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, ask)
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        await frontend.respond(request, "allow_always:localSettings")
        await frontend.turn()
        session = await frontend.client.create(workspace=str(tmp_path / "project"))
        fresh = Frontend(frontend.client, session)
        await fresh.turn(setup.ask("touch made.txt"))
        assert fresh.seen(PermissionRequest) == []
        assert final(fresh).tool_status == "complete"


@pytest.mark.long
async def test_edited_input_is_what_runs(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        assert request.tool_input is not None
        await frontend.respond(
            request, updated_input={**request.tool_input, "command": "touch edited.txt; echo edited.txt"}
        )
        await frontend.turn()
        assert "edited.txt" in str(final(frontend).normalized)
        assert (tmp_path / "project" / "edited.txt").exists() is setup.real
        assert not (tmp_path / "project" / "made.txt").exists()


@pytest.mark.long
async def test_the_model_sees_why_it_was_denied(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.respond(
            await frontend.until(PermissionRequest), "reject_once", message="Rather not that."
        )
        resolved = await frontend.until(PermissionResolved)
        assert resolved.behavior == "deny"
        assert (await frontend.turn()).data.outcome == "completed"
        assert final(frontend).tool_status == "error"
        assert final(frontend).reason == "denied"
        assert "That is all." in frontend.text()
        assert not (tmp_path / "project" / "made.txt").exists()
        if setup.real:
            assert "Rather not that." in json.dumps(api.requests[-1]["messages"])
        else:
            assert final(frontend).error == "Rather not that."


@pytest.mark.long
async def test_reject_and_stop_ends_the_turn(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.respond(await frontend.until(PermissionRequest), "reject_interrupt")
        complete = await frontend.turn()
        assert complete.data.outcome == "interrupted"
        assert "That is all." not in frontend.text()
        assert (await frontend.turn(setup.ask("touch made.txt"))).data.outcome == "completed"


@pytest.mark.long
async def test_an_interrupt_withdraws_what_is_pending(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        await frontend.client.interrupt(frontend.session)
        cancelled = await frontend.until(PermissionCancelled)
        assert cancelled.pending_id == request.pending_id
        assert (await frontend.turn()).data.outcome == "interrupted"
        with pytest.raises(CommandFailed):
            await frontend.respond(request)
        assert (await frontend.turn(setup.ask("touch made.txt"))).data.outcome == "completed"


@pytest.mark.long
async def test_of_two_frontends_that_answer_at_once_one_decides(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup) as (frontend, served), connect(served.url, name="second") as client:
        second = Frontend(client, frontend.session)
        await frontend.prompt(setup.ask("touch made.txt"))
        request = await frontend.until(PermissionRequest)
        assert (await second.until(PermissionRequest)).pending_id == request.pending_id
        answers = await asyncio.gather(
            frontend.respond(request), second.respond(request, "reject_once"), return_exceptions=True
        )
        refused = [answer for answer in answers if isinstance(answer, CommandFailed)]
        assert len(refused) == 1
        await frontend.turn()
        await second.until(Complete)
        assert len(second.seen(PermissionResolved)) == len(frontend.seen(PermissionResolved)) == 1


@pytest.mark.long
async def test_a_frontend_that_comes_later_gets_the_question_and_may_answer_it(
    tmp_path: Path, setup: AgentSetup
) -> None:
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.until(PermissionRequest)
        async with connect(served.url) as client:
            late = await Frontend(client, frontend.session).caught_up()
            (request,) = late.seen(PermissionRequest)
            assert late.seen(PermissionResolved) == []
            await late.respond(request)
            assert (await late.turn()).data.outcome == "completed"


@pytest.mark.long
async def test_a_time_limit_denies_and_stops(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup, TURNWIRE_PERMISSION_TIMEOUT_S="0.5") as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.until(PermissionRequest)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "interrupted"
        assert not (tmp_path / "project" / "made.txt").exists()
        (resolved,) = frontend.seen(PermissionResolved)
        assert resolved.by == "timeout"


@pytest.mark.long
async def test_a_pending_question_holds_up_neither_other_sessions_nor_an_interrupt(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.until(PermissionRequest)
        other = Frontend(frontend.client, await frontend.client.create(workspace=str(tmp_path)))
        assert (await other.turn("second")).data.outcome == "completed"
        await frontend.client.interrupt(frontend.session)
        assert (await frontend.turn()).data.outcome == "interrupted"


@pytest.mark.long
async def test_events_flow_for_a_minute_beside_a_pending_permission_and_an_interrupt_gets_through(
    tmp_path: Path,
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(setup.ask("touch made.txt"))
        await frontend.until(PermissionRequest)
        for number in range(6):
            prompt = await frontend.prompt(f"meanwhile {number}")
            await frontend.until(Queued, lambda event, prompt=prompt: event.prompt == prompt)  # type: ignore[misc]  # bound in the loop
            await asyncio.sleep(10)  # a human takes a minute: that is what is tested
        assert not frontend.seen(PermissionResolved)
        await frontend.client.interrupt(frontend.session)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "interrupted"
        (cancelled,) = frontend.seen(PermissionCancelled)
        assert cancelled.reason in {"cancelled", "interrupted"}
