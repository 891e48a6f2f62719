"""The hub's directory of the fleet: sessions and workers, kept up to date from Redis.

Sessions are read once and then as the stream of changes names them; leases are looked at as often as they are renewed. A worker
is gone when its lease was missing at two looks in a row, so that a Redis that was away for a moment ends nobody.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import structs
from redis.exceptions import RedisError

from turnwire._runtime.task_owner import heed_cancellation
from turnwire.fleet.messages import WorkerSummary, decode, worker_of
from turnwire.fleet.store import DirectoryEntry, FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.wire.frames_out import SessionSummary

log = logging.getLogger(__name__)


@dataclass(slots=True)
class KnownWorker:
    """A worker, as long as it is there."""

    about: WorkerSummary
    missed: int = 0
    """Looks in a row at which it had no lease."""
    given: int = 0
    """Sessions it was sent to begin since it last told how many it has."""

    @property
    def room(self) -> int:
        """Number of further sessions that it can start, if known."""
        return self.about.room - self.given


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session, and whose it is."""

    worker: str
    fence: int
    summary: SessionSummary
    group: str | None
    """Whose workers can go on with it."""


class Directory:
    """Sessions and workers; `look_again` and `follow` keep them up to date."""

    def __init__(self, store: FleetStore, timing: Timing) -> None:
        self._store = store
        self._timing = timing
        self._watchers: list[Callable[[], None]] = []
        self.logged_out: Mapping[str, int] = {}
        """Logins that were over when somebody began to watch."""
        self._log_out: Callable[[Mapping[str, int]], None] = self._keep_logged_out
        self._gone: list[Callable[[str], None]] = []
        self.workers: dict[str, KnownWorker] = {}
        """Those that are there."""
        self.sessions: dict[str, KnownSession] = {}
        self.trouble: str | None = None
        """Why it is not up to date; None when it is."""
        self.round_trip_s = 0.0
        """How long the last look at all leases took."""
        self._place = "0-0"
        self._reading = asyncio.Lock()
        """Held from the question to what is entered, so that no older answer is entered after a newer one."""

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call the watcher after each change until the returned function is called."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def watch_gone(self, watcher: Callable[[str], None]) -> None:
        """Tell the watcher the name of each worker that is gone."""
        self._gone.append(watcher)

    def summaries(self, last: Callable[[str], int], trouble: str | None = None) -> Sequence[SessionSummary]:
        """Return all sessions as frontends list them, the oldest first; `last` has the newest number of a session's log.

        `trouble` says why events of all sessions cannot be read at present.
        """
        return [
            structs.replace(
                known.summary,
                last_seq=last(name),
                state=known.summary.state if known.worker in self.workers else "unreachable",
                trouble=trouble or known.summary.trouble,
            )
            for name, known in sorted(self.sessions.items(), key=_age)
        ]

    def watch_logins(self, watcher: Callable[[Mapping[str, int]], None]) -> None:
        """Tell the watcher which logins are over, now and whenever more are."""
        self._log_out = watcher
        watcher(self.logged_out)

    def _keep_logged_out(self, logins: Mapping[str, int]) -> None:
        self.logged_out = logins

    async def load(self) -> None:
        """Read all there is; raises RedisError."""
        self._place = await self._store.newest_change()
        async with self._reading:
            entries = await self._store.entries()
            self.sessions = {}
            self._enter(entries)
        self._log_out(await self._store.logins())
        await self.look()

    async def refresh(self, session: str) -> KnownSession | None:
        """Read one session again; raises RedisError."""
        async with self._reading:
            entries = await self._store.entries([session])
            before = self.sessions.get(session)
            self._enter(entries)
        if (now := self.sessions.get(session)) != before:
            self.tell()
        return now

    async def look(self) -> None:
        """Look which workers are there; raises RedisError."""
        began = time.monotonic()
        leases = await self._store.leases()
        self.round_trip_s = time.monotonic() - began
        for name, lease in leases.items():
            known = self.workers.get(name)
            if lease is None:
                if known is not None:
                    known.missed += 1
                    if known.missed > 1:
                        self._lose(name)
                continue
            try:
                told = worker_of(lease.about, lease.wish)
            except msgspec.DecodeError as error:
                log.warning("a worker's lease cannot be read", extra={"worker": name, "error": str(error)})
                continue
            if known is None:
                log.info("a worker has joined the fleet", extra={"worker": name})
                self.workers[name] = KnownWorker(told)
                self.tell()
            else:
                known.missed = 0
                if known.about != told:
                    known.about, known.given = told, 0

    async def look_again(self) -> None:
        """Look which workers are there, now and then, until cancelled."""
        await self._again(self._look_again)

    async def follow(self) -> None:
        """Follow what changes until cancelled."""
        await self._again(self._follow)

    async def _look_again(self) -> None:
        await asyncio.sleep(self._timing.beat_s)
        await self.look()

    async def _follow(self) -> None:
        changes = await self._store.changes(self._place, self._timing.block_ms)
        if changes is None:
            log.warning("this hub was too far behind the fleet's changes; it reads the directory again")
            await self.load()
            self.tell()
            return
        # Each is read before the place moves on: what failed is read again.
        place, changed = changes
        if changed.sessions:
            async with self._reading:
                self._enter(await self._store.entries(sorted(changed.sessions)))
            self.tell()
        if changed.workers:
            await self.look()
        if changed.logins:
            self._log_out(await self._store.logins())
        self._place = place

    async def _again(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        while True:
            heed_cancellation()
            try:
                if self.trouble is not None:
                    await self.load()
                    self.trouble = None
                    self.tell()
                await part()
            except (RedisError, OSError) as error:
                if self.trouble is None:
                    log.warning("the fleet's Redis cannot be used at present", extra={"error": str(error)})
                    self.trouble = f"The fleet's Redis cannot be used at present: {error}. It is tried again."
                    self.tell()
                await asyncio.sleep(self._timing.pause_s)
            except Exception:
                log.exception("a task of the hub's directory failed and is restarted")
                await asyncio.sleep(self._timing.pause_s)

    def _enter(self, entries: dict[str, DirectoryEntry | None]) -> None:
        for name, entry in entries.items():
            if entry is None:
                self.sessions.pop(name, None)
                continue
            try:
                summary = decode(entry.summary, SessionSummary)
            except msgspec.DecodeError as error:
                log.warning("a session's entry cannot be read", extra={"session": name, "error": str(error)})
                continue
            group = entry.group if entry.record is not None else None
            self.sessions[name] = KnownSession(entry.worker, entry.fence, summary, group)

    def _lose(self, worker: str) -> None:
        log.warning("a worker is gone; its sessions are unreachable", extra={"worker": worker})
        del self.workers[worker]
        for watcher in self._gone:
            watcher(worker)
        self.tell()

    def tell(self) -> None:
        """Tell those who watch that the list is another."""
        for watcher in tuple(self._watchers):
            watcher()


def _age(item: tuple[str, KnownSession]) -> tuple[str, str]:
    return item[1].summary.created or "", item[0]
