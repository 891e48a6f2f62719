"""Writes session records behind the event loop's back: the newest of each session, soon, and in the end for sure."""

import asyncio

import structlog

from journal.base import JournalError
from journal.sessions import SessionRecord, SessionStore

log = structlog.get_logger()


class Keeper:
    """Holds at most one unwritten record of each session."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._unwritten: dict[str, SessionRecord] = {}
        self._changed = asyncio.Event()

    def save(self, record: SessionRecord) -> None:
        """Have a record written soon; returns at once."""
        self._unwritten[record.session] = record
        self._changed.set()

    async def forget(self, session: str) -> None:
        """Remove a session's record, also one that is not written yet; raises JournalError."""
        self._unwritten.pop(session, None)
        await self._store.delete(session)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write what is unwritten."""
        while self._unwritten:
            session, record = self._unwritten.popitem()
            try:
                await self._store.put(record)
            except JournalError as error:
                log.warning("a session's record was not written", session=session, error=str(error))
