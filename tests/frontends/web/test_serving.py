"""The server by itself: what strangers can hold of it before they have shown a token."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from turnwire.frontends.web.bodies import BodyMiddleware
from turnwire.frontends.web.serving import listening, server

DEADLINE = 60.0


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def counted(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{len(await request.body())} bytes")


APP = Starlette(routes=[Route("/", hello), Route("/count", counted, methods=["GET", "POST"])])


@asynccontextmanager
async def served(head_s: float = DEADLINE, app: ASGIApp = APP) -> AsyncIterator[int]:
    listener = listening("127.0.0.1", 0)
    running = server(app, head_s=head_s)
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
    async with served() as port:
        said = (await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")).lower()
        assert said.endswith(b"hello")
        assert b"connection: close" in said
        assert b"server:" not in said


async def test_a_head_without_end_is_refused() -> None:
    async with served() as port:
        said = await answered(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert said.startswith(b"HTTP/1.1 400") or said == b""


def posted(size: int, sent: int) -> bytes:
    """A request that announces so many bytes of a body, and has some of them."""
    return f"POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * sent


def refused(said: bytes) -> tuple[int, str]:
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


CHUNKED = b"POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + (
    b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
)


async def test_a_body_that_is_too_large_is_refused_in_words_that_reach_the_client() -> None:
    limit = 100_000
    async with served(app=BodyMiddleware(APP, limit)) as port:
        assert (await answered(port, posted(limit, limit))).endswith(b"100000 bytes")
        for sent in (posted(limit + 1, limit + 1), posted(7 * limit, 7 * limit)):
            assert refused(await answered(port, sent)) == (413, "too_large")
        # what has no end is not read without end
        said = await answered(port, CHUNKED + (b"1000\r\n" + b"x" * 0x1000 + b"\r\n") * 500)
        assert said == b"" or refused(said) == (413, "too_large")
        assert (await answered(port, b"GET /count HTTP/1.1\r\nHost: x\r\n\r\n")).endswith(b"0 bytes")


async def test_a_body_that_does_not_come_is_waited_for_only_so_long() -> None:
    async with served(app=BodyMiddleware(APP, 100, 0.05)) as port:
        assert refused(await answered(port, posted(100, 99))) == (408, "too_late")
        assert refused(await answered(port, posted(200, 150))) == (413, "too_large")


async def test_a_client_that_leaves_within_its_body_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    gone = asyncio.Event()

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        await BodyMiddleware(APP)(scope, receive, send)
        gone.set()

    async with served(app=watched) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(posted(100, 50))
        await writer.drain()
        writer.close()
        async with asyncio.timeout(DEADLINE):
            await gone.wait()
    assert not [one for one in caplog.records if one.levelname == "ERROR" and one.exc_info]
