"""The SSE mirror: a session's events as server-sent events, for curl, EventSource and other simple clients.

The same delivery as over WebSocket, on another sink: an event's id is its cursor, `EPOCH-SEQ`, so that a
client's Last-Event-ID resumes it. `gap`, `lag` and `caught_up` are events of that name.
"""

from typing import Protocol

from turnwire.hub.delivery.batch import Batch, as_server_sent_events
from turnwire.hub.delivery.subscription import BoundedWriter
from turnwire.hub.wire.frames_out import OutFrame, encode

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n"
    b"X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    b"X-Accel-Buffering: no\r\nConnection: close\r\n\r\nretry: 1000\n\n"
)
"""Without a length: the stream ends with the connection."""

PING = b": ping\n\n"


class TcpWriter(BoundedWriter, Protocol):
    """The writing side of a TCP connection."""

    def write(self, data: bytes) -> None:
        """Write bytes; a closed connection drops them."""
        ...


class EventStream:
    """A Sink (subscription.py) that writes server-sent events."""

    def __init__(self, wire: TcpWriter) -> None:
        self._wire = wire
        wire.write(HEAD)

    @property
    def writable(self) -> bool:
        """Is there less in the write buffer than its limit?"""
        return self._wire.writable

    async def drained(self) -> None:
        """Wait until it is writable; raises SinkClosed."""
        await self._wire.drained()

    def has_room(self, size: int) -> bool:
        """Return whether this many bytes fit into the budget of unread bytes of all frontends."""
        return self._wire.has_room(size)

    async def room(self, size: int) -> bool:
        """Wait until they may; False when the wire is closed."""
        return await self._wire.room(size)

    def deliver(self, batch: Batch) -> None:
        """Write events."""
        self._wire.write(batch.encoded(as_server_sent_events))

    def send_frame(self, frame: OutFrame) -> None:
        """Write another frame as an event named by its type."""
        self._wire.write(b"event: %s\ndata: %s\n\n" % (frame.type.encode(), encode(frame)))
