"""Take back uncommitted changes of one file, or one hunk of them. Git keeps what was there before as an object."""

import asyncio
import os
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from msgspec import Struct

from turnwire.adapter.workspace.changes import UnknownFile
from turnwire.adapter.workspace.git import Changed, Git, GitRefused

DEADLINE = 60.0
"""Seconds that git may take."""

_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


class Reverted(Struct, frozen=True):
    """What was there before."""

    backup: str | None
    """Id of the object with the content before; None for a file that was deleted."""
    restore: str | None
    """The command that writes it back, in the workspace."""


async def revert(
    workspace: Path,
    environment: Mapping[str, str],
    path: str,
    *,
    old_path: str | None = None,
    version: str | None = None,
    hunk: str | None = None,
) -> Reverted:
    """Revert a file to the last commit.

    Args:
        workspace: where its paths begin.
        environment: of git.
        path: the file.
        old_path: the path before, of a renamed file.
        version: its version as `workspace.diff` told it.
        hunk: take back this one alone: a hunk of a unified diff.

    Raises:
        UnknownFile: there is no such changed file.
        Changed: it was written since.
        GitRefused: git does not do it; nothing has changed.
        TimeoutError: git took too long.
    """
    for name in (path, *([old_path] if old_path else [])):
        _check(workspace, name)
    git = Git(workspace, {**environment, **_LITERAL})
    async with asyncio.timeout(DEADLINE):
        if await asyncio.to_thread(_version, workspace / path) != version:
            raise Changed(f"{path!r} was written since it was shown; look again, then repeat it")
        said = await git(
            *("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"),
            *("--ignore-submodules=dirty", "--", path),
        )
        if not said.is_ok:
            raise GitRefused(f"git cannot tell of {path!r}: {said.words}")
        if not said.fields():
            raise UnknownFile(f"{path!r} is not a changed file of the workspace")
        if "U" in said.fields()[0][:2]:
            raise GitRefused(f"{path!r} is in the middle of a merge; resolve or abort that first")
        backup = await _keep(git, workspace / path)
        prefix = await git.ask("rev-parse", "--show-prefix")
        if hunk is not None:
            await _revert_hunk(git, prefix + path, hunk)
        else:
            await _revert_file(git, workspace, path)
            if old_path is not None:
                await git.ask("checkout", "HEAD", "--", old_path)
    return Reverted(backup, None if backup is None else f"git cat-file blob {backup} > {_quoted_word(path)}")


async def _revert_file(git: Git, workspace: Path, path: str) -> None:
    mode = await git.tells("ls-tree", "--format=%(objectmode)", "HEAD", "--", path)
    if mode == "160000":
        raise GitRefused(f"{path!r} is a submodule; check out its commit there")
    if mode:
        await git.ask("checkout", "HEAD", "--", path)
        return
    if await git.tells("ls-files", "--error-unmatch", "--", path) is not None:
        await git.ask("rm", "--cached", "--quiet", "--force", "--", path)
    place = workspace / path
    if not await asyncio.to_thread(lambda: place.is_dir() and not place.is_symlink()):
        await asyncio.to_thread(place.unlink, missing_ok=True)


async def _revert_hunk(git: Git, path: str, hunk: str) -> None:
    if not hunk.startswith("@@ "):
        raise GitRefused("this is no hunk; send one as `workspace.diff` shows it, from its @@ line on")
    if any(line.startswith("@@ ") for line in hunk.split("\n")[1:]):
        raise GitRefused("these are several hunks; send one")
    top = git.at(Path(await git.ask("rev-parse", "--show-toplevel")))
    ended = hunk if hunk.endswith("\n") else f"{hunk}\n"
    patch = f"--- {_quoted(f'a/{path}')}\n+++ {_quoted(f'b/{path}')}\n{ended}"
    body = patch.encode("utf-8", "surrogateescape")
    said = await top("apply", "--reverse", "--whitespace=nowarn", "-", body=body)
    if not said.is_ok:
        raise Changed(f"the hunk no longer fits the file; reload the changes and try again: {said.words}")


async def _keep(git: Git, place: Path) -> str | None:
    """Store a file's content unchanged as a git object and return its id; None without a file."""

    def read() -> bytes | None:
        try:
            found = os.lstat(place)
        except OSError:
            return None
        if stat.S_ISLNK(found.st_mode):
            return os.fsencode(place.readlink())
        return place.read_bytes() if stat.S_ISREG(found.st_mode) else None

    content = await asyncio.to_thread(read)
    if content is None:
        return None
    said = await git("hash-object", "-w", "--no-filters", "--stdin", body=content)
    if not said.is_ok:
        raise GitRefused(f"git cannot keep what is there, so nothing was reverted: {said.words}")
    return said.output.strip()


def _check(workspace: Path, path: str) -> None:
    """Refuse what leads out of the workspace, or through a link."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path or parts[0] == ".git":
        raise UnknownFile(f"{path!r} is not a path in the workspace")
    parent = (workspace / path).parent
    if os.path.realpath(parent) != str(Path(os.path.realpath(workspace), *parts[:-1])):
        raise UnknownFile(f"{path!r} leads through a link; name the file itself")


def _version(place: Path) -> str | None:
    try:
        seen = os.lstat(place)
    except (OSError, ValueError):
        return None
    return f"{seen.st_mtime_ns:x}-{seen.st_size:x}"


def _quoted(name: str) -> str:
    """Return a name as git's patches have it."""
    if not any(one in '"\\' or ord(one) < 32 for one in name):
        return name
    escaped = "".join(
        f"\\{ord(one):03o}" if ord(one) < 32 else f"\\{one}" if one in '"\\' else one for one in name
    )
    return f'"{escaped}"'


def _quoted_word(path: str) -> str:
    import shlex  # noqa: PLC0415 - one call

    return shlex.quote(path)
