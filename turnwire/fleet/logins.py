"""The logins of browsers, the same at all hubs of a fleet: one that was invited at one hub gets in at any, and one that logs out is out at all."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from redis.exceptions import RedisError

from turnwire._runtime.task_owner import TaskOwner
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.invitations import FleetInvitations
from turnwire.fleet.store import FleetStore
from turnwire.hub.server.cookies import REMEMBERED, LoggedOut

log = logging.getLogger(__name__)


class FleetLogins:
    """Implements `turnwire.sidecar.serving.listening.Logins`."""

    cookie = "turnwire-fleet"

    def __init__(self, store: FleetStore, host: FleetHost, tasks: TaskOwner, *, pause_s: float = 0.5) -> None:
        """`tasks` tell the other hubs; `pause_s`: how long a Redis that failed is left alone."""
        self.invitations = FleetInvitations(store)
        self._store = store
        self._host = host
        self._pause_s = pause_s
        self._told: dict[str, int] = {}
        """What Redis has."""
        self._tasks = tasks

    def log_out(self, logged_out: LoggedOut) -> None:
        """Tell the other hubs which logins are over."""
        fresh = {name: began for name, began in logged_out.logins.items() if name not in self._told}
        self._told |= fresh
        self._tasks.keep("logins that are over", self._tell(fresh))

    def watch(self, watcher: Callable[[Mapping[str, int]], None]) -> None:
        """Tell the watcher which logins are over that it does not know of."""

        def tell(logins: Mapping[str, int]) -> None:
            fresh = {name: began for name, began in logins.items() if name not in self._told}
            self._told = dict(logins)
            watcher(fresh)

        self._host.watch_logins(tell)

    async def _tell(self, logins: Mapping[str, int]) -> None:
        failing = False
        while logins:
            try:
                await self._store.log_out(logins, REMEMBERED)
            except (RedisError, OSError) as error:
                if not failing:
                    log.warning("a logout has not reached the other hubs yet", extra={"error": str(error)})
                failing = True
                await asyncio.sleep(self._pause_s)
            else:
                return
