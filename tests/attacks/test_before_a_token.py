"""Peers that have shown no token: what they may cost, and that they keep nobody out."""

import asyncio
import json
from pathlib import Path

import pytest
from sidecar_cpu import cpu_of
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from turnwire_client import connect
from turnwire_process import DEADLINE, Served, turnwire

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
