"""A running sidecar: journal, sessions and hub, brought up in the order they need each other, and down again.

`turnwire run` and `turnwire serve` are this with and without a first session.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.hub_settings import has_shells
from turnwire.config.rulebook import read_rulebook
from turnwire.config.settings import ConfigurationError, Settings
from turnwire.config.storage import open_journal
from turnwire.hub.hub import Hub
from turnwire.hub.principals import Principals
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Journal, JournalError
from turnwire.journal.sessions import SessionStore
from turnwire.outbound.push.push import Push
from turnwire.outbound.webhooks.configured import configured_receivers, watch_journal
from turnwire.outbound.webhooks.watcher import EventFilter
from turnwire.sessions.live import LiveSession
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.metrics import Metrics
from turnwire.sessions.observers import Observers
from turnwire.sessions.records.writer import RecordWriter
from turnwire.sessions.registry import SessionRegistry
from turnwire.sessions.services import SessionServices
from turnwire.sidecar.process.supervision import supervised
from turnwire.sidecar.serving.listening import Ready, Work, with_hub

if TYPE_CHECKING:
    from turnwire.fleet.joining import Membership
    from turnwire.journal.redis.journal import RedisJournal

log = logging.getLogger(__name__)

RETAIN_EVERY_S = 3600.0
"""How often events beyond the retention are dropped."""


async def serve(
    settings: Settings,
    start: Callable[[LiveHost], Coroutine[None, None, None]],
    ready: Ready,
    *,
    check: Callable[[], Coroutine[None, None, None]] | None = None,
    grants: Path,
    new_tokens: bool = False,
    work: Work | None = None,
    signals: bool = True,
    principals: Principals | None = None,
) -> None:
    """Serve live sessions until a signal. `start` may create the first ones. `grants` is the file of permanent permissions.

    `check` reports, once everything is served, whether the started agents came up. With `work`, serving ends when that is done,
    too. Without
    `signals` the process's signals are left alone. `principals` are those of an embedding application, in place of
    the stored ones. Before anything is served it raises
    JournalUnavailable, turnwire.hub.server.access.AccessError and PortError; later the errors of `start`, `check` and
    `work`.
    """
    if settings.worker is not None and not settings.journal_kind.shared:
        raise ConfigurationError(
            "setting worker: a worker of a fleet keeps its events in Redis, which its hubs read; give --journal redis://HOST:PORT/0, too"
        )
    if settings.archive_after_s is not None and settings.worker is None:
        raise ConfigurationError(
            "setting archive_after_s: only a worker of a fleet moves events of quiet sessions into files; set worker, too, or remove it"
        )
    rulebook = read_rulebook(settings.rules)
    for warning in rulebook.warnings:
        log.warning("%s: %s", settings.rules, warning)
    if settings.worker is not None:
        from turnwire.sidecar.serving.waiting import redis_is_there  # noqa: PLC0415 - an optional extra

        if not await redis_is_there(settings, signals=signals):
            return
    told = configured_receivers(settings.webhooks) if settings.webhooks else []
    metrics = Metrics()
    observers = Observers(settings, metrics)
    try:
        async with open_journal(settings) as (journal, store), Watchdog.start() as watchdog:
            record_writer, registry = RecordWriter(store), SessionRegistry[LiveSession]()
            push = _push(settings, registry)
            if push is not None:
                told = [*told, EventFilter(push.kinds, push)]
            async with AsyncExitStack() as last, supervised() as supervisor:
                supervisor.keep_up("records of sessions", record_writer.run)
                supervisor.keep_up("retention", partial(_retaining, journal))
                if told:
                    webhooks = await last.enter_async_context(watch_journal(journal, told))
                    supervisor.keep_up("webhooks and web push", webhooks.run)
                # when no session can change its record any more
                last.push_async_callback(record_writer.flush)
                services = SessionServices(
                    settings=settings,
                    journal=journal,
                    watchdog=watchdog,
                    audit=partial(_audit, settings),
                    spawn=supervisor.spawn,
                    save=record_writer.save,
                    keep=record_writer.keep,
                    forget=record_writer.forget,
                    changed=registry.changed,
                    observers=observers.for_session,
                    grants=GrantStore(grants) if settings.journal_kind.durable else None,
                )
                journal.watch_trouble(registry.changed)
                records = store if settings.worker is None else _claimed(settings, store, journal)
                host = LiveHost(
                    services, records, registry, rulebook, push=None if push is None else push.execute
                )

                async def reached(hub: Hub) -> None:
                    if push is not None:
                        push.admit({"control": hub.tokens.control, "view": hub.tokens.view}, hub.principals)
                    await ready(hub)

                try:
                    member = await last.enter_async_context(_in_fleet(settings, host, journal))
                    await host.restore()
                    if member is not None:
                        member.begin()
                        metrics.fleet = member.readings
                        work = work or _as_work(member.wished)
                    await with_hub(
                        settings,
                        journal,
                        host,
                        reached,
                        start=lambda: start(host),
                        check=check,
                        stop=partial(_stop, host, member),
                        metrics=metrics,
                        new_tokens=new_tokens,
                        work=work,
                        signals=signals,
                        embedder=principals,
                        shells=host.shells if has_shells(settings) else None,
                    )
                finally:
                    await host.stop()
    finally:
        observers.close()


def _push(settings: Settings, registry: SessionRegistry[LiveSession]) -> Push | None:
    def summary_of(session: str) -> SessionSummary | None:
        known = registry.sessions.get(session)
        return None if known is None else known.summary()

    if not settings.push:
        return None
    named = tuple(settings.push_services)
    return Push(settings.state_dir, summary_of, named=named, contact=settings.push_contact)


def _claimed(settings: Settings, store: SessionStore, journal: Journal) -> SessionStore:
    from turnwire.fleet.log_ends import LogEnds  # noqa: PLC0415 - as below
    from turnwire.fleet.worker_sessions import ClaimedRecords  # noqa: PLC0415 - an optional extra

    return ClaimedRecords(store, cast("RedisJournal", journal), LogEnds.of(settings.state_dir))


@asynccontextmanager
async def _in_fleet(
    settings: Settings, host: LiveHost, journal: Journal
) -> "AsyncIterator[Membership | None]":
    """Be a worker of a fleet, where one is configured."""
    if settings.worker is None:
        yield None
        return
    from turnwire.fleet.joining import working  # noqa: PLC0415 - an optional extra

    async with working(settings, settings.worker, host, cast("RedisJournal", journal)) as member:
        yield member


def _as_work(wished: Callable[[], Coroutine[None, None, None]]) -> Work:
    async def until_wished(_: Hub) -> None:
        await wished()

    return until_wished


async def _stop(host: LiveHost, member: "Membership | None") -> None:
    if member is not None:
        await member.drain()
    await host.stop()


async def _retaining(journal: Journal) -> None:
    while True:
        try:
            await journal.retain()
        except JournalError as error:
            log.warning("old events were not dropped", extra={"error": str(error)})
        await asyncio.sleep(RETAIN_EVERY_S)


def _audit(settings: Settings, session: str) -> AuditTrail | None:
    if not settings.journal_kind.durable:
        return None
    return AuditTrail(settings.state_dir / "audit.jsonl", session)
