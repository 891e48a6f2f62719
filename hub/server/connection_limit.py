"""How many connections there may be, and how one too many is turned away.

Newcomers, which have not shown a token yet, are counted apart: a flood of silent connections does not
take the places of those who have shown one, and each of them has a deadline.
"""

import asyncio
from typing import cast

from hub.config import Limits
from hub.server.http import refuse

LINGER_S = 1.0
"""How long a peer that was turned away may take to read why."""


class ConnectionLimit:
    """Counts connections."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._newcomers: set[object] = set()
        self._admitted: set[object] = set()

    def __len__(self) -> int:
        """Return the number of connections."""
        return len(self._newcomers) + len(self._admitted)

    def enter(self, connection: object) -> bool:
        """Count a new connection; False when there are too many."""
        if len(self) >= self._limits.connections or len(self._newcomers) >= self._limits.newcomers:
            return False
        self._newcomers.add(connection)
        return True

    def admit(self, connection: object) -> None:
        """Count it as one that has shown its token."""
        self._newcomers.discard(connection)
        self._admitted.add(connection)

    def leave(self, connection: object) -> None:
        """Count it no more; one that was turned away is no error."""
        self._newcomers.discard(connection)
        self._admitted.discard(connection)


class TurnedAway(asyncio.Protocol):
    """Says 503 and reads on for a moment: closing at once would make the peer lose the answer."""

    def __init__(self, transport: asyncio.Transport) -> None:
        answer = refuse("too_many_connections")
        head = (
            f"HTTP/1.1 {answer.status} Service Unavailable\r\nContent-Type: {answer.content_type}\r\n"
            f"Content-Length: {len(answer.body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
        )
        transport.write(head.encode() + answer.body)
        if transport.can_write_eof():
            transport.write_eof()
        self._deadline = asyncio.get_running_loop().call_later(LINGER_S, transport.abort)

    def connection_lost(self, _exc: Exception | None) -> None:
        """The peer has gone."""
        self._deadline.cancel()


def turn_away(transport: asyncio.BaseTransport) -> None:
    """Answer a connection that is one too many."""
    both_ways = cast("asyncio.Transport", transport)
    both_ways.set_protocol(TurnedAway(both_ways))
