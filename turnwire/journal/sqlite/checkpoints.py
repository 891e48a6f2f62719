"""Move the write-ahead log into the file, in parallel to the commits.

A checkpoint waits for the disk: for the log, and then for the file. SQLite would do it in the committing thread, and
every session would wait for a busy disk. So a separate thread does it, with its own connection, while commits and
readers continue. Under a writer that never pauses, such a checkpoint cannot restart the log. Then the writer's
thread moves the rest of a large log between two commits.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

from msgspec import Struct

log = logging.getLogger(__name__)


class Thresholds(Struct, frozen=True):
    """Sizes of the write-ahead log in bytes."""

    move: int = 16 << 20
    """Size in bytes from which the log is moved into the file, and again after growing by as much. A log that restarts is cut to
    this size, so a larger log contains something to move. 4,000 pages: each restart of the log makes one commit wait for the
    disk, and pages that are rewritten often are moved once.
    """
    empty: int = 128 << 20
    """Size in bytes from which the log is emptied between two commits, which then wait for the disk. After a crash this much is
    read in half a second.
    """
    told: int = 512 << 20
    """Size in bytes from which a log message reports that the log cannot be emptied. The cause is a reader in another program: the
    journal's own readers read a page at a time.
    """


EMPTYING_WAITS_S = 0.1
"""Seconds that emptying waits for readers; commits wait as long. A page is read in some milliseconds."""


def checkpoint(connection: sqlite3.Connection, mode: str) -> bool:
    """Checkpoint the log in SQLite's mode PASSIVE or TRUNCATE. False if others prevented it. Raises sqlite3.Error."""
    (busy, _, _) = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    return not busy


class Moved(Protocol):
    """What a checkpoint moves, and with what."""

    @property
    def path(self) -> Path:
        """The file's."""
        ...

    @property
    def file(self) -> BinaryIO:
        """The file itself."""
        ...

    @property
    def moving(self) -> sqlite3.Connection:
        """Return the connection for checkpoints only."""
        ...


class Checkpoints:
    """Owns a connection and a thread, from construction until `stop`."""

    def __init__(
        self,
        moved: Moved,
        between_commits: Callable[[Callable[[], None]], None],
        thresholds: Thresholds,
    ) -> None:
        """`between_commits` has the writer's thread run a function when no transaction is open, unless it ends before."""
        self._connection = moved.moving
        self._file = moved.file
        self._path = path = moved.path
        self._wal = f"{path}-wal"
        self._between_commits = between_commits
        self._thresholds = thresholds
        self._size = 0
        self._due_at = thresholds.move
        self._due = threading.Event()
        self._stopping = False
        self._emptying = False
        """Whether it is the writer's thread that uses the connection next, and not this one."""
        self._failed = ""
        self._thread = threading.Thread(target=self._main, name=f"checkpoint {path.name}", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """See whether it is time, after each commit."""
        size = self._wal_size()
        if size < self._size:
            # It has begun anew, and was cut.
            self._due_at = max(self._thresholds.move, size)
        self._size = size
        if size > self._due_at:
            self._due_at = size + self._thresholds.move
            self._due.set()

    def hurry(self) -> None:
        """Try now, since nothing can be written: a log that was moved is written over, which needs no more room."""
        self._due.set()

    def stop(self) -> None:
        """End after the running step, and close the connection."""
        self._stopping = True
        self._due.set()
        self._thread.join()
        self._connection.close()

    def _main(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            if self._stopping:
                return
            if not self._emptying:
                self._trying(self._move)

    def _move(self) -> None:
        checkpoint(self._connection, "PASSIVE")
        if self._wal_size() <= self._thresholds.empty:
            return
        # Beside a writer SQLite does not wait until the disk has the file. What was committed meanwhile is moved then, so that
        # little is left to do while commits stand still.
        os.fsync(self._file.fileno())
        checkpoint(self._connection, "PASSIVE")
        os.fsync(self._file.fileno())
        self._emptying = True
        self._between_commits(partial(self._trying, self._empty))

    def _empty(self) -> None:
        try:
            emptied = checkpoint(self._connection, "TRUNCATE")
        finally:
            self._emptying = False
        if not emptied and (size := self._wal_size()) > self._thresholds.told:
            log.warning(
                "the journal's write-ahead log grows, because a reader holds an old state",
                extra={"path": str(self._path), "bytes": size},
            )

    def _trying(self, step: Callable[[], None]) -> None:
        """Run a step. Log a failure once, and try again when the log has grown."""
        try:
            step()
        except (sqlite3.Error, OSError) as error:
            # No trouble of the journal: what is committed is in the log. A disk that is full or fails is told by the commits.
            if self._failed != str(error):
                self._failed = str(error)
                log.warning(
                    "the journal's write-ahead log cannot be moved into its file, and grows",
                    extra={"path": str(self._path), "error": str(error)},
                )
        else:
            self._failed = ""

    def _wal_size(self) -> int:
        try:
            return os.stat(self._wal).st_size  # noqa: PTH116 - once for each commit
        except OSError:
            return 0
