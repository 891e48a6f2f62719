"""The tables of a journal file, their version, and the migration of older files.

An event's key is `log << 40 | seq`: one b-tree without a second index, in which a log's events are adjacent and in
order. Data that was cut from an event is in a separate table, so reading a page never touches it. Times are microseconds.
"""

import sqlite3
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from turnwire.journal.sqlite.errors import foreign, too_new

APPLICATION_ID = 0x54574A31
"""Marks the file as ours, in SQLite's header."""

SEQ_BITS = 40

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    size INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE event (key INTEGER PRIMARY KEY, micros INTEGER NOT NULL, size INTEGER NOT NULL, event BLOB NOT NULL);
CREATE TABLE beside (key INTEGER PRIMARY KEY, whole BLOB, raw BLOB);
CREATE TABLE session (session TEXT PRIMARY KEY, created TEXT NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
"""


def _first_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", [("epoch", uuid.uuid4().hex), ("boot", ""), ("closed", "yes")]
    )


def _checksums(connection: sqlite3.Connection) -> None:
    # Rows that are there stay without one: to sum them up would write a large file anew, on a disk that may have no room
    # for it. What they hold is checked as far as it can be, and retention takes them in the end.
    for table in ("event", "beside", "session"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER")


MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (_first_tables, _checksums)
"""Each turns a file of version n into one of version n + 1, in a transaction of its own."""

VERSION = len(MIGRATIONS)


def connect(path: Path, *, wait_s: float = 5.0) -> sqlite3.Connection:
    """Open a connection without automatic transactions."""
    # Each connection is used by one thread at a time, though not by the one that opened it.
    connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def lay_out(connection: sqlite3.Connection) -> None:
    """Make a new, empty file a journal."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    _upgrade(connection, 0)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate an existing journal; raises JournalUnavailable when it is no journal or one of a newer turnwire."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise foreign(path, "it is a SQLite database of another program")
    version = _pragma(connection, "user_version")
    if version > VERSION:
        raise too_new(path, version, VERSION)
    _upgrade(connection, version)


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    for number, migrate in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            migrate(connection)
            connection.execute(f"PRAGMA user_version={number}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


class transaction:  # noqa: N801 - reads as the statement it is
    """A write transaction as a `with` block: committed at its end, rolled back by an exception."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._connection.execute("COMMIT")
                return
            except sqlite3.Error:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        # SQLite has rolled back by itself after some errors, such as a full disk.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
