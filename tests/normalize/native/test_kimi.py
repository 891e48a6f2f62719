"""What the recordings of Kimi Code have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.kimi.family import KIMI
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject

BEGUN: JsonObject = {"role": "meta", "type": "system.version", "version": "2.1.0"}


def told(
    *lines: JsonObject, end: Ended | None = None, sent: JsonObject | None = None
) -> list[dict[str, Any]]:
    reader, core = LineReader("kimi"), new_core("kimi")
    inputs: list[SessionInput] = [] if sent is None else [*reader.sent(json.dumps(sent).encode())]
    inputs += [one for line in lines for one in reader.received(json.dumps(line).encode())]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def calls(name: str, arguments: Json) -> JsonObject:
    return {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": name, "arguments": arguments}}],
    }


def result(content: Json) -> JsonObject:
    return {"role": "tool", "tool_call_id": "c", "content": content}


def outcomes(*lines: JsonObject, end: Ended) -> list[str]:
    return [event["data"]["outcome"] for event in told(*lines, end=end) if event["type"] == "complete"]


def test_the_older_kimi_writes_parts_and_no_last_line() -> None:
    said: JsonObject = {
        "role": "assistant",
        "content": [{"type": "think", "think": "Hm."}, {"type": "text", "text": "Hi."}, {"type": "image"}],
    }
    events = told(said, end=Ended("exited", exit_code=0))
    assert [(event["type"], event.get("reasoning_text") or event.get("text")) for event in events[2:4]] == [
        ("reasoning", "Hm."),
        ("message_chunk", "Hi."),
    ]
    assert events[-2]["data"]["outcome"] == "completed"
    assert outcomes(said, end=Ended("end_of_input")) == ["completed"]
    assert outcomes(said, calls("Bash", "{}"), end=Ended("end_of_input")) == ["process_exited"]


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (Ended("exited", exit_code=1, stderr_tail="oh"), "process_exited"),
        (Ended("exited", signal="SIGINT"), "interrupted"),
        (Ended("exited", exit_code=1, stderr_tail="error: failed to run prompt: no model"), "error"),
    ],
)
def test_a_run_without_a_last_line_ends_as_its_process_does(end: Ended, outcome: str) -> None:
    assert outcomes(BEGUN, end=end) == [outcome]


def test_prompts_on_stdin_are_told() -> None:
    events = told(BEGUN, sent={"role": "user", "content": "Go on."})
    assert [event["text"] for event in events if event["type"] == "user_message"] == ["Go on."]
    assert told({"role": "user", "content": [{"type": "text", "text": "a"}]})[-1]["text"] == "a"
    assert told(sent={"role": "system", "content": "x"}) == []


@pytest.mark.parametrize("arguments", ["{", '{"a":' + "[" * 3000, {"a": 1}, "[1]"])
def test_arguments_that_are_no_json_text_are_told_as_they_are(arguments: Json) -> None:
    call = told(calls("mine", arguments))[-1]
    assert call["normalized"]["generic"]["input"] == ([1] if arguments == "[1]" else arguments)


def test_results_tell_in_words_how_the_call_ended() -> None:
    lines = calls("Bash", '{"command":"ls"}'), result([{"type": "text", "text": "a"}, {"type": "image"}])
    assert told(*lines)[-1]["normalized"]["shell_exec"]["output"] == {"stdout": "a"}
    edited = calls("Edit", '{"path":"/a","old_string":"x","new_string":"y"}')
    assert told(edited, result("Replaced 1 occurrence in /a"))[-1]["tool_status"] == "complete"


def test_what_is_about_the_run() -> None:
    notice = told(BEGUN, {"role": "meta", "type": "cron.missed", "content": "Missed."})[-1]
    assert (notice["type"], notice["kind"], notice["text"]) == ("notice", "cron.missed", "Missed.")
    assert told(BEGUN, {"role": "meta", "type": "cron.missed"})[-1]["type"] == "unknown"
    assert told(BEGUN, {"role": "weather"})[-1]["type"] == "unknown"
    empty: JsonObject = {"role": "assistant", "content": ""}
    assert told(BEGUN, empty)[-1]["type"] == "turn_started"
    assert (
        told(BEGUN, {"role": "assistant", "content": [{"type": "text", "text": ""}]})[-1]["type"]
        == "turn_started"
    )


def test_the_end_names_the_conversation() -> None:
    hint: JsonObject = {"role": "meta", "type": "session.resume_hint", "session_id": "s"}
    events = told(BEGUN, hint)
    assert [event["type"] for event in events] == [
        "session_status",
        "session_info",
        "turn_started",
        "complete",
    ]
    assert events[-1]["session_id"] == "s"


def test_messages_are_known_by_their_role() -> None:
    assert KIMI.claims(BEGUN)
    assert KIMI.claims({"role": "assistant", "content": "x"})
    assert KIMI.claims({"role": "tool", "tool_call_id": "c", "content": "x"})
    assert not KIMI.claims({"role": "assistant", "type": "message", "content": []})
    assert not KIMI.claims({"role": "user", "content": "x"})
