"""Files of pi and OpenClaw: a conversation of entries with parents."""

import json
from pathlib import Path

import pytest

from turnwire.normalize import events as ev
from turnwire.normalize.acp.session_files.agents import RECORDS
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.payloads import ModifyFilePayload, ShellExecPayload
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.recordings.reading import read
from turnwire.recordings.session_file import format_of, survey_of

HEAD: JsonObject = {
    "type": "session", "version": 3, "id": "fern", "timestamp": "2026-02-06T07:49:00.000Z", "cwd": "/srv/fern",
}  # fmt: skip


def message(number: int, parent: int | None, role: str, content: Json, **more: Json) -> JsonObject:
    return {
        "type": "message", "id": f"e{number}", "parentId": None if parent is None else f"e{parent}",
        "timestamp": f"2026-02-06T07:49:{number:02}.000Z",
        "message": {"role": role, "content": content, "timestamp": 1770364143000 + number, **more},
    }  # fmt: skip


def answer(number: int, parent: int | None, *content: Json, stop: str = "stop", **more: Json) -> JsonObject:
    usage: JsonObject = {"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "cost": {"total": 0.25}}
    return message(
        number, parent, "assistant", [*content], model="wren-2", usage=usage, stopReason=stop, **more
    )


def call(name: str, tool: str, **arguments: Json) -> JsonObject:
    return {"type": "toolCall", "id": name, "name": tool, "arguments": arguments}


ROWS = [
    HEAD,
    {"type": "model_change", "id": "e1", "parentId": None, "timestamp": "2026-02-06T07:49:01.000Z", "modelId": "wren-2"},
    message(2, 1, "user", [{"type": "text", "text": "Count the ferns"}]),
    answer(3, 2, {"type": "thinking", "thinking": "By hand?"}, call("c1", "bash", command="wc -l ferns"), stop="toolUse"),
    message(4, 3, "toolResult", [{"type": "text", "text": "no ferns\n\nCommand exited with code 2"}], toolCallId="c1", isError=True),
    answer(5, 4, call("c2", "edit", path="ferns", oldText="a\n", newText="b\n"), stop="toolUse"),
    message(6, 5, "toolResult", "done", toolCallId="c2", isError=False),
    answer(7, 6, {"type": "text", "text": "Two."}),
    message(8, 7, "user", "A way that was left"),
    answer(9, 8, {"type": "image"}, {"type": "text", "text": "Left."}),
    message(10, 7, "user", "And now?"),
    answer(11, 10, errorMessage="429 too many", stop="error"),
    {"type": "session_info", "id": "e12", "parentId": "e11", "timestamp": "2026-02-06T07:49:12.000Z", "name": "Ferns"},
    {"type": "compaction", "id": "e13", "parentId": "e12", "timestamp": "2026-02-06T07:49:13.000Z", "summary": "…"},
    {"type": "custom", "id": "e14", "parentId": "e13", "timestamp": "2026-02-06T07:49:14.000Z"},
]  # fmt: skip


def events_of(file: Path, rows: list[JsonObject]) -> list[AgentEvent]:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    core = recorded_core()
    return [event for timed in read(file) for event in core.handle(timed.input)]


def test_a_conversation_of_pi_is_read_with_its_calls_tokens_and_branches(tmp_path: Path) -> None:
    file = tmp_path / "2026-02-06_fern.jsonl"
    events = events_of(file, ROWS)
    assert [event.text for event in events if isinstance(event, ev.UserMessage)] == [
        "Count the ferns",
        "And now?",
    ]
    assert "".join(event.text for event in events if isinstance(event, ev.MessageChunk)) == "Two."
    shell, edit = [
        event for event in events if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"
    ]
    assert isinstance(shell.normalized, ShellExecPayload)
    assert shell.tool_status == "error"
    assert shell.normalized.shell_exec.output is not None
    assert shell.normalized.shell_exec.output.exit_code == 2
    assert isinstance(edit.normalized, ModifyFilePayload)
    first, second = [event.data for event in events if isinstance(event, ev.Complete)]
    assert first.outcome == "completed"
    assert second.is_error
    assert "429 too many" in str(second)
    assert any(isinstance(event, ev.CompactBoundary) for event in events)
    found = format_of(file)
    assert found is not None
    outline = survey_of(file, found.files).outline()
    assert (outline.session_id, outline.folder, outline.title, outline.model) == (
        "fern",
        "/srv/fern",
        "Ferns",
        "wren-2",
    )
    assert (outline.turns, outline.cost_usd, len(outline.branches)) == (2, 1.25, 1)


def test_entries_of_the_first_version_follow_each_other(tmp_path: Path) -> None:
    rows = [
        {name: value for name, value in row.items() if name not in ("parentId", "version")} for row in ROWS
    ]
    for row in rows[1:]:
        del row["id"]
    events = events_of(tmp_path / "x.jsonl", rows)
    asked = [event.text for event in events if isinstance(event, ev.UserMessage)]
    assert asked == ["Count the ferns", "A way that was left", "And now?"]


@pytest.mark.parametrize("reason", ["aborted", "stop", "length"])
def test_an_answer_says_how_its_turn_ended(reason: str, tmp_path: Path) -> None:
    events = events_of(
        tmp_path / "x.jsonl", [HEAD, message(1, None, "user", "Go"), answer(2, 1, stop=reason)]
    )
    (end,) = [event.data for event in events if isinstance(event, ev.Complete)]
    assert (end.stop_reason == "cancelled") == (reason == "aborted")


def test_what_the_user_ran_is_a_call(tmp_path: Path) -> None:
    ran = message(2, 1, "bashExecution", None, command="ls", output="ferns", exitCode=0)
    openclaw = answer(3, 2, {"type": "toolUse", "name": "exec", "input": {"command": "ls"}}, stop="toolUse")
    result = message(
        4, 3, "toolResult", [{"type": "text", "text": "ferns"}], toolCallId="e3:0", details={"exitCode": 1}
    )
    events = events_of(tmp_path / "x.jsonl", [HEAD, message(1, None, "user", "Go"), ran, openclaw, result])
    ends = [event for event in events if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"]
    assert [event.tool_status for event in ends] == ["complete", "error"]


def test_records_without_meaning_say_nothing() -> None:
    pi = RECORDS["pi"].records()
    silent: list[JsonObject] = [
        {"type": "label"},
        {"type": "session_info"},
        {"type": "message", "message": {"role": "user", "content": [{"type": "image"}]}},
        {"type": "message", "message": {"role": "custom"}},
    ]
    assert [record.steps for row in silent for record in pi.read(row)] == [(), (), (), ()]
    (said,) = pi.read({"type": "message", "message": {"role": "assistant", "content": "Plain."}})
    assert len(said.steps) == 1
    assert RECORDS["pi"].session_of(b'{"type":"session","id":"x","cwd":"/"}') is None
