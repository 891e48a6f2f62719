"""What principals have spent today, in Redis: the same for all workers and hubs of a fleet."""

import logging
from collections import defaultdict
from collections.abc import Collection

from redis.exceptions import RedisError

from turnwire.fleet.store import FleetStore
from turnwire.journal.base import JournalUnavailable
from turnwire.sessions.quotas import Reservations, today

log = logging.getLogger(__name__)


class FleetSpending:
    """Implements turnwire.sessions.quotas.Spending."""

    def __init__(self, store: FleetStore, *, is_hub: bool = True) -> None:
        """A worker's own check comes after a hub's, whose notes it does not count again."""
        self._store = store
        self._own = None if is_hub else Reservations()
        self._owed: defaultdict[str, float] = defaultdict(float)
        """What Redis could not be told yet."""

    async def add(self, principal: str, dollars: float) -> None:
        """Add what a turn has cost; where Redis is away, with the next turn of the principal."""
        self._owed[principal] += dollars
        owed = self._owed.pop(principal)
        try:
            await self._store.spend(principal, today(), owed)
        except (RedisError, OSError) as error:
            self._owed[principal] += owed
            log.warning("the fleet could not be told what a turn has cost", extra={"error": str(error)})

    async def reserve(self, principal: str, name: str, seconds: float) -> Collection[str]:
        """Note that a command is about to use something; return all that hubs note of the principal. Raises JournalUnavailable."""
        if self._own is not None:
            return await self._own.reserve(principal, name, seconds)
        try:
            return await self._store.reserve(principal, name, int(seconds * 1000))
        except (RedisError, OSError) as error:
            raise JournalUnavailable(f"The fleet's Redis cannot be used: {error}.") from error

    async def settle(self, principal: str, name: str, session: str | None, seconds: float) -> None:
        """Note what the command used, for so long; None if it used nothing. Where Redis is away, the note ends by itself."""
        if self._own is not None:
            await self._own.settle(principal, name, session, seconds)
            return
        try:
            await self._store.settle(principal, name, session, int(seconds * 1000))
        except (RedisError, OSError) as error:
            log.warning("the fleet could not be told what a command used", extra={"error": str(error)})

    async def today(self, principal: str) -> float:
        """Return what a principal has spent since midnight. Raises JournalUnavailable."""
        try:
            return await self._store.spent(principal, today())
        except (RedisError, OSError) as error:
            raise JournalUnavailable(f"The fleet's Redis cannot be used: {error}.") from error
