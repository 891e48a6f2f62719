"""No step of a worktree loses anything: after each refusal git's own view is as before, and after each success only the step is in it."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from git_house import House, changes, done, refused, view, write

from turnwire.adapter.workspace import removal, unkept, worktree_actions, worktrees
from turnwire.adapter.workspace.git import Changed, Git, GitRefused, Said
from turnwire.adapter.workspace.removal import Seen
from turnwire.adapter.workspace.worktree_actions import Worktree
from turnwire.adapter.workspace.worktrees import NewPlace, list_worktrees, remove_worktree

WORK = "trees/project/work"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def remove(house: House, made: NewPlace) -> worktrees.Removed:
    return await remove_worktree(Path(made.path), house.place, house.environment, house.backups)


async def apart(house: House, branch: str = "work") -> tuple[Worktree, Path]:
    """Make a worktree in which branch and base both have a commit of their own, and some uncommitted files."""
    made = await house.make(branch)
    there = Path(made.path)
    house.commit({f"{branch}.txt": "mine"}, there)
    house.commit({f"theirs of {branch}.txt": "theirs"})
    return house.tree(made), there


def _slow_after(number: int, names: Iterable[str]) -> list[ParameterSet]:
    """Return parameters of which all but the first ones are left to the long run."""
    return [
        pytest.param(name, marks=[pytest.mark.long] if at >= number else []) for at, name in enumerate(names)
    ]


def remote(house: House) -> Path:
    bare = house.folder / "remote.git"
    house.git("clone", "-q", "--bare", str(house.repository), str(bare))
    house.git("remote", "add", "origin", str(bare))
    return bare


async def test_a_lock_that_was_left_is_named_and_nothing_changes(house: House) -> None:
    tree, there = await apart(house)
    write(there, {"new.txt": "new"})
    lock = Path(house.git("rev-parse", "--path-format=absolute", "--git-path", "index.lock", at=there))
    lock.write_text("")
    for action in ("commit", "discard"):
        assert f"delete {lock} if no git runs" in await refused(house, tree, action)
    (there / "new.txt").unlink()
    assert f"delete {lock} if no git runs" in await refused(house, tree, "rebase")
    assert lock.exists()
    lock.unlink()
    main = house.repository / ".git/index.lock"
    main.write_text("")
    assert f"delete {main} if no git runs" in await refused(house, tree, "merge")
    main.unlink()
    await done(tree, "merge")


@pytest.mark.long
async def test_a_base_in_a_third_worktree_is_merged_there_once_nothing_stands_in_the_way(
    house: House,
) -> None:
    tree, there = await apart(house)
    house.git("checkout", "-q", "--detach")
    third = house.folder / "third place"
    house.git("worktree", "add", "-q", str(third), "main")
    write(third, {"a.txt": "a person works here\n"})
    assert f"main is checked out in {third}, with changes" in await refused(house, tree, "merge")
    house.git("checkout", "-q", "--", "a.txt", at=third)
    house.git("bisect", "start", at=third)
    assert "bisect is not over; finish or abort it" in await refused(house, tree, "merge")
    house.git("bisect", "reset", at=third)
    house.git("rebase", "-q", "--exec", "false", "HEAD~1", at=third, fails=True)
    assert "main is in a rebase or bisect" in await refused(house, tree, "merge")
    house.git("rebase", "--abort", at=third)
    before = view(house)
    await done(tree, "merge")
    assert changes(before, view(house)) == {
        "ref refs/heads/main", "third place: HEAD", "third place: reflog", "third place/work.txt",
    }  # fmt: skip
    shutil.rmtree(third)
    house.commit({"more.txt": "more"}, there)
    assert "which is gone; have git forget it with git worktree prune" in await refused(house, tree, "merge")


@pytest.mark.long
async def test_a_merge_and_a_rebase_never_write_over_ignored_files(house: House) -> None:
    tree, there = await apart(house)
    (house.repository / ".git/info/exclude").write_text(".env\nlogs\n")
    write(house.repository, {".env": "a person's", "logs/1": "a person's"})
    write(there, {".env": "of the branch", "logs": "of the branch"})
    house.git("add", "--force", ".env", "logs", at=there)
    house.git("commit", "-qm", "Add what was ignored", at=there)
    why = await refused(house, tree, "merge")
    assert f"write over files that git does not know in {house.repository}: .env, logs" in why
    other, there = await apart(house, "other")
    write(there, {".env": "mine, and ignored"})
    house.git("checkout", "-q", "--detach")
    (house.repository / ".env").rename(house.folder / "kept")
    write(house.repository, {".env": "of the base"})
    house.git("add", "--force", ".env")
    house.git("commit", "-qm", "Add it here too")
    house.git("branch", "-f", "main")
    assert "write over files that git does not know here: .env" in await refused(house, other, "rebase")


@pytest.mark.long
async def test_a_rebase_of_a_dirty_tree_and_one_that_conflicts_change_nothing(house: House) -> None:
    tree, there = await apart(house)
    write(there, {"a.txt": "not yet\n"})
    assert "uncommitted changes (a.txt); commit them first" in await refused(house, tree, "rebase")
    house.git("stash", "-q", at=there)
    house.commit({"a.txt": "mine\n"}, there)
    house.commit({"a.txt": "theirs\n"})
    before = view(house)
    plan = await tree.preview("rebase", None, agent="away")
    with pytest.raises(
        GitRefused, match=r"stopped at a\.txt, and it was taken back; have the agent merge main"
    ):
        await tree.act("rebase", None, plan.plan, agent="away")
    after = view(house)
    # git's log has the way there and back
    assert changes(before, after) <= {f"{WORK}: reflog"}
    assert after[f"{WORK}: reflog"].startswith(before[f"{WORK}: reflog"])


async def test_a_push_that_is_not_forward_says_to_fetch(house: House) -> None:
    bare = remote(house)
    tree, there = await apart(house)
    await done(tree, "push")
    house.git("commit", "-q", "--amend", "-m", "Said anew", at=there)
    why = await refused(house, tree, "push", bare)
    assert "fetch, then rebase or merge" in why
    assert "[rejected]" in why


@pytest.mark.long
async def test_without_a_name_git_says_who_it_wants_to_know(house: House) -> None:
    tree, there = await apart(house)
    house.environment = {
        **{name: value for name, value in house.environment.items() if "KEY_0" not in name and "KEY_1" not in name},
        "GIT_CONFIG_KEY_0": "user.useConfigOnly",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_KEY_1": "x.y",
    }  # fmt: skip
    tree = Worktree(await _again(house, there), house.environment, house.backups)
    assert "user.email" in await refused(house, tree, "merge")
    assert "user.email" in await refused(house, tree, "rebase", log=WORK)
    house.git("checkout", "-q", "--detach")
    assert "user.email" in await refused(house, tree, "merge")
    write(there, {"new.txt": "new"})
    assert "user.email" in await refused(house, tree, "commit")
    assert "user.email" in await refused(house, tree, "discard")
    assert not house.backups.exists() or not list(house.backups.iterdir())


async def _again(house: House, there: Path) -> NewPlace:
    return NewPlace(str(there), str(there), str(house.repository), "work", "main")


BRANCHES = ["+plus", "v1", "it's", 'a"b', "größe/ü", "a@b", "work;true", "$HOME"]
FILES = ["-f", "a b", "'", '"', "line\nbreak", "größe", "..x", "@{u}", ":(top)x", "*", "\\", "\t"]


@pytest.mark.parametrize("branch", _slow_after(2, BRANCHES))
async def test_odd_names_are_committed_merged_pushed_and_kept(house: House, branch: str) -> None:
    bare = remote(house)
    house.git("tag", "v1", house.commit({"tagged.txt": "another commit"}))
    house.git("tag", "main")
    made = await house.make(branch)
    assert (made.branch, made.base) == (branch, "main")
    tree, there = house.tree(made), Path(made.path)
    write(there, dict.fromkeys(FILES, "odd"))
    before = view(house, bare)
    await done(tree, "commit", "Odd")
    name = os.path.relpath(there, house.folder)
    own = {f"ref refs/heads/{branch}", *(f"{name}: {what}" for what in ("HEAD", "status", "reflog"))}
    assert changes(before, before := view(house, bare)) == own
    await done(tree, "merge")
    merged = {"ref refs/heads/main", "project: HEAD", "project: reflog", *(f"project/{one}" for one in FILES)}
    assert changes(before, before := view(house, bare)) == merged
    await done(tree, "push")
    pushed = {f"remote.git ref refs/heads/{branch}", f"ref refs/remotes/origin/{branch}"}
    assert changes(before, before := view(house, bare)) == pushed
    house.commit({"later.txt": "later"})
    house.git("checkout", "-q", "--detach", at=house.repository)
    await done(tree, "rebase")
    assert (there / "later.txt").read_text() == "later"
    write(there, {"a\nb": "uncommitted"})
    result = await done(tree, "discard")
    kept = house.git("ls-tree", "-r", "--name-only", "-z", str(result.backup)).split("\0")
    assert {*FILES, "a\nb", "later.txt"} <= set(kept)
    assert f"ref refs/heads/{branch}" not in view(house)
    assert not there.exists()


@pytest.mark.parametrize(
    "branch", ["-f", "a..b", "a@{b", "@{u}", "..", "a b", "a\nb", "a~1", "", ".x", "x.lock"]
)
async def test_names_that_no_branch_can_have_are_refused(house: House, branch: str) -> None:
    before = view(house)
    with pytest.raises(GitRefused, match="is not a name that a branch can have; choose another one"):
        await house.make(branch)
    assert changes(before, view(house)) == set()


@pytest.mark.long
async def test_two_actions_at_once_come_after_each_other(house: House) -> None:
    """Of two commits of one tree the second sees that it was done; two merges into one base both get there."""
    first, there = await apart(house)
    second, _ = await apart(house, "other")
    write(there, {"new.txt": "new"})
    plan = await first.preview("commit", "Twice", agent="away")
    both = await asyncio.gather(
        *(first.act("commit", "Twice", plan.plan, agent="away") for _ in range(2)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in both) == ["Changed", "Done"]
    assert house.git("log", "--format=%s", "-2", at=there).split("\n") == ["Twice", "More"]
    plans = [await one.preview("merge", None, agent="away") for one in (first, second)]
    both = await asyncio.gather(
        *(one.act("merge", None, plan.plan, agent="away") for one, plan in zip((first, second), plans, strict=True)),
        return_exceptions=True,
    )  # fmt: skip
    assert sorted(type(one).__name__ for one in both) == ["Changed", "Done"]
    assert view(house)["project: progress"] == ""
    assert view(house)["project: status"] == ""
    late = second if isinstance(both[1], Changed) else first
    await done(late, "merge")
    assert {"work.txt", "other.txt", "new.txt"} <= {one.name for one in house.repository.iterdir()}


async def test_two_who_make_one_branch_leave_one_worktree(house: House) -> None:
    made = await asyncio.gather(*(house.make("same") for _ in range(2)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in made) == ["GitRefused", "NewPlace"]
    (place,) = (one for one in made if isinstance(one, NewPlace))
    assert (Path(place.path) / "a.txt").exists()
    assert house.git("branch", "--show-current", at=Path(place.path)) == "same"


@pytest.mark.long
async def test_a_merge_that_another_began_is_not_aborted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's merge stops where the base is checked out, right before ours begins there."""
    tree, _ = await apart(house)
    house.git("checkout", "-q", "-b", "third", "HEAD~1")
    house.commit({"third.txt": "third"})
    house.git("checkout", "-q", "main")
    hook = house.repository / ".git/hooks/pre-merge-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    begun: dict[str, str] = {}

    def begin() -> None:
        house.git("merge", "-q", "--no-edit", "third", fails=True)
        begun.update(view(house))

    called = Git.__call__

    async def call(git: Git, *arguments: str, **rest: Any) -> Said:
        if arguments[0] == "merge" and not begun:
            begin()
        return await called(git, *arguments, **rest)

    monkeypatch.setattr(Git, "__call__", call)
    with pytest.raises(GitRefused, match=r"where something was left: .*You have not concluded your merge"):
        await done(tree, "merge")
    assert begun["project: progress"] == "MERGE_HEAD"
    assert changes(begun, view(house)) == set()
    assert "merge is not over; finish or abort it there first" in await refused(house, tree, "merge")


@pytest.mark.long
async def test_a_detached_head_and_another_branch_keep_the_branches(house: House) -> None:
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    house.git("checkout", "-q", "--detach", at=there)
    house.commit({"loose.txt": "loose"}, there)
    for action in ("merge", "rebase", "push", "pull_request"):
        assert "no branch is checked out in this worktree; check one out first" in await refused(
            house, tree, action
        )
    with pytest.raises(GitRefused, match="its commits are on no branch; make one of them"):
        await remove(house, made)
    house.git("checkout", "-q", "-b", "a-person's", at=there)
    before = view(house)
    result = await done(tree, "discard")
    gone = {name for name in before if name.startswith("trees/")}
    assert changes(before, view(house)) == {*gone, f"ref {result.backup}"}


@pytest.mark.long
async def test_a_branch_that_was_deleted_is_told_with_the_way_back(house: House) -> None:
    tree, there = await apart(house)
    commit = house.git("rev-parse", "work")
    house.git("update-ref", "-d", "refs/heads/work")
    for action in ("commit", "merge", "rebase", "push", "discard"):
        why = await refused(house, tree, action)
        assert f"bring it back with git update-ref refs/heads/work {commit}" in why
    (listed,) = await list_worktrees(house.place, house.environment, house.backups)
    assert "is gone; bring it back" in listed.unsaved[0]
    house.git("update-ref", "refs/heads/work", commit)
    assert (await tree.status()).uncommitted == ()
    assert (there / "work.txt").exists()


async def test_a_folder_that_is_gone_or_a_link_is_refused(house: House) -> None:
    tree, there = await apart(house)
    there.rename(house.folder / "moved")
    assert "is gone; its branch is 'work'" in await refused(house, tree, "discard")
    there.symlink_to(house.repository)
    assert "is a link, not the worktree that was made; remove the link" in await refused(
        house, tree, "discard"
    )
    assert (house.repository / "a.txt").exists()


async def test_a_locked_worktree_stays(house: House) -> None:
    made = await house.make()
    house.git("worktree", "lock", made.path)
    assert "it is locked; unlock it with git worktree unlock" in await refused(
        house, house.tree(made), "discard"
    )
    before = view(house)
    with pytest.raises(GitRefused, match="it is locked; unlock it"):
        await remove(house, made)
    assert changes(before, view(house)) == set()


async def test_a_link_in_place_of_a_file_is_kept_as_a_link(house: House) -> None:
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    (house.folder / "secret").write_text("not to be copied")
    (house.repository / ".git/info/exclude").write_text("ignored*\n")
    for name in ("a.txt", "ignored", "ignored folder"):
        (there / name).unlink(missing_ok=True)
        (there / name).symlink_to(house.folder if "folder" in name else house.folder / "secret")
    result = await done(tree, "discard")
    assert house.git("cat-file", "blob", f"{result.backup}:a.txt") == str(house.folder / "secret")
    (copy,) = house.backups.iterdir()
    assert {one.name: str(one.readlink()) for one in copy.iterdir()} == {
        "ignored": str(house.folder / "secret"), "ignored folder": str(house.folder),
    }  # fmt: skip
    assert (house.folder / "secret").read_text() == "not to be copied"


@pytest.mark.long
async def test_what_is_staged_and_what_git_does_not_look_at_is_kept(house: House) -> None:
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    write(there, {"a.txt": "staged\n"})
    house.git("add", "a.txt", at=there)
    write(there, {"a.txt": "after that\n", "sub/b.txt": "told not to look\n"})
    house.git("update-index", "--skip-worktree", "sub/b.txt", at=there)
    result = await done(tree, "discard")
    assert house.git("show", f"{result.backup}:a.txt") == "after that"
    assert house.git("show", f"{result.backup}^2:a.txt") == "staged"
    (copy,) = house.backups.iterdir()
    assert (copy / "sub/b.txt").read_text() == "told not to look\n"


async def test_removal_copies_what_git_ignores_and_names_what_a_build_makes(house: House) -> None:
    made = await house.make()
    there = Path(made.path)
    (house.repository / ".git/info/exclude").write_text(".env\n*.db\nnode_modules\ntarget\nbuilt\n.venv\n")
    ours = {".env": "KEY=1", "data/local.db": "rows", "target/mine": "no build made it", "built/x/y": "1", ".turnwire/z": "2"}  # fmt: skip
    again = {"node_modules/m.js": "m", "built/__pycache__/c": "c", ".venv/pyvenv.cfg": "v"}
    write(there, ours | again)
    (there / ".env").chmod(0o644)
    (there / "built/x/y").chmod(0o755)
    (listed,) = await list_worktrees(house.place, house.environment, house.backups)
    assert listed.unsaved == ()
    assert "Keeps 5 files (27 bytes) that git ignores below" in listed.keeps[0]
    assert all(name in listed.keeps[0] for name in ours)
    assert listed.keeps[1].startswith("Folders that a build makes again are not kept: ")
    assert all(f"{os.path.dirname(name)}/" in listed.keeps[1] for name in again)  # noqa: PTH120 - names, no paths
    before = view(house)
    removed = await remove(house, made)
    assert changes(before, view(house)) == {name for name in before if name.startswith("trees/")}
    copy = Path(str(removed.backup))
    kept = {str(one.relative_to(copy)): one.read_text() for one in copy.rglob("*") if one.is_file()}
    assert kept == ours
    assert {one.stat().st_mode & 0o777 for one in (copy, *copy.rglob("*")) if one.is_dir()} == {0o700}
    modes = {
        str(one.relative_to(copy)): one.stat().st_mode & 0o777 for one in copy.rglob("*") if one.is_file()
    }
    assert modes == {**dict.fromkeys(ours, 0o600), "built/x/y": 0o700}
    assert (removed.branch, removed.left) == ("work", None)


@pytest.mark.long
async def test_more_than_is_copied_and_a_copy_that_fails_keep_the_worktree(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    (house.repository / ".git/info/exclude").write_text("*.db\n")
    write(there, {"one.db": "x" * 60, "two.db": "y" * 60})
    monkeypatch.setattr(unkept, "MOST_KEPT", 100)
    before = view(house)
    assert "move or delete some of them first: one.db, two.db" in await refused(house, tree, "discard")
    with pytest.raises(
        GitRefused, match=r"git ignores 2 files \(120 bytes\) there, and a copy takes at most"
    ):
        await remove(house, made)
    monkeypatch.setattr(unkept, "MOST_KEPT", 1000)
    monkeypatch.setattr(unkept, "MOST_FILES", 1)
    assert "git ignores more than 1 files there" in await refused(house, tree, "discard")
    monkeypatch.setattr(unkept, "MOST_FILES", 10)
    house.backups.parent.mkdir()
    house.backups.write_text("no folder")
    assert f"cannot be copied to {house.backups}" in await refused(house, tree, "discard")
    with pytest.raises(GitRefused, match="move them elsewhere, or mend that"):
        await remove(house, made)
    assert changes(before, view(house)) == set()
    house.backups.unlink()
    removed = await remove(house, made)
    assert (Path(str(removed.backup)) / "one.db").read_text() == "x" * 60


WRITES: dict[str, Callable[[House, Path], object]] = {
    "a new file": lambda _, there: (there / "late.txt").write_text("late"),
    "an ignored file": lambda _, there: (there / "late.db").write_text("late"),
    "a tracked file": lambda _, there: (there / "a.txt").write_text("late"),
    "the same size": lambda _, there: (there / "kept.db").write_text("KEPT"),
    "a commit": lambda house, there: house.git("commit", "-q", "--allow-empty", "-m", "Late", at=there),
    "something staged": lambda house, there: house.git("rm", "-q", "--cached", "a.txt", at=there),
}


@pytest.mark.parametrize("written", _slow_after(2, WRITES))
@pytest.mark.parametrize("action", ["discard", "remove"])
async def test_what_is_written_after_the_look_is_not_lost(
    house: House, monkeypatch: pytest.MonkeyPatch, action: str, written: str
) -> None:
    """Something is written when all is looked at and copied, right before the folder is taken away."""
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    (house.repository / ".git/info/exclude").write_text("*.db\n")
    write(there, {"kept.db": "kept"})
    seen: dict[str, str] = {}
    module = worktree_actions if action == "discard" else worktrees
    taken: Callable[[Git, Seen], Awaitable[str | None]] = module.take_away

    async def late(git: Git, before: Seen) -> str | None:
        await asyncio.to_thread(WRITES[written], house, there)
        seen.update(view(house))
        return await taken(git, before)

    monkeypatch.setattr(module, "take_away", late)
    with pytest.raises(Changed, match="somebody wrote into the worktree meanwhile, so it stays; look again"):
        await (done(tree, "discard") if action == "discard" else remove(house, made))
    # what was kept meanwhile is taken back, as nothing was removed
    kept = {name for name in seen if name.startswith("ref refs/turnwire/")}
    assert changes(seen, view(house)) == kept
    assert list(house.backups.iterdir()) == []
    assert [one.name for one in there.parent.iterdir()] == ["work"]


@pytest.mark.long
async def test_a_path_that_is_taken_meanwhile_says_where_the_worktree_lies(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await house.make()
    there = Path(made.path)
    renamed = Path.rename

    def rename(path: Path, to: Path) -> Path:
        moved = renamed(path, to)
        if path == there:
            write(there, {"of another program.txt": "late"})
        return moved

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(GitRefused, match="its own place is taken") as refusal:
        await remove(house, made)
    (aside,) = (one for one in there.parent.iterdir() if one != there)
    assert str(aside) in str(refusal.value)
    assert (aside / "a.txt").exists()
    assert (there / "of another program.txt").read_text() == "late"


async def test_a_folder_that_cannot_be_moved_or_deleted_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = await house.make(), await house.make("other")

    def broken(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", broken)
        before = view(house)
        with pytest.raises(GitRefused, match="cannot be moved aside, so it stays: Permission denied"):
            await remove(house, made)
        assert changes(before, view(house)) == set()
    monkeypatch.setattr(shutil, "rmtree", broken)
    removed = await remove(house, made)
    assert "Everything in them is kept; delete them." in str(removed.left)
    result = await done(house.tree(other), "discard")
    assert "Everything in them is kept; delete them." in result.done[1]


async def test_files_in_submodules_that_git_ignores_are_kept(house: House) -> None:
    library = house.folder / "library"
    library.mkdir()
    house.git("init", "-q", at=library)
    house.commit({"lib.txt": "lib", ".gitignore": "*.db\n"}, library)
    house.git("submodule", "--quiet", "add", str(library), "lib")
    house.git("commit", "-qm", "Add the library")
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    house.git("submodule", "--quiet", "update", "--init", at=there)
    write(there, {"lib/lib.txt": "changed", "lib/rows.db": "rows"})
    assert "the submodule lib has uncommitted changes; commit and push them there" in await refused(
        house, tree, "discard"
    )
    house.git("checkout", "-q", ".", at=there / "lib")
    removed = await remove(house, made)
    assert (Path(str(removed.backup)) / "lib/rows.db").read_text() == "rows"
    assert not there.exists()


async def test_a_branch_that_is_checked_out_elsewhere_stays(house: House) -> None:
    tree, _ = await apart(house)
    house.git("worktree", "add", "-q", "--force", str(house.folder / "twin"), "work")
    result = await done(tree, "discard")
    assert "The branch work stays: it is checked out elsewhere." in result.done
    assert view(house)["twin: status"] == ""


async def test_an_action_waits_for_another_turnwire(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, _ = await apart(house)
    plan = await tree.preview("merge", None, agent="away")
    tried = asyncio.Event()
    locked = removal._locked

    def try_it(descriptor: int) -> bool:
        is_locked = locked(descriptor)
        if not is_locked:
            tried.set()
        return is_locked

    monkeypatch.setattr(removal, "_locked", try_it)
    before = view(house)
    held = os.open(house.repository / ".git", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        merging = asyncio.create_task(tree.act("merge", None, plan.plan, agent="away"))
        await tried.wait()
        assert changes(before, view(house)) == set()
        assert not merging.done()
    finally:
        os.close(held)
    await merging
    assert (house.repository / "work.txt").exists()


async def test_a_removal_that_takes_too_long_moves_the_folder_back_and_keeps_the_copies(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await house.make()
    tree, there = house.tree(made), Path(made.path)
    (house.repository / ".git/info/exclude").write_text("*.db\n")
    write(there, {"kept.db": "kept", "new.txt": "new"})
    asked = Git.ask

    async def ask(git: Git, *arguments: str, **rest: Any) -> str:
        if arguments[:2] == ("worktree", "remove"):
            raise TimeoutError
        return await asked(git, *arguments, **rest)

    before = view(house)
    with monkeypatch.context() as patched:
        patched.setattr(Git, "ask", ask)
        with pytest.raises(TimeoutError):
            await done(tree, "discard")
    (kept,) = changes(before, view(house))
    assert kept.startswith("ref refs/turnwire/discarded/work-")
    (copy,) = house.backups.iterdir()
    assert (copy / "kept.db").read_text() == "kept"
    assert (await done(tree, "discard")).done[0] == f"Removed {there}."


async def test_more_names_than_are_read_are_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await house.make()
    before = view(house)
    monkeypatch.setattr("turnwire.adapter.workspace.git.MAX_OUTPUT", 60)
    with pytest.raises(GitRefused, match="names too many files"):
        await house.tree(made).status()
    with pytest.raises(GitRefused, match="names too many files"):
        await remove(house, made)
    assert changes(before, view(house)) == set()


async def test_a_branch_that_git_cannot_make_and_a_place_that_is_a_file_leave_nothing(house: House) -> None:
    house.git("branch", "taken")
    before = view(house)
    with pytest.raises(GitRefused, match="git does not make the branch 'taken/below'; choose another name"):
        await house.make("taken/below")
    house.place.write_text("a file")
    with pytest.raises(GitRefused, match="cannot be made: Not a directory"):
        await house.make("other")
    assert changes(before, view(house)) == set()
    house.place.unlink()
    first, second = await house.make("a/b"), await house.make("a-b")
    assert Path(second.path).name.startswith(f"{Path(first.path).name}-")
