"""List the files of a workspace by name, to mention them in a prompt: from git in a repository, else by a bounded walk.

What git ignores is not named; links are, but not followed. Names that are no readable text are left out: nobody could write them.
"""

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.workspace.repository import GitFailed, repository

DEADLINE = 5.0
"""Seconds that git may take, all in all."""

MAX_LIST = 32 << 20
"""Bytes of names that are read of git."""

MAX_ENTRIES = 50_000
"""Files and folders that a walk looks at."""

SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".turnwire", ".venv", "__pycache__", "node_modules", "target", "venv"}
)
"""Folders that a walk leaves out, because their files were not written by hand."""


class FileNames(Struct, frozen=True):
    """Paths from the workspace, with slashes."""

    names: Sequence[str]
    complete: bool
    """Whether these are all."""


async def file_names(
    workspace: Path,
    environment: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
    max_list: int = MAX_LIST,
    max_entries: int = MAX_ENTRIES,
) -> FileNames:
    """List the files of a workspace. Raises OSError, and TimeoutError when git takes longer than `deadline` seconds."""
    try:
        async with (
            asyncio.timeout(deadline),
            repository(workspace, environment) as there,
        ):
            said = await there.git(
                "ls-files", "--cached", "--others", "--exclude-standard", "-z", max_output=max_list
            )
    except GitFailed:
        return await asyncio.to_thread(walked, workspace, max_entries)
    names = await asyncio.to_thread(lambda: list(dict.fromkeys(filter(_is_readable, said.fields()))))
    return FileNames(names, said.is_whole)


def walked(workspace: Path, max_entries: int = MAX_ENTRIES) -> FileNames:
    """List the files below a folder, those of the uppermost folders first; raises OSError where it cannot be read."""
    found: list[str] = []
    folders = deque([""])
    left = max_entries
    while folders:
        folder = folders.popleft()
        try:
            entries = os.scandir(workspace / folder)
        except OSError:
            if folder == "":
                raise
            continue
        with entries:
            for entry in entries:
                if (left := left - 1) < 0:
                    return FileNames(found, complete=False)
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and _is_readable(entry.name):
                        folders.append(f"{folder}{entry.name}/")
                elif _is_readable(entry.name):
                    found.append(folder + entry.name)
    return FileNames(found, complete=True)


def _is_readable(name: str) -> bool:
    return name.isprintable() and not name.endswith("/") and not name.startswith(".turnwire/")


def matching(names: Iterable[str], text: str, limit: int) -> list[str]:
    """Return the names that fit what was written, the best first: its own name before its folders, short before long.

    One fits that has all the characters in this order, whatever their case.
    """
    wanted = text.casefold()
    ranked = ((_rank(name, wanted), len(name), name) for name in names)
    return [name for _, _, name in nsmallest(limit, (one for one in ranked if one[0] < _NOT))]


_NOT = 9


def _rank(name: str, wanted: str) -> int:
    path = name.casefold()
    own = path.rpartition("/")[2]
    if own.startswith(wanted):
        return 0
    if path.startswith(wanted):
        return 1
    if wanted in own:
        return 2
    if wanted in path:
        return 3
    at = 0
    for character in wanted:
        at = path.find(character, at) + 1
        if at == 0:
            return _NOT
    return 4
