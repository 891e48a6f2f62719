import os
import subprocess
from pathlib import Path

import pytest

from adapter.permissions.git_check import uncommitted_changes

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@localhost",
}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    (tmp_path / "a.txt").write_text("a\n")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


async def test_a_clean_repository_has_none(repository: Path) -> None:
    assert await uncommitted_changes(repository, ENVIRONMENT) == ()


async def test_changes_and_new_files_are_listed(repository: Path) -> None:
    (repository / "a.txt").write_text("b\n")
    (repository / "new.txt").write_text("n\n")
    assert await uncommitted_changes(repository, ENVIRONMENT) == (" M a.txt", "?? new.txt")


async def test_what_turnwire_saves_does_not_count(repository: Path) -> None:
    (repository / ".turnwire").mkdir()
    (repository / ".turnwire" / "x").write_text("x")
    assert await uncommitted_changes(repository, ENVIRONMENT) == ()


async def test_where_git_cannot_say_there_are_none(tmp_path: Path) -> None:
    assert await uncommitted_changes(tmp_path, ENVIRONMENT) == ()
    assert await uncommitted_changes(tmp_path / "missing", ENVIRONMENT) == ()


async def test_no_program_of_the_repository_is_run(repository: Path) -> None:
    ran = repository.parent / "ran"
    git(repository, "config", "core.fsmonitor", f"touch {ran}")
    await uncommitted_changes(repository, ENVIRONMENT)
    assert not ran.exists()
