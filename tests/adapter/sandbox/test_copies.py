import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from turnwire.adapter.sandbox.copies import Copies, harmless_changes, read_object

HARMLESS: dict[str, Any] = {
    "numStartups": 8,
    "firstStartTime": "2026-01-01T00:00:00.000Z",
    "projects": {"/work": {"lastCost": 0.25, "lastSessionId": "6009f759-9e5a-4b0d-a275-6abaebc3ae0e"}},
}

DANGEROUS: dict[str, Any] = {
    "mcpServers": {"mine": {"command": "/tmp/program"}},
    "apiKeyHelper": "/tmp/program",
    "hasCompletedOnboarding": True,
    "migrationVersion": 99,
    "projects": {
        "/work": {
            "mcpServers": {"mine": {"command": "/tmp/program"}},
            "allowedTools": ["Bash(*)"],
            "hasTrustDialogAccepted": True,
            "enabledMcpjsonServers": ["mine"],
            "history": [{"display": "!/tmp/program"}],
        }
    },
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / ".claude.json"
    path.write_text(json.dumps({"numStartups": 7, "mcpServers": {"yours": {}}}))
    path.chmod(0o640)
    return path


def after(file: Path, content: object) -> Any:
    """What is outside once an agent has written its copy and the sandbox is closed."""
    copies = Copies((str(file),), ("/work",))
    Path(copies.places[str(file)]).write_text(json.dumps(content))
    copies.close()
    assert not Path(copies.places[str(file)]).parent.exists()
    return json.loads(file.read_text())


def test_counters_are_taken_back_and_nothing_else(file: Path) -> None:
    both = {
        **DANGEROUS,
        **HARMLESS,
        "projects": {"/work": DANGEROUS["projects"]["/work"] | HARMLESS["projects"]["/work"]},
    }
    assert after(file, both) == {**HARMLESS, "mcpServers": {"yours": {}}}
    assert file.stat().st_mode & 0o777 == 0o640
    assert not (file.parent / ".claude.json.lock").exists()


def test_an_mcp_server_alone_leaves_the_file_untouched(file: Path) -> None:
    before = file.stat()
    assert after(file, DANGEROUS) == {"numStartups": 7, "mcpServers": {"yours": {}}}
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "value", [True, -1, "8", float("1e300"), {"$": 1}, [8], None, 1 << 60], ids=lambda value: str(value)[:8]
)
def test_a_counter_of_another_form_is_left(value: object) -> None:
    assert harmless_changes({}, {"numStartups": value, "userID": value if value != "8" else "a\nb"}) == (
        {},
        {},
    )


@pytest.mark.parametrize("content", ["[]", '"x"', "{", "[" * 100_000])
def test_a_copy_that_is_no_object_changes_nothing(file: Path, content: str) -> None:
    copies = Copies((str(file),), ("/work",))
    Path(copies.places[str(file)]).write_text(content)
    copies.close()
    assert json.loads(file.read_text())["numStartups"] == 7


def test_what_was_changed_outside_in_the_meantime_stays(file: Path) -> None:
    copies = Copies((str(file),), ("/work",))
    file.write_text(json.dumps({"numStartups": 7, "theme": "dark"}))
    Path(copies.places[str(file)]).write_text(json.dumps({"numStartups": 9, "mcpServers": {}}))
    copies.close()
    assert json.loads(file.read_text()) == {"numStartups": 9, "theme": "dark"}


def test_another_projects_entry_is_not_made(file: Path) -> None:
    assert "projects" not in after(file, {"projects": {"/elsewhere": {"lastCost": 1}, "bad": 3}}).get("x", {})
    assert after(file, {"projects": {"/elsewhere": {"lastCost": 1}}}).get("projects", {}) == {}
    file.write_text(json.dumps({"projects": {"/elsewhere": {"allowedTools": []}}}))
    assert after(file, {"projects": {"/elsewhere": {"lastCost": 1, "allowedTools": ["x"]}}}) == {
        "projects": {"/elsewhere": {"allowedTools": [], "lastCost": 1}}
    }


def test_a_link_or_a_pipe_in_the_place_of_a_copy_is_not_read(file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"numStartups": 42}')
    for swap in (lambda copy: copy.symlink_to(secret), os.mkfifo):
        copies = Copies((str(file),), ("/work",))
        copy = Path(copies.places[str(file)])
        copy.unlink()
        swap(copy)
        copies.close()
        assert json.loads(file.read_text())["numStartups"] == 7
        assert not copy.parent.exists()


def test_a_link_outside_keeps_its_place(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "home.json"
    link.symlink_to(file)
    assert after(link, {"numStartups": 9})["numStartups"] == 9
    assert link.is_symlink()


def test_a_lock_of_a_dead_program_is_taken_and_one_that_is_held_is_not(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("turnwire.adapter.sandbox.copies.LOCK_S", 0.1)
    lock = file.parent / ".claude.json.lock"
    lock.mkdir()
    assert after(file, {"numStartups": 9})["numStartups"] == 7
    assert "nothing was taken back" in caplog.text
    os.utime(lock, (time.time() - 60,) * 2)
    assert after(file, {"numStartups": 9})["numStartups"] == 9


def test_a_file_that_is_no_json_is_told(file: Path) -> None:
    file.write_text("")
    assert read_object(str(file)) == {}
    file.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        Copies((str(file),), ("/work",))
    file.write_text("[]")
    with pytest.raises(ValueError, match="not an object"):
        Copies((str(file),), ("/work",))
