"""What is a request, and what is told of each head that is none."""

import asyncio

import pytest
from hub_harness import hub_harness

from turnwire.hub.server.head import LARGEST, fault

HOST = b"Host: 127.0.0.1:80\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /a?b=%00 HTTP/1.0\r\nhost: [::1]:8790\r\n\r\n",
        b"POST /login HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Cookie: a=\xc3\xa9; b=1\r\nCookie: c=2\r\nX-Empty:\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: my-name.localhost \r\n\r\n",
    ],
)
def test_a_request_is_one(head: bytes) -> None:
    assert fault(head) is None
    assert all(fault(head[:size]) is None or head[:size].endswith(b"\r\n\r\n") for size in range(len(head)))


FAULTY = {
    b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n": "has 2",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80, evil.com\r\n\r\n": "Host header must be one",
    b"GET / HTTP/1.1\r\nHost: evil.com, x.localhost\r\n\r\n": "Host header must be one",
    b"GET / HTTP/1.1\r\nHost: a@127.0.0.1\r\n\r\n": "Host header must be one",
    b"GET / HTTP/1.1\r\n\r\n": "has 0",
    b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello": "has a body",
    b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n": "has a body",
    b"GET / HTTP/1.1\nHost: 127.0.0.1\n\n": "CR LF",
    b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n": "CR that ends no line",
    b"GET / HTTP/1.1\r\n" + HOST + b"\rX: a\r\n\r\n": "CR that ends no line",
    b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n": "NUL",
    b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n": "NUL",
    b"GET / HTTP/1.1\r\n" + HOST + b" folded\r\n\r\n": "Name: value",
    b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n": "Name: value",
    b"GET http://evil.com/ HTTP/1.1\r\n" + HOST + b"\r\n": "first line",
    b"PRI * HTTP/2.0\r\n\r\n": "first line",
    b"GET / HTTP/1.1\r\nX: " + b"x" * LARGEST: "larger than",
    b"\x16\x03\x01\x02\x00\x01\x00": "NUL",
}


async def test_every_request_that_is_none_gets_an_answer_that_says_why() -> None:
    async with hub_harness() as hub:
        for said, why in FAULTY.items():
            reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
            writer.write(said)
            async with asyncio.timeout(60):
                answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), said
            assert why.encode() in answer, said


async def test_a_head_may_come_in_any_pieces() -> None:
    async with hub_harness() as hub:
        said = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{hub.hub.port}\r\n\r\n".encode()
        for size in (1, 7, len(said) - 1):
            reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
            for at in range(0, len(said), size):
                writer.write(said[at : at + size])
                await writer.drain()
            async with asyncio.timeout(60):
                assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")
            writer.close()
