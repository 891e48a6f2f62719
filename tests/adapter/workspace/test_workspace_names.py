"""The files of a workspace, by name."""

import os
import subprocess
from pathlib import Path

import pytest

from turnwire.adapter.workspace.names import file_names, matching, walked

ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}


def plant(folder: Path) -> None:
    """Files of every kind, a link out of the folder, and one in a circle."""
    for name in (
        "a.py",
        "sub/b.py",
        "sub/deep/c.py",
        "node_modules/x.js",
        "with space.txt",
        "two\nlines",
        "\u202egnp",
        "ü.txt",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / os.fsdecode(b"\xff")).write_text("x")
    (folder / "out").symlink_to("/etc")
    (folder / "circle").symlink_to(folder)
    os.mkfifo(folder / "pipe")


async def test_of_a_repository_git_names_them_and_ignores_what_it_ignores(tmp_path: Path) -> None:
    plant(tmp_path)
    subprocess.run(["git", "init"], cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)
    (tmp_path / ".gitignore").write_text("node_modules\n*.secret\n")
    (tmp_path / "x.secret").write_text("x")
    found = await file_names(tmp_path, ENVIRONMENT)
    expected = [".gitignore", "a.py", "circle", "out", "sub/b.py", "sub/deep/c.py", "with space.txt", "ü.txt"]
    assert sorted(found.names) == expected
    assert found.complete
    assert sorted((await file_names(tmp_path / "sub", ENVIRONMENT)).names) == ["b.py", "deep/c.py"]
    assert not (await file_names(tmp_path, ENVIRONMENT, max_list=20)).complete


async def test_elsewhere_a_walk_does_that_goes_nowhere_else(tmp_path: Path) -> None:
    plant(tmp_path)
    found = await file_names(tmp_path, ENVIRONMENT)
    expected = ["a.py", "circle", "out", "pipe", "sub/b.py", "sub/deep/c.py", "with space.txt", "ü.txt"]
    assert sorted(found.names) == expected
    assert found.complete
    few = await file_names(tmp_path, ENVIRONMENT, max_entries=3)
    assert len(few.names) <= 3
    assert not few.complete


def test_a_walk_ends_in_deep_folders(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder /= "deeper"
    folder.mkdir(parents=True)
    assert walked(tmp_path).complete


def test_what_fits_best_comes_first() -> None:
    names = ["src/console/app.tsx", "app/readme.md", "src/map.ts", "notes/applied.md", "z/a-p-p"]
    assert matching(names, "App", 10) == [
        "notes/applied.md", "src/console/app.tsx", "app/readme.md", "z/a-p-p"
    ]  # fmt: skip
    assert matching(names, "app", 1) == ["notes/applied.md"]
    assert matching(names, "src/m", 5) == ["src/map.ts"]
    assert matching(names, "adme", 5) == ["app/readme.md"]
    assert matching(names, "console/", 5) == ["src/console/app.tsx"]
    assert matching(names, "", 2) == ["z/a-p-p", "src/map.ts"]
    assert matching(names, "nothing", 5) == []


def test_a_folder_that_is_gone_cannot_be_walked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walked(tmp_path / "gone")


def test_a_hundred_thousand_names_are_looked_through() -> None:
    names = [f"folder-{number % 97}/file-{number}.txt" for number in range(100_000)]
    assert matching(names, "file-77777.", 5) == ["folder-80/file-77777.txt"]
    assert len(matching(names, "zzz", 5)) == 0
    assert len(matching(names, "ffff", 5)) == 0
