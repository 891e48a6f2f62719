"""The server by itself: what strangers can hold of it before they have shown a token."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from turnwire.frontends.web.serving import is_loopback, listening, server

DEADLINE = 60.0


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@asynccontextmanager
async def served(head_s: float) -> AsyncIterator[int]:
    listener = listening("127.0.0.1", 0)
    running = server(Starlette(routes=[Route("/", hello)]), head_s=head_s)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        running.should_exit = True
        async with asyncio.timeout(DEADLINE):
            await task
        listener.close()


async def answered(port: int, sent: bytes) -> bytes:
    """What comes back until the server closes, also with a reset."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        async with asyncio.timeout(DEADLINE):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize("sent", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nX-Long: "])
async def test_a_head_that_does_not_come_is_waited_for_in_vain_only_so_long(sent: bytes) -> None:
    async with served(0.05) as port:
        assert await answered(port, sent) == b""


async def test_a_connection_serves_one_request_and_does_not_say_what_it_runs_on() -> None:
    async with served(DEADLINE) as port:
        said = (await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")).lower()
        assert said.endswith(b"hello")
        assert b"connection: close" in said
        assert b"server:" not in said


async def test_a_head_without_end_is_refused() -> None:
    async with served(DEADLINE) as port:
        said = await answered(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert said.startswith(b"HTTP/1.1 400") or said == b""


def test_loopback_is_known_by_name_and_address() -> None:
    assert [is_loopback(name) for name in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "example.org")] == [
        *[True, True, True, False, False]
    ]
