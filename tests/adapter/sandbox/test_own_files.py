import os
import socket
from pathlib import Path

import pytest

from turnwire.adapter.sandbox.own_files import OWN_FOLDERS, OwnFilesError, own_files, set_aside
from turnwire.adapter.sandbox.parts import folder_of, private_name
from turnwire.config.known_agents import KNOWN, divided_places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_of_a_folder_with_kept_names_the_rest_is_read_only_and_nothing_new_is_shared(home: Path) -> None:
    folder = home / ".claude"
    for name in ("hooks", "shell-snapshots", "projects", "plugins"):
        (folder / name).mkdir(parents=True)
    for name in ("settings.json", "statusline.sh", ".config.json", ".credentials.json"):
        (folder / name).write_text("{}")
    (folder / "CLAUDE.md").symlink_to("settings.json")
    (folder / "gone").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(folder / "daemon.sock"))
        found = own_files([".claude/"], str(home), (f"{home}/work",), divided_places())
    own = folder_of(f"{home}/work")
    assert set(found.writable) == {f"{folder}/projects/{own}", f"{folder}/.credentials.json"}
    assert found.private == {
        f"{folder}/{name}": f"{folder}/.turnwire/{private_name(f'{home}/work')}/{name}"
        for name in ("todos", "tasks", "plans", "file-history")
    }
    assert [Path(one).name for one in found.readable] == [
        ".config.json", "CLAUDE.md", "hooks", "plugins", "settings.json", "statusline.sh",
    ]  # fmt: skip
    assert str(folder) not in found.writable


def test_a_login_that_is_missing_is_not_made(home: Path) -> None:
    found = own_files([".claude/", ".claude.json"], str(home), (f"{home}/work",), divided_places())
    assert not (home / ".claude/.credentials.json").exists()
    assert found.copied == (f"{home}/.claude.json",)
    assert (home / ".claude.json").read_text() == "{}\n"
    assert (home / ".claude.json").stat().st_mode & 0o777 == 0o600


def test_in_another_folder_what_starts_programs_later_is_protected_and_made(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("model = 'x'\n")
    (home / ".codex" / "cli-config.json").write_text("{}")
    found = own_files([".codex/"], str(home), (f"{home}/work",), divided_places())
    names = {Path(one).name for one in found.protected}
    assert {"config.toml", "hooks.json", "rules", "plugins", ".env", "cli-config.json"} <= names
    assert (home / ".codex/config.toml").read_text() == "model = 'x'\n"
    assert (home / ".codex/rules").is_dir()
    assert {Path(one).name for one in found.fresh} >= {"tmp", "shell_snapshots", "app-server-control"}
    assert found.writable == ()
    assert found.private == {f"{home}/.codex": f"{home}/.codex/.turnwire/{private_name(f'{home}/work')}"}


def test_common_names_are_protected_in_the_folder_of_any_agent_where_they_are_there(home: Path) -> None:
    (home / ".new" / "hooks").mkdir(parents=True)
    found = own_files([".new/"], str(home), (f"{home}/work",), divided_places())
    assert found.protected == (f"{home}/.new/hooks",)
    assert not (home / ".new/plugins").exists()
    assert f"{home}/.new/plugins" in found.missing
    assert f"{home}/.new/hooks" not in found.missing


def test_what_an_agent_has_made_and_starts_programs_later_is_set_aside(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = own_files([".new/"], str(home), (f"{home}/work",), divided_places()).missing
    (home / "elsewhere").write_text("mine")
    (home / ".new/settings.json").symlink_to("../elsewhere")
    (home / ".new/hooks").mkdir()
    (home / ".new/hooks/one.sh").write_text("echo")
    (home / ".new/notes.txt").write_text("kept")
    set_aside(missing)
    names = sorted(one.name.partition("-")[0] for one in (home / ".new").iterdir())
    assert names == ["hooks.from", "notes.txt", "settings.json.from"]
    assert (home / "elsewhere").read_text() == "mine"
    assert "look at it" in caplog.text


def test_what_cannot_be_set_aside_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def rename(*_: str) -> None:
        raise PermissionError("not permitted")

    (home / "hooks").mkdir()
    monkeypatch.setattr(os, "rename", rename)
    set_aside([f"{home}/hooks", f"{home}/gone"])
    assert "cannot set aside" in caplog.text


@pytest.mark.parametrize("name", ["config.toml", "rules", "tmp"])
def test_a_link_in_the_place_of_a_protected_file_is_refused(home: Path, name: str) -> None:
    (home / ".codex").mkdir()
    (home / "elsewhere").mkdir()
    (home / ".codex" / name).symlink_to(home / "elsewhere")
    with pytest.raises(OwnFilesError, match=f"{name} is a link"):
        own_files([".codex/"], str(home), (f"{home}/work",), divided_places())


def test_the_folders_are_those_of_known_agents() -> None:
    known = {
        place.rstrip("/") for agent in KNOWN.values() for place in agent.own_places if place.endswith("/")
    }
    assert OWN_FOLDERS.keys() <= known
