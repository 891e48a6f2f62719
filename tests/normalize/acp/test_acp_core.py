"""What agents do, one habit a test: told by lines as they write them, those of agents of which no recording is at hand included."""

import json
from typing import Any

import pytest

from acp_talk import Event, Talk, only, shown, types
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.events import Notice
from turnwire.normalize.inputs import Announced, Decision, Ended
from turnwire.protocol.acp import encode


@pytest.mark.parametrize(
    ("reason", "outcome", "failed"),
    [
        ("end_turn", "completed", False),
        ("max_tokens", "max_tokens", True),
        ("max_turn_requests", "max_turns", True),
        ("refusal", "refusal", True),
        ("cancelled", "interrupted", False),
        ("another", "completed", False),
    ],
)
def test_a_turn_ends_as_its_answer_says(reason: str, outcome: str, failed: bool) -> None:
    talk = Talk()
    assert types(talk.prompt(1)) == ["session_status", "turn_started", "user_message"]
    done = talk.answers(1, stopReason=reason)
    data = only(done, "complete")["data"]
    assert (data["outcome"], data["is_error"], data["stop_reason"]) == (outcome, failed, reason)
    assert ("error" in types(done)) is failed
    assert not talk.core.busy


def test_an_error_whose_message_is_json_text_says_what_is_in_it() -> None:
    talk = Talk("gemini-cli")
    talk.prompt(1)
    inner = json.dumps({"error": {"code": 400, "message": "Bad words.", "status": "INVALID_ARGUMENT"}})
    done = talk.fails(1, 400, json.dumps([{"error": {"message": inner, "code": 400}}]))
    error = only(done, "error")
    assert (error["error"], error["code"], error["status"]) == ("Bad words.", "invalid_request", 400)


@pytest.mark.parametrize(
    ("code", "message", "data", "told"),
    [
        (-32000, "Authentication required", None, ("Authentication required", "authentication_failed", None)),
        (401, "no", None, ("no", "authentication_failed", 401)),
        (-32603, "Internal error", {"details": "the rest"}, ("the rest", None, None)),
        (-32603, "Internal error", "HTTP 500: down", ("HTTP 500: down", "server_error", 500)),
        (429, "slow down", None, ("slow down", "rate_limit", 429)),
        (
            -32603,
            'API Error: 401 {"error":{"message":"bad key"}}',
            None,
            ("bad key", "authentication_failed", 401),
        ),
        (-32603, "Error code: 529 - busy", None, ("Error code: 529 - busy", "server_error", 529)),
        (-32603, "", None, ("The agent reports an error without a word.", None, None)),
        (-32603, "{not json}", {"errorKind": "billing_error"}, ("{not json}", "billing_error", None)),
    ],
)
def test_errors_of_all_sorts(
    code: int, message: str, data: Any, told: tuple[str, str | None, int | None]
) -> None:
    talk = Talk()
    talk.prompt(1)
    error = only(talk.fails(1, code, message, data), "error")
    assert (error["error"], error.get("code"), error.get("status")) == told


def test_a_second_prompt_waits_and_has_the_turn_after_the_first_one() -> None:
    talk = Talk("claude")
    talk.prompt(1, "One.", _meta={"turnwire/prompt": "a"})
    waits = talk.prompt(2, "Two.", _meta={"turnwire/prompt": "b"})
    assert types(waits) == ["queued", "user_message"]
    assert only(waits, "queued")["prompt"] == "b"
    done = talk.answers(1, stopReason="end_turn")
    assert types(done) == ["notice", "complete", "turn_started"]
    assert (done[1]["data"]["prompts"], done[2]["prompts"], done[2]["origin"]) == (["a"], ["b"], "queued")
    assert types(talk.answers(2, stopReason="end_turn")) == ["notice", "complete"]


def test_a_second_prompt_that_is_refused_is_withdrawn_and_the_first_one_goes_on() -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1, "One.")
    talk.prompt(2, "Two.", _meta={"turnwire/prompt": "b"})
    refused = talk.fails(2, -32600, "A prompt is running.")
    assert types(refused) == ["withdrawn", "error"]
    assert refused[0]["prompt"] == "b"
    assert types(talk.answers(1, stopReason="end_turn")) == ["notice", "complete"]


def test_two_prompts_that_end_together_are_one_turn() -> None:
    talk = Talk("OpenCode")
    talk.prompt(1, "One.")
    assert types(talk.prompt(2, "Two.")) == ["injected", "user_message"]
    assert talk.answers(1, stopReason="end_turn") == []
    assert types(talk.answers(2, stopReason="end_turn")) == ["notice", "complete"]


def test_a_prompt_that_is_answered_before_the_one_that_runs_has_joined_it() -> None:
    talk = Talk()
    talk.prompt(1, "One.")
    talk.prompt(2, "Two.")
    assert types(talk.answers(2, stopReason="end_turn")) == ["injected"]
    assert types(talk.answers(1, stopReason="end_turn")) == ["notice", "complete"]


def test_a_turn_without_output_tool_and_error_is_told_as_such() -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1)
    told = talk.answers(1, stopReason="end_turn")
    assert types(told) == ["notice", "complete"]
    assert (told[0]["kind"], told[0]["level"], told[0]["operation_id"]) == ("no_output", "warning", "turn-1")
    updates: list[tuple[str, Event]] = [
        ("agent_message_chunk", {"content": {"type": "text", "text": "Hi."}}),
        ("agent_thought_chunk", {"content": {"type": "text", "text": "Hm."}}),
        ("tool_call", {"toolCallId": "c", "title": "x", "status": "completed"}),
        ("plan", {"entries": [{"content": "a", "priority": "high", "status": "pending"}]}),
    ]
    for number, (name, update) in enumerate(updates, 2):
        talk.prompt(number)
        talk.update(name, **update)
        assert "notice" not in types(talk.answers(number, stopReason="end_turn"))
    talk.prompt(9)
    assert "notice" not in types(talk.answers(9, stopReason="cancelled"))


def test_a_process_that_ends_in_a_turn_that_was_cancelled_leaves_it_interrupted() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.cancels()
    told = talk.ends(Ended("exited", exit_code=1))
    end = only(told, "complete")
    assert (end["data"]["outcome"], end["data"]["is_error"], end["data"]["exit_code"]) == (
        "interrupted",
        False,
        1,
    )
    assert "error" not in types(told)
    for stopped, outcome in ((Ended("hung"), "hung"), (Ended("stopped"), "process_exited")):
        talk = Talk()
        talk.prompt(1)
        talk.cancels()
        assert only(talk.ends(stopped), "complete")["data"]["outcome"] == outcome


def test_a_second_prompt_that_makes_the_first_one_fail_has_a_turn() -> None:
    talk = Talk("qwen-code")
    talk.prompt(1, "One.")
    talk.prompt(2, "Two.")
    assert types(talk.fails(1, -32603, "Internal error")) == ["complete", "error", "turn_started"]
    assert only(talk.answers(2, stopReason="end_turn"), "complete")["data"]["outcome"] == "completed"


def test_messages_without_ids_are_runs_of_one_role() -> None:
    talk = Talk()
    talk.prompt(1)
    thought = {"content": {"type": "text", "text": "Hm."}}
    first = [
        *talk.text("A"),
        *talk.text("B"),
        *talk.update("agent_thought_chunk", **thought),
        *talk.text("C"),
    ]
    talk.update("tool_call", toolCallId="c", title="ls", kind="execute", status="pending")
    after = talk.text("D")
    ids = [event["message_id"] for event in (*first, *after)]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 4
    assert [event["block_index"] for event in (*first, *after)] == [0] * 5


def test_text_and_thoughts_of_one_message_are_two_blocks() -> None:
    talk = Talk()
    talk.prompt(1)
    thought = talk.update("agent_thought_chunk", content={"type": "text", "text": "Hm."}, messageId="m")
    said = talk.text("A", messageId="m")
    assert [(e["message_id"], e["block_index"]) for e in (*thought, *said)] == [("m", 0), ("m", 1)]


def test_half_a_character_waits_for_the_other_half() -> None:
    talk = Talk()
    talk.prompt(1)
    line = encode.notification(
        "session/update",
        {
            "sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "aX"}},
        },
    )
    first = talk.hears(line.replace(b"X", b"\\ud83c"))
    second = talk.hears(line.replace(b"aX", b"\\udf89b"))
    assert [event["text"] for event in (*first, *second)] == ["a", "🎉b"]
    talk.hears(line.replace(b"X", b"\\ud83c"))
    assert only(talk.answers(1, stopReason="end_turn"), "message_chunk")["text"] == "\ufffd"


def test_pictures_are_shown_as_parts_and_unknown_blocks_are_kept() -> None:
    talk = Talk()
    talk.prompt(1)
    (shown,) = talk.update(
        "agent_message_chunk", content={"type": "image", "data": "AAAA", "mimeType": "image/png"}
    )
    assert shown["parts"] == [{"type": "image", "media_type": "image/png", "base64": "AAAA", "size": 3}]
    (odd,) = talk.update("agent_message_chunk", content={"type": "smell", "of": "rain"})
    assert odd["parts"] == [{"type": "unknown", "raw": {"type": "smell", "of": "rain"}}]
    assert talk.text("") == []


@pytest.mark.parametrize(
    ("update", "code", "status"),
    [
        ({"status": "failed", "rawOutput": "Exit code 3\nout"}, 3, "error"),
        ({"status": "completed", "rawOutput": {"output": "out", "metadata": {"exit": 3}}}, 3, "error"),
        ({"status": "failed", "rawOutput": {"output": "out", "exitCode": 3}}, 3, "error"),
        (
            {"status": "completed", "rawOutput": {"content": "out\n<shellId: 0 completed with exit code 3>"}},
            3,
            "error",
        ),
        (
            {
                "status": "failed",
                "content": [
                    {"type": "content", "content": {"type": "text", "text": "out\nFailed with exit code: 3"}}
                ],
            },
            3,
            "error",
        ),
        ({"status": "completed", "content": []}, None, "complete"),
        ({"status": "completed", "_meta": {"terminal_exit": {"exit_code": 0}}}, 0, "complete"),
    ],
)
def test_an_exit_code_is_found_wherever_an_agent_puts_it(
    update: Event, code: int | None, status: str
) -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update(
        "tool_call",
        toolCallId="c",
        kind="execute",
        title="x",
        rawInput={"command": "x"},
        status="in_progress",
    )
    (end,) = talk.update("tool_call_update", toolCallId="c", **update)
    assert end["tool_status"] == status
    assert end["normalized"]["shell_exec"]["output"].get("exit_code") == code


def test_a_call_that_is_first_heard_of_when_it_needs_leave_begins_with_the_question() -> None:
    talk = Talk("gemini-cli")
    talk.prompt(1)
    asked = talk.asks(0, "run__1", kind="execute", title="touch made.txt", status="pending")
    assert types(asked) == ["tool_call", "permission_request"]
    assert asked[1]["action_details"]["command"] == "touch made.txt"
    assert talk.core.pending == (asked[1]["pending_id"],)
    assert [*talk.core.asked] == [asked[1]["pending_id"]]
    refused = talk.chooses(0, "no")
    assert types(refused) == ["permission_resolved", "tool_update"]
    assert (refused[0]["behavior"], refused[1]["reason"]) == ("deny", "denied")
    assert types(talk.answers(1, stopReason="end_turn")) == ["complete"]


def test_a_call_that_was_refused_is_no_success_whatever_its_status() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update(
        "tool_call", toolCallId="c", kind="edit", title="Edit", status="pending", rawInput={"file_path": "/a"}
    )
    talk.asks(0, "c")
    talk.chooses(0, "no")
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert (end["tool_status"], end["reason"]) == ("error", "denied")
    assert end["normalized"]["modify_file"]["output"]["applied"] is False


def test_calls_that_a_cancelled_turn_leaves_open_are_closed_and_late_news_of_them_is_none() -> None:
    talk = Talk("Copilot")
    talk.prompt(1)
    talk.update(
        "tool_call",
        toolCallId="c",
        kind="execute",
        title="sleep",
        status="pending",
        rawInput={"command": "sleep 9"},
    )
    asked = talk.asks(0, "c")
    assert types(talk.cancels()) == ["permission_cancelled"]
    assert talk.says(encode.response(0, {"outcome": {"outcome": "cancelled"}})) == []
    done = talk.answers(1, stopReason="cancelled")
    assert types(done) == ["tool_update", "complete"]
    assert done[0]["reason"] == "interrupted"
    assert talk.update("tool_call_update", toolCallId="c", status="completed") == []
    assert asked


def test_a_cancelled_command_that_counts_as_completed_was_interrupted() -> None:
    talk = Talk("OpenCode")
    talk.prompt(1)
    talk.update(
        "tool_call", toolCallId="c", kind="execute", title="x", status="pending", rawInput={"command": "x"}
    )
    talk.cancels()
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed", content=[])
    assert (end["tool_status"], end["reason"]) == ("error", "interrupted")


def test_an_answer_that_was_decided_is_told_once() -> None:
    talk = Talk()
    talk.prompt(1)
    asked = only(talk.asks(0, "c", kind="execute", title="ls"), "permission_request")
    decision = Decision(asked["pending_id"], "allow", "ada", 5, option_id="yes")
    told = talk.decides(decision)
    assert [(e["type"], e["by"]) for e in told] == [("permission_resolved", "ada")]
    assert talk.core.handle(decision) == []
    assert talk.chooses(0, "yes") == []
    assert talk.core.pending == ()


def test_a_request_that_the_agent_takes_back_is_void() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.asks(0, "c", title="ls")
    (void,) = talk.hears(encode.notification("$/cancel_request", {"requestId": 0}))
    assert (void["type"], void["reason"]) == ("permission_cancelled", "cancelled")


def test_an_elicitation_is_a_question() -> None:
    talk = Talk()
    talk.prompt(1)
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    (asked,) = talk.hears(
        encode.request(
            3,
            "elicitation/create",
            {"sessionId": "s", "mode": "form", "message": "Which?", "requestedSchema": schema},
        )
    )
    assert (asked["type"], asked["message"], asked["requested_schema"]) == (
        "question_request",
        "Which?",
        schema,
    )
    (answered,) = talk.says(encode.response(3, {"action": "accept", "content": {"a": "b"}}))
    assert (answered["type"], answered["behavior"]) == ("permission_resolved", "answer")


def test_history_is_marked_and_ends_with_the_first_prompt_be_the_answer_before_or_after_it() -> None:
    talk = Talk()
    talk.sends(2, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    before = talk.update("user_message_chunk", content={"type": "text", "text": "Remember 42."})
    talk.answers(2, modes={"currentModeId": "default", "availableModes": []})
    after = [
        *talk.update("tool_call", toolCallId="c", title="Read", kind="read", status="completed"),
        *talk.update("tool_call_update", toolCallId="c", rawOutput="text"),
        *talk.text("I do."),
    ]
    told = [event for event in (*before, *after) if event["type"] != "session_status"]
    assert types(told) == ["user_message", "tool_call", "tool_update", "message_chunk"]
    assert all(event["history"] is True and "operation_id" not in event for event in told)
    assert told[2]["normalized"]["read_file"]["output"]["content"] == "text"
    talk.prompt(3)
    assert "history" not in talk.text("42.")[0]


def test_a_past_that_is_known_is_not_shown_again() -> None:
    talk = Talk(first_turn=4)
    talk.sends(2, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    assert talk.text("Old.") == []
    assert types(talk.update("current_mode_update", currentModeId="plan")) == ["session_mode"]
    started = talk.prompt(3)
    assert only(started, "turn_started")["operation_id"] == "turn-4"
    assert types(talk.text("New.")) == ["message_chunk"]


def test_a_call_of_a_known_past_that_is_told_in_one_line_has_no_end_either() -> None:
    talk = Talk(first_turn=4)
    talk.sends(2, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    assert talk.update("tool_call", toolCallId="c", title="bash", kind="execute", status="completed") == []
    assert types(talk.update("usage_update", used=5, size=10)) == ["context_window"]
    assert "tool_update" not in types(talk.prompt(3))


def test_what_comes_after_the_answer_belongs_to_no_turn() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.answers(1, stopReason="end_turn")
    (late,) = talk.text("Late.")
    assert (late["type"], "operation_id" in late) == ("message_chunk", False)
    assert types(talk.update("usage_update", used=5, size=10)) == ["context_window"]


def test_a_plan_is_told_with_its_entries() -> None:
    talk = Talk()
    talk.prompt(1)
    entries = [
        {"content": "A", "status": "completed", "priority": "high"},
        {"content": "B", "status": "pending"},
    ]
    (plan,) = talk.update("plan", entries=entries)
    assert plan["plan_content"] == "- [x] A\n- [ ] B"
    assert [item["status"] for item in plan["items"]] == ["completed", "pending"]


def test_a_list_of_things_to_do_among_arguments_is_one() -> None:
    talk = Talk()
    talk.prompt(1)
    (call,) = talk.update(
        "tool_call",
        toolCallId="c",
        title="todowrite",
        kind="other",
        rawInput={"todos": [{"content": "A", "status": "pending"}]},
    )
    assert call["normalized"]["manage_todos"]["items"] == [
        {"id": "1", "description": "A", "status": "pending"}
    ]


def test_arguments_that_are_streamed_as_content_are_arguments() -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1)
    talk.update(
        "tool_call", toolCallId="0:call", title="Shell", kind="execute", status="in_progress", content=[]
    )
    for piece in ('{"comm', '{"command": "ls', '{"command": "ls"}'):
        told = talk.update(
            "tool_call_update",
            toolCallId="0:call",
            content=[{"type": "content", "content": {"type": "text", "text": piece}}],
        )
    assert told[0]["normalized"]["shell_exec"] == {"command": "ls"}
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="0:call",
        status="completed",
        content=[{"type": "content", "content": {"type": "text", "text": "a\n"}}],
    )
    assert end["normalized"]["shell_exec"]["output"]["stdout"] == "a\n"


def test_a_terminal_of_the_client_gives_a_call_its_command_and_its_output() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.hears(
        encode.request(5, "terminal/create", {"sessionId": "s", "command": "ls", "args": ["-l"], "cwd": "/w"})
    )
    talk.says(encode.response(5, {"terminalId": "t1"}))
    talk.update(
        "tool_call",
        toolCallId="c",
        kind="execute",
        title="List",
        status="in_progress",
        content=[{"type": "terminal", "terminalId": "t1"}],
    )
    talk.hears(encode.request(6, "terminal/output", {"sessionId": "s", "terminalId": "t1"}))
    told = talk.says(encode.response(6, {"output": "a\n", "truncated": False, "exitStatus": {"exitCode": 2}}))
    assert told[0]["normalized"]["shell_exec"]["output"]["stdout"] == "a\n"
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    body = end["normalized"]["shell_exec"]
    assert (body["command"], body["work_dir"], body["output"]["exit_code"]) == ("ls -l", "/w", 2)
    assert end["tool_status"] == "error"


def test_a_subagent_speaks_below_the_call_that_started_it() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update(
        "tool_call",
        toolCallId="t",
        title="Look",
        kind="think",
        rawInput={"prompt": "Look.", "subagent_type": "looker"},
    )
    meta = {"parentToolCallId": "t"}
    (call,) = talk.update("tool_call", toolCallId="c", title="ls", kind="execute", _meta=meta)
    (said,) = talk.text("Sub.", _meta=meta)
    assert call["parent_tool_call_id"] == said["parent_tool_call_id"] == "t"


@pytest.mark.parametrize(
    "result",
    [
        {"_meta": {"tokenUsage": {"inputTokens": 10, "outputTokens": 2, "cacheReadInputTokens": 3}}},
        {
            "_meta": {
                "x": 1,
                "other": {"turn": {"prompt_tokens": 10, "completion_tokens": 2, "cached_input_tokens": 3}},
            }
        },
        {"usage": {"prompt_tokens": 10, "completion_tokens": 2, "cache_read_input_tokens": 3}},
    ],
    ids=["named", "nested", "snake"],
)
def test_tokens_are_found_where_an_unknown_agent_puts_them(result: dict[str, Any]) -> None:
    talk = Talk()
    talk.prompt(1)
    data = only(talk.answers(1, stopReason="end_turn", **result), "complete")["data"]
    assert (data["input_tokens"], data["output_tokens"], data["cache_read_input_tokens"]) == (10, 2, 3)


def test_a_meta_without_tokens_tells_none() -> None:
    talk = Talk()
    talk.prompt(1)
    deep = {"a": {"b": {"c": {"d": {"e": {"inputTokens": 1}}}}}, "list": [{"inputTokens": 1}]}
    assert "input_tokens" not in only(talk.answers(1, stopReason="end_turn", _meta=deep), "complete")["data"]


def test_a_text_without_a_block_is_a_text() -> None:
    talk = Talk()
    talk.prompt(1)
    assert [event["text"] for event in talk.update("agent_message_chunk", content="Plain.")] == ["Plain."]


def test_calls_whose_ids_are_numbers_are_told_apart() -> None:
    talk = Talk()
    talk.prompt(1)
    calls = [
        *talk.update("tool_call", toolCallId=7, title="a"),
        *talk.update("tool_call", toolCallId=8, title="b"),
    ]
    assert [call["tool_call_id"] for call in calls] == ["7", "8"]
    ended = talk.update("tool_call_update", toolCallId=8, status="completed")
    assert only(ended, "tool_update")["tool_call_id"] == "8"


def test_usage_that_hangs_on_chunks_is_that_of_the_turn() -> None:
    talk = Talk("qwen-code")
    talk.prompt(1)
    for _ in range(2):
        talk.text("", _meta={"usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}})
    data = only(talk.answers(1, stopReason="end_turn"), "complete")["data"]
    assert (data["input_tokens"], data["output_tokens"]) == (20, 4)
    talk.prompt(2)
    talk.text("", _meta={"usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}})
    data = only(talk.ends(Ended("exited", exit_code=1)), "complete")["data"]
    assert (data["outcome"], data["input_tokens"], data["exit_code"]) == ("process_exited", 10, 1)


@pytest.mark.parametrize(
    ("agent", "told"), [("OpenCode", "last_call"), ("Kilo", "last_call"), ("another", None)]
)
def test_tokens_of_the_last_call_of_the_model_are_told_as_no_more_than_that(
    agent: str, told: str | None
) -> None:
    talk = Talk(agent)
    usage = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}
    talk.prompt(1)
    talk.update("tool_call", toolCallId="a", title="bash", kind="execute", status="completed")
    done = only(talk.answers(1, stopReason="end_turn", usage=usage), "complete")["data"]
    assert (done["input_tokens"], done["output_tokens"], done.get("tokens_of")) == (10, 2, told)
    talk.prompt(2)
    talk.text("One call.")
    done = only(talk.answers(2, stopReason="end_turn", usage=usage), "complete")["data"]
    assert (done["input_tokens"], done["output_tokens"]) == (10, 2)


def test_unknown_news_requests_and_notifications_are_kept() -> None:
    talk = Talk()
    talk.prompt(1)
    (odd,) = talk.update("weather", degrees=7)
    assert (odd["type"], odd["message_type"]) == ("unknown", "session/update/weather")
    assert json.loads(odd["raw"])["params"]["update"]["degrees"] == 7
    (craft,) = talk.hears(encode.request(9, "craft/drainMidTurnQueue", {"sessionId": "s", "n": 1}))
    assert (craft["type"], craft["kind"], craft["details"]["n"]) == ("notice", "craft/drainMidTurnQueue", 1)
    (own,) = talk.hears(encode.notification("_vendor/thing", {"a": 1}))
    assert (own["type"], own["kind"]) == ("notice", "_vendor/thing")
    assert types(talk.hears(encode.notification("somebody/else", {}))) == ["unknown"]
    assert types(talk.hears(b'{"a":1}')) == ["unknown"]
    assert types(talk.hears(b"{")) == ["malformed"]
    assert talk.hears(b"") == []
    assert talk.core.stats.unknown == 3


def test_an_agent_that_dies_ends_everything() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.prompt(2, _meta={"turnwire/prompt": "b"})
    talk.asks(0, "c", title="ls")
    end = talk.ends()
    assert types(end) == [
        "tool_update",
        "permission_cancelled",
        "complete",
        "error",
        "withdrawn",
        "process_status",
    ]
    assert only(end, "complete")["data"]["outcome"] == "process_exited"
    assert (talk.core.busy, talk.core.pending) == (False, ())


def test_what_the_sidecar_says_is_passed_on() -> None:
    event = Notice(kind="k", level="info", text="t")
    assert AcpCore().handle(Announced(event)) == [event]


def test_failing_requests_are_told_each_in_its_way() -> None:
    talk = Talk()
    talk.sends(1, "session/new", cwd="/w", mcpServers=[])
    (error,) = talk.fails(1, -32000, "Authentication required")
    assert (error["type"], error["code"]) == ("error", "authentication_failed")
    talk.sends(2, "session/set_mode", sessionId="s", modeId="x")
    (notice,) = talk.fails(2, -32602, "no such mode")
    assert (notice["type"], notice["kind"], notice["level"]) == ("notice", "request_failed", "warning")


def test_a_long_output_is_told_ever_more_rarely() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", kind="execute", title="x", rawInput={"command": "x"})
    written = 0
    for _ in range(2000):
        told = talk.update(
            "tool_call_update", toolCallId="c", _meta={"terminal_output_delta": {"data": "x" * 50}}
        )
        written += sum(len(json.dumps(event)) for event in told)
    assert written < 10 * 2000 * 50
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert end["normalized"]["shell_exec"]["output"]["stdout"] == "x" * 100_000


def test_a_conversation_with_opencode() -> None:
    talk = Talk("OpenCode")
    talk.prompt(1)
    (call,) = talk.update(
        "tool_call", toolCallId="a", title="bash", kind="execute", status="pending", rawInput={}
    )
    assert (call["tool_name"], call["normalized"]["shell_exec"]["command"]) == ("bash", "")
    talk.update(
        "tool_call_update",
        toolCallId="a",
        status="in_progress",
        kind="execute",
        title="Run it",
        rawInput={"command": "exit 3"},
    )
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="a",
        status="completed",
        content=shown("out"),
        rawOutput={"output": "out", "metadata": {"exit": 3}},
    )
    assert (end["tool_name"], end["tool_title"], end["reason"]) == ("bash", "Run it", "failed")
    assert end["normalized"]["shell_exec"]["output"] == {"exit_code": 3, "stdout": "out"}
    talk.update(
        "tool_call",
        toolCallId="b",
        title="read",
        kind="read",
        status="pending",
        rawInput={"filePath": "/w/a.py"},
    )
    text = "<file>\n00001| import os\n00002| x\n\n(End of file - total 2 lines)\n</file>"
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="b",
        status="completed",
        content=shown(text),
        rawOutput={"output": text},
    )
    assert end["normalized"]["read_file"]["output"] == {
        "content": "import os\nx",
        "line_count": 2,
        "start_line": 1,
    }
    patch = "Index: /w/a.py\n====\n--- /w/a.py\n+++ /w/a.py\n@@ -7,1 +7,1 @@\n-a\n+b\n"
    talk.update(
        "tool_call",
        toolCallId="c",
        title="edit",
        kind="edit",
        status="pending",
        rawInput={"filePath": "/w/a.py", "oldString": "a", "newString": "b"},
    )
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="c",
        status="completed",
        content=[{"type": "diff", "path": "/w/a.py", "oldText": "a", "newText": "b"}],
        rawOutput={"output": "", "metadata": {"diff": patch}},
    )
    (mutation,) = end["normalized"]["modify_file"]["mutations"]
    assert mutation["diff"] == "--- /w/a.py\n+++ /w/a.py\n@@ -7,1 +7,1 @@\n-a\n+b\n"
    assert "relative" not in mutation


def test_a_conversation_with_kimi() -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1)
    (call,) = talk.update(
        "tool_call", toolCallId="0:call", title="Shell: ls", status="in_progress", content=[]
    )
    assert (call["tool_name"], call["normalized"]["kind"]) == ("Shell", "shell_exec")
    talk.update("tool_call_update", toolCallId="0:call", content=shown('{"command": "exit 3"}'))
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="0:call",
        status="failed",
        content=shown("out\nCommand failed with exit code: 3."),
    )
    assert end["normalized"]["shell_exec"]["output"]["exit_code"] == 3
    talk.answers(1, stopReason="end_turn")
    assert types(talk.update("usage_update", used=5, size=10)) == ["context_window"]
    talk.prompt(2)
    again = talk.update(
        "tool_call", toolCallId="0:call", title="ReadFile: a.py", status="in_progress", content=[]
    )
    assert types(again) == ["tool_call"]
    assert again[0]["normalized"]["kind"] == "read_file"


def test_a_conversation_with_qwen() -> None:
    talk = Talk("qwen-code")
    talk.prompt(1)
    meta = {"toolName": "write_file"}
    talk.update(
        "tool_call",
        toolCallId="a",
        title="Writing to a",
        kind="edit",
        status="in_progress",
        rawInput={"file_path": "/w/a", "content": "x\n"},
        _meta=meta,
    )
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="a",
        status="completed",
        content=[{"type": "diff", "path": "/w/a", "oldText": "", "newText": "x\n"}],
    )
    assert end["tool_name"] == "write_file"
    assert end["normalized"]["modify_file"]["mutations"][0]["type"] == "create"
    assert end["normalized"]["modify_file"]["output"] == {
        "applied": True,
        "created": True,
        "added_lines": 1,
        "removed_lines": 0,
    }


def test_a_conversation_with_droid() -> None:
    talk = Talk("droid")
    talk.prompt(1)
    talk.update(
        "tool_call",
        toolCallId="a",
        title="Execute",
        kind="execute",
        status="pending",
        rawInput={"command": "ls"},
    )
    (end,) = talk.update(
        "tool_call_update",
        toolCallId="a",
        status="failed",
        content=[{"type": "terminal", "terminalId": "t9"}],
        _meta={"terminal_output": {"terminal_id": "t9", "data": "a\n"}},
    )
    assert (end["tool_status"], end["normalized"]["shell_exec"]["output"]) == ("error", {"stdout": "a\n"})
    (said,) = talk.text("Error: no credit")
    assert said["text"] == "Error: no credit"
    assert (
        only(talk.fails(1, -32603, "Internal error", {"message": "no credit"}), "error")["error"]
        == "no credit"
    )


def test_a_change_of_several_files_names_each() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call", toolCallId="a", title="Editing files", kind="edit", status="in_progress")
    diffs = [
        {"type": "diff", "path": "/w/a", "oldText": None, "newText": "x\n", "_meta": {"kind": "add"}},
        {"type": "diff", "path": "/w/b", "oldText": "y\n", "newText": "", "_meta": {"kind": "delete"}},
    ]
    (end,) = talk.update("tool_call_update", toolCallId="a", status="completed", content=diffs)
    body = end["normalized"]["modify_file"]
    assert body["file_path"] == "/w/a"
    assert [(m["type"], m.get("file_path"), m["diff"].split("\n")[0]) for m in body["mutations"]] == [
        ("create", None, "--- /dev/null"),
        ("delete", "/w/b", "--- /w/b"),
    ]


def test_values_nested_deeply_are_published_as_text_below_a_depth() -> None:
    talk = Talk()
    talk.prompt(1)
    deep: Any = 1
    for _ in range(110):
        deep = {"a": deep}
    (call,) = talk.update("tool_call", toolCallId="a", title="Odd", kind="other", rawInput=deep)
    assert call["normalized"]["generic"]["input"]["a"]
    line = b'{"jsonrpc":"2.0","method":"session/update","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001
    assert types(talk.hears(line)) == ["malformed"]


def test_a_long_text_comes_out_in_pieces_and_whole() -> None:
    talk = Talk()
    talk.prompt(1)
    words = "é" * 1_000_000
    told = talk.text(words)
    assert len(told) > 1
    assert "".join(event["text"] for event in told) == words
    assert len({event["message_id"] for event in told}) == 1


def test_what_an_agent_says_of_itself_is_told() -> None:
    talk = Talk()
    talk.sends(1, "initialize", protocolVersion=1)
    (about,) = talk.answers(
        1,
        protocolVersion=1,
        agentInfo={"name": "a", "title": "A", "version": "2"},
        agentCapabilities={"loadSession": True},
        authMethods=[{"id": "key", "name": "Key"}],
    )
    assert (about["agent_name"], about["agent_title"], about["version"]) == ("a", "A", "2")
    assert (about["capabilities"], about["auth_methods"]) == (
        {"loadSession": True},
        [{"id": "key", "name": "Key"}],
    )
    talk.sends(2, "session/new", cwd="/w", mcpServers=[])
    told = talk.answers(
        2,
        sessionId="s",
        modes={"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]},
        models={"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]},
        configOptions=[{"id": "fast", "type": "boolean", "currentValue": True}],
    )
    assert types(told) == ["session_status", "session_info", "session_mode", "session_options"]
    assert (told[1]["model"], told[1]["models"], told[1]["cwd"]) == ("m", [{"id": "m", "name": "M"}], "/w")
    assert told[2]["available_modes"] == [{"id": "ask", "name": "Ask"}]
    assert told[3]["options"] == [{"id": "fast", "kind": "boolean", "current": "true"}]
    talk.sends(3, "session/set_mode", sessionId="s", modeId="code")
    assert [e["current_mode_id"] for e in talk.answers(3)] == ["code"]
    talk.sends(4, "session/set_model", sessionId="s", modelId="n")
    assert [e["model"] for e in talk.answers(4)] == ["n"]
    commands = [{"name": "init", "description": "Begin", "input": {"hint": "where"}}]
    (listed,) = talk.update("available_commands_update", availableCommands=commands)
    assert listed["available_commands"] == [
        {"name": "init", "description": "Begin", "argument_hint": "where"}
    ]
    assert talk.update("available_commands_update", availableCommands=commands) == []
    commands = [commands[0] | {"unheard": ""}]
    assert talk.update("available_commands_update", availableCommands=commands) == []


def test_the_cost_of_a_turn_is_what_the_total_grew_by() -> None:
    talk = Talk()
    costs = []
    for number, total in ((1, 0.25), (2, 0.75)):
        talk.prompt(number)
        talk.update("usage_update", used=1, size=10, cost={"amount": total, "currency": "USD"})
        data = only(talk.answers(number, stopReason="end_turn"), "complete")["data"]
        costs.append((data["cost_usd"], data["total_cost_usd"]))
    assert costs == [(0.25, 0.25), (0.5, 0.75)]


@pytest.mark.parametrize("told_before", [True, False])
def test_a_total_that_counts_the_past_is_no_cost_of_the_first_turn(told_before: bool) -> None:
    talk = Talk()
    talk.sends(2, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    talk.answers(2)
    cost = {"amount": 3.0, "currency": "USD"}
    if told_before:
        talk.update("usage_update", used=1, size=10, cost=cost)
    talk.prompt(3)
    talk.update("usage_update", used=2, size=10, cost={**cost, "amount": 3.5})
    data = only(talk.answers(3, stopReason="end_turn"), "complete")["data"]
    assert data.get("cost_usd") == (0.5 if told_before else None)
    assert data["total_cost_usd"] == 3.5


@pytest.mark.parametrize(
    ("before", "after", "cost"),
    [
        (0.123456789012, 0.123456789012, 0.0),
        (0.30000000000000004, 0.3, 0.0),
        (1.00000000005, 1.0000000000499, 0.0),
        (0.00000000004, 0.00000000004, 0.0),
        (0.5, 0.1, 0.1),
    ],
)
def test_a_turn_without_cost_is_not_told_the_cost_of_the_session(
    before: float, after: float, cost: float
) -> None:
    talk = Talk()
    told = []
    for number, total in ((1, before), (2, after)):
        talk.prompt(number)
        talk.update("usage_update", used=number, size=10, cost={"amount": total, "currency": "USD"})
        told.append(only(talk.answers(number, stopReason="end_turn"), "complete")["data"]["cost_usd"])
    assert told[1] == cost


def past(talk: Talk, session: str) -> list[Event]:
    updates: list[Event] = [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Plant a tree."}},
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "title": "Dig",
            "kind": "other",
            "status": "completed",
        },
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "It grows."}},
    ]
    params = [{"sessionId": session, "update": update} for update in updates]
    return [event for one in params for event in talk.hears(encode.notification("session/update", one))]


@pytest.mark.parametrize("is_before_the_answer", [True, False])
@pytest.mark.parametrize("first_turn", [1, 4])
def test_the_past_that_a_fork_tells_is_nothing_new(is_before_the_answer: bool, first_turn: int) -> None:
    talk = Talk(first_turn=first_turn)
    talk.sends(1, "session/fork", sessionId="parent", cwd="/w")
    events = past(talk, "s") if is_before_the_answer else []
    talk.answers(1, sessionId="s")
    events += [] if is_before_the_answer else past(talk, "s")
    kinds = {event["type"] for event in events}
    assert "turn_started" not in kinds
    assert ("message_chunk" in kinds) == (first_turn == 1)
    begun = only(talk.prompt(2, "Water it."), "turn_started")
    assert begun["operation_id"] == f"turn-{first_turn}"
    (said,) = talk.text("Done.")
    assert (said["type"], said["operation_id"]) == ("message_chunk", f"turn-{first_turn}")


def test_after_a_fork_that_fails_nothing_is_taken_for_the_past() -> None:
    talk = Talk(first_turn=2)
    talk.sends(1, "session/fork", sessionId="parent", cwd="/w")
    talk.fails(1, -32603, "no")
    talk.sends(2, "session/new", cwd="/w")
    talk.answers(2, sessionId="s")
    talk.prompt(3)
    assert [event["type"] for event in talk.text("New.")] == ["message_chunk"]


def test_money_of_another_currency_is_not_counted_as_dollars() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("usage_update", used=1, size=10, cost={"amount": 5, "currency": "EUR"})
    assert "cost_usd" not in only(talk.answers(1, stopReason="end_turn"), "complete")["data"]


def test_a_prompt_that_the_agent_repeats_is_shown_once() -> None:
    talk = Talk()
    talk.prompt(1, "Go on, please.")
    for piece in ("Go on,", " please."):
        assert talk.update("user_message_chunk", content={"type": "text", "text": piece}) == []


def test_a_prompt_that_is_only_heard_repeated_begins_its_turn() -> None:
    talk = Talk()
    talk.answers(2, sessionId="s", modes=None)
    told = talk.update("user_message_chunk", content={"type": "text", "text": "Go on."})
    assert types(told) == ["turn_started", "user_message"]
    assert types(talk.text("Yes.")) == ["message_chunk"]
    assert types(talk.answers(3, stopReason="end_turn")) == ["complete"]


def test_kimi_names_a_tool_in_its_first_title_and_shows_arguments_and_questions_that_are_no_output() -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1)
    (call,) = talk.update("tool_call", toolCallId="0:c", title="Bash", kind="execute", content=shown(""))
    assert (call["tool_name"], call["normalized"]["shell_exec"]["command"]) == ("Bash", "")
    talk.update("tool_call_update", toolCallId="0:c", content=shown('{"command": "ls"}'))
    asked = talk.asks(9, "0:c", title="Bash", content=shown("Requesting approval to Running: ls"))
    assert only(asked, "permission_request")["normalized"]["shell_exec"] == {"command": "ls"}
    begun = talk.update(
        "tool_call_update",
        toolCallId="0:c",
        title="Running: ls",
        status="in_progress",
        rawInput={"command": "ls"},
        content=shown('{"command":"ls"}'),
    )
    assert [event["normalized"]["shell_exec"] for event in begun if "normalized" in event] == [
        {"command": "ls"}
    ]
    (running,) = talk.update("tool_call_update", toolCallId="0:c", content=shown('{"name": "of a file"}'))
    assert running["normalized"]["shell_exec"]["output"] == {"stdout": '{"name": "of a file"}'}
    talk.update("tool_call", toolCallId="0:t", title="TodoList", kind="other", content=shown(""))
    todos = {"todos": [{"title": "one", "status": "in_progress"}]}
    (renamed,) = talk.update(
        "tool_call_update", toolCallId="0:t", title="Updating todo list", status="in_progress", rawInput=todos
    )
    assert (renamed["tool_name"], renamed["normalized"]["kind"]) == ("TodoList", "manage_todos")


def test_codex_tells_that_it_failed_and_then_why() -> None:
    talk = Talk("@agentclientprotocol/codex-acp")

    def status(value: str) -> None:
        talk.update("session_info_update", _meta={"codex": {"threadStatus": {"type": value}}})

    talk.prompt(1)
    status("active")
    talk.text("Some answer. ")
    status("systemError")
    talk.text("exceeded retry limit, last status: 429 Too Many Requests\n\n")
    failed = talk.answers(1, stopReason="end_turn", usage={"inputTokens": 100})
    assert only(failed, "complete")["data"]["outcome"] == "error"
    error = only(failed, "error")
    assert (error["error"], error["status"]) == (
        "exceeded retry limit, last status: 429 Too Many Requests",
        429,
    )
    status("idle")

    # without a word of why
    talk.prompt(2)
    status("systemError")
    failed = talk.answers(2, stopReason="end_turn")
    assert only(failed, "error")["error"] == "The turn failed without a reason given by the agent."

    # it has gone on
    talk.prompt(3)
    status("systemError")
    status("active")
    talk.text("All is well.")
    assert only(talk.answers(3, stopReason="end_turn"), "complete")["data"]["outcome"] == "completed"


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("Error: 400 bad", "error"),
        ("Error: Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n  Check", "error"),
        ("Error: is what the log begins with.", "completed"),
    ],
)
def test_copilot_says_that_its_api_failed_after_calls_that_did_not(words: str, outcome: str) -> None:
    talk = Talk("Copilot")
    talk.prompt(1)
    talk.text(words)
    done = talk.answers(1, stopReason="end_turn", usage={"inputTokens": 100, "outputTokens": 20})
    assert only(done, "complete")["data"]["outcome"] == outcome
