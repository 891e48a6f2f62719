"""Hooks of Claude Code's own interface as requests, and replies as what the hooks print."""

import json
import os
from pathlib import Path

from turnwire.adapter.claude.interface import answer, arguments, asks, read, waits
from turnwire.adapter.permissions.requests import Allow, Deny, Dismissed, ToolRequest

CALL = {"command": "touch aa.txt"}


def asked(file: Path, **more: object) -> dict[str, object]:
    return {
        "session_id": "c-1",
        "transcript_path": str(file),
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": CALL,
        **more,
    }


def request(folder: Path) -> ToolRequest:
    found = read(asked(folder / "none.jsonl"), "r-1").request
    assert found is not None
    return found


def test_a_request_is_that_of_a_headless_cli_and_names_the_newest_call_with_its_arguments(
    tmp_path: Path,
) -> None:
    file = tmp_path / "c-1.jsonl"
    blocks = [
        {"type": "tool_use", "id": f"t-{number}", "name": "Bash", "input": given}
        for number, given in enumerate([CALL, CALL, {"command": "ls"}])
    ]
    lines = [json.dumps({"message": {"content": [block]}}) for block in blocks]
    file.write_text("\n".join([*lines, '{"tool_use": "no call"}', '"tool_use" and no JSON', ""]))
    suggestions = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    call = read(asked(file, permission_suggestions=suggestions), "r-1")
    assert (call.conversation, call.file, call.opened) == ("c-1", file, False)
    assert call.asked is not None
    assert json.loads(call.asked.line)["request"] == {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "input": CALL,
        "permission_suggestions": suggestions,
        "tool_use_id": "t-1",
    }
    assert call.request is not None
    assert call.request.offers[0].option.kind == "allow_once"
    none = read(asked(tmp_path / "none.jsonl"), "r-2").asked
    assert none is not None
    assert b"tool_use_id" not in none.line


def test_the_start_of_a_session_says_where_it_is_kept_and_whether_it_has_a_past() -> None:
    said = {"session_id": "c-2", "transcript_path": "/x/c-2.jsonl", "hook_event_name": "SessionStart"}
    for source, is_old in (("startup", False), ("clear", False), ("resume", True)):
        call = read({**said, "source": source}, "r")
        assert (call.conversation, call.file, call.opened, call.is_old) == (
            "c-2",
            Path("/x/c-2.jsonl"),
            True,
            is_old,
        )
    stop = read({**said, "hook_event_name": "Stop"}, "r")
    assert (stop.opened, stop.asked) == (False, None)
    assert read({}, "r").file is None


def test_a_reply_is_what_the_hook_prints(tmp_path: Path) -> None:
    def printed(reply: Allow | Deny | Dismissed) -> object:
        said = answer(request(tmp_path), reply)
        return said and said["hookSpecificOutput"]["decision"]

    assert printed(Allow(CALL)) == {"behavior": "allow"}
    change = {"type": "addRules", "destination": "session"}
    assert printed(Allow({"command": "ls"}, "allow_always", [change], "acceptEdits")) == {
        "behavior": "allow",
        "updatedInput": {"command": "ls"},
        "updatedPermissions": [change, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
    }
    assert printed(Deny("no", False)) == {"behavior": "deny", "message": "no"}
    assert printed(Deny("no", True)) == {"behavior": "deny", "message": "no", "interrupt": True}
    assert printed(Dismissed()) == {}


def test_the_note_of_a_process_says_whether_it_waits(tmp_path: Path) -> None:
    file = tmp_path / "projects" / "folder" / "c.jsonl"
    note = tmp_path / "sessions" / f"{os.getpid()}.json"
    note.parent.mkdir()
    assert waits(file, os.getpid()) is None
    for content, expected in (
        ('{"status": "waiting"}', True),
        ('{"status": "busy"}', False),
        ("{}", None),
        ("[]", None),
        ("{", None),
    ):
        note.write_text(content)
        assert waits(file, os.getpid()) is expected


def test_the_hooks_are_settings_beside_those_of_the_user() -> None:
    (given,) = arguments(["/a b/python", "relay.py"])
    settings = json.loads(given.removeprefix("--settings="))
    assert settings["hooks"].keys() == {"PermissionRequest", "SessionStart", "Stop", "Notification"}
    (hook,) = settings["hooks"]["Stop"][0]["hooks"]
    assert hook["command"] == "'/a b/python' relay.py"


def test_a_notification_that_asks_says_what_is_needed_and_others_say_nothing() -> None:
    said = {"session_id": "c", "transcript_path": "/x/c.jsonl", "hook_event_name": "Notification"}
    words = "Claude needs your permission to use Bash"
    assert read({**said, "message": words}, "r").needs == words
    assert read({**said, "message": words, "notification_type": "permission_prompt"}, "r").needs == words
    assert read({**said, "message": "Claude is waiting for your input"}, "r").needs is None
    assert read({**said, "message": "Waits", "notification_type": "idle_prompt"}, "r").needs is None
    assert read(said, "r").needs is None


def test_an_old_version_tells_nothing_of_what_it_asks() -> None:
    assert not asks("2.0.14")
    assert asks("2.1.330")
    assert asks(None)
