"""Files of a worktree that no commit has: git ignores them, or was told not to look at them. They are copied before the folder goes.

Folders that a build makes again are named and not copied. All other files are, up to MOST_KEPT; beyond it the worktree stays.
No link is followed: a link is copied as a link.
"""

import asyncio
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from turnwire._runtime.private_files import make_private
from turnwire.adapter.workspace.git import Git, GitRefused, shown_paths

MOST_KEPT = 50_000_000
"""Bytes of such files that are copied."""

MOST_FILES = 20_000
"""Such files that are copied."""

MOST_SEEN = 100_000
"""Such files that are counted. More are refused as well."""

INCLUDE = ".worktreeinclude"
"""The file, at the top of a working tree, that names ignored files which new worktrees have too; in gitignore's language."""

OURS = ".turnwire/"
"""What turnwire itself puts into a workspace; no change of anybody's."""

_REBUILT = frozenset(
    {"node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".gradle"}
)
"""Names of folders that a build makes again."""

_MARKED = {"target": "CACHEDIR.TAG", ".venv": "pyvenv.cfg", "venv": "pyvenv.cfg"}
"""Names of folders that a build makes again if they have this file."""


class Unkept(Struct, frozen=True):
    """Files that no commit has."""

    files: tuple[str, ...]
    """Those to copy, from the top of the worktree. At most MOST_FILES + 1."""
    size: int
    """Bytes of them."""
    rebuilt: tuple[str, ...]
    """Folders that a build makes again."""

    @property
    def refusal(self) -> str | None:
        """Say why they cannot be copied and what to do; None where they can."""
        if self.size <= MOST_KEPT and len(self.files) <= MOST_FILES:
            return None
        return (
            f"git ignores {self._counted} there, and a copy takes at most {MOST_FILES} files and {shown_size(MOST_KEPT)}; "
            f"move or delete some of them first: {shown_paths(self.files)}"
        )

    def does(self, place: Path) -> list[str]:
        """Say what is copied below a place."""
        if not self.files or self.refusal is not None:
            return []
        return [f"Keeps {self._counted} that git ignores below {place}: {shown_paths(self.files)}."]

    @property
    def warnings(self) -> list[str]:
        """Say what is not copied."""
        if not self.rebuilt:
            return []
        return [f"Folders that a build makes again are not kept: {shown_paths(self.rebuilt)}."]

    @property
    def _counted(self) -> str:
        if len(self.files) > MOST_FILES:
            return f"more than {MOST_FILES} files"
        return f"{len(self.files)} file{'' if len(self.files) == 1 else 's'} ({shown_size(self.size)})"


async def unkept_in(git: Git, submodules: Sequence[str]) -> Unkept:
    """Find the files of a worktree that no commit has; raises GitRefused.

    Args:
        git: in the worktree.
        submodules: those that are checked out there, from its top; their files count too.
    """
    names = [*await _names(git)]
    for path in submodules:
        names += [f"{path}/{name}" for name in await _names(git.at(git.folder / path))]
    found: list[str] = []
    rebuilt: list[str] = []
    size = 0
    for path, bytes_of in await asyncio.to_thread(
        lambda: list(islice(_walked(git.folder, names), MOST_SEEN))
    ):
        if bytes_of is None:
            rebuilt.append(path)
        elif len(found) <= MOST_FILES:
            found.append(path)
            size += bytes_of
    return Unkept(tuple(found), size, tuple(rebuilt))


async def _names(git: Git) -> list[str]:
    """Return what git ignores, what it was told not to look at, and what turnwire put there; folders end with a slash."""
    said = await git(
        *("status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"),
        "--ignore-submodules=dirty",
    )
    if not said.is_ok:
        raise GitRefused(f"git cannot tell what it ignores: {said.words}")
    flagged = [
        line[2:]
        for line in (await git.ask("ls-files", "-v", "-z")).split("\0")
        if line[:1] == "S" or line[:1].islower()
    ]
    names = [field[3:] for field in said.fields() if field.startswith("!!")]
    names += flagged
    return [*(name for name in names if not name.startswith(OURS)), OURS]


def _walked(top: Path, names: Iterable[str]) -> Iterable[tuple[str, int | None]]:
    """Yield the files below names with their sizes; folders that a build makes again with None. Raises GitRefused."""

    def unreadable(error: OSError) -> None:
        raise GitRefused(f"{error.filename} cannot be read, so it cannot be kept: {error.strerror}")

    for name in names:
        path = top / name.rstrip("/")
        if not os.path.lexists(path):
            continue
        if not path.is_dir() or path.is_symlink():
            yield name.rstrip("/"), os.lstat(path).st_size
            continue
        if _is_rebuilt(path):
            yield name, None
            continue
        for folder, inner, files in os.walk(path, onerror=unreadable):
            here = Path(folder)
            links = [one for one in inner if (here / one).is_symlink()]
            again = [one for one in inner if one not in links and _is_rebuilt(here / one)]
            for one in (*files, *links):
                yield os.path.relpath(here / one, top), os.lstat(here / one).st_size
            for one in again:
                yield f"{os.path.relpath(here / one, top)}/", None
            inner[:] = [one for one in inner if one not in again]


def _is_rebuilt(folder: Path) -> bool:
    mark = _MARKED.get(folder.name)
    return folder.name in _REBUILT or (mark is not None and (folder / mark).is_file())


def copy_unkept(top: Path, unkept: Unkept, copy: Path) -> None:
    """Copy files into a new private folder. Raises OSError; then nothing is left of the copy.

    Args:
        top: the worktree.
        unkept: which files.
        copy: the new folder. Folders in it get mode 0700, files 0600, and those that can be run 0700.
    """
    make_private(copy.parent)
    copy.mkdir(mode=0o700)
    root = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    left = MOST_KEPT
    try:
        for name in unkept.files:
            make_private((copy / name).parent, copy)
            left -= _copy_one(root, name, copy / name, left)
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise
    finally:
        os.close(root)


async def included_in(git: Git) -> list[str]:
    """Return the files of a working tree that INCLUDE names and git ignores, from its top; raises GitRefused."""
    if not await asyncio.to_thread((git.folder / INCLUDE).is_file):
        return []
    named = await git.ask("ls-files", "-z", "--others", "--ignored", f"--exclude-from={INCLUDE}")
    ignored = await git("check-ignore", "-z", "--stdin", body=os.fsencode(named))
    if ignored.code not in (0, 1):
        raise GitRefused(f"git cannot tell what it ignores: {ignored.words}")
    names = ignored.fields()
    if len(names) > MOST_FILES:
        raise GitRefused(f"they are more than {MOST_FILES}")
    return names


def copy_included(top: Path, names: Iterable[str], worktree: Path) -> list[str]:
    """Copy files of a working tree into another; return those in whose place, or on whose way, something else lies. Raises OSError."""
    left: list[str] = []
    there = worktree.resolve()
    root = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    most = MOST_KEPT
    try:
        for name in names:
            copy = there / name
            try:
                if copy.parent.resolve() != copy.parent:  # a link of the branch leads elsewhere
                    left.append(name)
                    continue
                copy.parent.mkdir(parents=True, exist_ok=True)
                most -= _copy_one(root, name, copy, most)
            except (FileExistsError, NotADirectoryError):
                left.append(name)
    finally:
        os.close(root)
    return left


def _copy_one(root: int, name: str, copy: Path, most: int) -> int:
    """Copy a file below a folder and return its bytes. A link on the way raises OSError."""
    *folders, last = name.split("/")
    here = os.dup(root)
    try:
        for one in folders:
            inner = os.open(one, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = inner
        about = os.lstat(last, dir_fd=here)
        if stat.S_ISLNK(about.st_mode):
            copy.symlink_to(os.readlink(last, dir_fd=here))
            return 0
        if not stat.S_ISREG(about.st_mode):
            return 0  # sockets and pipes hold nothing that could be kept
        source = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
        mode = 0o700 if about.st_mode & 0o100 else 0o600
        with os.fdopen(source, "rb") as there, os.fdopen(
            os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb"
        ) as kept:  # fmt: skip
            copied = 0
            while piece := there.read(1 << 20):
                copied += len(piece)
                if copied > most:
                    raise OSError(0, "it grows while it is copied", name)
                kept.write(piece)
            kept.flush()
            os.fsync(kept.fileno())
        return copied
    finally:
        os.close(here)


def shown_size(number: int) -> str:
    """Return a number of bytes as a sentence names it."""
    if number == 1:
        return "1 byte"
    for unit in ("bytes", "kB", "MB"):
        if number < 1000 or unit == "MB":
            break
        number = round(number / 1000)
    return f"{number} {unit}"
