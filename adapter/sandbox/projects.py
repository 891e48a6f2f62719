"""What of Claude Code's own folder belongs to one project: a sandbox shows that part alone.

Conversations lie in a folder for each project. Other folders (todos, backups of files) hold those of all projects, by the id of a
conversation. A sandbox gets a private one in their place. It begins with what this project's conversations have, and at the end what they have
newly is put beside the others.
"""

import logging
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

log = logging.getLogger(__name__)

PRIVATE = ".turnwire"
"""Name of the folder, beside the shared ones, in which the private ones are."""

MOST_FILES = 20_000
LARGEST = 64 << 20
"""Files that are taken in or out at once, and bytes of one."""

LONGEST = 200
"""Characters of a project's name that Claude Code takes; a longer one ends with a digest."""


def folder_of(project: str) -> str:
    """Return the name of a project's folder, as Claude Code makes it of a path."""
    return re.sub(r"[^a-zA-Z0-9]", "-", project)[:LONGEST]


def roots_of(workspace: str, repositories: Sequence[str] = ()) -> list[str]:
    """Return the folders by which a project is known: the workspace, the top of its repository, and the repository of a worktree."""
    tops = (str(one) for one in (Path(workspace), *Path(workspace).parents) if os.path.lexists(one / ".git"))
    return list(dict.fromkeys((workspace, *list(tops)[:1], *map(os.path.dirname, repositories))))


def folders_in(projects: str, roots: Sequence[str]) -> list[str]:
    """Return what of the conversations' folder is shown, made if missing: all of the workspace's part, and the memory of its repository's."""
    own, *others = roots
    name = folder_of(own)
    found = [f"{projects}/{name}"]
    if len(name) == LONGEST:
        found += [f"{projects}/{one}" for one in sorted(os.listdir(projects)) if one.startswith(f"{name}-")]
    found += [f"{projects}/{folder_of(one)}/memory" for one in others]
    for one in found:
        Path(one).mkdir(mode=0o700, parents=True, exist_ok=True)
    return [os.path.realpath(one) for one in found]


def own_ids(projects: str, roots: Sequence[str]) -> set[str]:
    """Return the ids of a project's conversations. One that another project has too is not its own."""
    own = set(folders_in(projects, roots[:1]))
    found = {one[:-6] for folder in own for one in os.listdir(folder) if one.endswith(".jsonl")}
    for entry in os.scandir(projects):
        if found and entry.is_dir(follow_symlinks=False) and os.path.realpath(entry.path) not in own:
            found -= {one[:-6] for one in os.listdir(entry.path)}
    return found


def take_in(shared: str, private: str, ids: set[str]) -> None:
    """Copy what conversations have in a shared folder into the private one, as far as it is not there. Raises OSError."""
    Path(shared).mkdir(mode=0o700, parents=True, exist_ok=True)
    Path(private).mkdir(mode=0o700, parents=True, exist_ok=True)
    _copy(shared, private, ids)


def take_back(private: str, shared: str, ids: set[str]) -> None:
    """Copy what conversations have in a private folder back; raises OSError."""
    _copy(private, shared, ids)


def _copy(source: str, target: str, ids: set[str]) -> None:
    starts = tuple(f"{own}{end}" for own in ids for end in "-.")
    names = [one for one in os.listdir(source) if one in ids or one.startswith(starts)]
    for number, path in enumerate(_files(source, names)):
        if number >= MOST_FILES:
            log.warning("too many files of conversations for a sandbox", extra={"folder": source})
            return
        there = f"{target}/{path}"
        # the agent may have put a link or a pipe there
        reading = os.open(f"{source}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(reading, "rb") as file:
            about = os.fstat(reading)
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                continue
            if os.path.lexists(there) and os.lstat(there).st_mtime_ns >= about.st_mtime_ns:
                continue
            Path(there).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.path.realpath(os.path.dirname(there)) != os.path.dirname(there):
                continue
            aside = f"{there}.turnwire"
            with open(aside, "wb", opener=_private) as copy:
                shutil.copyfileobj(file, copy)
            os.utime(aside, ns=(about.st_atime_ns, about.st_mtime_ns))
            os.replace(aside, there)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _files(top: str, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        path = f"{top}/{name}"
        if os.path.islink(path):
            continue
        if not os.path.isdir(path):
            yield name
            continue
        for folder, _, inner in os.walk(path):
            yield from (
                os.path.relpath(f"{folder}/{one}", top)
                for one in inner
                if not os.path.islink(f"{folder}/{one}")
            )
