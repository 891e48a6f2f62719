"""What an editor's answers to permissions and questions mean."""

from typing import Any

import msgspec
import pytest

from turnwire.client import events as ev
from turnwire.client.requests import Answer
from turnwire.frontends.acp.dialogs import (
    BadAnswer,
    Dialog,
    DialogCapabilities,
    Reply,
    Respond,
    TurnCancelled,
    dialog,
)
from turnwire.frontends.acp.tool_calls import ToolCalls

FORMS = DialogCapabilities(form=True, url=True)
QUESTIONS = [
    {
        "question": "Which?",
        "header": "One",
        "options": [{"label": "Red", "description": "A colour"}, {"label": "Blue"}],
        "multi_select": False,
    },
    {"question": "What more?", "options": [{"label": "Auth"}, {"label": "API"}], "multi_select": True},
]


def question(offered: DialogCapabilities = FORMS, **fields: Any) -> Dialog:
    raw = {"type": "question_request", "pending_id": "q", **fields}
    return dialog(msgspec.convert(raw, ev.QuestionRequest), ToolCalls(), offered)


def chosen(option: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option}}


CANCELLED = {"outcome": {"outcome": "cancelled"}}


def test_a_form_has_a_field_for_each_question_and_one_for_another_answer() -> None:
    asked = question(kind="ask_user", questions=QUESTIONS, tool_call_id="t")
    method, params = asked.request()
    assert (method, params["mode"], params["toolCallId"]) == ("elicitation/create", "form", "t")
    properties = params["requestedSchema"]["properties"]
    assert list(properties) == ["answer1", "other1", "answer2", "other2"]
    assert properties["answer1"]["oneOf"][0] == {"const": "Red", "title": "Red", "description": "A colour"}
    assert properties["answer2"]["items"]["anyOf"][1] == {"const": "API", "title": "API"}
    given = {"answer1": "Red", "other1": "Green", "answer2": ["Auth", "API"]}
    assert asked.on_answer({"action": "accept", "content": given}) == Reply(
        Answer(answers={"Which?": "Green", "What more?": ["Auth", "API"]})
    )
    assert asked.on_answer({"action": "accept"}) == Reply(
        Answer(answers={"Which?": "(no answer)", "What more?": "(no answer)"})
    )
    assert asked.on_answer({"action": "decline"}) == Reply(Answer(action="decline"))
    assert asked.on_answer({"action": "cancel"}) == Reply(Answer(action="cancel"))


@pytest.mark.parametrize("result", [None, 7, [], {}, {"action": "dance"}, {"outcome": {}}])
def test_an_answer_that_is_none_is_said_to_be(result: Any) -> None:
    for asked in (
        question(kind="ask_user", questions=QUESTIONS),
        question(DialogCapabilities(), kind="ask_user", questions=QUESTIONS),
        question(kind="elicitation", mode="url", url="http://x"),
        question(DialogCapabilities(), kind="elicitation", mode="url", url="http://x"),
        question(kind="elicitation", requested_schema={"type": "object", "properties": {}}),
        question(kind="dialog"),
    ):
        with pytest.raises(BadAnswer):
            asked.on_answer(result)


def test_without_forms_questions_are_asked_one_after_the_other() -> None:
    asked = question(DialogCapabilities(), kind="ask_user", questions=QUESTIONS)
    method, params = asked.request()
    assert method == "session/request_permission"
    assert [option["name"] for option in params["options"]] == ["Red", "Blue", "Decline"]
    assert asked.on_answer(chosen("1")) is None
    _, params = asked.request()
    assert params["toolCall"]["title"] == "What more?"
    assert asked.on_answer(chosen("0")) == Reply(Answer(answers={"Which?": "Blue", "What more?": ["Auth"]}))
    assert question(DialogCapabilities(), kind="ask_user", questions=QUESTIONS).on_answer(
        chosen("decline")
    ) == Reply(Answer(action="decline"))
    assert (
        question(DialogCapabilities(), kind="ask_user", questions=QUESTIONS).on_answer(CANCELLED)
        == TurnCancelled()
    )


def test_an_address_is_opened_or_shown() -> None:
    fields: dict[str, Any] = {
        "kind": "elicitation",
        "mode": "url",
        "url": "https://login.example/x",
        "message": "Log in",
    }
    method, params = question(**fields).request()
    assert (method, params["url"], params["elicitationId"]) == (
        "elicitation/create",
        "https://login.example/x",
        "q",
    )
    assert question(**fields).on_answer({"action": "accept"}) == Reply(Answer(action="accept"))
    shown = question(DialogCapabilities(), **fields)
    assert shown.request()[1]["toolCall"]["content"][0]["content"]["text"] == "https://login.example/x"
    assert shown.on_answer(chosen("0")) == Reply(Answer(action="accept"))
    assert shown.on_answer(chosen("decline")) == Reply(Answer(action="decline"))
    assert shown.on_answer(CANCELLED) == TurnCancelled()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ({"type": "boolean"}, [True, False]),
        ({"type": "string", "enum": ["a", "b"]}, ["a", "b"]),
        ({"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}, 7]}, ["a", "b"]),
        ({"type": "string"}, []),
    ],
)
def test_without_forms_a_form_of_one_choice_is_asked_and_any_other_can_be_declined(
    field: dict[str, Any], values: list[Any]
) -> None:
    schema = {"type": "object", "properties": {"name": field}}
    asked = question(DialogCapabilities(), kind="elicitation", message="So?", requested_schema=schema)
    options = asked.request()[1]["options"]
    assert [option["name"] for option in options] == [*map(str, values), "Decline"]
    for number, value in enumerate(values):
        assert asked.on_answer(chosen(str(number))) == Reply(Answer(content={"name": value}))
    assert asked.on_answer(chosen("decline")) == Reply(Answer(action="decline"))
    assert asked.on_answer(CANCELLED) == TurnCancelled()


def test_a_servers_form_is_handed_on_as_it_came() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}}
    asked = question(kind="elicitation", message="So?", requested_schema=schema)
    assert asked.request()[1]["requestedSchema"] == schema
    assert asked.on_answer({"action": "accept", "content": {"a": "x"}}) == Reply(
        Answer(action="accept", content={"a": "x"})
    )
    assert asked.on_answer({"action": "decline", "content": {"a": "x"}}) == Reply(Answer(action="decline"))


def test_a_permission_is_answered_by_its_own_options_alone() -> None:
    request = ev.PermissionRequest(
        pending_id="p",
        permission_title="Write it",
        permission_options=[ev.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        action_type="other",
        tool_input={"a": 1},
        reason="outside of the workspace",
    )
    asked = dialog(request, ToolCalls(), FORMS)
    call = asked.request()[1]["toolCall"]
    assert (call["toolCallId"], call["rawInput"], call["status"]) == ("p", {"a": 1}, "pending")
    assert call["content"][0]["content"]["text"] == "outside of the workspace"
    assert asked.on_answer(chosen("yes")) == Respond("yes")
    assert asked.on_answer(CANCELLED) == TurnCancelled()
    with pytest.raises(BadAnswer, match="yes"):
        asked.on_answer(chosen("no"))
