import json
import resource
from pathlib import Path

import pytest
from claude_asking import request_of

from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.requests import UnreadableRequest
from turnwire.normalize.inputs import Decision
from turnwire.protocol.claude.requests import CanUseTool

BASH = CanUseTool(tool_name="Bash", input={"command": "ls"})


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_step_of_a_request_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "audit.jsonl"
    trail = AuditTrail(path, "s1", now=lambda: "2026-01-01T00:00:00.000Z")
    trail.note_request(request_of("r", BASH))
    trail.note_decision(Decision("r", "allow", "ada", 1200, option_id="allow_once"))
    trail.note_refusal("r", "bob", "already_answered")
    trail.note_void("r2", "interrupted")
    trail.close()
    assert [row["what"] for row in rows(path)] == ["asked", "decided", "refused", "voided"]
    assert rows(path)[0]["request"]["tool_name"] == "Bash"  # type: ignore[index]
    assert rows(path)[1] == {
        "ts": "2026-01-01T00:00:00.000Z",
        "session": "s1",
        "what": "decided",
        "request_id": "r",
        "behavior": "allow",
        "by": "ada",
        "waited_ms": 1200,
        "option_id": "allow_once",
    }


def test_what_cannot_be_read_is_noted_with_the_reason_and_a_trail_is_closed_once(tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "audit.jsonl", "s1")
    trail.note_request(UnreadableRequest(request_id="r", reason="no input"))
    trail.close()
    trail.close()
    assert [(row["what"], row["reason"]) for row in rows(tmp_path / "audit.jsonl")] == [
        ("unread", "no input")
    ]


def test_the_trail_is_only_appended_to_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for session in ("one", "two"):
        trail = AuditTrail(path, session)
        trail.note_void("r", "cancelled")
        trail.close()
    assert [row["session"] for row in rows(path)] == ["one", "two"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_disk_that_refuses_costs_the_trail_and_says_so(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    trail = AuditTrail(tmp_path / "audit.jsonl", "s")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        trail.note_void("r", "cancelled")
        trail.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert trail.trouble == "File too large"


def test_a_link_in_the_place_of_the_trail_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "audit.jsonl").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        AuditTrail(tmp_path / "audit.jsonl", "s")
    assert victim.read_text() == "precious"
