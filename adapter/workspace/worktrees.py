"""Git worktrees for sessions: made from a branch or commit, looked at, and removed once nothing in them is lost by that."""

import asyncio
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.workspace.git import Changed, Git, GitRefused, shown_paths
from turnwire.adapter.workspace.removal import alone, see, take_away
from turnwire.adapter.workspace.unkept import (
    INCLUDE,
    OURS,
    Unkept,
    copy_included,
    copy_unkept,
    included_in,
    unkept_in,
)

MOST_LISTED = 200
"""Uncommitted files that a look tells."""

MOST_WORKTREES = 500
"""Worktrees that are listed."""

DEADLINE = 60.0
"""Seconds that git may take for one look, or to make a worktree."""

REMOVAL = 110.0
"""Seconds that a removal may take, with its copies."""

_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


class NewPlace(Struct, frozen=True):
    """A worktree that was made."""

    path: str
    """Its top folder."""
    folder: str
    """The folder in it that stands for the one that was asked for."""
    repository: str
    branch: str
    base: str
    """Name of the branch, or id of the commit, that it starts from."""


async def make_worktree(
    workspace: Path, place: Path, environment: Mapping[str, str], *, branch: str | None, base: str | None
) -> tuple[NewPlace, list[str]]:
    """Make a worktree of the repository that a folder is in, with a new branch; return what is missing in it too, as sentences.

    Files that `.worktreeinclude` of the folder's working tree names, and git ignores, are copied into it.

    Args:
        workspace: a folder of a working tree, or a bare repository.
        place: the folder below which worktrees are made.
        environment: of git.
        branch: name of the new branch; made up when None.
        base: branch or commit to start from; what `workspace` has checked out when None.

    Raises:
        GitRefused: git does not do it; says what to do. Nothing was made.
        TimeoutError: git took too long.
    """
    git = Git(workspace, environment)
    async with asyncio.timeout(DEADLINE):
        top, prefix = await _top_of(git)
        if branch is None:
            branch = f"turnwire/{secrets.token_hex(4)}"
        ref = f"refs/heads/{branch}"
        if await git.tells("check-ref-format", "--branch", branch) != branch or branch.startswith("-"):
            raise GitRefused(f"{branch!r} is not a name that a branch can have; choose another one")
        if await git.tells("rev-parse", "--verify", "--quiet", ref) is not None:
            raise GitRefused(f"there is a branch {branch!r} already; choose another name")
        name, commit = await _base_of(git, base)
        # git makes a branch only if there is none, so what is taken back later is ours
        said = await git("update-ref", "-m", f"branch: Created from {name}", ref, commit, "0" * len(commit))
        if not said.is_ok:
            raise GitRefused(f"git does not make the branch {branch!r}; choose another name: {said.words}")
        try:
            path = _new_folder(place, top, branch)
        except OSError as error:
            await git("update-ref", "-d", ref, commit)
            raise GitRefused(f"the folder {error.filename!r} cannot be made: {error.strerror}") from None
        said = await git("worktree", "add", "--quiet", str(path), branch)
        if not said.is_ok:
            # such as by a hook after the checkout; nothing else is there yet
            await git("worktree", "remove", "--force", str(path))
            await git("update-ref", "-d", ref, commit)
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)
            raise GitRefused(f"git does not make the worktree: {said.words}")
        missing = [
            *await _behind(git, name),
            *await _empty_submodules(git.at(path)),
            *await _include(git, path),
        ]
    folder = path / prefix
    if not folder.is_dir():
        folder = path
    made = NewPlace(
        *await asyncio.to_thread(lambda: (str(path.resolve()), str(folder.resolve()))),
        str(workspace),
        branch,
        name,
    )
    return made, missing


async def _behind(git: Git, base: str) -> list[str]:
    """Say that a branch lacks commits of the one that it follows."""
    upstream = await git.tells("rev-parse", "--abbrev-ref", "--symbolic-full-name", f"{base}@{{upstream}}")
    if upstream is None:
        return []
    lacks = await git.tells("rev-list", "--count", f"refs/heads/{base}..{upstream}")
    if lacks in (None, "0"):
        return []
    count = "1 commit" if lacks == "1" else f"{lacks} commits"
    return [
        f"The worktree begins at {base}, which is {count} behind {upstream}; for those begin one with the base {upstream}."
    ]


async def _empty_submodules(git: Git) -> list[str]:
    """Say which submodules a new worktree has only by name."""
    staged = await git.tells("ls-files", "--stage", "-z")
    links = [line.partition("\t")[2] for line in (staged or "").split("\0") if line.startswith("160000 ")]
    if not links:
        return []
    return [
        f"Folders of submodules are empty in the worktree: {shown_paths(links)}; fill them with git submodule update --init."
    ]


async def _include(git: Git, path: Path) -> list[str]:
    """Copy what the file `.worktreeinclude` names into a new worktree; say what could not be copied."""
    top = await git.tells("rev-parse", "--show-toplevel")
    if not top:
        return []
    try:
        names = await included_in(git.at(Path(top)))
        left = await asyncio.to_thread(copy_included, Path(top), names, path)
    except (GitRefused, OSError) as error:
        return [f"Files that {INCLUDE} names were not copied: {getattr(error, 'strerror', None) or error}."]
    if not left:
        return []
    return [f"Files that {INCLUDE} names were not copied, as something else lies there: {shown_paths(left)}."]


def _new_folder(place: Path, top: Path, branch: str) -> Path:
    """Make the folder of a worktree and return it; raises OSError."""
    path = place / _PLAIN.sub("-", top.name.removesuffix(".git") or "repository") / _PLAIN.sub("-", branch)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _hide(path.parent)
    try:
        path.mkdir()
    except FileExistsError:
        path = path.with_name(f"{path.name}-{secrets.token_hex(3)}")
        path.mkdir()
    return path


def _hide(folder: Path) -> None:
    """Keep worktrees out of what git finds in a working tree that their folder lies in."""
    if not any((one / ".git").is_file() or (one / ".git/HEAD").exists() for one in folder.parents):
        return
    try:
        with (folder / ".gitignore").open("x") as file:
            file.write("*\n")
    except FileExistsError:
        pass


async def _top_of(git: Git) -> tuple[Path, str]:
    """Return the folder that names a repository, and where in its working tree `git.folder` is; raises GitRefused."""
    said = await git("rev-parse", "--is-bare-repository", "--git-common-dir", "--show-prefix")
    if not said.is_ok:
        raise GitRefused(
            f"{str(git.folder)!r} is in no git repository, so it has no worktrees; name a folder of one: {said.words}"
        )
    is_bare, common, *rest = said.output.split("\n")
    whole = (git.folder / common).resolve()
    if is_bare == "true":
        return whole, ""
    return whole.parent if whole.name == ".git" else whole, rest[0] if rest else ""


async def _base_of(git: Git, base: str | None) -> tuple[str, str]:
    """Return the name and the commit of what a worktree starts from; raises GitRefused."""
    wanted = base or await checked_out(git) or "HEAD"
    if wanted.startswith("-"):
        raise GitRefused(f"{wanted!r} is neither a branch nor a commit; name one that is there")
    # a tag may have the branch's name
    head = await git.tells("rev-parse", "--verify", "--quiet", f"refs/heads/{wanted}")
    if head is not None:
        return wanted, head
    commit = await git.tells("rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
    if commit is None:
        if base is None:
            raise GitRefused("the repository has no commit yet; make the first one, then ask again")
        raise GitRefused(
            f"{base!r} is neither a branch nor a commit of this repository; name one that is there"
        )
    return commit, commit


async def checked_out(git: Git) -> str | None:
    """Return the branch that is checked out; None when detached."""
    name = await git.tells("symbolic-ref", "--quiet", "HEAD")
    return None if name is None else name.removeprefix("refs/heads/")


class Standing(Struct, frozen=True):
    """How a worktree stands."""

    head: str
    """Id of its commit."""
    branch: str | None
    """What is checked out; None when detached."""
    uncommitted: tuple[str, ...]
    """Files that differ from the commit, new ones included."""
    conflicted: tuple[str, ...]
    """Files of a merge that is not over."""
    nested: tuple[str, ...]
    """New folders that are repositories of their own."""
    submodules: tuple[str, ...]
    """Submodules that are checked out here."""
    in_progress: str | None
    """`merge`, `rebase`, `cherry-pick`, `revert` or `bisect` that is not over."""


_IN_PROGRESS = {
    "MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase", "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
}  # fmt: skip


_STATUS = (
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=dirty",  # git would look into one under its own configuration
)


async def look_at(git: Git) -> Standing:
    """Return how a worktree stands; raises GitRefused."""
    own = Path(await git.ask("rev-parse", "--path-format=absolute", "--git-dir"))
    branch = await checked_out(git)
    head = await git.tells("rev-parse", "--verify", "--quiet", "HEAD")
    if head is None:
        raise GitRefused(_without_commit(branch, await asyncio.to_thread(_last_head, own)))
    said = await git(*_STATUS, "--no-renames")
    if not said.is_ok:
        raise GitRefused(f"git cannot tell what has changed: {said.words}")
    entries = [(field[:2], field[3:]) for field in said.fields() if not field[3:].startswith(OURS)]
    staged = (await git.ask("ls-files", "--stage", "-z")).split("\0")
    links = [line.partition("\t")[2] for line in staged if line.startswith("160000 ")]
    submodules = [path for path in links if (git.folder / path / ".git").exists()]
    uncommitted = [path for state, path in entries if state != "!!"]
    for path in submodules:
        if path not in uncommitted and await _is_changed(git.at(git.folder / path)):
            uncommitted.append(path)
    return Standing(
        head,
        branch,
        tuple(uncommitted),
        tuple(path for state, path in entries if "U" in state or state in ("AA", "DD")),
        tuple(path for state, path in entries if state == "??" and path.endswith("/")),
        tuple(submodules),
        next((word for name, word in _IN_PROGRESS.items() if (own / name).exists()), None),
    )


async def _is_changed(submodule: Git) -> bool:
    """Tell whether a submodule has uncommitted changes, or cannot tell."""
    try:
        return bool((await look_at(submodule)).uncommitted)
    except GitRefused:
        return True


def _last_head(own: Path) -> str | None:
    """Return the last commit that was checked out, by git's log of it."""
    try:
        return (own / "logs/HEAD").read_text(errors="replace").split("\n")[-2].split(" ")[1]
    except (OSError, IndexError):
        return None


def _without_commit(branch: str | None, last: str | None) -> str:
    """Say that what is checked out is gone, and what to do."""
    if branch is None:
        return "what is checked out in the worktree is no commit; check out a branch there"
    if last is None:
        return (
            f"the branch {branch!r} of the worktree is gone or has no commit; make it again with git branch"
        )
    return f"the branch {branch!r} of the worktree is gone; bring it back with git update-ref refs/heads/{branch} {last}"


async def unsaved_below(git: Git, standing: Standing) -> list[str]:
    """Return what repositories in a worktree have that is nowhere else, as sentences: removing it would lose that."""
    found = [f"{path} is a repository of its own; move it elsewhere" for path in standing.nested]
    for path in standing.submodules:
        inner = git.at(git.folder / path)
        status = await inner.tells(*_STATUS)
        if status is None or status:
            found.append(f"the submodule {path} has uncommitted changes; commit and push them there")
        elif await inner.tells("rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes") != "":
            found.append(f"the submodule {path} has commits that no remote has; push them there")
        elif await inner.tells("rev-parse", "--verify", "--quiet", "refs/stash") is not None:
            found.append(f"the submodule {path} has a stash; apply it or drop it there")
        else:
            below = await unsaved_below(inner, await look_at(inner))
            found += [f"in the submodule {path}: {one}" for one in below]
    return found


class Listed(Struct, frozen=True):
    """A worktree below the place for them."""

    path: str
    repository: str
    """Its main working tree, or the bare repository."""
    branch: str | None
    unsaved: tuple[str, ...]
    """What would be lost by removing it, as sentences."""
    ignored: tuple[str, ...] = ()
    """Files that git ignores, of which a copy is kept, and folders that a build makes again."""
    keeps: tuple[str, ...] = ()
    """What becomes of them when it is removed, as sentences."""


class Removed(Struct, frozen=True):
    """A worktree that was removed."""

    branch: str | None
    backup: str | None
    """The folder with what git ignored there."""
    left: str | None
    """What could not be deleted, as a sentence."""


async def list_worktrees(place: Path, environment: Mapping[str, str], backups: Path) -> list[Listed]:
    """List the worktrees below a place; what git ignores in them would be kept in `backups`."""
    return [await describe(path, environment, backups) for path in await asyncio.to_thread(_found, place)]


def _found(place: Path) -> list[Path]:
    """Return folders two levels below the place that a `.git` file makes a worktree."""
    found: list[Path] = []
    try:
        for repository in sorted(place.iterdir()):
            if repository.is_dir() and not repository.is_symlink():
                found += sorted(
                    one for one in repository.iterdir() if not one.is_symlink() and (one / ".git").is_file()
                )
    except OSError:
        return found[:MOST_WORKTREES]
    return found[:MOST_WORKTREES]


async def describe(path: Path, environment: Mapping[str, str], backups: Path) -> Listed:
    """Return a worktree as it is listed."""
    git = Git(path, environment)
    common = await git.tells("rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None:
        return Listed(str(path), "", None, ("its repository is gone or cannot be read; look there yourself",))
    repository = str(Path(common).parent) if Path(common).name == ".git" else common
    try:
        standing = await look_at(git)
        unkept = await unkept_in(git, await all_submodules(git, standing))
        unsaved = await why_kept(git, standing)
        return Listed(
            str(path),
            repository,
            standing.branch,
            (*unsaved, *([unkept.refusal] if unkept.refusal else [])),
            (*unkept.files, *unkept.rebuilt)[:MOST_LISTED],
            (*unkept.does(backups), *unkept.warnings),
        )
    except GitRefused as error:
        return Listed(str(path), repository, None, (str(error),))


async def why_kept(git: Git, standing: Standing) -> list[str]:
    """Return what would be lost by removing a worktree while its branch stays, as sentences."""
    found = []
    if standing.in_progress is not None:
        found.append(f"a {standing.in_progress} is not over; finish or abort it")
    files = [path for path in standing.uncommitted if path not in (*standing.nested, *standing.submodules)]
    if files:
        found.append(f"uncommitted: {shown_paths(files)}; commit or discard them")
    found += await unsaved_below(git, standing)
    if (
        standing.branch is None
        and (
            await git.tells(
                "rev-list", "--max-count=1", standing.head, "--not", "--branches", "--tags", "--remotes"
            )
        )
        != ""
    ):
        found.append("its commits are on no branch; make one of them")
    if (locked := await why_locked(git)) is not None:
        found.append(locked)
    return found


async def why_locked(git: Git) -> str | None:
    """Say that a worktree is locked, or git works in it, and what to do; None where neither is so."""
    own = Path(await git.ask("rev-parse", "--path-format=absolute", "--git-dir"))
    if await asyncio.to_thread((own / "locked").exists):
        return "it is locked; unlock it with git worktree unlock"
    return await why_busy(git)


async def why_busy(git: Git) -> str | None:
    """Say that git works in a working tree, or was killed there, and what to do; None where it does not."""
    lock = Path(await git.ask("rev-parse", "--path-format=absolute", "--git-dir")) / "index.lock"
    if await asyncio.to_thread(lock.exists):
        return f"git works in {git.folder}, or was killed there; wait for it, or delete {lock} if no git runs"
    return None


async def all_submodules(git: Git, standing: Standing) -> list[str]:
    """Return the submodules that are checked out in a worktree, and those in them."""
    found: list[str] = []
    for path in standing.submodules:
        inner = git.at(git.folder / path)
        found += [path, *(f"{path}/{one}" for one in await all_submodules(inner, await look_at(inner)))]
    return found


async def keep_unkept(git: Git, unkept: Unkept, backups: Path, name: str | None) -> Path | None:
    """Copy what no commit has into a new folder below `backups`; return it, or None if there is nothing. Raises GitRefused."""
    if unkept.refusal is not None:
        raise GitRefused(unkept.refusal)
    if not unkept.files:
        return None
    plain = _PLAIN.sub("-", name or "detached")[:100]
    copy = backups / f"{plain}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
    try:
        await asyncio.to_thread(copy_unkept, git.folder, unkept, copy)
    except OSError as error:
        raise GitRefused(
            f"files that git ignores cannot be copied to {copy}: {error.filename or ''} {error.strerror}; move them elsewhere, or mend that"
        ) from None
    return copy


async def remove_worktree(path: Path, place: Path, environment: Mapping[str, str], backups: Path) -> Removed:
    """Remove a worktree below the place; its branch stays, and what git ignores in it is kept below `backups`.

    Raises:
        GitRefused: something would be lost. Nothing was removed.
        Changed: somebody wrote into it meanwhile. Nothing was removed.
        TimeoutError: git took too long.
    """
    async with asyncio.timeout(REMOVAL):
        if path not in await asyncio.to_thread(_found, place):
            raise GitRefused(
                f"{str(path)!r} is none of the worktrees below {str(place)!r}; name one that is listed"
            )
        git = Git(path, environment)
        if await git.tells("rev-parse", "--git-common-dir") is None:
            raise GitRefused(f"the worktree {path} stays: its repository is gone; look there yourself")
        async with alone(git, repository=True):
            before = await see(git)
            listed = await describe(path, environment, backups)
            if listed.unsaved:
                raise GitRefused(f"the worktree {listed.path} stays: {'; '.join(listed.unsaved)}")
            unkept = await unkept_in(git, await all_submodules(git, await look_at(git)))
            copy = await keep_unkept(git, unkept, backups, listed.branch)
            try:
                left = await take_away(git, before)
            except (Changed, GitRefused):
                if copy is not None:
                    await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)
                raise
            return Removed(listed.branch, None if copy is None else str(copy), left)
    raise AssertionError("it returns or raises")
