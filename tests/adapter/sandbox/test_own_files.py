import socket
from pathlib import Path

import pytest

from turnwire.adapter.sandbox.own_files import OWN_FOLDERS, OwnFilesError, own_files
from turnwire.config.known_agents import KNOWN


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
        found = own_files([".claude/"], str(home))
    assert {Path(one).name for one in found.writable} == {
        "projects", "todos", "tasks", "plans", "file-history", ".credentials.json",
    }  # fmt: skip
    assert [Path(one).name for one in found.readable] == [
        ".config.json", "CLAUDE.md", "hooks", "plugins", "settings.json", "statusline.sh",
    ]  # fmt: skip
    assert str(folder) not in found.writable


def test_a_login_that_is_missing_is_not_made(home: Path) -> None:
    found = own_files([".claude/", ".claude.json"], str(home))
    assert not (home / ".claude/.credentials.json").exists()
    assert found.copied == (f"{home}/.claude.json",)
    assert (home / ".claude.json").read_text() == "{}\n"
    assert (home / ".claude.json").stat().st_mode & 0o777 == 0o600


def test_in_another_folder_what_starts_programs_later_is_protected_and_made(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("model = 'x'\n")
    (home / ".codex" / "cli-config.json").write_text("{}")
    found = own_files([".codex/"], str(home))
    names = {Path(one).name for one in found.protected}
    assert {"config.toml", "hooks.json", "rules", "plugins", ".env", "cli-config.json"} <= names
    assert (home / ".codex/config.toml").read_text() == "model = 'x'\n"
    assert (home / ".codex/rules").is_dir()
    assert {Path(one).name for one in found.fresh} >= {"tmp", "shell_snapshots", "app-server-control"}
    assert found.writable == (f"{home}/.codex",)


def test_common_names_are_protected_in_the_folder_of_any_agent_where_they_are_there(home: Path) -> None:
    (home / ".new" / "hooks").mkdir(parents=True)
    assert own_files([".new/"], str(home)).protected == (f"{home}/.new/hooks",)
    assert not (home / ".new/plugins").exists()


@pytest.mark.parametrize("name", ["config.toml", "rules", "tmp"])
def test_a_link_in_the_place_of_a_protected_file_is_refused(home: Path, name: str) -> None:
    (home / ".codex").mkdir()
    (home / "elsewhere").mkdir()
    (home / ".codex" / name).symlink_to(home / "elsewhere")
    with pytest.raises(OwnFilesError, match=f"{name} is a link"):
        own_files([".codex/"], str(home))


def test_the_folders_are_those_of_known_agents() -> None:
    known = {
        place.rstrip("/") for agent in KNOWN.values() for place in agent.own_places if place.endswith("/")
    }
    assert OWN_FOLDERS.keys() <= known
