"""Writes session records behind the event loop's back: the newest of each session, soon, and in the end for sure."""

import asyncio
import logging
from weakref import WeakValueDictionary

from turnwire.journal.base import JournalError
from turnwire.journal.sessions import SessionRecord, SessionStore

log = logging.getLogger(__name__)

RETRY_S = 5.0
"""How long a store that cannot be written is left alone."""


class RecordWriter:
    """Holds at most one unwritten record of each session."""

    def __init__(self, store: SessionStore, retry: float = RETRY_S) -> None:
        """`retry`: seconds that a store which cannot be written is left alone."""
        self._store = store
        self._retry = retry
        self._unwritten: dict[str, SessionRecord] = {}
        self._changed = asyncio.Event()
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By session: stores may finish two writes in either order, so there is one at a time."""

    def save(self, record: SessionRecord) -> None:
        """Have a record written soon; returns at once."""
        self._unwritten[record.session] = record
        self._changed.set()

    async def keep(self, record: SessionRecord) -> None:
        """Write a record before anything else happens; one that cannot be written now is written later."""
        self.save(record)
        await self._write(record.session)

    async def forget(self, session: str) -> None:
        """Remove a session's record, also one that is not written yet; raises JournalError."""
        async with self._alone(session):
            self._unwritten.pop(session, None)
            await self._store.delete(session)

    async def run(self) -> None:
        """Write until cancelled; what cannot be written is tried again."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.flush()
            if self._unwritten:
                await asyncio.sleep(self._retry)
                self._changed.set()

    async def flush(self) -> None:
        """Try once to write what is unwritten."""
        for session in tuple(self._unwritten):
            await self._write(session)

    def _alone(self, session: str) -> asyncio.Lock:
        return self._writing.setdefault(session, asyncio.Lock())

    async def _write(self, session: str) -> None:
        """Write the newest record of a session, unless that is written."""
        async with self._alone(session):
            if (record := self._unwritten.get(session)) is None:
                return
            try:
                await self._store.put(record)
            except JournalError as error:
                log.warning(
                    "a session's record was not written", extra={"session": session, "error": str(error)}
                )
                return
            except Exception:
                # It would fail again and again; the other sessions' records are written all the same.
                log.exception("a session's record cannot be written", extra={"session": session})
            # A newer one, saved while this one was being written, stays.
            if self._unwritten.get(session) is record:
                del self._unwritten[session]
