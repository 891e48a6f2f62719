"""Live sessions with an agent of the Agent Client Protocol: what a person can do with it, and what its misbehaviour looks like."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_stage import QUICK, AcpStage

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.mcp.mcp_host import HostedServer
from turnwire.adapter.options import CommandError, CommandOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.process.identity import members, start_time
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AnswerRefused, RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import Attachment
from turnwire.normalize import events as ev
from turnwire.protocol.json_values import JsonObject
from waiting import until

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def stage(tmp_path: Path) -> AcpStage:
    folder = tmp_path / "work"
    folder.mkdir()
    return AcpStage(folder.resolve())


async def test_a_prompt_is_answered_and_its_turn_has_one_end(stage: AcpStage) -> None:
    async with stage.session() as run:
        assert (await run.turn("text text")).data.outcome == "completed"
        assert (await run.turn("again")).data.outcome == "completed"
        assert run.text == "Hello. Hello. again "
        assert run.told[0]["params"]["protocolVersion"] == 2
        assert run.told[0]["params"]["clientCapabilities"]["fs"] == {
            "readTextFile": False,
            "writeTextFile": False,
        }
        assert run.told[1]["params"] == {"cwd": str(stage.workspace), "mcpServers": []}
        assert run.session.version == "1.2.3"


async def test_prompts_wait_here_and_one_at_a_time_is_said(stage: AcpStage) -> None:
    async with stage.session() as run:
        first = await run.session.prompt("tool")
        asked = await run.asked()
        second, third = await run.session.prompt("second"), await run.session.prompt("third")
        await run.until(lambda: len(run.of(ev.Queued)) == 2)
        queued = [(event.position, event.prompt, event.text) for event in run.of(ev.Queued)]
        assert queued == [(1, second, "second"), (2, third, "third")]
        assert await run.session.withdraw(third)
        assert not await run.session.withdraw(third)
        assert not await run.session.withdraw(first)
        assert len([said for said in run.told if said.get("method") == "session/prompt"]) == 1
        run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
        await run.until(lambda: len(run.of(ev.Complete)) == 2)
        assert [event.prompts for event in run.of(ev.TurnStarted)] == [[first], [second]]
        assert [event.prompt for event in run.of(ev.Withdrawn)] == [third]


@pytest.mark.parametrize(
    ("option", "outcome"),
    [("once", "allow"), ("always", "allow"), ("no", "deny")],
)
async def test_a_human_answers_with_one_of_the_agents_options(
    stage: AcpStage, option: str, outcome: str
) -> None:
    async with stage.session() as run:
        await run.session.prompt("tool")
        asked = await run.asked()
        with pytest.raises(AnswerRefused, match="option_id must be one of once, always, no"):
            run.session.answer(asked.pending_id, PermissionAnswer("maybe"), "anna")
        with pytest.raises(AnswerRefused, match="does not accept changed arguments"):
            run.session.answer(asked.pending_id, PermissionAnswer("once", updated_input={}), "anna")
        run.session.answer(asked.pending_id, PermissionAnswer(option), "anna")
        with pytest.raises(AnswerRefused, match="anna has already decided"):
            run.session.answer(asked.pending_id, PermissionAnswer("once"), "bert")
        await run.until(lambda: run.of(ev.Complete))
        assert [(event.behavior, event.by, event.option_id) for event in run.of(ev.PermissionResolved)] == [
            (outcome, "anna", option)
        ]
        assert f'"optionId": "{option}", "outcome": "selected"' in run.text


async def test_a_denial_that_stops_the_turn_cancels_it(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("tool wait")
        asked = await run.asked()
        run.session.answer(asked.pending_id, PermissionAnswer("no", interrupt=True), "anna")
        await run.until(lambda: run.of(ev.Complete))
        assert run.outcomes == ["interrupted"]


async def test_rules_and_policies_answer_in_the_agents_options_and_the_first_that_fits(
    stage: AcpStage,
) -> None:
    rules = read_rules([{"action": "deny", "tool": "Bash", "input": {"command": "touch *"}, "reason": "no"}])
    async with stage.session(rules=rules) as run:
        await run.turn("tool")
        assert [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)] == [("deny", "rule:1")]
        assert '"optionId": "no"' in run.text
    async with stage.session(policy="autonomous") as run:
        await run.turn("tool")
        assert [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)] == [
            ("allow", "policy:autonomous")
        ]
        assert '"optionId": "once"' in run.text


async def test_nobody_answers_in_time(stage: AcpStage) -> None:
    async with stage.session(answer_timeout=0.01) as run:
        await run.turn("tool")
        assert [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)] == [
            ("deny", "timeout")
        ]


async def test_an_interrupt_cancels_what_waits_for_a_human_and_ends_the_turn_once(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("leave-open tool wait")
        asked = await run.asked()
        await run.session.prompt("after")
        assert await run.session.interrupt() == {}
        await run.until(lambda: len(run.of(ev.Complete)) == 2)
        assert run.outcomes == ["interrupted", "completed"]
        assert [(event.pending_id, event.reason) for event in run.of(ev.PermissionCancelled)] == [
            (asked.pending_id, "interrupted")
        ]
        assert '"outcome": {"outcome": "cancelled"}' in run.text
        with pytest.raises(AnswerRefused, match="waits no more"):
            run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")


async def test_a_silence_is_told_and_so_is_its_end(stage: AcpStage) -> None:
    async with stage.session(stall_after=0.2) as run:
        await run.session.prompt("text wait")
        await until(lambda: run.notices)
        assert run.notices[0].code == "stalled"
        assert (run.notices[0].silent_ms or 0) >= 200
        await run.session.interrupt()
        await until(lambda: len(run.notices) > 1)
        assert run.notices[1].code == "spoke"  # an agent that is slow to speak at all has been told of, too


async def test_an_interrupt_with_nothing_to_stop_says_nothing(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.turn("text")
        assert await run.session.interrupt() == {}
        assert [said for said in run.told if said.get("method") == "session/cancel"] == []


async def test_a_prompt_for_now_stops_the_turn_and_goes_before_what_waits(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("tool wait")
        await run.asked()
        later = await run.session.prompt("later")
        now = await run.session.prompt("now", priority="now")
        await run.until(lambda: len(run.of(ev.Complete)) == 3)
        assert [event.prompts for event in run.of(ev.TurnStarted)][1:] == [[now], [later]]


async def test_an_agent_that_hears_no_interrupt_is_told_of_and_stopped_when_that_was_asked_for(
    stage: AcpStage,
) -> None:
    async with stage.session() as run:
        await run.session.prompt("text deaf")
        await run.until(lambda: run.text)
        with pytest.raises(RequestTimeout, match="session/cancel"):
            await run.session.interrupt(0.01)
        await run.session.interrupt(60, escalate_after=0.01)
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.outcomes in (["process_exited"], ["hung"])


async def test_a_prompt_for_now_that_cannot_stop_the_turn_is_not_said_later(stage: AcpStage) -> None:
    async with stage.session(control_deadline=0.01, stop=QUICK) as run:
        await run.session.prompt("text deaf")
        await run.until(lambda: run.text)
        with pytest.raises(RequestTimeout, match="session/cancel"):
            await run.session.prompt("now", priority="now", uuid="u-1")
        await run.until(lambda: run.of(ev.Withdrawn))
        assert [event.prompt for event in run.of(ev.Withdrawn)] == ["u-1"]


async def test_an_agent_that_is_stopped_while_it_begins_is_no_trouble(stage: AcpStage) -> None:
    async with stage.session("mute", stop=QUICK) as run:
        await run.until(lambda: run.told)
        await run.session.stop()
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.notices == []


async def test_modes_and_models_are_chosen_of_what_the_agent_has(stage: AcpStage) -> None:
    command = CommandOptions(model="large", permission_mode="code")
    async with stage.session(command=command) as run:
        await run.turn("text")
        await run.session.set_permission_mode("ask")
        await run.session.set_model("small")
        with pytest.raises(RequestFailed, match="no mode 'yolo'; it has: ask, plan, code"):
            await run.session.set_permission_mode("yolo")
        with pytest.raises(RequestFailed, match="no model 'huge'; it has: small, large"):
            await run.session.control({"subtype": "set_model", "model": "huge"})
        with pytest.raises(RequestFailed, match="no control request 'mcp_status'"):
            await run.session.control({"subtype": "mcp_status"})
        said = await run.session.control({"subtype": "_tester/echo", "a": 1})
        assert said == {"said": {"sessionId": "agent-session-1", "a": 1}}
        chosen = [said["params"] for said in run.told if str(said.get("method")).startswith("session/set")]
        assert [list(params.values())[1] for params in chosen] == ["code", "large", "ask", "small"]


async def test_what_an_agent_lets_nobody_choose_is_refused_in_words(stage: AcpStage) -> None:
    async with stage.session("options") as run:
        await run.turn("text")
        assert await run.session.control({"subtype": "interrupt"}) == {}
        assert await run.session.control({"subtype": "set_permission_mode", "mode": "code"}) == {}
        chosen = {"subtype": "set_config_option", "id": "effort", "value": "high"}
        assert await run.session.control(chosen) == {"configOptions": []}
        assert run.told[-1]["params"] == {
            "sessionId": "agent-session-1", "configId": "effort", "value": "high",
        }  # fmt: skip
        for odd, words in (
            ({"value": "huge"}, "no effort 'huge'; it has: low, high"),
            ({"id": "colour"}, "no option 'colour'; it has: effort"),
        ):
            with pytest.raises(RequestFailed, match=words):
                await run.session.control({**chosen, **odd})
        with pytest.raises(RequestFailed, match="no name for its default model; name a model"):
            await run.session.control({"subtype": "set_model", "model": None})
    async with stage.session("bare") as run:
        await run.turn("text")
        with pytest.raises(RequestFailed, match="agent's model cannot be chosen here"):
            await run.session.set_model("large")
        with pytest.raises(RequestFailed, match="the agent has no modes"):
            await run.session.set_permission_mode("plan")


async def test_the_policy_plan_begins_in_the_mode_for_plans_or_not_at_all(stage: AcpStage) -> None:
    async with stage.session(policy="plan") as run:
        await run.turn("text")
        assert run.told[2]["params"] == {"sessionId": "agent-session-1", "modeId": "plan"}
    async with stage.session("bare", policy="plan") as run:
        with pytest.raises(RequestFailed, match="needs a mode for plans"):
            await run.session.prompt("text")


async def test_images_go_as_blocks_and_other_files_as_links_to_the_workspace(stage: AcpStage) -> None:
    attachments = [Attachment(PNG, "a.png"), Attachment(b"notes", "notes.txt")]
    for ways, kinds in ((), ["image", "resource_link"]), (("bare",), ["resource_link", "resource_link"]):
        async with stage.session(*ways, name="s-1") as run:
            await run.session.prompt("look", attachments=attachments)
            await run.until(lambda run=run: run.of(ev.Complete))  # type: ignore[misc]
            blocks = run.told[2]["params"]["prompt"]
            assert [block["type"] for block in blocks] == ["text", *kinds]
            link = blocks[-1]
            assert (link["name"], link["size"]) == ("notes.txt", 5)
            assert Path(link["uri"].removeprefix("file://")).read_bytes() == b"notes"
            run.session.remove_attachments()


async def test_what_an_agent_can_do_is_known_once_it_has_said_so(stage: AcpStage) -> None:
    async with stage.session() as run:
        assert run.session.capabilities.names_modes
        await run.turn("text")
        can = run.session.capabilities
        assert (can.resumes, can.forks, can.models, can.images) == (True, False, True, True)
        assert can.permission_modes == ("ask", "plan", "code")
    async with stage.session("bare") as run:
        await run.turn("text")
        can = run.session.capabilities
        assert (can.resumes, can.models, can.images, can.permission_modes) == (False, False, False, ())


async def test_servers_of_the_session_are_handed_over_and_those_the_agent_cannot_reach_are_told_of(
    stage: AcpStage,
) -> None:
    servers = {
        "local": {"command": "tool", "args": ["-x"], "env": {"A": "b"}},
        "far": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {}},
    }
    hosted = {
        "here": HostedServer(command=("calc", "-y"), env={"C": "d"}),
        "ours": HostedServer(entry_point="json:loads"),
    }
    async with stage.session(command=CommandOptions(mcp_servers=servers), hosted_servers=hosted) as run:
        await run.turn("text")
        assert run.told[1]["params"]["mcpServers"] == [
            {"name": "local", "command": "tool", "args": ["-x"], "env": [{"name": "A", "value": "b"}]},
            {"name": "here", "command": "calc", "args": ["-y"], "env": [{"name": "C", "value": "d"}]},
        ]
        assert [(notice.code, notice.message.rpartition(" ")[2]) for notice in run.notices] == [
            ("mcp_failed", "far"),
            ("mcp_failed", "ours"),
        ]


@pytest.mark.parametrize(
    ("ways", "command", "words"),
    [
        ((), CommandOptions(resume="agent-session-1", fork=True), "cannot branch off a conversation"),
        (("nameless",), CommandOptions(), "answered session/new without a sessionId"),
    ],
)
async def test_a_conversation_that_an_agent_cannot_begin_is_refused_in_words(
    stage: AcpStage, ways: tuple[str, ...], command: CommandOptions, words: str
) -> None:
    async with stage.session(*ways, command=command) as run:
        with pytest.raises(RequestFailed, match=words):
            await run.session.prompt("text")


async def test_folders_beside_the_workspace_are_refused_where_the_agent_takes_none(stage: AcpStage) -> None:
    async with stage.session(command=CommandOptions(add_dirs=("/elsewhere",))) as run:
        with pytest.raises(
            RequestFailed, match="takes no folders other than the workspace; leave out add_dirs"
        ):
            await run.session.prompt("text")


async def test_a_conversation_goes_on_and_what_the_agent_tells_again_is_no_turn(stage: AcpStage) -> None:
    async with stage.session(command=CommandOptions(resume="agent-session-1")) as run:
        await run.turn("text")
        assert run.told[1]["method"] == "session/load"
        assert len(run.of(ev.TurnStarted)) == 1


async def test_a_mode_or_model_that_a_conversation_cannot_go_on_with_is_told_of(stage: AcpStage) -> None:
    command = CommandOptions(resume="agent-session-1", model="some-large-model", permission_mode="ask")
    async with stage.session(command=command) as run:
        await run.turn("text")
        assert [notice.code for notice in run.notices] == ["not_restored"]
        assert "no model 'some-large-model'" in run.notices[0].message
    async with stage.session(command=CommandOptions(model="some-large-model")) as run:
        with pytest.raises(RequestFailed, match="no model 'some-large-model'"):
            await run.session.prompt("text")


async def test_an_agent_that_cannot_go_on_with_a_conversation_is_told_of(stage: AcpStage) -> None:
    async with stage.session("bare", command=CommandOptions(resume="agent-session-1")) as run:
        with pytest.raises(RequestFailed, match="cannot go on with an earlier conversation"):
            await run.session.prompt("text")
        await run.until(lambda: run.of(ev.ProcessStatus))
    async with stage.session(command=CommandOptions(resume="lost")) as run:
        with pytest.raises(RequestFailed, match="refuses session/load: no session lost"):
            await run.session.prompt("text")


async def test_an_agent_that_wants_a_login_says_so_and_is_stopped(stage: AcpStage) -> None:
    async with stage.session("login") as run:
        with pytest.raises(RequestFailed, match=r"Tester needs a login first.*it offers: A key"):
            await run.session.prompt("text")
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert [notice.code for notice in run.notices] == ["initialize_failed"]
        with pytest.raises(RequestFailed, match="needs a login"):
            await run.session.prompt("again")


async def test_an_agent_that_never_answers_initialize_costs_its_deadline(stage: AcpStage) -> None:
    async with stage.session("mute", initialize_deadline=0.05) as run:
        with pytest.raises(RequestTimeout, match="did not answer initialize"):
            await run.session.prompt("text")
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert [notice.code for notice in run.notices] == ["initialize_failed"]


async def test_an_agent_of_another_version_is_told_of(stage: AcpStage) -> None:
    async with stage.session("v9") as run:
        with pytest.raises(RequestFailed, match="speaks version 9"):
            await run.session.prompt("text")


async def test_an_agent_that_is_gone_before_it_could_be_spoken_to_is_told_of(stage: AcpStage) -> None:
    async with stage.session(executable=("/bin/sh", "-c", "echo broken >&2; exit 3")) as run:
        with pytest.raises(ProcessGone, match="exited"):
            await run.session.prompt("text")
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.of(ev.ProcessStatus)[-1].exit_code == 3


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"command": CommandOptions(disallowed_tools=["Bash"])}, "disallowed_tools: .* cannot do this"),
        ({"command": CommandOptions(max_turns=3)}, "max_turns: .* cannot do this"),
        ({"command": CommandOptions(resume="x", resume_at="y")}, "cannot go back to a message"),
        ({"command": CommandOptions(continue_latest=True)}, "by its id only; give the id"),
        ({"executable": ()}, "no program to run"),
        ({"executable": ("a\0b",)}, "NUL"),
    ],
)
async def test_options_that_an_agent_cannot_be_told_are_refused_before_it_starts(
    stage: AcpStage, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        async with stage.session(**options):
            pass


async def test_a_turn_that_fails_has_an_end_that_says_why(stage: AcpStage) -> None:
    async with stage.session() as run:
        end = await run.turn("refuse")
        assert (end.data.outcome, end.data.is_error) == ("error", True)
        assert (await run.turn("text")).data.outcome == "completed"


async def test_an_agent_that_answers_twice_ends_its_turn_once(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.turn("twice")
        await run.turn("text")
        assert run.outcomes == ["completed", "completed"]


async def test_an_agent_that_dies_in_a_turn_ends_it_and_what_waits_is_taken_back(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("leave-open tool die")
        asked = await run.asked()
        waiting = await run.session.prompt("later")
        run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.outcomes == ["process_exited"]
        assert [event.prompt for event in run.of(ev.Withdrawn)] == [waiting]
        assert run.of(ev.ProcessStatus)[-1].signal == "SIGKILL"
        with pytest.raises(ProcessGone):
            await run.session.prompt("too late")


async def test_an_agent_that_dies_while_a_human_is_asked_takes_its_question_with_it(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("tool")
        asked = await run.asked()
        await run.session.stop("hung")
        await run.until(lambda: run.of(ev.ProcessStatus))
        with pytest.raises(AnswerRefused):
            run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")


async def test_garbage_costs_itself_and_the_turn_goes_on(stage: AcpStage) -> None:
    async with stage.session() as run:
        assert (await run.turn("garbage text")).data.outcome == "completed"
        assert run.text == "Hello. "


async def test_a_flood_is_read_to_its_end(stage: AcpStage) -> None:
    async with stage.session() as run:
        assert (await run.turn("flood")).data.outcome == "completed"
        assert len(run.text) == 20_000 * 50


async def test_a_request_that_comes_when_no_turn_runs_is_asked_and_answered_all_the_same(
    stage: AcpStage,
) -> None:
    async with stage.session() as run:
        await run.turn("late-ask")
        asked = await run.asked()
        assert not run.session.busy
        run.session.answer(asked.pending_id, PermissionAnswer("no"), "anna")
        await run.until(lambda: [said for said in run.told if "result" in said])
        assert run.told[-1]["result"] == {"outcome": {"outcome": "selected", "optionId": "no"}}


async def test_a_request_that_comes_after_an_interrupt_is_answered_as_cancelled(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("text until-cancelled tool wait")
        await run.until(lambda: run.text)
        await run.session.interrupt()
        await run.until(lambda: run.of(ev.Complete))
        assert '"outcome": {"outcome": "cancelled"}' in run.text
        assert run.outcomes == ["interrupted"]


async def test_an_agent_that_asks_without_end_is_refused_what_nobody_could_look_at(stage: AcpStage) -> None:
    async with stage.session(max_pending=5) as run:
        await run.session.prompt("ask-flood 50")
        await run.until(lambda: len(run.of(ev.PermissionResolved)) == 45)
        assert len(run.session.pending) == 5
        assert [notice.code for notice in run.notices] == ["too_many_requests"]
        for name in run.session.pending:
            run.session.answer(name, PermissionAnswer("once"), "anna")
        await run.until(lambda: run.of(ev.Complete))
        assert run.text == '[{"no": 45, "once": 5}]'


async def test_an_id_that_is_used_again_is_another_request(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("same-id")
        for number in (1, 2):
            asked = await run.asked(number)
            run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
        await run.until(lambda: run.of(ev.Complete))
        assert run.text.count('"optionId": "once"') == 2
        await run.session.prompt("same-id-at-once")
        for number, heard in ((3, "first"), (4, "second")):
            asked = await run.asked(number)
            run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
            await run.until(lambda heard=heard: heard in run.text)  # type: ignore[misc]
        await run.until(lambda: len(run.of(ev.Complete)) == 2)
        assert len({event.pending_id for event in run.of(ev.PermissionRequest)}) == 4


async def test_a_form_is_answered_by_a_human_declined_or_void(stage: AcpStage) -> None:
    form = json.dumps(
        {
            "mode": "form",
            "message": "Which?",
            "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        separators=(",", ":"),
    )
    async with stage.session() as run:
        for answer, told in (
            (QuestionAnswer(content={"a": "x"}), '{"action": "accept", "content": {"a": "x"}}'),
            (QuestionAnswer(action="decline"), '{"action": "decline"}'),
        ):
            before = len(run.of(ev.QuestionRequest))
            await run.session.prompt(f"ask elicitation/create {form}")
            await run.until(lambda before=before: len(run.of(ev.QuestionRequest)) > before)  # type: ignore[misc]
            run.session.answer(run.of(ev.QuestionRequest)[-1].pending_id, answer, "anna")
            await run.until(lambda told=told: told in run.text)  # type: ignore[misc]
        await run.until(lambda: len(run.of(ev.Complete)) == 2)
        await run.session.prompt(f"ask elicitation/create {form} wait")
        await run.until(lambda: len(run.of(ev.QuestionRequest)) == 3)
        await run.session.interrupt()
        assert '{"action": "cancel"}' in run.text


async def test_what_an_agent_asks_by_methods_of_its_own_is_answered_in_its_own_words(stage: AcpStage) -> None:
    questions = '{"questions":[{"question":"Which?","options":[{"label":"A"}]}]}'
    plan = '{"toolCallId":"c","planContent":"plan"}'
    async with stage.session() as run:
        for number, (answer, told) in enumerate(
            (
                (
                    QuestionAnswer(content={"Which?": "A"}),
                    '"answers": {"Which?": "A"}, "outcome": "accepted"',
                ),
                (QuestionAnswer(action="decline"), '{"outcome": "skip_interview"}'),
            ),
            1,
        ):
            await run.session.prompt(f"ask _x.ai/ask_user_question {questions}")
            await run.until(lambda number=number: len(run.of(ev.QuestionRequest)) == number)  # type: ignore[misc]
            run.session.answer(run.of(ev.QuestionRequest)[-1].pending_id, answer, "anna")
            await run.until(lambda told=told: told in run.text)  # type: ignore[misc]
        for number, (option, told) in enumerate((("approve", "approved"), ("reject", "abandoned")), 1):
            await run.session.prompt(f"ask _x.ai/exit_plan_mode {plan}")
            await run.until(lambda number=number: len(run.of(ev.PermissionRequest)) == number)  # type: ignore[misc]
            asked = run.of(ev.PermissionRequest)[-1]
            run.session.answer(asked.pending_id, PermissionAnswer(option), "anna")
            await run.until(lambda told=told: f'{{"outcome": "{told}"}}' in run.text)  # type: ignore[misc]
        await run.until(lambda: len(run.of(ev.Complete)) == 4)
        for method, asked_with in (("ask_user_question", questions), ("exit_plan_mode", plan)):
            await run.session.prompt(f"ask _x.ai/{method} {asked_with} wait")
            await run.until(lambda: run.session.busy and run.session.pending)
            await run.session.interrupt()
        assert '{"outcome": "cancelled"}' in run.text
        assert run.text.count('{"outcome": "abandoned"}') == 2


HOOK = """
import json, sys
asked = json.load(sys.stdin)
assert asked["hook_event_name"] == "PreToolUse" and asked["tool_input"]["command"] == "touch made.txt", asked
json.dump({"decision": sys.argv[1], "reason": "because"}, sys.stdout)
"""


@pytest.mark.parametrize(
    ("decisions", "behavior"),
    [(["allow"], "allow"), (["allow", "deny"], "deny"), (["ask", "allow"], None), (["fail"], "deny")],
)
async def test_hooks_are_run_before_leave_is_asked_and_the_strictest_counts(
    stage: AcpStage, decisions: list[str], behavior: str | None
) -> None:
    script = stage.workspace / "hook.py"
    script.write_text(HOOK)
    hooks = [
        HookSetting(
            event="PreToolUse",
            matcher="Bash|Edit",
            command=(sys.executable, "-I", str(script), *(() if decision == "fail" else (decision,))),
        )
        for decision in decisions
    ]
    others = [
        HookSetting(event="PreToolUse", matcher="Edit", command=("false",)),
        HookSetting(event="SubagentStop", url="http://127.0.0.1:1"),
    ]
    async with stage.session(hooks=[*hooks, *others]) as run:
        await run.session.prompt("tool")
        if behavior is None:
            asked = await run.asked()
            await run.until(lambda: run.session.pending)
            async with asyncio.timeout(60):
                while True:  # a hook runs first; who answers before is told that nothing waits yet
                    try:
                        run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
                        break
                    except AnswerRefused as refused:
                        assert refused.code == "unknown_request"  # noqa: PT017
                        await asyncio.sleep(0.01)
        await run.until(lambda: run.of(ev.Complete))
        resolved = run.of(ev.PermissionResolved)
        assert [event.behavior for event in resolved] == [behavior or "allow"]
        if behavior is not None:
            assert str(resolved[0].by).startswith("hook:PreToolUse")
        assert [notice.code for notice in run.notices if notice.code != "hook_failed"] == ["hooks_not_run"]


async def test_a_hook_allows_nothing_that_a_rule_denies(stage: AcpStage) -> None:
    script = stage.workspace / "hook.py"
    script.write_text(HOOK)
    rules = read_rules([{"action": "deny", "tool": "Bash"}])
    hook = HookSetting(event="PreToolUse", command=(sys.executable, "-I", str(script), "allow"))
    async with stage.session(hooks=[hook], rules=rules) as run:
        await run.turn("tool")
        assert [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)] == [("deny", "rule:1")]


ALLOW_ALONE = (
    'ask session/request_permission {"toolCall":{"toolCallId":"c","kind":"execute","title":"touch","rawInput":'
    '{"command":"touch\\u0020made.txt"}},"options":[{"optionId":"once","name":"Allow","kind":"allow_once"}]}'
)


def rule(action: str, command: str) -> JsonObject:
    return {"action": action, "tool": "Bash", "input": {"command": command}}


@pytest.mark.parametrize(
    ("rules", "decided"),
    [
        ([rule("deny", "touch one")], [("deny", "rule:1")]),
        ([rule("deny", "touch two")], [("deny", "rule:1")]),
        ([rule("allow", "touch one"), rule("allow", "touch two")], [("allow", "rule:2")]),
        ([rule("allow", "touch two"), rule("deny", "touch *")], [("deny", "rule:2")]),
        ([rule("allow", "touch one")], []),
        ([rule("allow", "touch two")], []),
        ([rule("ask", "touch one"), rule("allow", "touch *")], []),
    ],
)
async def test_what_is_asked_for_several_calls_at_once_is_judged_by_the_strictest_rule(
    stage: AcpStage, rules: list[JsonObject], decided: list[tuple[str, str]]
) -> None:
    async with stage.session("droid", rules=read_rules(rules)) as run:
        await run.session.prompt("both")
        if not decided:
            await run.until(lambda: run.session.pending)
            run.session.answer((await run.asked()).pending_id, PermissionAnswer("no"), "anna")
        await run.until(lambda: run.of(ev.Complete))
        asked = (run.of(ev.PermissionResolved) if decided else run.of(ev.PermissionRequest))[0]
        assert asked.permission_title == "2 calls: touch one, touch two"
        assert (asked.action_type, asked.action_details) == ("other", {"calls": ["touch one", "touch two"]})
        assert len(run.of(ev.PermissionRequest)) == (0 if decided else 1)
        assert [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)] == (
            decided or [("deny", "anna")]
        )
        ends = [event.reason for event in run.of(ev.ToolUpdate) if event.tool_status != "running"]
        assert ends == ([None, None] if ("allow", "rule:2") in decided else ["denied", "denied"])


async def test_a_title_names_the_first_of_many_calls_and_how_many_there_are(stage: AcpStage) -> None:
    async with stage.session("droid", policy="autonomous") as run:
        await run.turn("dozen")
        [asked] = run.of(ev.PermissionResolved)
        assert asked.permission_title is not None
        assert asked.permission_title.startswith("12 calls: touch 0, touch 1, ")
        assert asked.permission_title.endswith(", touch 8, 3 more")


async def test_an_agent_that_asks_for_each_call_is_asked_about_for_each(stage: AcpStage) -> None:
    async with stage.session(rules=read_rules([rule("deny", "touch one")]), policy="autonomous") as run:
        await run.turn("both")
        assert [event.permission_title for event in run.of(ev.PermissionResolved)] == ["touch two"]
        assert [event.by for event in run.of(ev.PermissionResolved)] == ["policy:autonomous"]


HOOK_OF_COMMANDS = """
import json, sys
says = json.loads(sys.argv[1])
command = json.load(sys.stdin)["tool_input"]["command"]
json.dump({"decision": says[command]} if command in says else {}, sys.stdout)
"""


@pytest.mark.parametrize(
    ("says", "behavior"),
    [
        ({"touch one": "deny", "touch two": "allow"}, "deny"),
        ({"touch one": "allow", "touch two": "allow"}, "allow"),
        ({"touch two": "allow"}, None),
        ({"touch one": "allow"}, None),
    ],
)
async def test_hooks_look_at_each_of_several_calls_that_are_asked_for_at_once(
    stage: AcpStage, says: dict[str, str], behavior: str | None
) -> None:
    script = stage.workspace / "hook.py"
    script.write_text(HOOK_OF_COMMANDS)
    command = (sys.executable, "-I", str(script), json.dumps(says))
    hook = HookSetting(event="PreToolUse", command=command)
    async with stage.session("droid", hooks=[hook], answer_timeout=0.1) as run:
        await run.turn("both")
        resolved = [(event.behavior, event.by) for event in run.of(ev.PermissionResolved)]
        assert resolved == ([("deny", "timeout")] if behavior is None else [(behavior, f"hook:{hook.name}")])


async def test_the_audit_trail_has_all_calls_of_a_request(stage: AcpStage, tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "audit.jsonl", "s-1")
    async with stage.session("droid", audit=trail, policy="autonomous") as run:
        await run.turn("both")
    trail.close()
    asked = json.loads((tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert asked["also"] == [{"tool": "Bash", "arguments": {"command": "touch one"}}]


@pytest.mark.parametrize("by", ["hook", "rule"])
async def test_a_denial_for_which_the_agent_has_no_option_cancels_its_request(
    stage: AcpStage, by: str
) -> None:
    script = stage.workspace / "hook.py"
    script.write_text(HOOK)
    hook = HookSetting(event="PreToolUse", command=(sys.executable, "-I", str(script), "deny"))
    rules = read_rules([{"action": "deny", "tool": "Bash"}])
    async with stage.session(**({"hooks": [hook]} if by == "hook" else {"rules": rules})) as run:
        await run.turn(ALLOW_ALONE)
        assert [event.behavior for event in run.of(ev.PermissionResolved)] == ["deny"]
        assert '"outcome": {"outcome": "cancelled"}' in run.text


async def test_the_audit_trail_has_what_a_hook_decided(stage: AcpStage, tmp_path: Path) -> None:
    script = stage.workspace / "hook.py"
    script.write_text(HOOK)
    hook = HookSetting(event="PreToolUse", command=(sys.executable, "-I", str(script), "allow"))
    trail = AuditTrail(tmp_path / "audit.jsonl", "s-1")
    async with stage.session(audit=trail, hooks=[hook]) as run:
        await run.turn("tool")
    trail.close()
    rows = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    # the hook is asked, and then the request is decided
    assert [row["what"] for row in rows] == ["asked", "decided"] * 2
    assert (rows[-1]["behavior"], rows[-1]["by"].partition(":")[0]) == ("allow", "hook")


async def test_the_audit_trail_has_what_was_asked_and_who_decided(stage: AcpStage, tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "audit.jsonl", "s-1")
    async with stage.session(audit=trail, policy="autonomous") as run:
        await run.turn("tool")
    trail.close()
    rows = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["what"] for row in rows] == ["asked", "decided"]
    assert rows[0]["request"]["toolCall"]["rawInput"] == {"command": "touch made.txt"}
    assert (rows[1]["behavior"], rows[1]["by"]) == ("allow", "policy:autonomous")


async def test_an_agent_that_closes_its_output_and_lives_is_ended(stage: AcpStage) -> None:
    async with stage.session(exit_deadline=0.05) as run:
        await run.session.prompt("text close")
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.outcomes == ["process_exited"]


async def test_methods_that_turnwire_does_not_have_are_refused(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.turn("unknown-request")
        assert '"code": -32601' in run.text
        await run.turn('ask fs/read_text_file {"path":"/etc/passwd"} ask terminal/create {"command":"ls"}')
        assert run.text.count('"code": -32601') == 3


async def test_files_of_the_workspace_alone_are_read_and_written_where_that_is_allowed(
    stage: AcpStage,
) -> None:
    inside = stage.workspace / "a.txt"
    inside.write_text("inside", encoding="utf-8")
    (stage.workspace / "out").symlink_to("/etc")
    async with stage.session(client_files="read") as run:
        assert run.session.options.client_files == "read"
        for path in (
            inside,
            "/etc/passwd",
            stage.workspace / "out/passwd",
            f"{stage.workspace}/../x",
            "a\\u0000",
        ):
            await run.turn(f'ask fs/read_text_file {{"path":"{path}"}}')
        assert run.text.count('"result": {"content": "inside"}') == 1
        assert run.text.count('"code": -32602') == 4
        await run.turn(f'ask fs/write_text_file {{"path":"{inside}","content":"x"}}')
        assert '"code": -32601' in run.text
        await run.turn(f'ask fs/read_text_file {{"path":"{inside}2"}} ask fs/read_text_file {{}}')
        assert '"code": -32002' in run.text
    async with stage.session(client_files="write") as run:
        await run.turn(f'ask fs/write_text_file {{"path":"{inside}","content":"written"}}')
        assert inside.read_text(encoding="utf-8") == "written"


async def test_rules_hold_for_files_and_commands_that_an_agent_has_us_read_write_and_run(
    stage: AcpStage,
) -> None:
    rules = read_rules(
        [
            {"action": "deny", "tool": "Edit", "input": {"file_path": "*.env"}, "reason": "secrets"},
            {"action": "ask", "tool": "Bash", "input": {"command": "rm *"}},
        ]
    )
    async with stage.session(rules=rules, client_files="write", client_terminals=True) as run:
        await run.turn(f'ask fs/write_text_file {{"path":"{stage.workspace}/a.env","content":"x"}}')
        await run.turn(
            'ask terminal/create {"command":"rm","args":["-rf","x"]} ask terminal/create {"command":"true"}'
        )
        assert run.text.count("turnwire's rules forbid this") == 2
        assert run.text.count("terminalId") == 1
        assert not (stage.workspace / "a.env").exists()


async def test_an_agent_that_has_us_wait_without_end_is_refused_more(stage: AcpStage) -> None:
    async with stage.session(client_terminals=True, max_pending=2, stop=QUICK) as run:
        await run.session.prompt("wait-flood 5")
        await run.until(lambda: run.text.count("2 requests wait already") == 3)
        assert [notice.code for notice in run.notices] == ["too_many_requests"]
        await run.session.stop()
        await run.until(lambda: run.of(ev.ProcessStatus))


async def test_a_terminal_ends_with_its_session_and_does_not_hold_up_the_agents_end(stage: AcpStage) -> None:
    async with stage.session(client_terminals=True) as run:
        line = "echo $$ >told; mv told pid; exec sleep 600".replace(" ", "\\u0020")
        await run.turn(f'ask terminal/create {{"command":"sh","args":["-c","{line}"]}}')
        await until((stage.workspace / "pid").exists)
        terminal = int((stage.workspace / "pid").read_text())
        # whoever carries the agent's mark is waited for once the agent has exited
        assert members([run.session.identity]) == [run.session.identity.pid]
    assert start_time(terminal) is None


async def test_what_a_request_needs_and_does_not_say_is_named(stage: AcpStage) -> None:
    async with stage.session(client_files="write", client_terminals=True) as run:
        await run.turn(
            'ask fs/write_text_file {"path":"a.txt"} ask terminal/create {} ask terminal/output {"terminalId":"none"}'
        )
        assert run.text.count('"code": -32602') == 3
        assert "fs/write_text_file needs content" in run.text


async def test_a_request_that_is_nested_too_deep_is_refused_under_its_number(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.turn("deep-ask")
        assert '"code": -32600' in run.text


@pytest.mark.long
async def test_terminals_run_where_they_are_allowed(stage: AcpStage) -> None:
    async with stage.session(client_terminals=True) as run:
        await run.turn(
            'ask terminal/create {"command":"echo","args":["hi"]} ask terminal/wait_for_exit {"terminalId":"terminal-1"} '
            'ask terminal/output {"terminalId":"terminal-1"} ask terminal/create {"command":"sleep","args":["600"]}'
        )
        assert '"output": "hi\\n"' in run.text


async def test_a_session_stops_in_the_middle_of_a_turn_and_nothing_is_left(stage: AcpStage) -> None:
    async with stage.session() as run:
        await run.session.prompt("tool wait")
        await run.asked()
        await run.session.stop()
        await run.until(lambda: run.of(ev.ProcessStatus))
        assert run.outcomes == ["interrupted"]


async def test_many_prompts_at_once_keep_their_order(stage: AcpStage) -> None:
    async with stage.session() as run:
        names = [f"p{number}" for number in range(20)]
        await asyncio.gather(*(run.session.prompt(name) for name in names))
        await run.until(lambda: len(run.of(ev.Complete)) == 20)
        assert run.text.split() == names


async def test_a_request_that_only_tells_is_answered_and_told(stage: AcpStage) -> None:
    async with stage.session() as run:
        assert (await run.turn("cursor-task")).data.outcome == "completed"
        (call,) = run.of(ev.ToolCall)
        assert (call.tool_name, call.normalized.kind) == ("task", "subagent_task")
        assert {"jsonrpc": "2.0", "id": 0, "result": {}} in run.told
