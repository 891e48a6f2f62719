"""What the recordings of Droid have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject

ASKED: JsonObject = {"type": "message", "role": "user", "id": "u", "text": "Go on.", "session_id": "s"}
DONE: JsonObject = {"type": "completion", "finalText": "Done.", "numTurns": 1, "session_id": "s"}


def told(*lines: JsonObject, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [one for line in lines for one in reader.received(json.dumps(line).encode())]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def result(tool: str = "Execute", **members: Json) -> JsonObject:
    return {"type": "tool_result", "id": "c", "toolId": tool, "isError": "error" in members, **members}


def last(*lines: JsonObject) -> dict[str, Any]:
    return told(ASKED, *lines)[-1]


def edited(*lines: Json, **more: Json) -> JsonObject:
    words = '{"success":true,"file_path":"/a",' + json.dumps({"diffLines": [*lines], **more})[1:]
    called: JsonObject = {
        "type": "tool_call", "id": "c", "toolId": "Edit", "toolName": "Edit",
        "parameters": {"file_path": "/a", "old_str": "x", "new_str": "y"},
    }  # fmt: skip
    events = told(ASKED, called, result("Edit", value=words))
    mutation: JsonObject = events[-1]["normalized"]["modify_file"]["mutations"][0]
    return mutation


def line(kind: str, words: str, **numbers: Json) -> Json:
    return {"type": kind, "content": words, "lineNumber": {**numbers}}


def test_a_run_of_which_only_the_end_was_kept_tells_its_text() -> None:
    events = told(DONE)
    assert [event["text"] for event in events if event["type"] == "message_chunk"] == ["Done."]
    said: JsonObject = {"type": "message", "role": "assistant", "id": "a", "text": "Done.", "session_id": "s"}
    events = told(ASKED, said, DONE, ASKED, {**DONE, "finalText": ""})
    assert [event["type"] for event in events].count("message_chunk") == 1
    assert [event["type"] for event in events].count("complete") == 2


def test_a_run_that_ends_without_an_error_and_a_last_line_was_broken_off() -> None:
    events = told(ASKED, end=Ended("exited", exit_code=1))
    assert [event["data"]["outcome"] for event in events if event["type"] == "complete"] == ["process_exited"]


def test_the_command_line_itself_can_fail() -> None:
    failed = last({"type": "error", "source": "cli", "message": "Invalid flag", "session_id": "s"})
    assert (failed["error"], failed.get("status")) == ("Invalid flag", None)


def test_results_without_a_text_are_handed_on() -> None:
    assert last(result("Mine", value=[1]))["normalized"]["generic"]["output"] == [1]
    assert last(result("Mine", error={}))["tool_status"] == "error"
    assert (
        last(result("Mine", value='{"success": nothing'))["normalized"]["generic"]["output"]
        == '{"success": nothing'
    )
    assert last(result("Mine", value='{"success": nothing}'))["tool_status"] == "complete"
    assert last(result("Mine", value='{"success":' + "[" * 3000))["tool_status"] == "complete"


def test_a_command_without_output_has_an_exit_code() -> None:
    called: JsonObject = {
        "type": "tool_call", "id": "c", "toolId": "Execute", "toolName": "Execute", "parameters": {"command": "true"},
    }  # fmt: skip
    ended = result(value="Command completed successfully\n\n[Process exited with code 0]")
    assert last(called, ended)["normalized"]["shell_exec"]["output"] == {"exit_code": 0}


def test_leave_that_was_not_given_is_a_denial() -> None:
    update = last(result(error={"message": "Error: insufficient permission to proceed"}))
    assert (update["tool_status"], update["reason"], update["error"]) == (
        "error",
        "denied",
        "insufficient permission to proceed",
    )


def test_other_lines_are_unknown() -> None:
    assert last({"type": "weather", "session_id": "s"})["type"] == "unknown"
    assert last({"type": "system", "subtype": "weather", "session_id": "s"})["type"] == "unknown"


@pytest.mark.parametrize(
    ("lines", "hunks"),
    [
        (
            [
                line("unchanged", "a", old=1, new=1),
                line("added", "b", new=2),
                line("unchanged", "z", old=9, new=10),
            ],
            ["@@ -1,1 +1,2 @@", " a", "+b", "@@ -9,1 +10,1 @@", " z"],
        ),
        ([line("removed", "b", old=5), line("added", "c", new=5)], ["@@ -5,1 +5,1 @@", "-b", "+c"]),
        ([line("added", "c", new=7)], ["@@ -7,0 +7,1 @@", "+c"]),
        ([{"type": "strange"}], ["@@ -1,1 +1,1 @@", " "]),
    ],
)
def test_an_edit_has_the_lines_numbers_of_its_file(lines: list[Json], hunks: list[str]) -> None:
    mutation = edited(*lines)
    assert str(mutation["diff"]).split("\n")[2:-1] == hunks
    assert mutation.get("relative") is None


def test_an_edit_without_lines_is_told_by_its_arguments() -> None:
    assert edited()["relative"] is True
