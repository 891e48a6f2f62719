"""Takes a worktree's folder away once everything in it is kept, unless somebody has written there since it was looked at.

The folder is moved aside first, so that a process that names files by their path cannot write into it any more. What it has then is
compared with what it had before it was looked at. If anything differs, it is moved back.
"""

import asyncio
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.workspace.git import Changed, Git, GitRefused

POLL_S = 0.05
"""Seconds between two tries for the lock."""


class Seen(Struct, frozen=True):
    """What a worktree's folder and git's own files about it had at one time."""

    files: str
    git: str


@asynccontextmanager
async def alone(git: Git, *, repository: bool) -> AsyncIterator[None]:
    """Wait until no other turnwire acts on a worktree, and keep others out meanwhile.

    The locks are on git's own folders, so no file is made. A file system without locks has none.

    Args:
        git: in the worktree.
        repository: keep out merges and removals in the other worktrees of the repository too.
    """
    async with AsyncExitStack() as locks:
        for folder in ("--git-dir", *(["--git-common-dir"] if repository else [])):
            place = await git.ask("rev-parse", "--path-format=absolute", folder)
            await locks.enter_async_context(_holding(place))
        yield


@asynccontextmanager
async def _holding(folder: str) -> AsyncIterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while not _locked(descriptor):  # noqa: ASYNC110 - the kernel tells nobody that a lock is free
            await asyncio.sleep(POLL_S)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Try to lock; True also where there are no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN)
    return True


async def see(git: Git) -> Seen:
    """Return what a worktree has now; raises GitRefused and OSError."""
    outside, own = await _places(git)
    return Seen(await asyncio.to_thread(_traced, git.folder), await _said(outside, own))


async def _places(git: Git) -> tuple[Git, str]:
    """Return git in the repository's own folder, and the folder of git's files about this worktree."""
    own = await git.ask("rev-parse", "--path-format=absolute", "--git-dir")
    return git.at(Path(await git.ask("rev-parse", "--path-format=absolute", "--git-common-dir"))), own


async def _said(outside: Git, own: str) -> str:
    """Return what is checked out and what is staged, as text."""
    env = {"GIT_DIR": own}
    head = await outside("rev-parse", "--verify", "HEAD", env=env)
    branch = await outside("symbolic-ref", "--quiet", "HEAD", env=env)
    staged = await outside("ls-files", "--stage", "-v", "-z", env=env)
    return repr((head, branch, staged))


def _traced(top: Path) -> str:
    """Return a digest that changes whenever anything below a folder is written; raises OSError."""
    digest = hashlib.sha256()

    def broken(error: OSError) -> None:
        raise error

    for folder, inner, files in os.walk(top, onerror=broken):
        inner.sort()
        for name in sorted((*files, *inner)):
            path = os.path.join(folder, name)  # noqa: PTH118 - there may be very many
            about = os.lstat(path)
            known = (os.path.relpath(path, top), about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)  # fmt: skip
            digest.update(repr(known).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


async def take_away(git: Git, before: Seen) -> str | None:
    """Remove a worktree of which everything is kept; return what is left of it, as a sentence.

    Args:
        git: in the worktree.
        before: what `see` said before anybody looked at what has to be kept.

    Raises:
        Changed: somebody has written since. Nothing was removed.
        GitRefused: git does not do it. Nothing was removed.
    """
    outside, own = await _places(git)
    aside = git.folder.with_name(f"{git.folder.name}.removed-{secrets.token_hex(4)}")
    try:
        git.folder.rename(aside)
    except OSError as error:
        raise GitRefused(
            f"{git.folder} cannot be moved aside, so it stays: {error.strerror}; check who may write to {aside.parent}"
        ) from None
    try:
        now = Seen(await asyncio.to_thread(_traced, aside), await _said(outside, own))
        if now != before:
            raise Changed(
                "somebody wrote into the worktree meanwhile, so it stays; look again, then repeat it"
            )
        await outside.ask("worktree", "remove", "--force", str(git.folder))
    except BaseException:
        _move_back(aside, git.folder)
        raise
    try:
        await asyncio.to_thread(shutil.rmtree, aside)
    except OSError as error:
        return f"Some files stay in {aside}: {error.strerror}. Everything in them is kept; delete them."
    return None


def _move_back(aside: Path, folder: Path) -> None:
    try:
        aside.rename(folder)
    except OSError as error:
        raise GitRefused(
            f"{folder} stays, and lies in {aside} now, since its own place is taken ({error.strerror}); move it back yourself"
        ) from None
