"""What the recordings of Gemini CLI have none of."""

import json
from typing import Any

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json

INIT = {"type": "init", "timestamp": "t", "session_id": "s", "model": "auto"}
ASKED = {"type": "message", "timestamp": "t", "role": "user", "content": "Go on."}
CALLED = {"type": "tool_use", "timestamp": "t", "tool_name": "glob", "tool_id": "c", "parameters": {}}


def told(*lines: Json, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [one for line in lines for one in reader.received(json.dumps(line).encode())]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def test_a_turn_that_ends_well_without_a_result_was_interrupted() -> None:
    events = told(INIT, ASKED, CALLED, end=Ended("exited", exit_code=0))
    update, complete, status = events[-3:]
    assert (update["tool_status"], update["reason"]) == ("error", "interrupted")
    assert complete["data"]["outcome"] == "interrupted"
    assert status["type"] == "process_status"


def test_a_turn_whose_process_fails_without_a_result_was_broken_off() -> None:
    events = told(INIT, ASKED, end=Ended("exited", exit_code=1))
    assert [event["type"] for event in events[-3:]] == ["complete", "error", "process_status"]
    assert events[-3]["data"]["outcome"] == "process_exited"


def test_warnings_are_notices_and_errors_are_errors() -> None:
    warned = {"type": "error", "timestamp": "t", "severity": "warning", "message": "Loop detected"}
    failed = {"type": "error", "timestamp": "t", "severity": "error", "message": "Maximum exceeded"}
    events = told(INIT, ASKED, warned, failed, {"type": "result", "timestamp": "t", "status": "error"})
    assert [(event["type"], event.get("text") or event.get("error")) for event in events[-4:]] == [
        ("notice", "Loop detected"),
        ("error", "Maximum exceeded"),
        ("complete", "The agent reports an error without a word."),
        ("error", "The agent reports an error without a word."),
    ]


def test_a_line_of_another_type_is_unknown() -> None:
    assert told(INIT, {"type": "weather"})[-1]["message_type"] == "weather"
