"""What an agent asks, put to a caller as can_use_tool, and the caller's answers."""

from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer, Refuse
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.session.agent import AgentSession, AnswerRefused
from turnwire.normalize import events as ev
from turnwire.normalize.payloads.work import Choice, Question
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, failure, success
from turnwire.protocol.claude.requests import CanUseTool, Elicitation
from turnwire.sidecar.streams.sdk.calls import Call
from turnwire.sidecar.streams.sdk.options import Wanted
from turnwire.sidecar.streams.sdk.permissions import (
    NOBODY,
    NOT_ASKED,
    OTHER_ARGUMENTS,
    Permissions,
)
from turnwire.sidecar.streams.stdio.bridge import CALLER_GONE

SHELL = Call("Bash", {"command": "ls"})


class Session:
    """Takes answers; refuses those of `refuses`."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.refuses: dict[str, str] = {}

    def answer(self, pending_id: str, answer: PermissionAnswer | QuestionAnswer, by: str) -> None:
        word = answer.option_id if isinstance(answer, PermissionAnswer) else answer.action
        if (code := self.refuses.pop(word, None)) is not None:
            raise AnswerRefused(Refuse(pending_id, by, cast("Any", code), "no"))
        self.answers.append(answer)


class Asking:
    """A caller that is asked."""

    def __init__(self, workspace: Path = Path("/srv/project"), **given: Any) -> None:
        self.said: list[ControlRequest | ControlCancelRequest] = []
        numbers = count(1)
        self.session = Session()
        self.made = Permissions(
            Wanted(**{"asks": True, **given}),
            workspace,
            self.said.append,
            ProtectedPlaces(),
            lambda: f"r{next(numbers)}",
        )

    def ask(self, call: Call = SHELL, *options: ev.PermissionOption) -> "Asking":
        event = ev.PermissionRequest(
            pending_id="p1",
            permission_title="ls",
            permission_options=list(options or OPTIONS),
            action_type="command",
        )
        self.made.ask(cast("AgentSession", self.session), event, call)
        return self

    def question(self, kind: Any, **given: Any) -> "Asking":
        event = ev.QuestionRequest(pending_id="p1", kind=kind, **given)
        self.made.question(cast("AgentSession", self.session), event)
        return self

    def answer(self, **payload: Any) -> list[Any]:
        self.made.answered(success("r1", payload))
        return self.session.answers

    @property
    def asked(self) -> Any:
        [request] = self.said
        assert isinstance(request, ControlRequest)
        return request.request


def option(name: str, kind: Any, **given: Any) -> ev.PermissionOption:
    return ev.PermissionOption(option_id=name, name=name.title(), kind=kind, **given)


OPTIONS = (option("always", "allow_always"), option("once", "allow_once"), option("no", "reject_once"))


def test_the_caller_is_asked_in_claude_codes_words() -> None:
    asked = Asking().ask().asked
    assert isinstance(asked, CanUseTool)
    assert (asked.tool_name, asked.input, asked.title) == ("Bash", {"command": "ls"}, "ls")
    assert asked.permission_suggestions == [
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "Always"}], "behavior": "allow", "destination": "session"}
    ]  # fmt: skip


@pytest.mark.parametrize("updated", [{}, {"updatedInput": {"command": "ls"}}])
def test_what_is_allowed_is_allowed_once(updated: dict[str, Any]) -> None:
    assert Asking().ask().answer(behavior="allow", **updated) == [PermissionAnswer(option_id="once")]


def test_a_call_with_other_arguments_is_denied() -> None:
    answers = Asking().ask().answer(behavior="allow", updatedInput={"command": "rm"})
    assert answers == [PermissionAnswer(option_id="no", message=OTHER_ARGUMENTS)]


def test_a_denial_has_its_words_and_may_end_the_turn() -> None:
    answers = Asking().ask().answer(behavior="deny", message="why", interrupt=True)
    assert answers == [PermissionAnswer(option_id="no", message="why", interrupt=True)]


def test_an_answer_that_says_nothing_denies() -> None:
    asking = Asking().ask()
    asking.made.answered(failure("r1", "it broke"))
    assert asking.session.answers == [PermissionAnswer(option_id="no", message="it broke")]
    asking.made.answered(success("r1", {"behavior": "allow"}))
    assert len(asking.session.answers) == 1


def test_a_suggestion_that_comes_back_is_the_agents_own_always() -> None:
    asking = Asking().ask()
    asking.answer(behavior="allow", updatedPermissions=asking.asked.permission_suggestions)
    assert asking.session.answers == [PermissionAnswer(option_id="always")]
    assert len(asking.ask().said) == 2  # how much the agent remembers, it knows itself


def test_a_mode_that_an_answer_switches_to_is_suggested_as_one() -> None:
    asking = Asking().ask(SHELL, option("allow_always:mode:auto", "allow_always"), *OPTIONS[1:])
    suggested = asking.asked.permission_suggestions
    assert suggested == [{"type": "setMode", "mode": "auto", "destination": "session"}]
    assert (
        asking.answer(behavior="allow", updatedPermissions=suggested)[0].option_id == "allow_always:mode:auto"
    )


@pytest.mark.parametrize(
    ("update", "is_asked_again"),
    [
        ({"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash"}, 1]}, False),
        (
            {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash", "ruleContent": "ls"}]},
            True,
        ),
        ({"type": "setMode", "mode": "bypassPermissions"}, False),
        ({"type": "setMode", "mode": "yolo"}, True),
    ],
)
def test_what_the_agent_has_no_word_for_is_remembered_here(
    update: dict[str, Any], is_asked_again: bool
) -> None:
    asking = Asking().ask()
    asking.answer(behavior="allow", updatedPermissions=[update])
    asking.ask()
    assert [answer.option_id for answer in asking.session.answers] == ["once"] * (1 if is_asked_again else 2)


def test_a_caller_that_answers_no_questions_is_asked_none() -> None:
    assert Asking(asks=False).ask().session.answers == [PermissionAnswer(option_id="no", message=NOBODY)]
    assert Asking(mode="dontAsk").ask().session.answers == [
        PermissionAnswer(option_id="no", message=NOT_ASKED)
    ]
    assert Asking(asks=False).question("ask_user").session.answers == [QuestionAnswer(action="decline")]


def test_tools_that_are_allowed_need_no_asking_and_plans_always_do() -> None:
    assert Asking(allowed=frozenset({"Ba*"})).ask().session.answers == [PermissionAnswer(option_id="once")]
    asking = Asking(mode="bypassPermissions")
    asking.ask(Call("ExitPlanMode", {"plan": "p"}))
    assert asking.session.answers == []
    assert asking.asked.tool_name == "ExitPlanMode"


@pytest.mark.parametrize(
    ("call", "is_allowed"),
    [
        (Call("Edit", {"file_path": "src/a"}), True),
        (Call("NotebookEdit", {"notebook_path": "a"}), True),
        (Call("Write", {"file_path": "link/a"}), False),
        (Call("Write", {"file_path": "../a"}), False),
        (Call("Write", {"file_path": "/etc/passwd"}), False),
        (Call("Write", {"file_path": 1}), False),
        (SHELL, False),
    ],
)
def test_edits_below_the_workspace_are_accepted(tmp_path: Path, call: Call, is_allowed: bool) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "link").symlink_to("/etc")
    asking = Asking(workspace, mode="acceptEdits").ask(call)
    assert bool(asking.session.answers) is is_allowed


CALLS = {
    "run": SHELL,
    "edit": Call("Edit", {"file_path": "src/a"}),
    "write elsewhere": Call("Write", {"file_path": "/etc/a"}),
    "read": Call("Read", {"file_path": "src/a"}),
    "read a secret": Call("Read", {"file_path": ".env"}),
    "read elsewhere": Call("Read", {"file_path": "/etc/hostname"}),
    "read at home": Call("Read", {"file_path": "~/a"}),
    "list": Call("Glob", {"pattern": "**/*.py"}),
    "list elsewhere": Call("Glob", {"pattern": "../*"}),
    "list from the root": Call("Glob", {"pattern": "/etc/*"}),
    "search": Call("Grep", {"pattern": "x"}),
    "search secrets": Call("Grep", {"pattern": "x", "glob": ".env*"}),
    "search elsewhere": Call("Grep", {"pattern": "x", "path": "/etc"}),
    "fetch": Call("WebFetch", {"url": "https://example.com"}),
    "server": Call("mcp__calc__add", {}),
    "subagent": Call("Task", {"prompt": "x"}),
    "odd": Call("Read", {"file_path": 1}),
    "plan": Call("ExitPlanMode", {"plan": "x"}),
}
UNASKED = {
    ("default", True): set[str](),
    ("acceptEdits", True): {"edit"},
    ("plan", True): set(),
    ("dontAsk", True): {"read", "list", "search"},
    ("bypassPermissions", True): CALLS.keys() - {"plan"},
    ("auto", True): set(),
    ("default", False): {"read", "list", "search"},
    ("acceptEdits", False): {"edit", "read", "list", "search"},
    ("plan", False): {"read", "list", "search"},
    ("dontAsk", False): {"read", "list", "search"},
    ("bypassPermissions", False): CALLS.keys() - {"plan"},
    ("auto", False): {"read", "list", "search"},
}
"""Permission mode, and whether the caller has a callback -> what it allows without being asked."""


@pytest.mark.parametrize(("mode", "asks"), UNASKED)
def test_what_no_caller_is_asked_about_is_what_its_mode_allows(tmp_path: Path, mode: str, asks: bool) -> None:
    allowed, asked = set(), set()
    for name, call in CALLS.items():
        asking = Asking(tmp_path, mode=mode, asks=asks).ask(call)
        if [answer.option_id for answer in asking.session.answers] == ["once"]:
            allowed.add(name)
        elif asking.said:
            asked.add(name)
    assert allowed == UNASKED[mode, asks]
    is_asked = asks and mode != "dontAsk"
    assert asked == (CALLS.keys() - allowed if is_asked else set())


def test_what_needs_no_answer_any_more_is_taken_back() -> None:
    asking = Asking().ask()
    asking.made.over("other")
    asking.made.over("p1")
    assert asking.said[1:] == [ControlCancelRequest("r1")]
    assert asking.answer(behavior="allow") == []


def test_what_is_open_when_the_caller_goes_is_denied_and_so_is_what_comes_after() -> None:
    asking = Asking().ask().question("elicitation")
    asking.made.caller_gone()
    asking.ask()
    gone = PermissionAnswer(option_id="no", message=CALLER_GONE)
    assert asking.session.answers == [gone, QuestionAnswer(action="decline"), gone]


def test_an_agent_that_offers_nothing_that_allows_once_is_denied() -> None:
    answers = Asking().ask(SHELL, OPTIONS[0], OPTIONS[2]).answer(behavior="allow")
    assert [answer.option_id for answer in answers] == ["no"]


@pytest.mark.parametrize(("code", "left"), [("invalid_answer", ["no"]), ("already_answered", [])])
def test_an_answer_that_does_not_count_allows_nothing(code: str, left: list[str]) -> None:
    asking = Asking().ask()
    asking.session.refuses = {"once": code}
    assert [answer.option_id for answer in asking.answer(behavior="allow")] == left


def test_a_denial_that_comes_too_late_is_passed_over() -> None:
    asking = Asking().ask(SHELL, OPTIONS[1])
    asking.session.refuses = {"reject": "cancelled"}
    assert asking.answer(behavior="deny", message="") == []


QUESTION = Question(question="Which?", options=[Choice(label="A")], multi_select=False)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            {"behavior": "allow", "updatedInput": {"answers": {"Which?": "A"}}},
            QuestionAnswer(answers={"Which?": "A"}),
        ),
        ({"behavior": "deny", "message": "no"}, QuestionAnswer(action="decline", message="no")),
        ({"behavior": "allow", "updatedInput": {}}, QuestionAnswer(action="decline")),
    ],
)
def test_a_question_of_the_agent_is_put_as_claude_code_puts_it(
    said: dict[str, Any], answer: QuestionAnswer
) -> None:
    asking = Asking().question("ask_user", questions=[QUESTION])
    assert asking.asked.tool_name == "AskUserQuestion"
    assert asking.asked.input["questions"][0]["question"] == "Which?"
    assert asking.answer(**said) == [answer]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"action": "accept", "content": {"a": 1}}, QuestionAnswer(content={"a": 1})),
        ({"action": "decline"}, QuestionAnswer(action="decline")),
        ({}, QuestionAnswer(action="cancel")),
    ],
)
def test_a_form_of_a_server_is_put_as_one(said: dict[str, Any], answer: QuestionAnswer) -> None:
    asking = Asking().question(
        "elicitation", message="Who?", requested_schema={"type": "object"}, mcp_server="s"
    )
    assert isinstance(asking.asked, Elicitation)
    assert (asking.asked.message, asking.asked.requested_schema) == ("Who?", {"type": "object"})
    assert asking.answer(**said) == [answer]


@pytest.mark.parametrize(("code", "left"), [("invalid_answer", ["cancel"]), ("cancelled", [])])
def test_a_form_that_was_filled_in_wrongly_is_cancelled(code: str, left: list[str]) -> None:
    asking = Asking().question("elicitation", requested_schema=[1])
    asking.session.refuses = {"accept": code}
    assert [answer.action for answer in asking.answer(action="accept")] == left


def test_a_dialog_of_the_agent_is_declined() -> None:
    assert Asking().question("dialog").session.answers == [QuestionAnswer(action="decline")]
