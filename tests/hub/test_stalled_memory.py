"""Frontends that never read: what each of them costs in memory is bounded, however much passes by."""

import asyncio
import gc
import socket
import tracemalloc
from pathlib import Path

import pytest
from hub_harness import SESSION, StubHost
from websockets.frames import Frame, Opcode

from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.delivery.pages import KEPT, PAGE_SIZE
from turnwire.hub.hub import Hub
from turnwire.journal.base import Entry
from turnwire.journal.sqlite.journal import SqliteJournal

FRONTENDS = 20
STEP = 200
"""Events between one frontend and the next: so that all of them stop at places of their own."""
EVENTS = 40_000
BATCH = [Entry(b'{"type":"message_chunk","session_id":"c0ffee","text":"%s"}' % (b"x" * 200))] * 20
REQUEST = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)


async def never_reading(port: int, token: str) -> socket.socket:
    """A frontend that subscribes and reads no more than the answer to its request."""
    loop = asyncio.get_running_loop()
    peer = socket.create_connection(("127.0.0.1", port))
    peer.setblocking(False)
    await loop.sock_sendall(peer, REQUEST.format(token=token).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += await loop.sock_recv(peer, 1)
    subscribe = b'{"type":"subscribe","id":"1","session":"%s"}' % SESSION.encode()
    await loop.sock_sendall(peer, Frame(Opcode.TEXT, subscribe).serialize(mask=True))
    return peer


@pytest.mark.long
async def test_frontends_that_never_read_hold_a_page_each_and_no_more(tmp_path: Path) -> None:
    limits = Limits(silence_s=3600)
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    hub = Hub(journal, StubHost(), HubConfig(limits=limits))
    await hub.start()
    peers: list[socket.socket] = []
    try:
        for _ in range(EVENTS // len(BATCH) // 4):  # what the journal keeps at hand is there before
            await journal.append(SESSION, BATCH)
        await journal.flush()
        tracemalloc.start()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(EVENTS // len(BATCH)):
            if len(peers) < FRONTENDS and number % (STEP // len(BATCH)) == 0:
                peers.append(await never_reading(hub.port, hub.tokens.view))
            await journal.append(SESSION, BATCH)
            if number % 8 == 0:
                await journal.flush()
        await journal.flush()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        for peer in peers:
            peer.close()
        await hub.stop()
        await journal.close()
    assert len(peers) == FRONTENDS
    # A page is counted without its envelopes' own frames, and its bytes stand in it thrice: as read, as text, as a frame.
    assert grown < FRONTENDS * (limits.write_buffer + 2 * PAGE_SIZE) + KEPT * 4 * PAGE_SIZE
