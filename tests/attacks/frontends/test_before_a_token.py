"""Peers that have shown no token: what they may cost, and that they keep nobody out."""

import asyncio
import json
import re
import socket
import ssl
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from pydantic import JsonValue
from sidecar_cpu import cpu_of
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from recordings import ROOT
from turnwire.client import connect
from turnwire_process import DEADLINE, Served, environment, turnwire

pytestmark = pytest.mark.long


def stranger(served: Served) -> open_websocket:
    """A WebSocket without a token."""
    return open_websocket(
        served.base.replace("http", "ws", 1) + "/ws", subprotocols=[Subprotocol("turnwire.v1")], proxy=None
    )


async def closed_with(websocket: ClientConnection) -> int | None:
    """Read until the hub closes, and return the code."""
    async with asyncio.timeout(DEADLINE):
        try:
            while True:
                await websocket.recv()
        except ConnectionClosed:
            return websocket.close_code


async def test_a_hello_of_a_mebibyte_is_refused_by_its_head(tmp_path: Path) -> None:
    fields = {str(number): 0 for number in range(100_000)}
    frame = json.dumps({"type": "hello", "id": "1", **fields}, separators=(",", ":"))
    async with turnwire(tmp_path, "serve", "--agent", "demo") as served:
        before = cpu_of(served.process.pid)
        for _ in range(10):
            async with stranger(served) as websocket:
                try:
                    await websocket.send(frame)
                except ConnectionClosed:
                    pass  # refused while it was still being sent
                assert await closed_with(websocket) == 1009
        assert cpu_of(served.process.pid) - before < 2
        async with connect(served.url) as client:
            assert await client.sessions() == []


async def half_open(served: Served, count: int, said: bytes = b"") -> list[socket.socket]:
    """Connections that say next to nothing, and are kept."""
    loop = asyncio.get_running_loop()
    host, port = served.base.partition("://")[2].split(":")
    peers = []
    for _ in range(count):
        peer = socket.socket()
        peer.setblocking(False)
        await loop.sock_connect(peer, (host, int(port)))
        await loop.sock_sendall(peer, said)
        peers.append(peer)
    return peers


async def refused(served: Served, context: ssl.SSLContext | None = None) -> dict[str, float]:
    """What the metrics say of refusals, by reason."""
    request = Request(f"{served.base}/metrics", headers={"Authorization": f"Bearer {served.token}"})
    with await asyncio.to_thread(urlopen, request, context=context, timeout=DEADLINE) as answer:
        text = answer.read().decode()
    return {
        found[1]: float(found[2])
        for found in re.finditer(r'turnwire_connections_refused_total\{turnwire_reason="(\w+)"\} (\S+)', text)
    }


@pytest.mark.parametrize(
    "said", [b"", b"GET /ws HTTP/1.1\r\nHost: localhost\r\n"], ids=["nothing", "half a request"]
)
async def test_140_half_open_connections_keep_nobody_out(tmp_path: Path, said: bytes) -> None:
    async with turnwire(tmp_path, "serve", "--agent", "demo") as served:
        peers = await half_open(served, 140, said)
        try:
            async with connect(served.url) as client:
                assert await client.sessions() == []
            assert (await refused(served))["crowded"] >= 100
        finally:
            for peer in peers:
                peer.close()
    log = [json.loads(line) for line in (tmp_path / "turnwire.log").read_text().splitlines()]
    assert len([line for line in log if line.get("reason") == "crowded"]) == 1


async def test_half_open_tls_handshakes_keep_nobody_out(tmp_path: Path) -> None:
    pem = ROOT / "tests" / "hub" / "localhost.pem"
    context = ssl.create_default_context(cafile=pem)
    env = environment(tmp_path / "home", TURNWIRE_TLS_CERTIFICATE=str(pem))
    async with turnwire(tmp_path, "serve", "--agent", "demo", env=env) as served:
        peers = await half_open(served, 800)
        try:
            async with connect(served.url, ssl=context) as client:
                assert await client.sessions() == []
            assert len(list(Path(f"/proc/{served.process.pid}/fd").iterdir())) < 200
            assert (await refused(served, context))["crowded"] >= 700
        finally:
            for peer in peers:
                peer.close()


async def test_eleven_wrong_tokens_lock_nobody_out_who_has_the_right_one(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "serve", "--agent", "demo") as served:
        codes = []
        for _ in range(12):
            async with stranger(served) as websocket:
                await websocket.send(json.dumps({"type": "hello", "id": "1", "token": "wrong"}))
                codes.append(await closed_with(websocket))
        assert codes == [4401] * 10 + [4429] * 2
        async with connect(served.url) as client:
            assert await client.sessions() == []
        async with stranger(served) as websocket:
            await websocket.send(json.dumps({"type": "hello", "id": "1", "token": served.token}))
            async with asyncio.timeout(DEADLINE):
                assert json.loads(await websocket.recv())["type"] == "welcome"
        counts = await refused(served)
        assert (counts["wrong_token"], counts["guessing"]) == (10, 2)


async def test_no_number_that_a_stranger_thinks_of_is_an_internal_error(tmp_path: Path) -> None:
    numbers: list[JsonValue] = [10**20, 2**63, 2**64, -1, 0.5, "9" * 5000, "\u0661", None, True, [], {}]
    async with turnwire(tmp_path, "run", "--agent", "demo") as served:
        for after in ("a-" + "9" * 5000, "a-1e9", "a-%D9%A1", "a-%ED%A0%80", "a-"):
            address = f"{served.base}/sessions/{served.session}/events?after={after}"
            request = Request(address, headers={"Authorization": f"Bearer {served.token}"})
            with pytest.raises(HTTPError) as error:
                await asyncio.to_thread(urlopen, request, timeout=DEADLINE)
            with error.value as answer:
                assert (answer.status, json.load(answer)["error"]["code"]) == (400, "bad_cursor")
        async with stranger(served) as websocket:
            await websocket.send(json.dumps({"type": "hello", "id": "0", "token": served.token}))
            async with asyncio.timeout(DEADLINE):
                assert json.loads(await websocket.recv())["type"] == "welcome"
            for kind, field in (("payload.get", "seq"), ("subscribe", "after")):
                for index, number in enumerate(numbers):
                    frame = {"type": kind, "id": f"{kind} {index}", "session": served.session, field: number}
                    await websocket.send(json.dumps(frame))
            codes: dict[str, str] = {}
            async with asyncio.timeout(DEADLINE):
                while len(codes) < 2 * len(numbers):
                    reply = json.loads(await websocket.recv())
                    if reply["type"] == "reply" and reply["id"] != "0":
                        codes[reply["id"]] = reply.get("error", {}).get("code", "done")
        assert set(codes.values()) <= {"invalid_params", "done", "unknown_event"}
    assert "Traceback" not in (tmp_path / "turnwire.log").read_text()


def masked_pings(count: int) -> bytes:
    """Ping frames of a client: final, opcode 9, masked, empty."""
    return b"\x89\x80\x00\x00\x00\x00" * count


def resident(pid: int) -> int:
    """Bytes of memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: turnwire.v1{token}\r\n\r\n"
)


async def flood(host: str, token: str) -> int:
    """Send pings without an end and read nothing; return how many bytes were taken until the hub cut the connection."""
    reader, writer = await asyncio.open_connection(*host.split(":"))
    writer.write(UPGRADE.format(host=host, token=token).encode())
    await reader.readuntil(b"\r\n\r\n")
    reader._transport.pause_reading()  # type: ignore[attr-defined]  # the peer reads nothing, not even into its own memory
    sent, frames = 0, masked_pings(10_000)
    try:
        async with asyncio.timeout(DEADLINE):
            while True:
                writer.write(frames)
                await writer.drain()
                sent += len(frames)
    except OSError:
        return sent
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("who", ["nobody", "view"])
async def test_pings_that_are_never_read_fill_no_memory_and_stop_nobody(tmp_path: Path, who: str) -> None:
    async with turnwire(tmp_path, "serve", "--agent", "demo") as served:
        host = served.base.partition("://")[2]
        view = served.view_url.partition("token=")[2].partition("&")[0]
        token = "" if who == "nobody" else f", turnwire.token.{view}"
        before, cpu = resident(served.process.pid), cpu_of(served.process.pid)
        floods = [asyncio.create_task(flood(host, token)) for _ in range(16)]
        # each is cut, whether it reads or not
        await asyncio.gather(*floods)
        with await asyncio.to_thread(urlopen, f"{served.base}/healthz", timeout=DEADLINE) as answer:
            assert answer.status == 200
        assert resident(served.process.pid) - before < 100e6
        assert cpu_of(served.process.pid) - cpu < 10
        # some are cut for what they say behind their request, before the hub has answered it
        reasons = await refused(served)
        assert sum(reasons.values()) == 16
        assert reasons["control_frames"] > 0
