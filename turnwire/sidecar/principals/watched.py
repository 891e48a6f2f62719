"""Shared by file and Redis: the current tokens, and callbacks when one may be invalid."""

import asyncio
import time
from collections.abc import Callable

from turnwire._runtime.task_owner import set_within
from turnwire.hub.principals import Principal
from turnwire.sidecar.principals.kept import TokenTable

LONGEST_S = 3600.0
"""How long is slept at most until the next token expires: wall clocks are set."""


class WatchedTokens:
    """Implements turnwire.hub.principals.Principals, except `refresh` and the store."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._table = TokenTable()
        self._clock = clock
        self._watchers: list[Callable[[], None]] = []
        self._changed = asyncio.Event()

    def of_token(self, token: str) -> Principal | None:
        """Return the principal of a token."""
        return self._table.of_token(token, self._clock())

    def of_id(self, token_id: str) -> Principal | None:
        """Return the principal of a token's id."""
        return self._table.of_id(token_id, self._clock())

    def secret(self, token_id: str) -> bytes:
        """Return the secret that verifies a cookie of this token."""
        return self._table.secret(token_id)

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call the watcher when a token may have become invalid."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def replace(self, table: TokenTable) -> None:
        """Let these be the tokens from now on, and tell."""
        self._table = table
        self._changed.set()
        self._tell()

    async def expire(self) -> None:
        """Tell whenever one expires; runs until it is cancelled."""
        while True:
            self._changed.clear()
            now = self._clock()
            end = self._table.next_end(now)
            if not await set_within(self._changed, None if end is None else min(end - now, LONGEST_S)):
                self._tell()

    def _tell(self) -> None:
        for watcher in tuple(self._watchers):
            watcher()
