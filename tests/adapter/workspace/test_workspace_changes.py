"""What differs in a workspace from its last commit."""

import os
import subprocess
from pathlib import Path

import pytest

from turnwire.adapter.workspace.changes import UnknownFile, patch_of, workspace_changes
from turnwire.adapter.workspace.repository import GitFailed

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@localhost",
}

LINES = "".join(f"line {number}\n" for number in range(20))


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    here = tmp_path / 'a "quoted" folder'
    here.mkdir()
    git(here, "init")
    (here / "kept.txt").write_text(LINES)
    (here / "moved.txt").write_text(LINES.replace("line", "moved"))
    (here / "gone.txt").write_text("gone\n")
    (here / "picture").write_bytes(b"\0\1\2")
    git(here, "add", ".")
    git(here, "commit", "-m", "first")
    return here


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def test_every_kind_of_change_is_told_and_nothing_is_written(repository: Path) -> None:
    (repository / "kept.txt").write_text(LINES.replace("line 3\n", "line three\n"))
    (repository / "sub").mkdir()
    (repository / "moved.txt").rename(repository / "sub" / "here.txt")  # nobody told git
    with (repository / "sub" / "here.txt").open("a") as moved:
        moved.write("more\n")
    (repository / "gone.txt").unlink()
    (repository / "picture").write_bytes(b"\0\3")
    (repository / "new.txt").write_text("one\ntwo\n")
    (repository / "staged.txt").write_text("s\n")
    git(repository, "add", "staged.txt")
    (repository / "link").symlink_to("/etc/passwd")
    (repository / ".gitignore").write_text("*.secret\n")
    (repository / "a.secret").write_text("s3cr3t\n")
    (repository / ".turnwire").mkdir()
    (repository / ".turnwire" / "ours").write_text("o\n")
    before = everything(repository)
    found = await workspace_changes(repository, ENVIRONMENT)
    told = [(file.path, file.status, file.old_path, file.added, file.removed) for file in found.files]
    assert told == [
        (".gitignore", "untracked", None, 1, 0),
        ("gone.txt", "deleted", None, 0, 1),
        ("kept.txt", "modified", None, 1, 1),
        ("link", "untracked", None, 1, 0),
        ("new.txt", "untracked", None, 2, 0),
        ("picture", "modified", None, None, None),
        ("staged.txt", "added", None, 1, 0),
        ("sub/here.txt", "renamed", "moved.txt", 1, 0),
    ]
    assert found.complete
    assert found.base is not None
    assert [file.path for file in found.files if file.binary] == ["picture"]
    assert [file.path for file in found.files if file.version is None] == ["gone.txt"]
    kept = await patch_of(repository, ENVIRONMENT, "kept.txt")
    assert kept.hunks.splitlines()[0].startswith("@@ -1,7 +1,7 @@")
    assert "-line 3\n+line three\n" in kept.hunks
    renamed = await patch_of(repository, ENVIRONMENT, "sub/here.txt", "moved.txt")
    assert [line for line in renamed.hunks.splitlines() if line[:1] in "+-"] == ["+more"]
    assert (await patch_of(repository, ENVIRONMENT, "new.txt")).hunks == "@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert (await patch_of(repository, ENVIRONMENT, "gone.txt")).hunks == "@@ -1 +0,0 @@\n-gone\n"
    assert (await patch_of(repository, ENVIRONMENT, "picture")).binary
    # where it leads to is no part of the workspace
    assert "+/etc/passwd" in (await patch_of(repository, ENVIRONMENT, "link")).hunks
    for name in ("a.secret", "missing", "moved.txt/../../x", "../x", "/etc/passwd", "", ".", "link/x"):
        with pytest.raises(UnknownFile):
            await patch_of(repository, ENVIRONMENT, name)
    assert everything(repository) == before


async def test_what_was_only_touched_is_no_change(repository: Path) -> None:
    os.utime(repository / "kept.txt", (1, 1))
    os.utime(repository / "picture", (1, 1))
    assert (await workspace_changes(repository, ENVIRONMENT)).files == []


async def test_what_is_as_large_and_as_old_as_before_is_compared(repository: Path) -> None:
    for number in range(5):
        (repository / "kept.txt").write_text(f"{number:02}\n")
        git(repository, "add", "kept.txt")
        git(repository, "commit", "-m", "next")
        (repository / "kept.txt").write_text("xx\n")
        assert [file.path for file in (await workspace_changes(repository, ENVIRONMENT)).files] == [
            "kept.txt"
        ]


async def test_before_the_first_commit_all_is_new(tmp_path: Path) -> None:
    for number, kind in enumerate(("sha1", "sha256")):
        here = tmp_path / str(number)
        here.mkdir()
        git(here, "init", f"--object-format={kind}")
        (here / "new.txt").write_text("n\n")
        (here / "staged.txt").write_text("s\n")
        git(here, "add", "staged.txt")
        found = await workspace_changes(here, ENVIRONMENT)
        assert found.base is None
        assert [(file.path, file.status, file.added) for file in found.files] == [
            ("new.txt", "untracked", 1),
            ("staged.txt", "added", 1),
        ]


async def test_of_a_folder_in_a_repository_nothing_beside_it_is_told(repository: Path) -> None:
    (repository / "beside.txt").write_text("b\n")
    (repository / "kept.txt").write_text("other\n")
    sub = repository / "sub"
    sub.mkdir()
    (sub / "new.txt").write_text("n\n")
    found = await workspace_changes(sub, ENVIRONMENT)
    assert [(file.path, file.status) for file in found.files] == [("new.txt", "untracked")]
    assert (await patch_of(sub, ENVIRONMENT, "new.txt")).hunks
    with pytest.raises(UnknownFile):
        await patch_of(sub, ENVIRONMENT, "beside.txt")


async def test_names_of_any_kind_are_told_as_they_are(repository: Path) -> None:
    names = ["a\nb.txt", "\u202egnp.exe", "<b>x<b>", "-rf", ":(glob)*", "*", "tab\there", '"q"', "ü"]
    for name in names:
        (repository / name).write_text("x\n")
    git(repository, "add", "--", "./-rf")
    (repository / os.fsdecode(b"\xff")).write_text("x\n")
    found = await workspace_changes(repository, ENVIRONMENT)
    assert sorted(file.path for file in found.files) == sorted([*names, os.fsdecode(b"\xff")])
    for name in names:
        assert (await patch_of(repository, ENVIRONMENT, name)).hunks == "@@ -0,0 +1 @@\n+x\n", name


async def test_no_more_is_told_than_there_is_room_for(repository: Path) -> None:
    for number in range(30):
        (repository / f"new-{number:02}.txt").write_text("n\n")
    (repository / "kept.txt").write_text("".join(f"other {number}\n" for number in range(10_000)))
    found = await workspace_changes(repository, ENVIRONMENT, max_files=10)
    assert len(found.files) == 10
    assert not found.complete
    assert "kept.txt" in [file.path for file in found.files], "what git knows comes first"
    git(repository, "add", ".")
    uncounted = await workspace_changes(repository, ENVIRONMENT, max_files=10)
    assert [(file.status, file.added) for file in uncounted.files] == [("modified", None)] + [
        ("added", None)
    ] * 9
    git(repository, "reset", "-q")
    whole = await patch_of(repository, ENVIRONMENT, "kept.txt")
    assert whole.hunks.count("\n+other") == 10_000
    assert not whole.cut
    cut = await patch_of(repository, ENVIRONMENT, "kept.txt", max_patch=5000)
    assert cut.cut
    assert cut.hunks.endswith("\n")
    head, _, body = cut.hunks.partition("\n")
    assert head == f"@@ -1,20 +1,{body.count(chr(10)) - 20} @@"
    assert body in whole.hunks


async def test_a_huge_file_is_not_read(repository: Path) -> None:
    with (repository / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    with (repository / "kept.txt").open("r+b") as grown:
        grown.truncate(1 << 40)
    (repository / "gone.txt").unlink()  # it might have been renamed
    found = await workspace_changes(repository, ENVIRONMENT)
    assert [(file.path, file.binary) for file in found.files] == [
        ("gone.txt", False),
        ("huge", True),
        ("kept.txt", True),
    ]
    assert (await patch_of(repository, ENVIRONMENT, "huge")).binary
    assert (await patch_of(repository, ENVIRONMENT, "kept.txt")).binary


async def test_a_repository_in_it_and_a_filter_are_left_alone(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init")
    (inner / "x.txt").write_text("x\n")
    git(repository, "config", "filter.crypt.clean", "rot13")
    (repository / ".git" / "info" / "attributes").write_text("kept.txt filter=crypt\n")
    (repository / ".gitattributes").write_text("kept.txt filter=crypt\n")
    (repository / "kept.txt").write_text("other\n")
    found = await workspace_changes(repository, ENVIRONMENT)
    assert [(file.path, file.filtered, file.added) for file in found.files] == [
        (".gitattributes", False, 1),
        ("kept.txt", True, None),
    ]
    assert (await patch_of(repository, ENVIRONMENT, "kept.txt")).hunks == ""


async def test_where_there_is_no_repository_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not a git repository"):
        await workspace_changes(tmp_path, ENVIRONMENT)
    repository = tmp_path / "broken"
    repository.mkdir()
    git(repository, "init")
    (repository / ".git" / "index").write_text("nonsense")
    with pytest.raises(GitFailed):
        await workspace_changes(repository, ENVIRONMENT)
    (repository / ".git" / "index").unlink()
    (repository / ".git" / "index").symlink_to("/dev/zero")
    with pytest.raises(GitFailed, match="index"):
        await workspace_changes(repository, ENVIRONMENT)
