"""Serves one port of a sandbox to browsers, on an origin of its own: a listener for each port, and a link for each frontend.

A link opens once and becomes a cookie. Each connection carries one request: turnwire reads its head, takes its own cookies out
of it and never reads a second one. So a server in the sandbox gets no cookie of the hub, and cannot pass on what a role may not send.
The role view may send GET and HEAD. The server's answer passes unread, up to its end.
"""

import asyncio
import hmac
import logging
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from turnwire._runtime.task_owner import TaskOwner
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

log = logging.getLogger(__name__)

Connect = Callable[[], Awaitable[socket.socket]]
"""Connects to the server in the sandbox; raises TurnwireError when nothing listens."""

HEAD_LIMIT = 1 << 16
"""Bytes of a request's head."""
HEAD_S = 30.0
"""Seconds for it."""
LONGEST_LENGTH = 15
"""Digits of a body's length."""
LINK_S = 300.0
"""Seconds that a link can be used."""
VISIT_S = 12 * 3600.0
"""Seconds that a browser may come back."""
MOST_CONNECTIONS = 64
"""Connections of one port at a time."""
MOST_VISITS = 64
"""Links and browsers of one port; the oldest is forgotten."""
PIECE = 1 << 16
KEY = "turnwire_key"
"""The parameter of a link."""
READS = ("GET", "HEAD")
"""What the role view may send."""


class BadHead(TurnwireError, ValueError):
    """A request that is not passed on: its status, and why."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Visit(Struct, frozen=True):
    """Who may come in."""

    role: Role
    until: float


class PortServer:
    """One port of one session."""

    def __init__(self, port: int, connect: Connect, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.port = port
        self.name = secrets.token_hex(8)
        """Its host below `localhost`, so that browsers keep its cookies apart from those of every other port."""
        self._connect = connect
        self._clock = clock
        self._links: dict[str, Visit] = {}
        self._visits: dict[str, Visit] = {}
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self, host: str) -> None:
        """Listen on any free port of an address; raises OSError."""
        self._server = await asyncio.start_server(self._serve, host, 0, limit=HEAD_LIMIT)

    @property
    def origin_port(self) -> int:
        """Where it listens."""
        assert self._server is not None, "it was started"
        return int(self._server.sockets[0].getsockname()[1])

    def link(self, role: Role) -> str:
        """Return path and query of a new link that lets one browser in, once."""
        key = secrets.token_urlsafe(24)
        _keep(self._links, key, Visit(role, self._clock() + LINK_S))
        return f"/?{KEY}={key}"

    async def close(self) -> None:
        """Serve nobody any more."""
        if self._server is not None:
            self._server.close()
        for task in set(self._serving):
            task.cancel()
        if self._serving:
            await asyncio.wait(set(self._serving))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            if len(self._serving) > MOST_CONNECTIONS:
                raise BadHead("503 Service Unavailable", f"there are {MOST_CONNECTIONS} connections already")
            async with asyncio.timeout(HEAD_S):
                head = read_head(await reader.readuntil(b"\r\n\r\n"))
            await self._answer(head, reader, writer)
        except BadHead as error:
            _say(writer, error.status, str(error))
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the browser has gone, or sends no request
        finally:
            self._serving.discard(task)
            with suppress(OSError):
                await writer.drain()
            writer.close()

    async def _answer(self, head: "Head", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        where = urlsplit(head.target)
        query = parse_qsl(where.query, keep_blank_values=True)
        key = dict(query).get(KEY)
        if key is not None:
            link = self._links.pop(key, None)
            if link is None or link.until < self._clock():
                raise BadHead("403 Forbidden", "this link was used, or is too old; open the port again")
            cookie = secrets.token_urlsafe(24)
            _keep(self._visits, cookie, Visit(link.role, self._clock() + VISIT_S))
            # Lax: a link in the console leads here from another site, and its redirect would not carry a strict cookie
            rest = urlencode([(name, value) for name, value in query if name != KEY])
            fields = {
                "Location": urlunsplit(("", "", where.path or "/", rest, "")),
                "Set-Cookie": f"{self._cookie}={cookie}; HttpOnly; SameSite=Lax; Path=/",
                "Referrer-Policy": "no-referrer",
            }
            _say(writer, "303 See Other", "", fields)
            return
        visit = self._visit(head.cookies.get(self._cookie, ""))
        origin = head.fields.get("origin")
        if origin is not None and urlsplit(origin).netloc != head.fields.get("host"):
            raise BadHead("403 Forbidden", "another page asks; only this port's own pages may")
        upgrade = head.fields.get("upgrade", "").lower()
        if visit.role != "control" and (head.method not in READS or upgrade):
            raise BadHead("403 Forbidden", "the role view may only read here: GET and HEAD, no WebSocket")
        await self._pass_on(head, reader, writer, is_upgrade=bool(upgrade))

    @property
    def _cookie(self) -> str:
        return f"turnwire-port-{self.name}"

    def _visit(self, cookie: str) -> Visit:
        for known, visit in self._visits.items():
            if hmac.compare_digest(known.encode(), cookie.encode()) and visit.until > self._clock():
                return visit
        raise BadHead("403 Forbidden", "open this port in turnwire; its link lets this browser in")

    async def _pass_on(
        self,
        head: "Head",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_upgrade: bool,
    ) -> None:
        try:
            there, to_server = await asyncio.open_connection(sock=await self._connect())
        except (TurnwireError, OSError) as error:
            raise BadHead("502 Bad Gateway", str(error)) from None
        try:
            to_server.write(head.forwarded(self.port, is_upgrade=is_upgrade))
            async with TaskOwner() as tasks:
                length = None if is_upgrade else head.length
                tasks.begin("body of a request", _copy(reader, to_server, length, ends=is_upgrade))
                await _copy(there, writer, None, ends=True)
        finally:
            to_server.close()


class Head(Struct, frozen=True):
    """The head of a request."""

    method: str
    target: str
    lines: list[tuple[str, str]]

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields by their names in lower case; the last of a name."""
        return {name.lower(): value for name, value in self.lines}

    @property
    def cookies(self) -> Mapping[str, str]:
        """Names and values of its cookies."""
        pairs = (
            part.strip().partition("=")
            for name, value in self.lines
            if name.lower() == "cookie"
            for part in value.split(";")
        )
        return {name: value for name, _, value in pairs}

    @property
    def length(self) -> int:
        """Bytes of the body."""
        return int(self.fields.get("content-length", "0"))

    def forwarded(self, port: int, *, is_upgrade: bool) -> bytes:
        """Return the head as the server gets it: for its own address, without cookies of turnwire, and with no request after it."""
        dropped = {
            "host",
            "cookie",
            "connection",
            "keep-alive",
            "proxy-connection",
            "origin",
            "referer",
            "te",
        }
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: localhost:{port}"]
        lines += [f"{name}: {value}" for name, value in self.lines if name.lower() not in dropped]
        own = [f"{name}={value}" for name, value in self.cookies.items() if not name.startswith("turnwire")]
        if own:
            lines.append(f"Cookie: {'; '.join(own)}")
        if "origin" in self.fields:
            lines.append(f"Origin: http://localhost:{port}")
        lines.append(f"Connection: {'Upgrade' if is_upgrade else 'close'}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def read_head(raw: bytes) -> Head:
    """Read a request's head; raises BadHead for what could be read in two ways (RFC 9112, 6.3 and 11.2)."""
    first, *rest = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0") or not words[1].startswith("/"):
        raise BadHead("400 Bad Request", "this is no request of HTTP/1.1 for a path")
    lines = []
    for line in rest:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or any(one in line for one in "\r\n\0"):
            raise BadHead("400 Bad Request", "a header field is malformed")
        lines.append((name, value.strip()))
    head = Head(words[0], words[1], lines)
    names = [name.lower() for name, _ in lines]
    if names.count("host") != 1 or names.count("content-length") > 1:
        raise BadHead("400 Bad Request", "Host must be there once, and Content-Length at most once")
    if "transfer-encoding" in names:
        raise BadHead("411 Length Required", "send the body with Content-Length")
    length = head.fields.get("content-length", "0")
    if not length.isdecimal() or len(length) > LONGEST_LENGTH:
        raise BadHead("400 Bad Request", "Content-Length is no number, or too large a one")
    return head


def _keep(kept: dict[str, Visit], key: str, visit: Visit) -> None:
    while len(kept) >= MOST_VISITS:
        del kept[next(iter(kept))]
    kept[key] = visit


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None, *, ends: bool
) -> None:
    """Pass bytes on, at most so many, to the end of the reader; `ends`: end the writer then."""
    left = most
    try:
        while left is None or left > 0:
            piece = await reader.read(PIECE if left is None else min(PIECE, left))
            if not piece:
                break
            left = None if left is None else left - len(piece)
            writer.write(piece)
            await writer.drain()
        if ends and writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()  # one side was cut off: the other hears of it


def _say(
    writer: asyncio.StreamWriter, status: str, text: str, fields: Mapping[str, str] | None = None
) -> None:
    body = f"turnwire: {text}\n".encode() if text else b""
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(body)}"]
    lines += [
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
        *(f"{name}: {value}" for name, value in (fields or {}).items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
