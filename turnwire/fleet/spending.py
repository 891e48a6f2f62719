"""What principals have spent today, in Redis: the same for all workers and hubs of a fleet."""

import logging
from collections import defaultdict

from redis.exceptions import RedisError

from turnwire.fleet.store import FleetStore
from turnwire.journal.base import JournalUnavailable
from turnwire.sessions.quotas import today

log = logging.getLogger(__name__)


class FleetSpending:
    """Implements turnwire.sessions.quotas.Spending."""

    def __init__(self, store: FleetStore) -> None:
        self._store = store
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

    async def today(self, principal: str) -> float:
        """Return what a principal has spent since midnight. Raises JournalUnavailable."""
        try:
            return await self._store.spent(principal, today())
        except (RedisError, OSError) as error:
            raise JournalUnavailable(f"The fleet's Redis cannot be used: {error}.") from error
