"""Sessions in worktrees of their own: begun, shown, committed, and removed by commands of frontends."""

import subprocess
from collections.abc import Awaitable
from pathlib import Path

import pytest
from host_harness import host_harness

from turnwire.hub.host import CommandRefused
from turnwire.normalize.events import Complete

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


async def refusal(asked: Awaitable[object]) -> tuple[str, str]:
    with pytest.raises(CommandRefused) as refused:
        await asked
    return refused.value.code, refused.value.message


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *WHO, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in (("AUTHOR", "Ada"), ("COMMITTER", "Ada")):
        monkeypatch.setenv(f"GIT_{name}_NAME", value)
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    return folder


async def test_a_session_works_in_a_worktree_until_it_is_discarded(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"worktrees": str(tmp_path / "trees"), "frontend_workspaces": [str(repository)]}
    async with host_harness(tmp_path, monkeypatch, settings=settings) as here:
        name = await here.create(workspace=str(repository), worktree={"branch": "work"})
        (listed,) = here.host.sessions()
        assert listed.worktree is not None
        assert (listed.worktree.branch, listed.worktree.base) == ("work", "main")
        assert (listed.worktree.repository, listed.title) == (str(repository), "project")
        there = Path(str(listed.workspace))
        assert there.is_relative_to(tmp_path / "trees")
        (there / "new.txt").write_text("new\n")

        plan = await here.do("worktree.act", name, action="commit", message="Add")
        assert isinstance(plan, dict)
        assert (plan["refusal"], plan["warnings"]) == (None, []), "the agent waits for a prompt"
        await here.do("worktree.act", name, action="commit", message="Add", plan=plan["plan"])
        again = here.do("worktree.act", name, action="commit", message="Add", plan=plan["plan"])
        assert (await refusal(again))[0] == "changed"
        status = await here.do("worktree.status", name)
        assert isinstance(status, dict)
        assert (status["ahead"], status["behind"], status["uncommitted"], status["pushed"]) == (
            1,
            0,
            [],
            False,
        )
        changed = await here.do("workspace.diff", name, against="base")
        assert isinstance(changed, dict)
        assert [one["path"] for one in changed["files"]] == ["new.txt"]
        assert (await here.do("workspace.diff", name))["files"] == []  # type: ignore[index]

        code, why = await refusal(here.execute("worktree.remove", path=str(there)))
        assert (code, "delete the session first" in why) == ("refused_by_git", True)
        running = await here.do("worktree.act", name, action="discard")
        assert isinstance(running, dict)
        assert "close the session first" in running["refusal"]
        await here.do("prompt", name, text="hello")
        await here.until(name, Complete)
        fork = await here.do("session.fork", name)
        assert isinstance(fork, dict)
        assert [one.worktree == listed.worktree for one in here.host.sessions()] == [True, True]
        await here.do("session.close", name)
        # the fork's agent is still there
        shared = await here.do("worktree.act", name, action="discard")
        assert isinstance(shared, dict)
        assert shared["refusal"] == "an agent runs here; close the session first, and its forks"
        await here.do("session.delete", fork["session"])
        await here.do("session.resume", name)
        await here.do("session.close", name)
        plan = await here.do("worktree.act", name, action="discard")
        assert isinstance(plan, dict)
        await here.do("worktree.act", name, action="discard", plan=plan["plan"])
        assert not there.exists()
        assert git(repository, "branch", "--list", "work") == ""
        assert (await refusal(here.do("worktree.status", name)))[0] == "refused_by_git"


async def test_what_nobody_uses_is_listed_and_removed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, settings={"worktrees": str(tmp_path / "trees")}) as here:
        name = await here.create(workspace=str(repository), worktree={})
        listed = await here.execute("worktree.list")
        assert isinstance(listed, dict)
        (one,) = listed["worktrees"]
        assert (one["sessions"], one["removable"], one["unsaved"]) == ([name], False, [])
        await here.do("session.delete", name)
        (Path(one["path"]) / "new.txt").write_text("new")
        code, why = await refusal(here.execute("worktree.remove", path=one["path"]))
        assert (code, "uncommitted: new.txt" in why) == ("refused_by_git", True)
        (Path(one["path"]) / "new.txt").unlink()
        (Path(one["path"]) / ".gitignore").write_text(".gitignore\nbuilt/\n")
        (Path(one["path"]) / "built").mkdir()
        (Path(one["path"]) / "built" / "page.js").write_text("1")
        listed = await here.execute("worktree.list")
        assert isinstance(listed, dict)
        (clean,) = listed["worktrees"]
        assert (clean["ignored"], clean["removable"]) == ([".gitignore", "built/page.js"], True)
        (keeps,) = clean["keeps"]
        assert keeps.startswith("Keeps 2 files (19 bytes) that git ignores below ")
        removed = await here.execute("worktree.remove", path=one["path"])
        assert isinstance(removed, dict)
        copy = Path(str(removed["backup"]))
        assert str(copy.parent) in keeps
        assert (copy / "built/page.js").read_text() == "1"
        assert removed == {"path": one["path"], "branch": one["branch"], "backup": str(copy), "left": None}
        assert (await here.execute("worktree.list")) == {"place": str(tmp_path / "trees"), "worktrees": []}


async def test_a_session_that_cannot_start_leaves_no_worktree(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = repository / ".git/hooks/post-checkout"
    hook.write_text("#!/bin/sh\necho found > notes.txt\n")
    hook.chmod(0o755)
    agents = {"none": {"command": [str(tmp_path / "no-such-program")]}}
    settings = {"worktrees": str(tmp_path / "trees"), "frontend_workspaces": [str(repository)]}
    async with host_harness(tmp_path, monkeypatch, settings=settings, agents=agents) as here:
        code, _ = await refusal(here.create("none", workspace=str(repository), worktree={"branch": "work"}))
        assert code == "cannot_start"
        outside = here.create(workspace=str(tmp_path), worktree={"branch": "work"})
        assert (await refusal(outside))[0] == "not_allowed"
        assert git(repository, "branch", "--list", "work") == ""
        assert len(git(repository, "worktree", "list").splitlines()) == 1


async def test_without_a_place_there_are_none(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        asked = here.create(workspace=str(repository), worktree={"branch": "work"})
        assert (await refusal(asked))[0] == "no_worktrees"
        assert (await refusal(here.execute("worktree.list")))[0] == "no_worktrees"
        name = await here.create(workspace=str(repository))
        assert (await refusal(here.do("worktree.status", name)))[0] == "no_worktrees"
        (repository / "a.txt").write_text("changed\n")
        listed = await here.do("workspace.diff", name)
        assert isinstance(listed, dict)
        (file,) = listed["files"]
        taken = await here.do("workspace.revert", name, path="a.txt", version=file["version"])
        assert isinstance(taken, dict)
        assert (repository / "a.txt").read_text() == "a\n"
        subprocess.run(str(taken["restore"]), shell=True, cwd=repository, check=True)
        assert (repository / "a.txt").read_text() == "changed\n"
        stale = here.do("workspace.revert", name, path="a.txt", version=file["version"])
        assert (await refusal(stale))[0] == "changed"
