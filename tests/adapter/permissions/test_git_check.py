import os
import subprocess
from pathlib import Path

import pytest

from turnwire.adapter.permissions.git_check import uncommitted_changes

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


async def test_what_the_configuration_says_about_changes_is_heard(repository: Path) -> None:
    (repository / "excluded.txt").write_text("x")
    (repository / ".git" / "info" / "exclude").write_text("excluded.txt\n")
    (repository / "ignored.txt").write_text("x")
    (repository.parent / "ignore").write_text("ignored.txt\n")
    git(repository, "config", "core.excludesFile", str(repository.parent / "ignore"))
    git(repository, "config", "core.autocrlf", "true")
    (repository / "a.txt").unlink()
    git(repository, "checkout", "a.txt")
    assert (repository / "a.txt").read_bytes() == b"a\r\n"
    git(repository, "config", "core.fileMode", "false")
    (repository / "a.txt").chmod(0o755)
    os.utime(repository / "a.txt")
    assert await uncommitted_changes(repository, ENVIRONMENT) == ()


async def test_every_shape_of_a_repository_is_read(tmp_path: Path) -> None:
    sha256, empty, split = tmp_path / "sha256", tmp_path / "empty", tmp_path / "split"
    for folder in (sha256, empty, split):
        folder.mkdir()
    git(sha256, "init", "--object-format=sha256")
    git(sha256, "commit", "--allow-empty", "-m", "first")
    git(empty, "init")
    git(split, "init")
    (split / "b.txt").write_text("b\n")
    git(split, "add", "b.txt")
    git(split, "commit", "-m", "first")
    git(split, "update-index", "--split-index")
    git(split, "worktree", "add", "../linked")
    linked = tmp_path / "linked"
    for folder in (sha256, empty, split, linked):
        assert await uncommitted_changes(folder, ENVIRONMENT) == (), folder
        (folder / "new.txt").write_text("n\n")
        assert await uncommitted_changes(folder, ENVIRONMENT) == ("?? new.txt",), folder
    (linked / "sub").mkdir()
    (linked / "sub" / "new.txt").write_text("n\n")
    assert await uncommitted_changes(linked / "sub", ENVIRONMENT) == ("?? new.txt", "?? sub/")


async def test_a_change_that_only_a_filter_could_tell_is_left_out(repository: Path) -> None:
    git(repository, "config", "filter.crypt.clean", "rot13")
    (repository / ".gitattributes").write_text("*.secret filter=crypt\n*.odd filter=unknown\n")
    for name in ("a.secret", "a.odd"):
        (repository / name).write_text("x\n")
    git(repository, "-c", "filter.crypt.clean=cat", "add", ".")
    git(repository, "commit", "-m", "second")
    for name in ("a.txt", "a.secret", "a.odd"):
        (repository / name).write_text("changed\n")
    assert await uncommitted_changes(repository, ENVIRONMENT) == (" M a.odd", " M a.txt")


async def test_no_more_is_read_than_there_is_room_for(repository: Path) -> None:
    for number in range(100):
        (repository / f"new-{number:03}.txt").write_text("n")
    few = await uncommitted_changes(repository, ENVIRONMENT, max_output=500)
    assert few == tuple(f"?? new-{number:03}.txt" for number in range(len(few)))
    assert 0 < len(few) < 100


async def test_git_is_given_up_at_the_deadline(repository: Path) -> None:
    os.mkfifo(repository / ".git" / "info" / "pipe")
    (repository / ".git" / "info" / "exclude").unlink(missing_ok=True)
    (repository / ".git" / "info" / "exclude").symlink_to("pipe")
    assert await uncommitted_changes(repository, ENVIRONMENT, deadline=0.5) == ()


# Programs that a repository names. `{ran}` is a program that leaves a trace.

CONFIGURED = {
    "a file system monitor": {"core.fsmonitor": "{ran}"},
    "a clean filter": {"filter.any.clean": "{ran}"},
    "a smudge filter": {"filter.any.smudge": "{ran}", "filter.any.required": "true"},
    "a filter process": {"filter.any.process": "{ran}"},
    "a filter with an odd name": {'filter.a=b "c.clean': "{ran}"},
    "an external diff": {"diff.external": "{ran}", "diff.any.command": "{ran}"},
    "a text conversion": {"diff.any.textconv": "{ran}"},
    "a folder of hooks": {"core.hooksPath": "{hooks}"},
    "ssh": {"core.sshCommand": "{ran}"},
    "a pager": {"core.pager": "{ran}", "pager.status": "{ran}", "pager.rev-parse": "{ran}"},
    "an editor": {"core.editor": "{ran}", "sequence.editor": "{ran}"},
    "credentials": {"credential.helper": "!{ran}", "core.askPass": "{ran}"},
    "an alias": {"alias.status": "!{ran}", "alias.config": "!{ran}", "alias.rev-parse": "!{ran}"},
    "a signature": {"gpg.program": "{ran}", "log.showSignature": "true"},
}


@pytest.fixture
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that writes a file beside itself when it runs."""
    folder = tmp_path_factory.mktemp("evil")
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {folder}/trace\nexec cat\n")
    program.chmod(0o755)
    (folder / "hooks").mkdir()
    (folder / "hooks" / "post-index-change").symlink_to(program)
    return program


def configure(repository: Path, ran: Path, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        git(repository, "config", name, value.format(ran=ran, hooks=ran.parent / "hooks"))


def left_a_trace(ran: Path) -> bool:
    return (ran.parent / "trace").exists()


def make_dirty(repository: Path, driver: str = "any") -> None:
    """Change a file so that its content must be read, under every attribute that names a program."""
    (repository / ".git" / "info").mkdir(exist_ok=True)
    line = f"* filter={driver} diff={driver}\n"
    (repository / ".git" / "info" / "attributes").write_text(line)
    (repository / ".gitattributes").write_text(line)
    (repository / "a.txt").write_text("c\n")


@pytest.mark.parametrize("what", CONFIGURED)
async def test_no_program_that_the_configuration_names_is_run(what: str, repository: Path, ran: Path) -> None:
    configure(repository, ran, CONFIGURED[what])
    make_dirty(repository)
    await uncommitted_changes(repository, ENVIRONMENT)
    assert not left_a_trace(ran)


@pytest.mark.parametrize("what", ["a file system monitor", "a clean filter", "a filter process"])
async def test_a_plain_status_would_run_it(what: str, repository: Path, ran: Path) -> None:
    configure(repository, ran, CONFIGURED[what])
    make_dirty(repository)
    subprocess.run(["git", "status"], cwd=repository, env=ENVIRONMENT, check=False, capture_output=True)
    assert left_a_trace(ran)


@pytest.mark.parametrize("key", ["include.path", "includeIf.gitdir:/.path", "worktree"])
async def test_no_program_of_an_included_file_is_run(key: str, repository: Path, ran: Path) -> None:
    included = repository / ".git" / ("config.worktree" if key == "worktree" else "more")
    included.write_text(f'[filter "any"]\nclean = {ran}\n[core]\nfsmonitor = {ran}\n')
    if key == "worktree":
        git(repository, "config", "core.repositoryFormatVersion", "1")
        git(repository, "config", "extensions.worktreeConfig", "true")
    else:
        git(repository, "config", key, str(included))
    make_dirty(repository)
    await uncommitted_changes(repository, ENVIRONMENT)
    assert not left_a_trace(ran)


async def test_no_program_of_a_submodule_is_run(repository: Path, ran: Path) -> None:
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", str(repository), "sub")
    git(repository, "commit", "-m", "second")
    inner = repository / "sub"
    assert await uncommitted_changes(repository, ENVIRONMENT) == ()
    git(inner, "config", "core.fsmonitor", str(ran))
    git(inner, "config", "filter.any.clean", str(ran))
    (inner / ".gitattributes").write_text("* filter=any\n")
    (inner / "a.txt").write_text("c\n")
    git(repository, "config", "status.submoduleSummary", "true")
    git(repository, "config", "diff.ignoreSubmodules", "none")
    await uncommitted_changes(repository, ENVIRONMENT)
    assert not left_a_trace(ran)


async def test_a_missing_object_is_not_fetched(repository: Path, ran: Path) -> None:
    git(repository, "config", "remote.origin.url", "ssh://nowhere.invalid/x")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "core.sshCommand", str(ran))
    (repository / ".git" / "HEAD").write_text("1" * 40 + "\n")
    assert await uncommitted_changes(repository, ENVIRONMENT) == ()
    assert not left_a_trace(ran)


async def test_a_folder_that_only_looks_like_a_repository_is_none(repository: Path, ran: Path) -> None:
    bare = repository / "bare"
    git(repository, "clone", "--bare", str(repository), str(bare))
    configure(bare, ran, {"core.fsmonitor": "{ran}", "core.bare": "false", "core.worktree": str(repository)})
    assert await uncommitted_changes(bare, ENVIRONMENT) == ()
    assert not left_a_trace(ran)


async def test_the_environment_neither_aims_nor_runs_anything(repository: Path, ran: Path) -> None:
    other = repository.parent / "other"
    traces = repository.parent / "traces"
    named = {
        "GIT_DIR": str(other),
        "GIT_INDEX_FILE": str(other),
        "GIT_WORK_TREE": "/",
        "GIT_EXEC_PATH": str(ran.parent),
        "GIT_EXTERNAL_DIFF": str(ran),
        "GIT_SSH_COMMAND": str(ran),
        "GIT_PAGER": str(ran),
        "GIT_ASKPASS": str(ran),
        "GIT_TRACE": str(traces),
        "GIT_TRACE2": str(traces),
        "GIT_TRACE_SETUP": str(traces),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(ran),
    }
    make_dirty(repository)
    assert " M a.txt" in await uncommitted_changes(repository, ENVIRONMENT | named)
    assert not left_a_trace(ran)
    assert not traces.exists()


@pytest.mark.parametrize("path", [".", "", "bin", "{workspace}/bin", "{workspace}/../{name}/bin"])
async def test_a_git_in_the_workspace_is_not_run(path: str, repository: Path, ran: Path) -> None:
    (repository / "bin").mkdir()
    (repository / "bin" / "git").symlink_to(ran)
    (repository / "git").symlink_to(ran)
    first = path.format(workspace=repository, name=repository.name)
    environment = ENVIRONMENT | {"PATH": f"{first}:{ENVIRONMENT['PATH']}"}
    assert await uncommitted_changes(repository, environment) == ("?? bin/", "?? git")
    assert not left_a_trace(ran)
