"""The hub over some host, from its start to a signal."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

from hub.config import HubConfig, Limits
from hub.host import Host
from hub.hub import Hub
from hub.routes import Probes
from journal.base import Journal
from sidecar.metrics import Metrics
from sidecar.settings import Settings
from sidecar.version import VERSION

Ready = Callable[[Hub], Awaitable[None]]
"""Called once everything is there: to print the URL."""


class PortError(Exception):
    """The hub cannot listen; the message says where, why, and what to do."""


async def with_hub(
    settings: Settings,
    journal: Journal,
    host: Host,
    ready: Ready,
    *,
    start: Callable[[], Awaitable[None]],
    metrics: Metrics,
) -> None:
    """Run a hub until SIGINT or SIGTERM; raises PortError and what `start` raises."""
    probes = Probes(metrics=metrics.text, trouble=lambda: journal.trouble)
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
    watching = asyncio.create_task(metrics.watch(hub, host, journal))
    try:
        await start()
        await ready(hub)
        await stopped.wait()
    finally:
        watching.cancel()
        await hub.stop()
        await asyncio.gather(watching, return_exceptions=True)


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
