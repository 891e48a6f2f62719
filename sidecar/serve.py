"""A running sidecar: journal, sessions and hub, brought up in the order they need each other, and down again.

`turnwire run` and `turnwire serve` are this with and without a first session; `turnwire replay --serve` is the
same hub over recordings.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial

import structlog

from adapter.audit import AuditTrail
from adapter.watchdog import Watchdog
from hub.config import HubConfig, Limits
from hub.host import Host
from hub.hub import Hub
from hub.routes import Probes
from journal.base import Journal, Retention
from journal.memory import MemoryJournal
from journal.sessions import MemorySessions, SessionStore
from journal.sqlite import SqliteJournal
from journal.sqlite_sessions import SqliteSessions
from sidecar.host import LiveHost
from sidecar.keeper import Keeper
from sidecar.live import LiveSession, Surroundings
from sidecar.registry import Registry
from sidecar.rulebook import read_rulebook
from sidecar.settings import Settings
from sidecar.taps import Taps
from sidecar.version import VERSION

log = structlog.get_logger()

RETAIN_EVERY_S = 3600.0
"""How often events beyond the retention are dropped."""

Ready = Callable[[Hub], Awaitable[None]]
"""Called once the hub listens: to print the URL."""


class PortError(Exception):
    """The hub cannot listen; the message says where, why, and what to do."""


@asynccontextmanager
async def open_journal(settings: Settings) -> AsyncIterator[tuple[Journal, SessionStore]]:
    """Open the configured journal and the session store beside it; raises JournalUnavailable."""
    days = settings.retain_days
    retention = Retention(
        max_age_s=None if days is None else days * 86400,
        max_count=settings.retain_events,
        max_bytes=settings.retain_bytes,
    )
    journal: Journal
    sessions: SessionStore
    if settings.journal == "memory":
        journal, sessions = MemoryJournal(retention), MemorySessions()
    else:
        settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = await SqliteJournal.open(settings.state_dir / "journal.sqlite3", retention)
        journal, sessions = file, await SqliteSessions.open(file)
    try:
        yield journal, sessions
    finally:
        await journal.close()


async def serve(settings: Settings, start: Callable[[LiveHost], Awaitable[None]], ready: Ready) -> None:
    """Serve live sessions until a signal; `start` may create the first ones.

    Raises JournalUnavailable, hub.access.AccessError and PortError before anything is served, and what `start` raises.
    """
    rulebook = read_rulebook(settings.rules)
    taps = Taps(settings)
    try:
        async with open_journal(settings) as (journal, store), Watchdog.start() as watchdog:
            keeper, registry = Keeper(store), Registry[LiveSession]()
            async with _background(keeper.run(), _retaining(journal)) as tasks:
                around = Surroundings(
                    settings=settings,
                    journal=journal,
                    watchdog=watchdog,
                    audit=partial(_audit, settings),
                    spawn=tasks.create_task,
                    save=keeper.save,
                    changed=registry.changed,
                    taps=taps.of,
                )
                host = LiveHost(around, store, registry, rulebook)
                try:
                    await host.restore()
                    await with_hub(settings, journal, host, ready, start=lambda: start(host))
                finally:
                    await host.stop()
                    await keeper.flush()
    finally:
        taps.close()


async def with_hub(
    settings: Settings,
    journal: Journal,
    host: Host,
    ready: Ready,
    start: Callable[[], Awaitable[None]],
) -> None:
    """Run a hub until SIGINT or SIGTERM; raises PortError and what `start` raises."""
    probes = Probes(trouble=lambda: journal.trouble)
    hub = Hub(journal, host, hub_config(settings), version=VERSION, probes=probes)
    try:
        await hub.start()
    except OSError as error:
        where = f"{settings.host} port {settings.port}"
        raise PortError(
            f"cannot listen on {where} ({error.strerror or error}); give another with --port, or 0 for any free one"
        ) from error
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await start()
        await ready(hub)
        await stopped.wait()
    finally:
        await hub.stop()


def hub_config(settings: Settings) -> HubConfig:
    """Return the hub's part of the settings."""
    return HubConfig(
        host=settings.host,
        port=settings.port,
        token=settings.token,
        view_token=settings.view_token,
        allowed_hosts=tuple(settings.allowed_hosts),
        allowed_origins=tuple(settings.allowed_origins),
        certificate=settings.tls_certificate,
        key=settings.tls_key,
        compression=settings.compression,
        trace_url=settings.trace_url,
        limits=Limits(connections=settings.max_connections),
    )


@asynccontextmanager
async def _background(*jobs: Coroutine[None, None, None]) -> AsyncIterator[asyncio.TaskGroup]:
    """A task group with jobs that run until it is left; what else was started in it is waited for."""
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(job) for job in jobs]
        try:
            yield tasks
        finally:
            for task in running:
                task.cancel()


async def _retaining(journal: Journal) -> None:
    while True:
        await journal.retain()
        await asyncio.sleep(RETAIN_EVERY_S)


def _audit(settings: Settings, session: str) -> AuditTrail | None:
    return None if settings.journal == "memory" else AuditTrail(settings.state_dir / "audit.jsonl", session)
