"""What the recordings of `opencode run` have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject

WELL = Ended("exited", exit_code=0)


def told(*lines: JsonObject, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader("opencode-run"), new_core("opencode-run")
    inputs: list[SessionInput] = [
        one for line in lines for one in reader.received(json.dumps({"sessionID": "s", **line}).encode())
    ]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def part(kind: str, **members: Json) -> JsonObject:
    return {"type": kind, "part": {"id": "p", **members}}


def tool(name: str, **state: Json) -> JsonObject:
    return part("tool_use", tool=name, callID="c", state={"status": "completed", "input": {}, **state})


def test_a_cost_that_no_float_can_hold_is_no_cost() -> None:
    ended = told({"type": "step_finish", "part": {"id": "p", "reason": "stop", "cost": 10**400}})
    assert [event["data"].get("cost_usd") for event in ended if event["type"] == "complete"] == [None]


def outcomes(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["outcome"] for event in events if event["type"] == "complete"]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("stop", "completed"),
        ("length", "max_tokens"),
        ("content-filter", "refusal"),
        ("error", "error"),
        (None, "completed"),
    ],
)
def test_a_step_says_how_the_turn_ends(reason: str | None, outcome: str) -> None:
    assert outcomes(told(part("step_start"), part("step_finish", reason=reason))) == [outcome]


def test_a_run_whose_tail_was_lost_ended_well_where_its_exit_code_says_so() -> None:
    assert outcomes(told(part("step_start"), part("step_finish", reason="tool-calls"), end=WELL)) == [
        "completed"
    ]
    assert outcomes(told(part("step_start"), end=Ended("end_of_input"))) == ["process_exited"]


def test_two_runs_in_one_file_are_two_turns() -> None:
    run = part("text", text="Hi."), part("step_finish", reason="stop", cost=True)
    assert outcomes(told(*run, *run)) == ["completed"] * 2


def test_thoughts_are_told() -> None:
    assert told(part("reasoning", text="Hm."))[-1]["reasoning_text"] == "Hm."


def test_a_call_that_was_not_allowed_is_denied_and_one_that_failed_has_its_reason() -> None:
    denied = told(
        tool("bash", status="error", error="The user rejected permission to use this specific tool call.")
    )[-1]
    assert (denied["tool_status"], denied["reason"]) == ("error", "denied")
    failed = told(tool("bash", status="error", error="no shell"))[-1]
    assert (failed["reason"], failed["error"]) == ("failed", "no shell")


def test_a_tool_that_is_not_there_has_failed() -> None:
    assert told(tool("invalid", output="Unavailable tool"))[-1]["tool_status"] == "error"


def test_an_error_without_a_status_has_its_name() -> None:
    event = told({"type": "error", "error": {"name": "MessageAbortedError"}})[-1]
    assert (event["type"], event["error"], event.get("status")) == ("error", "MessageAbortedError", None)


def test_other_lines_are_unknown() -> None:
    assert told({"type": "weather"})[-1]["type"] == "unknown"
