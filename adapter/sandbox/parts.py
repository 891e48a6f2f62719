"""What of an agent's own places belongs to one project: a sandbox shows that part alone.

A rule says how each place is divided:

- shared: a file that all projects share, such as a login; copy: the same, of an agent that replaces it by renaming
- dashes, sha256, slug: a folder with one folder for each project, called by the project's path or by a word of the agent's
- ids: files by the ids of conversations; cwd: conversations whose first line names the project; rows: a database with all conversations
- apart: each project has its own; of a folder of the agent's, all that no other rule names

Own folders are shown as they are. Of the others a sandbox gets a private one (PRIVATE), with what this project's conversations have.
At the end what they have newly is put beside that of others.
"""

import fcntl
import hashlib
import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire.adapter.sandbox.copied_files import copy_files, plain_files
from turnwire.normalize.vocabulary import HowDivided

log = logging.getLogger(__name__)

PRIVATE = ".turnwire"
"""Name of the folder, beside the shared places, in which the private ones are."""

LONGEST = 200
"""Characters of a project's name that Claude Code takes; a longer one ends with a digest."""

FIRST_LINE = 1 << 20
"""Bytes of a conversation in which its first line must end."""

MARK = ".project_root"
"""File by which Gemini CLI knows whose a folder is."""

BY_FOLDER = frozenset({"dashes", "sha256", "slug"})
COPIED = frozenset({"ids", "cwd", "copy", "rows"})


class Part(Struct, frozen=True):
    """A place that is divided, by absolute paths."""

    shared: str
    private: str
    how: HowDivided


def folder_of(project: str) -> str:
    """Return the name of a project's folder, as Claude Code and Qwen Code make it of a path."""
    return re.sub(r"[^a-zA-Z0-9]", "-", project)[:LONGEST]


def private_name(project: str) -> str:
    """Return the name of what is private to a project; no other project has it."""
    return f"{folder_of(project)[:100]}-{_digest(project)[:12]}"


def _digest(project: str) -> str:
    return hashlib.sha256(os.fsencode(project)).hexdigest()


def roots_of(workspace: str, repositories: Sequence[str] = ()) -> list[str]:
    """Return the folders by which a project is known: the workspace, the top of its repository, and the repository of a worktree."""
    tops = (str(one) for one in (Path(workspace), *Path(workspace).parents) if os.path.lexists(one / ".git"))
    return list(dict.fromkeys((workspace, *list(tops)[:1], *map(os.path.dirname, repositories))))


def own_folders(shared: str, how: HowDivided, roots: Sequence[str]) -> list[str]:
    """Return what a sandbox shows of a folder with one folder for each project, made if missing. Raises OSError.

    It is all of the workspace's part and, where Claude Code has one, the memory of its repository's.
    """
    own, *others = roots
    if how == "slug":
        found = [one for one in _folders(shared) if _marked(one) == own]
        if not found:
            word = re.sub(r"[^a-z0-9]+", "-", os.path.basename(own).lower()).strip("-")[:40] or "project"
            found = [f"{shared}/{word}-{_digest(own)[:8]}"]
        for one in found:
            Path(one).mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(one, MARK).write_text(own, encoding="utf-8")
    else:
        name = folder_of(own) if how == "dashes" else _digest(own)
        found = [f"{shared}/{name}"]
        if len(name) == LONGEST:
            found += [one for one in _folders(shared) if os.path.basename(one).startswith(f"{name}-")]
        if how == "dashes":
            found += [f"{shared}/{folder_of(one)}/memory" for one in others]
    for one in found:
        Path(one).mkdir(mode=0o700, parents=True, exist_ok=True)
    return [os.path.realpath(one) for one in found]


def _folders(folder: str) -> list[str]:
    try:
        return sorted(one.path for one in os.scandir(folder) if one.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _marked(folder: str) -> str | None:
    path = f"{folder}/{MARK}"
    try:
        return None if os.path.islink(path) else Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None


def own_ids(projects: str, roots: Sequence[str]) -> set[str]:
    """Return the ids of a project's conversations. One that another project has too is not its own."""
    own = set(own_folders(projects, "dashes", roots[:1]))
    found = {one for folder in own for one in _ids(folder)}
    for folder in _folders(projects):
        if found and os.path.realpath(folder) not in own:
            found -= _ids(folder)
    return found


def _ids(folder: str) -> set[str]:
    names = [name for one in (folder, f"{folder}/chats") if os.path.isdir(one) for name in os.listdir(one)]
    return {one[:-6] for one in names if one.endswith(".jsonl")}


class _About(Struct, frozen=True):
    cwd: str = ""


class _First(Struct, frozen=True):
    payload: _About = _About()
    cwd: str = ""


_decode_first = msgspec.json.Decoder(_First).decode


def names_project(path: str, roots: Sequence[str]) -> bool:
    """Tell whether the first line of a conversation names one of the folders of a project."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            first = _decode_first(file.readline(FIRST_LINE))
    except (OSError, msgspec.MsgspecError, RecursionError):
        return False
    return (first.payload.cwd or first.cwd) in roots


class OwnParts:
    """The divided places of one sandbox, from its beginning to its end."""

    def __init__(self, parts: Iterable[Part], roots: Sequence[str]) -> None:
        """Take the places, and the folders by which the project is known, the workspace first."""
        self._parts = tuple(parts)
        self._roots = roots
        self._locks: list[int] = []

    def take_in(self) -> None:
        """Copy what is the project's own into its private places. Raises OSError.

        What a sandbox that was killed has left there is taken back before, unless another one of the project runs.
        """
        folders = {one.private[: one.private.index(f"/{PRIVATE}/")] for one in self._parts}
        for folder in sorted(folders):
            path = f"{folder}/{PRIVATE}/{private_name(self._roots[0])}.lock"
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._locks.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        if self._is_alone():
            self._take_back(is_alone=True)
        for number in self._locks:
            _lock(number, fcntl.LOCK_SH)
        ids = self._own_ids()
        for part in self._parts:
            Path(
                part.private if part.how in ("ids", "cwd", "apart") else os.path.dirname(part.private)
            ).mkdir(mode=0o700, parents=True, exist_ok=True)
            match part.how:
                case "ids":
                    copy_files(part.shared, part.private, _of_ids(part.shared, ids))
                case "cwd":
                    copy_files(part.shared, part.private, self._of_project(part.shared))
                case "copy":
                    top = os.path.dirname(part.shared)
                    copy_files(top, os.path.dirname(part.private), _there(part.shared))
                case "rows" if not os.path.lexists(part.private):
                    from turnwire.adapter.sandbox import rows  # noqa: PLC0415 - few agents have a database

                    rows.take_in(part.shared, part.private, self._roots)
                case _:
                    pass

    def close(self) -> None:
        """Put what is new beside that of others; what is private is removed unless another sandbox of the project needs it."""
        self._take_back(is_alone=self._is_alone())
        for number in self._locks:
            os.close(number)
        self._locks = []

    def _is_alone(self) -> bool:
        """Tell whether no other sandbox of the project runs, and let none begin or end."""
        got = [_lock(number, fcntl.LOCK_EX | fcntl.LOCK_NB) for number in self._locks]
        return all(got)

    def _take_back(self, *, is_alone: bool) -> None:
        ids = self._own_ids()
        for part in self._parts:
            if part.how not in COPIED or not os.path.lexists(part.private):
                continue
            try:
                self._take_back_one(part, ids)
            except OSError as error:
                log.warning(
                    "what is new in a sandbox's private files was not taken back; it stays there",
                    extra={"place": part.private, "reason": str(error)},
                )
            else:
                if is_alone:
                    _remove(part)

    def _take_back_one(self, part: Part, ids: set[str]) -> None:
        match part.how:
            case "ids":
                copy_files(part.private, part.shared, _of_ids(part.private, ids))
            case "cwd":
                names = self._of_project(part.private)
                copy_files(part.private, part.shared, (one for one in names if self._may_replace(part, one)))
            case "copy":
                top = os.path.dirname(part.private)
                copy_files(top, os.path.dirname(part.shared), _there(part.private))
            case "rows":
                from turnwire.adapter.sandbox import rows  # noqa: PLC0415 - as above

                rows.take_back(part.private, part.shared, self._roots)
            case _:
                pass

    def _own_ids(self) -> set[str]:
        found: set[str] = set()
        for part in self._parts:
            if part.how == "dashes" and os.path.isdir(part.shared):
                found |= own_ids(part.shared, self._roots)
        return found

    def _of_project(self, folder: str) -> Iterator[str]:
        return (one for one in plain_files(folder) if names_project(f"{folder}/{one}", self._roots))

    def _may_replace(self, part: Part, name: str) -> bool:
        there = f"{part.shared}/{name}"
        return not os.path.lexists(there) or names_project(there, self._roots)


def _of_ids(folder: str, ids: set[str]) -> Iterator[str]:
    starts = tuple(f"{own}{end}" for own in ids for end in "-.")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in (one for one in names if one in ids or one.startswith(starts)):
        if os.path.isdir(f"{folder}/{name}") and not os.path.islink(f"{folder}/{name}"):
            yield from (f"{name}/{one}" for one in plain_files(f"{folder}/{name}"))
        else:
            yield name


def _there(path: str) -> list[str]:
    return [os.path.basename(path)] if os.path.isfile(path) and not os.path.islink(path) else []


def _remove(part: Part) -> None:
    with suppress(OSError):
        if os.path.isdir(part.private) and not os.path.islink(part.private):
            shutil.rmtree(part.private)
        elif part.how == "rows":
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{part.private}{end}").unlink(missing_ok=True)
        else:
            os.unlink(part.private)


def _lock(number: int, how: int) -> bool:
    try:
        fcntl.flock(number, how)
    except OSError:
        return False
    return True
