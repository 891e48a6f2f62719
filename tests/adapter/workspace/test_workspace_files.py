"""What can be seen of a workspace, and what no path, link or kind of file gets at."""

import base64
import os
import socket
from pathlib import Path

import pytest

from turnwire.adapter.workspace import files
from turnwire.adapter.workspace.files import Content, Entry, NotShown, list_folder, read_file

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def nothing_hidden(_: Path) -> bool:
    """Hide nothing."""
    return False


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with files of all kinds, beside a secret."""
    (tmp_path / "secret").write_text("hunter2")
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("token")
    (root / "src" / "main.py").write_text("print('hé')\n")
    (root / "logo.png").write_bytes(PNG)
    (root / "photo.webp").write_bytes(b"RIFF\x04\x00\x00\x00WEBP")
    (root / "program").write_bytes(b"\x7fELF\0\0")
    (root / "latin").write_bytes("Grüße".encode("latin-1"))
    (root / os.fsdecode(b"\xff")).touch()
    (root / "inside").symlink_to("src/main.py")
    (root / "out").symlink_to("../secret")
    (root / "up").symlink_to("..")
    (root / "circle").symlink_to("circle")
    (root / "gone").symlink_to("nothing")
    (root / "proc").symlink_to("/proc")
    os.mkfifo(root / "pipe")
    return root


def test_a_folder_is_listed_with_folders_first_and_without_what_is_no_work(workspace: Path) -> None:
    listed = list_folder(workspace, "", nothing_hidden)
    assert listed.entries[:2] == [Entry("src", "folder", None), Entry("circle", "link", None)]
    names = {entry.name: entry for entry in listed.entries}
    assert names["logo.png"] == Entry("logo.png", "file", len(PNG))
    assert names["pipe"].kind == "other"
    assert names.keys() == {
        *("src", "circle", "gone", "inside", "latin", "logo.png", "out", "photo.webp", "pipe", "proc", "program", "up"),
    }  # fmt: skip
    assert listed.complete
    few = list_folder(workspace, "", nothing_hidden, max_entries=1)
    assert (few.entries, few.complete) == ([Entry("src", "folder", None)], False)
    assert [entry.name for entry in list_folder(workspace, "src", nothing_hidden).entries] == ["main.py"]


def test_a_folder_without_an_end_is_looked_at_for_a_while(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LOOK", 3)
    listed = list_folder(workspace, "", nothing_hidden)
    assert len(listed.entries) <= 3
    assert not listed.complete


def test_text_an_image_and_what_is_neither_are_told_apart(workspace: Path) -> None:
    text = "print('hé')\n"
    assert read_file(workspace, "src/main.py", nothing_hidden) == Content(13, text, None, None, cut=False)
    assert read_file(workspace, "inside", nothing_hidden).text == text
    assert read_file(workspace, "./src/../src/main.py", nothing_hidden).text == text
    image = read_file(workspace, "logo.png", nothing_hidden)
    assert (image.media_type, image.text) == ("image/png", None)
    assert base64.b64decode(image.base64 or "") == PNG
    assert read_file(workspace, "photo.webp", nothing_hidden).media_type == "image/webp"
    for binary in ("program", "latin"):
        assert read_file(workspace, binary, nothing_hidden).text is None


def test_a_large_file_ends_at_a_character_and_a_large_image_is_not_sent(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = read_file(workspace, "src/main.py", nothing_hidden, max_text=8)
    assert (cut.text, cut.cut, cut.size) == ("print('h", True, 13)
    assert read_file(workspace, "src/main.py", nothing_hidden, max_text=9).text == "print('h"
    with (workspace / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    read = read_file(workspace, "huge", nothing_hidden)
    assert (read.text, read.cut, read.size) == (None, True, 1 << 40)
    monkeypatch.setattr(files, "MAX_IMAGE", 20)
    image = read_file(workspace, "logo.png", nothing_hidden)
    assert (image.base64, image.text, image.cut) == (None, None, True)


@pytest.mark.parametrize(
    "path",
    [
        "../secret", "src/../../secret", "..", "out", "up/secret", "/etc/passwd", "proc/self/environ", "proc/self/cwd/logo.png",
        ".git/config", "src/../.git/config", "circle", "gone", "pipe", "src", "%2e%2e/secret", "a\0b", "x" * 300, "~/.ssh/id",
    ],
)  # fmt: skip
def test_nothing_else_is_read(workspace: Path, path: str) -> None:
    with pytest.raises(NotShown):
        read_file(workspace, path, nothing_hidden)


@pytest.mark.parametrize("path", ["..", "up", "proc", "/", ".git", "logo.png", "nothing"])
def test_no_other_folder_is_listed(workspace: Path, path: str) -> None:
    with pytest.raises(NotShown):
        list_folder(workspace, path, nothing_hidden)


def test_what_is_hidden_is_neither_listed_nor_read_by_any_name(workspace: Path) -> None:
    def hidden(path: Path) -> bool:
        return path.is_relative_to(workspace / "src")

    assert "src" not in [entry.name for entry in list_folder(workspace, "", hidden).entries]
    for path in ("src/main.py", "inside"):
        with pytest.raises(NotShown, match="secrets"):
            read_file(workspace, path, hidden)


def test_a_folder_that_becomes_a_link_after_the_look_is_not_followed(workspace: Path) -> None:
    """The agent swaps a folder for a link just after its path was resolved."""
    (workspace.parent / "main.py").write_text("hunter2")

    def swaps(path: Path) -> bool:
        if path.name == "main.py":
            (workspace / "src").rename(workspace / "moved")
            (workspace / "src").symlink_to("..")
        return False

    with pytest.raises(NotShown, match="cannot be read"):
        read_file(workspace, "src/main.py", swaps)


def test_a_file_that_becomes_a_link_after_the_look_is_not_followed(workspace: Path) -> None:
    def swaps(path: Path) -> bool:
        path.unlink()
        path.symlink_to("../secret")
        return False

    with pytest.raises(NotShown, match="cannot be read"):
        read_file(workspace, "logo.png", swaps)


def test_a_socket_and_a_file_that_the_kernel_makes_are_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(NotShown):
            read_file(tmp_path, "socket", nothing_hidden)
    with pytest.raises(NotShown, match="kernel"):
        read_file(Path("/"), "proc/self/environ", nothing_hidden)
    with pytest.raises(NotShown, match="device"):
        read_file(Path("/"), "dev/zero", nothing_hidden)
