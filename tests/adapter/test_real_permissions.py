"""Permissions on the real CLI, offline: what is decided is what happens, and the model is told."""

import json

import pytest

from adapter.claude.session import Session
from adapter.executor import AnswerRefused
from adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from desk import RealCliHarness, SessionHarness, always
from normalize.claude.core import ClaudeCore
from normalize.events import AgentEvent, Complete, PermissionResolved
from normalize.inputs import Decision, Sent
from protocol.claude.control import ControlCancelRequest, ControlResponse
from protocol.claude.requests import AnyRequest, CanUseTool
from scripted_messages_api import plan, text, tool_use


def bash(*commands: str) -> str:
    """A prompt that makes the agent run commands, one after another."""
    calls = [[tool_use("Bash", command=command, description="as told")] for command in commands]
    return plan(*calls, [text("Done.")])


async def test_an_allowed_command_runs(office: RealCliHarness) -> None:
    async with office.desk(always("allow_once")) as desk:
        result = await desk.turn(bash("echo made > made.txt"))
        [(request_id, _)] = desk.asked(CanUseTool)
        [decision] = desk.decisions
    assert (decision.pending_id, decision.behavior, decision.by) == (request_id, "allow", "ada")
    assert (office.workspace / "made.txt").read_text() == "made\n"
    assert result.subtype == "success"


@pytest.mark.long
async def test_the_decision_comes_before_its_response(office: RealCliHarness) -> None:
    async with office.desk(always("allow_once")) as desk:
        await desk.turn(bash("touch a"))
        [decision] = desk.decisions
        order = [
            one
            for one in desk.inputs
            if one is decision or (isinstance(one, Sent) and isinstance(one.message, ControlResponse))
        ]
        assert [type(one) for one in order] == [Decision, Sent]


@pytest.mark.long
async def test_an_always_asks_no_more_in_this_session_and_in_a_fresh_one(office: RealCliHarness) -> None:
    async with office.desk(always("allow_always:localSettings")) as desk:
        await desk.turn(bash("touch always.txt", "touch always.txt"))
        assert len(desk.asked(CanUseTool)) == 1
        assert desk.decisions[0].destination == "localSettings"
    async with office.desk() as desk:
        await desk.turn(bash("touch always.txt"))
        assert desk.asked(CanUseTool) == []


@pytest.mark.long
async def test_an_edited_command_is_the_one_that_runs(office: RealCliHarness) -> None:
    async with office.desk(always("allow_once", updated_input={"command": "touch edited.txt"})) as desk:
        await desk.turn(bash("touch original.txt"))
    assert [path.name for path in office.workspace.iterdir()] == ["edited.txt"]


async def test_the_model_reads_why_a_call_was_denied(office: RealCliHarness) -> None:
    async with office.desk(always("reject_once", message="Not in this house.")) as desk:
        await desk.turn(bash("touch denied.txt"))
        assert "Not in this house." in office.tool_results()[-1]
    assert list(office.workspace.iterdir()) == []


@pytest.mark.long
async def test_a_denial_with_interrupt_ends_the_turn(office: RealCliHarness) -> None:
    async with office.desk(always("reject_interrupt")) as desk:
        result = await desk.turn(bash("touch denied.txt"))
        assert result.subtype == "error_during_execution"
        assert desk.decisions[0].interrupt
        assert (await desk.turn(plan([text("Still here.")]))).subtype == "success"
    assert list(office.workspace.iterdir()) == []


async def test_an_interrupt_cancels_what_waits_and_a_late_answer_is_refused(office: RealCliHarness) -> None:
    async with office.desk() as desk:
        await desk.session.prompt(bash("touch late.txt"))
        await desk.until(lambda: desk.session.pending)
        [request_id] = desk.session.pending
        await desk.session.interrupt()
        await desk.until(lambda: desk.results)
        assert desk.session.pending == ()
        assert any(isinstance(m, ControlCancelRequest) and m.request_id == request_id for m in desk.messages)
        with pytest.raises(AnswerRefused) as refused:
            desk.session.respond(request_id, PermissionAnswer("allow_once"), by="bob")
        assert refused.value.code == "cancelled"
        assert desk.decisions == []
    assert list(office.workspace.iterdir()) == []


@pytest.mark.long
async def test_the_second_of_two_answers_is_told_who_was_first(office: RealCliHarness) -> None:
    def both(session: Session, request_id: str, _: AnyRequest) -> None:
        session.respond(request_id, PermissionAnswer("allow_once"), by="ada")
        with pytest.raises(AnswerRefused, match="ada has already decided") as refused:
            session.respond(request_id, PermissionAnswer("reject_once"), by="bob")
        assert refused.value.code == "already_answered"

    async with office.desk(both) as desk:
        await desk.turn(bash("touch once.txt"))
        assert [decision.by for decision in desk.decisions] == ["ada"]
    assert (office.workspace / "once.txt").exists()


@pytest.mark.long
async def test_nobody_answering_in_time_denies_and_ends_the_turn(office: RealCliHarness) -> None:
    async with office.desk(answer_timeout=0.2) as desk:
        result = await desk.turn(bash("touch late.txt"))
        assert result.subtype == "error_during_execution"
        [decision] = desk.decisions
        assert (decision.by, decision.behavior, decision.interrupt) == ("timeout", "deny", True)
        assert decision.waited_ms >= 200
    assert list(office.workspace.iterdir()) == []


@pytest.mark.long
async def test_events_flow_and_control_works_while_a_permission_waits(office: RealCliHarness) -> None:
    async with office.desk() as desk:
        await desk.session.prompt(bash("touch a"))
        await desk.until(lambda: desk.session.pending)
        before = len(desk.inputs)
        assert (await desk.session.set_permission_mode("acceptEdits")) == {"mode": "acceptEdits"}
        assert "categories" in await desk.session.control({"subtype": "get_context_usage"})
        assert len(desk.inputs) > before
        assert desk.session.busy


@pytest.mark.long
async def test_a_question_is_answered(office: RealCliHarness) -> None:
    question = {
        "question": "Which database?",
        "header": "Database",
        "options": [{"label": "SQLite", "description": "A file"}, {"label": "Other", "description": "?"}],
        "multiSelect": False,
    }

    def answer(session: Session, request_id: str, _: AnyRequest) -> None:
        session.answer(request_id, QuestionAnswer({"Which database?": "SQLite"}), by="ada")

    async with office.desk(answer) as desk:
        await desk.turn(plan([tool_use("AskUserQuestion", questions=[question])], [text("Thanks.")]))
        assert "SQLite" in office.tool_results()[-1]
        assert desk.decisions[0].behavior == "answer"


async def test_every_step_is_in_the_audit_trail(office: RealCliHarness) -> None:
    async with office.desk(always("allow_once")) as desk:
        await desk.turn(bash("touch audited.txt"))
    rows = [json.loads(line) for line in office.audit_path.read_text().splitlines()]
    assert [(row["what"], row.get("by")) for row in rows] == [("asked", None), ("decided", "ada")]
    assert rows[0]["request"]["input"]["command"] == "touch audited.txt"


# Stopping


def told(desk: SessionHarness) -> list[AgentEvent]:
    """The events of everything that happened."""
    translator = ClaudeCore()
    return [event for happened in desk.inputs for event in translator.handle(happened)]


@pytest.mark.long
async def test_a_cli_that_is_given_up_with_a_question_open_has_it_denied_in_turnwires_name(
    office: RealCliHarness,
) -> None:
    async with office.desk() as desk:
        await desk.session.prompt(bash("touch denied.txt"))
        await desk.until(lambda: desk.session.pending)
        await desk.session.stop("hung")
        await desk.until(lambda: desk.ended)
        events = told(desk)
    assert [(d.behavior, d.by) for d in desk.decisions] == [("deny", "turnwire")]
    assert [event.by for event in events if isinstance(event, PermissionResolved)] == ["turnwire"]
    assert [event.data.outcome for event in events if isinstance(event, Complete)] == ["interrupted"]
    assert list(office.workspace.iterdir()) == []


@pytest.mark.long
async def test_an_interrupt_leaves_the_turn_of_a_prompt_that_waited_alone(office: RealCliHarness) -> None:
    async with office.desk() as desk:
        await desk.session.prompt(bash("touch one.txt"))
        await desk.until(lambda: desk.session.pending)
        await desk.session.prompt(bash("touch two.txt"))
        await desk.session.interrupt(escalate_after=1)
        await desk.until(lambda: desk.session.pending and desk.results)
        [*_, (_, request)] = desk.asked(CanUseTool)
        assert request.input["command"] == "touch two.txt"
        desk.session.respond(desk.session.pending[0], PermissionAnswer("allow_once"), by="ada")
        await desk.until(lambda: len(desk.results) == 2)
        assert desk.ended is None
        outcomes = [event.data.outcome for event in told(desk) if isinstance(event, Complete)]
    assert outcomes == ["interrupted", "completed"]
    assert [path.name for path in office.workspace.iterdir()] == ["two.txt"]
