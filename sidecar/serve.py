"""A running sidecar: journal, sessions and hub, brought up in the order they need each other, and down again.

`turnwire run` and `turnwire serve` are this with and without a first session.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import structlog

from adapter.audit import AuditTrail
from adapter.grants import GrantStore
from adapter.watchdog import Watchdog
from journal.base import Journal, JournalError
from sidecar.host import LiveHost
from sidecar.keeper import Keeper
from sidecar.listening import Ready, with_hub
from sidecar.live import LiveSession
from sidecar.metrics import Metrics
from sidecar.registry import Registry
from sidecar.rulebook import read_rulebook
from sidecar.settings import Settings
from sidecar.storage import open_journal
from sidecar.surroundings import Surroundings
from sidecar.taps import Taps

log = structlog.get_logger()

RETAIN_EVERY_S = 3600.0
"""How often events beyond the retention are dropped."""


async def serve(
    settings: Settings,
    start: Callable[[LiveHost], Awaitable[None]],
    ready: Ready,
    *,
    grants: Path,
    new_tokens: bool = False,
) -> None:
    """Serve live sessions until a signal; `start` may create the first ones. `grants` is the file of what was allowed for good.

    Raises JournalUnavailable, hub.access.AccessError and PortError before anything is served, and what `start` raises.
    """
    rulebook = read_rulebook(settings.rules)
    metrics = Metrics()
    taps = Taps(settings, metrics)
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
                    keep=keeper.keep,
                    forget=keeper.forget,
                    changed=registry.changed,
                    taps=taps.of,
                    grants=None if settings.journal == "memory" else GrantStore(grants),
                )
                journal.watch_trouble(registry.changed)
                host = LiveHost(around, store, registry, rulebook)
                try:
                    await host.restore()
                    await with_hub(
                        settings,
                        journal,
                        host,
                        ready,
                        start=lambda: start(host),
                        stop=host.stop,
                        metrics=metrics,
                        new_tokens=new_tokens,
                    )
                finally:
                    await host.stop()
                    await keeper.flush()
    finally:
        taps.close()
        metrics.close()


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
        try:
            await journal.retain()
        except JournalError as error:
            log.warning("old events were not dropped", error=str(error))
        await asyncio.sleep(RETAIN_EVERY_S)


def _audit(settings: Settings, session: str) -> AuditTrail | None:
    return None if settings.journal == "memory" else AuditTrail(settings.state_dir / "audit.jsonl", session)
