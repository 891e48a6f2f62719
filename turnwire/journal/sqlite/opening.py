"""Open a journal file: create, recover, check or refuse it, but never silently empty it.

A new file is built under another name and renamed, so a file with the right name is always complete. SQLite
recovers a torn write-ahead log on its own. This module looks for damage that SQLite would notice much later: a file shorter
than
its page count, ends of logs that differ from the log table. All pages are verified only in files small enough
to do so in about a second. In larger ones damage in the middle shows when it is read.
"""

import logging
import os
import platform
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run
from typing import BinaryIO

from msgspec import Struct

from turnwire._runtime.private_files import make_private, open_private
from turnwire.journal.ages import AgeClock, Limits, read
from turnwire.journal.base import Durability, Retention
from turnwire.journal.rows import LogRow
from turnwire.journal.sqlite.checkpoints import EMPTYING_WAITS_S, Thresholds, checkpoint
from turnwire.journal.sqlite.errors import damaged, explain, foreign
from turnwire.journal.sqlite.lock import FileLock
from turnwire.journal.sqlite.mark import Committed, Mark, noted_of
from turnwire.journal.sqlite.rows import AGES, all_logs, key, retain_all
from turnwire.journal.sqlite.schema import bring_up_to_date, connect, lay_out, transaction
from turnwire.journal.timestamps import Clock

log = logging.getLogger(__name__)

VERIFY_UP_TO = 64 << 20
"""Bytes of a file up to which all its pages are verified on opening."""

_MAGIC = b"SQLite format 3\x00"


class OpenedFile(Struct, frozen=True):
    """An opened journal file."""

    path: Path
    lock: FileLock
    connection: sqlite3.Connection
    """For writing."""
    reading: sqlite3.Connection
    """For reading only."""
    moving: sqlite3.Connection
    """For checkpoints. Nothing else makes them while the journal is open."""
    file: BinaryIO
    """The file itself, to wait until the disk has it. To be closed after all connections: closing it lets go of SQLite's locks,
    which are the process's."""
    epoch: str
    logs: Sequence[LogRow]
    ages: AgeClock
    """The time by which events grow old."""
    mark: Mark
    """The note of commits."""
    committed: Committed
    """The counts of commits in the file."""


def open_journal(
    path: Path,
    retention: Retention,
    durability: Durability,
    clock: Clock,
    steady: Clock,
    *,
    thresholds: Thresholds,
) -> OpenedFile:
    """Lock a journal, open it or make it, and apply retention; by clocks that tell microseconds since 1970 and since some moment.

    Raises JournalUnavailable, leaving the file as it is.
    """
    with ExitStack() as undo:
        try:
            make_private(path.parent)
            lock = FileLock(path)
            undo.callback(lock.release)
            if not path.exists():
                _make(path)
            _look_at(path)
            file = undo.enter_context(os.fdopen(open_private(path, os.O_RDONLY), "rb"))
            connection = undo.enter_context(closing(connect(path)))
            bring_up_to_date(connection, path)
            _check(connection, path)
            epoch = _begin_life(connection, durability, has_lost=_has_lost(connection, path))
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute(f"PRAGMA journal_size_limit={thresholds.move}")
            with transaction(connection):
                ages = _age_clock(connection, retention, clock, steady)
                retain_all(connection, retention, ages)
            reading = undo.enter_context(closing(connect(path)))
            reading.execute("PRAGMA query_only=1")
            moving = undo.enter_context(closing(connect(path, wait_s=EMPTYING_WAITS_S)))
            # Whatever commits do: the log is on the disk before the file is changed, and the file before the log starts over.
            moving.execute("PRAGMA synchronous=FULL")
            # The log is opened with the first look, and it should be this one.
            moving.execute("PRAGMA schema_version").fetchone()
            logs, committed = all_logs(connection), Committed.of(connection)
            mark = Mark(path, syncs=durability == "power")
            undo.callback(mark.close)
            mark.write(committed)
            opened = OpenedFile(
                path, lock, connection, reading, moving, file, epoch, logs, ages, mark, committed
            )
        except (OSError, sqlite3.Error) as error:
            raise explain(path, error) from error
        except UnicodeDecodeError as error:  # SQLite quotes damaged names in what it reports
            raise damaged(path, "its tables have names that cannot be read") from error
        undo.pop_all()
        return opened


def end_life(connection: sqlite3.Connection) -> None:
    """Note that all that was accepted is in the file, and close it."""
    try:
        with transaction(connection):
            connection.execute("UPDATE meta SET value = 'yes' WHERE name = 'closed'")
        checkpoint(connection, "TRUNCATE")
    finally:
        connection.close()


def set_aside(path: Path) -> Path:
    """Rename a journal with its companions, so that a new one can begin. Returns its new path.

    Raises JournalUnavailable if a sidecar uses it.
    """
    lock = FileLock(path)
    try:
        moved = path.with_name(f"{path.name}.set-aside-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        # The write-ahead log goes first: a journal without it may lack its newest events, and would not be noticed.
        for suffix in ("-wal", "-shm", "-mark", ""):
            source = path.with_name(path.name + suffix)
            if source.exists():
                source.rename(moved.with_name(moved.name + suffix))
    except OSError as error:
        raise explain(path, error) from error
    finally:
        lock.release()
    return moved


def _make(path: Path) -> None:
    if path.with_name(path.name + "-wal").exists():
        raise damaged(path, "its write-ahead log exists but the file itself is missing")
    unfinished = path.with_name(path.name + ".new")
    for suffix in ("", "-wal", "-shm"):
        unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
    # Events tell all that an agent read and wrote.
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = connect(unfinished)
    try:
        lay_out(connection)
    finally:
        connection.close()
    unfinished.rename(path)


def _look_at(path: Path) -> None:
    # Opened for writing, too: SQLite would leave a read-only write-ahead log beside a read-only file.
    with os.fdopen(open_private(path, os.O_RDWR), "r+b") as file:
        header = file.read(100)
    if not header:
        raise damaged(path, "it is empty")
    if not header.startswith(_MAGIC):
        raise foreign(path, "it is not a SQLite database")
    if len(header) < 100:
        raise damaged(path, "it ends within its header")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    # With the write-ahead log folded in, the file's size can be compared with its page count.
    folded = checkpoint(connection, "TRUNCATE")
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    size = path.stat().st_size
    if folded and size < pages * page_size:
        raise damaged(path, f"it should have {pages * page_size} bytes but ends after {size}")
    if size <= VERIFY_UP_TO:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        if found != ["ok"]:
            raise damaged(path, "; ".join(found).replace("\n", " "))
    for log in all_logs(connection):
        first, last = log.extent.first, log.extent.last
        ends = connection.execute(
            "SELECT (SELECT min(key) FROM event WHERE key BETWEEN :low AND :high),"
            " (SELECT max(key) FROM event WHERE key BETWEEN :low AND :high)",
            {"low": key(log.id, 0), "high": key(log.id + 1, 0) - 1},
        ).fetchone()
        if ends != ((key(log.id, first), key(log.id, last)) if first <= last else (None, None)):
            raise damaged(
                path, f"the log of session {log.session!r} does not hold its events {first} to {last}"
            )


def _has_lost(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell, and say, whether the file lacks commits that were noted."""
    noted, has = noted_of(path), Committed.of(connection)
    if noted is None:
        return False
    fields: dict[str, object] = {"path": str(path)}
    if isinstance(noted, ValueError):
        log.error(
            "the journal's mark is damaged; turnwire cannot tell whether commits are lost", extra=fields
        )
        return True
    if not has.lacks(noted):
        return False
    fields |= {
        "events_lost": max(0, noted.events - has.events),
        "other_commits_lost": max(0, noted.calls - has.calls),
    }
    log.error("the journal has lost commits that frontends have seen; a new epoch begins", extra=fields)
    return True


def _begin_life(connection: sqlite3.Connection, durability: Durability, *, has_lost: bool) -> str:
    """Note that the file is open, durably; return the epoch, a new one when events were lost, or may have been."""
    meta: dict[str, str] = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    epoch, boot = meta["epoch"], _boot()
    connection.execute("PRAGMA synchronous=FULL")
    with transaction(connection):
        went_down = (
            meta["closed"] == "no" and meta["durability"] == "process" and (not boot or meta["boot"] != boot)
        )
        if went_down or has_lost:
            # Under the last writer the machine went down, or a disk has changed what was written. What was readable then
            # may not be there, so the numbers a frontend remembers may soon be those of other events.
            (epoch,) = connection.execute(
                "UPDATE meta SET value = lower(hex(randomblob(16))) WHERE name = 'epoch' RETURNING value"
            ).fetchall()[0]
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            [("boot", boot), ("closed", "no"), ("durability", durability)],
        )
    if durability == "process":
        connection.execute("PRAGMA synchronous=NORMAL")
    return str(epoch)


def _age_clock(connection: sqlite3.Connection, retention: Retention, clock: Clock, steady: Clock) -> AgeClock:
    (known,) = connection.execute("SELECT max(value) FROM meta WHERE name = ?", (AGES,)).fetchone()
    newest = max((row.micros for row in all_logs(connection)), default=0)
    return AgeClock(
        clock,
        steady,
        Limits.for_retention(retention.max_age_s),
        boot=_boot(),
        known=read(known),
        newest=newest,
    )


def _boot() -> str:
    """Return an id of this boot of the machine; empty if it is unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        pass
    if platform.system() != "Darwin":
        return ""
    said = run(
        ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=False
    )
    return said.stdout.strip()
