"""Amp and Qwen Code write Claude's lines in words of their own: these are read by Claude's family, wherever a recording is cut."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import claiming, new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.dialects.foreign import foreign_wire
from turnwire.protocol.json_values import Json, JsonObject

SESSION = "T-1"
AMP_INIT: JsonObject = {
    "type": "system",
    "subtype": "init",
    "cwd": "/w",
    "session_id": SESSION,
    "tools": ["Bash"],
    "mcp_servers": [],
}
AMP: list[JsonObject] = [
    AMP_INIT,
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
        "parent_tool_use_id": None,
        "session_id": SESSION,
    },
    {
        "type": "assistant",
        "message": {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Looking"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"cmd": "ls"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 14, "output_tokens": 3},
        },
        "parent_tool_use_id": None,
        "session_id": SESSION,
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt", "is_error": False}
            ],
        },
        "parent_tool_use_id": None,
        "session_id": SESSION,
    },
    {
        "type": "result",
        "subtype": "success",
        "duration_ms": 48,
        "is_error": False,
        "num_turns": 2,
        "result": "I look.",
        "session_id": SESSION,
    },
]
QWEN_INIT: JsonObject = {
    "type": "system",
    "subtype": "init",
    "uuid": "u",
    "session_id": "q",
    "cwd": "/w",
    "tools": ["edit"],
    "mcp_servers": [],
    "model": "m",
    "permission_mode": "yolo",
    "qwen_code_version": "0.24.4",
    "agents": [],
}


def told(*lines: Json) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [one for line in lines for one in reader.received(json.dumps(line).encode())]
    assert reader.looks_like is None
    events = [event for one in [*inputs, Ended("exited", exit_code=0)] for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def test_a_turn_of_amp() -> None:
    events = told(*AMP)
    assert [event["reasoning_text"] for event in events if event["type"] == "reasoning"] == ["Looking"]
    assert "".join(event["text"] for event in events if event["type"] == "message_chunk") == "I look."
    (update,) = [event for event in events if event["type"] == "tool_update"]
    assert (update["tool_call_id"], update["tool_status"]) == ("toolu_1", "complete")
    (complete,) = [event for event in events if event["type"] == "complete"]
    assert (complete["data"]["outcome"], complete["data"]["duration_ms"]) == ("completed", 48)


@pytest.mark.parametrize("first", range(len(AMP)))
def test_amps_lines_are_claudes_wherever_a_recording_begins(first: int) -> None:
    assert [claiming(line) for line in AMP[first:]] == [None] * (len(AMP) - first)
    assert [foreign_wire(line) for line in AMP[first:]] == [None] * (len(AMP) - first)
    assert not [event for event in told(*AMP[first:]) if event["type"] in ("unknown", "malformed")]


@pytest.mark.parametrize(
    ("subtype", "outcome"), [("error_during_execution", "error"), ("error_max_turns", "max_turns")]
)
def test_a_turn_of_amp_that_fails_says_why(subtype: str, outcome: str) -> None:
    result: JsonObject = {
        "type": "result",
        "subtype": subtype,
        "duration_ms": 48,
        "is_error": True,
        "num_turns": 1,
        "error": "Out of credits",
        "session_id": SESSION,
        "permission_denials": ["Bash"],
    }
    for lines in ([*AMP[:2], result], [AMP[2], result]):
        assert claiming(result) is None
        (complete,) = [event for event in told(*lines) if event["type"] == "complete"]
        assert complete["data"]["outcome"] == outcome
        assert complete["data"]["errors"] == ["Out of credits"]


def test_qwens_names() -> None:
    assert claiming(QWEN_INIT) is None
    (info,) = [event for event in told(QWEN_INIT) if event["type"] == "session_info"]
    assert (info["model"], info["cwd"], info["permission_mode"]) == ("m", "/w", "yolo")
