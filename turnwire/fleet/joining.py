"""A sidecar with `worker` set: its sessions are the fleet's, and its own hub, which goes on as before, shows these alone."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from redis.exceptions import RedisError

from turnwire._runtime.version import VERSION
from turnwire.config.settings import Settings
from turnwire.fleet.messages import WorkerSummary
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.fleet.worker import Worker
from turnwire.fleet.worker_sessions import WorkerSessions
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.journal import RedisJournal
from turnwire.sessions.live_host import LiveHost


@asynccontextmanager
async def working(
    settings: Settings, name: str, host: LiveHost, journal: RedisJournal
) -> AsyncIterator[Callable[[], None]]:
    """Run as a worker as long as the context lasts. Yields a function; the worker takes commands once it is called.

    Raises JournalUnavailable and turnwire.fleet.worker.NameTaken.
    """
    store = FleetStore(settings.redis_url)
    worker = Worker(
        store,
        WorkerSessions(name, host, journal),
        partial(_about, settings, name, host),
        f"{socket.gethostname()}:{settings.state_dir.resolve()}",
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
            yield begin
            # sessions have ended by now
            await worker.leave()
    finally:
        await store.close()


def _about(settings: Settings, name: str, host: LiveHost) -> WorkerSummary:
    return WorkerSummary(
        name=name,
        version=VERSION,
        labels=settings.worker_labels,
        workspaces=[str(folder) for folder in host.workspaces()],
        agents=list(host.agents()),
        group=settings.worker_group,
        sessions=len(host.sessions()),
        max_sessions=settings.max_sessions,
        processes=host.processes,
        max_processes=settings.max_processes,
    )
