"""Copies of files that no commit has: what cannot be copied leaves nothing, and no link on the way is followed."""

import os
from pathlib import Path

import pytest

from turnwire.adapter.workspace import unkept
from turnwire.adapter.workspace.unkept import Unkept, copy_unkept, shown_size


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1499, "1 kB"), (50_000_000, "50 MB"), (7_000_000_000, "7000 MB")],
)  # fmt: skip
def test_a_size_is_said_in_a_unit_that_a_person_reads(size: int, said: str) -> None:
    assert shown_size(size) == said


def test_a_pipe_holds_nothing_and_is_left_out(tmp_path: Path) -> None:
    top, copy = tmp_path / "top", tmp_path / "state/worktrees/copy"
    (top / "in").mkdir(parents=True)
    os.mkfifo(top / "in/pipe")
    (top / "in/file").write_text("kept")
    copy_unkept(top, Unkept(("in/pipe", "in/file"), 4, ()), copy)
    assert [one.name for one in (copy / "in").iterdir()] == ["file"]
    assert (copy / "in/file").read_text() == "kept"


def test_a_link_that_takes_a_folders_place_is_not_followed(tmp_path: Path) -> None:
    top, copy = tmp_path / "top", tmp_path / "copy"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("not to be copied")
    top.mkdir()
    (top / "one").write_text("1")
    (top / "in").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match=r"Not a directory|symbolic"):
        copy_unkept(top, Unkept(("one", "in/file"), 2, ()), copy)
    assert not copy.exists()
    assert (tmp_path / "outside/file").read_text() == "not to be copied"


def test_a_file_that_grows_beyond_the_limit_leaves_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unkept, "MOST_KEPT", 5)
    top, copy = tmp_path / "top", tmp_path / "copy"
    top.mkdir()
    (top / "log").write_text("grown since")
    with pytest.raises(OSError, match="it grows while it is copied"):
        copy_unkept(top, Unkept(("log",), 1, ()), copy)
    assert not copy.exists()
