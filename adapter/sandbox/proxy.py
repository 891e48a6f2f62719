"""The proxy of one session: it takes connections of the sandbox and makes those that the gate admits (RFC 9110, 3.7 and 9.3.6).

It speaks HTTP (CONNECT, and requests with a whole address) and SOCKS 5 without a password (RFC 1928). It resolves names itself and connects to the address that was judged.
The bytes of a tunnel pass unread. A connection with a plain request carries that request alone. Each connection is logged with its host and how many bytes went each way.
"""

import asyncio
import logging
import re
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from turnwire.adapter.sandbox.bodies import body_size, pass_body
from turnwire.adapter.sandbox.gate import HostGate, HostRefused
from turnwire.adapter.sandbox.hosts import Target, read_target
from turnwire.adapter.sandbox.upstream import Upstream
from turnwire.protocol.errors import TurnwireError

log = logging.getLogger(__name__)

PIECE = 1 << 16
HEAD_LIMIT = 1 << 16
"""Bytes of a request's head."""
HEAD_S = 30.0
"""Seconds for it."""
CONNECT_S = 30.0
MOST_CONNECTIONS = 256
"""Connections of one session at a time."""

CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"
SOCKS5 = b"\x05"

_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VERSION = re.compile(r"HTTP/1\.[0-9]")
_DROPPED = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:", b"host:")


class BadRequest(TurnwireError, ValueError):
    """A request that is none a proxy takes."""


class Proxy:
    """Serves the connections of one session's sandboxes."""

    def __init__(self, gate: HostGate, upstream: Upstream | None = None) -> None:
        """`upstream`: a proxy that this machine itself needs."""
        self._gate = gate
        self._upstream = upstream
        self._open = 0
        self._serving: set[asyncio.Task[object]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to the proxy."""
        async with self._place(writer) as has_place:
            if has_place:
                await self._serve(reader, writer)

    async def relay_port(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to a port of this machine that the operator has listed."""
        async with self._place(writer) as has_place:
            if has_place:
                await self._connect(Target("127.0.0.1", port), reader, writer, b"")

    @asynccontextmanager
    async def _place(self, writer: asyncio.StreamWriter) -> AsyncIterator[bool]:
        """Hold one of the connections there may be, and close it at the end."""
        has_place = self._open < MOST_CONNECTIONS
        self._open += has_place
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            yield has_place
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the other side has gone, or it says what is no request
        finally:
            self._serving.discard(task)
            self._open -= has_place
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def close(self) -> None:
        """End every connection."""
        while self._serving:
            for task in self._serving:
                task.cancel()
            await asyncio.wait(set(self._serving))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_S):
            first = await reader.readexactly(1)
            if first == SOCKS5:
                target = await _socks_target(reader, writer)
            else:
                head = first + await reader.readuntil(b"\r\n\r\n")
        if first == SOCKS5:
            if target is not None:
                await self._serve_socks(target, reader, writer)
            return
        try:
            target, forwarded = read_request(head)
        except BadRequest as error:
            await _answer(writer, "400 Bad Request", str(error))
            return
        try:
            await self._connect(target, reader, writer, CONNECTED if forwarded is None else b"", forwarded)
        except HostRefused as error:
            await _answer(writer, "403 Forbidden", str(error))
        except OSError as error:
            await _answer(writer, "502 Bad Gateway", f"{target} cannot be reached: {error.strerror or error}")

    async def _serve_socks(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await self._connect(target, reader, writer, _socks_reply(0))
        except HostRefused:
            writer.write(_socks_reply(2))  # not allowed by ruleset; sandbox_denied says why
        except OSError:
            writer.write(_socks_reply(4))
        with suppress(OSError):
            await writer.drain()

    async def _connect(
        self,
        target: Target,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        told: bytes,
        forwarded: bytes | None = None,
    ) -> None:
        """Connect to an admitted host and pass bytes both ways.

        `told` is what the client is told once there is a connection, `forwarded` the head of a plain request.
        """
        address = await self._gate.admit(target)
        upstream = None if self._upstream is None or not self._upstream.takes(target) else self._upstream
        where = (address, target.port) if upstream is None else (upstream.host, upstream.port)
        async with asyncio.timeout(CONNECT_S):
            far_reader, far_writer = await asyncio.open_connection(*where, limit=PIECE)
        sent = received = 0
        try:
            if upstream is not None and forwarded is None:
                async with asyncio.timeout(CONNECT_S):
                    await upstream.connect(target, far_reader, far_writer)
            writer.write(told)
            if forwarded is not None:
                far_writer.write(forwarded if upstream is None else upstream.whole(target, forwarded))
            outward = (
                _pass_on(reader, far_writer)
                if forwarded is None
                else pass_body(reader, far_writer, body_size(forwarded))
            )
            sent, received = await asyncio.gather(outward, _pass_on(far_reader, writer))
        finally:
            far_writer.close()
            with suppress(OSError):
                await far_writer.wait_closed()
            log.info(
                "a connection of the sandbox", extra={"host": str(target), "sent": sent, "received": received}
            )


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    """Pass on bytes until their end, which is passed on as well; return how many there were."""
    count = 0
    try:
        while piece := await reader.read(PIECE):
            count += len(piece)
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()  # one side was cut off: the other hears of it
    return count


async def _socks_target(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Target | None:
    """Read where a client of SOCKS 5 wants to go; None, and it is told, for what is no request to connect."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if 0 not in methods:
        writer.write(b"\x05\xff")
        return None
    writer.write(b"\x05\x00")
    _, command, _, kind = await reader.readexactly(4)
    match kind:
        case 1 | 4:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(size))
        case 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii", "replace")
        case _:
            writer.write(_socks_reply(8))
            return None
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    target = read_target(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    if command != 1 or target is None:
        writer.write(_socks_reply(7 if command != 1 else 4))
        return None
    return target


def _socks_reply(code: int) -> bytes:
    return b"\x05" + bytes([code]) + b"\x00\x01" + bytes(6)


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"turnwire's sandbox: {text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


def read_request(head: bytes) -> tuple[Target, bytes | None]:
    """Return where a request goes, and its head as the server is to get it; None for CONNECT. Raises BadRequest."""
    line, _, rest = head.partition(b"\r\n")
    try:
        method, where, version = line.decode("ascii").split(" ")
    except ValueError:
        raise BadRequest("this is not an HTTP request") from None
    # a line feed in either would be the end of the line to some servers
    if _METHOD.fullmatch(method) is None or _VERSION.fullmatch(version) is None:
        raise BadRequest("this is not a request of HTTP/1.1")
    if method == "CONNECT":
        target = read_target(where)
        if target is None:
            raise BadRequest("CONNECT needs HOST:PORT")
        return target, None
    try:
        url = urlsplit(where)
        target = read_target(url.netloc.rpartition("@")[2], 80)
    except ValueError:
        raise BadRequest("the request names no address; write http://HOST/PATH") from None
    if url.scheme != "http" or target is None:
        raise BadRequest("write the whole address, such as http://HOST/PATH; https goes by CONNECT")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if any(_FIELD.fullmatch(one) is None for one in rest.removesuffix(b"\r\n\r\n").split(b"\r\n") if one):
        raise BadRequest("a header field is malformed")  # servers read such a field in different ways
    try:
        body_size(head)
    except ValueError as error:
        raise BadRequest(f"the size of the body is not clear: {error}") from None
    fields = [one for one in rest.split(b"\r\n") if one and not one.lower().startswith(_DROPPED)]
    host = str(target).removesuffix(":80")
    lines = [f"{method} {path} {version}".encode(), f"Host: {host}".encode(), *fields, b"Connection: close"]
    return target, b"\r\n".join(lines) + b"\r\n\r\n"
