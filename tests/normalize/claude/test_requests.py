"""What the CLI asks and waits for: published once, and over once."""

import json
from typing import Any

import pytest

from tests.normalize.lines import (
    Talk,
    answer,
    assistant,
    control,
    init,
    result,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.inputs import Decision, Sent
from turnwire.protocol.claude.answers import Deny, answer_permission
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import encode

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
    "behavior": "allow",
    "destination": "localSettings",
}
QUESTIONS = [
    {"question": "Which?", "header": "H", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": False}
]


def may_run(id: str = "c1", name: str = "Bash", **fields: object) -> dict[str, object]:  # noqa: A002 - its field
    arguments = fields.pop("input", {"command": "ls"})
    return control(id, "can_use_tool", tool_name=name, input=arguments, **fields)


def asked(*calls: dict[str, object]) -> Talk:
    talk = Talk()
    talk.hears(init(), assistant(*(calls or (tool_use("t"),))))
    return talk


def test_a_request_says_what_would_happen_and_how_to_answer() -> None:
    talk = asked()
    line = may_run(
        tool_use_id="t",
        permission_suggestions=[RULE],
        blocked_path="/etc",
        decision_reason="outside",
        agent_id=None,
    )
    assert talk.hears(line) == ["permission_request t c1 outside"]
    told = talk.last("permission_request")
    assert told["action_type"] == "command"
    assert told["action_details"] == {"command": "ls"}
    assert told["tool_input"] == {"command": "ls"}
    assert told["permission_title"] == "ls"
    assert told["blocked_path"] == "/etc"
    assert told["suggestions"] == [RULE]
    assert [option["option_id"] for option in told["permission_options"]] == [
        "allow_once",
        "allow_always:session",
        "allow_always:localSettings",
        "reject_once",
        "reject_interrupt",
    ]


def test_the_call_is_found_by_name_and_input_where_the_cli_does_not_say() -> None:
    talk = asked(tool_use("t1", command="ls"), tool_use("t2", command="pwd"), tool_use("t3", command="pwd"))
    assert talk.hears(may_run("c1", input={"command": "pwd"})) == ["permission_request t2 c1"]
    assert talk.hears(may_run("c2", input={"command": "pwd"})) == ["permission_request t3 c2"]
    assert talk.hears(may_run("c3", input={"command": "changed by a hook"})) == ["permission_request t1 c3"]
    assert talk.hears(may_run("c4", name="Write", input={"file_path": "/x", "content": ""})) == [
        "permission_request c4"
    ]
    assert talk.last("permission_request")["action_type"] == "file_write"


def test_each_action_has_its_type() -> None:
    talk = Talk()
    talk.hears(init())
    for name, arguments, action, details in (
        ("Read", {"file_path": "/f"}, "file_read", {"path": "/f"}),
        ("Grep", {"pattern": "x"}, "file_read", {"pattern": "x"}),
        ("WebFetch", {"url": "http://u", "prompt": "p"}, "network", {"url": "http://u"}),
        ("mcp__calc__add", {"a": 1}, "mcp_tool", {"server": "calc", "tool": "add"}),
        ("Skill", {"skill": "x"}, "other", None),
        ("Odd", {}, "other", None),
    ):
        talk.hears(may_run(name, name, input=arguments))
        told = talk.last("permission_request")
        assert (told["action_type"], told.get("action_details")) == (action, details)


def test_paths_in_spec_3s_spelling_are_read() -> None:
    talk = asked()
    talk.hears(may_run("c1", blocked_paths="/etc,/usr"))
    assert talk.last("permission_request")["blocked_path"] == "/etc,/usr"
    talk.hears(may_run("c2", blocked_paths=["/etc", "/usr"]))
    assert talk.last("permission_request")["blocked_path"] == "/etc,/usr"


def test_an_answer_we_sent_resolves_it() -> None:
    talk = asked()
    talk.hears(may_run())
    assert talk.says(answer("c1", behavior="allow", updatedInput={"command": "ls"})) == [
        "permission_resolved t c1 allow"
    ]
    assert talk.says(answer("c1", behavior="allow", updatedInput={"command": "ls"})) == []
    assert talk.hears(user(tool_result("t"))) == ["tool_update t complete"]


def test_a_denial_we_sent_is_the_reason_of_the_failure() -> None:
    talk = asked()
    talk.hears(may_run())
    assert talk.says(answer("c1", behavior="deny", message="Not now", interrupt=True)) == [
        "permission_resolved t c1 deny"
    ]
    assert talk.last("permission_resolved").items() >= {"message": "Not now", "interrupt": True}.items()
    assert talk.hears(user(tool_result("t", "Not now", is_error=True))) == [
        "tool_update t error denied Not now"
    ]


def test_an_answer_that_says_nothing_is_a_denial_as_the_cli_takes_it() -> None:
    talk = asked(tool_use("t1"), tool_use("t2"))
    talk.hears(may_run("c1"), may_run("c2"))
    assert talk.says(answer("c1", result="garbage")) == ["permission_resolved t1 c1 deny"]
    refused = {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "c2", "error": "no handler"},
    }
    assert talk.says(refused) == ["permission_resolved t2 c2 deny"]
    assert talk.last("permission_resolved")["message"] == "no handler"


def test_a_decision_tells_who_and_how_and_its_line_no_more() -> None:
    talk = asked()
    talk.hears(may_run())
    decision = Decision("c1", "deny", "ada", 1200, option_id="reject_once", message="No", interrupt=True)
    assert talk.decides(decision) == ["permission_resolved t c1 deny"]
    told = talk.last("permission_resolved")
    assert (
        told.items()
        >= {"by": "ada", "waited_ms": 1200, "option_id": "reject_once", "interrupt": True}.items()
    )
    assert talk.says(answer("c1", behavior="deny", message="No")) == []
    assert talk.decides(decision) == []
    assert talk.hears(user(tool_result("t", "No", is_error=True))) == ["tool_update t error denied No"]


def test_the_last_decision_of_a_call_counts() -> None:
    talk = asked()
    talk.hears(may_run())
    talk.decides(Decision("c1", "deny", "ada", 1))
    talk.hears(may_run("c2"))
    assert talk.decides(Decision("c2", "allow", "ada", 5)) == ["permission_resolved t c2 allow"]
    assert talk.hears(user(tool_result("t", "No", is_error=True))) == ["tool_update t error failed No"]


def test_a_request_that_is_taken_back_closes_its_dialog() -> None:
    talk = asked()
    talk.hears(may_run())
    assert talk.hears({"type": "control_cancel_request", "request_id": "c1"}) == [
        "permission_cancelled t c1 cancelled"
    ]
    assert talk.hears({"type": "control_cancel_request", "request_id": "c1"}) == []
    talk.hears(may_run("c2"))
    talk.says(control("i", "interrupt"))
    assert talk.hears({"type": "control_cancel_request", "request_id": "c2"}) == [
        "permission_cancelled t c2 interrupted"
    ]


def test_the_result_of_the_tool_answers_what_nobody_was_heard_to_answer() -> None:
    talk = asked(tool_use("t1"), tool_use("t2"))
    talk.hears(may_run("c1"), may_run("c2"))
    assert talk.hears(user(tool_result("t1"))) == [
        "permission_resolved t1 c1 allow",
        "tool_update t1 complete",
    ]
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    assert talk.hears(user(tool_result("t2", refused, is_error=True)))[0] == "permission_resolved t2 c2 deny"


REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def test_an_interruption_in_the_words_of_a_refusal_is_no_refusal() -> None:
    talk = asked()
    told = talk.hears(user(tool_result("t", REJECTED, is_error=True)))
    assert told[0].startswith("tool_update t error interrupted")


def test_a_command_stopped_after_leave_was_given_is_interrupted() -> None:
    talk = asked()
    talk.hears(may_run())
    talk.says(answer("c1", behavior="allow", updatedInput={}))
    told = talk.hears(user(tool_result("t", REJECTED, is_error=True)))
    assert told[0].startswith("tool_update t error interrupted")


def test_a_command_stopped_after_somebody_gave_leave_is_interrupted() -> None:
    talk = asked()
    talk.hears(may_run())
    talk.decides(Decision("c1", "allow", by="human", waited_ms=1))
    told = talk.hears(user(tool_result("t", REJECTED, is_error=True)))
    assert told[0].startswith("tool_update t error interrupted")


def test_a_command_whose_request_was_taken_back_is_interrupted_and_never_ran() -> None:
    talk = asked()
    talk.hears(may_run(), {"type": "control_cancel_request", "request_id": "c1"})
    told = talk.hears(user(tool_result("t", REJECTED, is_error=True)))
    assert told[0].startswith("tool_update t error interrupted")
    assert "output" not in talk.last("tool_update")["normalized"]["shell_exec"]


def test_what_still_waits_is_void_with_the_end_of_the_turn() -> None:
    talk = asked()
    talk.hears(may_run())
    assert talk.hears(result("x"))[:2] == [
        "tool_update t complete no_result",
        "permission_cancelled t c1 turn_ended",
    ]


def test_what_a_background_subagent_asks_outlives_the_turn() -> None:
    talk = asked()
    talk.hears(may_run(agent_id="b1", tool_use_id="elsewhere"), user(tool_result("t")))
    assert talk.hears(result("x"))[-1] == "complete turn-1 completed"
    assert talk.says(answer("c1", behavior="allow", updatedInput={"command": "ls"})) == [
        "permission_resolved elsewhere c1 allow"
    ]
    talk.hears(may_run("c2", agent_id="b1"))
    assert talk.ends()[0] == "permission_cancelled c2 process_exited"


def test_questions_of_the_agent_are_asked_and_answered() -> None:
    talk = asked(tool_use("t", "AskUserQuestion", questions=QUESTIONS))
    line = may_run(name="AskUserQuestion", tool_use_id="t", input={"questions": QUESTIONS})
    assert talk.hears(line) == ["question_request t c1 ask_user"]
    assert talk.last("question_request")["questions"][0]["question"] == "Which?"
    assert talk.says(answer("c1", behavior="allow", updatedInput={"answers": {"Which?": "A"}})) == [
        "permission_resolved t c1 answer"
    ]
    unseen = may_run("c2", name="AskUserQuestion", tool_use_id="x", input={"questions": QUESTIONS})
    assert talk.hears(unseen, unseen) == ["question_request x c2 ask_user"]


def test_questions_of_an_mcp_server_are_asked() -> None:
    talk = Talk()
    line = control(
        "e1", "elicitation", mcp_server_name="calc", message="Your name?", mode="form", requested_schema={}
    )
    assert talk.hears(line) == ["question_request e1 elicitation"]
    assert talk.last("question_request").items() >= {"mcp_server": "calc", "message": "Your name?"}.items()
    assert talk.says(answer("e1", action="accept")) == ["permission_resolved e1 answer"]


def test_what_an_mcp_server_or_a_dialog_asks_outlives_the_turn() -> None:
    talk = asked()
    talk.hears(control("e1", "elicitation", mcp_server_name="calc", message="?"))
    talk.hears(control("e2", "elicitation", mcp_server_name="calc", message="?"))
    talk.hears(control("d1", "request_user_dialog", dialog_kind="trust", payload={}))
    told = talk.hears(user(tool_result("t")), result("x"))
    assert [one for one in told if one.startswith("permission")] == []
    assert talk.says(answer("e1", action="accept")) == ["permission_resolved e1 answer"]
    taken_back = talk.hears({"type": "control_cancel_request", "request_id": "e2"})
    assert taken_back == ["permission_cancelled e2 cancelled"]
    assert talk.ends()[0] == "permission_cancelled d1 process_exited"


def test_dialogs_of_the_cli_are_shown() -> None:
    talk = Talk()
    assert talk.hears(control("d1", "request_user_dialog", dialog_kind="trust", payload={"x": 1})) == [
        "question_request d1 dialog"
    ]
    assert talk.last("question_request")["details"] == {"x": 1}


def test_a_plan_is_shown_with_the_question_whether_to_follow_it() -> None:
    talk = asked(tool_use("t", "ExitPlanMode", plan=""))
    line = may_run(name="ExitPlanMode", tool_use_id="t", input={"plan": "# Plan", "planFilePath": "/p.md"})
    assert talk.hears(line) == ["agent_plan t", "permission_request t c1"]
    assert talk.last("agent_plan")["plan_file_path"] == "/p.md"
    again = may_run("c2", name="ExitPlanMode", tool_use_id="t", input={"plan": "# Plan"})
    assert talk.hears(again) == ["permission_request t c2"]


def test_hooks_that_ask_us_are_told_with_our_answer() -> None:
    talk = asked()
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    hook = control("h1", "hook_callback", callback_id="hook_0", tool_use_id="t", input=call)
    assert talk.hears(hook) == ["hook_activity t callback"]
    specific = {"permissionDecision": "deny", "permissionDecisionReason": "not here"}
    assert talk.says(answer("h1", hookSpecificOutput=specific)) == ["hook_activity t answered deny"]
    assert talk.last("hook_activity").items() >= {"output": "not here", "hook_event": "PreToolUse"}.items()


def test_answers_of_hooks_in_every_form() -> None:
    talk = Talk()
    answers: list[tuple[dict[str, object], str]] = [
        ({}, "success"),
        ({"decision": "block", "reason": "r"}, "block"),
        ({"continue": False, "stopReason": "s"}, "stop"),
    ]
    for number, (said, outcome) in enumerate(answers):
        talk.hears(
            control(f"h{number}", "hook_callback", callback_id="stop", input={"hook_event_name": "Stop"})
        )
        assert talk.says(answer(f"h{number}", **said)) == [f"hook_activity answered {outcome}"]
    talk.hears(control("h9", "hook_callback", callback_id="x", input={}))
    failed = {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "h9", "error": "broken"},
    }
    assert talk.says(failed) == ["hook_activity answered error"]


EDITED = {"command": "make", "description": "Edited"}


def test_a_call_that_may_run_with_edited_arguments_is_told_anew() -> None:
    talk = asked()
    talk.hears(may_run(tool_use_id="t"))
    decision = Decision("c1", "allow", "ada", 5, updated_input=EDITED)
    assert talk.decides(decision) == ["permission_resolved t c1 allow", "tool_update t running"]
    for told in (talk.last("tool_update"), ended(talk)):
        assert told["tool_title"] == "make"
        assert told["normalized"]["shell_exec"].items() >= EDITED.items()


def ended(talk: Talk) -> dict[str, Any]:
    talk.hears(user(tool_result("t", "made")))
    return talk.last("tool_update")


def test_an_answer_we_sent_can_edit_the_arguments_of_a_call_that_is_found_by_its_name() -> None:
    talk = asked()
    talk.hears(may_run())
    assert talk.says(answer("c1", behavior="allow", updatedInput=EDITED)) == [
        "permission_resolved t c1 allow",
        "tool_update t running",
    ]
    assert ended(talk)["tool_title"] == "make"


def test_arguments_that_come_back_as_they_were_are_no_news() -> None:
    talk = asked(tool_use("t", "Edit", file_path="a", old_string="x", new_string="y"))
    whole = {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": False}
    talk.hears(may_run(name="Edit", input=whole, tool_use_id="t"))
    assert talk.says(answer("c1", behavior="allow", updatedInput=whole)) == ["permission_resolved t c1 allow"]
    talk.hears(may_run("c2", tool_use_id="unseen"))
    assert talk.decides(Decision("c2", "allow", "ada", 5, updated_input=EDITED)) == [
        "permission_resolved unseen c2 allow"
    ]


def test_answers_to_a_question_do_not_change_its_call() -> None:
    talk = asked(tool_use("t", "AskUserQuestion", questions=QUESTIONS))
    talk.hears(may_run(name="AskUserQuestion", input={"questions": QUESTIONS}, tool_use_id="t"))
    given = {"questions": QUESTIONS, "answers": {"Which?": "A"}}
    assert talk.decides(Decision("c1", "answer", "ada", 5, updated_input=given)) == [
        "permission_resolved t c1 answer"
    ]


@pytest.mark.parametrize(("version", "edits"), [(None, False), ("2.1.330", True)])
def test_a_hook_can_edit_the_arguments_where_the_version_heeds_it(version: str | None, edits: bool) -> None:
    talk = Talk()
    talk.hears(init(version), assistant(tool_use("t")))
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    talk.hears(control("h1", "hook_callback", callback_id="hook_0", tool_use_id="t", input=call))
    said = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": EDITED}
    _, *told = talk.says(answer("h1", hookSpecificOutput=said))
    assert told == (["tool_update t running"] if edits else [])
    assert ended(talk)["tool_title"] == ("make" if edits else "ls")


def test_arguments_in_a_hooks_refusal_change_nothing() -> None:
    talk = asked()
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    talk.hears(control("h1", "hook_callback", callback_id="hook_0", tool_use_id="t", input=call))
    said = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "updatedInput": EDITED}
    assert talk.says(answer("h1", hookSpecificOutput=said)) == ["hook_activity t answered deny"]


REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)."
NOT_NOW = "The user doesn't want to take this action right now. STOP what you are doing and wait."


@pytest.mark.parametrize("words", [REJECTED, NOT_NOW])
def test_an_interrupt_is_no_denial_when_nobody_was_asked(words: str) -> None:
    talk = asked()
    told = talk.hears(user(tool_result("t", words, is_error=True)))
    assert told[0].startswith("tool_update t error interrupted")


def test_an_interrupt_of_a_call_that_was_allowed_or_whose_dialog_was_taken_back_is_no_denial() -> None:
    talk = asked(tool_use("t1"), tool_use("t2"))
    talk.hears(may_run("c1", tool_use_id="t1"), may_run("c2", tool_use_id="t2"))
    talk.says(answer("c1", behavior="allow", updatedInput={"command": "ls"}))
    talk.hears({"type": "control_cancel_request", "request_id": "c2"})
    for call in ("t1", "t2"):
        told = talk.hears(user(tool_result(call, REJECTED, is_error=True)))
        assert told[0].startswith(f"tool_update {call} error interrupted")


def test_a_hook_that_says_nothing_has_no_opinion() -> None:
    talk = asked()
    talk.hears(control("h1", "hook_callback", callback_id="x", input={"hook_event_name": "PreToolUse"}))
    assert talk.decides(Decision("h1", "pass", "cli", 0)) == ["hook_activity answered success"]
    talk.hears(may_run())
    assert talk.decides(Decision("c1", "pass", "cli", 0)) == []
    assert talk.decides(Decision("c1", "allow", "ada", 0)) == ["permission_resolved t c1 allow"]


def test_a_decision_about_a_hook_is_told_in_its_place() -> None:
    talk = Talk()
    talk.hears(control("h1", "hook_callback", callback_id="x", input={"hook_event_name": "PreToolUse"}))
    assert talk.decides(Decision("h1", "ask", "policy:supervised", 0)) == ["hook_activity answered ask"]
    assert talk.says(answer("h1")) == []


def test_hooks_that_nobody_answered_leave_no_dialog_behind() -> None:
    talk = asked()
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    talk.hears(control("h1", "hook_callback", callback_id="x", tool_use_id="t", input=call))
    assert talk.hears(user(tool_result("t"))) == ["tool_update t complete"]
    assert talk.hears(result("x"))[-1] == "complete turn-1 completed"


def test_requests_that_wait_since_before_come_with_the_answer_to_initialize() -> None:
    talk = Talk()
    response = answer("i1", commands=[{"name": "compact", "description": "d"}])
    waiting = [{**may_run("c1")}, {"request_id": 7}]
    response["response"]["pending_permission_requests"] = waiting
    assert talk.hears(response) == ["permission_request c1"]


def test_messages_between_mcp_servers_are_part_of_the_exchange() -> None:
    talk = Talk()
    assert talk.hears(control("m1", "mcp_message", server_name="calc", message={})) == []
    assert talk.translator.stats.control == 1
    assert talk.says(answer("m1", mcp_response={})) == []


def test_an_answer_to_us_that_is_an_error_is_a_notice() -> None:
    talk = Talk()
    talk.says(control("s1", "set_model", model="x"))
    refused = {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "s1", "error": "no such"},
    }
    assert talk.hears(refused) == ["notice no such control/set_model"]
    assert talk.hears(refused) == ["notice no such control"]
    assert talk.hears(answer("s2")) == []


def test_a_change_of_the_permission_mode_is_told_once() -> None:
    talk = Talk()
    talk.hears(init(permissionMode="default"))
    assert talk.last("session_mode")["current_mode_id"] == "default"
    talk.says(control("s1", "set_permission_mode", mode="plan"))
    talk.hears(answer("s1", mode="plan"), system("status", status=None, permissionMode="plan"))
    assert [e.type for e in talk.events].count("session_mode") == 2
    talk.says(control("s2", "set_permission_mode", mode="default"))
    talk.hears(answer("s2"))
    assert talk.last("session_mode")["current_mode_id"] == "plan"


def test_requests_of_ours_that_are_never_answered_are_forgotten_in_time() -> None:
    talk = Talk()
    for number in range(300):
        talk.says(control(f"s{number}", "no_such_subtype"))
    refused = {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "s0", "error": "late"},
    }
    assert talk.hears(refused) == ["notice late control"]


def test_lines_we_write_that_are_no_messages_of_a_host_say_nothing() -> None:
    talk = Talk()
    assert talk.says(assistant(text("x")), system("x")) == []


@pytest.mark.parametrize("fields", [{}, {"request_id": None}, {"request_id": ""}])
def test_a_request_that_nobody_can_answer_is_an_unknown_line(fields: dict[str, object]) -> None:
    for kind in ("control_request", "control_cancel_request"):
        line = json.dumps({"type": kind, **fields}).encode()
        [event] = ClaudeCore().receive(decode(line), line)
        assert isinstance(event, ev.Unknown)
        assert (event.message_type, event.raw) == (kind, line.decode())


def test_a_request_that_turnwire_does_not_know_is_published_as_an_unknown_line() -> None:
    line = b'{"type":"control_request","request_id":"r","request":{"subtype":"dance"}}'
    [event] = ClaudeCore().receive(decode(line), line)
    assert isinstance(event, ev.Unknown)
    assert (event.message_type, event.raw) == ("control_request/dance", line.decode())


@pytest.mark.parametrize("own_id", [5, 0, 1.5, True, [], {"a": 1}, "x" * 201, "\n", "é"])
def test_a_request_with_an_odd_id_gets_a_name_and_its_answer_the_id(own_id: object) -> None:
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
    core = ClaudeCore()
    [event] = core.receive(
        decode(json.dumps({"type": "control_request", "request_id": own_id, "request": asked}).encode())
    )
    assert isinstance(event, ev.PermissionRequest)
    assert core.pending == (event.pending_id,)
    assert event.pending_id.startswith("request-")
    answered = decode(encode(answer_permission(own_id, Deny("no"))))
    [resolved] = core.handle(Sent(b"", answered))
    assert isinstance(resolved, ev.PermissionResolved)
    assert resolved.pending_id == event.pending_id
