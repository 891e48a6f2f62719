"""What the recordings of `opencode serve` have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.opencode.serve_reader import OpenCodeServeReader
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject


def event(kind: str, session: str | None = "s", **members: Json) -> JsonObject:
    properties: JsonObject = members if session is None else {"sessionID": session, **members}
    return {"id": "e", "type": kind, "properties": properties}


def part(kind: str, session: str = "s", **members: Json) -> JsonObject:
    given: JsonObject = {"id": "p", "messageID": "m", "type": kind, **members}
    return event("message.part.updated", session, part=given)


def user(**members: Json) -> JsonObject:
    return part("text", messageID="u", id="pu", text="Go on.", **members)


USER = event("message.updated", info={"id": "u", "role": "user"})
BEGIN = (event("session.created", info={"id": "s"}), USER, user())
IDLE = event("session.idle")
DELTA = event("message.part.delta", partID="p", field="text", delta="Half")


def tool(status: str, call: str = "c", name: str = "bash", **state: Json) -> JsonObject:
    return part("tool", tool=name, callID=call, state={"status": status, "input": {}, **state})


def told(*lines: JsonObject) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [
        one for line in (*BEGIN, *lines) for one in reader.received(json.dumps(line).encode())
    ]
    events = [event for one in inputs for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events][len(("status", "info", "turn", "user")) :]


def kinds(*lines: JsonObject) -> list[str]:
    return [one["type"] for one in told(*lines)]


def test_half_an_answer_is_taken_back_when_it_is_tried_again() -> None:
    retry = event("session.status", status={"type": "retry", "attempt": 2, "message": "HTTP 500: no"})
    retraction, again = told(part("text", text=""), DELTA, retry)[1:]
    assert (retraction["message_ids"], again["attempt"], again["status"]) == (["p"], 2, 500)
    assert kinds(part("text", text="a"), part("step-finish"), retry) == ["message_chunk", "api_retry"]


def test_a_part_that_is_removed_is_taken_back() -> None:
    removed = event("message.part.removed", partID="p")
    assert kinds(removed, part("reasoning", text="a"), removed, removed) == ["reasoning", "retraction"]


def test_a_client_that_breaks_the_turn_off_interrupts_it() -> None:
    reader = OpenCodeServeReader()
    assert reader.received(BEGIN[0])
    assert reader.sent({"request": {"path": "/session/s/message"}}) == ()
    assert reader.sent({"request": {"path": "/session/s/abort"}}) == ()
    assert [getattr(one, "outcome", None) for one in reader.received(IDLE) or ()] == ["interrupted"]


def test_what_comes_after_the_end_begins_no_turn_but_work_does() -> None:
    busy = event("session.status", status={"type": "busy"})
    assert kinds(IDLE, part("text", text="late"), IDLE) == ["complete"]
    assert kinds(IDLE, busy, part("text", text="more")) == ["complete", "turn_started", "message_chunk"]
    assert kinds(event("session.status", "t", status={"type": "busy"})) == []


def test_a_todo_list_is_a_plan() -> None:
    todos: Json = [{"content": "First", "status": "completed"}, {"content": "Second", "status": "pending"}]
    plan = told(event("todo.updated", todos=todos))[-1]
    assert plan["plan_content"] == "- [x] First\n- [ ] Second"
    assert kinds(event("todo.updated", "t", todos=todos)) == []


def test_output_is_told_while_a_command_runs() -> None:
    running = tool("running", input={"command": "ls"}, metadata={"output": "a\n"})
    assert told(running)[-1]["normalized"]["shell_exec"]["output"]["stdout"] == "a\n"


def test_a_subagent_has_its_own_steps_and_errors() -> None:
    task = tool("running", name="task", metadata={"sessionId": "t"}, input={"prompt": "Look"})
    inside = (part("text", "t", id="q", text="In"), part("step-finish", "t"), part("text", "x", text="else"))
    assert kinds(task, *inside) == ["tool_call", "message_chunk"]
    assert told(event("session.error", "t", error={"name": "APIError"}))[-1]["kind"] == "subagent_error"
    assert kinds(event("session.compacted", "t"), event("session.idle", "t")) == []


def test_leave_and_questions_need_no_call_that_was_heard_before() -> None:
    asked = event("permission.asked", id="r", permission="webfetch", patterns=["x"], always=[])
    assert kinds(asked, event("permission.replied", requestID="r", reply="always")) == [
        "tool_call",
        "permission_request",
        "permission_resolved",
    ]
    question = event("question.asked", id="q", questions=[{"question": "Which?"}])
    assert kinds(question, event("question.rejected", requestID="q")) == [
        "question_request",
        "permission_resolved",
    ]
    known = told(
        tool("running", input={"command": "ls"}), event("permission.asked", id="r", tool={"callID": "c"})
    )
    assert known[-1]["tool_call_id"] == "c"


@pytest.mark.parametrize(
    "line",
    [
        event("session.diff", diff=[]),
        event("session.updated", "t", info={}),
        event("message.part.delta", partID="unknown", field="text", delta="a"),
        event("message.part.delta", partID="p", field="raw", delta="a"),
        part("file", messageID="u"),
        user(),
        event("server.heartbeat", None),
    ],
)
def test_lines_that_tell_nothing_new(line: JsonObject) -> None:
    assert told(line) == []


@pytest.mark.parametrize("kind", ["session.new", "message.new", "permission.new", "question.new"])
def test_an_unknown_event_is_unknown(kind: str) -> None:
    assert kinds(event(kind)) == ["unknown"]
    assert kinds(event("session.compacted"), event("weather.now")) == ["compact_boundary", "unknown"]
