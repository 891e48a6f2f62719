"""The proxy of one session: it takes connections of the sandbox and makes those that the gate admits (RFC 9110, 3.7 and 9.3.6).

It speaks HTTP: CONNECT, and requests with a whole address. It resolves names itself and connects to the address that was judged.
Bytes pass unread. Each connection is logged with its host and how many bytes went each way.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from turnwire.adapter.sandbox.gate import HostGate, HostRefused
from turnwire.adapter.sandbox.hosts import Target, read_target
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

_DROPPED = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:", b"host:")


class BadRequest(TurnwireError, ValueError):
    """A request that is none a proxy takes."""


class Proxy:
    """Serves the connections of one session's sandboxes."""

    def __init__(self, gate: HostGate) -> None:
        self._gate = gate
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
                await self._connect(Target("127.0.0.1", port), reader, writer)

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
            head = await reader.readuntil(b"\r\n\r\n")
        try:
            target, forwarded = read_request(head)
        except BadRequest as error:
            await _answer(writer, "400 Bad Request", str(error))
            return
        try:
            await self._connect(target, reader, writer, forwarded)
        except HostRefused as error:
            await _answer(writer, "403 Forbidden", str(error))
        except OSError as error:
            await _answer(writer, "502 Bad Gateway", f"{target} cannot be reached: {error.strerror or error}")

    async def _connect(
        self,
        target: Target,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        forwarded: bytes | None = b"",
    ) -> None:
        """Connect to an admitted host and pass bytes both ways.

        `forwarded` is what it is told first; None answers the request to connect instead.
        """
        address = await self._gate.admit(target)
        async with asyncio.timeout(CONNECT_S):
            far_reader, far_writer = await asyncio.open_connection(address, target.port, limit=PIECE)
        sent = received = 0
        try:
            if forwarded is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(forwarded)
            sent, received = await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
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
        raise BadRequest("this is no request of HTTP") from None
    if method == "CONNECT":
        target = read_target(where)
        if target is None:
            raise BadRequest("CONNECT needs HOST:PORT")
        return target, None
    try:
        url = urlsplit(where)
        target = read_target(url.netloc.rpartition("@")[2], 80)
    except ValueError:
        raise BadRequest("this is no address") from None
    if url.scheme != "http" or target is None:
        raise BadRequest("write the whole address, such as http://HOST/PATH; https goes by CONNECT")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    fields = [one for one in rest.split(b"\r\n") if one and not one.lower().startswith(_DROPPED)]
    host = str(target).removesuffix(":80")
    lines = [f"{method} {path} {version}".encode(), f"Host: {host}".encode(), *fields, b"Connection: close"]
    return target, b"\r\n".join(lines) + b"\r\n\r\n"
