"""Attacks on what speaks to others: AG-UI before a token is shown, and webhooks that lead elsewhere or never answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from live import preloaded_running, scripted_setup
from turnwire_process import DEADLINE, preloaded_turnwire
from waiting import until

pytestmark = pytest.mark.long

SECRET = "0123456789abcdef0123456789abcdef"


async def asked(port: int, head: list[str], body: bytes = b"") -> tuple[int, bytes]:
    """Send a request; its status and what else comes until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(DEADLINE):
            writer.write("\r\n".join([*head, "", ""]).encode() + body)
            answer = await reader.read()
    finally:
        writer.close()
    return int(answer.split(b" ", 2)[1]), answer


async def test_without_a_token_nothing_of_agui_is_to_be_had(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    async with (
        preloaded_running(tmp_path, scripted_setup(tmp_path, "2.1.330")) as (_, served),
        preloaded_turnwire(
            beside, "agui", "--connect", served.url, "--port", "0", stdout_lines=1, placed=False
        ) as agui,
    ):
        port = int(agui.base.rpartition("/agui")[0].rpartition(":")[2])
        path = f"/agui/{served.session}"
        host = f"Host: 127.0.0.1:{port}"
        right = f"Authorization: Bearer {served.token}"
        half_open = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        # a body of a terabyte is not waited for, and a token in the URL is none
        for target in (path, f"{path}?token={served.token}"):
            status, said = await asked(
                port, [f"POST {target} HTTP/1.1", host, "Content-Length: 1099511627776"]
            )
            assert (status, served.token.encode() in said) == (401, False)
        for more in (["Host: evil.example", right], [host, right, "Origin: http://evil.example"]):
            status, said = await asked(port, [f"POST {path} HTTP/1.1", *more, "Content-Length: 0"])
            assert (status, b"access-control" in said.lower()) == (403, False)
        body = json.dumps({"threadId": "t", "runId": "r", "messages": []}).encode()
        status, said = await asked(
            port, [f"POST {path} HTTP/1.1", host, right, f"Content-Length: {len(body)}"], body
        )
        assert (status, b"RUN_FINISHED" in said) == (200, True)
        for _reader, writer in half_open:
            writer.close()
    for log in (tmp_path / "turnwire.log", beside / "turnwire.log"):
        assert served.token not in log.read_text()


@asynccontextmanager
async def receiver(answer: bytes) -> AsyncIterator[tuple[int, list[bytes], asyncio.Event]]:
    """A server that takes requests and answers nothing but this; the requests, and that there was one."""
    requests: list[bytes] = []
    reached = asyncio.Event()
    leave = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.read(65536))
        reached.set()
        if answer:
            writer.write(answer)
            await writer.drain()
        else:
            await leave.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], requests, reached
    finally:
        leave.set()
        server.close()


async def test_webhooks_lead_nowhere_else_and_hold_up_nobody(tmp_path: Path) -> None:
    async with receiver(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (inside, stolen, _):
        elsewhere = f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{inside}/\r\nContent-Length: 0\r\n\r\n"
        async with (
            receiver(elsewhere.encode()) as (leads, told, reached),
            receiver(b"") as (silent, _, waits),
        ):
            hooks = "".join(
                f'[[webhooks]]\nurl = "http://127.0.0.1:{port}/PRIVATE"\nsecret_env = "TURNWIRE_WEBHOOK_SECRET"\n'
                for port in (leads, silent)
            )
            (tmp_path / "turnwire.toml").write_text(hooks)
            setup = scripted_setup(tmp_path, "2.1.330")
            async with preloaded_running(tmp_path, setup, TURNWIRE_WEBHOOK_SECRET=SECRET) as (
                frontend,
                _served,
            ):
                for _ in range(5):
                    await frontend.turn("ls")
                async with asyncio.timeout(DEADLINE):
                    await reached.wait()
                    await waits.wait()
                await until(lambda: "status 307" in (tmp_path / "turnwire.log").read_text())
            # it has ended well although a receiver still owes its answer
        assert told
        assert stolen == []
    log = (tmp_path / "turnwire.log").read_text()
    assert "PRIVATE" not in log
    assert SECRET not in log
