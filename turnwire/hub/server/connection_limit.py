"""Limit the number of connections, and turn away those beyond it.

Newcomers have not shown a token yet. They are counted separately, from the first byte of TLS on. If there are too
many, a new connection replaces another: the longest silent one of the address that has the
most. So someone who holds half-open connections loses them, while an honest newcomer needs its place only for a moment.
Connections that have shown a token stay. The last places are reserved for the role control.
"""

import asyncio
from typing import Protocol, cast

from turnwire.hub.config import Limits
from turnwire.hub.server.http import refuse
from turnwire.normalize.vocabulary import Role

LINGER_S = 1.0
"""Seconds that a peer has to read why it was turned away."""

LINGERING = 64
"""Most connections that linger so. Further ones are closed without an answer."""

RESERVED = 8
"""One of this number of places is reserved for the role control."""


class NewConnection(Protocol):
    """A connection, as the limit sees it."""

    def drop(self, reason: str) -> None:
        """Cut it; the reason is one of turnwire.hub.server.refusals.REASONS."""
        ...


class ConnectionLimit:
    """Counts connections."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._newcomers: dict[str, dict[NewConnection, None]] = {}
        """By neighbourhood (turnwire.hub.server.access), the oldest first."""
        self._places: dict[NewConnection, str] = {}
        """The neighbourhood each newcomer is counted under."""
        self._admitted: dict[NewConnection, Role] = {}
        self._viewers = 0
        self._lingering: set[RefusedConnection] = set()

    def __len__(self) -> int:
        """Return the number of connections."""
        return len(self._places) + len(self._admitted)

    def enter(self, connection: NewConnection, place: str, *, shared: bool = False) -> bool:
        """Count a new connection. False if all places are taken by connections with a token.

        Raises nothing; may drop another newcomer. A `shared` place belongs to a proxy and has no share of its own.
        """
        limits = self._limits
        here = () if shared else self._newcomers.get(place, ())
        if len(here) >= limits.newcomers_per_address:
            next(iter(here)).drop("crowded")
        elif len(self._places) >= limits.newcomers or len(self) >= limits.connections:
            if not self._newcomers:
                return False
            fullest = max(self._newcomers.values(), key=len)
            next(iter(fullest)).drop("crowded")
        self._take(connection, place)
        return True

    def move(self, connection: NewConnection, place: str) -> None:
        """Count a newcomer at another place, since a proxy reported its address."""
        if self._places.get(connection) in {None, place}:
            return
        self._give_up(connection)
        here = self._newcomers.get(place, ())
        if len(here) >= self._limits.newcomers_per_address:
            next(iter(here)).drop("crowded")
        self._take(connection, place)

    def admit(self, connection: NewConnection, role: Role) -> bool:
        """Count a connection as one with a token. False if the places of its role are taken."""
        before = self._admitted.get(connection)
        if role == "view" and before != "view":
            if self._viewers >= self._limits.connections - self._limits.connections // RESERVED:
                return False
            self._viewers += 1
        elif role == "control" and before == "view":
            self._viewers -= 1
        self._give_up(connection)
        self._admitted[connection] = role
        return True

    def leave(self, connection: NewConnection) -> None:
        """Stop counting a connection. A connection that was turned away is no error."""
        self._give_up(connection)
        if self._admitted.pop(connection, None) == "view":
            self._viewers -= 1

    def turn_away(self, transport: asyncio.BaseTransport, *, speaks: bool) -> None:
        """Close a connection beyond the limit. If it `speaks` HTTP already, answer why."""
        both_ways = cast("asyncio.Transport", transport)
        if speaks and len(self._lingering) < LINGERING:
            both_ways.set_protocol(RefusedConnection(both_ways, self._lingering))
        else:
            both_ways.abort()

    def _take(self, connection: NewConnection, place: str) -> None:
        self._newcomers.setdefault(place, {})[connection] = None
        self._places[connection] = place

    def _give_up(self, connection: NewConnection) -> None:
        place = self._places.pop(connection, None)
        if place is None:
            return
        here = self._newcomers[place]
        del here[connection]
        if not here:
            del self._newcomers[place]


class RefusedConnection(asyncio.Protocol):
    """Answers 503 and reads on for a moment: after an immediate close the peer would lose the answer."""

    def __init__(self, transport: asyncio.Transport, lingering: "set[RefusedConnection]") -> None:
        answer = refuse("too_many_connections")
        head = (
            f"HTTP/1.1 {answer.status} Service Unavailable\r\nContent-Type: {answer.content_type}\r\n"
            f"Content-Length: {len(answer.body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
        )
        self._lingering = lingering
        lingering.add(self)
        transport.write(head.encode() + answer.body)
        if transport.can_write_eof():
            transport.write_eof()
        self._deadline = asyncio.get_running_loop().call_later(LINGER_S, transport.abort)

    def connection_lost(self, _exc: Exception | None) -> None:
        """The peer has gone."""
        self._deadline.cancel()
        self._lingering.discard(self)
