"""Frontends that ask for much and read nothing: what they may cost a running turnwire."""

import asyncio
import json
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.frames import Frame, Opcode

from turnwire.client import BEGINNING, Client, EventFrame, connect
from turnwire.client import events as ev
from turnwire_process import DEADLINE, Served, environment, turnwire

pytestmark = pytest.mark.long

TEXT = 8 << 20
UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)


@asynccontextmanager
async def after_a_long_text(folder: Path) -> AsyncIterator[tuple[Served, Client, int]]:
    """`turnwire run` whose agent has said 8 MiB at once, and the number of that event."""
    script = folder / "script.json"
    script.write_text(json.dumps({"fallback": {"steps": [{"text": "x" * TEXT, "chunk": TEXT}]}}))
    argv = (sys.executable, "-m", "turnwire.scripted_agent", str(script))
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    async with turnwire(folder, "run", "--", *argv, env=env) as served, connect(served.url) as client:
        await client.prompt(served.session, "go on")
        seq = await largest(client, served.session)
        yield served, client, seq


async def largest(client: Client, session: str) -> int:
    """Follow to the turn's end; the number of the largest event."""
    sizes: dict[int, int] = {}
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame):
                sizes[frame.seq] = len(getattr(frame.event, "text", ""))
                if isinstance(frame.event, ev.Complete):
                    break
    return max(sizes, key=lambda seq: sizes[seq])


async def never_reading(served: Served, commands: list[dict[str, object]]) -> socket.socket:
    """A frontend of the role view that says all this, and reads no more than the answer to its request."""
    loop = asyncio.get_running_loop()
    host, port = served.base.partition("://")[2].split(":")
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.setblocking(False)
    await loop.sock_connect(peer, (host, int(port)))
    (token,) = re.findall(r"token=([^&]+)", urlsplit(served.view_url).fragment)
    await loop.sock_sendall(peer, UPGRADE.format(token=token).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += await loop.sock_recv(peer, 1)
    for command in commands:
        await loop.sock_sendall(peer, Frame(Opcode.TEXT, json.dumps(command).encode()).serialize(mask=True))
    return peer


def peak(served: Served) -> int:
    """MiB that the process has held at most."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) >> 10


async def still_serves(client: Client, session: str, seq: int) -> None:
    """Commands are answered, a large one among them."""
    for _ in range(20):
        await client.sessions()
    async with asyncio.timeout(DEADLINE):
        await client.payload(session, seq)


async def test_a_hundred_events_in_full_that_nobody_reads(tmp_path: Path) -> None:
    async with after_a_long_text(tmp_path) as (served, client, seq):
        await still_serves(client, served.session, seq)
        before = peak(served)
        ask: dict[str, object] = {"type": "payload.get", "session": served.session, "seq": seq}
        peer = await never_reading(served, [{**ask, "id": str(number)} for number in range(100)])
        await still_serves(client, served.session, seq)
        await still_serves(client, served.session, seq)
        assert peak(served) - before < 100
        peer.close()


async def test_twenty_frontends_that_ask_for_large_events_and_never_read(tmp_path: Path) -> None:
    async with after_a_long_text(tmp_path) as (served, client, seq):
        await still_serves(client, served.session, seq)
        before = peak(served)
        ask: dict[str, object] = {"type": "payload.get", "session": served.session, "seq": seq}
        commands = [{**ask, "id": str(number)} for number in range(5)]
        commands.append({"type": "subscribe", "id": "s", "session": served.session})
        peers = [await never_reading(served, commands) for _ in range(20)]
        await still_serves(client, served.session, seq)
        await still_serves(client, served.session, seq)
        # What all of them may leave unread, and a few in the making.
        assert peak(served) - before < 64 + 6 * (TEXT >> 20)
        for peer in peers:
            peer.close()


async def test_a_page_on_the_ai_sdk_that_does_not_read_fills_no_memory(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    chunk, count = 32 << 10, 1024
    script.write_text(
        json.dumps({"fallback": {"steps": [{"text": "x" * chunk * count, "chunk": chunk, "pace": 0}]}})
    )
    argv = (sys.executable, "-m", "turnwire.scripted_agent", str(script))
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH", TURNWIRE_HISTORY="false")
    beside = tmp_path / "beside"
    beside.mkdir()
    async with (
        turnwire(tmp_path, "run", "--", *argv, env=env) as served,
        connect(served.url) as client,
        turnwire(
            beside, "usechat", "--connect", served.url, "--port", "0", stdout_lines=1, placed=False
        ) as door,
    ):
        port = int(door.base.rpartition("/ai")[0].rpartition(":")[2])
        said = {"id": "x", "role": "user", "parts": [{"type": "text", "text": "go on"}]}
        body = json.dumps({"id": served.session, "trigger": "submit-message", "messages": [said]})
        loop = asyncio.get_running_loop()
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.setblocking(False)
        await loop.sock_connect(peer, ("127.0.0.1", port))
        await loop.sock_sendall(
            peer,
            f"POST /ai HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode(),
        )
        assert (await loop.sock_recv(peer, 12)).endswith(b"200")
        before = peak(door)
        await largest(client, served.session)  # the turn goes to its end
        grown = peak(door) - before
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET /ai/{served.session}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\n\r\n".encode()
        )
        async with asyncio.timeout(DEADLINE):
            assert b" 204 " in await reader.readline(), "others are served meanwhile"
        writer.close()
        peer.close()
        # 32 MiB were said; what 256 events hold may wait
        assert grown < 20
