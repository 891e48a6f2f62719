"""A file with a session's old events: parts that are compressed one by one, then an index of them, then its checksum.

A file never changes. It is written under another name, synced, read back, and renamed. Each part and the index have a
SHA-256 that every read verifies. Numbers, times, whole events and raw lines stay as they were.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire._runtime.private_files import open_private
from turnwire.journal.base import JournalUnavailable

MAGIC = b"turnwire archive 1\n"
"""How a file begins."""
_TRAILER = 16 + 1 + 64 + 1
"""Bytes at a file's end: the length of its index in hexadecimal digits, a space, the SHA-256 of the index, a newline."""
_LARGEST_INDEX = 64 << 20
"""Bytes of an index beyond which a file is not one of ours."""


class ArchiveUnreadable(JournalUnavailable):
    """A file with old events is missing or damaged. Only its own session cannot be read."""


class ArchivedEvent(Struct, frozen=True, array_like=True, gc=False):
    """An event in a file."""

    seq: int
    micros: int
    event: bytes
    whole: bytes | None
    raw: bytes | None

    @property
    def size(self) -> int:
        """Its bytes, as retention counts them."""
        return len(self.event) + len(self.whole or b"") + len(self.raw or b"")


class Part(Struct, frozen=True, array_like=True, gc=False):
    """A part of a file: events that are read, and dropped by retention, together."""

    first: int
    last: int
    micros: int
    """Time of its newest event."""
    size: int
    """Bytes of its events, not compressed."""
    offset: int
    length: int
    """Where its bytes begin, and how many there are."""
    sha256: str


class PartLimits(Struct, frozen=True):
    """Where a part ends: retention drops whole parts, so each is a small share of what is kept."""

    count: int | None
    size: int
    micros: int | None
    """Longest time between its first and its last event."""


class _Index(Struct, frozen=True):
    session: str
    parts: list[Part]


_encode_rows = msgspec.msgpack.Encoder().encode
_decode_rows = msgspec.msgpack.Decoder(list[ArchivedEvent]).decode
_decode_index = msgspec.json.Decoder(_Index).decode


class ArchiveWriter:
    """Writes one file; may be used in another thread, one call at a time."""

    def __init__(self, path: Path, session: str, limits: PartLimits) -> None:
        """`path`: where it is written. Raises OSError."""
        self._path = path
        self._session = session
        self._limits = limits
        self._rows: list[ArchivedEvent] = []
        self._size = 0
        self._parts: list[Part] = []
        self._file = os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")
        self._file.write(MAGIC)

    def add(self, rows: Iterable[ArchivedEvent]) -> None:
        """Add events, in order. Raises OSError."""
        for row in rows:
            if self._rows and self._is_full(row):
                self._end_part()
            self._rows.append(row)
            self._size += row.size

    def finish(self, path: Path) -> list[Part]:
        """Sync the file, read it back, and give it its name. Raises OSError and ArchiveUnreadable."""
        self._end_part()
        index = msgspec.json.encode(_Index(self._session, self._parts))
        self._file.write(index)
        self._file.write(b"%016x %s\n" % (len(index), hashlib.sha256(index).hexdigest().encode()))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        parts = read_index(self._path, self._session)
        for part in parts:
            read_part(self._path, self._session, part)
        self._path.replace(path)
        sync_folder(path.parent)
        return parts

    def close(self) -> None:
        """Give up, unless it is finished: what was written is removed. Raises OSError."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _is_full(self, row: ArchivedEvent) -> bool:
        limits = self._limits
        return (
            self._size + row.size > limits.size
            or (limits.count is not None and len(self._rows) >= limits.count)
            or (limits.micros is not None and row.micros - self._rows[0].micros > limits.micros)
        )

    def _end_part(self) -> None:
        if not self._rows:
            return
        packed = zlib.compress(_encode_rows(self._rows))
        newest = max(row.micros for row in self._rows)
        where, digest = self._file.tell(), hashlib.sha256(packed).hexdigest()
        self._parts.append(
            Part(self._rows[0].seq, self._rows[-1].seq, newest, self._size, where, len(packed), digest)
        )
        self._file.write(packed)
        self._rows, self._size = [], 0


def read_index(path: Path, session: str) -> list[Part]:
    """Return the parts of a session's file. Raises ArchiveUnreadable, and FileNotFoundError where there is no file."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            if end < len(MAGIC) + _TRAILER:
                raise _damaged(path, session, "it is cut short")
            file.seek(end - _TRAILER)
            trailer = file.read(_TRAILER)
            length, digest = _trailer(trailer)
            file.seek(0)
            if file.read(len(MAGIC)) != MAGIC or not 0 < length <= min(end - _TRAILER, _LARGEST_INDEX):
                raise _damaged(path, session, "it is not a whole file of turnwire's")
            file.seek(end - _TRAILER - length)
            text = file.read(length)
        if hashlib.sha256(text).hexdigest() != digest:
            raise _damaged(path, session, "the checksum of its index is wrong")
        index = _decode_index(text)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise _damaged(path, session, str(error)) from error
    if index.session != session:
        raise _damaged(path, session, f"it has events of session {index.session!r}")
    return index.parts


def read_part(path: Path, session: str, part: Part) -> Sequence[ArchivedEvent]:
    """Return the events of a part. Raises ArchiveUnreadable, and FileNotFoundError where there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(part.offset)
            packed = file.read(part.length)
        if hashlib.sha256(packed).hexdigest() != part.sha256:
            raise _damaged(
                path, session, f"the checksum of the events {part.first} to {part.last} in it is wrong"
            )
        return _decode_rows(zlib.decompress(packed))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, zlib.error) as error:
        raise _damaged(path, session, str(error)) from error


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _trailer(trailer: bytes) -> tuple[int, str]:
    length, _, digest = trailer.partition(b" ")
    try:
        return int(length, 16), digest.rstrip(b"\n").decode("ascii")
    except ValueError:
        return 0, ""


def _damaged(path: Path, session: str, why: str) -> ArchiveUnreadable:
    return ArchiveUnreadable(
        f"Old events of session {session!r} cannot be read from the file {path}: {why}. Put the file back from a backup of archive_dir, or "
        "delete the session. New events of the session and all other sessions are unaffected."
    )
