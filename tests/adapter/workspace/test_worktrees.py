"""Worktrees of sessions, against git's own view of the repository: nothing is lost, and each refusal says why and what to do."""

import os
from pathlib import Path

import pytest
from git_house import MAIN, House, changes, done, refusal, view, write

from turnwire.adapter.workspace.changes import UnknownFile, patch_of, workspace_changes
from turnwire.adapter.workspace.git import Changed, GitRefused
from turnwire.adapter.workspace.revert import revert
from turnwire.adapter.workspace.worktree_actions import WORKING
from turnwire.adapter.workspace.worktrees import list_worktrees, remove_worktree


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_a_worktree_is_made_from_what_is_checked_out(house: House) -> None:
    write(house.repository, {"sub/uncommitted.txt": "stays"})
    made = await house.make(folder=house.repository / "sub")
    assert (made.branch, made.base) == ("work", "main")
    assert Path(made.folder) == Path(made.path) / "sub"
    assert Path(made.path).parent == house.place / "project"
    assert not (Path(made.folder) / "uncommitted.txt").exists()
    assert house.git("branch", "--show-current", at=Path(made.path)) == "work"
    own = await house.make(None, house.git("rev-parse", "HEAD"))
    assert own.branch.startswith("turnwire/")
    assert own.base == house.git("rev-parse", "HEAD")


async def test_a_base_that_lags_behind_its_upstream_is_told(house: House, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    house.git("clone", "-q", str(house.repository), str(upstream))
    house.repository = tmp_path / "clone"
    house.git("clone", "-q", str(upstream), str(house.repository), at=tmp_path)
    await house.make("level")
    assert house.missing == []
    house.commit({"new.txt": "new"}, at=upstream)
    house.git("fetch", "-q")
    await house.make("late")
    assert house.missing == [
        "The worktree begins at main, which is 1 commit behind origin/main; for those begin one with the base origin/main."
    ]
    fresh = await house.make("fresh", "origin/main")
    assert house.missing == []
    assert (Path(fresh.path) / "new.txt").exists()


async def test_submodules_that_are_empty_in_a_worktree_are_told(house: House, tmp_path: Path) -> None:
    house.git("clone", "-q", str(house.repository), str(tmp_path / "library"))
    house.git("submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    house.git("commit", "-qm", "Library")
    await house.make()
    assert house.missing == [
        "Folders of submodules are empty in the worktree: lib; fill them with git submodule update --init."
    ]


async def test_a_folder_of_worktrees_in_the_repository_is_none_of_its_changes(house: House) -> None:
    house.place = house.repository / ".worktrees"
    made = await house.make()
    assert house.git("status", "--porcelain") == ""
    house.git("add", "-A")
    assert house.git("diff", "--cached", "--name-only") == ""
    write(Path(made.path), {"new.txt": "new"})
    assert house.git("status", "--porcelain", at=Path(made.path)) == "?? new.txt", "its own changes are seen"


async def test_ignored_files_that_are_named_come_along(house: House, tmp_path: Path) -> None:
    house.commit({".gitignore": ".env*\n*.db\n", ".worktreeinclude": ".env*\nsub/*.db\na.txt\nfree.txt\n"})
    write(
        house.repository,
        {".env": "KEY=1", "sub/own.db": "rows", "other.db": "rows", "free.txt": "not ignored"},
    )
    made = await house.make()
    there = Path(made.path)
    assert house.missing == []
    assert (there / ".env").read_text() == "KEY=1"
    assert (there / "sub/own.db").read_text() == "rows"
    assert not (there / "other.db").exists()
    assert not (there / "free.txt").exists()
    assert house.git("status", "--porcelain", at=there) == ""
    bare = tmp_path / "bare.git"
    house.git("clone", "-q", "--bare", str(house.repository), str(bare))
    await house.make("bare", folder=bare)
    assert house.missing == []


async def test_what_comes_along_is_written_over_no_file_and_through_no_link(
    house: House, tmp_path: Path
) -> None:
    """A branch may hold a link where the working tree has a folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    house.git("switch", "-q", "-c", "evil")
    (house.repository / "config").symlink_to(outside)
    house.commit({"kept.env": "of the branch"})
    house.git("switch", "-q", "main")
    house.commit({".gitignore": "*.env\n", ".worktreeinclude": "*.env\n"})
    write(house.repository, {"config/deep/a.env": "secret", "config/b.env": "secret", "kept.env": "secret"})
    (house.repository / "link.env").symlink_to("config/b.env")
    made = await house.make("work", "evil")
    assert house.missing == [
        "Files that .worktreeinclude names were not copied, as something else lies there: config/b.env, config/deep/a.env, kept.env."
    ]
    assert list(outside.iterdir()) == []
    assert (Path(made.path) / "kept.env").read_text() == "of the branch"
    assert (Path(made.path) / "link.env").is_symlink()


@pytest.mark.parametrize(
    ("branch", "base", "why"),
    [
        ("main", None, "there is a branch 'main' already"),
        ("a..b", None, "is not a name that a branch can have"),
        ("-f", None, "is not a name that a branch can have"),
        ("new", "none", "is neither a branch nor a commit"),
        ("new", "--all", "is neither a branch nor a commit"),
    ],
)
async def test_what_cannot_be_made_says_why_and_leaves_nothing(
    house: House, branch: str, base: str | None, why: str
) -> None:
    before = house.git("for-each-ref")
    with pytest.raises(GitRefused, match=why):
        await house.make(branch, base)
    assert house.git("for-each-ref") == before
    assert len(house.git("worktree", "list").splitlines()) == 1


async def test_no_repository_and_no_commit_are_told(house: House, tmp_path: Path) -> None:
    with pytest.raises(GitRefused, match="is in no git repository"):
        await house.make(folder=tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    house.git("init", "-q", at=empty)
    with pytest.raises(GitRefused, match="has no commit yet"):
        await house.make(folder=empty)


async def test_a_commit_takes_all_changes(house: House) -> None:
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    assert await refusal(tree, "commit", "First") == "there is nothing to commit"
    write(there, {"new file.txt": "new", "a.txt": "changed\n", ".turnwire/attached.png": "x"})
    house.git("add", "a.txt", at=there)
    assert await refusal(tree, "commit") == "a commit needs a message"
    await done(tree, "commit", "First\n\n--amend")
    shown = house.git("show", "--name-only", "--format=%B", at=there).split("\n")
    assert [line for line in shown if line] == ["First", "--amend", "a.txt", "new file.txt"]
    assert (await tree.status()).ahead == 1


async def test_what_was_shown_is_what_is_done(house: House) -> None:
    made = await house.make()
    tree = house.tree(made)
    write(Path(made.path), {"a.txt": "one\n"})
    assert (await tree.preview("commit", "Say", agent="idle")).warnings == ()
    plan = await tree.preview("commit", "Say", agent="working")
    assert plan.warnings == (WORKING,)
    assert plan.does == ("Commits 1 file to work: a.txt.",)
    write(Path(made.path), {"a.txt": "three\n"})
    with pytest.raises(Changed, match="look again"):
        await tree.act("commit", "Say", plan.plan, agent="away")
    again = await tree.preview("commit", "Say", agent="away")
    with pytest.raises(Changed):
        await tree.act("commit", "Another message", again.plan, agent="away")
    await tree.act("commit", "Say", again.plan, agent="away")


async def test_a_merge_goes_where_the_base_is_checked_out(house: House) -> None:
    made = await house.make()
    tree = house.tree(made)
    assert "nothing to merge" in await refusal(tree, "merge")
    house.commit({"mine.txt": "mine"}, Path(made.path))
    write(house.repository, {"a.txt": "a person works here\n"})
    assert "commit or stash them there first" in await refusal(tree, "merge")
    house.git("checkout", "-q", "--", "a.txt")
    write(house.repository, {"untracked.txt": "stays"})
    await done(tree, "merge")
    assert house.git("rev-parse", "main") == house.git("rev-parse", "work")
    assert (house.repository / "mine.txt").read_text() == "mine"
    assert (house.repository / "untracked.txt").read_text() == "stays"


async def test_a_merge_that_would_lose_an_untracked_file_is_taken_back(house: House) -> None:
    made = await house.make()
    house.commit({"same.txt": "of the agent"}, Path(made.path))
    write(house.repository, {"same.txt": "of a person"})
    assert "it would write over files that git does not know" in await refusal(house.tree(made), "merge")
    assert (house.repository / "same.txt").read_text() == "of a person"


async def test_a_conflict_is_told_before_a_merge_and_taken_back_after_a_rebase(house: House) -> None:
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    mine = house.commit({"a.txt": "mine\n"}, there)
    theirs = house.commit({"a.txt": "theirs\n"})
    status = await tree.status()
    assert (status.ahead, status.behind, status.conflicts) == (1, 1, ("a.txt",))
    assert "these files conflict with main: a.txt" in await refusal(tree, "merge")
    plan = await tree.preview("rebase", None, agent="away")
    assert "probably stop at a.txt" in " ".join(plan.warnings)
    with pytest.raises(GitRefused, match=r"stopped at a\.txt, and it was taken back"):
        await tree.act("rebase", None, plan.plan, agent="away")
    assert (house.git("rev-parse", "work"), house.git("rev-parse", "main")) == (mine, theirs)
    assert house.git("status", "--porcelain", at=there) == ""
    assert "wait for the end of its turn" in await refusal(tree, "rebase", agent="working")


async def test_a_rebase_and_then_a_merge_where_nothing_has_the_base_checked_out(house: House) -> None:
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    house.commit({"mine.txt": "mine"}, there)
    theirs = house.commit({"theirs.txt": "theirs"})
    house.git("checkout", "-q", "--detach")
    write(there, {"a.txt": "not yet\n"})
    assert "commit them first" in await refusal(tree, "rebase")
    merged = await done(tree, "merge")
    assert merged.backup == theirs
    assert house.git("rev-list", "--parents", "-1", "main").split()[1:] == [
        theirs,
        house.git("rev-parse", "work"),
    ]
    assert house.git("ls-tree", "--name-only", "main").split() == ["a.txt", "mine.txt", "sub", "theirs.txt"]
    assert (there / "a.txt").read_text() == "not yet\n"
    house.git("checkout", "-q", "--", "a.txt", at=there)
    await done(tree, "rebase")
    assert house.git("merge-base", "--is-ancestor", "main", "work") == ""


async def test_a_bare_clone_has_worktrees_and_a_push_says_what_the_remote_says(
    house: House, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    house.git("clone", "-q", "--bare", str(house.repository), str(bare))
    made = await house.make(folder=bare)
    assert Path(made.path).parent.name == "bare"
    tree, there = house.tree(made), Path(made.path)
    house.commit({"mine.txt": "mine"}, there)
    plan = await tree.preview("pull_request", None, agent="away")
    assert plan.commands == (f"cd {there} && gh pr create --base main --head work --title More --body ''",)
    assert plan.warnings == ("Push the branch first.",)
    await done(tree, "push")
    assert house.git("rev-parse", "work") == house.git("rev-parse", "HEAD", at=there)
    await done(tree, "merge")
    assert house.git("rev-parse", "main", at=bare) == house.git("rev-parse", "HEAD", at=there)
    hook = house.repository / ".git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho frozen until Monday >&2\nexit 1\n")
    hook.chmod(0o755)
    house.commit({"more.txt": "more"}, there)
    with pytest.raises(GitRefused, match="frozen until Monday"):
        await done(tree, "push")


async def test_no_remote_and_no_branch_are_told(house: House) -> None:
    made = await house.make()
    tree = house.tree(made)
    assert "has no remote" in await refusal(tree, "push")
    assert "has no remote" in await refusal(tree, "pull_request")
    house.git("checkout", "-q", "--detach", at=Path(made.path))
    for action in ("merge", "rebase", "push"):
        assert "no branch is checked out" in await refusal(tree, action)


async def test_what_is_discarded_can_be_brought_back_whole(house: House) -> None:
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    house.commit({"mine.txt": "mine", ".gitignore": "*.log\n"}, there)
    write(there, {"a.txt": "changed\n", "new.txt": "new", "build.log": "ignored"})
    assert "close the session first" in await refusal(tree, "discard", agent="idle")
    plan = await tree.preview("discard", None, agent="away")
    assert [one.partition(":")[0] for one in plan.warnings] == [
        "Uncommitted changes go", "1 commit is not in main.",
    ]  # fmt: skip
    assert plan.does[1] == f"Keeps 1 file (7 bytes) that git ignores below {house.backups}: build.log."
    before = view(house)
    result = await tree.act("discard", None, plan.plan, agent="away")
    after = view(house)
    gone = {name for name in before if name.startswith("trees/")}
    assert changes(before, after) == {*gone, "ref refs/heads/work", f"ref {result.backup}"}
    assert not [name for name in after if name.startswith("trees/") or name == "ref refs/heads/work"]
    (copy,) = house.backups.iterdir()
    assert result.done[-1] == f"Files that git ignores are kept in {copy}"
    assert (copy / "build.log").read_text() == "ignored"
    assert [one.name for one in copy.iterdir()] == ["build.log"]
    assert [one.stat().st_mode & 0o777 for one in (copy, copy / "build.log")] == [0o700, 0o600]
    assert [one.name for one in there.parent.iterdir()] == []
    house.git("checkout", "-q", "-b", "again", str(result.backup))
    assert {name: (house.repository / name).read_text() for name in ("mine.txt", "a.txt", "new.txt")} == {
        "mine.txt": "mine", "a.txt": "changed\n", "new.txt": "new",
    }  # fmt: skip
    with pytest.raises(GitRefused, match="is gone"):
        await tree.status()


async def test_work_in_submodules_and_nested_repositories_is_never_removed(
    house: House, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    house.git("init", "-q", at=library)
    house.commit({"lib.txt": "lib"}, library)
    house.git("submodule", "--quiet", "add", str(library), "lib")
    house.git("commit", "-qm", "Add the library")
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    house.git("submodule", "--quiet", "update", "--init", at=there)
    house.commit({"inner.txt": "only here"}, there / "lib")
    assert "the submodule lib has commits that no remote has" in await refusal(tree, "discard")
    house.git("push", "-q", "origin", "HEAD:refs/heads/kept", at=there / "lib")
    write(there / "lib", {"lib.txt": "dirty"})
    assert "the submodule lib has uncommitted changes" in await refusal(tree, "discard")
    house.git("checkout", "-q", ".", at=there / "lib")
    nested = there / "nested"
    nested.mkdir()
    house.git("init", "-q", at=nested)
    house.commit({"n.txt": "n"}, nested)
    assert "nested/ is a repository of its own" in await refusal(tree, "discard")
    assert "nested/ is a repository of its own" in await refusal(tree, "commit", "All")
    with pytest.raises(GitRefused, match="nested/ is a repository of its own"):
        await remove_worktree(there, house.place, house.environment, house.backups)
    assert (nested / "n.txt").exists()
    nested.rename(tmp_path / "moved")
    await done(tree, "commit", "Take the library's commit")
    removed = await remove_worktree(there, house.place, house.environment, house.backups)
    assert removed.branch == "work"
    assert not there.exists()
    assert house.git("log", "-1", "--format=%s", "work") == "Take the library's commit"


async def test_the_list_says_what_would_be_lost(house: House, tmp_path: Path) -> None:
    clean, dirty, loose = [await house.make(name) for name in ("clean", "dirty", "loose")]
    write(Path(dirty.path), {"new.txt": "new"})
    house.git("checkout", "-q", "--detach", at=Path(loose.path))
    house.commit({"mine.txt": "mine"}, Path(loose.path))
    (house.place / "elsewhere").symlink_to(tmp_path)
    listed = await list_worktrees(house.place, house.environment, house.backups)
    assert [(Path(one.path).name, one.branch, one.unsaved) for one in listed] == [
        ("clean", "clean", ()),
        ("dirty", "dirty", ("uncommitted: new.txt; commit or discard them",)),
        ("loose", None, ("its commits are on no branch; make one of them",)),
    ]
    house.git("worktree", "lock", clean.path)
    with pytest.raises(GitRefused, match="it is locked"):
        await remove_worktree(Path(clean.path), house.place, house.environment, house.backups)
    for other in (house.repository, tmp_path, Path(dirty.path)):
        with pytest.raises(GitRefused, match=r"none of the worktrees|uncommitted: new\.txt"):
            await remove_worktree(other, house.place, house.environment, house.backups)
    assert (Path(dirty.path) / "new.txt").exists()


async def test_changes_are_shown_against_the_base_with_what_is_committed(house: House) -> None:
    made = await house.make()
    there = Path(made.path)
    house.commit({"mine.txt": "mine\n"}, there)
    write(there, {"new.txt": "new\n"})
    assert [one.path for one in (await workspace_changes(there, house.environment)).files] == ["new.txt"]
    base = house.git("merge-base", "main", "work")
    found = await workspace_changes(there, house.environment, base=base)
    assert [(one.path, one.status) for one in found.files] == [
        ("mine.txt", "added"),
        ("new.txt", "untracked"),
    ]
    assert (await patch_of(there, house.environment, "mine.txt", base=base)).hunks == "@@ -0,0 +1 @@\n+mine\n"


async def test_a_hunk_and_a_file_are_reverted_and_can_be_brought_back(house: House) -> None:
    lines = MAIN["a.txt"].splitlines(keepends=True)
    lines[3], lines[30] = "three\n", "thirty\n"
    write(house.repository, {"a.txt": "".join(lines), "sub/b.txt": "b2\n", 'sub/"new".txt': "new\n"})
    folder = house.repository

    async def version(name: str, at: Path = folder) -> str | None:
        return next(
            one.version for one in (await workspace_changes(at, house.environment)).files if one.path == name
        )

    patch = (await patch_of(folder, house.environment, "a.txt")).hunks
    first, second = (f"@@ {one}" for one in patch.removeprefix("@@ ").split("\n@@ "))
    before = (folder / "a.txt").read_text()
    with pytest.raises(Changed):
        await revert(folder, house.environment, "a.txt", version="0-0", hunk=first)
    taken = await revert(folder, house.environment, "a.txt", version=await version("a.txt"), hunk=second)
    assert (folder / "a.txt").read_text() == before.replace("thirty\n", "line 30\n")
    assert house.git("cat-file", "blob", str(taken.backup)) + "\n" == before
    with pytest.raises(Changed, match="no longer fits"):
        await revert(folder, house.environment, "a.txt", version=await version("a.txt"), hunk=second)
    await revert(folder, house.environment, "a.txt", version=await version("a.txt"))
    assert (folder / "a.txt").read_text() == MAIN["a.txt"]
    sub = folder / "sub"
    await revert(sub, house.environment, "b.txt", version=await version("b.txt", sub))
    new = await revert(sub, house.environment, '"new".txt', version=await version('"new".txt', sub))
    assert house.git("status", "--porcelain") == ""
    assert house.git("cat-file", "blob", str(new.backup)) == "new"
    (folder / "a.txt").unlink()
    assert (await revert(folder, house.environment, "a.txt", version=None)).backup is None
    assert (folder / "a.txt").read_text() == MAIN["a.txt"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "link/x", "a\0b", "a.txt"])
async def test_no_revert_leads_elsewhere(house: House, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("x")
    (house.repository / "link").symlink_to(tmp_path / "outside")
    with pytest.raises((UnknownFile, Changed)):
        await revert(house.repository, house.environment, path, version=None)
    assert (tmp_path / "outside/x").read_text() == "x"


async def test_a_link_is_reverted_and_not_what_it_names(house: House, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("kept")
    (house.repository / "new").symlink_to(tmp_path / "outside")
    seen = os.lstat(house.repository / "new")
    taken = await revert(
        house.repository, house.environment, "new", version=f"{seen.st_mtime_ns:x}-{seen.st_size:x}"
    )
    assert (tmp_path / "outside").read_text() == "kept"
    assert house.git("cat-file", "blob", str(taken.backup)) == str(tmp_path / "outside")
