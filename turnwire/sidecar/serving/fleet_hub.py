"""`turnwire hub`: frontends here, sessions in the workers of a fleet."""

from redis.exceptions import RedisError

from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import Settings
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.logins import FleetLogins
from turnwire.fleet.operating import Operator
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.archive import identity_of
from turnwire.journal.redis.journal import RedisJournal
from turnwire.sessions.metrics import Metrics
from turnwire.sidecar.serving.listening import Ready, with_hub
from turnwire.sidecar.serving.waiting import redis_is_there
from turnwire.tracing.metrics.measurements import COMMAND_DURATION, ROUND_TRIP, Measurement


async def serve_hub(settings: Settings, ready: Ready, *, new_tokens: bool = False) -> None:
    """Serve frontends until a signal; raises JournalUnavailable, turnwire.hub.server.access.AccessError and PortError."""
    if not await redis_is_there(settings):
        return
    metrics = Metrics()
    journal = await RedisJournal.open(
        settings.redis_url,
        prefix=settings.redis_prefix,
        reads_only=True,
        replicas=settings.redis_replicas,
        archive_dir=settings.archive_folder,
    )
    store = FleetStore(settings.redis_url, settings.redis_prefix)
    operator = Operator(settings.redis_url, settings.redis_prefix)
    archive = _archive_of(settings)
    try:
        host = FleetHost(store, journal, Timing(lease_s=settings.fleet_lease_s), settings.quotas, operator)
        metrics.fleet = lambda: [Measurement(ROUND_TRIP, host.round_trip_s)]
        host.watch_commands(
            lambda outcome, seconds: metrics.record([Measurement(COMMAND_DURATION, seconds, (outcome,))])
        )
        try:
            async with host.running(), TaskOwner() as tasks:
                await with_hub(
                    settings,
                    journal,
                    host,
                    ready,
                    start=_nothing,
                    stop=_nothing,
                    metrics=metrics,
                    new_tokens=new_tokens,
                    trouble=lambda: journal.trouble or host.trouble,
                    notes=lambda: host.apart(archive),
                    logins=FleetLogins(store, host, tasks),
                    fleet=host,
                )
        except RedisError as error:
            raise JournalUnavailable(
                f"The fleet's Redis cannot be used: {error}. Check that it runs."
            ) from error
    finally:
        await operator.close()
        await store.close()
        await journal.close()
        metrics.close()


def _archive_of(settings: Settings) -> str:
    try:
        return identity_of(settings.archive_folder, makes=False)
    except OSError:
        return ""  # a file that is read says more


async def _nothing() -> None:
    """Do nothing: a hub has no sessions to start or end."""
