"""A hub or worker that waits for its Redis: it serves pages and probes, and starts once Redis answers.

So an orchestrator sees a process that is alive and not ready, instead of one that keeps ending.
"""

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence

from pydantic import JsonValue
from redis.exceptions import AuthenticationError, AuthorizationError, RedisError

from turnwire._runtime.task_owner import TaskOwner
from turnwire._runtime.version import VERSION
from turnwire.config.hub_settings import hub_config
from turnwire.config.settings import Settings
from turnwire.config.stored_access import StoredAccess
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.hub import Hub
from turnwire.hub.server.routes import Probes
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.redis.server import RedisServer
from turnwire.sidecar.process.signals import on_stop, stop_signals
from turnwire.sidecar.serving.listening import listening

log = logging.getLogger(__name__)

AGAIN_S = 0.5
"""Seconds between attempts."""


async def redis_is_there(settings: Settings, *, signals: bool = True) -> bool:
    """Wait until the fleet's Redis answers; False when a signal ended the wait.

    Raises JournalUnavailable for a Redis that cannot be used as it is configured, and PortError.
    """
    server = RedisServer(settings.redis_url, settings.redis_prefix)
    try:
        reason = await _missing(server)
        if reason is None:
            return True
        return await _wait(settings, server, reason, signals=signals)
    finally:
        await server.close()


async def _missing(server: RedisServer) -> str | None:
    """Return why a Redis cannot be used yet, None when it can. Raises JournalUnavailable where waiting does not help."""
    try:
        await server.ask(only_reads=True)
    except (AuthenticationError, AuthorizationError) as error:
        raise server.explain(error) from error
    except (RedisError, OSError) as error:
        return str(error) or type(error).__name__
    return None


async def _wait(settings: Settings, server: RedisServer, reason: str, *, signals: bool) -> bool:
    why = f"turnwire waits for the Redis at {server.name}: {reason}. It starts once that answers."
    access = StoredAccess(settings.state_dir, keeps_tokens=settings.keep_tokens)
    probes = Probes(trouble=lambda: why, pages_only=True)

    def hub_at(port: int) -> Hub:
        config = hub_config(settings).model_copy(update={"port": port})
        return Hub(MemoryJournal(), _NoSessions(), config, version=VERSION, probes=probes, kept=access.tokens)

    stopped = asyncio.Event()
    before = {number: signal.getsignal(number) for number in stop_signals()} if signals else {}
    if signals:
        on_stop(lambda _: stopped.set(), settings.stop_timeout_s, insists=True)
    hub = await listening(settings, access, hub_at)
    access.keep(access.port if "port" in settings.model_fields_set else hub.port, hub.port)
    log.warning("the fleet's Redis is not there yet; turnwire waits for it", extra={"error": reason})
    try:
        async with TaskOwner() as tasks:
            answering = tasks.begin("Redis at the start", _until_there(server))
            stopping = tasks.begin("stop", stopped.wait())
            await asyncio.wait((answering, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                return False
            await answering
    finally:
        await hub.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
    log.info("the fleet's Redis is there; turnwire starts")
    return True


async def _until_there(server: RedisServer) -> None:
    while await _missing(server) is not None:  # noqa: ASYNC110 - a server that is not there tells nobody that it comes
        await asyncio.sleep(AGAIN_S)


class _NoSessions:
    """Implements `turnwire.hub.host.Host` for a hub that has nothing to show yet."""

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        raise CommandRefused("journal_unavailable", f"{frontend.name} is too early for {command.type}")

    def sessions(self) -> Sequence[SessionSummary]:
        return []

    def agents(self) -> Sequence[AgentChoice] | None:
        return None

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002 - nothing ever changes
        return lambda: None
