"""The SQL of logs and events: appending a group of batches, reading a page, applying retention.

All functions take a connection and run in the thread that owns it; those that write expect an open transaction.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from journal.base import Entry, Retention
from journal.sqlite.schema import SEQ_BITS
from journal.timestamps import MICROSECONDS


@dataclass(frozen=True, slots=True)
class Append:
    """Entries of one session, numbered."""

    log: int
    session: str
    first: int
    micros: int
    entries: Sequence[Entry]
    size: int


@dataclass(frozen=True, slots=True)
class Extent:
    """What a log holds."""

    first: int
    last: int
    size: int


EMPTY = Extent(1, 0, 0)
"""What a log holds that was never appended to."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A log as the file has it."""

    id: int
    session: str
    extent: Extent
    micros: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as the file has it."""

    seq: int
    micros: int
    event: bytes


def key(log: int, seq: int) -> int:
    """Return the key of an event."""
    return log << SEQ_BITS | seq


def append_all(
    connection: sqlite3.Connection, appends: Iterable[Append], retention: Retention
) -> dict[int, Extent]:
    """Write batches and apply retention by count and bytes to their logs; return what these hold then."""
    extents: dict[int, Extent] = {}
    for batch in appends:
        start = key(batch.log, batch.first)
        connection.executemany(
            "INSERT INTO event VALUES (?, ?, ?, ?)",
            [(start + i, batch.micros, entry.size, entry.event) for i, entry in enumerate(batch.entries)],
        )
        beside = [
            (start + i, entry.whole, entry.raw)
            for i, entry in enumerate(batch.entries)
            if entry.whole is not None or entry.raw is not None
        ]
        if beside:
            connection.executemany("INSERT INTO beside VALUES (?, ?, ?)", beside)
        ((first, last, size),) = connection.execute(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (id) DO UPDATE SET"
            " last = excluded.last, size = size + excluded.size, micros = excluded.micros, deleted = 0"
            " RETURNING first, last, size",
            (
                batch.log,
                batch.session,
                batch.first,
                batch.first + len(batch.entries) - 1,
                batch.size,
                batch.micros,
            ),
        ).fetchall()
        extents[batch.log] = Extent(first, last, size)
    if retention.max_count is None and retention.max_bytes is None:
        return extents
    return {log: _retain_amount(connection, log, extent, retention) for log, extent in extents.items()}


def events_after(
    connection: sqlite3.Connection, log: int, after: int, last: int, *, count: int, size: int
) -> list[EventRow]:
    """Return the events after one number and not beyond another: at most `count`, about `size` bytes, at least one."""
    rows: list[EventRow] = []
    cursor = connection.execute(
        "SELECT key, micros, event FROM event WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
        (key(log, after + 1), key(log, last), count),
    )
    base = key(log, 0)
    for number, micros, event in cursor:
        size -= len(event)
        if size < 0 and rows:
            break
        rows.append(EventRow(number - base, micros, event))
    cursor.close()
    return rows


def entry_at(connection: sqlite3.Connection, log: int, seq: int) -> Entry | None:
    """Return an entry as it was appended."""
    row = connection.execute(
        "SELECT event, whole, raw FROM event LEFT JOIN beside USING (key) WHERE key = ?", (key(log, seq),)
    ).fetchone()
    return None if row is None else Entry(*row)


def all_logs(connection: sqlite3.Connection) -> list[LogRow]:
    """Return all logs, deleted ones too: their numbers must not be given again."""
    rows = connection.execute("SELECT id, session, first, last, size, micros, deleted FROM log ORDER BY id")
    return [
        LogRow(log, session, Extent(first, last, size), micros, bool(deleted))
        for log, session, first, last, size, micros, deleted in rows
    ]


def delete_log(connection: sqlite3.Connection, session: str) -> None:
    """Delete a log's events and keep its numbering."""
    for log, last in connection.execute("SELECT id, last FROM log WHERE session = ?", (session,)).fetchall():
        _delete_events(connection, log, last + 1)
        connection.execute("UPDATE log SET first = last + 1, size = 0, deleted = 1 WHERE id = ?", (log,))


def retain_all(connection: sqlite3.Connection, retention: Retention, micros: int) -> dict[int, Extent]:
    """Apply retention to all logs at a time; return what those that changed hold then."""
    changed: dict[int, Extent] = {}
    for row in all_logs(connection):
        extent = row.extent
        if retention.max_age_s is not None:
            oldest = micros - int(retention.max_age_s * MICROSECONDS)
            extent = _cut(connection, row.id, extent, _first_since(connection, row.id, extent, oldest))
        extent = _retain_amount(connection, row.id, extent, retention)
        if extent != row.extent:
            changed[row.id] = extent
    return changed


def _retain_amount(connection: sqlite3.Connection, log: int, extent: Extent, retention: Retention) -> Extent:
    count, size = retention.max_count, retention.max_bytes
    if count is not None and extent.last - extent.first >= count:
        extent = _cut(connection, log, extent, extent.last + 1 - count + count // 16)
    if size is not None and extent.size > size:
        first = _first_without(connection, log, extent, extent.size - size + size // 16)
        extent = _cut(connection, log, extent, first)
    return extent


def _first_since(connection: sqlite3.Connection, log: int, extent: Extent, micros: int) -> int:
    row = connection.execute(
        "SELECT key FROM event WHERE key BETWEEN ? AND ? AND micros >= ? ORDER BY key LIMIT 1",
        (key(log, extent.first), key(log, extent.last), micros),
    ).fetchone()
    return extent.last + 1 if row is None else int(row[0]) - key(log, 0)


def _first_without(connection: sqlite3.Connection, log: int, extent: Extent, excess: int) -> int:
    """Return the first number to keep so that at least `excess` bytes go; the newest is always kept."""
    cursor = connection.execute(
        "SELECT key, size FROM event WHERE key BETWEEN ? AND ? ORDER BY key",
        (key(log, extent.first), key(log, extent.last)),
    )
    for number, size in cursor:
        excess -= size
        if excess <= 0:
            cursor.close()
            return min(int(number) - key(log, 0) + 1, extent.last)
    return extent.last


def _cut(connection: sqlite3.Connection, log: int, extent: Extent, first: int) -> Extent:
    if first <= extent.first:
        return extent
    size = extent.size - _delete_events(connection, log, first)
    connection.execute("UPDATE log SET first = ?, size = ? WHERE id = ?", (first, size, log))
    return Extent(first, extent.last, size)


def _delete_events(connection: sqlite3.Connection, log: int, first: int) -> int:
    """Delete what comes before a number; return how many bytes that was."""
    span = (key(log, 0), key(log, first - 1))
    (size,) = connection.execute("SELECT total(size) FROM event WHERE key BETWEEN ? AND ?", span).fetchone()
    connection.execute("DELETE FROM event WHERE key BETWEEN ? AND ?", span)
    connection.execute("DELETE FROM beside WHERE key BETWEEN ? AND ?", span)
    return int(size)
