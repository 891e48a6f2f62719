"""An agent that asks for files: those of the workspace and no others."""

import os
from pathlib import Path

import pytest

from turnwire.adapter.acp.files import FileRefused, WorkspaceFiles


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return folder.resolve()


def test_files_of_the_workspace_are_read_and_written(workspace: Path) -> None:
    files = WorkspaceFiles(workspace)
    files.write(f"{workspace}/deep/er/a.txt", "one\ntwo\nthree\n")
    assert (workspace / "deep/er/a.txt").read_text(encoding="utf-8") == "one\ntwo\nthree\n"
    assert files.read(f"{workspace}/deep/er/a.txt") == "one\ntwo\nthree\n"
    assert files.read(f"{workspace}/deep/er/a.txt", line=2) == "two\nthree\n"
    assert files.read(f"{workspace}/deep/er/a.txt", line=2, limit=1) == "two\n"
    assert files.read(f"{workspace}/deep/er/a.txt", limit=1) == "one\n"
    files.write(f"{workspace}/deep/er/a.txt", "short")
    assert files.read(f"{workspace}/deep/er/a.txt") == "short"


def test_a_file_that_is_not_there_is_told_as_missing(workspace: Path) -> None:
    for path in (f"{workspace}/none.txt", f"{workspace}/no/folder.txt"):
        with pytest.raises(FileRefused, match="there is no file") as caught:
            WorkspaceFiles(workspace).read(path)
        assert caught.value.missing
    assert not (workspace / "no").exists()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "not in the workspace"),
        ("{workspace}/../secret.txt", "has `..`"),
        ("{workspace}/sub/../../secret.txt", "has `..`"),
        ("{workspace}-other/a.txt", "not in the workspace"),
        ("secret.txt", "not an absolute path"),
        ("{workspace}/a\0b", "NUL"),
        ("{workspace}", "the workspace itself"),
        ("{workspace}/sub", "cannot be opened|not a regular file"),
        ("{workspace}/link.txt", "without following links"),
        ("{workspace}/out/secret.txt", "without following links"),
        ("{workspace}/fifo", "not a regular file|cannot be opened"),
        ("", "not an absolute path"),
        ("{workspace}/" + "n" * 5000, "cannot be opened"),
    ],
)
def test_what_leads_out_or_is_no_file_is_refused_and_says_why(workspace: Path, path: str, why: str) -> None:
    (workspace / "sub").mkdir()
    (workspace / "link.txt").symlink_to(workspace.parent / "secret.txt")
    (workspace / "out").symlink_to(workspace.parent)
    os.mkfifo(workspace / "fifo")
    files = WorkspaceFiles(workspace)
    spelled = path.replace("{workspace}", str(workspace))
    with pytest.raises(FileRefused, match=why):
        files.read(spelled)
    with pytest.raises(FileRefused, match=why):
        files.write(spelled, "mine")
    assert (workspace.parent / "secret.txt").read_text(encoding="utf-8") == "secret"


def test_sizes_are_bounded_and_what_is_no_utf8_is_read_all_the_same(workspace: Path) -> None:
    files = WorkspaceFiles(workspace, max_size=10)
    (workspace / "large").write_bytes(b"x" * 11)
    (workspace / "fits").write_bytes(b"\xff" * 10)
    with pytest.raises(FileRefused, match="more than 10 bytes"):
        files.read(f"{workspace}/large")
    assert files.read(f"{workspace}/fits") == "�" * 10
    with pytest.raises(FileRefused, match="the maximum is 10"):
        files.write(f"{workspace}/new", "x" * 11)
    assert not (workspace / "new").exists()


def test_what_a_sandbox_protects_is_not_written_for_the_agent_either(tmp_path: Path) -> None:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("[core]")
    (tmp_path / "keys").write_text("secret")
    files = WorkspaceFiles(tmp_path, read_only=[".git/config", ".git/hooks", ".vscode"], hidden=["keys"])
    for name in (".git/config", ".git/hooks/post-checkout", ".vscode/tasks.json", "keys"):
        with pytest.raises(FileRefused, match="protected by the sandbox"):
            files.write(str(tmp_path / name), "out")
    with pytest.raises(FileRefused, match="protected by the sandbox"):
        files.read(str(tmp_path / "keys"))
    assert files.read(str(tmp_path / ".git" / "config")) == "[core]"
    files.write(str(tmp_path / ".vscode-notes"), "mine")
    assert not (tmp_path / ".vscode").exists()
