"""Files and folders that others have been at before us."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from turnwire._runtime.private_files import make_private, open_private, read_private

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def dangling(path: Path, victim: Path) -> None:
    victim.unlink()
    path.symlink_to(victim)


def second_name(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


def pipe(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


def test_what_belongs_to_another_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret")
    path.chmod(0o600)
    assert read_private(path, owners=[os.geteuid()], follows_links=False) == "secret"
    with pytest.raises(OSError, match="it belongs to another user"):
        read_private(path, owners=[os.geteuid() + 1], follows_links=False)


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (link, "link"),
        (dangling, "link"),
        (second_name, "second name"),
        (pipe, "not a regular file|No such device"),
    ],
)
def test_what_was_planted_is_refused_and_what_it_leads_to_is_left_alone(
    tmp_path: Path, plant: Callable[[Path, Path], None], said: str
) -> None:
    victim, path = tmp_path / "victim", tmp_path / "audit.jsonl"
    victim.write_text("precious")
    victim.chmod(0o644)
    plant(path, victim)
    with pytest.raises(OSError, match=said):
        open_private(path, APPEND)
    if plant is dangling:
        assert not victim.exists()
    else:
        assert victim.read_text() == "precious"
        assert mode(victim) == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
def test_another_users_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text("theirs")
    os.chown(path, 65534, 65534)
    with pytest.raises(OSError, match="belongs to another user"):
        open_private(path, APPEND)
    assert path.read_text() == "theirs"


def test_a_file_is_made_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        os.close(open_private(tmp_path / "new", APPEND))
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o600
    assert mode(tmp_path / "a" / "b") == 0o700


def test_a_file_that_others_could_read_is_shut(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("kept")
    path.chmod(0o666)
    os.close(open_private(path, APPEND))
    assert (mode(path), path.read_text()) == (0o600, "kept")


def test_a_folder_that_others_could_enter_is_shut_and_so_are_those_up_to_the_base(tmp_path: Path) -> None:
    base = tmp_path / "state"
    deep = base / "workspaces" / "one"
    deep.mkdir(parents=True)
    for folder in (base, base / "workspaces", deep):
        folder.chmod(0o777)
    tmp_path.chmod(0o755)
    make_private(deep, base)
    assert [mode(one) for one in (tmp_path, base, base / "workspaces", deep)] == [0o755, 0o700, 0o700, 0o700]


def test_a_folder_that_all_share_is_refused_and_stays_so(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(OSError, match="all users share it"):
        make_private(shared)
    assert mode(shared) == 0o1777


def test_our_own_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    make_private(tmp_path / "state")
    assert mode(tmp_path / "elsewhere") == 0o700


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        make_private(tmp_path / "state")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_users_folder_is_refused_and_so_is_another_users_link(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o777)
    os.chown(theirs, 65534, 65534)
    with pytest.raises(OSError, match="belongs to another user"):
        make_private(theirs)
    (tmp_path / "ours").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "ours")
    os.chown(tmp_path / "state", 65534, 65534, follow_symlinks=False)
    with pytest.raises(OSError, match="a link of another user"):
        make_private(tmp_path / "state")
