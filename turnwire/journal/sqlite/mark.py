"""A note of the commits beside the journal. If the journal has fewer when it is opened, commits are lost.

SQLite ends its write-ahead log at the first frame with a wrong checksum, and takes everything before as complete.
So a flipped bit silently removes later commits. The mark is written after a commit and before the commit is announced,
so it claims nothing that was not committed. It is one small file, overwritten in place.
"""

import logging
import os
import sqlite3
import struct
from pathlib import Path
from zlib import crc32

from msgspec import Struct

from turnwire._runtime.private_files import open_private

log = logging.getLogger(__name__)

_FORM = struct.Struct(">8s32sqqq")
_SUM = struct.Struct(">I")
_MAGIC = b"twmark1\n"

CALLS = "calls"
"""The name under which the file counts the commits that are no events."""


class Committed(Struct, frozen=True):
    """Counts of commits in a journal."""

    epoch: str
    """Its life."""
    events: int
    """The sum of all logs' newest numbers."""
    calls: int
    """Other commits, such as records of sessions."""
    sessions: int
    """Records of sessions after the last of these."""

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> "Committed":
        """Return the counts in a file."""
        row = connection.execute(
            "SELECT (SELECT value FROM meta WHERE name = 'epoch'), (SELECT ifnull(sum(last), 0) FROM log),"
            " (SELECT ifnull(sum(CAST(value AS INTEGER)), 0) FROM meta WHERE name = ?), (SELECT count(*) FROM session)",
            (CALLS,),
        ).fetchone()
        return cls(str(row[0]), int(row[1]), int(row[2]), int(row[3]))

    def lacks(self, noted: "Committed") -> bool:
        """Tell whether this is less than was noted of the same life."""
        if self.epoch != noted.epoch:
            return False
        return (
            self.events < noted.events
            or self.calls < noted.calls
            or (self.calls == noted.calls and self.sessions != noted.sessions)
        )


def noted_of(path: Path) -> Committed | ValueError | None:
    """Return the note beside a journal; None without one. Raises ValueError for a damaged one, and OSError."""
    try:
        noted = _beside(path).read_bytes()
    except FileNotFoundError:
        return None
    if not noted:
        return None
    content = noted[: _FORM.size]
    if noted[_FORM.size :] != _SUM.pack(crc32(content)) or not content.startswith(_MAGIC):
        return ValueError("the mark is damaged")
    _, epoch, events, calls, sessions = _FORM.unpack(content)
    return Committed(epoch.decode("ascii", "replace"), events, calls, sessions)


def _beside(path: Path) -> Path:
    return path.with_name(path.name + "-mark")


class Mark:
    """The file; written by one thread at a time."""

    def __init__(self, path: Path, *, syncs: bool) -> None:
        """Open or create the mark beside the journal of this path. `syncs`: wait for the disk as commits do. Raises OSError."""
        self._path = _beside(path)
        self._fd = open_private(self._path, os.O_RDWR | os.O_CREAT)
        self._syncs = syncs
        self._failed = False

    def write(self, committed: Committed) -> None:
        """Note what was committed. A failing disk affects the note only: an older note claims less."""
        content = _FORM.pack(
            _MAGIC, committed.epoch.encode(), committed.events, committed.calls, committed.sessions
        )
        try:
            os.pwrite(self._fd, content + _SUM.pack(crc32(content)), 0)
            if self._syncs:
                os.fdatasync(self._fd)
        except OSError as error:
            if not self._failed:
                log.warning(
                    "the journal's mark cannot be written; lost commits would not be noticed",
                    extra={"path": str(self._path), "error": str(error)},
                )
            self._failed = True
        else:
            self._failed = False

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)
