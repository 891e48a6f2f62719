"""The hub's one port: WebSockets, plain HTTP and server-sent events, all on websockets' own HTTP head parser.

websockets answers plain requests through `process_request`; a stream of server-sent events is written
there too, on the connection's transport, until the peer goes. What is written to a WebSocket are whole frames that
were built once and are shared by all connections; with permessage-deflate each connection builds its own.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import cast

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, NegotiationError
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from hub.delivery.batch import Batch, as_text
from hub.delivery.subscription import LogUnreadable, Reader, SinkClosed
from hub.host import Role
from hub.server.connection_limit import ConnectionLimit, turn_away
from hub.server.conversation import Conversation, HubContext
from hub.server.event_stream import PING, EventStream
from hub.server.http import SECURITY_HEADERS, Answer, Request, Stream
from hub.server.routes import Routes, Upgrade
from hub.wire.codes import CloseCode
from hub.wire.frames_out import OutFrame, encode

SUBPROTOCOL = Subprotocol("turnwire.v1")

# websockets writes the heads of requests, and so tokens, into its debug log: it never gets that far.
_library_log = logging.getLogger("hub.websockets")
_library_log.setLevel(logging.WARNING)


CLOSE_S = 2.0
"""How long a peer may take to read what is left and to close."""

PING_FRAME = Frame(Opcode.PING, b"").serialize(mask=False)


def as_frames(batch: Batch) -> bytes:
    """Return a batch as a WebSocket frame, header and all."""
    return Frame(Opcode.TEXT, batch.encoded(as_text)).serialize(mask=False)


class FrontendConnection(ServerConnection):
    """A TCP connection from its first byte: a request, then perhaps a WebSocket (a TextSink) or a stream (a Wire)."""

    def __init__(
        self, listener: "Listener", protocol: ServerProtocol, server: Server, **options: float | None
    ) -> None:
        super().__init__(protocol, server, **options)  # type: ignore[arg-type]  # passed through as they came
        self.address = ""
        self.upgrade = Upgrade(None)
        self.streams = False
        self.reader: Reader | None = None
        """What it follows, once it was let in."""
        self.heard_at = 0.0
        self._limits = listener.context.config.limits
        self._limit = listener.limit
        self._connections = listener.connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, for a moment without a request, or turn it away."""
        if not self._limit.enter(self):
            turn_away(transport)
            return
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else ""
        self.heard_at = self.loop.time()
        raw: socket.socket = transport.get_extra_info("socket")
        if (size := self._limits.socket_buffer) is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        self._deadline = self.loop.call_later(self._limits.handshake_s, self._cut_without_request)
        self._connections.add(self)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._deadline.cancel()
        self._limit.leave(self)
        self._connections.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note that the peer lives."""
        self.heard_at = self.loop.time()
        super().data_received(data)

    def resume_writing(self) -> None:
        """Note that the peer reads."""
        self.heard_at = self.loop.time()
        super().resume_writing()

    def _cut_without_request(self) -> None:
        if self.request is None:
            self.transport.abort()

    @property
    def closed(self) -> bool:
        """Can nothing be written any more?"""
        return self.transport.is_closing() or not (self.streams or self.protocol.state is State.OPEN)

    @property
    def writable(self) -> bool:
        """Is there less in the write buffer than its limit?"""
        return not self.paused

    async def drained(self) -> None:
        """Wait until it is writable; raises SinkClosed."""
        await self.drain()
        if self.closed:
            raise SinkClosed

    def write(self, data: bytes) -> None:
        """Write bytes as they are; a closed connection drops them."""
        if not self.closed:
            self.transport.write(data)

    def send_text(self, text: bytes) -> None:
        """Write a text frame."""
        broadcast((self,), text, text=True)

    def tell(self, frame: OutFrame) -> None:
        """Write a frame."""
        self.send_text(encode(frame))

    def deliver(self, batch: Batch) -> None:
        """Write events."""
        if self.protocol.extensions:
            self.send_text(batch.encoded(as_text))
        else:
            self.write(batch.encoded(as_frames))

    def admitted(self, role: Role) -> None:
        """Let it send frames as large as its role may."""
        self._limit.admit(self)
        limits = self._limits
        self.protocol.max_message_size = limits.control_frame if role == "control" else limits.frame

    async def replies_taken(self) -> None:
        """Wait while more replies are unread than the limit allows."""
        if self.transport.get_write_buffer_size() > self._limits.unread_replies:
            await self.drain()

    def beat(self, now: float) -> None:
        """Ask whether the peer lives, or cut it when it has been silent for too long."""
        if self.closed:
            return
        if now - self.heard_at > self._limits.silence_s and (not self.streams or self.paused):
            self.transport.abort()
        elif not self.paused:
            self.transport.write(PING if self.streams else PING_FRAME)


class Listener:
    """Listens on one port and brings each connection to where it belongs."""

    def __init__(self, context: HubContext, limit: ConnectionLimit) -> None:
        self.context = context
        self.limit = limit
        self.connections: set[FrontendConnection] = set()
        """All that were let in, from their first byte to their last."""
        self._routes: Routes
        self._server: Server

    async def listen(self, tls: ssl.SSLContext | None) -> int:
        """Start to listen and return the port. Raises OSError when it is taken."""
        config = self.context.config
        self._server = await serve(
            self._converse,
            config.host,
            config.port,
            # The documented wrapper of the class; the annotation knows the class alone.
            create_connection=cast("type[ServerConnection]", partial(FrontendConnection, self)),
            process_request=self._answer,
            select_subprotocol=_select_subprotocol,
            compression="deflate" if config.compression else None,
            server_header=None,
            # A stream is an answer that takes its time; a request has its own deadline, handshake_s.
            open_timeout=None,
            # Its pings wait behind what a peer does not read, and then for ever: `beat` does it without waiting.
            ping_interval=None,
            close_timeout=CLOSE_S,
            max_size=config.limits.first_frame,
            write_limit=config.limits.write_buffer,
            logger=_library_log,
            ssl=tls,
            start_serving=False,
            ssl_handshake_timeout=config.limits.handshake_s if tls else None,
        )
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def serve(self, routes: Routes) -> None:
        """Begin to take connections."""
        self._routes = routes
        await self._server.start_serving()

    async def close(self) -> None:
        """Close the port and all connections, WebSockets with 1001."""
        for connection in tuple(self.connections):
            if connection.protocol.state is not State.OPEN:
                connection.transport.close()
        self._server.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._server.wait_closed()
        except TimeoutError:
            # A closed transport waits for its peer to read what is unread; not all peers do.
            for connection in tuple(self.connections):
                connection.transport.abort()
            await self._server.wait_closed()

    async def beat(self) -> None:
        """Ask all peers whether they live, now and then; runs until it is cancelled."""
        while True:
            await asyncio.sleep(self.context.config.limits.ping_s)
            now = asyncio.get_running_loop().time()
            for connection in tuple(self.connections):
                connection.beat(now)

    async def _answer(self, connection: ServerConnection, head: HttpRequest) -> Response | None:
        assert isinstance(connection, FrontendConnection), "made by create_connection"
        # A repeated Host or Origin becomes one that is not allowed; repeated cookies stay readable.
        names = {name.lower() for name in head.headers}
        headers = {
            name: ("; " if name == "cookie" else ", ").join(head.headers.get_all(name)) for name in names
        }
        request = Request(head.method, head.path, headers, connection.address)
        match self._routes.decide(request):
            case Upgrade() as upgrade:
                connection.upgrade = upgrade
                if upgrade.role is not None:
                    # Now: its first frame can be there before its conversation has begun.
                    connection.admitted(upgrade.role)
                return None
            case Answer() as answer:
                return _response(answer)
            case Stream() as stream:
                await self._stream(connection, stream)
                # The connection is closed by now, so that this is not sent.
                return _response(Answer(HTTPStatus.OK))

    async def _stream(self, connection: FrontendConnection, stream: Stream) -> None:
        connection.streams = True
        self.limit.admit(connection)
        context, sink = self.context, EventStream(connection)
        reader = connection.reader = Reader(context.pages, context.feeds, sink)
        reader.subscribe(stream.session, stream.cursor)
        delivery = asyncio.create_task(reader.run())
        closed = asyncio.create_task(connection.wait_closed())
        try:
            await asyncio.wait((delivery, closed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            reader.close()
            delivery.cancel()
            connection.transport.close()
            await closed
            await asyncio.gather(delivery, return_exceptions=True)

    async def _converse(self, connection: ServerConnection) -> None:
        assert isinstance(connection, FrontendConnection), "made by create_connection"
        if (code := connection.upgrade.refused) is not None:
            await connection.close(
                code, "the token is wrong" if code is CloseCode.UNAUTHORIZED else "too many wrong tokens"
            )
            return
        conversation = Conversation(self.context, connection, connection.upgrade.role)
        try:
            async with asyncio.TaskGroup() as tasks:
                delivery = tasks.create_task(conversation.reader.run())
                if await conversation.greet(connection.recv):
                    connection.reader = conversation.reader
                    async for frame in connection:
                        await conversation.hear(frame)
                delivery.cancel()
        except* ConnectionClosed:
            pass
        except* LogUnreadable:
            await connection.close(CloseCode.INTERNAL, "the log of a session cannot be read")
        finally:
            conversation.leave()


def _select_subprotocol(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this hub speaks {SUBPROTOCOL}")
    return SUBPROTOCOL


def _response(answer: Answer) -> Response:
    headers = Headers(SECURITY_HEADERS)
    headers["Content-Type"] = answer.content_type
    headers["Content-Length"] = str(len(answer.body))
    headers["Connection"] = "close"
    for name, value in answer.headers.items():
        headers[name] = value
    return Response(
        answer.status, HTTPStatus(answer.status).phrase, headers, b"" if answer.head_only else answer.body
    )
