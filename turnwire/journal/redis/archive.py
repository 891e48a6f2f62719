"""Old events of quiet sessions: from Redis into files, and read from there.

The owner of a log writes a file with all of its events. One script then names the file in the log's state and drops the
events from Redis, unless the log is another by now. So every event is in one of the two places. New events go to Redis
as before. When the session is quiet again, a new file takes the place of the old one. Reading changes nothing.

A file that no log names is left from a process that ended in between, or was replaced. It is removed an hour later.
"""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote

from msgspec import Struct

from turnwire._runtime.private_files import make_private, open_private
from turnwire.journal.base import JournalUnavailable, Retention
from turnwire.journal.redis.archive_file import (
    ArchivedEvent,
    ArchiveUnreadable,
    ArchiveWriter,
    Part,
    PartLimits,
    read_index,
    read_part,
    sync_folder,
)
from turnwire.journal.redis.server import ArchiveReference, RedisServer
from turnwire.journal.timestamps import MICROSECONDS

log = logging.getLogger(__name__)

PART_BYTES = 4 << 20
"""Most bytes of events in a part, before compression."""
SHARE = 64
"""A part has at most this share of what retention keeps, 1 / SHARE."""
PAGE_BYTES = 1 << 20
"""What is read from Redis in one request, about."""
LEFT_S = 3600.0
"""How long a file stays that no log names: readers may still have it open, and a backup of Redis may name it."""
CACHED = 4
"""Parts that are held in memory for the next pages of their readers."""
_LONGEST_NAME = 180
_ENDING = ".archive"
_IDENTITY = "archive-id"

_T = TypeVar("_T")


class _Found(Struct, frozen=True):
    """A file in the folder."""

    path: Path
    session: str
    fence: int


class Archive:
    """The folder with the files of one fleet."""

    def __init__(
        self, server: RedisServer, folder: Path, after_s: float | None, retention: Retention
    ) -> None:
        """`after_s`: how many seconds a session is quiet before its events go to a file; None moves nothing, and only reads."""
        self._server = server
        self._folder = folder
        self.after_s = after_s
        self._limits = _limits(retention)
        self._cache: dict[tuple[str, int], Sequence[ArchivedEvent]] = {}
        self._indexes: dict[tuple[str, int], list[Part]] = {}
        """Indexes of the files that were read last."""
        self._reaches: dict[str, int] = {}
        """Newest number of each session that is known to be in a file."""
        self._moved: dict[str, tuple[int, int]] = {}
        """Ends of the logs that are in files as a whole: the last number, and the last one of the first part."""
        self._failing: dict[str, str] = {}
        self._swept_at = -LEFT_S
        self._moving = asyncio.Lock()

    # --- reading ---

    def reaches(self, session: str, seq: int) -> bool:
        """Tell whether a number was seen in a file before."""
        return seq <= self._reaches.get(session, 0)

    async def read(self, session: str, after: int, last: int, count: int, size: int) -> list[ArchivedEvent]:
        """Return events that follow a number from the session's file, at most `count` of about `size` bytes, at least one if any.

        Raises ArchiveUnreadable, which names the file, and RedisError.
        """
        before: ArchiveReference | None = None
        while (reference := await self._server.archive_of(session)) is not None:
            self._reaches[session] = reference.last
            if after >= reference.last:
                return []
            try:
                newest = min(last, reference.last)
                return await self._from_parts(session, reference, after, newest, count=count, size=size)
            except FileNotFoundError:
                if before == reference:
                    raise ArchiveUnreadable(self._missing(session, reference)) from None
                # The log may have another file by now.
                before = reference
        self._reaches.pop(session, None)
        return []

    async def _from_parts(
        self, session: str, reference: ArchiveReference, after: int, last: int, *, count: int, size: int
    ) -> list[ArchivedEvent]:
        rows: list[ArchivedEvent] = []
        for part in await self._index(session, reference.name):
            if part.last <= after:
                continue
            for row in await self._part(session, reference.name, part):
                if row.seq <= after:
                    continue
                size -= len(row.event)
                is_next = not rows or row.seq == rows[-1].seq + 1
                if row.seq > last or len(rows) >= count or (rows and size < 0) or not is_next:
                    return rows
                rows.append(row)
        return rows

    async def _index(self, session: str, name: str) -> list[Part]:
        key = (name, 0)
        if (known := self._indexes.get(key)) is None:
            known = await asyncio.to_thread(read_index, self._folder / name, session)
            _hold(self._indexes, key, known)
        return known

    async def _part(self, session: str, name: str, part: Part) -> Sequence[ArchivedEvent]:
        key = (name, part.first)
        if (known := self._cache.get(key)) is None:
            known = await asyncio.to_thread(read_part, self._folder / name, session, part)
            _hold(self._cache, key, known)
        return known

    def _missing(self, session: str, reference: ArchiveReference) -> str:
        return (
            f"Old events of session {session!r}, up to number {reference.last}, are in the file {self._folder / reference.name}, which is not "
            f"there. The machine {reference.host!r} wrote it. All workers and hubs must share one archive_dir: mount it here, or put the file "
            "back from a backup, or delete the session. New events of the session and all other sessions are unaffected."
        )

    # --- moving ---

    async def begin(self) -> None:
        """See that files can be written; raises JournalUnavailable."""
        try:
            await asyncio.to_thread(identity_of, self._folder)
        except OSError as error:
            raise JournalUnavailable(
                f"The directory {self._folder} (archive_dir) cannot be used for old events: {error.strerror or error}. Correct it, or name "
                "another one that all workers and hubs share."
            ) from error

    def is_moved(self, session: str, first: int, last: int) -> bool:
        """Tell whether all events of a log are known to be in a file, and no part of it was dropped since."""
        return first > last or (
            session in self._moved and self._moved[session][0] == last and first <= self._moved[session][1]
        )

    async def move(self, session: str, fence: int) -> None:
        """Move all events of a log into a file. What fails is logged once, and tried again by the next call.

        Raises RedisError, and OSError where no file can be written.
        """
        try:
            async with self._moving:
                await self._move(session, fence)
        except ArchiveUnreadable as error:
            self._fail(session, str(error))
        except OSError as error:
            self._fail(
                session,
                f"{self._folder} (archive_dir) takes no files: {error.strerror or error}. Correct it.",
            )
            raise
        else:
            self._failing.pop(session, None)

    def _fail(self, session: str, why: str) -> None:
        if self._failing.get(session) != why:
            log.error(
                "a session's events stay in Redis: they cannot be moved into a file",
                extra={"session": session, "error": why},
            )
        self._failing[session] = why

    async def _move(self, session: str, fence: int) -> None:
        quoted = quote(session, safe="")
        if len(quoted) > _LONGEST_NAME:
            return  # no name of a file; turnwire's own ids have twelve characters
        state = (await self._server.states(session)).get(session)
        if state is None or state.deleted or state.extent.first > state.extent.last:
            return
        first, last = state.extent.first, state.extent.last
        former = await self._server.archive_of(session)
        parts: list[Part] = []
        if former is not None:
            try:
                parts = await self._index(session, former.name)
            except FileNotFoundError:
                raise ArchiveUnreadable(self._missing(session, former)) from None
            if former.last == last and former.first_part == parts[0].last:
                self._moved[session] = (last, former.first_part)
                return
        name = f"{quoted}.{fence}.{secrets.token_hex(4)}{_ENDING}"
        path = self._folder / name
        writer = await _in_thread(
            partial(ArchiveWriter, path.with_name(f"{name}.tmp"), session, self._limits)
        )
        try:
            place = first - 1
            if former is not None:
                for part in parts:
                    if part.last > place:
                        rows = await _in_thread(partial(read_part, self._folder / former.name, session, part))
                        await _in_thread(partial(writer.add, [row for row in rows if row.seq > place]))
                place = max(place, former.last)
            count = max(1, min(512, PAGE_BYTES * (last - first + 1) // max(1, state.extent.size)))
            while place < last and (found := await self._server.rows(session, place, last, count)):
                await _in_thread(partial(writer.add, found))
                place = found[-1].seq
            parts = await _in_thread(partial(writer.finish, path))
        finally:
            await _in_thread(writer.close)
        if not parts or not await self._server.set_archive(
            session, last, name, parts, "" if former is None else former.name
        ):
            # There is nothing to be moved, or it was appended to meanwhile, or deleted, or is another worker's.
            await _in_thread(partial(path.unlink, missing_ok=True))
            return
        self._moved[session], self._reaches[session] = (last, parts[0].last), last
        log.info("the events of a quiet session are in a file now", extra={"session": session, "file": name})
        if former is not None:
            await _in_thread(partial(_touch, self._folder / former.name))

    # --- removing ---

    async def forget(self, session: str) -> None:
        """Remove the files of a deleted session."""
        self._moved.pop(session, None)
        self._reaches.pop(session, None)
        try:
            for found in await _in_thread(partial(_files, self._folder)):
                if found.session == session:
                    await _in_thread(partial(found.path.unlink, missing_ok=True))
        except OSError as error:
            log.warning(
                "a file of a deleted session could not be removed; a worker tries again within the hour",
                extra={"session": session, "error": str(error)},
            )

    async def sweep(self, *, at_once: bool = False) -> None:
        """Remove files that no log names, once an hour. Raises RedisError and OSError."""
        if not at_once and time.monotonic() < self._swept_at + LEFT_S:
            return
        self._swept_at = time.monotonic()
        old = time.time() - LEFT_S
        left = await _in_thread(partial(_older, self._folder, old))
        for start in range(0, len(left), 500):
            some = left[start : start + 500]
            named = await self._server.archives([(found.session, found.fence) for found in some])
            for found, name in zip(some, named, strict=True):
                if name is not None and name != found.path.name:
                    await _in_thread(partial(found.path.unlink, missing_ok=True))


def identity_of(folder: Path, *, makes: bool = True) -> str:
    """Return the id of a folder, made at random at its first use: two machines that have the same one share it.

    Without `makes` an empty string where there is none. Raises OSError.
    """
    path = folder / _IDENTITY
    if makes:
        make_private(folder)
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        if not makes:
            return ""
    made = folder / f"{_IDENTITY}.{secrets.token_hex(4)}.tmp"
    with os.fdopen(open_private(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="ascii") as file:
        file.write(f"{secrets.token_hex(16)}\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(made)
    except FileExistsError:
        pass  # another one was first
    finally:
        made.unlink()
    sync_folder(folder)
    return path.read_text(encoding="ascii").strip()


def _limits(retention: Retention) -> PartLimits:
    count, size, age = retention.max_count, retention.max_bytes, retention.max_age_s
    return PartLimits(
        count=None if count is None else max(1, count // SHARE),
        size=PART_BYTES if size is None else min(PART_BYTES, max(1, size // SHARE)),
        micros=None if age is None else int(age * MICROSECONDS / SHARE),
    )


def _files(folder: Path) -> list[_Found]:
    found: list[_Found] = []
    if not folder.exists():
        return found
    for path in folder.iterdir():
        name = path.name
        session, _, rest = name.removesuffix(".tmp").removesuffix(_ENDING).rpartition(".")[0].rpartition(".")
        if session and rest.isdigit() and _ENDING in name:
            found.append(_Found(path, unquote(session), int(rest)))
    return found


def _older(folder: Path, than: float) -> list[_Found]:
    return [found for found in _files(folder) if _written(found.path) < than]


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except FileNotFoundError:
        pass


def _hold(cache: dict[tuple[str, int], _T], key: tuple[str, int], value: _T) -> None:
    cache[key] = value
    while len(cache) > CACHED:
        del cache[next(iter(cache))]


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Do it in a thread and wait for its end, also when cancelled: a file is not closed under the one who writes it."""
    doing = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise
