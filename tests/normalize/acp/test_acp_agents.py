"""What single agents add to the protocol or leave out of it, one habit a test; whole sessions of them are goldens."""

from typing import Any

import pytest

from acp_talk import Event, Talk, only, types
from turnwire.adapter.acp.handshake import read_conversation
from turnwire.normalize.acp.agents import OWN_REQUESTS, agent_info, quirks
from turnwire.normalize.acp.own_requests import Form, Plan
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.messages import Request


def shows(words: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def ran(done: list[Event]) -> dict[str, Any]:
    body: dict[str, Any] = only(done, "tool_update")["normalized"]["shell_exec"]
    return body


# Requests under ids of their own.


def hermes_runs(talk: Talk, call: str, command: str) -> list[Event]:
    shown = shows(f"$ {command}")
    return talk.update(
        "tool_call", toolCallId=call, kind="execute", title=f"terminal: {command}", content=shown
    )


def test_a_request_under_an_id_of_its_own_joins_the_call_of_its_command() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    hermes_runs(talk, "other", "ls")
    hermes_runs(talk, "tc-1", "rm -rf made.d")
    asked = talk.asks(
        0,
        "perm-check-1",
        kind="execute",
        title="recursive delete: rm -rf made.d",
        rawInput={"command": "rm -rf made.d", "description": "recursive delete"},
    )
    assert types(asked) == ["permission_request"]
    assert asked[0]["tool_call_id"] == "tc-1"
    (told,) = talk.core.asked_about(asked[0]["pending_id"])
    assert (told.tool_call_id, told.kind, told.raw_input) == (
        "tc-1",
        "execute",
        {"command": "rm -rf made.d", "description": "recursive delete"},
    )
    talk.chooses(0, "no")
    done = only(talk.update("tool_call_update", toolCallId="tc-1", status="completed"), "tool_update")
    assert (done["tool_status"], done["reason"]) == ("error", "denied")
    assert done["normalized"]["shell_exec"]["command"] == "rm -rf made.d"


def test_a_request_under_an_id_of_its_own_joins_the_call_of_its_kind_and_path() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    for call, kind, path in (("a", "read", "/p/n"), ("b", "edit", "/p/m"), ("c", "edit", "/p/n")):
        talk.update(
            "tool_call", toolCallId=call, kind=kind, title=f"{kind}: {path}", locations=[{"path": path}]
        )
    diff = {"type": "diff", "path": "/p/n", "oldText": "a\n", "newText": "b\n"}
    asked = talk.asks(0, "edit-approval-1", kind="edit", title="Approve edit: /p/n", content=[diff])
    assert only(asked, "permission_request")["tool_call_id"] == "c"
    assert only(asked, "tool_update")["tool_title"] == "edit: /p/n"


def test_a_request_without_a_kind_joins_the_call_of_its_command_or_its_path() -> None:
    talk = Talk()  # deepagents-acp gives no name
    talk.prompt(1)
    talk.update("tool_call", toolCallId="run", kind="execute", title="x", rawInput={"command": "ls"})
    talk.update("tool_call", toolCallId="read", kind="read", title="Read", rawInput={"file_path": "/p/m"})
    talk.update("tool_call", toolCallId="edit", kind="edit", title="Edit", rawInput={"file_path": "/p/n"})
    told = [
        talk.asks(1, "i-1", title="Execute: `ls`", rawInput={"command": "ls"}),
        talk.asks(2, "i-2", title="Edit `/p/n`", rawInput={"file_path": "/p/n", "new_string": "x"}),
    ]
    assert [only(events, "permission_request")["tool_call_id"] for events in told] == ["run", "edit"]


def test_a_request_that_is_about_no_open_call_begins_one() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call", toolCallId="a", kind="execute", title="x", rawInput={"command": "ls"})
    told = [
        talk.asks(1, "new-1", kind="execute", rawInput={"command": "pwd"}),
        talk.asks(2, "new-2", title="Something"),
    ]
    assert [types(events) for events in told] == [["tool_call", "permission_request"]] * 2


def test_a_call_that_has_been_asked_about_is_not_joined_again() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    for call in ("a", "b"):
        hermes_runs(talk, call, "rm x")
    asked = [
        only(
            talk.asks(n, f"perm-check-{n}", kind="execute", rawInput={"command": "rm x"}),
            "permission_request",
        )
        for n in (1, 2)
    ]
    assert [one["tool_call_id"] for one in asked] == ["a", "b"]


# Commands and exit codes.


@pytest.mark.parametrize(
    ("agent", "status", "result", "code", "stdout"),
    [
        ("hermes-agent", "failed", "terminal result\n- **output:** a\nb\n- **exit_code:** 3", 3, "a\nb"),
        (
            "hermes-agent",
            "completed",
            "terminal result\n- **exit_code:** 0\n- **approval:** By the user.",
            0,
            None,
        ),
        (
            "hermes-agent",
            "completed",
            "terminal result\n- **output:** - **exit_code:** none",
            None,
            "terminal result\n- **output:** - **exit_code:** none",
        ),
        ("hermes-agent", "completed", "BLOCKED", None, "BLOCKED"),
        ("", "completed", "oops\n[Command failed with exit code 3]", 3, "oops"),
        ("", "completed", "[Command succeeded with exit code 0]", 0, None),
        (
            "",
            "completed",
            "It failed with exit code 3, they say.",
            None,
            "It failed with exit code 3, they say.",
        ),
        ("pi-acp", "failed", "oops\n\n\nCommand exited with code 3", 3, "oops"),
        ("pi-acp", "completed", "fine", None, "fine"),
    ],
)
def test_exit_codes_are_read_out_of_text(
    agent: str, status: str, result: str, code: int | None, stdout: str | None
) -> None:
    talk = Talk(agent)
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", kind="execute", title="Run", rawInput={"command": "x"})
    talk.update("tool_call_update", toolCallId="c", status=status, content=shows(result))
    done = talk.text("Done.")
    update = next((event for event in done if event["type"] == "tool_update"), None)
    if update is None:  # it ended with its own line
        talk = Talk(agent)
        talk.prompt(1)
        talk.update("tool_call", toolCallId="c", kind="execute", title="Run", rawInput={"command": "x"})
        update = only(
            talk.update("tool_call_update", toolCallId="c", status=status, content=shows(result)),
            "tool_update",
        )
    output = update["normalized"]["shell_exec"]["output"]
    assert (output.get("exit_code"), output.get("stdout")) == (code, stdout)
    assert (update["tool_status"] == "error") is (code not in (None, 0) or status == "failed")


@pytest.mark.parametrize(
    ("agent", "title", "command"),
    [
        ("pi-acp", "ls -l", "ls -l"),
        ("pi-acp", "bash", ""),
        ("hermes-agent", "terminal: ls", ""),
        ("gemini-cli", "ls", "ls"),
    ],
)
def test_a_title_is_a_command_of_agents_alone_of_which_that_is_known(
    agent: str, title: str, command: str
) -> None:
    talk = Talk(agent)
    talk.prompt(1)
    told = only(talk.update("tool_call", toolCallId="c", kind="execute", title=title), "tool_call")
    assert told["normalized"]["shell_exec"]["command"] == command


def test_what_hermes_shows_before_a_call_that_runs_no_command_is_none() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    told = talk.update("tool_call", toolCallId="c", kind="read", title="read: /p/n", content=shows("$ ls"))
    assert only(told, "tool_call")["normalized"]["kind"] == "read_file"


# Failures that are told as text.

USAGE = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}


@pytest.mark.parametrize(
    ("agent", "words", "usage", "error"),
    [
        ("hermes-agent", ["HTTP 401: no key"], None, ("HTTP 401: no key", 401)),
        (
            "hermes-agent",
            ["API call failed after 3 retries: HTTP 500: down"],
            None,
            ("API call failed after 3 retries: HTTP 500: down", 500),
        ),
        ("hermes-agent", ["HTTP 401: is an error of the web."], USAGE, None),
        ("hermes-agent", ["HTTP 401: no key", "All well."], None, None),
        ("oh-my-pi", ["401 no key"], None, ("401 no key", 401)),
        ("oh-my-pi", ["401 is a number."], USAGE, None),
        ("oh-my-pi", ["Well."], None, None),
        (
            "pi-acp",
            ["Retrying (attempt 3/3, waiting 8s)...", "Retry finished, resuming."],
            None,
            ("The provider failed, and so did asking it again: Retry finished, resuming.", None),
        ),
        (
            "pi-acp",
            [],
            None,
            ("The agent ended the turn without a word, as it does when its provider fails.", None),
        ),
        ("pi-acp", ["Retry finished, resuming.", "Here I am."], None, None),
    ],
)
def test_failures_that_are_told_as_text_end_the_turn_as_errors(
    agent: str, words: list[str], usage: dict[str, int] | None, error: tuple[str, int | None] | None
) -> None:
    talk = Talk(agent)
    talk.prompt(1)
    for piece in words:
        talk.text(piece)
    done = talk.answers(1, stopReason="end_turn", **({} if usage is None else {"usage": usage}))
    data = only(done, "complete")["data"]
    assert data["outcome"] == ("completed" if error is None else "error")
    if error is not None:
        assert (data["errors"], data.get("api_error_status")) == ([error[0]], error[1])


def test_hermes_counts_its_session() -> None:
    talk = Talk("hermes-agent")
    told = []
    for number in (1, 2):
        talk.prompt(number)
        talk.text("Well.")
        usage = {"inputTokens": 100 * number, "outputTokens": 20 * number, "totalTokens": 120 * number}
        told.append(only(talk.answers(number, stopReason="end_turn", usage=usage), "complete")["data"])
    assert [(data["input_tokens"], data["total_input_tokens"]) for data in told] == [(100, 100), (100, 200)]


# Grok.

GROK = {"_meta": {"grokShell": True, "agentVersion": "1.0.41"}}
MODELS = {
    "currentModelId": "m",
    "availableModels": [
        {"modelId": "m", "name": "M", "_meta": {"totalContextTokens": 1000}},
        {"name": "none"},
    ],
}


def grok() -> Talk:
    talk = Talk()
    talk.sends(0, "initialize", protocolVersion=1)
    talk.answers(0, protocolVersion=1, **GROK)
    talk.sends(1, "session/new", cwd="/p")
    talk.answers(1, sessionId="s", models=MODELS)
    return talk


def grok_tells(talk: Talk, kind: str, /, session: str = "s", **fields: Any) -> list[Event]:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return talk.hears(encode.notification("_x.ai/session_notification", params))


def test_grok_says_who_it_is_in_meta() -> None:
    assert agent_info({"protocolVersion": 1, **GROK}) == {
        "name": "grok",
        "title": "Grok",
        "version": "1.0.41",
    }
    assert type(quirks(agent_info(GROK))).__name__ == "Grok"
    assert agent_info({"protocolVersion": 1}) == {}
    assert agent_info({"info": {"name": "two"}}) == {"name": "two"}


def test_groks_retries_and_models_are_told_and_the_rest_is_counted() -> None:
    talk = grok()
    talk.prompt(2)
    (retry,) = grok_tells(talk, "retry_state", type="retrying", attempt=2, max_retries=15, reason="HTTP 500")
    assert (retry["type"], retry["attempt"], retry["max_retries"], retry["error"]) == (
        "api_retry",
        2,
        15,
        "HTTP 500",
    )
    (info,) = grok_tells(talk, "model_changed", model_id="other")
    assert (info["type"], info["model"]) == ("session_info", "other")
    before = talk.core.stats.control
    for kind in ("retry_state", "response_completed", "turn_completed"):
        assert grok_tells(talk, kind) == []
    assert grok_tells(talk, "retry_state", session="nobody", attempt=1) == []
    assert talk.hears(encode.notification("_x.ai/queue/changed", {"sessionId": "s", "entries": []})) == []
    assert talk.core.stats.control == before + 5


def test_groks_tokens_are_in_meta() -> None:
    talk = grok()
    talk.prompt(2)
    params = {
        "sessionId": "s",
        "update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "read_file"},
    }
    told = talk.hears(encode.notification("session/update", {**params, "_meta": {"totalTokens": 120}}))
    assert types(told) == ["tool_call", "context_window"]
    assert (told[1]["context_window_used"], told[1]["context_window_size"]) == (120, 1000)
    done = talk.answers(
        2, stopReason="end_turn", _meta={"totalTokens": 150, "inputTokens": 1, "usage": USAGE}
    )
    data = only(done, "complete")["data"]
    assert (data["input_tokens"], data["output_tokens"]) == (10, 2)
    assert only(done, "context_window")["context_window_used"] == 150


@pytest.mark.parametrize(
    ("category", "outcome"), [("PermissionRejected", "completed"), ("PermissionCancelled", "interrupted")]
)
def test_a_refusal_that_ends_groks_turn_is_no_interrupt(category: str, outcome: str) -> None:
    talk = grok()
    talk.prompt(2)
    done = talk.answers(2, stopReason="cancelled", _meta={"cancellationCategory": category})
    assert only(done, "complete")["data"]["outcome"] == outcome


def test_an_interrupt_is_one_although_a_refusal_came_before_it() -> None:
    talk = grok()
    talk.prompt(2)
    talk.cancels()
    done = talk.answers(2, stopReason="cancelled", _meta={"cancellationCategory": "PermissionRejected"})
    assert only(done, "complete")["data"]["outcome"] == "interrupted"


def spawned(talk: Talk) -> None:
    talk.prompt(2)
    for call in ("first", "second"):
        talk.update(
            "tool_call",
            toolCallId=call,
            title="spawn_subagent",
            rawInput={"prompt": "Hi", "description": call},
        )
        talk.update("tool_call_update", toolCallId=call, title=call)
    grok_tells(talk, "subagent_spawned", child_session_id="child", description="first")


def test_a_subagent_under_a_session_of_its_own_speaks_in_its_call() -> None:
    talk = grok()
    spawned(talk)

    def child(kind: str, /, **fields: Any) -> list[Event]:
        params = {"sessionId": "child", "update": {"sessionUpdate": kind, **fields}}
        return talk.hears(encode.notification("session/update", params))

    assert child("user_message_chunk", content={"type": "text", "text": "Hi"}) == []
    said = child("agent_message_chunk", content={"type": "text", "text": "Hello."})
    assert [(event["session_id"], event["parent_tool_call_id"], event["text"]) for event in said] == [
        ("s", "first", "Hello.")
    ]
    (called,) = child(
        "tool_call", toolCallId="inner", title="run", kind="execute", rawInput={"command": "ls"}
    )
    assert (called["session_id"], called["parent_tool_call_id"]) == ("s", "first")
    params = {"sessionId": "child", "toolCall": {"toolCallId": "inner"}, "options": []}
    (asked,) = talk.hears(encode.request(5, "session/request_permission", params))
    assert (asked["session_id"], asked["parent_tool_call_id"], asked["tool_call_id"]) == (
        "s",
        "first",
        "inner",
    )
    assert set(talk.core._state.sessions) == {"s"}


def test_a_subagent_whose_call_is_not_known_speaks_in_the_session() -> None:
    talk = grok()
    talk.prompt(2)
    grok_tells(talk, "subagent_spawned", child_session_id="child", description="x")
    params = {
        "sessionId": "child",
        "update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}},
    }
    (thought,) = talk.hears(encode.notification("session/update", params))
    assert thought["session_id"] == "s"
    assert "parent_tool_call_id" not in thought


QUESTIONS = [
    {
        "question": "Which?",
        "header": "Pick",
        "options": [{"label": "A", "description": "first"}, {"label": "B"}],
    },
    {"question": "All of which?", "multiSelect": True, "options": [{"label": "C"}, {}]},
    {"question": "Why?"},
]


def test_groks_questions_are_a_form() -> None:
    talk = grok()
    talk.prompt(2)
    params = {"sessionId": "s", "toolCallId": "c", "questions": QUESTIONS, "mode": "default"}
    (asked,) = talk.hears(encode.request(0, "_x.ai/ask_user_question", params))
    schema = asked["requested_schema"]
    assert (asked["type"], asked["kind"], asked["tool_call_id"], asked["mode"]) == (
        "question_request",
        "elicitation",
        "c",
        "form",
    )
    assert schema["required"] == ["Which?", "All of which?", "Why?"]
    assert [field["type"] for field in schema["properties"].values()] == ["string", "array", "string"]
    assert [one["const"] for one in schema["properties"]["Which?"]["oneOf"]] == ["A", "B"]
    assert [one["const"] for one in schema["properties"]["All of which?"]["items"]["anyOf"]] == ["C"]
    (resolved,) = talk.says(encode.response(0, {"outcome": "accepted", "answers": {"Which?": "A"}}))
    assert (resolved["behavior"], resolved["message"]) == ("answer", "accept")


@pytest.mark.parametrize(("outcome", "message"), [("skip_interview", "decline"), ("cancelled", "cancel")])
def test_a_question_of_groks_that_nobody_answers(outcome: str, message: str) -> None:
    talk = grok()
    talk.prompt(2)
    talk.hears(encode.request(0, "_x.ai/ask_user_question", {"sessionId": "s", "questions": QUESTIONS}))
    (resolved,) = talk.says(encode.response(0, {"outcome": outcome}))
    assert resolved["message"] == message


def test_answers_to_groks_questions_are_in_its_words() -> None:
    form = OWN_REQUESTS["_x.ai/ask_user_question"]
    assert isinstance(form, Form)
    assert form.answer("accept", {"Which?": "A", "All of which?": ["C", "D"]}) == {
        "outcome": "accepted",
        "answers": {"Which?": "A", "All of which?": "C, D"},
        "annotations": {},
    }
    assert form.answer("decline", None) == {"outcome": "skip_interview"}
    assert form.answer("cancel", None) == {"outcome": "cancelled"}


@pytest.mark.parametrize(("outcome", "behavior"), [("approved", "allow"), ("abandoned", "deny")])
def test_groks_plan_is_for_approval(outcome: str, behavior: str) -> None:
    talk = grok()
    talk.prompt(2)
    talk.update("tool_call", toolCallId="c", title="exit_plan_mode")
    params = {"sessionId": "s", "toolCallId": "c", "planContent": "# Do it"}
    asked = only(talk.hears(encode.request(0, "_x.ai/exit_plan_mode", params)), "permission_request")
    assert asked["tool_call_id"] == "c"
    assert asked["normalized"]["show_plan"] == {"operation": "exit", "plan": "# Do it"}
    assert [option["kind"] for option in asked["permission_options"]] == ["allow_once", "reject_once"]
    (resolved,) = talk.says(encode.response(0, {"outcome": outcome}))
    assert (resolved["type"], resolved["behavior"]) == ("permission_resolved", behavior)


def test_answers_to_groks_plans_are_in_its_words() -> None:
    plan = OWN_REQUESTS["_x.ai/exit_plan_mode"]
    assert isinstance(plan, Plan)
    asked = plan.permission(Request(1, "_x.ai/exit_plan_mode", None))
    assert (asked.session_id, asked.tool_call.raw_input) == ("", None)
    assert [plan.answer(option.option_id) for option in asked.options] == [plan.yes, plan.no]
    assert plan.answer(None) == {"outcome": "abandoned"}


# What was learnt of agents that were not recorded here.


def test_a_request_that_overtakes_its_call_is_about_the_same_card() -> None:
    talk = Talk()
    talk.prompt(1)
    assert types(talk.asks(7, "c", title="ls", kind="execute")) == ["tool_call", "permission_request"]
    late = talk.update("tool_call", toolCallId="c", title="ls", kind="execute", rawInput={"command": "ls"})
    assert types(late) == ["tool_update"]
    talk.chooses(7, "yes")
    done = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [(event["type"], event["tool_status"]) for event in done] == [("tool_update", "complete")]


def test_a_call_that_goes_on_after_its_turn_was_answered_has_one_end() -> None:
    talk = Talk("claude-agent-acp")
    talk.prompt(1)
    talk.answers(1, stopReason="end_turn")
    told = talk.update("tool_call", toolCallId="c", title="Work", kind="execute", rawInput={"command": "x"})
    told += talk.update("tool_call_update", toolCallId="c", status="completed") + talk.text(
        "Done behind your back."
    )
    assert types(told) == ["tool_call", "tool_update", "message_chunk"]
    assert all(event.get("operation_id") is None for event in told)


def test_a_watch_of_claudes_runs_on_although_its_call_is_completed() -> None:
    talk = Talk("claude-agent-acp")
    talk.prompt(1)
    meta = {"claudeCode": {"toolName": "Monitor"}}
    given = {"command": "tail -f log", "description": "Watch the log"}
    talk.update("tool_call", toolCallId="m", title="Watch", kind="other", rawInput=given, _meta=meta)
    shown = shows("Monitor started (task b1, timeout 300000ms).")
    done = only(
        talk.update("tool_call_update", toolCallId="m", status="completed", content=shown), "tool_update"
    )
    assert (done["tool_status"], done["normalized"]["shell_exec"]["background"]) == ("complete", True)


def test_a_subagent_of_claudes_in_the_background_is_launched_and_not_done() -> None:
    talk = Talk("claude-agent-acp")
    talk.prompt(1)
    given = {"prompt": "Look", "description": "Look around", "subagent_type": "Explore"}
    talk.update("tool_call", toolCallId="a", title="Look", kind="think", rawInput=given)
    meta = {
        "claudeCode": {"toolName": "Agent", "toolResponse": {"status": "async_launched", "isAsync": True}}
    }
    done = only(
        talk.update("tool_call_update", toolCallId="a", status="completed", _meta=meta), "tool_update"
    )
    task = done["normalized"]["subagent_task"]
    assert (task["background"], task["output"]["status"]) == (True, "async_launched")


def test_auggies_subagents_are_titles() -> None:
    talk = Talk()
    talk.prompt(1)
    told = only(
        talk.update("tool_call", toolCallId="a", kind="other", title="sub-agent-explore: Find it"),
        "tool_call",
    )
    task = told["normalized"]["subagent_task"]
    assert (task["subagent_type"], task["description"], task["prompt"]) == ("explore", "Find it", "")


def test_cursors_tools_are_named_in_their_arguments_and_its_ids_come_again() -> None:
    talk = Talk("cursor")
    for number in (1, 2):
        talk.prompt(number)
        given = {"_toolName": "task", "prompt": "Look", "description": "Look around"}
        told = only(
            talk.update("tool_call", toolCallId="t", title="Task", kind="other", rawInput=given), "tool_call"
        )
        assert (told["tool_name"], told["normalized"]["kind"]) == ("task", "subagent_task")
        assert "tool_update" in types(talk.update("tool_call_update", toolCallId="t", status="completed"))
        talk.answers(number, stopReason="end_turn")


@pytest.mark.parametrize(
    "places", [slice(None), slice(None, None, -1)], ids=["provider first", "model first"]
)
def test_nanocoders_provider_is_no_model(places: slice) -> None:
    options: list[Any] = [
        {
            "id": name,
            "category": "model",
            "type": "select",
            "currentValue": value,
            "options": [{"value": value, "name": value}],
        }
        for name, value in (("provider", "vendor"), ("model", "good-1"))
    ][places]
    talk = Talk("nanocoder")
    talk.sends(1, "session/new", cwd="/p")
    told = only(talk.answers(1, sessionId="s", configOptions=options), "session_info")
    assert (told["model"], [model["id"] for model in told["models"]]) == ("good-1", ["good-1"])
    models = read_conversation("s", {"configOptions": options}).models
    assert models is not None
    assert models.options == ("good-1",)


def test_cursors_task_may_come_before_its_call_and_is_its_argument() -> None:
    talk = Talk("cursor")
    talk.prompt(1)
    params = {
        "sessionId": "s",
        "toolCallId": "t",
        "agentId": "a",
        "description": "Look",
        "prompt": "Look around",
    }
    told = only(talk.hears(encode.request(7, "cursor/task", params)), "tool_call")
    task = told["normalized"]["subagent_task"]
    assert (task["description"], task["prompt"]) == ("Look", "Look around")
    assert "tool_call" not in types(talk.update("tool_call", toolCallId="t", title="Task", kind="other"))
    (end,) = talk.update("tool_call_update", toolCallId="t", status="completed")
    assert end["normalized"]["subagent_task"]["prompt"] == "Look around"


def test_groks_efforts_are_an_option_of_the_model_in_use() -> None:
    talk = Talk("grok")
    about = {"reasoningEfforts": [{"value": "low"}, {"value": "high"}, {}], "reasoningEffort": "low"}
    models = [{"modelId": "other"}, {"modelId": "m", "_meta": about}]
    talk.sends(1, "session/new", cwd="/")
    told = talk.answers(1, sessionId="s", models={"currentModelId": "m", "availableModels": models})
    (option,) = only(told, "session_options")["options"]
    assert (option["id"], option["current"]) == ("effort", "low")
    assert [value["value"] for value in option["values"]] == ["low", "high"]


def test_codex_counts_its_turn_and_no_last_call() -> None:
    talk = Talk("codex-acp")
    talk.prompt(1)
    talk.update("tool_call", toolCallId="t", title="ls", kind="execute", status="completed")
    data = only(
        talk.answers(1, stopReason="end_turn", usage={"inputTokens": 200, "outputTokens": 40}), "complete"
    )
    # codex-acp 2.6.0 adds up: recordings of two calls of 100 and 20 tokens tell 200 and 40
    assert (data["data"]["input_tokens"], data["data"].get("tokens_of")) == (200, None)


def test_a_wakeup_of_claudes_is_a_turn_of_its_own_in_version_2() -> None:
    """As claude-agent-acp 0.101.0 does it: the agent begins the turn itself when the time has come."""
    talk = Talk("claude-agent-acp")
    talk.prompt(1)
    talk.answers(1, messageId="u")
    talk.update("state_update", state="running")
    given = {"delaySeconds": 60, "reason": "Look again", "prompt": "Look again now"}
    talk.update(
        "tool_call_update", toolCallId="t", name="ScheduleWakeup", title="ScheduleWakeup", rawInput=given
    )
    (end,) = talk.update(
        "tool_call_update", toolCallId="t", status="completed", rawOutput="Next wakeup scheduled"
    )
    assert end["tool_status"] == "complete"
    talk.update("state_update", state="idle", stopReason="end_turn")
    assert not talk.is_busy()
    begun = only(talk.update("state_update", state="running"), "turn_started")
    assert (begun["origin"], begun.get("prompts")) == ("autonomous", None)
    talk.text("I look.")
    assert only(talk.update("state_update", state="idle", stopReason="end_turn"), "complete")["data"][
        "origin"
    ] == ("autonomous")


# Words of tools.


def test_a_match_that_stands_below_its_place_is_found_there() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", kind="search", title="search: beta")
    words = (
        "Search results\nFound 2 matches; showing 2.\n\n- /w/a.txt:2\n  beta\n    more\n- /w/b.txt:7\nEnd."
    )
    ended = only(
        talk.update("tool_call_update", toolCallId="c", status="completed", content=shows(words)),
        "tool_update",
    )
    output = ended["normalized"]["code_search"]["output"]
    assert output["matches"] == [
        {"file": "/w/a.txt", "line": 2, "text": "beta\n  more"},
        {"file": "/w/b.txt", "line": 7, "text": ""},
    ]
    assert (output["files"], output["match_count"]) == (["/w/a.txt", "/w/b.txt"], 2)


def test_a_task_that_hermes_gives_to_another_agent_runs_on() -> None:
    talk = Talk("hermes-agent")
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", kind="execute", title="delegate: Say hi")
    words = '{"status": "dispatched", "mode": "background", "count": 1}'
    ended = only(
        talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput=words), "tool_update"
    )
    task = ended["normalized"]["subagent_task"]
    assert (task["description"], task["background"]) == ("Say hi", True)
    assert task["output"]["status"] == "async_launched"


def test_a_command_without_output_shows_none() -> None:
    talk = Talk("pi-acp")
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", kind="execute", title="touch x")
    told = {"terminal_output": {"terminal_id": "c", "data": "(no output)"}, "terminal_exit": {"exit_code": 0}}
    done = talk.update("tool_call_update", toolCallId="c", status="completed", _meta=told)
    assert ran(done)["output"] == {"exit_code": 0}


def test_a_tool_of_the_name_question_asks_the_user() -> None:
    talk = Talk("Kilo")
    talk.prompt(1)
    asked = [{"question": "Which?", "header": "H", "options": [{"label": "A", "description": "a"}]}]
    (call,) = talk.update("tool_call", toolCallId="c", title="question", rawInput={"questions": asked})
    assert call["normalized"]["kind"] == "ask_user"
    result = {"output": "words", "metadata": {"answers": [["A", "B"], ["C"]]}}
    done = talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput=result)
    assert only(done, "tool_update")["normalized"]["ask_user"]["answers"] == {"Which?": "A, B"}
    (other,) = talk.update("tool_call", toolCallId="d", title="question", rawInput={"words": "?"})
    assert other["normalized"]["kind"] == "generic"
