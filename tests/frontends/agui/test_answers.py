"""Resume entries as answers to permission requests and questions."""

from typing import Any

import pytest
from ag_ui.core import ResumeEntry

from turnwire.client import commands, events
from turnwire.client.payloads import Choice, Question
from turnwire.frontends.agui.question_answers import InvalidAnswer, command_of, interrupt_of

ASKS = events.PermissionRequest(
    pending_id="q1",
    tool_call_id="t1",
    permission_title="Run ls",
    permission_options=[
        events.PermissionOption(option_id="always", name="Always", kind="allow_always"),
        events.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
        events.PermissionOption(option_id="no", name="No", kind="reject_once"),
    ],
    action_type="command",
)
COLOUR = Question(
    question="Which colour?", options=[Choice(label="red"), Choice(label="blue")], multi_select=False
)
SIZES = Question(question="Which sizes?", options=[Choice(label="S"), Choice(label="M")], multi_select=True)
QUESTIONS = events.QuestionRequest(pending_id="q1", kind="ask_user", questions=[COLOUR, SIZES])
ONE = events.QuestionRequest(pending_id="q1", kind="ask_user", questions=[COLOUR])
FORM = events.QuestionRequest(
    pending_id="q1",
    kind="elicitation",
    message="Who?",
    requested_schema={"type": "object", "required": ["name"]},
)


def resolved(payload: Any) -> ResumeEntry:
    return ResumeEntry(interrupt_id="q1", status="resolved", payload=payload)


CANCELLED = ResumeEntry(interrupt_id="q1", status="cancelled")


@pytest.mark.parametrize(
    ("entry", "option", "more"),
    [
        (resolved({"option_id": "always", "destination": "session"}), "always", {"destination": "session"}),
        (resolved("no"), "no", {}),
        (resolved(True), "yes", {}),
        (resolved(False), "no", {}),
        (
            resolved({"approved": True, "editedArgs": {"command": "pwd"}}),
            "yes",
            {"updated_input": {"command": "pwd"}},
        ),
        (resolved({"approved": False, "message": "Not here."}), "no", {"message": "Not here."}),
        (CANCELLED, "no", {}),
    ],
)
def test_a_permission_is_answered_by_option(entry: ResumeEntry, option: str, more: dict[str, Any]) -> None:
    expected = commands.PermissionRespond(session="s1", pending_id="q1", option_id=option, **more)
    assert command_of("s1", ASKS, entry) == expected


@pytest.mark.parametrize(
    ("request_", "entry", "expected"),
    [
        (ONE, resolved("red"), {"answers": {"Which colour?": "red"}}),
        (
            QUESTIONS,
            resolved({"answers": {"Which colour?": "red", "Which sizes?": ["S", "M"]}}),
            {"answers": {"Which colour?": "red", "Which sizes?": ["S", "M"]}},
        ),
        (QUESTIONS, resolved({"action": "decline"}), {"action": "decline"}),
        (QUESTIONS, CANCELLED, {"action": "cancel"}),
        (FORM, resolved({"name": "Ada"}), {"content": {"name": "Ada"}}),
    ],
)
def test_a_question_is_answered_by_its_words_or_by_what_its_schema_asks_for(
    request_: events.QuestionRequest, entry: ResumeEntry, expected: dict[str, Any]
) -> None:
    assert command_of("s1", request_, entry) == commands.QuestionAnswer(
        session="s1", pending_id="q1", **expected
    )


@pytest.mark.parametrize(
    ("request_", "payload", "where"),
    [
        (ASKS, {"option_id": "all"}, "payload.option_id must be one of always, yes, no"),
        (ASKS, {"option_id": ["yes"]}, "payload.option_id must be one of"),
        (ASKS, {"option_id": "yes", "sudo": True}, "unknown fields: sudo"),
        (ASKS, {"option_id": "yes", "updated_input": "ls"}, "updated_input"),
        (ASKS, 7, "payload must be"),
        (ASKS, None, "payload must be"),
        (QUESTIONS, "red", "payload.answers must be"),
        (QUESTIONS, {"answers": {"Which colour?": 1}}, "payload.answers must be"),
        (QUESTIONS, {"answers": {"Which planet?": "Mars"}}, "has no question 'Which planet?'"),
    ],
)
def test_an_answer_that_does_not_fit_says_where(request_: Any, payload: Any, where: str) -> None:
    with pytest.raises(InvalidAnswer) as error:
        command_of("s1", request_, resolved(payload))
    assert str(error.value).startswith("resume entry for 'q1': ")
    assert where in str(error.value)


def test_what_cannot_be_rejected_must_be_answered_by_name() -> None:
    only = events.PermissionRequest(
        pending_id="q1",
        permission_title="",
        permission_options=ASKS.permission_options[:1],
        action_type="other",
    )
    with pytest.raises(InvalidAnswer, match="no option of the kind reject_once or reject_always"):
        command_of("s1", only, CANCELLED)


def test_an_interrupt_says_what_answer_it_takes() -> None:
    permission, question, form = interrupt_of(ASKS), interrupt_of(QUESTIONS), interrupt_of(FORM)
    assert (permission.reason, permission.message, permission.tool_call_id) == ("permission", "Run ls", "t1")
    assert permission.response_schema is not None
    options = permission.response_schema["properties"]["option_id"]["oneOf"]
    assert [option["const"] for option in options] == ["always", "yes", "no"]
    assert question.message == "Which colour?\nWhich sizes?"
    assert question.response_schema is not None
    assert list(question.response_schema["properties"]["answers"]["properties"]) == [
        "Which colour?",
        "Which sizes?",
    ]
    assert form.response_schema == FORM.requested_schema
