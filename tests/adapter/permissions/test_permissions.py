"""The state machine of permissions, read as transcripts: what happens, and what is to be done about it."""

import pytest
from claude_asking import asked, response_of, waiting_for_humans
from msgspec.structs import replace

from turnwire.adapter.hooks.settings import HookSetting, callback_id
from turnwire.adapter.permissions.answers import NOBODY, STOPPED, TOO_MANY
from turnwire.adapter.permissions.decisions import (
    Abandon,
    Answered,
    CancelledByAgent,
    Decide,
    Effect,
    GitChecked,
    HookRan,
    Overloaded,
    PermissionAnswer,
    PermissionInput,
    ProcessEnded,
    QuestionAnswer,
    Refuse,
    Remember,
    Respond,
    RunGitCheck,
    RunHook,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
    TurnEnded,
    Void,
    Voided,
)
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.machine import MAX_SETTLED, State, step
from turnwire.adapter.permissions.policies import PRE_TOOL, STOP, PermissionSettings
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.rules import read_rules
from turnwire.normalize.inputs import Decision
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.claude.requests import (
    AnyRequest,
    CanUseTool,
    Elicitation,
    HookCallback,
    RequestUserDialog,
    UnknownRequest,
)
from turnwire.protocol.json_values import Json, JsonObject

SUGGESTIONS: list[JsonObject] = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch a"}],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]
BASH = CanUseTool(tool_name="Bash", input={"command": "touch a"}, permission_suggestions=SUGGESTIONS)
ASK = CanUseTool(
    tool_name="AskUserQuestion",
    input={
        "questions": [
            {"question": "Which?", "options": [{"label": "a"}, {"label": "b"}], "multiSelect": True},
            {"question": "Why?", "options": [{"label": "c"}, {"label": "d"}], "multiSelect": False},
        ]
    },
)
PLAN = CanUseTool(tool_name="ExitPlanMode", input={"plan": "# Plan"}, requires_user_interaction=True)


class Machine:
    """The state machine with a clock, for tests that read like transcripts."""

    def __init__(self, settings: PermissionSettings | None = None) -> None:
        self.state = State(settings or PermissionSettings())
        self.now = 100.0

    def __call__(self, happened: PermissionInput) -> list[Effect]:
        self.state, effects = step(self.state, happened, self.now)
        return effects

    def ask(self, request: AnyRequest, request_id: str = "r") -> list[Effect]:
        return self(asked(request_id, request))

    def answer(self, option_id: str, by: str = "ada", **fields: Json) -> list[Effect]:
        return self(Answered("r", PermissionAnswer(option_id, **fields), by))

    def reply(self, **fields: Json) -> list[Effect]:
        return self(Answered("r", QuestionAnswer(**fields), "ada"))


def payload(effects: list[Effect]) -> JsonObject:
    """What the one response among the effects says."""
    [response] = [response_of(effect) for effect in effects if isinstance(effect, Respond)]
    assert response.response.subtype == "success"
    answer = response.payload
    assert isinstance(answer, dict)
    return answer


def decision(effects: list[Effect]) -> Decision:
    [found] = [effect.decision for effect in effects if isinstance(effect, Decide)]
    return found


def refusal(effects: list[Effect]) -> Refuse:
    [found] = effects
    assert isinstance(found, Refuse)
    return found


# Allow, always, deny


def test_an_allowed_call_gets_its_own_input_back_since_old_versions_deny_a_bare_allow() -> None:
    machine = Machine()
    assert machine.ask(BASH) == []
    machine.now += 1.5
    effects = machine.answer("allow_once")
    assert payload(effects) == {"behavior": "allow", "updatedInput": {"command": "touch a"}}
    assert decision(effects) == Decision("r", "allow", "ada", 1500, option_id="allow_once")
    assert isinstance(effects[0], Decide), "the decision is told before the response is written"
    assert effects[-1] == StopTimer("r")
    assert machine.state.pending == {}


def test_an_always_sends_back_the_rule_and_remembers_it() -> None:
    machine = Machine()
    machine.ask(BASH)
    effects = machine.answer("allow_always:localSettings")
    assert payload(effects)["updatedPermissions"] == [SUGGESTIONS[0]]
    assert decision(effects).destination == "localSettings"
    assert Remember(((Grant("Bash", "touch a"), "localSettings"),)) in effects
    effects = machine.ask(BASH, "second")
    assert payload(effects)["behavior"] == "allow"
    assert decision(effects).by == "remembered"


def test_the_destination_of_an_always_can_be_chosen() -> None:
    machine = Machine()
    machine.ask(BASH)
    effects = machine.answer("allow_always:session", destination="userSettings")
    assert payload(effects)["updatedPermissions"] == [{**SUGGESTIONS[0], "destination": "userSettings"}]
    assert decision(effects).destination == "userSettings"


def test_an_edited_input_is_what_runs() -> None:
    machine = Machine()
    machine.ask(BASH)
    effects = machine.answer("allow_once", updated_input={"command": "touch b"})
    assert payload(effects) == {"behavior": "allow", "updatedInput": {"command": "touch b"}}
    assert decision(effects).updated_input == {"command": "touch b"}


def test_a_denial_always_carries_a_message() -> None:
    machine = Machine()
    machine.ask(BASH)
    effects = machine.answer("reject_once")
    assert payload(effects)["behavior"] == "deny"
    assert payload(effects)["message"]


@pytest.mark.parametrize(("option", "interrupt"), [("reject_once", True), ("reject_interrupt", False)])
def test_a_denial_can_stop_the_turn(option: str, *, interrupt: bool) -> None:
    machine = Machine()
    machine.ask(BASH)
    effects = machine.answer(option, message="Stop it.", interrupt=interrupt)
    assert payload(effects) == {"behavior": "deny", "message": "Stop it.", "interrupt": True}
    assert decision(effects).interrupt


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"option_id": "yes"}, "option_id"),
        ({"option_id": "allow_always:userSettings"}, "option_id"),
        ({"option_id": "allow"}, "option_id"),
        ({"option_id": "allow_once", "destination": "everywhere"}, "destination"),
        ({"option_id": "allow_once", "mode": "yolo"}, "mode"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_request_waits_on(
    fields: JsonObject, field: str
) -> None:
    machine = Machine()
    machine.ask(BASH)
    refused = refusal(machine(Answered("r", PermissionAnswer(**fields), "ada")))
    assert (refused.code, refused.field) == ("invalid_answer", field)
    assert payload(machine.answer("allow_once"))["behavior"] == "allow"


# Who comes second


def test_the_first_answer_wins_and_the_second_is_told_whose_it_was() -> None:
    machine = Machine()
    machine.ask(BASH)
    machine.answer("reject_once", by="ada")
    refused = refusal(machine.answer("allow_once", by="bob"))
    assert refused.code == "already_answered"
    assert "ada" in refused.message
    assert "it is denied" in refused.message


def test_an_answer_to_nothing_is_refused() -> None:
    assert refusal(Machine().answer("allow_once")).code == "unknown_request"


def test_a_request_that_the_cli_reports_again_is_armed_once() -> None:
    machine = Machine()
    machine.ask(BASH)
    assert machine.ask(BASH) == []
    assert len([effect for effect in machine.answer("allow_once") if isinstance(effect, Respond)]) == 1
    assert machine.ask(BASH) == [], "it has been answered; the answer is on its way"


# What voids a request


def test_a_cancelled_request_gets_no_response() -> None:
    machine = Machine()
    machine.ask(BASH)
    assert machine(CancelledByAgent("r")) == [Void("r", "cancelled"), StopTimer("r")]
    assert refusal(machine.answer("allow_once")).code == "cancelled"


def test_a_cancel_keeps_the_reason_it_is_published_with() -> None:
    machine = Machine()
    machine.ask(BASH)
    assert machine(CancelledByAgent("r", "interrupted"))[0] == Void("r", "interrupted")


def test_what_waits_when_the_cli_is_stopped_is_denied_in_turnwires_name() -> None:
    machine = Machine()
    machine.ask(BASH)
    machine.now += 2
    effects = machine(Stopping())
    assert payload(effects)["interrupt"] is True
    assert decision(effects) == Decision("r", "deny", "turnwire", 2000, message=STOPPED, interrupt=True)
    assert StopTimer("r") in effects
    assert refusal(machine.answer("allow_once")).code == "already_answered"


@pytest.mark.parametrize("request_", [BASH, ASK, Elicitation(), RequestUserDialog()])
def test_what_is_asked_while_the_cli_is_stopped_waits_for_nobody(request_: AnyRequest) -> None:
    machine = Machine()
    assert machine(Stopping()) == []
    assert decision(machine.ask(request_)).by == "turnwire"
    assert waiting_for_humans(machine.state) == ()


def test_version_1_waits_for_the_answer_to_what_it_cancelled() -> None:
    machine = Machine(PermissionSettings(answers_cancelled=True))
    machine.ask(BASH)
    effects = machine(CancelledByAgent("r"))
    assert effects[0] == Void("r", "cancelled")
    assert payload(effects)["behavior"] == "deny"
    assert refusal(machine.answer("allow_once")).code == "cancelled"


def test_what_is_void_is_named_one_by_one_and_also_in_old_versions_not_answered() -> None:
    machine = Machine(PermissionSettings(answers_cancelled=True))
    machine.ask(BASH, "main")
    machine.ask(CanUseTool(tool_name="Bash", input={}, agent_id="a1"), "subagent")
    assert machine(TurnEnded()) == []
    assert machine(Voided("main", "turn_ended")) == [Void("main", "turn_ended"), StopTimer("main")]
    assert machine(Voided("main", "turn_ended")) == []
    assert waiting_for_humans(machine.state) == ("subagent",)


def test_the_end_of_the_process_voids_everything_and_what_comes_after_it() -> None:
    machine = Machine(PermissionSettings(hooks=(HookSetting(event="Stop", command=("x",)),)))
    machine.ask(BASH)
    machine.ask(HookCallback(callback_id="turnwire_hook_0"), "hook")
    assert machine(ProcessEnded()) == [
        Void("r", "process_exited"),
        StopTimer("r"),
        Void("hook", "process_exited"),
        Abandon("hook"),
    ]
    assert machine.ask(BASH, "late") == [Void("late", "process_exited")]
    assert machine.state.pending == {}


# Time


def test_without_a_limit_there_is_no_timer() -> None:
    assert Machine().ask(BASH) == []


def test_on_expiry_a_call_is_denied_and_its_turn_stopped() -> None:
    machine = Machine(PermissionSettings(answer_timeout=60))
    assert machine.ask(BASH) == [StartTimer("r", 60)]
    machine.now += 60
    effects = machine(TimedOut("r"))
    assert payload(effects)["behavior"] == "deny"
    assert payload(effects)["interrupt"] is True
    assert (decision(effects).by, decision(effects).waited_ms) == ("timeout", 60_000)
    assert refusal(machine.answer("allow_once")).code == "already_answered"


def test_a_timer_that_fires_late_changes_nothing() -> None:
    machine = Machine(PermissionSettings(answer_timeout=60))
    machine.ask(BASH)
    machine.answer("allow_once")
    assert machine(TimedOut("r")) == []


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Elicitation(message="?"), {"action": "cancel"}),
        (RequestUserDialog(dialog_kind="x"), {"behavior": "cancelled"}),
    ],
)
def test_a_question_that_nobody_answers_is_dismissed(request_: AnyRequest, said: JsonObject) -> None:
    machine = Machine(PermissionSettings(answer_timeout=1))
    machine.ask(request_)
    assert payload(machine(TimedOut("r"))) == said


# Questions, plans, dialogs


def test_the_answers_to_a_question_travel_in_its_input() -> None:
    machine = Machine()
    machine.ask(ASK)
    effects = machine.reply(answers={"Which?": ["a", "b"], "Why?": "c"})
    assert payload(effects) == {
        "behavior": "allow",
        "updatedInput": {**ASK.input, "answers": {"Which?": "a, b", "Why?": "c"}},
    }
    assert decision(effects).behavior == "answer"


def test_a_question_without_answers_is_not_allowed_by_accident() -> None:
    machine = Machine()
    machine.ask(ASK)
    assert refusal(machine.reply()).field == "answers"


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"Who?": "a"}, "no question 'Who?'"),
        ({"Which?": "a", "why?": "c"}, "no question 'why?'"),
        ({"Why?": ["c", "d"]}, "takes one answer, not 2"),
        ({"Why?": []}, "has an empty answer"),
        ({"Why?": "  "}, "has an empty answer"),
        ({"Which?": ["a", ""]}, "has an empty answer"),
    ],
)
def test_an_answer_that_does_not_fit_its_question_is_refused_and_the_question_waits_on(
    answers: dict[str, str | list[str]], says: str
) -> None:
    machine = Machine()
    machine.ask(ASK)
    refused = refusal(machine.reply(answers=answers))
    assert (refused.code, refused.field) == ("invalid_answer", "answers")
    assert says in refused.message
    assert waiting_for_humans(machine.state) == ("r",)


@pytest.mark.parametrize("answers", [{"Why?": "neither"}, {"Why?": ["d"]}, {"Which?": ["a", "my own"]}])
def test_a_question_may_be_answered_freely_and_in_part(answers: dict[str, str | list[str]]) -> None:
    machine = Machine()
    machine.ask(ASK)
    assert decision(machine.reply(answers=answers)).behavior == "answer"


def test_of_questions_with_the_same_words_no_answer_is_lost() -> None:
    machine = Machine()
    door: Json = {"question": "How high?", "header": "Door", "options": []}
    roof: Json = {"question": "How high?", "header": "Roof", "options": []}
    machine.ask(CanUseTool(tool_name="AskUserQuestion", input={"questions": [door, roof]}))
    answers: dict[str, str | list[str]] = {"How high?": "2 m"}
    refused = refusal(machine.reply(answers=answers))
    assert (refused.code, refused.field) == ("invalid_answer", "answers")
    assert refused.message.startswith("2 of the questions are 'How high?'")
    edited: Json = {"questions": [door, roof], "answers": answers}
    assert refusal(machine.answer("allow_once", updated_input=edited)).field == "answers"
    said = machine.reply(action="decline", message="Door: 2 m. Roof: 5 m.")
    assert payload(said)["message"] == "Door: 2 m. Roof: 5 m."


def test_a_question_whose_questions_cannot_be_read_takes_any_answer() -> None:
    machine = Machine()
    machine.ask(CanUseTool(tool_name="AskUserQuestion", input={"questions": "?"}))
    assert decision(machine.reply(answers={"q": ["a", "b"]})).behavior == "answer"


def test_a_question_is_not_allowed_without_its_answers() -> None:
    machine = Machine()
    machine.ask(ASK)
    assert "question.answer" in refusal(machine.answer("allow_once")).message
    edited = {**ASK.input, "answers": {"Why?": "c"}}
    assert payload(machine.answer("allow_once", updated_input=edited))["updatedInput"] == edited


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_declined_question_is_a_denial(action: str) -> None:
    machine = Machine()
    machine.ask(ASK)
    effects = machine.reply(action=action, message="Not now.")
    assert payload(effects) == {"behavior": "deny", "message": "Not now."}
    assert decision(effects).behavior == "deny"


def test_a_plan_can_be_approved_with_a_mode_to_go_on_in() -> None:
    machine = Machine()
    machine.ask(PLAN)
    effects = machine.answer("allow_once", mode="acceptEdits")
    assert payload(effects) == {
        "behavior": "allow",
        "updatedInput": {"plan": "# Plan"},
        "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
    }


def test_a_plan_is_rejected_with_feedback() -> None:
    machine = Machine()
    machine.ask(PLAN)
    assert payload(machine.answer("reject_once", message="Add a test.")) == {
        "behavior": "deny",
        "message": "Add a test.",
    }


def test_a_plan_has_no_always() -> None:
    machine = Machine()
    machine.ask(PLAN)
    assert refusal(machine.answer("allow_always:session")).field == "option_id"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": {"name": "Ada"}}, {"action": "accept", "content": {"name": "Ada"}}),
        ({}, {"action": "accept"}),
        ({"action": "decline"}, {"action": "decline"}),
        ({"action": "cancel", "content": {"name": "Ada"}}, {"action": "cancel"}),
    ],
)
def test_an_elicitation_is_answered_as_mcp_does(fields: JsonObject, said: JsonObject) -> None:
    machine = Machine()
    machine.ask(Elicitation(mcp_server_name="calc", message="Name?"))
    assert payload(machine.reply(**fields)) == said


def test_an_elicitation_wants_an_object() -> None:
    machine = Machine()
    machine.ask(Elicitation(message="?"))
    assert refusal(machine.reply(content="Ada")).field == "content"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": "yes"}, {"behavior": "completed", "result": "yes"}),
        ({"action": "cancel"}, {"behavior": "cancelled"}),
    ],
)
def test_a_dialog_is_completed_or_cancelled(fields: JsonObject, said: JsonObject) -> None:
    machine = Machine()
    machine.ask(RequestUserDialog(dialog_kind="refusal_fallback_prompt"))
    assert payload(machine.reply(**fields)) == said


def test_each_kind_of_request_has_its_own_kind_of_answer() -> None:
    machine = Machine()
    machine.ask(BASH)
    assert "permission.respond" in refusal(machine.reply(answers={"a": "b"})).message
    machine = Machine()
    machine.ask(Elicitation(message="?"))
    assert "question.answer" in refusal(machine.answer("allow_once")).message


# Rules and policies at can_use_tool


def test_rules_answer_before_humans_are_asked() -> None:
    rules = read_rules(
        [
            {"action": "deny", "tool": "Bash", "input": {"command": "rm *"}, "reason": "No removing."},
            {"action": "allow", "tool": "Bash", "input": {"command": "ls*"}},
            {"action": "ask", "tool": "Bash"},
        ]
    )
    machine = Machine(PermissionSettings(rules=rules))
    effects = machine.ask(CanUseTool(tool_name="Bash", input={"command": "rm x"}), "1")
    assert payload(effects) == {"behavior": "deny", "message": "No removing."}
    assert decision(effects).by == "rule:1"
    effects = machine.ask(CanUseTool(tool_name="Bash", input={"command": "ls"}), "2")
    assert payload(effects)["behavior"] == "allow"
    assert decision(effects).by == "rule:2"
    assert machine.ask(BASH, "3") == []
    assert waiting_for_humans(machine.state) == ("3",)


@pytest.mark.parametrize("request_", [ASK, PLAN])
def test_no_rule_answers_a_question_to_a_human(request_: CanUseTool) -> None:
    machine = Machine(PermissionSettings(rules=read_rules([{"action": "allow"}]), policy="autonomous"))
    assert machine.ask(request_) == []
    assert waiting_for_humans(machine.state) == ("r",)


def test_a_request_nobody_knows_is_refused() -> None:
    [effect] = Machine().ask(UnknownRequest({"subtype": "launch_rocket"}))
    assert isinstance(effect, Respond)
    assert response_of(effect).error == "turnwire does not answer launch_rocket"


# Hooks


def pre_tool(tool: str, arguments: JsonObject | None = None, mode: str = "default") -> HookCallback:
    return HookCallback(
        callback_id=PRE_TOOL,
        input={
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": arguments or {},
            "permission_mode": mode,
        },
    )


def verdict(effects: list[Effect]) -> object:
    return payload(effects).get("hookSpecificOutput", {}).get("permissionDecision")


def test_supervised_asks_about_everything_but_safe_tools() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    for number, tool in enumerate(["Bash", "Write", "WebFetch", "mcp__x__y", "ExitPlanMode", "NewTool"]):
        effects = machine.ask(pre_tool(tool), f"ask{number}")
        assert verdict(effects) == "ask"
        assert (decision(effects).behavior, decision(effects).by) == ("ask", "policy:supervised")
    for number, tool in enumerate(["Glob", "Grep", "NotebookRead", "Read", "Task", "TodoWrite", "Agent"]):
        assert verdict(machine.ask(pre_tool(tool), f"safe{number}")) == "allow"


def test_supervised_remembers_an_always() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    machine.ask(BASH)
    machine.answer("allow_always:session")
    assert verdict(machine.ask(pre_tool("Bash", {"command": "touch a"}), "1")) == "allow"
    assert verdict(machine.ask(pre_tool("Bash", {"command": "touch b"}), "2")) == "ask"


def test_supervised_leaves_edits_to_the_cli_once_a_human_accepts_them_all() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    effects = machine.ask(pre_tool("Edit", mode="acceptEdits"), "1")
    assert payload(effects) == {}
    assert decision(effects).behavior == "pass"
    assert verdict(machine.ask(pre_tool("Bash", mode="acceptEdits"), "2")) == "ask"
    assert payload(machine.ask(pre_tool("Bash", mode="bypassPermissions"), "3")) == {}


def test_plan_asks_about_the_plan_and_allows_the_rest() -> None:
    machine = Machine(PermissionSettings(policy="plan"))
    assert verdict(machine.ask(pre_tool("ExitPlanMode"), "1")) == "ask"
    assert verdict(machine.ask(pre_tool("AskUserQuestion"), "2")) == "ask"
    assert verdict(machine.ask(pre_tool("Bash"), "3")) == "allow"


@pytest.mark.parametrize("reason", [None, "mode", "other", "subcommandResults"])
def test_plan_allows_what_a_new_cli_asks_all_the_same(reason: str | None) -> None:
    machine = Machine(PermissionSettings(policy="plan", asks_despite_hooks=True))
    effects = machine.ask(replace(BASH, decision_reason_type=reason))
    assert payload(effects) == {"behavior": "allow", "updatedInput": {"command": "touch a"}}
    assert decision(effects).by == "policy:plan"
    assert waiting_for_humans(machine.state) == ()


@pytest.mark.parametrize("reason", ["rule", "hook", "safetyCheck"])
def test_plan_leaves_to_a_human_what_is_asked_for_another_reason_than_the_mode(reason: str) -> None:
    machine = Machine(PermissionSettings(policy="plan", asks_despite_hooks=True))
    assert machine.ask(replace(BASH, decision_reason_type=reason)) == []
    assert waiting_for_humans(machine.state) == ("r",)


def test_plan_leaves_to_a_human_what_an_old_cli_asks_despite_the_hook() -> None:
    machine = Machine(PermissionSettings(policy="plan"))
    assert machine.ask(BASH) == []


def test_plan_never_answers_a_plan_or_a_question_by_itself() -> None:
    for request in (PLAN, ASK, replace(BASH, requires_user_interaction=True)):
        machine = Machine(PermissionSettings(policy="plan", asks_despite_hooks=True))
        assert machine.ask(request) == []
        assert waiting_for_humans(machine.state) == ("r",)


def test_rules_come_before_every_policy() -> None:
    rules = read_rules([{"action": "deny", "tool": "Read", "input": {"file_path": "*/secrets/*"}}])
    policies: tuple[Policy | None, ...] = ("supervised", "plan", "autonomous", None)
    for policy in policies:
        machine = Machine(PermissionSettings(policy=policy, rules=rules))
        assert verdict(machine.ask(pre_tool("Read", {"file_path": "/w/secrets/key"}))) == "deny"


@pytest.mark.parametrize("policy", [None, "autonomous"])
def test_without_an_opinion_the_cli_decides(policy: Policy | None) -> None:
    machine = Machine(PermissionSettings(policy=policy, rules=read_rules([{"action": "deny", "tool": "X"}])))
    assert payload(machine.ask(pre_tool("ExitPlanMode"))) == {}


def test_an_unknown_hook_denies() -> None:
    machine = Machine()
    effects = machine.ask(HookCallback(callback_id="stranger", input={"hook_event_name": "PreToolUse"}))
    assert verdict(effects) == "deny"
    [_, effect] = machine.ask(HookCallback(callback_id="stranger", input={"hook_event_name": "Stop"}), "2")
    assert isinstance(effect, Respond)
    assert response_of(effect).error == "turnwire knows no hook 'stranger'"


def test_people_cannot_answer_for_a_hook() -> None:
    machine = Machine(PermissionSettings(hooks=(HookSetting(event="Stop", command=("x",)),)))
    machine.ask(HookCallback(callback_id="turnwire_hook_0"))
    assert refusal(machine.answer("allow_once")).code == "unknown_request"
    assert waiting_for_humans(machine.state) == ()


# The Stop hook

STOPPING = HookCallback(callback_id=STOP, input={"hook_event_name": "Stop", "stop_hook_active": False})


def test_a_clean_workspace_lets_the_agent_stop() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    assert machine.ask(STOPPING) == [RunGitCheck("r")]
    assert payload(machine(GitChecked("r"))) == {}


def test_uncommitted_changes_send_the_agent_back_once_in_a_turn() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    machine.ask(STOPPING)
    said = payload(machine(GitChecked("r", (" M a.py", "?? b.py"))))
    assert said["decision"] == "block"
    assert " M a.py\n?? b.py" in said["reason"]
    assert payload(machine.ask(STOPPING, "2")) == {}, "not again in this turn"
    machine(TurnEnded())
    assert machine.ask(STOPPING, "3") == [RunGitCheck("3")]


def test_an_agent_that_was_sent_back_already_may_stop() -> None:
    machine = Machine(PermissionSettings(policy="supervised"))
    active = HookCallback(callback_id=STOP, input={"hook_event_name": "Stop", "stop_hook_active": True})
    assert payload(machine.ask(active)) == {}


def test_a_long_list_of_changes_is_cut() -> None:
    machine = Machine(PermissionSettings(policy="plan"))
    machine.ask(STOPPING)
    reason = payload(machine(GitChecked("r", tuple(f"?? {n}" for n in range(50)))))["reason"]
    assert "… and 30 more" in reason


# Hooks of the configuration


def hooked(event: str) -> tuple[Machine, HookCallback]:
    machine = Machine(PermissionSettings(hooks=(HookSetting(event=event, command=("./hook",)),)))
    request = HookCallback(callback_id="turnwire_hook_0", input={"hook_event_name": event})
    assert machine.ask(request) == [RunHook("r", machine.state.settings.hooks[0], request.input)]
    return machine, request


def test_what_a_hook_says_is_what_the_cli_is_told() -> None:
    machine, _ = hooked("PostToolUse")
    effects = machine(HookRan("r", {"decision": "block", "reason": "lint first"}))
    assert payload(effects) == {"decision": "block", "reason": "lint first"}
    assert (decision(effects).behavior, decision(effects).by) == ("deny", "hook:PostToolUse:./hook")


@pytest.mark.parametrize("word", ["allow", "deny", "ask"])
def test_a_short_verdict_is_written_out(word: str) -> None:
    machine, _ = hooked("PreToolUse")
    effects = machine(HookRan("r", {"decision": word, "reason": "so"}))
    assert payload(effects) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": "so",
        }
    }
    assert decision(effects).behavior == word


@pytest.mark.parametrize("word", ["Deny", "denied", "DENY", "", "no", "reject", 1, True, ["deny"]])
def test_a_verdict_that_there_is_not_denies_the_call(word: object) -> None:
    for output in ({"decision": word}, {"hookSpecificOutput": {"permissionDecision": word}}):
        machine, _ = hooked("PreToolUse")
        effects = machine(HookRan("r", output))
        assert verdict(effects) == "deny"
        assert (decision(effects).behavior, decision(effects).by) == ("deny", "hook:PreToolUse:./hook")
        assert "a decision is allow, deny or ask" in (decision(effects).message or "")


@pytest.mark.parametrize("word", ["approve", "block", None])
def test_the_clis_older_words_and_its_own_fourth_are_passed_on(word: str | None) -> None:
    for output in ({"decision": word}, {"hookSpecificOutput": {"permissionDecision": "defer"}}):
        machine, _ = hooked("PreToolUse")
        assert "a decision is" not in (decision(machine(HookRan("r", output))).message or "")


def test_a_full_verdict_gets_the_name_of_its_event() -> None:
    machine, _ = hooked("UserPromptSubmit")
    effects = machine(HookRan("r", {"hookSpecificOutput": {"additionalContext": "x"}}))
    assert payload(effects) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}
    }


@pytest.mark.parametrize(
    ("ran", "behavior"), [({}, "pass"), ({"systemMessage": "x"}, "pass"), (None, "error")]
)
def test_a_hook_without_an_opinion_is_not_said_to_ask(ran: dict[str, object] | None, behavior: str) -> None:
    machine, _ = hooked("PostToolUse")
    effects = machine(HookRan("r", ran) if ran is not None else HookRan("r", error="exit code 1"))
    assert decision(effects).behavior == behavior


def test_a_hook_that_fails_denies_a_call_and_is_no_more_than_a_note_elsewhere() -> None:
    machine, _ = hooked("PreToolUse")
    assert verdict(machine(HookRan("r", error="exit code 1"))) == "deny"
    machine, _ = hooked("Stop")
    effects = machine(HookRan("r", error="exit code 1"))
    assert payload(effects) == {"systemMessage": "the hook Stop:./hook failed: exit code 1"}


def test_a_hook_whose_request_is_cancelled_is_abandoned_and_says_nothing() -> None:
    machine, _ = hooked("PreToolUse")
    assert machine(CancelledByAgent("r")) == [Void("r", "cancelled"), Abandon("r")]
    assert machine(HookRan("r", {"decision": "allow"})) == []
    assert machine(GitChecked("r")) == []


def test_beyond_what_may_wait_requests_are_refused_at_once_and_it_is_told_once() -> None:
    hook = HookSetting(event="PreToolUse", command=("check",))
    machine = Machine(PermissionSettings(max_pending=4, hooks=(hook,)))
    for number in range(4):
        assert machine(asked(f"r{number}", BASH)) == []
    denied = machine(asked("r4", BASH))
    assert [type(effect) for effect in denied] == [Decide, Respond, Overloaded]
    assert isinstance(denied[0], Decide)
    assert (denied[0].decision.behavior, denied[0].decision.by) == ("deny", "turnwire")
    assert isinstance(denied[1], Respond)
    assert response_of(denied[1]).payload == {"behavior": "deny", "message": TOO_MANY}
    others: list[AnyRequest] = [
        Elicitation(mcp_server_name="s", message="?"),
        RequestUserDialog(dialog_kind="d"),
        HookCallback(callback_id=callback_id(0), input={"hook_event_name": "PreToolUse"}),
    ]
    for number, request in enumerate(others):
        refused = machine(asked(f"o{number}", request))
        assert [type(effect) for effect in refused] == [Decide, Respond]
    assert len(machine.state.pending) == 4
    # what nobody has to wait for is answered as ever
    judged = machine(asked("h", HookCallback(callback_id=PRE_TOOL, input={"tool_name": "Read"})))
    assert [type(effect) for effect in judged] == [Decide, Respond]
    # once half of them wait no more, the next time is told again
    for number in range(2):
        machine(CancelledByAgent(f"r{number}"))
    for number in range(3):
        effects = machine(asked(f"s{number}", BASH))
    assert isinstance(effects[-1], Overloaded)


def test_suggestions_of_no_form_at_all_cost_no_session() -> None:
    odd: list[JsonObject] = [
        {"type": "addDirectories", "directories": ["/x"]},
        {"type": "addRules", "rules": 7, "behavior": "allow", "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits"},
    ]
    machine = Machine()
    machine.ask(replace(BASH, permission_suggestions=odd))
    effects = machine.answer("allow_always:mode:acceptEdits")
    session = {"destination": "session"}
    assert payload(effects)["updatedPermissions"] == [{**odd[0], **session}, {**odd[2], **session}]
    assert decision(effects).destination == "session"


def test_where_nobody_can_be_asked_a_call_is_denied_and_a_question_declined_at_once() -> None:
    machine = Machine(PermissionSettings(auto_deny_as="runner"))
    denied = machine.ask(BASH)
    assert payload(denied) == {"behavior": "deny", "message": NOBODY}
    assert decision(denied) == Decision("r", "deny", "runner", 0, option_id="reject_once", message=NOBODY)
    declined = machine.ask(Elicitation(mcp_server_name="s", message="?"), "q")
    assert payload(declined) == {"action": "decline"}
    assert decision(declined).by == "runner"
    assert machine.state.pending == {}


def test_a_request_that_is_told_again_changes_nothing_whether_it_waits_or_was_settled() -> None:
    machine = Machine()
    machine.ask(BASH)
    assert machine.ask(BASH) == []
    machine.answer("allow_once")
    before = machine.state
    assert machine.ask(BASH) == []
    assert machine.state == before


def test_what_became_of_old_requests_is_forgotten_oldest_first() -> None:
    machine = Machine(PermissionSettings(auto_deny_as="runner"))
    for number in range(MAX_SETTLED + 3):
        machine.ask(BASH, f"r{number}")
    assert len(machine.state.settled) == MAX_SETTLED
    assert next(iter(machine.state.settled)) == "r3"


def test_an_agent_without_hooks_has_its_requests_judged_by_the_policy() -> None:
    machine = Machine(PermissionSettings(policy="supervised", judges_requests=True))
    allowed = machine.ask(CanUseTool(tool_name="Read", input={"file_path": "/w/a"}))
    assert (decision(allowed).behavior, decision(allowed).by) == ("allow", "policy:supervised")
    assert machine.ask(BASH, "b") == []
    assert waiting_for_humans(machine.state) == ("b",)


def test_a_request_for_a_protected_place_is_asked_about_or_refused_whatever_was_allowed_before() -> None:
    protected = ProtectedPlaces(own=("/state",), secret=("/home/.ssh",))
    settings = PermissionSettings(policy="supervised", judges_requests=True, protected=protected)
    machine = Machine(settings)
    machine.state = State(settings, grants=(Grant("Read"),))
    refused = machine.ask(CanUseTool(tool_name="Read", input={"file_path": "/w/../state/access.json"}))
    assert (decision(refused).behavior, decision(refused).by) == ("deny", "turnwire")
    assert machine.ask(CanUseTool(tool_name="Read", input={"file_path": "/home/.ssh/id_rsa"}), "b") == []
    assert waiting_for_humans(machine.state) == ("b",)
    allowed = machine.ask(CanUseTool(tool_name="Read", input={"file_path": "/home/notes"}), "c")
    assert decision(allowed).behavior == "allow"
