"""What an operator asks and does: who is there, who gets no sessions, who ends, whose session goes where, a restored Redis."""

import asyncio
import time
import uuid

import msgspec
from msgspec import structs

from turnwire._runtime.task_owner import heed_cancellation
from turnwire.fleet.errors import OperationRefused
from turnwire.fleet.messages import PreviousOwner, WorkerCommand, encode, worker_of
from turnwire.fleet.store import FleetStore
from turnwire.hub.host import Frontend
from turnwire.hub.wire.frames import SessionMove
from turnwire.hub.wire.results import FleetListing, FleetWorker
from turnwire.journal.plugins import DEFAULT_PREFIX
from turnwire.journal.redis.server import NOBODY, Ownership, RedisServer

LOOK_S = 0.1
"""Seconds between looks at something that nobody tells of."""


class Operator:
    """One operator at one fleet's Redis. Methods raise RedisError and OperationRefused."""

    def __init__(self, url: str, prefix: str = DEFAULT_PREFIX) -> None:
        self._store = FleetStore(url, prefix)
        self._server = RedisServer(url, prefix)

    async def close(self) -> None:
        """Close the connections."""
        await self._store.close()
        await self._server.close()

    async def status(self) -> FleetListing:
        """Return the workers of the fleet, with how many sessions each has."""
        began = time.monotonic()
        leases = await self._store.operators_view()
        took = time.monotonic() - began
        counts: dict[str, int] = {}
        for entry in (await self._store.entries()).values():
            if entry is not None:
                counts[entry.worker] = counts.get(entry.worker, 0) + 1
        workers: list[FleetWorker] = []
        for lease in leases:
            about = None
            if lease.about is not None:
                try:
                    about = worker_of(lease.about, lease.wish)
                except msgspec.DecodeError:
                    pass  # another program's, or a release that this one does not know
            workers.append(
                FleetWorker(
                    worker=lease.worker,
                    state="gone" if lease.about is None else "unknown" if about is None else about.state,
                    wish=lease.wish,
                    host="" if about is None else about.host,
                    version="" if about is None else about.version,
                    group=None if about is None else about.group,
                    labels=[] if about is None else about.labels,
                    archive="" if about is None else about.archive,
                    lease_left_s=lease.left_ms / 1000,
                    sessions=counts.get(lease.worker, 0),
                    max_sessions=0 if about is None else about.max_sessions,
                    processes=0 if about is None else about.processes,
                    orders=lease.waiting,
                )
            )
        epoch = await self._server.epoch()
        return FleetListing(redis=self._server.name, epoch=epoch, round_trip_s=took, workers=workers)

    async def wish(self, worker: str, wish: str | None) -> None:
        """Cordon or drain a worker, or let it take sessions again."""
        await self._there(worker, must_live=wish == "drain")
        await self._store.wish(worker, wish)

    async def until_gone(self, worker: str, seconds: float) -> None:
        """Wait until a worker has ended; refuses when it has not in time."""
        try:
            async with asyncio.timeout(seconds):
                while (await self._there(worker)).state != "gone":
                    heed_cancellation()
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise OperationRefused(
                f"The worker {worker!r} has not ended in {seconds:g} s; it goes on draining. `turnwire fleet list` shows it."
            ) from None

    async def forget(self, worker: str) -> None:
        """Forget the name of a worker that is gone and has no sessions."""
        known = await self._there(worker)
        if known.state != "gone" or known.sessions:
            raise OperationRefused(
                f"The worker {worker!r} is there or has {known.sessions} sessions: drain it, and move or delete its sessions first."
            )
        await self._store.forget_worker(worker)

    async def take(self, session: str, worker: str, seconds: float) -> None:
        """Have a worker take a session, whether its owner lives or not; what that one still writes is refused from then on."""
        target = await self._there(worker, must_live=True)
        entry = (await self._store.entries([session])).get(session)
        if entry is None:
            raise OperationRefused(f"The fleet has no session {session!r}.")
        if entry.record is None or entry.group is None or entry.group != target.group:
            raise OperationRefused(
                f"The worker {worker!r} does not see the files of session {session!r}: it must be in the worker_group of {entry.worker!r}."
            )
        owner = await self._server.ownership(session)
        if owner is None or owner.owner in {worker, NOBODY}:
            raise OperationRefused(f"The session {session!r} is no other worker's; there is nothing to take.")
        command = SessionMove(type="session.move", id="", session=session).model_dump_json(exclude_unset=True)
        order = WorkerCommand(
            id=f"take-{uuid.uuid4().hex}",
            hub="operator",
            command=msgspec.Raw(command.encode()),
            frontend=Frontend(name="operator", role="control"),
            adopt=PreviousOwner(worker=owner.owner, fence=owner.fence),
        )
        place = await self._store.send(worker, encode(order))
        try:
            async with asyncio.timeout(seconds):
                while not await self._is_taken(session, owner, entry.worker):
                    heed_cancellation()
                    await asyncio.sleep(LOOK_S)
                await self._tell_former(order, owner.owner)
        except TimeoutError:
            await self._store.withdraw(worker, place)
            raise OperationRefused(
                f"The worker {worker!r} has not taken session {session!r} in {seconds:g} s; its log says why."
            ) from None

    async def _tell_former(self, order: WorkerCommand, former: str) -> None:
        """Have the former owner look whose the session is; it ends what it runs of it, also where that says nothing."""
        if (await self._store.leases()).get(former) is not None:
            await self._store.send(former, encode(structs.replace(order, id=f"taken-{uuid.uuid4().hex}")))

    async def _is_taken(self, session: str, former: Ownership, listed: str) -> bool:
        """Tell whether the log and the directory name another worker; hubs go by the directory."""
        if await self._server.ownership(session) == former:
            return False
        entry = (await self._store.entries([session])).get(session)
        return entry is None or entry.worker != listed

    async def begin_epoch(self) -> str:
        """Begin a new epoch, after Redis was put back from a backup, and return it; all readers start again."""
        return await self._server.begin_epoch()

    async def _there(self, worker: str, *, must_live: bool = False) -> FleetWorker:
        known = {one.worker: one for one in (await self.status()).workers}
        found = known.get(worker)
        if found is None or (must_live and found.state == "gone"):
            names = ", ".join(name for name, one in known.items() if one.state != "gone") or "none"
            raise OperationRefused(f"There is no running worker {worker!r}. Running: {names}.")
        return found
