"""A sidecar with `worker` set: its sessions are the fleet's, and its own hub, which goes on as before, shows these alone."""

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from redis.exceptions import RedisError

from turnwire._runtime.private_files import read_private, write_private
from turnwire._runtime.version import VERSION
from turnwire.config.settings import Settings
from turnwire.fleet.log_ends import LogEnds
from turnwire.fleet.messages import WorkerSummary
from turnwire.fleet.spending import FleetSpending
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.fleet.worker import Worker
from turnwire.fleet.worker_sessions import WorkerSessions
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.archive import identity_of
from turnwire.journal.redis.journal import RedisJournal
from turnwire.sessions.live_host import LiveHost
from turnwire.tracing.metrics.measurements import LEASE_AGE, ORDERS, ROUND_TRIP, Measurement


@dataclass(frozen=True, slots=True)
class Membership:
    """What a sidecar does as a worker of a fleet."""

    begin: Callable[[], None]
    """Take commands from now on."""
    wished: Callable[[], Coroutine[None, None, None]]
    """Wait until an operator wants the worker to end."""
    drain: Callable[[], Coroutine[None, None, None]]
    """Let turns end and hand sessions over, before sessions are stopped."""
    readings: Callable[[], list[Measurement]]
    """Return what the worker measures of the fleet."""


@asynccontextmanager
async def working(
    settings: Settings, name: str, host: LiveHost, journal: RedisJournal
) -> AsyncIterator[Membership]:
    """Run as a worker as long as the context lasts.

    Raises JournalUnavailable and turnwire.fleet.worker.NameTaken.
    """
    store = FleetStore(settings.redis_url, settings.redis_prefix)
    if settings.quotas:
        host.quotas.spending = FleetSpending(store, is_hub=False)
    archive = "" if settings.archive_after_s is None else identity_of(settings.archive_folder)
    worker = Worker(
        store,
        WorkerSessions(name, host, journal),
        partial(_about, settings, name, host, archive),
        place_of(settings.state_dir),
        Timing(lease_s=settings.fleet_lease_s),
    )
    try:
        try:
            await worker.register()
        except RedisError as error:
            raise JournalUnavailable(
                f"The fleet's Redis cannot be used: {error}. Check that it runs."
            ) from error
        async with worker.running() as begin:
            drain = partial(worker.drain, _drain_s(settings))
            clock = asyncio.get_running_loop().time
            yield Membership(begin, worker.wished, drain, partial(_readings, worker, clock))
            # sessions have ended by now
            LogEnds(journal.epoch, {one.session: journal.last(one.session) for one in host.sessions()}).keep(
                settings.state_dir
            )
            await worker.leave()
    finally:
        await store.close()


def _readings(worker: Worker, clock: Callable[[], float]) -> list[Measurement]:
    # Read by a thread, too, when telemetry ends.
    return [
        Measurement(LEASE_AGE, clock() - worker.renewed_at),
        Measurement(ORDERS, worker.orders),
        Measurement(ROUND_TRIP, worker.round_trip_s),
    ]


def _drain_s(settings: Settings) -> float:
    # The rest of the time is for the ends of agents.
    return min(settings.fleet_drain_s, settings.stop_timeout_s / 2)


def place_of(state_dir: Path) -> str:
    """Return the id of a state directory, made at random at its first use: names of machines and paths are not unique.

    Raises OSError where it cannot be kept.
    """
    path = state_dir / "worker-id"
    try:
        known = read_private(path, owners={os.getuid()}, follows_links=False)
    except FileNotFoundError:
        known = ""
    if not known:
        known = uuid.uuid4().hex
        write_private(path, known.encode())
    return known


def _about(settings: Settings, name: str, host: LiveHost, archive: str) -> WorkerSummary:
    return WorkerSummary(
        name=name,
        version=VERSION,
        host=socket.gethostname(),
        labels=settings.worker_labels,
        workspaces=[str(folder) for folder in host.workspaces()],
        agents=list(host.agents()),
        group=settings.worker_group,
        archive=archive,
        sessions=len(host.sessions()),
        max_sessions=settings.max_sessions,
        processes=host.processes,
        max_processes=settings.max_processes,
    )
