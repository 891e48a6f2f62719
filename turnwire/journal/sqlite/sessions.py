"""Session records in the journal's own file: one file to back up, and one writer, so a record is never ahead of it."""

import logging
import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Self

from pydantic import TypeAdapter, ValidationError

from turnwire.journal.sessions import MemorySessions, SessionRecord
from turnwire.journal.sqlite import checksums
from turnwire.journal.sqlite.journal import SqliteJournal

log = logging.getLogger(__name__)

_records = TypeAdapter(SessionRecord)


class SqliteSessions(MemorySessions):
    """A SessionStore that survives the sidecar. Reads are from memory; a put returns when it is in the file."""

    def __init__(self, journal: SqliteJournal, records: Mapping[str, SessionRecord]) -> None:
        super().__init__()
        self._writer = journal.writer
        self._records = dict(records)
        self._written = dict(records)

    @classmethod
    async def open(cls, journal: SqliteJournal) -> Self:
        """Read the records of an open journal. Raises JournalUnavailable.

        A damaged record is logged and left in place: its session is not listed, its events can still be followed.
        """
        records: dict[str, SessionRecord] = {}
        for session, record, crc in await journal.reader.call(_read_all):
            if crc is not None and checksums.of_record(session, record) != crc:
                why = "its checksum is another"
            else:
                try:
                    records[session] = _records.validate_json(record)
                    continue
                except ValidationError as error:
                    why = error.errors()[0]["msg"]
            log.error(
                "a session's record is damaged, and the session is not listed",
                extra={"path": str(journal.path), "session": session, "reason": why},
            )
        return cls(journal, records)

    async def put(self, record: SessionRecord) -> None:
        """Store a record, in memory at once and then in the file."""
        self._records[record.session] = record
        if self._written.get(record.session) == record:
            return
        # In the event loop: what cannot be written down is its caller's fault, and not the disk's.
        line = _records.dump_json(record, exclude_defaults=True)
        await self._writer.call(partial(_write, record=record, line=line))
        self._written[record.session] = record

    async def delete(self, session: str) -> None:
        """Forget a record."""
        await super().delete(session)
        await self._writer.call(partial(_delete, session=session))
        self._written.pop(session, None)


def _read_all(connection: sqlite3.Connection) -> list[tuple[str, bytes, int | None]]:
    return connection.execute("SELECT session, record, crc FROM session").fetchall()


def _write(connection: sqlite3.Connection, record: SessionRecord, line: bytes) -> None:
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET record = excluded.record, crc = excluded.crc",
        (record.session, record.created, line, checksums.of_record(record.session, line)),
    )


def _delete(connection: sqlite3.Connection, session: str) -> None:
    connection.execute("DELETE FROM session WHERE session = ?", (session,))
