"""A port of a sandbox, served on an origin of its own: who is let in, and what the server behind it gets."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from turnwire.hub.server.port_server import KEY, BadHead, PortServer, read_head
from turnwire.protocol.errors import TurnwireError


class Behind:
    """A server that notes what it gets, and answers once it has the body."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        self.stays = False
        self.server: asyncio.Server | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        self.got.append(head + await reader.readexactly(length))
        writer.write(self.answer)
        if self.stays:
            self.got.append(await reader.read())
        writer.close()

    async def connect(self) -> socket.socket:
        assert self.server is not None
        made = socket.socket()
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, self.server.sockets[0].getsockname())
        return made


@asynccontextmanager
async def served() -> AsyncIterator[tuple[PortServer, Behind]]:
    behind = Behind()
    behind.server = await asyncio.start_server(behind.serve, "127.0.0.1", 0)
    port = PortServer(5173, behind.connect)
    await port.start("127.0.0.1")
    try:
        yield port, behind
    finally:
        await port.close()
        behind.server.close()


async def sent(port: PortServer, raw: bytes) -> bytes:
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port.origin_port)
        writer.write(raw)
        answer = await reader.read()
        writer.close()
        return answer


def request(line: str, *fields: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"{line} HTTP/1.1", "Host: here", *fields, "", ""]).encode() + body


async def cookie_of(port: PortServer, link: str) -> str:
    answer = (await sent(port, request(f"GET {link}&page=2"))).decode()
    assert answer.startswith("HTTP/1.1 303")
    assert "Location: /?page=2\r\n" in answer
    assert "HttpOnly; SameSite=Lax" in answer
    return answer.partition("Set-Cookie: ")[2].partition(";")[0]


async def test_a_link_lets_one_browser_in_and_the_server_gets_no_cookie_of_turnwire() -> None:
    async with served() as (port, behind):
        assert b"403" in await sent(port, request("GET /"))
        link = port.link("control")
        cookie = await cookie_of(port, link)
        assert b"this link was used" in await sent(port, request(f"GET {link}"))
        answer = await sent(
            port,
            request(
                "POST /save",
                f"Cookie: turnwire-8790=hub; {cookie}; own=1",
                "Origin: http://here",
                "Connection: keep-alive",
                "Content-Length: 3",
                body=b"abc",
            ),
        )
        assert answer.endswith(b"hello")
        (got,) = behind.got
        assert got.decode().split("\r\n") == [
            "POST /save HTTP/1.1", "Host: localhost:5173", "Content-Length: 3", "Cookie: own=1", "Origin: http://localhost:5173",
            "Connection: close", "", "abc",
        ]  # fmt: skip


async def test_the_role_view_reads_and_does_nothing_else() -> None:
    async with served() as (port, behind):
        cookie = await cookie_of(port, port.link("view"))
        assert (await sent(port, request("GET /", f"Cookie: {cookie}"))).endswith(b"hello")
        behind.got.clear()
        for line, *fields in (
            ["POST /", "Content-Length: 0"],
            ["DELETE /"],
            ["GET /", "Upgrade: websocket", "Connection: Upgrade"],
        ):
            assert b"403" in await sent(port, request(line, f"Cookie: {cookie}", *fields))
        assert behind.got == []


async def test_a_length_of_thousands_of_digits_is_refused_in_a_sentence() -> None:
    async with served() as (port, behind):
        cookie = await cookie_of(port, port.link("control"))
        answer = await sent(port, request("POST /", f"Cookie: {cookie}", f"Content-Length: {'9' * 5000}"))
        assert answer.startswith(b"HTTP/1.1 400 Bad Request")
        assert b"Content-Length is no number, or too large a one" in answer
        assert behind.got == []


async def test_a_second_request_on_a_connection_is_never_passed_on() -> None:
    async with served() as (port, behind):
        behind.stays = True
        cookie = await cookie_of(port, port.link("view"))
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port.origin_port)
            writer.write(
                request("GET /", f"Cookie: {cookie}") + request("POST /pay", "Cookie: turnwire-8790=hub")
            )
            assert (await reader.readexactly(len(behind.answer))) == behind.answer
            writer.close()
        await port.close()
        assert b"POST" not in b"".join(behind.got)


async def test_a_websocket_passes_both_ways() -> None:
    async with served() as (port, behind):
        behind.stays = True
        behind.answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
        cookie = await cookie_of(port, port.link("control"))
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port.origin_port)
            writer.write(
                request("GET /hmr", f"Cookie: {cookie}", "Upgrade: websocket", "Connection: Upgrade")
            )
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"ping")
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()
        assert b"Connection: Upgrade" in behind.got[0]
        assert behind.got[1] == b"ping"


async def test_another_page_and_a_server_that_has_gone_are_told() -> None:
    async def nothing() -> socket.socket:
        raise TurnwireError("nothing listens on port 5173 in this sandbox")

    port = PortServer(5173, nothing)
    await port.start("127.0.0.1")
    cookie = await cookie_of(port, port.link("control"))
    foreign = await sent(port, request("GET /", f"Cookie: {cookie}", "Origin: http://elsewhere"))
    assert b"another page asks" in foreign
    assert b"502 Bad Gateway" in (gone := await sent(port, request("GET /", f"Cookie: {cookie}")))
    assert b"nothing listens on port 5173" in gone
    await port.close()


def test_links_and_visits_end() -> None:
    now = 0.0
    port = PortServer(1, lambda: None, clock=lambda: now)  # type: ignore[arg-type, return-value]
    links = [port.link("control") for _ in range(100)]
    assert len(set(links)) == 100
    assert len(port._links) == 64
    assert KEY in links[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"GET http://elsewhere/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/2\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: b\nCookie: c\r\n\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    with pytest.raises(BadHead):
        read_head(raw)
