"""A git repository with a place for worktrees, and git's own view of it: what a step has changed there, exactly."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from turnwire.adapter.workspace.git import Changed, GitRefused
from turnwire.adapter.workspace.worktree_actions import Action, Done, Presence, Worktree
from turnwire.adapter.workspace.worktrees import NewPlace, make_worktree

MAIN = {"a.txt": "".join(f"line {number}\n" for number in range(40)), "sub/b.txt": "b\n"}


class House:
    """A repository, and a place for worktrees."""

    def __init__(self, folder: Path) -> None:
        self.repository, self.place, self.backups = (
            folder / "project",
            folder / "trees",
            folder / "state/worktrees",
        )
        self.environment = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_COUNT": "4",
            **{
                f"GIT_CONFIG_{part}_{number}": text
                for number, pair in enumerate(
                    (("user.name", "Ada"), ("user.email", "ada@example.org"), ("init.defaultBranch", "main"), ("protocol.file.allow", "always"))
                )
                for part, text in zip(("KEY", "VALUE"), pair, strict=True)
            },
        }  # fmt: skip
        self.folder = folder
        self.missing: list[str] = []
        self.repository.mkdir()
        self.git("init", "-q")
        self.commit(MAIN)

    def git(self, *words: str, at: Path | None = None, fails: bool = False) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=at or self.repository,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stderr
        return done.stdout.rstrip("\n")

    def commit(self, files: Mapping[str, str], at: Path | None = None) -> str:
        write(at or self.repository, files)
        self.git("add", "-A", at=at)
        self.git("commit", "-qm", "More", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    async def make(
        self, branch: str | None = "work", base: str | None = None, folder: Path | None = None
    ) -> NewPlace:
        made, self.missing = await make_worktree(
            folder or self.repository, self.place, self.environment, branch=branch, base=base
        )
        return made

    def tree(self, made: NewPlace) -> Worktree:
        return Worktree(made, self.environment, self.backups)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def view(house: House, *others: Path) -> Mapping[str, str]:
    """Return all that git and the disk have of a repository, its worktrees and other repositories, by name.

    Names: `ref NAME`, `stash`, and of each working tree, by its path from the house's folder: `PATH: head`, `PATH: branch`,
    `PATH: status`, `PATH: reflog`, `PATH: progress` and `PATH/FILE`.
    """
    seen: dict[str, str] = {}
    for repository in (house.repository, *others):
        at = "" if repository == house.repository else f"{repository.name} "
        for line in house.git(
            "for-each-ref", "--format=%(refname) %(objectname)", at=repository
        ).splitlines():
            name, _, commit = line.rpartition(" ")
            seen[f"{at}ref {name}"] = commit
        common = Path(house.git("rev-parse", "--path-format=absolute", "--git-common-dir", at=repository))
        stashes = common / "logs/refs/stash"
        seen[f"{at}stash"] = stashes.read_text() if stashes.exists() else ""
        for block in house.git("worktree", "list", "--porcelain", "-z", at=repository).split("\0\0"):
            lines = dict(line.partition(" ")[::2] for line in block.split("\0"))
            if "worktree" in lines and "bare" not in lines:
                seen |= _tree(house, Path(lines["worktree"]), lines)
    return seen


_PROGRESS = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG")


def _tree(house: House, folder: Path, lines: Mapping[str, str]) -> dict[str, str]:
    name = os.path.relpath(folder, house.folder)
    seen = {f"{name}: {key}": lines[key] for key in ("HEAD", "branch", "detached", "locked") if key in lines}
    if not folder.is_dir():
        return {**seen, f"{name}: is gone": ""}
    own = Path(house.git("rev-parse", "--path-format=absolute", "--git-dir", at=folder))
    status = ("status", "--porcelain=v2", "-z", "--ignored", "--untracked-files=all")
    seen[f"{name}: progress"] = " ".join(one for one in _PROGRESS if (own / one).exists())
    log = own / "logs/HEAD"
    seen[f"{name}: reflog"] = log.read_text() if log.exists() else ""
    if int(lines.get("HEAD", "0"), 16):
        seen[f"{name}: status"] = house.git(*status, at=folder)
    for at, folders, files in os.walk(folder):
        for one in (*files, *(one for one in folders if Path(at, one).is_symlink())):
            path = Path(at, one)
            said = f"-> {path.readlink()}" if path.is_symlink() else path.read_bytes().hex()
            seen[f"{name}/{path.relative_to(folder)}"] = said
        folders[:] = [one for one in folders if one != ".git"]
    return seen


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Return the names of what differs."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


async def done(tree: Worktree, action: Action, message: str | None = None) -> Done:
    plan = await tree.preview(action, message, agent="away")
    assert plan.refusal is None, plan.refusal
    assert plan.does
    assert plan.commands
    return await tree.act(action, message, plan.plan, agent="away")


async def refusal(
    tree: Worktree, action: Action, message: str | None = None, *, agent: Presence = "away"
) -> str:
    """Return why a preview says that an action cannot be done; nothing is done."""
    plan = await tree.preview(action, message, agent=agent)
    assert plan.refusal is not None, plan
    with pytest.raises(GitRefused) as refused:
        await tree.act(action, message, plan.plan, agent=agent)
    assert str(refused.value) == plan.refusal
    return plan.refusal


async def refused(house: House, tree: Worktree, action: Action, *others: Path, log: str | None = None) -> str:
    """Return why an action is refused, in the preview or while it is done; in git's own view nothing has changed.

    Args:
        house: the repository.
        tree: the worktree.
        action: what is asked for.
        others: repositories besides.
        log: the working tree in whose log of HEAD git tells of the way there and back.
    """
    before = view(house, *others)
    try:
        plan = await tree.preview(action, "A message", agent="away")
        with pytest.raises((GitRefused, Changed)) as refused:
            await tree.act(action, "A message", plan.plan, agent="away")
        why = str(refused.value)
    except GitRefused as error:
        why = str(error)
    after = view(house, *others)
    if log is None:
        assert changes(before, after) == set(), changes(before, after)
    else:
        name = f"{log}: reflog"
        assert changes(before, after) == {name}, changes(before, after)
        assert after[name].startswith(before[name])
    return why
