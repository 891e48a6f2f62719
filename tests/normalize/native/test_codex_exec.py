"""What the recordings of `codex exec` have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.codex.words import unwrapped
from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json

THREAD = {"type": "thread.started", "thread_id": "t"}
TURN = {"type": "turn.started"}


def told(*lines: Json | bytes, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    inputs: list[SessionInput] = [one for line in raw for one in reader.received(line)]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def item(kind: str, of: str = "item.completed", **members: Json) -> Json:
    return {"type": of, "item": {"id": "item_0", "type": kind, **members}}


def done(sent: int) -> Json:
    return {"type": "turn.completed", "usage": {"input_tokens": sent, "output_tokens": sent // 5}}


def test_a_thread_that_is_resumed_in_the_same_file_has_new_items_and_its_own_tokens() -> None:
    said = item("agent_message", text="One.")
    events = told(THREAD, TURN, said, done(100), THREAD, TURN, said, done(250))
    texts = [(event["message_id"], event["text"]) for event in events if event["type"] == "message_chunk"]
    assert texts == [("item_0", "One."), ("item_0:2", "One.")]
    ends = [event["data"] for event in events if event["type"] == "complete"]
    assert [(end["input_tokens"], end["total_input_tokens"]) for end in ends] == [(100, 100), (150, 250)]


def test_sigint_ends_a_turn_with_exit_code_1_and_without_a_line() -> None:
    running = item(
        "command_execution", "item.started", command="/bin/bash -lc 'sleep 20'", status="in_progress"
    )
    events = told(THREAD, TURN, running, end=Ended("exited", exit_code=1))
    assert [event["data"]["outcome"] for event in events if event["type"] == "complete"] == ["interrupted"]
    events = told(THREAD, TURN, running, end=Ended("exited", exit_code=101))
    assert [event["data"]["outcome"] for event in events if event["type"] == "complete"] == ["process_exited"]


def test_a_lost_connection_without_a_reason_is_a_retry() -> None:
    retry = told(THREAD, TURN, {"type": "error", "message": "Reconnecting... 2/5"})[-1]
    assert (retry["type"], retry["attempt"], retry["max_retries"]) == ("api_retry", 2, 5)


@pytest.mark.parametrize(
    ("status", "ends"), [("declined", "error"), ("failed", "error"), ("completed", "complete")]
)
def test_a_command_ends_as_the_item_says(status: str, ends: str) -> None:
    events = told(THREAD, TURN, item("command_execution", command="ls", status=status))
    assert [event["tool_status"] for event in events if event["type"] == "tool_update"] == [ends]


@pytest.mark.parametrize(
    ("kind", "change"), [("add", "create"), ("delete", "delete"), ("update", "edit"), ("moved", "edit")]
)
def test_a_change_of_a_file_says_what_is_done_with_it(kind: str, change: str) -> None:
    failed = item("file_change", changes=[{"path": "/a", "kind": kind}], status="failed")
    update = next(event for event in told(THREAD, TURN, failed) if event["type"] == "tool_update")
    assert update["tool_status"] == "error"
    assert update["normalized"]["modify_file"]["mutations"][0]["type"] == change


def test_a_call_of_an_mcp_server_fails_with_its_reason() -> None:
    failed = item("mcp_tool_call", server="s", tool="t", status="failed", error={"message": "no such tool"})
    update = next(event for event in told(THREAD, TURN, failed) if event["type"] == "tool_update")
    assert (update["tool_status"], update["error"]) == ("error", "no such tool")


def test_agents_that_are_started_are_calls() -> None:
    started = item(
        "collab_tool_call", "item.started", tool="spawn_agent", prompt="Look.", status="in_progress"
    )
    ended = item("collab_tool_call", tool="spawn_agent", prompt="Look.", status="failed", agents_states={})
    events = told(THREAD, TURN, started, ended)
    assert [event["tool_name"] for event in events if event["type"] == "tool_call"] == ["spawn_agent"]
    assert events[-1]["tool_status"] == "error"
    ended = item("collab_tool_call", tool="spawn_agent", status="completed", agents_states={})
    assert told(THREAD, TURN, ended)[-1]["tool_status"] == "complete"


def test_a_warning_before_the_turn_is_a_notice_and_an_unknown_item_is_unknown() -> None:
    events = told(
        THREAD, item("error", message="unknown key in config.toml"), item("weather"), {"type": "item"}
    )
    assert [(event["type"], event.get("text") or event.get("message_type")) for event in events[-3:]] == [
        ("notice", "unknown key in config.toml"),
        ("unknown", "item.completed"),
        ("unknown", "item"),
    ]


def test_a_search_of_the_web_that_is_too_deep_is_malformed() -> None:
    deep = b'{"type":"web_search","a":' + b"[" * 3000 + b"]" * 3000 + b"}"
    assert told(THREAD, deep)[-1]["type"] == "malformed"


@pytest.mark.parametrize(
    ("wrapped", "command"),
    [
        ("/bin/bash -lc 'echo a; echo b'", "echo a; echo b"),
        ("bash -c 'a' b", "bash -c a b"),
        ("/bin/bash -lc 'unclosed", "/bin/bash -lc 'unclosed"),
        ("ls -l", "ls -l"),
        (None, ""),
    ],
)
def test_a_command_is_told_without_the_shell_around_it(wrapped: str | None, command: str) -> None:
    assert unwrapped(wrapped) == command
