"""Session records in the journal's own file: one file to back up, and one writer, so a record is never ahead of it."""

import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Self

from pydantic import TypeAdapter, ValidationError

from journal.sessions import MemorySessions, SessionRecord
from journal.sqlite.errors import damaged
from journal.sqlite.journal import SqliteJournal

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
        """Read the records of an open journal; raises JournalUnavailable when one of them is damaged."""
        records: dict[str, SessionRecord] = {}
        for session, record in await journal.reader.call(_read_all):
            try:
                records[session] = _records.validate_json(record)
            except ValidationError as error:
                raise damaged(
                    journal.path,
                    f"the record of session {session!r} cannot be read ({error.errors()[0]['msg']})",
                ) from error
        return cls(journal, records)

    async def put(self, record: SessionRecord) -> None:
        """Keep a record, in memory at once and then in the file."""
        self._records[record.session] = record
        if self._written.get(record.session) == record:
            return
        await self._writer.call(partial(_write, record=record))
        self._written[record.session] = record

    async def delete(self, session: str) -> None:
        """Forget a record."""
        await super().delete(session)
        await self._writer.call(partial(_delete, session=session))
        self._written.pop(session, None)


def _read_all(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
    return connection.execute("SELECT session, record FROM session").fetchall()


def _write(connection: sqlite3.Connection, record: SessionRecord) -> None:
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
        (record.session, record.created, _records.dump_json(record, exclude_defaults=True)),
    )


def _delete(connection: sqlite3.Connection, session: str) -> None:
    connection.execute("DELETE FROM session WHERE session = ?", (session,))
