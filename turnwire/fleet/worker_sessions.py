"""The live sessions of a worker. Each has an exclusive claim on its log.

Session records stay in the worker's own file. At its start it claims the logs of all of them in a new life, and
forgets those that another worker has taken. A session that it takes over from a worker that is gone comes with its
record, from the directory.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from pydantic import JsonValue

from turnwire.adapter.session.attachments import AttachmentFolder
from turnwire.fleet.log_ends import LogEnds
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary
from turnwire.journal.base import JournalUnavailable, LogUnreadable
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import NOBODY, Ownership
from turnwire.journal.sessions import SessionRecord, SessionStore
from turnwire.sessions.live_host import LiveHost

log = logging.getLogger(__name__)


class ClaimedRecords:
    """A SessionStore that lists what is still this worker's."""

    def __init__(self, store: SessionStore, journal: RedisJournal, ends: LogEnds | None = None) -> None:
        """`ends`: where the logs ended when this worker did, if it ended in order."""
        self._store = store
        self._journal = journal
        self._ends = ends or LogEnds()

    async def list(self) -> list[SessionRecord]:
        """Claim the logs of all records and return these, the oldest session first; raises JournalError.

        One whose log others have spoilt is left out, and its record kept.
        """
        claimed: list[SessionRecord] = []
        for record in await self._store.list():
            try:
                is_own = await self._journal.claim(record.session)
            except LogUnreadable:
                log.exception("a session cannot be continued", extra={"session": record.session})
                continue
            if is_own:
                claimed.append(record)
            else:
                await _let_go(self._journal, record)
                await self._store.delete(record.session)
        await self._compare(claimed)
        return claimed

    async def _compare(self, claimed: Sequence[SessionRecord]) -> None:
        """Begin a new epoch where Redis has less than it had: others' numbers would get other events."""
        if self._ends.epoch != self._journal.epoch:
            return
        for record in claimed:
            last, found = self._ends.last.get(record.session, 0), self._journal.last(record.session)
            if found < last:
                log.error(
                    "Redis has fewer events of a session than it had, as after a restore; all readers start again",
                    extra={"session": record.session, "had": last, "has": found},
                )
                await self._journal.begin_epoch()
                return

    async def put(self, record: SessionRecord) -> None:
        """Keep a record."""
        await self._store.put(record)

    async def get(self, session: str) -> SessionRecord | None:
        """Return a session's record."""
        return await self._store.get(session)

    async def delete(self, session: str) -> None:
        """Forget a record."""
        await self._store.delete(session)


class WorkerSessions:
    """Implements `turnwire.fleet.worker.WorkerHost`."""

    def __init__(self, name: str, host: LiveHost, journal: RedisJournal, *, pause_s: float = 0.1) -> None:
        """`pause_s`: how long a journal that takes nothing is left alone."""
        self._pause_s = pause_s
        self._name = name
        self._host = host
        self._journal = journal

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        """Do a command; raises CommandRefused."""
        return await self._host.execute(command, frontend)

    def sessions(self) -> Sequence[SessionSummary]:
        """Return all sessions as they are now."""
        return self._host.sessions()

    def agents(self) -> Sequence[AgentChoice]:
        """Return the agents that frontends may choose."""
        return self._host.agents()

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Tell the watcher when the list has changed."""
        return self._host.watch_sessions(watcher)

    def owns(self, session: str) -> bool:
        """Tell whether a session is here."""
        return self._host.record(session) is not None

    def fence(self, session: str) -> int:
        """Return the number of the session's owner and life."""
        return self._journal.fence(session)

    def record(self, session: str) -> bytes | None:
        """Return a session's record as JSON; None where it has had no conversation yet."""
        record = self._host.record(session)
        return None if record is None else msgspec.json.encode(record)

    async def adopt(self, session: str, record: bytes, worker: str, fence: int) -> bool:
        """Take a session whose worker is gone; False where it has another owner by now. Raises CommandRefused."""
        try:
            known = msgspec.json.decode(record, type=SessionRecord)
        except msgspec.DecodeError as error:
            raise CommandRefused(
                "cannot_start",
                f"this worker cannot read the files that the worker {worker!r} left of the session: {error}",
            ) from error
        if not await self._journal.claim(session, Ownership(worker, fence)):
            return False
        log.info("this worker takes over a session", extra={"session": session, "from": worker})
        await self._host.take_over(known)
        return True

    async def still_owns(self, session: str) -> bool:
        """Ask Redis whether a session is this worker's, in this life; raises JournalError."""
        known = await self._journal.ownership(session)
        return known is None or known == Ownership(self._name, self._journal.fence(session))

    async def journaled(self) -> None:
        """Wait until the events of a command are in the journal, however long that takes."""
        # What an agent's session has to say of a command it says in the passes of the event loop that follow.
        await asyncio.sleep(0)
        while True:
            try:
                await self._journal.flush()
            except JournalUnavailable:
                # Redis is away, which the answer waits for as well; or one session's log was refused, and the others' went.
                await asyncio.sleep(self._pause_s)
            else:
                return

    async def lost(self, session: str) -> bool:
        """Tell whether a session's log has refused what was said here, because it is another worker's by now."""
        while self._journal.has_refused(session):
            try:
                return not await self.still_owns(session)
            except JournalUnavailable:
                await asyncio.sleep(self._pause_s)
        return False

    async def abandon(self, session: str) -> None:
        """End what runs of a session that has another owner by now, or was deleted, and forget it here."""
        record = self._host.record(session)
        await self._host.abandon(session)
        if record is not None:
            await _let_go(self._journal, record)


async def _let_go(journal: RedisJournal, record: SessionRecord) -> None:
    """Remove what is left here of a session that was deleted while this worker was gone; raises JournalError."""
    owner = await journal.ownership(record.session)
    if owner is not None and owner.owner == NOBODY:
        log.warning("a session was deleted while this worker was away", extra={"session": record.session})
        # of one that went to another worker these are the other's, too
        AttachmentFolder(Path(record.workspace or "."), record.session).remove()
    else:
        log.warning("another worker took the session in the meantime", extra={"session": record.session})
