"""Compare a workspace with the last commit: staged or not, with new files. Read only, and bounded.

New files are told to a copy of the index as empty ones, so that one comparison has them all and finds what was renamed.
Of a file that only a filter (LFS, git-crypt) could compare, no more is told than that it was touched.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec import structs

from turnwire.adapter.workspace.repository import BIG_FILE, GitFailed, Repository, repository
from turnwire.protocol.errors import TurnwireError

DEADLINE = 10.0
"""Seconds that git may take, all in all."""

MAX_FILES = 2000
"""Maximum number of files in the list, and of new files that are read."""

MAX_LIST = 4 << 20
"""Bytes of git's list of them."""

MAX_PATCH = 2 << 20
"""Bytes of the changes of one file."""

OURS = ".turnwire/"
"""What turnwire itself puts into a workspace."""

Status = Literal["added", "copied", "deleted", "modified", "renamed", "retyped", "unmerged", "untracked"]

_STATUS: Mapping[str, Status] = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "retyped",
    "U": "unmerged",
}

_COMPARE = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",  # looking into one runs git there, under its own configuration
    "--relative",
    "-l400",
)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs."""

    path: str
    """From the workspace."""
    status: Status
    old_path: str | None = None
    """The old path of a renamed or copied file."""
    added: int | None = None
    """Lines; None where they were not counted: a binary file, one that passes a filter, or of too many files."""
    removed: int | None = None
    binary: bool = False
    filtered: bool = False
    """Passes a filter, so that only this program could tell whether it differs, and in what."""
    version: str | None = None
    """Another one whenever the file was written; None when there is none."""


@dataclass(frozen=True, slots=True)
class WorkspaceChanges:
    """What differs in a workspace from the last commit."""

    base: str | None
    """Object id of that commit; None before the first."""
    files: list[ChangedFile] = field(default_factory=list)
    """By path."""
    complete: bool = True
    """Whether these are all."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What differs in one file."""

    hunks: str
    """Those of a unified diff, without the lines before the first; empty for a binary file, or a mere renaming."""
    cut: bool = False
    """There are more files than the list has."""
    binary: bool = False


_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class UnknownFile(TurnwireError):
    """A path names no changed file of the workspace."""


async def workspace_changes(
    workspace: Path,
    environment: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
    max_files: int = MAX_FILES,
    base: str | None = None,
) -> WorkspaceChanges:
    """List what differs in a workspace from the last commit, or from the commit `base`.

    Raises GitFailed where there is no repository, OSError, and TimeoutError after `deadline` seconds.
    """
    async with (
        asyncio.timeout(deadline),
        repository(workspace, environment, own_index=True) as opened,
    ):
        there = _from(opened, base)
        prefix = _prefix(there, workspace)
        new = await _untracked(there, max_files)
        apart = [ChangedFile(name.removeprefix(prefix), "untracked", binary=True) for name in new.large]
        found, whole = await _found(there)
        if whole and len(found) <= 2 * max_files:
            apart += await _set_aside(there, workspace, prefix, found)
            found, whole = await _counted(there)
        names = {file.path for file in apart}
        files = [_marked(file, prefix, new.names) for file in found if file.path not in names]
        files = [*apart, *files]
        complete = whole and new.complete and len(files) <= max_files
        # where there is no room for all, what git knows comes first
        listed = sorted(files, key=lambda file: file.status == "untracked")[:max_files]
        # a new file passes its filter on the way in: what it is now is all there is to tell
        touched = [prefix + file.path for file in listed if file.status == "modified"]
        unclear = await there.filtered(touched)
        listed = [_unclear(file) if prefix + file.path in unclear else file for file in listed]
        listed = await asyncio.to_thread(_versions, workspace, listed)
        return WorkspaceChanges(
            there.parts.head, sorted(listed, key=lambda file: file.path), complete=complete
        )


async def patch_of(
    workspace: Path,
    environment: Mapping[str, str],
    path: str,
    old_path: str | None = None,
    *,
    deadline: float = DEADLINE,
    max_patch: int = MAX_PATCH,
    base: str | None = None,
) -> Patch:
    """Return what differs in a file, by its path from the workspace, and the one before of what was renamed.

    Raises UnknownFile, GitFailed, OSError and TimeoutError.
    """
    names = [path] if old_path is None else [path, old_path]
    for name in names:
        _check(name)
    async with (
        asyncio.timeout(deadline),
        repository(workspace, environment, own_index=True) as opened,
    ):
        there = _from(opened, base)
        if await there.filtered([_prefix(there, workspace) + path]):
            return Patch("", binary=True)
        new = await _untracked(there, len(names), names)
        if new.large or await asyncio.to_thread(_by_size, workspace, [path]) == ([], [path]):
            return Patch("", binary=True)
        said = await there.git(
            *_COMPARE,
            "-M" if old_path else "--no-renames",
            "--patch",
            there.parts.base,
            "--",
            *names,
            max_output=max_patch,
        )
    if said.content == b"":
        raise UnknownFile(
            f"{path!r} is not a changed file of the workspace; workspace.diff lists the changed files"
        )
    text = said.text
    head, mark, hunks = text.partition("\n@@ ")
    binary = not mark and ("\nBinary files " in head or "\nGIT binary patch" in head)
    hunks = f"@@ {hunks}" if mark else ""
    return Patch(hunks if said.is_whole else _closed(hunks), cut=not said.is_whole, binary=binary)


def _from(there: Repository, base: str | None) -> Repository:
    """Return a repository that is compared with a commit; with its last one when None."""
    return there if base is None else structs.replace(there, parts=structs.replace(there.parts, head=base))


def _closed(hunks: str) -> str:
    """Return hunks whose last was cut off, its head telling as many lines as are left."""
    at = hunks.rfind("\n@@ ") + 1
    head, _, body = hunks[at:].partition("\n")
    found = _HEAD.match(head)
    if found is None:
        return hunks[:at]
    signs = [line[:1] for line in body.split("\n")[:-1]]
    before, after = sum(sign in "- " for sign in signs), sum(sign in "+ " for sign in signs)
    return f"{hunks[:at]}@@ -{found[1]},{before} +{found[2]},{after} @@{head[found.end() :]}\n{body}"


def _check(path: str) -> None:
    """Raise UnknownFile for a path that leads out of the workspace, and for one that no file can have."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise UnknownFile(f"{path!r} is not a path in the workspace")


@dataclass(frozen=True, slots=True)
class _New:
    """New files, by their paths from the root."""

    names: frozenset[str]
    """Those our index has, as empty ones."""
    large: list[str]
    """Those it has not: git would read the whole of them to see whether they are empty."""
    complete: bool


async def _untracked(there: Repository, most: int, names: Sequence[str] = ()) -> _New:
    """Take new files into our index, as empty ones."""
    said = await there.git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", *names)
    # a folder in it is a repository of its own; and what turnwire puts there is no change
    found = [name for name in said.fields() if not name.endswith("/") and f"/{OURS}" not in f"/{name}"]
    taken, large = await asyncio.to_thread(_by_size, there.parts.root, found[:most])
    lines = [b"100644 %s\t%s\0" % (there.parts.empty_file.encode(), os.fsencode(name)) for name in taken]
    if lines:
        await there.git("update-index", "-z", "--index-info", body=b"".join(lines))
    return _New(frozenset(taken), large, said.is_whole and len(found) <= most)


async def _found(there: Repository) -> tuple[list[ChangedFile], bool]:
    """Return what differs, without a look at what in it; and whether it is all."""
    said = await there.git(*_COMPARE, "--raw", "--no-renames", "-z", there.parts.base, max_output=MAX_LIST)
    return _parsed(said.fields()), said.is_whole


async def _counted(there: Repository) -> tuple[list[ChangedFile], bool]:
    """Return the same with counts, and with renamed files as such."""
    asked = (*_COMPARE, "--raw", "--numstat", "-z")
    try:
        said = await there.git(*asked, "-M", there.parts.base, max_output=MAX_LIST)
    except GitFailed:  # more to be compared than there is room for
        said = await there.git(*asked, "--no-renames", there.parts.base, max_output=MAX_LIST)
    return _parsed(said.fields()), said.is_whole


async def _set_aside(
    there: Repository, workspace: Path, prefix: str, found: Sequence[ChangedFile]
) -> list[ChangedFile]:
    """Return changed files that are large, and have our index not look at them: to compare is to read the whole."""
    changed = {file.path: file for file in found}
    _, large = await asyncio.to_thread(_by_size, workspace, list(changed))
    if large:
        names = b"".join(os.fsencode(prefix + name) + b"\0" for name in large)
        await there.git("update-index", "-z", "--skip-worktree", "--stdin", body=names)
    return [replace(changed[name], binary=True) for name in large]


def _by_size(root: Path, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of files that git may read, and of those that are too large; none that is not there."""
    small: list[str] = []
    large: list[str] = []
    for name in names:
        try:
            size = os.lstat(root / name).st_size
        except (OSError, ValueError):
            continue
        (large if size > BIG_FILE else small).append(name)
    return small, large


def _prefix(there: Repository, workspace: Path) -> str:
    """Return what the paths of a workspace begin with, from the root of its repository."""
    relative = workspace.resolve().relative_to(there.parts.root.resolve()).as_posix()
    return "" if relative == "." else f"{relative}/"


def _parsed(fields: Sequence[str]) -> list[ChangedFile]:
    """Read what `--raw --numstat -z` says: first all of the one, then all of the other. What is cut off is left out."""
    files: dict[str, ChangedFile] = {}
    rest = iter(fields)
    for head in rest:
        if head.startswith(":"):
            status = _STATUS.get(head.rpartition(" ")[2][:1], "modified")
            old = next(rest, None) if status in {"renamed", "copied"} else None
            if (path := next(rest, None)) is not None:
                # one that is unmerged is told twice
                files.setdefault(path, ChangedFile(path, status, old))
            continue
        added, _, more = head.partition("\t")
        removed, _, path = more.partition("\t")
        if not path:  # renamed: both names follow
            next(rest, None)
            path = next(rest, "")
        if (file := files.get(path)) is None:
            continue
        if added == "-":
            files[path] = replace(file, binary=True)
        else:
            files[path] = replace(file, added=int(added), removed=int(removed))
    return list(files.values())


def _marked(file: ChangedFile, prefix: str, new: frozenset[str]) -> ChangedFile:
    return replace(file, status="untracked") if file.status == "added" and prefix + file.path in new else file


def _unclear(file: ChangedFile) -> ChangedFile:
    return replace(file, added=None, removed=None, binary=True, filtered=True)


def _versions(workspace: Path, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Say of each file when it was written, and how large it is."""
    found: list[ChangedFile] = []
    for file in files:
        try:
            seen = os.lstat(workspace / file.path)
        except (OSError, ValueError):
            found.append(file)
        else:
            found.append(replace(file, version=f"{seen.st_mtime_ns:x}-{seen.st_size:x}"))
    return found
