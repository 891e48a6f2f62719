"""The other ways to the proxy of a sandbox: SOCKS 5, and a proxy that this machine itself needs."""

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from turnwire.adapter.sandbox.gate import HostGate
from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.proxy import Proxy
from turnwire.adapter.sandbox.upstream import Upstream


async def unknown(host: str, port: int) -> Sequence[str]:
    raise OSError(f"{host} is not known")


@asynccontextmanager
async def served(proxy: Proxy) -> AsyncIterator[int]:
    async with await asyncio.start_server(proxy.serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        await proxy.close()


@asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers one head and ends."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heads


async def said(port: int, *pieces: bytes) -> bytes:
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"".join(pieces))
        answer = await reader.read()
        writer.close()
        return answer


def socks(host: bytes, port: int, *, command: int = 1) -> bytes:
    return (
        b"\x05\x01\x00\x05"
        + bytes([command])
        + b"\x00\x03"
        + bytes([len(host)])
        + host
        + struct.pack("!H", port)
    )


async def test_socks_reaches_what_is_listed_and_nothing_else() -> None:
    async with listening(b"HTTP/1.1 200 OK\r\n\r\nhello") as (there, heads):  # noqa: SIM117 - the second needs the first
        async with served(Proxy(HostGate([f"127.0.0.1:{there}"]))) as port:
            answer = await said(port, socks(b"127.0.0.1", there), b"GET / HTTP/1.1\r\n\r\n")
            assert answer == b"\x05\x00" + b"\x05\x00\x00\x01" + bytes(6) + b"HTTP/1.1 200 OK\r\n\r\nhello"
            assert heads == [b"GET / HTTP/1.1\r\n\r\n"]
            for host in (b"new.example", b"169.254.169.254", b"127.1", b"localhost"):
                assert (await said(port, socks(host, 80)))[2:4] == b"\x05\x02"
            assert (await said(port, socks(b"a b", 80)))[2:4] == b"\x05\x04"
            assert (await said(port, socks(b"127.0.0.1", there, command=2)))[2:4] == b"\x05\x07"
            assert (await said(port, b"\x05\x01\x00\x05\x01\x00\x09"))[2:4] == b"\x05\x08"
            assert await said(port, b"\x05\x01\x02") == b"\x05\xff"
            v4 = b"\x05\x01\x00\x05\x01\x00\x01" + bytes([127, 0, 0, 1]) + struct.pack("!H", there)
            assert (await said(port, v4, b"GET / HTTP/1.1\r\n\r\n")).endswith(b"hello")
            v6 = (
                b"\x05\x01\x00\x05\x01\x00\x04"
                + bytes(10)
                + b"\xff\xff\x7f\x00\x00\x01"
                + struct.pack("!H", 22)
            )
            assert (await said(port, v6))[2:4] == b"\x05\x02"


async def test_a_proxy_that_the_machine_needs_gets_the_name_of_an_allowed_host() -> None:
    answer = b"HTTP/1.1 200 OK\r\n\r\n"
    async with listening(answer) as (there, heads):
        upstream = Upstream.of_environment(
            {"HTTPS_PROXY": f"http://me:s%20t@127.0.0.1:{there}", "NO_PROXY": "near.example"}
        )
        assert upstream is not None
        gate = HostGate(["far.example", "near.example"], resolve=unknown, is_behind=upstream.takes)
        async with served(Proxy(gate, upstream)) as port:
            secret = b"Proxy-Authorization: Basic bWU6cyB0\r\n"
            assert b"200 Connection established" in await said(
                port, b"CONNECT far.example:443 HTTP/1.1\r\n\r\n"
            )
            assert (
                heads.pop()
                == b"CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n" + secret + b"\r\n"
            )
            assert await said(port, b"GET http://far.example/x HTTP/1.1\r\nA: b\r\n\r\n") == answer
            assert heads.pop().startswith(
                b"GET http://far.example/x HTTP/1.1\r\n" + secret + b"Host: far.example\r\n"
            )
            assert b"403" in await said(port, b"CONNECT new.example:443 HTTP/1.1\r\n\r\n")
            assert b"near.example is not known" in await said(
                port, b"CONNECT near.example:443 HTTP/1.1\r\n\r\n"
            )
            assert heads == []


async def test_a_proxy_that_refuses_is_told() -> None:
    async with listening(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as (there, _):
        upstream = Upstream("127.0.0.1", there, None, ())
        gate = HostGate(["far.example"], resolve=unknown, is_behind=upstream.takes)
        async with served(Proxy(gate, upstream)) as port:
            answer = await said(port, b"CONNECT far.example:443 HTTP/1.1\r\n\r\n")
            assert b"502" in answer
            assert b"407 Proxy Authentication Required" in answer


def test_which_proxy_a_machine_needs() -> None:
    assert Upstream.of_environment({}) is None
    assert Upstream.of_environment({"http_proxy": "cache:3128"}) == Upstream("cache", 3128, None, ())
    with pytest.raises(ValueError, match="HTTPS_PROXY names a proxy that the sandbox cannot use"):
        Upstream.of_environment({"HTTPS_PROXY": "socks5://a:1"})
    upstream = Upstream("cache", 3128, None, ("example.org", "a.test:8443"))
    hosts = [
        ("b.example.org", 443),
        ("badexample.org", 443),
        ("a.test", 8443),
        ("a.test", 443),
        ("127.0.0.1", 80),
    ]
    assert [upstream.takes(Target(*one)) for one in hosts] == [False, True, False, True, False]


@pytest.mark.parametrize(
    "field", [b"Host : b", b" folded", b"X: a\nHost: b", b"X: a\rHost: b", b"X: a\0b", b": c"]
)
async def test_a_field_that_can_be_read_in_two_ways_is_refused(field: bytes) -> None:
    async with served(Proxy(HostGate(["a.test"], resolve=unknown))) as port:
        answer = await said(port, b"GET http://a.test/ HTTP/1.1\r\n" + field + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")


@asynccontextmanager
async def keeping() -> AsyncIterator[tuple[int, asyncio.Queue[bytes]]]:
    """A proxy that reads on after a request, as some do. It keeps all that comes until the end."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.put_nowait(await reader.read())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard


@pytest.mark.parametrize(
    ("fields", "body", "passed"),
    [
        (b"", b"", b""),
        (b"Content-Length: 3\r\n", b"abc", b"abc"),
        (b"Transfer-Encoding: chunked\r\n", b"3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
        (b"Content-Length: 3\r\n", None, b"ab"),
        (b"Transfer-Encoding: chunked\r\n", b"3\nabc\r\n0\r\n\r\n", b""),
        (b"Transfer-Encoding: chunked\r\n", b"1\r\nabc\r\n0\r\n\r\n", b"1\r\na"),
    ],
)
async def test_a_second_request_on_a_connection_reaches_no_proxy(
    fields: bytes, body: bytes | None, passed: bytes
) -> None:
    """The gate has judged the first alone, and a proxy would pass the second on to whatever host it names."""
    second = b"GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"
    served_all = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await proxy.serve(reader, writer)
        served_all.set()

    async with keeping() as (there, heard), asyncio.timeout(10):
        upstream = Upstream("127.0.0.1", there, None, ())
        gate = HostGate(["far.example:80"], resolve=unknown, is_behind=upstream.takes)
        proxy = Proxy(gate, upstream)
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
            writer.write(b"POST http://far.example/ HTTP/1.1\r\n" + fields + b"\r\n")
            writer.write(b"ab" if body is None else body + second)
            writer.write_eof()
            await reader.read()
            writer.close()
            await served_all.wait()
            said_there = await heard.get()
    head, _, rest = said_there.partition(b"\r\n\r\n")
    assert head.startswith(b"POST http://far.example/ HTTP/1.1\r\nHost: far.example\r\n")
    assert rest == passed
