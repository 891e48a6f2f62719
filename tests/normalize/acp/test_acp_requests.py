"""Requests of either side: what is told of them, of their answers, and of ids that are used again."""

from typing import Any

import pytest

from acp_talk import Event, Talk, only, types
from turnwire.normalize.acp.requests import MOST_NAMED
from turnwire.normalize.inputs import Decision, Ended
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import PermissionRequest

OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]


def asks(talk: Talk, name: Any, call: str, session: str = "s") -> list[Event]:
    params = {"sessionId": session, "toolCall": {"toolCallId": call, "title": call}, "options": OPTIONS}
    return talk.hears(encode.request(name, "session/request_permission", params))


def yes(name: Any) -> bytes:
    return encode.response(name, {"outcome": {"outcome": "selected", "optionId": "yes"}})


def test_a_request_is_found_under_the_name_it_was_published_under() -> None:
    talk = Talk()
    assert asks(talk, 1, "c", session="before")
    requests = []
    for name in ("a", "b"):
        params = {"sessionId": "s", "toolCall": {"toolCallId": name, "title": name}, "options": OPTIONS}
        request = decode(encode.request(name, "session/request_permission", params).rstrip())
        assert isinstance(request, PermissionRequest)
        published = talk.core.receive(request)[-1]
        requests.append((request, getattr(published, "pending_id", None)))
    assert [talk.core.pending_id(request) for request, _ in requests] == [name for _, name in requests]
    talk.says(yes("a"))
    assert [talk.core.pending_id(request) for request, _ in requests] == [None, requests[1][1]]


@pytest.mark.parametrize(
    ("kind", "behavior"),
    [
        ("allow_once", "allow"),
        ("allow_always", "allow"),
        ("reject_once", "deny"),
        ("reject_always", "deny"),
        ("allow_if_you_must", "deny"),
    ],
)
def test_choosing_an_option_is_what_its_kind_says_and_no_leave_where_that_is_not_known(
    kind: str, behavior: str
) -> None:
    talk = Talk()
    talk.prompt(1)
    options = [{"optionId": "o", "name": "O", "kind": kind}]
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "x"}, "options": options}
    asked = only(talk.hears(encode.request(1, "session/request_permission", params)), "permission_request")
    shown = "reject_once" if kind == "allow_if_you_must" else kind
    assert [option["kind"] for option in asked["permission_options"]] == [shown]
    (told,) = talk.says(encode.response(1, {"outcome": {"outcome": "selected", "optionId": "o"}}))
    assert told["behavior"] == behavior


def test_an_answer_that_is_an_error_refuses() -> None:
    talk = Talk("gemini-cli")
    talk.prompt(1)
    asks(talk, 1, "c")
    resolved, ended = talk.says(encode.error(1, -32000, "nobody is there"))
    assert (resolved["type"], resolved["behavior"], resolved["message"]) == (
        "permission_resolved",
        "deny",
        "nobody is there",
    )
    assert (ended["type"], ended["reason"]) == ("tool_update", "denied")


def test_a_name_that_comes_out_a_second_time_takes_the_place_of_the_first_request() -> None:
    talk = Talk()
    talk.prompt(1)
    asks(talk, "a", "one")
    second = only(asks(talk, "a", "two"), "permission_request")
    assert second["pending_id"].endswith("/a#2")
    told = asks(talk, "a#2", "three")
    assert types(told) == ["tool_call", "permission_cancelled", "permission_request"]
    assert (told[1]["tool_call_id"], told[2]["pending_id"]) == ("two", second["pending_id"])
    assert [name.rpartition("/")[2] for name in talk.core.pending] == ["a", "a#2"]
    assert types(talk.update("tool_call_update", toolCallId="two", status="completed")) == ["tool_update"]
    assert len(talk.waits()) == 2
    assert types(talk.says(yes("a#2"))) == ["permission_resolved"]
    assert types(talk.answers(1, stopReason="end_turn")).count("permission_cancelled") == 1


def test_a_request_whose_id_was_used_long_ago_takes_the_place_of_one_that_still_waits() -> None:
    talk = Talk()
    talk.prompt(1)
    first = only(asks(talk, "a", "one"), "permission_request")
    for number in range(MOST_NAMED):
        asks(talk, number, "many")
        talk.says(yes(number))
    told = asks(talk, "a", "two")
    assert only(told, "permission_cancelled")["tool_call_id"] == "one"
    assert talk.core.pending == (first["pending_id"],) == (told[-1]["pending_id"],)


def test_two_requests_for_one_call_wait_and_end_each_for_itself() -> None:
    talk = Talk()
    talk.prompt(1)
    first, second = (only(asks(talk, name, "c"), "permission_request") for name in ("a", "b"))
    assert [one["pending_id"] for one in talk.says(yes("a"))] == [first["pending_id"]]
    assert talk.core.pending == (second["pending_id"],)
    assert [one["pending_id"] for one in talk.says(yes("b"))] == [second["pending_id"]]


def test_a_question_about_a_call_that_has_ended_is_asked_all_the_same() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", title="List", status="in_progress")
    talk.update("tool_call_update", toolCallId="c", status="completed")
    (asked,) = asks(talk, 1, "c")
    assert (asked["type"], asked["tool_call_id"]) == ("permission_request", "c")
    assert types(talk.says(yes(1))) == ["permission_resolved"]


def test_a_refusal_by_a_human_is_one() -> None:
    talk = Talk()
    talk.prompt(1)
    asked = only(asks(talk, 1, "c"), "permission_request")
    (told,) = talk.decides(Decision(asked["pending_id"], "deny", "ada", 5, option_id="no"))
    assert (told["type"], told["behavior"], told["by"]) == ("permission_resolved", "deny", "ada")
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert (end["tool_status"], end["reason"]) == ("error", "denied")


def test_what_we_ask_in_one_line_is_asked_one_after_the_other() -> None:
    talk = Talk()
    prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "Go on."}]}
    both = [
        encode.request(1, "session/prompt", prompt),
        encode.notification("session/cancel", {"sessionId": "s"}),
    ]
    asked = talk.says(b"[" + b",".join(line.strip() for line in both) + b"]")
    assert types(asked) == ["session_status", "turn_started", "user_message"]
    ended = talk.fails(1, -32603, "aborted")
    assert only(ended, "complete")["data"]["outcome"] == "interrupted"


@pytest.mark.parametrize(
    "line",
    [
        encode.notification("_somebody/else", {}),
        encode.notification("session/cancel", {"sessionId": "s"}),
        encode.notification("session/cancel", {"sessionId": "unknown"}),
        encode.request(9, "session/request_permission", {"sessionId": "s"}),
        b"no message",
    ],
)
def test_what_we_say_beside_requests_is_no_news(line: bytes) -> None:
    talk = Talk()
    talk.text("Hello.")
    talk.answers(1, stopReason="end_turn")
    assert talk.says(line) == []
    assert (talk.core.busy, talk.core.turns) == (False, 1)


def test_a_load_that_fails_has_told_all_of_the_past() -> None:
    talk = Talk()
    talk.sends(1, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    assert talk.text("Old.")[-1]["history"] is True
    (error,) = talk.fails(1, -32602, "no such session")
    assert (error["type"], error["error"]) == ("error", "session/load: no such session")
    assert "history" not in talk.text("New.")[-1]


def loads_what_is_known(talk: Talk) -> None:
    talk.prompt(1)
    talk.answers(1, stopReason="end_turn")
    talk.sends(2, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    assert talk.update("tool_call", toolCallId="c", title="Read", kind="read") == []


def test_a_call_of_a_past_that_is_known_has_no_end_when_its_session_is_loaded_once_more() -> None:
    talk = Talk()
    loads_what_is_known(talk)
    assert talk.sends(3, "session/load", sessionId="s", cwd="/w", mcpServers=[]) == []


def test_a_call_of_a_past_that_is_known_has_no_end_when_its_load_fails() -> None:
    talk = Talk()
    loads_what_is_known(talk)
    assert types(talk.fails(2, -32602, "no such session")) == ["error"]
    assert "tool_update" not in types(talk.prompt(3))


def test_a_call_that_leave_is_asked_for_is_not_of_the_past() -> None:
    talk = Talk()
    loads_what_is_known(talk)
    assert types(asks(talk, 9, "new")) == ["tool_call", "permission_request"]
    end = only(talk.update("tool_call_update", toolCallId="new", status="completed"), "tool_update")
    assert (end["tool_call_id"], end["tool_status"]) == ("new", "complete")


@pytest.mark.parametrize("options", [None, 7, {"id": "o"}])
def test_options_that_are_no_list_are_no_news(options: Any) -> None:
    talk = Talk()
    talk.prompt(1)
    assert talk.update("config_option_update", configOptions=options) == []


@pytest.mark.parametrize(
    ("end", "outcome", "sentence"),
    [
        (Ended("end_of_input"), "process_exited", "The stream ended before the turn did."),
        (Ended("hung"), "hung", "The agent did not react and was given up."),
        (Ended("exited", signal="SIGKILL"), "process_exited", "The agent's process ended by SIGKILL before the turn did."),
        (Ended("exited", exit_code=3), "process_exited", "The agent's process ended with code 3 before the turn did."),
        (Ended("exited"), "process_exited", "The agent's process ended before the turn did."),
    ],
)  # fmt: skip
def test_a_process_that_ends_ends_the_turn_and_says_how(end: Ended, outcome: str, sentence: str) -> None:
    talk = Talk()
    talk.prompt(1)
    complete = only(talk.ends(end), "complete")
    assert (complete["data"]["outcome"], complete["error"]) == (outcome, sentence)


def test_a_context_that_is_told_again_is_no_news() -> None:
    talk = Talk()
    talk.prompt(1)
    assert types(talk.update("usage_update", used=5, size=10)) == ["context_window"]
    assert talk.update("usage_update", used=5, size=10) == []
    assert types(talk.update("usage_update", used=6, size=10)) == ["context_window"]


@pytest.mark.parametrize("used", [-1, 1 << 60, None])
def test_a_context_of_no_size_is_no_news(used: int | None) -> None:
    talk = Talk()
    talk.prompt(1)
    assert talk.update("usage_update", used=used, size=10) == []


@pytest.mark.parametrize(
    ("size", "told"), [(None, None), (0, None), (-1, None), (4, None), (1 << 60, None), (5, 5)]
)
def test_a_window_that_is_not_told_or_smaller_than_what_is_in_it_is_not_known(
    size: int | None, told: int | None
) -> None:
    talk = Talk()
    talk.prompt(1)
    window = only(talk.update("usage_update", used=5, size=size), "context_window")
    assert (window["context_window_used"], window.get("context_window_size")) == (5, told)
    assert ("context_window_remaining" in window, "context_efficiency" in window) == (told == 5, told == 5)


def test_a_call_that_goes_on_while_another_waits_says_nothing_of_the_other() -> None:
    talk = Talk()
    talk.prompt(1)
    asked = only(asks(talk, 1, "c"), "permission_request")
    told = [
        *talk.update("tool_call", toolCallId="d", title="x", status="in_progress"),
        *talk.update("tool_call_update", toolCallId="d", title="y"),
        *talk.update("tool_call_update", toolCallId="d", status="completed"),
    ]
    assert types(told) == ["tool_call", "tool_update", "tool_update"]
    assert talk.core.pending == (asked["pending_id"],)


def test_a_decision_about_what_does_not_wait_is_none() -> None:
    talk = Talk()
    talk.prompt(1)
    asked = only(asks(talk, 1, "c"), "permission_request")
    assert talk.decides(Decision("another", "allow", "ada", 5)) == []
    assert talk.decides(Decision(asked["pending_id"], "pass", "hook", 5)) == []
    assert talk.core.pending == (asked["pending_id"],)


def elicit(talk: Talk, number: int, elicitation: str) -> Event:
    params = {
        "sessionId": "s",
        "mode": "url",
        "message": "Log in.",
        "url": "https://a.test/",
        "elicitationId": elicitation,
    }
    (asked,) = talk.hears(encode.request(number, "elicitation/create", params))
    return asked  # fmt: skip


def test_an_elicitation_that_is_complete_waits_no_longer() -> None:
    talk = Talk()
    talk.prompt(1)
    asks(talk, 1, "c")
    asked, other = elicit(talk, 2, "e"), elicit(talk, 3, "f")
    (void,) = talk.hears(encode.notification("elicitation/complete", {"elicitationId": "e"}))
    assert (void["type"], void["pending_id"]) == ("permission_cancelled", asked["pending_id"])
    assert other["pending_id"] in talk.core.pending


@pytest.mark.parametrize(
    ("params", "text"), [({"elicitationId": "gone"}, "gone"), ({}, ""), ({"elicitationId": 7}, "")]
)
def test_an_elicitation_that_nobody_knows_is_complete(params: Event, text: str) -> None:
    talk = Talk()
    talk.prompt(1)
    elicit(talk, 2, "e")
    (told,) = talk.hears(encode.notification("elicitation/complete", params))
    assert (told["type"], told["kind"], told["text"]) == ("notice", "elicitation_complete", text)


def test_all_that_waits_is_void_when_the_turn_is_cancelled() -> None:
    talk = Talk("gemini-cli")
    talk.prompt(1)
    asked, question = only(asks(talk, 1, "c"), "permission_request"), elicit(talk, 2, "e")
    told = talk.cancels()
    assert types(told) == ["permission_cancelled", "permission_cancelled", "tool_update"]
    assert [one["pending_id"] for one in told[:2]] == [asked["pending_id"], question["pending_id"]]
    assert (told[2]["tool_call_id"], told[2]["reason"]) == ("c", "interrupted")


def test_a_request_that_is_taken_back_and_does_not_wait_is_no_news() -> None:
    talk = Talk()
    talk.prompt(1)
    elicit(talk, 2, "e")
    (void,) = talk.hears(encode.notification("$/cancel_request", {"requestId": 2}))
    assert void["type"] == "permission_cancelled"
    assert talk.hears(encode.notification("$/cancel_request", {"requestId": 2})) == []


@pytest.mark.parametrize(
    ("method", "params", "result", "told"),
    [
        ("authenticate", {"methodId": "key"}, {}, [("notice", "auth_status", "Logged in by key")]),
        ("authenticate", {}, {}, [("notice", "auth_status", "Logged in")]),
        ("logout", {}, {}, [("notice", "auth_status", "Logged out")]),
        ("session/fork", {"sessionId": "s"}, {}, []),
        ("session/list", {}, {"sessions": []}, []),
        ("session/set_mode", {"modeId": "ask"}, {}, []),
    ],
)
def test_what_was_asked_of_the_agent_and_done(
    method: str, params: Event, result: Event, told: list[tuple[str, str, str]]
) -> None:
    talk = Talk()
    talk.sends(1, method, **params)
    events = talk.answers(1, **result)
    assert [(event["type"], event["kind"], event["text"]) for event in events] == told


def test_a_fork_is_a_session_of_its_own() -> None:
    talk = Talk()
    talk.sends(1, "session/fork", sessionId="s", cwd="/w")
    begun, about = talk.answers(1, sessionId="t")
    assert (begun["session_id"], begun["data"]["session_status"]) == ("t", "resumed")
    assert about["cwd"] == "/w"


def shows_terminal(talk: Talk, number: int, terminal: str | None, call: str = "c") -> None:
    if terminal is not None:
        params = {"sessionId": "s", "command": "make", "cwd": "/w"}
        talk.hears(encode.request(number, "terminal/create", params))
        talk.says(encode.response(number, {"terminalId": terminal}))
    block = {"type": "terminal", "terminalId": "t"}
    talk.update(
        "tool_call", toolCallId=call, kind="execute", title="Run", status="in_progress", content=[block]
    )


@pytest.mark.parametrize(("terminal", "command"), [("t", "make"), ("another", ""), (None, "")])
def test_a_call_takes_its_command_from_its_own_terminal_alone(terminal: str | None, command: str) -> None:
    talk = Talk()
    talk.prompt(1)
    shows_terminal(talk, 1, terminal)
    talk.hears(encode.request(2, "terminal/wait_for_exit", {"sessionId": "s", "terminalId": "t"}))
    assert [one["normalized"]["shell_exec"] for one in talk.says(encode.response(2, {"exitCode": 3}))] == []
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    body = end["normalized"]["shell_exec"]
    assert (body["command"], body["output"]["exit_code"]) == (command, 3)


def test_a_terminal_that_no_call_shows_and_one_that_was_not_made_are_no_news() -> None:
    talk = Talk()
    talk.prompt(1)
    shows_terminal(talk, 1, "t")
    talk.hears(encode.request(2, "terminal/output", {"sessionId": "s", "terminalId": "unseen"}))
    assert talk.says(encode.response(2, {"output": "a"})) == []
    talk.hears(encode.request(3, "terminal/create", {"sessionId": "s", "command": "ls"}))
    assert talk.says(encode.error(3, -32000, "no terminals here")) == []
    assert talk.says(encode.response(3, {"output": "a"})) == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            [{"name": "More", "options": [{"value": "a", "name": "A"}, {"name": "without a value"}]}, {"value": "b"}],
            [{"value": "a", "name": "A", "group": "More"}, {"value": "b"}],
        ),
        ([{"options": [{"options": [{"value": "deep"}]}]}], None),
    ],
)  # fmt: skip
def test_values_of_an_option_stand_in_groups_one_deep(value: Any, told: list[Event] | None) -> None:
    talk = Talk()
    option = {"id": "o", "type": "select", "currentValue": "a", "options": value}
    (options,) = [
        one for one in talk.update("config_option_update", configOptions=[option]) if "options" in one
    ]
    assert options["options"][0].get("values") == told


def error_of(message: str, details: str, **more: Any) -> list[Event]:
    talk = Talk("codex")
    talk.prompt(1)
    error = {
        "message": message,
        "additionalDetails": details,
        "codexErrorInfo": {"other": {"httpStatusCode": 503}},
        **more,
    }
    return talk.update("session_info_update", _meta={"codex": {"error": error}})  # fmt: skip


def test_an_error_that_codex_tells_beside_is_a_retry_or_an_end() -> None:
    (retry,) = error_of("Reconnecting... 2/5", "stream closed", willRetry=True)
    assert (retry["type"], retry["attempt"], retry["max_retries"], retry["status"]) == (
        "api_retry",
        2,
        5,
        503,
    )
    (retry,) = error_of("Reconnecting...", "", willRetry=True)
    assert (retry["attempt"], "max_retries" in retry) == (1, False)
    (notice,) = error_of("Reconnecting failed", "stream closed")
    assert (notice["type"], notice["level"], notice["text"]) == (
        "notice",
        "error",
        "Reconnecting failed: stream closed",
    )


def test_sessions_that_are_idle_are_forgotten_first_and_those_with_a_call_go_on() -> None:
    talk = Talk()

    def called(session: str, name: str, **fields: Any) -> list[Event]:
        update = {"sessionUpdate": name, "toolCallId": "c", "title": "x", **fields}
        return talk.hears(encode.notification("session/update", {"sessionId": session, "update": update}))

    talk.cancels()  # what we send is heard: no turn begins by itself
    called("busy", "tool_call")
    for number in range(300):
        called(f"s{number}", "usage_update", used=1, size=10)
        called(f"s{number}", "agent_message_chunk", content={"type": "text", "text": "x"})
    assert types(called("busy", "tool_call_update", status="completed")) == ["tool_update"]
    again = {"content": {"type": "text", "text": "y"}}
    assert types(called("s0", "agent_message_chunk", **again)) == ["session_status", "message_chunk"]
    assert types(called("s299", "agent_message_chunk", **again)) == ["message_chunk"]


def test_a_message_of_a_thread_begins_anew_where_too_many_threads_speak_at_once() -> None:
    talk = Talk()
    talk.prompt(1)
    first = talk.text("a", _meta={"parentToolCallId": "t0"})[0]["message_id"]
    assert talk.text("b", _meta={"parentToolCallId": "t0"})[0]["message_id"] == first
    for number in range(1, 257):
        talk.text("a", _meta={"parentToolCallId": f"t{number}"})
    (again,) = talk.text("c", _meta={"parentToolCallId": "t0"})
    assert (again["parent_tool_call_id"], again["message_id"] != first) == ("t0", True)


def test_chunks_of_nothing_are_no_news_and_empty_meta_names_no_parent() -> None:
    talk = Talk()
    talk.prompt(1)
    assert talk.update("agent_message_chunk") == []
    assert talk.update("user_message_chunk", content={"type": "text", "text": ""}) == []
    assert "parent_tool_call_id" not in talk.text("a", _meta={})[0]


@pytest.mark.parametrize(
    ("code", "message", "data", "told"),
    [
        (-32603, "It failed", "for a reason", ("It failed: for a reason", None, None)),
        (-32603, "It failed", ["for a reason"], ("It failed: for a reason", None, None)),
        (-32603, "It failed", [], ("It failed", None, None)),
        (-32600, "Internal error", 7, ("Internal error", "invalid_request", None)),
        (-32000, "No credit left", None, ("No credit left", None, None)),
        (-32603, "said " + '{"error":' * 20 + '"deep"' + "}" * 20, None, None),
    ],
)
def test_errors_with_reasons_in_odd_places(
    code: int, message: str, data: Any, told: tuple[str, str | None, int | None] | None
) -> None:
    talk = Talk()
    talk.prompt(1)
    error = only(talk.fails(1, code, message, data), "error")
    assert (error["error"], error.get("code"), error.get("status")) == (told or (message, None, None))
