"""Files that a sandboxed agent leaves where programs load them by themselves: set aside at the end, for a person to keep or drop.

A mount cannot hold a place that is missing, and one deep in the workspace would keep its folders from being moved. So these places are looked at
before and after. What is new or changed goes to a name beside it that nothing loads, and a file that was there comes back. A file that a commit
had before the session, at the same place, is none of the agent's: a checkout brings such files.

A note on disk tells what was there before. It is locked as long as the session runs. Should turnwire be killed, the next session of any folder
finds the note without its lock, and sets aside what is new.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import stat
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire.adapter.workspace.git import Git, GitRefused, shown_paths
from turnwire.adapter.workspace.loaded import LoadedPlaces

log = logging.getLogger(__name__)

MOST_FOLDERS = 20_000
"""Folders of a workspace that are looked into; those at the top come first."""

MOST_FILES = 5_000
"""Files in such places that are compared."""

MOST_KEPT = 16 << 20
"""Bytes of them that are kept, to bring them back."""

MOST_COMMITS = 200
"""Commits in which a file is looked for."""

GIT_S = 20.0
"""Seconds that git may take."""

_NOTE = ".note"

SKIPPED = frozenset({".git", "node_modules"})


def loaded_in(root: str, table: LoadedPlaces, *, most: int = MOST_FOLDERS) -> list[str]:
    """Return the places of a table in a workspace, from its top; no link is followed."""
    found: list[str] = []
    level, seen = [""], 0
    while level:
        below: list[str] = []
        for folder in level:
            seen += 1
            if seen > most:
                log.warning(
                    "a workspace has too many folders to look for planted files", extra={"workspace": root}
                )
                return found
            try:
                entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if table.is_one(path):
                    found.append(path)
                elif entry.name not in SKIPPED and entry.is_dir(follow_symlinks=False):
                    below.append(path)
        level = below
    return found


class _File(Struct, frozen=True):
    """A file or a link, as it was."""

    content: bytes | None
    """None where there was no room to keep it."""
    about: tuple[int, int, int, int]
    mode: int

    def differs(self, other: "_File") -> bool:
        """Tell whether another one stands in its place."""
        if self.content is not None and other.content is not None:
            return (self.content, stat.S_IFMT(self.mode)) != (other.content, stat.S_IFMT(other.mode))
        return self.about != other.about


Files = Mapping[str, _File]
"""By their paths from the top of the workspace."""


def _files_in(root: str, places: Sequence[str]) -> dict[str, _File]:
    """Read the files and links in places."""
    found: dict[str, _File] = {}
    room = MOST_KEPT
    for path in _below(root, places):
        if len(found) >= MOST_FILES:
            log.warning("a workspace has too many files to compare", extra={"workspace": root})
            break
        whole = os.path.join(root, path)
        try:
            seen = os.lstat(whole)
            content = None
            if stat.S_ISLNK(seen.st_mode):
                content = os.fsencode(os.readlink(whole))
            elif stat.S_ISREG(seen.st_mode) and seen.st_size <= room:
                content = Path(whole).read_bytes()
        except OSError:
            continue
        room -= len(content or b"")
        found[path] = _File(
            content, (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns), seen.st_mode
        )
    return found


def _below(root: str, places: Sequence[str]) -> Iterator[str]:
    for place in places:
        whole = os.path.join(root, place)
        if os.path.islink(whole) or not os.path.isdir(whole):
            yield place
            continue
        for folder, inner, names in os.walk(whole):
            for name in (*names, *(one for one in inner if os.path.islink(os.path.join(folder, one)))):
                yield os.path.relpath(os.path.join(folder, name), root)


class _Note(Struct, frozen=True, kw_only=True):
    """What is known before a session, as a file."""

    root: str
    table: LoadedPlaces
    held: Sequence[str]
    free: frozenset[str]
    before: Mapping[str, _File]
    """Each byte of a path is one character."""
    commits: Sequence[str]
    environment: Mapping[str, str]
    """What git needs."""


class Planted:
    """What is in such places of one workspace, from before a session to its end."""

    def __init__(self, root: str, table: LoadedPlaces, held: Sequence[str], free: frozenset[str]) -> None:
        """Take the workspace, the table, absolute places that the agent cannot write, and those that it may."""
        self._root = root
        self._table = table
        self._held = held
        self._free = free
        self._before: Files = {}
        self._commits: Sequence[str] = ()
        self._noted: tuple[str, int] | None = None
        """The note, and the descriptor that locks it."""

    @classmethod
    def of_note(cls, note: _Note) -> "Planted":
        """Take up what another process has seen."""
        planted = cls(note.root, note.table, note.held, note.free)
        planted._before = {os.fsdecode(path.encode("latin-1")): file for path, file in note.before.items()}
        planted._commits = note.commits
        planted._git = Git(Path(note.root), note.environment)
        return planted

    async def look(self, environment: Mapping[str, str], notes: str | None = None) -> None:
        """See what is there before the session, and note it in a folder of notes. Raises OSError."""
        self._before = await asyncio.to_thread(lambda: _files_in(self._root, self._places()))
        given = {name: environment[name] for name in ("HOME", "PATH") if name in environment}
        self._git = Git(Path(self._root), given)
        await self._read_commits()
        if notes is not None:
            before = {os.fsencode(path).decode("latin-1"): file for path, file in self._before.items()}
            note = _Note(root=self._root, table=self._table, held=self._held, free=self._free, before=before, commits=self._commits, environment=given)  # fmt: skip
            self._noted = await asyncio.to_thread(_write_note, notes, note)

    async def _read_commits(self) -> None:
        with suppress(GitRefused, TimeoutError):
            async with asyncio.timeout(GIT_S):
                listed = await self._git.tells(
                    "for-each-ref", f"--count={MOST_COMMITS}", "--sort=-creatordate", "--format=%(objectname)"
                )
                head = await self._git.tells("rev-parse", "--verify", "--quiet", "HEAD")
                self._commits = [
                    one for one in dict.fromkeys((head or "", *(listed or "").split("\n"))) if one
                ]

    def _places(self) -> list[str]:
        found = loaded_in(self._root, self._table)
        return [
            one
            for one in found
            if not self._is_held(f"{self._root}/{one}")
            and one not in self._free
            and one.rpartition("/")[2] not in self._free
        ]

    def _is_held(self, path: str) -> bool:
        return any(path == one or path.startswith(f"{one}/") for one in self._held)

    async def set_aside(self) -> str | None:
        """Set aside what is new, and drop the note; return what to tell people of it, None where there is nothing."""
        said = await self._set_aside()
        if self._noted is not None:
            path, number = self._noted
            with suppress(FileNotFoundError):
                os.unlink(path)
            os.close(number)
            self._noted = None
        return said

    async def _set_aside(self) -> str | None:
        places = await asyncio.to_thread(self._places)
        now = await asyncio.to_thread(_files_in, self._root, places)
        new = {
            path: file
            for path, file in now.items()
            if (old := self._before.get(path)) is None or old.differs(file)
        }
        if new and self._commits:
            try:
                async with asyncio.timeout(GIT_S):
                    known = await self._committed(new)
                new = {path: file for path, file in new.items() if path not in known}
            except (GitRefused, TimeoutError) as error:
                log.warning("git cannot tell which files are new", extra={"reason": str(error)})
        if not new:
            return None
        return await asyncio.to_thread(self._move, places, new, now.keys() | self._before.keys())

    async def _committed(self, files: Files) -> set[str]:
        """Return those files that a commit from before the session has at the same place."""
        prefix = await self._git.tells("rev-parse", "--show-prefix") or ""
        asked = [(path, commit) for path in files for commit in self._commits if "\n" not in path]
        body = "".join(f"{commit}:{prefix}{path}\n" for path, commit in asked)
        said = await self._git("cat-file", "--batch-check=%(objectname)", body=os.fsencode(body))
        answers = said.output.split("\n")
        return {
            path
            for (path, commit), answer in zip(asked, answers, strict=False)
            if (content := files[path].content) is not None and _object_id(content, len(commit)) == answer
        }

    def _move(self, places: Sequence[str], new: Files, known: Collection[str]) -> str:
        """Move files to names that nothing loads, and bring back what they replaced; `known` are all files, now and before."""
        mark = f".from-sandbox-{uuid.uuid4().hex[:8]}"
        moved: list[str] = []
        failed: list[str] = []
        for place in places:
            inside = [path for path in new if _is_in(path, place)]
            if inside and all(
                path in new and path not in self._before for path in known if _is_in(path, place)
            ):
                inside = [place]  # all of it is new
            for path in inside:
                whole = os.path.join(self._root, path)
                aside = os.path.join(self._root, f"{place}{mark}{path[len(place) :]}")
                old = self._before.get(path)
                try:
                    if os.path.realpath(os.path.dirname(whole)) != os.path.dirname(whole):
                        raise OSError(0, "a link leads there")
                    os.makedirs(os.path.dirname(aside), exist_ok=True)
                    os.rename(whole, aside)
                    if old is not None and old.content is not None:
                        _bring_back(whole, old)
                except OSError as error:
                    failed.append(f"{path} ({error.strerror})")
            if inside and os.path.lexists(os.path.join(self._root, f"{place}{mark}")):
                moved.append(place)
        log.warning(
            "set aside what a sandbox has made, since programs load it; look at it",
            extra={"workspace": self._root, "places": moved, "mark": mark, "failed": failed},
        )
        said = []
        if moved:
            said.append(
                f"The agent has left files that programs load by themselves: {shown_paths(moved)}. They are set aside in {self._root}, as NAME{mark}. "
                "Read them; rename those that you want to keep, and delete the others."
            )
        if failed:
            said.append(
                f"These could not be set aside: {shown_paths(failed)}. Delete them before you work there."
            )
        return " ".join(said)


def has_notes(folder: str | None) -> bool:
    """Tell whether there are notes of sessions, running or not."""
    try:
        return folder is not None and any(one.endswith(_NOTE) for one in os.listdir(folder))
    except OSError:
        return False


async def set_aside_after_kill(folder: str | None) -> list[str]:
    """Set aside what sessions have left whose turnwire was killed; return what to tell people of it."""
    said = []
    for name in sorted(os.listdir(folder)) if folder is not None and has_notes(folder) else ():
        if not name.endswith(_NOTE):
            continue
        path = f"{folder}/{name}"
        with suppress(OSError):
            number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                note = msgspec.json.decode(await asyncio.to_thread(Path(path).read_bytes), type=_Note)
                if told := await Planted.of_note(note).set_aside():
                    said.append(told)
                os.unlink(path)
            except msgspec.MsgspecError as error:
                log.warning("a note of a sandbox cannot be read", extra={"file": path, "reason": str(error)})
            finally:
                os.close(number)
    return said


def _write_note(folder: str, note: _Note) -> tuple[str, int]:
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    path = f"{folder}/{uuid.uuid4().hex}{_NOTE}"
    number = os.open(f"{path}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        with open(number, "wb", closefd=False) as file:
            file.write(msgspec.json.encode(note))
        os.rename(f"{path}.new", path)
    except BaseException:
        os.close(number)
        raise
    return path, number


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _object_id(content: bytes, digits: int) -> str:
    """Return git's id of a file's content."""
    kind = hashlib.sha256 if digits == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(content) + content).hexdigest()


def _bring_back(path: str, old: _File) -> None:
    assert old.content is not None
    if stat.S_ISLNK(old.mode):
        os.symlink(os.fsdecode(old.content), path)
        return
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, stat.S_IMODE(old.mode))
    with os.fdopen(number, "wb") as file:
        file.write(old.content)
