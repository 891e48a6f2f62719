"""What the recordings of Copilot CLI have none of."""

import json
from typing import Any

import pytest
from patches import patched

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject


def line(kind: str, **data: Json) -> JsonObject:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-11-23T13:37:50.197Z", "parentId": "p"}


ASKED = line("user.message", content="Go on.", messageId="u")
CALL = line("model.call_start", turnId="0")
IDLE = line("assistant.idle")


def told(*lines: JsonObject, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [one for line in lines for one in reader.received(json.dumps(line).encode())]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def kinds(*lines: JsonObject, end: Ended | None = None) -> list[str]:
    return [event["type"] for event in told(ASKED, *lines, end=end)[3:]]


def last(*lines: JsonObject) -> dict[str, Any]:
    return told(ASKED, *lines)[-1]


def started(name: str = "bash", **members: Json) -> JsonObject:
    return line("tool.execution_start", toolCallId="c", toolName=name, **members)


def ended(**members: Json) -> JsonObject:
    return line("tool.execution_complete", toolCallId="c", **members)


def test_half_an_answer_is_taken_back_when_the_call_is_made_again() -> None:
    half = line("assistant.message_delta", messageId="m", deltaContent="Half")
    more = line("assistant.message_delta", messageId="m", deltaContent=" of it")
    thought = line("assistant.reasoning_delta", reasoningId="r", deltaContent="Hm")
    failed = line("model.call_failure", errorMessage="terminated", retryAttempt=0)
    events = told(ASKED, CALL, thought, half, more, failed, line("assistant.turn_retry"))
    assert [event["type"] for event in events[-2:]] == ["retraction", "api_retry"]
    assert events[-2]["message_ids"] == ["r", "m"]
    assert (events[-1]["attempt"], events[-1]["error"]) == (1, "terminated")
    assert last(CALL, half, failed, CALL)["message_ids"] == ["m"]
    done = line("model.call_finished", outcome="success")
    assert kinds(CALL, half, done, failed, CALL) == ["message_chunk"]
    assert kinds(CALL, half, CALL) == ["message_chunk"]


def test_a_retry_says_its_reason_where_no_failure_was_told() -> None:
    assert last(line("assistant.turn_retry", reason="rate_limit"))["error"] == "rate_limit"


def test_a_run_that_is_interrupted_has_no_last_line() -> None:
    stopped = (line("agent.interrupted"), line("abort", reason="user_initiated"))
    end = Ended("exited", signal="SIGINT")
    for lines in (
        stopped,
        (*stopped, line("assistant.idle", aborted=True)),
        (IDLE | {"data": {"aborted": True}},),
    ):
        completes = [event for event in told(ASKED, *lines, end=end) if event["type"] == "complete"]
        assert [one["data"]["outcome"] for one in completes] == ["interrupted"]


def test_a_result_after_an_interrupt_changes_nothing() -> None:
    result: JsonObject = {"type": "result", "sessionId": "s", "exitCode": 130}
    assert last(line("abort"), result)["data"]["outcome"] == "interrupted"


@pytest.mark.parametrize(
    ("lines", "code", "outcome"),
    [
        ([IDLE], 0, "completed"),
        ([line("session.error", message="no"), IDLE], 1, "error"),
        ([IDLE], 137, "process_exited"),
        ([], 0, "process_exited"),
    ],
)
def test_a_turn_ends_without_its_last_line(lines: list[JsonObject], code: int, outcome: str) -> None:
    events = told(ASKED, *lines, end=Ended("exited", exit_code=code))
    assert [one["data"]["outcome"] for one in events if one["type"] == "complete"] == [outcome]


def test_a_thought_that_is_not_told_in_pieces_is_told_once_and_first() -> None:
    message = line("assistant.message", messageId="m", content="Yes.", reasoningText="Hm.")
    whole = line("assistant.reasoning", reasoningId="r", content="Hm.")
    assert kinds(message, whole) == ["reasoning", "message_chunk"]
    assert kinds(line("assistant.reasoning", reasoningId="r", content="Hm.")) == ["reasoning"]
    assert kinds(line("assistant.reasoning", reasoningId="r")) == []


def test_what_a_subagent_says_and_does_belongs_to_its_call() -> None:
    said = line("assistant.message", messageId="m", content="Inside.", parentToolCallId="c")
    events = told(ASKED, started("task"), said)
    assert events[-1]["parent_tool_call_id"] == "c"
    assert kinds(line("subagent.started"), line("assistant.turn_start", parentToolCallId="c")) == []


def test_a_tool_of_an_mcp_server_is_told_as_such() -> None:
    call = last(started("calc-add", mcpServerName="calc", mcpToolName="add", arguments={"a": 1}))
    assert call["tool_name"] == "calc-add"
    assert "calc" in json.dumps(call["normalized"])


@pytest.mark.parametrize("code", ["interrupted", None])
def test_a_call_that_fails_says_why(code: str | None) -> None:
    error: Json = None if code is None else {"code": code, "message": "stopped"}
    update = last(started(), ended(success=False, error=error))
    assert update["tool_status"] == "error"
    assert update["error"] == ("stopped" if code else "The call failed without a reason given by the agent.")


def test_an_exit_code_can_stand_in_the_telemetry() -> None:
    metrics: Json = {"metrics": {"exit_code": 3}}
    update = last(started(), ended(success=True, result={"content": "no"}, toolTelemetry=metrics))
    assert update["normalized"]["shell_exec"]["output"]["exit_code"] == 3


def test_a_patch_of_two_files_tells_each_its_own_diff() -> None:
    def part(name: str) -> str:
        return f"\ndiff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -5 +5 @@\n-a\n+b\n"

    edits: Json = [{"path": "/one", "kind": "edit"}, {"path": "/two", "kind": "delete"}]
    result: Json = {"content": "done", "detailedContent": part("one") + part("two")}
    update = last(started("apply_patch"), ended(success=True, fileEdits=edits, result=result))
    mutations = update["normalized"]["modify_file"]["mutations"]
    assert [one["type"] for one in mutations] == ["edit", "delete"]
    assert "@@ -5" in mutations[0]["diff"]
    unknown = last(started("apply_patch"), ended(success=True, fileEdits=edits, result={"content": "done"}))
    assert [one.get("diff") for one in unknown["normalized"]["modify_file"]["mutations"]] == [None, None]


@pytest.mark.parametrize(
    ("before", "hunks", "after"),
    [
        ("a\nb\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n \n", "a\nB\n"),
        ("a\nb\n", "@@ -1,3 +1,4 @@\n a\n b\n+c\n \n", "a\nb\nc\n"),
        ("a\n\nb\nc\n", "@@ -1,2 +1,2 @@\n-a\n+A\n \n", "A\n\nb\nc\n"),
        ("", "@@ -1,1 +1,2 @@\n+a\n \n", "a\n"),
        ("", "@@ -1,0 +1,2 @@\n+a\n+b\n", "a\nb\n"),
        ("a\n", "@@ -1,2 +1,1 @@\n-a\n \n", ""),
        ("", "", ""),
    ],
    ids=["end", "append", "blank-inside", "empty-file", "new-file", "emptied", "no-hunks"],
)
def test_a_diff_does_not_count_an_empty_line_behind_the_end_of_the_file(
    before: str, hunks: str, after: str
) -> None:
    edits: Json = [{"path": "/f", "kind": "edit"}]
    result: Json = {"detailedContent": f"\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n{hunks}"}
    update = last(started("edit"), ended(success=True, fileEdits=edits, result=result))
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert (patched(before, mutation["diff"]) if hunks else before) == after


def test_a_session_says_more_of_itself() -> None:
    begin = line(
        "session.resume", sessionId="s", selectedModel="m", copilotVersion="1", context={"cwd": "/w"}
    )
    status, info = told(begin)
    assert (status["session_id"], status["data"]["session_status"]) == ("s", "resumed")
    assert (info["model"], info["cwd"], info["version"]) == ("m", "/w", "1")


def test_notices_of_a_session() -> None:
    servers: Json = [{"name": "calc", "status": "failed"}, {"name": "other", "status": "connected"}]
    failed = last(line("session.mcp_servers_loaded", servers=servers))
    assert failed["text"] == "The MCP server calc does not start: it does not say why"
    assert last(line("session.warning", message="Mind."))["level"] == "warning"
    assert last(line("session.info", message="Look.", infoType="other"))["text"] == "Look."
    assert last(line("session.compaction_complete"))["type"] == "compact_boundary"
    assert last(line("session.usage_info", currentTokens=5, tokenLimit=10))["context_window_used"] == 5
    assert kinds(line("session.usage_info"), line("session.idle")) == []


def test_tokens_count_where_a_call_tells_them() -> None:
    usage = line("assistant.usage", inputTokens=100, outputTokens=20, cacheReadTokens=60)
    complete = last(usage, {"type": "result", "sessionId": "s", "exitCode": 0})["data"]
    assert (complete["input_tokens"], complete["output_tokens"], complete["cache_read_input_tokens"]) == (
        40,
        20,
        60,
    )


@pytest.mark.parametrize("kind", ["assistant.new", "model.new", "tool.new", "user.new", "weather.now"])
def test_an_unknown_line_is_unknown(kind: str) -> None:
    assert last(line(kind))["type"] == "unknown"
