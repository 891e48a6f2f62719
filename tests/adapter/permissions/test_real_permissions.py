"""Permissions on the real CLI, offline: what is decided is what happens, and the model is told."""

import json

import pytest
from session_harness import RealCliHarness, SessionHarness, always

from scripted_messages_api import plan, text, tool_use
from turnwire.adapter.claude.session import ClaudeSession
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.session.agent import AnswerRefused
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, Complete, PermissionResolved
from turnwire.normalize.inputs import Decision, Sent
from turnwire.protocol.claude.control import ControlCancelRequest, ControlResponse
from turnwire.protocol.claude.requests import AnyRequest, CanUseTool


def bash(*commands: str) -> str:
    """A prompt that makes the agent run commands, one after another."""
    calls = [[tool_use("Bash", command=command, description="as told")] for command in commands]
    return plan(*calls, [text("Done.")])


@pytest.mark.long
async def test_an_allowed_command_runs(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once")) as harness:
        result = await harness.turn(bash("echo made > made.txt"))
        [(request_id, _)] = harness.asked(CanUseTool)
        [decision] = harness.decisions
    assert (decision.pending_id, decision.behavior, decision.by) == (request_id, "allow", "ada")
    assert (cli_harness.workspace / "made.txt").read_text() == "made\n"
    assert result.subtype == "success"


@pytest.mark.long
async def test_the_decision_comes_before_its_response(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once")) as harness:
        await harness.turn(bash("touch a"))
        [decision] = harness.decisions
        order = [
            one
            for one in harness.inputs
            if one is decision or (isinstance(one, Sent) and isinstance(one.message, ControlResponse))
        ]
        assert [type(one) for one in order] == [Decision, Sent]


@pytest.mark.long
async def test_an_always_asks_no_more_in_this_session_and_in_a_fresh_one(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_always:localSettings")) as harness:
        await harness.turn(bash("touch always.txt", "touch always.txt"))
        assert len(harness.asked(CanUseTool)) == 1
        assert harness.decisions[0].destination == "localSettings"
    async with cli_harness.harness() as harness:
        await harness.turn(bash("touch always.txt"))
        assert harness.asked(CanUseTool) == []


@pytest.mark.long
async def test_an_edited_command_is_the_one_that_runs(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(
        always("allow_once", updated_input={"command": "touch edited.txt"})
    ) as harness:
        await harness.turn(bash("touch original.txt"))
    assert [path.name for path in cli_harness.workspace.iterdir()] == ["edited.txt"]


async def test_the_model_reads_why_a_call_was_denied(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("reject_once", message="Not in this house.")) as harness:
        await harness.turn(bash("touch denied.txt"))
        assert "Not in this house." in cli_harness.tool_results()[-1]
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_a_denial_with_interrupt_ends_the_turn(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("reject_interrupt")) as harness:
        result = await harness.turn(bash("touch denied.txt"))
        assert result.subtype == "error_during_execution"
        assert harness.decisions[0].interrupt
        assert (await harness.turn(plan([text("Still here.")]))).subtype == "success"
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_an_interrupt_cancels_what_waits_and_a_late_answer_is_refused(
    cli_harness: RealCliHarness,
) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt(bash("touch late.txt"))
        await harness.until(lambda: harness.session.pending)
        [request_id] = harness.session.pending
        await harness.session.interrupt()
        await harness.until(lambda: harness.results)
        assert harness.session.pending == ()
        assert any(
            isinstance(m, ControlCancelRequest) and m.request_id == request_id for m in harness.messages
        )
        with pytest.raises(AnswerRefused) as refused:
            harness.session.answer(request_id, PermissionAnswer("allow_once"), by="bob")
        assert refused.value.code == "cancelled"
        assert harness.decisions == []
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_the_second_of_two_answers_is_told_who_was_first(cli_harness: RealCliHarness) -> None:
    def both(session: ClaudeSession, request_id: str, _: AnyRequest) -> None:
        session.answer(request_id, PermissionAnswer("allow_once"), by="ada")
        with pytest.raises(AnswerRefused, match="ada has already decided") as refused:
            session.answer(request_id, PermissionAnswer("reject_once"), by="bob")
        assert refused.value.code == "already_answered"

    async with cli_harness.harness(both) as harness:
        await harness.turn(bash("touch once.txt"))
        assert [decision.by for decision in harness.decisions] == ["ada"]
    assert (cli_harness.workspace / "once.txt").exists()


@pytest.mark.long
async def test_nobody_answering_in_time_denies_and_ends_the_turn(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(answer_timeout=0.2) as harness:
        result = await harness.turn(bash("touch late.txt"))
        assert result.subtype == "error_during_execution"
        [decision] = harness.decisions
        assert (decision.by, decision.behavior, decision.interrupt) == ("timeout", "deny", True)
        assert decision.waited_ms >= 200
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_events_flow_and_control_works_while_a_permission_waits(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt(bash("touch a"))
        await harness.until(lambda: harness.session.pending)
        before = len(harness.inputs)
        assert (await harness.session.set_permission_mode("acceptEdits")) == {"mode": "acceptEdits"}
        assert "categories" in await harness.session.control({"subtype": "get_context_usage"})
        assert len(harness.inputs) > before
        assert harness.session.busy


@pytest.mark.long
async def test_a_question_is_answered(cli_harness: RealCliHarness) -> None:
    question = {
        "question": "Which database?",
        "header": "Database",
        "options": [{"label": "SQLite", "description": "A file"}, {"label": "Other", "description": "?"}],
        "multiSelect": False,
    }

    def answer(session: ClaudeSession, request_id: str, _: AnyRequest) -> None:
        session.answer(request_id, QuestionAnswer({"Which database?": "SQLite"}), by="ada")

    async with cli_harness.harness(answer) as harness:
        await harness.turn(plan([tool_use("AskUserQuestion", questions=[question])], [text("Thanks.")]))
        assert "SQLite" in cli_harness.tool_results()[-1]
        assert harness.decisions[0].behavior == "answer"


@pytest.mark.long
async def test_every_step_is_in_the_audit_trail(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once")) as harness:
        await harness.turn(bash("touch audited.txt"))
    rows = [json.loads(line) for line in cli_harness.audit_path.read_text().splitlines()]
    assert [(row["what"], row.get("by")) for row in rows] == [("asked", None), ("decided", "ada")]
    assert rows[0]["request"]["input"]["command"] == "touch audited.txt"


# Stopping


def told(harness: SessionHarness) -> list[AgentEvent]:
    """The events of everything that happened."""
    translator = ClaudeCore()
    return [event for happened in harness.inputs for event in translator.handle(happened)]


@pytest.mark.long
async def test_a_cli_that_is_given_up_with_a_question_open_has_it_denied_in_turnwires_name(
    cli_harness: RealCliHarness,
) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt(bash("touch denied.txt"))
        await harness.until(lambda: harness.session.pending)
        await harness.session.stop("hung")
        await harness.until(lambda: harness.ended)
        events = told(harness)
    assert [(d.behavior, d.by) for d in harness.decisions] == [("deny", "turnwire")]
    assert [event.by for event in events if isinstance(event, PermissionResolved)] == ["turnwire"]
    assert [event.data.outcome for event in events if isinstance(event, Complete)] == ["interrupted"]
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_an_interrupt_leaves_the_turn_of_a_prompt_that_waited_alone(
    cli_harness: RealCliHarness,
) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt(bash("touch one.txt"))
        await harness.until(lambda: harness.session.pending)
        await harness.session.prompt(bash("touch two.txt"))
        await harness.session.interrupt(escalate_after=60)
        await harness.until(lambda: harness.session.pending and harness.results)
        [*_, (_, request)] = harness.asked(CanUseTool)
        assert request.input["command"] == "touch two.txt"
        harness.session.answer(harness.session.pending[0], PermissionAnswer("allow_once"), by="ada")
        await harness.until(lambda: len(harness.results) == 2)
        assert harness.ended is None
        outcomes = [event.data.outcome for event in told(harness) if isinstance(event, Complete)]
    assert outcomes == ["interrupted", "completed"]
    assert [path.name for path in cli_harness.workspace.iterdir()] == ["two.txt"]
