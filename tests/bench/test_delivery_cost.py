"""What an event takes from its journal to the sockets of frontends, counted: calls of functions in the hub's event loop.

As in tests/bench/test_translate_cost.py: seconds are for `python bench/bench_live.py` and bench_hub.py, and what is counted here may
grow by a seventh before somebody has to say why. Frontends are sockets that nobody reads meanwhile, so that theirs does not count.
"""

import asyncio
import base64
import os
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from types import FrameType

import pytest

from bench.hub_setting import PADDING, SESSION, event, hub_of
from turnwire.journal.base import Entry, Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sqlite.journal import SqliteJournal

CALLS = {"memory": (235.2, 14.0), "SQLite": (321.9, 14.0)}
"""An event's calls with one frontend, and of each further one: Python's functions and C's, with CPython 3.11."""

MARGIN = 1.15
EVENTS, FRONTENDS = 40, 11

SUBSCRIBE = b'{"type":"subscribe","id":"1","session":"%s"}' % SESSION.encode()
REQUEST = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)


def frontend(url: str, token: str) -> socket.socket:
    """Connect, subscribe, and read until it is caught up."""
    host, port = url.removeprefix("ws://").removesuffix("/ws").split(":")
    one = socket.create_connection((host, int(port)), timeout=60)
    one.sendall(REQUEST.format(token=token, key=base64.b64encode(os.urandom(16)).decode()).encode())
    one.sendall(bytes((0x81, 0x80 | len(SUBSCRIBE), 0, 0, 0, 0)) + SUBSCRIBE)
    said = b""
    while b'{"type":"caught_up"' not in said:
        more = one.recv(1 << 16)
        assert more, said
        said += more
    return one


async def calls_of(journal: Journal, count: int) -> float:
    """Calls for an event that so many frontends get."""
    calls = 0

    def counted(_frame: FrameType, kind: str, _argument: object) -> None:
        nonlocal calls
        calls += kind in ("call", "c_call")

    async def deliver() -> None:
        await journal.append(SESSION, [Entry(event(PADDING))])
        await journal.flush()
        for _ in range(4):
            await asyncio.sleep(0)

    async with AsyncExitStack() as stack:
        url, token, hub = await stack.enter_async_context(hub_of(journal))
        sockets = []
        for _ in range(count):
            sockets.append(await asyncio.to_thread(frontend, url, token))
            stack.callback(sockets[-1].close)
        await deliver()  # what is done once
        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            for _ in range(EVENTS):
                await deliver()
        finally:
            sys.setprofile(before)
        assert hub.lag == 0
        last = b'"seq":%d,' % journal.last(SESSION)
        for one in sockets:
            assert last in await asyncio.to_thread(received, one, last)
    return calls / EVENTS


def received(one: socket.socket, mark: bytes) -> bytes:
    """What a frontend has been sent, up to a mark."""
    said = b""
    while mark not in said and (more := one.recv(1 << 16)):
        said += more
    return said


async def opened(kind: str, folder: Path) -> Journal:
    return MemoryJournal() if kind == "memory" else await SqliteJournal.open(folder / "journal.db")


@pytest.mark.parametrize("kind", CALLS)
async def test_an_event_takes_no_more_calls_than_it_did_until_frontends_have_it(
    kind: str, tmp_path: Path
) -> None:
    found = []
    for count in (1, FRONTENDS):
        (tmp_path / str(count)).mkdir()
        journal = await opened(kind, tmp_path / str(count))
        found.append(await calls_of(journal, count))
        await journal.close()
    alone, further = found[0], (found[1] - found[0]) / (FRONTENDS - 1)
    most_alone, most_further = CALLS[kind]
    assert alone <= most_alone * MARGIN, f"{alone:.1f} calls an event; bench/bench_live.py tells the cost"
    assert further <= most_further * MARGIN, (
        f"{further:.1f} calls for each further frontend; bench/bench_hub.py tells the cost"
    )
