"""The hub's port: WebSockets, plain HTTP and server-sent events, all on websockets' HTTP head parser.

websockets answers plain requests through `process_request`. A stream of server-sent events is also written
there, on the connection's transport, until the peer leaves. WebSockets get complete frames that
are built once and shared by all connections; with permessage-deflate each connection builds its own.
"""

import asyncio
import errno
import logging
import os
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
from websockets.http11 import Request, Response
from websockets.protocol import Event, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from turnwire._runtime.task_owner import TaskOwner
from turnwire.hub.delivery.batch import Batch, as_text
from turnwire.hub.delivery.subscription import FrontendReader, SinkClosed
from turnwire.hub.principals import Principal
from turnwire.hub.server.access import Allowance, Proxies, address_prefix
from turnwire.hub.server.connection_handler import ConnectionHandler, HubContext
from turnwire.hub.server.connection_limit import ConnectionLimit
from turnwire.hub.server.event_stream import PING, EventStream
from turnwire.hub.server.head import HEAD_END, fault
from turnwire.hub.server.http import SECURITY_HEADERS, HttpAnswer, HttpRequest, Stream, refuse
from turnwire.hub.server.routes import Routes, Upgrade
from turnwire.hub.wire.codes import CloseCode
from turnwire.hub.wire.frames_out import OutFrame, encode

SUBPROTOCOL = Subprotocol("turnwire.v1")

log = logging.getLogger(__name__)

# websockets writes the heads of requests, and so tokens, into its debug log: it never gets that far.
_library_log = logging.getLogger("hub.websockets")
_library_log.setLevel(logging.WARNING)


EARLY_BYTES = 64 * 1024
"""Most bytes that a peer may send after its request before the answer. A peer that sends more is disconnected."""

FRAMES_READ_AHEAD = 4
"""Frames of a frontend that may wait. Beyond that the hub stops reading from it."""

CONTROL_FRAMES = frozenset({Opcode.PING, Opcode.PONG})
CONTROL_BURST = 200
"""Control frames that a peer may send at once. websockets answers each ping at once, whether or not the peer reads."""
CONTROL_PER_S = 10.0
"""Control frames per second by which that allowance refills. Browsers send none; clients send one every 20 seconds or so."""

CLOSE_S = 2.0
"""Seconds that a peer has to read the rest and to close."""

LOGGED_OUT = "logged out"
"""Why connections that a cookie has opened are closed."""

REVOKED = "the token was revoked or has expired"
"""Why connections of a principal are closed."""

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
        """The client's address. Behind a trusted proxy it comes from the request."""
        self.upgrade = Upgrade(None)
        self.streams = False
        self.login: str | None = None
        """The login whose cookie opened the connection."""
        self.principal: Principal | None = None
        """The principal of the token that it has shown."""
        self.logged_out = asyncio.Event()
        """That login, or that token, is over: nothing more is taken from it, nor sent to it."""
        self.over = LOGGED_OUT
        """Why it is."""
        self.reader: FrontendReader | None = None
        """Its reader of events, once it has access."""
        self.heard_at = 0.0
        self._limits = listener.context.config.limits
        self._context = listener.context
        self._limit = listener.limit
        self._proxies = listener.proxies
        self._tls = listener.tls
        self._connections = listener.connections
        self._handshake: asyncio.Task[None] | None = None
        """The TLS handshake, where there is one."""
        self._begun = False
        """Is it a connection for websockets: after TLS, where there is TLS?"""
        self._is_shaking_hands = False
        self._unread = listener.context.unread
        self._control_frames = Allowance(CONTROL_BURST, CONTROL_PER_S)
        self._read_at = 0.0
        """When it was last seen to read, while more than the write limit waits for it."""
        self._waited = 0
        """How much waited then."""
        self._is_refused = False
        self._head = b""
        """Received part of the head."""
        self._is_headed = False
        """The head has ended."""
        self._is_answered = False
        """The request has its answer, or is invalid. Further bytes go to websockets."""
        self._early = b""
        """Bytes received after the head and before the answer."""
        self._has_ended = False
        """The peer has closed its sending side before the answer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, for a moment without a request, or turn it away; with TLS, a second time when the handshake is done."""
        if self._handshake is not None:
            self._begin(transport)
            return
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else ""
        from_proxy = self._proxies.trusts(self.address)
        if not self._limit.enter(self, address_prefix(self.address), shared=from_proxy):
            self._refuse("full")
            self._limit.turn_away(transport, speaks=self._tls is None)
            return
        raw: socket.socket = transport.get_extra_info("socket")
        if (size := self._limits.socket_buffer) is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        self._deadline = self.loop.call_later(self._limits.handshake_s, self._cut_without_request)
        self._connections.add(self)
        if self._tls is None:
            self._begin(transport)
            return
        # A server that does TLS tells of a connection only after the handshake: too late to count it. So the socket is taken
        # from the transport, which has read nothing yet, and given to another.
        try:
            own = socket.socket(fileno=os.dup(raw.fileno()))
        except OSError:
            self.drop("full")
            self._forget()
            return
        finally:
            cast("asyncio.Transport", transport).abort()
        self._handshake = self._context.tasks.create_task(self._secure(own, self._tls))
        self._handshake.add_done_callback(partial(self._secured, own))

    async def _secure(self, own: socket.socket, context: ssl.SSLContext) -> None:
        """Do the TLS handshake, then start."""
        self._is_shaking_hands = True
        own.setblocking(False)
        try:
            await self.loop.connect_accepted_socket(
                lambda: self, own, ssl=context, ssl_handshake_timeout=self._limits.handshake_s
            )
        except OSError:
            pass  # it failed, took too long, or the peer has gone
        except Exception:  # whatever a stranger's handshake does must not end the hub
            log.exception("A TLS handshake failed for an unknown reason.")

    def _secured(self, own: socket.socket, _task: asyncio.Task[None]) -> None:
        """The TLS handshake is done, or failed, or was given up."""
        if not self._begun:
            self._refuse("tls")
            self._forget()
        if not self._is_shaking_hands:
            own.close()  # given up before it had begun; otherwise it is a transport's

    def _begin(self, transport: asyncio.BaseTransport) -> None:
        self._begun = True
        self.heard_at = self.loop.time()
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if not self._begun:
            return  # the transport that gave its socket to TLS, or one that was turned away
        if self.request is None:
            self._refuse("no_request")
        self._forget()
        super().connection_lost(exc)

    def _forget(self) -> None:
        self._deadline.cancel()
        self._limit.leave(self)
        self._unread.flows(self)
        self._connections.discard(self)

    def _refuse(self, reason: str) -> None:
        """Count the connection as refused, once."""
        if not self._is_refused:
            self._is_refused = True
            self._context.refusals.add(reason, self.address, self.loop.time())

    def drop(self, reason: str) -> None:
        """Cut it."""
        self._refuse(reason)
        self._limit.leave(self)
        self.cut()

    def leave(self) -> None:
        """Close it once the written bytes are sent."""
        if self._begun:
            self.transport.close()
        else:
            self.cut()

    def cut(self) -> None:
        """Abort it at once."""
        if self._begun:
            self.transport.abort()
        elif self._handshake is not None:
            self._handshake.cancel()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes. Bytes after the request's head wait for the answer."""
        self.heard_at = self.loop.time()
        if self._is_answered:
            super().data_received(data)
        elif self._is_headed:
            self._keep_early(data)
        else:
            self._read_head(data)

    def _read_head(self, data: bytes) -> None:
        """Pass a complete, well-formed head to websockets. Any other head is answered here, since websockets gives no answer."""
        self._head += data
        end = self._head.find(HEAD_END)
        size = len(self._head) if end < 0 else end + len(HEAD_END)
        head, rest = self._head[:size], self._head[size:]
        if (wrong := fault(head)) is not None:
            self._refuse("no_request")
            self.transport.write(serialized(refuse("bad_request", f"This is not a valid request: {wrong}.")))
            self.transport.close()
        elif end >= 0:
            self._is_headed, self._head = True, b""
            super().data_received(head)
            if self.request is None:
                self._is_answered = True  # it is no request, and websockets has said so
            elif rest:
                self._keep_early(rest)

    def _keep_early(self, data: bytes) -> None:
        # websockets would read a frame in it, and, where it is none, have no answer any more.
        self._early += data
        if len(self._early) > EARLY_BYTES:
            self.drop("no_request")

    def process_event(self, event: Event) -> None:
        """Handle a parsed event of websockets. A peer with too many control frames is disconnected, with or without a token."""
        if isinstance(event, Frame) and event.opcode in CONTROL_FRAMES:
            now = self.loop.time()
            if self._control_frames.wait("", now) > 0:
                self.drop("control_frames")
                return
            self._control_frames.spend("", now)
        super().process_event(event)

    def eof_received(self) -> bool | None:  # type: ignore[override]  # as asyncio has it: True keeps it open for the answer
        """The peer sends nothing more, but may still wait for an answer."""
        if self.request is not None and not self._is_answered and self._tls is None:
            self._has_ended = True
            return True
        super().eof_received()
        return None

    def answered(self) -> None:
        """Process the bytes that came before the answer."""
        if self._is_answered or self.transport.is_closing():
            return
        self._is_answered = True
        early, self._early = self._early, b""
        if early:
            super().data_received(early)
        if self._has_ended:
            super().eof_received()
            self.transport.close()

    def pause_writing(self) -> None:
        """Note that more waits than the write limit."""
        super().pause_writing()
        self._read_at, self._waited = self.loop.time(), self.unread
        self._unread.stalls(self)

    def resume_writing(self) -> None:
        """Note that the peer reads."""
        self.heard_at = self.loop.time()
        super().resume_writing()
        self._unread.flows(self)

    @property
    def unread(self) -> int:
        """Bytes that wait to be written."""
        return self.transport.get_write_buffer_size()

    def stuck_s(self, now: float) -> float:
        """Return for how many seconds it has read nothing of what waits. What it sends does not count."""
        if not self.paused:
            return 0
        waits = self.unread
        if waits < self._waited:
            self._read_at = now
        self._waited = waits
        return now - self._read_at

    def _cut_without_request(self) -> None:
        if self.request is None:
            self.drop("no_request" if self._begun else "tls")

    def comes_from(self, address: str) -> None:
        """Set the address that a trusted proxy reports."""
        self.address = address
        self._limit.move(self, address_prefix(address))

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
        try:
            await self.drain()
        except OSError:
            raise SinkClosed from None
        if self.closed:
            raise SinkClosed

    def has_room(self, size: int) -> bool:
        """Return whether this many bytes fit into the budget of unread bytes of all frontends."""
        return self._unread.has_room(size)

    async def room(self, size: int) -> bool:
        """Wait until they may; False when it is closed."""
        return await self._unread.room(size, self)

    def write(self, data: bytes) -> None:
        """Write bytes as they are; a closed connection drops them."""
        if not self.closed:
            self.transport.write(data)

    def send_text(self, text: bytes) -> None:
        """Write a text frame."""
        broadcast((self,), text, text=True)

    def send_frame(self, frame: OutFrame) -> None:
        """Write a frame."""
        self.send_text(encode(frame))

    def deliver(self, batch: Batch) -> None:
        """Write events."""
        if self.protocol.extensions:
            self.send_text(batch.encoded(as_text))
        else:
            self.write(batch.encoded(as_frames))

    def admitted(self, principal: Principal) -> bool:
        """Let it send frames as large as its role may; False when there are too many of that role."""
        role = principal.role
        if not self._limit.admit(self, role):
            self._refuse("full")
            return False
        limits = self._limits
        self.principal = principal
        self.protocol.max_message_size = limits.control_frame if role == "control" else limits.frame
        return True

    async def replies_taken(self) -> None:
        """Wait while more is unread than the limit of replies allows, or until it is closed."""
        try:
            if self.unread > self._limits.unread_replies:
                await self.drain()
        except OSError:
            pass  # it is lost

    def beat(self, now: float, late: float = 0) -> None:
        """Ping the peer, or cut it when it was silent for too long.

        These seconds do not count: this process was suspended and sent no pings.
        """
        if self.closed:
            return
        self.heard_at = min(self.heard_at + late, now)
        self._read_at = min(self._read_at + late, now)
        if self.paused:
            if self.stuck_s(now) > self._limits.silence_s:
                self.drop("unread")
        elif now - self.heard_at > self._limits.silence_s and not self.streams:
            self.transport.abort()
        else:
            self.transport.write(PING if self.streams else PING_FRAME)


class Listener:
    """Listens on one port and brings each connection to where it belongs."""

    def __init__(
        self, context: HubContext, limit: ConnectionLimit, proxies: Proxies, tls: ssl.SSLContext | None = None
    ) -> None:
        self.context = context
        self.limit = limit
        self.proxies = proxies
        self.tls = tls
        self.connections: set[FrontendConnection] = set()
        """All that were let in, from their first byte to their last."""
        self._routes: Routes
        self._server: Server

    async def listen(self) -> int:
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
            max_queue=FRAMES_READ_AHEAD,
            logger=_library_log,
            start_serving=False,
        )
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def serve(self, routes: Routes) -> None:
        """Start to accept connections. Raises OSError if another program listens on the port by now."""
        self._routes = routes
        # uvloop keeps to itself that listening failed: two that bind at one moment would both seem to listen
        bound = [socket.socket(fileno=os.dup(one.fileno())) for one in self._server.sockets]
        try:
            await self._server.start_serving()
            if not all(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for one in bound):
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        except OSError:
            self._server.close()
            raise
        finally:
            for one in bound:
                one.close()

    async def close(self) -> None:
        """Close the port and all connections, WebSockets with 1001."""
        for connection in tuple(self.connections):
            if connection.protocol.state is not State.OPEN:
                connection.leave()
        self._server.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._server.wait_closed()
        except TimeoutError:
            # A closed transport waits for its peer to read what is unread; not all peers do.
            for connection in tuple(self.connections):
                connection.cut()
            await self._server.wait_closed()

    def log_out(self, login: str) -> None:
        """Close all connections that a login's cookie has opened, WebSockets with 4401. Ignore their further frames."""
        for connection in tuple(self.connections):
            if connection.login == login:
                self._end(connection, LOGGED_OUT)

    def revoke(self) -> None:
        """Close all connections of principals whose token was revoked or has expired, in the same way."""
        for connection in tuple(self.connections):
            principal = connection.principal
            if principal is None or principal.id is None or connection.logged_out.is_set():
                continue
            if not principal.still_is(self.context.principals.of_id(principal.id)):
                self._end(connection, REVOKED)

    def _end(self, connection: FrontendConnection, why: str) -> None:
        connection.logged_out.set()
        connection.over = why
        if connection.reader is not None:
            connection.reader.close()
        if connection.protocol.state is State.OPEN:
            self.context.tasks.create_task(connection.close(CloseCode.UNAUTHORIZED, why))
        elif connection.streams:
            connection.transport.abort()

    async def beat(self) -> None:
        """Ask all peers whether they live, now and then; runs until it is cancelled."""
        time, ping_s = asyncio.get_running_loop().time, self.context.config.limits.ping_s
        now = time()
        while True:
            due = now + ping_s
            await asyncio.sleep(due - now)
            now = time()
            for connection in tuple(self.connections):
                try:
                    connection.beat(now, max(now - due, 0))
                except Exception:
                    # The others are asked all the same, now and later.
                    log.exception("A ping could not be sent to a peer.", extra={"peer": connection.address})

    async def _answer(self, connection: ServerConnection, head: Request) -> Response | None:
        assert isinstance(connection, FrontendConnection), "made by create_connection"
        try:
            return await self._decide(connection, head)
        finally:
            # websockets writes the answer before it lets anything else run
            asyncio.get_running_loop().call_soon(connection.answered)

    async def _decide(self, connection: FrontendConnection, head: Request) -> Response | None:
        # A repeated Host or Origin becomes one that is not allowed; repeated cookies stay readable.
        names = {name.lower() for name in head.headers}
        headers = {
            name: ("; " if name == "cookie" else ", ").join(head.headers.get_all(name)) for name in names
        }
        by_proxy = self.proxies.trusts(connection.address)
        client = self.proxies.client(connection.address, headers)
        if client != connection.address:
            connection.comes_from(client)
        request = HttpRequest(head.method, head.path, headers, connection.address, by_proxy)
        match await self._routes.decide(request):
            case Upgrade() as upgrade:
                connection.upgrade = upgrade
                connection.login = upgrade.login
                if upgrade.principal is not None and not connection.admitted(upgrade.principal):
                    return _response(refuse("too_many_connections"))
                return None
            case HttpAnswer() as answer:
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                    await self._wait(connection)
                return _response(answer)
            case Stream() as stream:
                if not connection.admitted(stream.principal):
                    return _response(refuse("too_many_connections"))
                await self._stream(connection, stream)
                # The connection is closed by now, so that this is not sent.
                return _response(HttpAnswer(HTTPStatus.OK))

    async def _wait(self, connection: FrontendConnection) -> None:
        """Delay a peer that guesses tokens. It keeps its place among its address's newcomers meanwhile."""
        try:
            async with asyncio.timeout(self.context.config.limits.wrong_token_s):
                await connection.wait_closed()
        except TimeoutError:
            pass

    async def _stream(self, connection: FrontendConnection, stream: Stream) -> None:
        connection.streams = True
        connection.answered()
        connection.login = stream.login
        context, sink = self.context, EventStream(connection)
        reader = connection.reader = FrontendReader(context.pages, context.feeds, sink)
        reader.hides_faults = not stream.principal.sees_all
        reader.subscribe(stream.session, stream.cursor)
        async with TaskOwner() as tasks:
            delivery = tasks.keep("events of a stream", reader.run())
            closed = tasks.begin("the end of a stream", connection.wait_closed())
            try:
                await asyncio.wait((delivery, closed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                reader.close()
                delivery.cancel()
                connection.transport.close()
                await closed

    async def _converse(self, connection: ServerConnection) -> None:
        assert isinstance(connection, FrontendConnection), "made by create_connection"
        if (code := connection.upgrade.refused) is not None:
            if code is CloseCode.TOO_MANY:
                await self._wait(connection)
            await connection.close(
                code, "the token is wrong" if code is CloseCode.UNAUTHORIZED else "too many wrong tokens"
            )
            return
        if connection.logged_out.is_set():
            await connection.close(CloseCode.UNAUTHORIZED, connection.over)
            return
        handler = ConnectionHandler(self.context, connection, connection.upgrade.principal)
        try:
            async with asyncio.TaskGroup() as tasks:
                delivery = tasks.create_task(handler.reader.run())
                if await handler.authenticate(connection.recv):
                    connection.reader = handler.reader
                    async for frame in connection:
                        if connection.principal is not None and connection.principal.id is not None:
                            # What is said after a token was revoked is not heard, however the news of it travels.
                            self.context.principals.refresh()
                        if connection.logged_out.is_set():
                            break
                        await handler.handle_frame(frame)
                delivery.cancel()
        except* ConnectionClosed:
            pass
        finally:
            handler.leave()


def _select_subprotocol(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this hub speaks only {SUBPROTOCOL}; request it as the WebSocket subprotocol")
    return SUBPROTOCOL


def _response(answer: HttpAnswer) -> Response:
    headers = Headers(SECURITY_HEADERS)
    headers["Content-Type"] = answer.content_type
    headers["Content-Length"] = str(len(answer.body))
    headers["Connection"] = "close"
    for name, value in answer.headers.items():
        headers[name] = value
    return Response(
        answer.status, HTTPStatus(answer.status).phrase, headers, b"" if answer.head_only else answer.body
    )


def serialized(answer: HttpAnswer) -> bytes:
    """Return an answer as it is sent."""
    return _response(answer).serialize()
