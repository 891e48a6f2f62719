"""The SQL of logs and events: appending a group of batches, reading a page, applying retention.

All functions take a connection and run in the thread that owns it; those that write expect an open transaction.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from msgspec import Struct

from turnwire.journal.ages import AgeClock, ClockState, kept, read
from turnwire.journal.base import Entry, Retention
from turnwire.journal.rows import Append, EventRow, Extent, LogRow
from turnwire.journal.sqlite import checksums
from turnwire.journal.sqlite.schema import SEQ_BITS
from turnwire.journal.timestamps import MICROSECONDS


class FoundRows(Struct, frozen=True):
    """Events of a file after a number."""

    rows: Sequence[EventRow]
    """Sound ones, without holes between them."""
    damaged: tuple[int, int] | None = None
    """The first and last number before them, or before the end of the log, that should be there and are not, or not sound."""


def key(log: int, seq: int) -> int:
    """Return the key of an event."""
    return log << SEQ_BITS | seq


def append_all(
    connection: sqlite3.Connection, appends: Iterable[Append], retention: Retention
) -> dict[int, Extent]:
    """Write batches and apply retention by count and bytes to their logs. Returns the logs' extents."""
    extents: dict[int, Extent] = {}
    for batch in appends:
        start = key(batch.log, batch.first)
        connection.executemany(
            "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
            [
                (
                    start + i,
                    batch.micros,
                    entry.size,
                    entry.event,
                    checksums.of_event(start + i, batch.micros, entry.event),
                )
                for i, entry in enumerate(batch.entries)
            ],
        )
        beside = [
            (start + i, entry.whole, entry.raw, checksums.of_beside(start + i, entry.whole, entry.raw))
            for i, entry in enumerate(batch.entries)
            if entry.whole is not None or entry.raw is not None
        ]
        if beside:
            connection.executemany("INSERT INTO beside VALUES (?, ?, ?, ?)", beside)
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
) -> FoundRows:
    """Return the events after one number and up to another: at most `count`, about `size` bytes, at least one.

    Damaged rows are skipped: the result begins after them, or ends before them.
    """
    place, rows = after, list[EventRow]()
    while not rows and place < last:
        try:
            rows, place = _sound_rows(connection, log, place, last, count=count, size=size)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            place = _beyond_damage(connection, log, place, last)
    first = rows[0].seq if rows else last + 1
    if first == after + 1:
        return FoundRows(rows)
    # What retention took is no damage.
    (kept,) = connection.execute("SELECT first FROM log WHERE id = ?", (log,)).fetchone() or (last + 1,)
    begin = max(after + 1, kept)
    return FoundRows(rows, (begin, first - 1) if begin < first else None)


def _sound_rows(
    connection: sqlite3.Connection, log: int, after: int, last: int, *, count: int, size: int
) -> tuple[list[EventRow], int]:
    """Return the first run of sound rows, and where to go on when there is none; raises sqlite3.DatabaseError."""
    rows: list[EventRow] = []
    cursor = connection.execute(
        "SELECT key, micros, event, crc FROM event WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
        (key(log, after + 1), key(log, last), count),
    )
    base, passed, seen = key(log, 0), after, 0
    try:
        for number, micros, event, crc in cursor:
            seen += 1
            is_sound = checksums.is_sound(number, micros, event, crc)
            if rows and not (is_sound and number - base == rows[-1].seq + 1):
                break
            passed = number - base
            if is_sound:
                size -= len(event)
                if size < 0 and rows:
                    break
                rows.append(EventRow(passed, micros, event))
    except sqlite3.DatabaseError as error:
        if not _is_damage(error) or (passed == after and count == 1):
            raise
        if passed == after:
            # Python steps on before it hands out a row: the first one may be good, and the second one is not.
            return _sound_rows(connection, log, after, last, count=1, size=size)
        # What came before the broken page is good, and what is behind it is for the next look.
        return rows, passed
    finally:
        cursor.close()
    return rows, passed if seen == count else last


def _beyond_damage(connection: sqlite3.Connection, log: int, after: int, last: int) -> int:
    """Return the number after which the file is readable again, if the event after `after` is not.

    A broken page takes all its events along, and SQLite cannot say how many. The search doubles its steps until
    one succeeds. Then it searches between the last failed step and the first successful one.
    """
    failed, step = after + 1, 1
    while failed < last:
        tried = min(failed + step, last)
        if _is_readable(connection, log, tried, last):
            while tried - failed > 1:
                middle = (tried + failed) // 2
                if _is_readable(connection, log, middle, last):
                    tried = middle
                else:
                    failed = middle
            return tried - 1
        failed, step = tried, step * 2
    return last


def _is_readable(connection: sqlite3.Connection, log: int, seq: int, last: int) -> bool:
    try:
        connection.execute(
            "SELECT key, micros, event, crc FROM event WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1",
            (key(log, seq), key(log, last)),
        ).fetchone()
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise
        return False
    return True


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Tell a broken page from trouble of the disk, which may pass."""
    code = getattr(error, "sqlite_errorcode", None)
    # Without a code it is Python that cannot make a value of what the row has.
    return code is None or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def entry_at(connection: sqlite3.Connection, log: int, seq: int) -> tuple[Entry | None, bool]:
    """Return an entry as it was appended, if it is there and sound, and whether it is damaged."""
    number = key(log, seq)
    try:
        row = connection.execute(
            "SELECT micros, event, event.crc, whole, raw, beside.crc, beside.key IS NULL"
            " FROM event LEFT JOIN beside USING (key) WHERE key = ?",
            (number,),
        ).fetchone()
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise
        return None, True
    if row is None:
        return None, False
    micros, event, crc, whole, raw, crc_beside, alone = row
    if not checksums.is_sound(number, micros, event, crc):
        return None, True
    if not alone and not checksums.is_sound_beside(number, whole, raw, crc_beside):
        return None, True
    return Entry(event, whole, raw), False


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


AGES = "ages"
"""Key of the stored facts about the clocks."""
WITNESS_EVERY = 600 * MICROSECONDS
"""How often they are stored, in microseconds."""


def retain_all(connection: sqlite3.Connection, retention: Retention, ages: AgeClock) -> dict[int, Extent]:
    """Apply retention to all logs; return the new contents of the changed ones."""
    changed: dict[int, Extent] = {}
    micros = 0 if retention.max_age_s is None else ages()
    _keep(connection, ages.witness)
    for row in all_logs(connection):
        extent = row.extent
        if retention.max_age_s is not None:
            oldest = micros - int(retention.max_age_s * MICROSECONDS)
            extent = _cut(connection, row.id, extent, _first_since(connection, row.id, extent, oldest))
        extent = _retain_amount(connection, row.id, extent, retention)
        if extent != row.extent:
            changed[row.id] = extent
    return changed


def _keep(connection: sqlite3.Connection, witness: ClockState) -> None:
    (text,) = connection.execute("SELECT max(value) FROM meta WHERE name = ?", (AGES,)).fetchone()
    before = read(text)
    if before is not None and before.boot == witness.boot and witness.steady - before.steady < WITNESS_EVERY:
        return
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (AGES, kept(witness)))


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
    """Return the first number to keep so that at least `excess` bytes are deleted. The newest event is always kept."""
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
    """Delete the events before a number. Returns their bytes."""
    span = (key(log, 0), key(log, first - 1))
    (size,) = connection.execute("SELECT total(size) FROM event WHERE key BETWEEN ? AND ?", span).fetchone()
    connection.execute("DELETE FROM event WHERE key BETWEEN ? AND ?", span)
    connection.execute("DELETE FROM beside WHERE key BETWEEN ? AND ?", span)
    return int(size)
