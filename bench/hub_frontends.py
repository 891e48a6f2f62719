"""The frontends of bench_hub.py, in a process of their own: `python bench/hub_frontends.py MODE URL TOKEN COUNT EVENTS [SESSION]`.

Modes: `latency` measures how old the time stamped into each message is when it arrives, `many` the same of many sessions; `drain` reads bytes and does
nothing with them, so that what is measured is the server; `follow` does so until an event's number was seen; `stalled` subscribes and never reads.
`ages` is `latency` for hundreds of frontends, which only look for the time in what arrives; `socket_io` is the same at a server of socket.io.
"""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

SENT = re.compile(r"@(\d+)@")
REQUEST = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)
SUBSCRIBE = b'{"type":"subscribe","id":"1","session":"s1"}'
SOCKET_IO = (
    b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def say(content: object) -> None:
    print(json.dumps(content), flush=True)


async def latency(url: str, token: str, count: int, events: int, session: str = "s1") -> None:
    """Report the ages, in microseconds, of all messages at all frontends."""
    ages: list[float] = []

    async def frontend(ready: Callable[[], None], _number: int) -> None:
        async with following(url, token, [session]) as websocket:
            ready()
            await collect(websocket, events, ages)

    await together(frontend, count)
    say(ages)


async def many(url: str, token: str, count: int, events: int, sessions: str) -> None:
    """Report the ages, in microseconds, of the messages of s0, s1, …, shared evenly by the frontends."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # the core of the one that is measured is its own
    ages: list[float] = []

    async def frontend(ready: Callable[[], None], number: int) -> None:
        own = [f"s{session}" for session in range(number, int(sessions), count)]
        async with following(url, token, own) as websocket:
            ready()
            await collect(websocket, events // int(sessions) * len(own), ages)

    await together(frontend, count)
    say(ages)


@asynccontextmanager
async def following(url: str, token: str, sessions: Sequence[str]) -> AsyncIterator[ClientConnection]:
    """Connect, and follow sessions; what they have already is passed over."""
    protocols = [Subprotocol("turnwire.v1"), Subprotocol(f"turnwire.token.{token}")]
    async with connect(url, subprotocols=protocols, compression=None, proxy=None, max_size=None) as websocket:
        for session in sessions:
            await websocket.send(json.dumps({"type": "subscribe", "id": session, "session": session}))
            while '{"type":"caught_up"' not in str(await websocket.recv()):
                pass
        yield websocket


async def collect(websocket: ClientConnection, events: int, ages: list[float]) -> None:
    """Note the ages of so many messages."""
    seen = 0
    while seen < events:
        text = str(await websocket.recv())
        now = time.monotonic_ns()
        for sent in SENT.findall(text):
            ages.append((now - int(sent)) / 1000)
            seen += 1


async def echo(url: str, _token: str, _count: int, events: int, pause: str = "0.004") -> None:
    """Report how long a message took there and back, in microseconds."""
    took: list[float] = []
    async with connect(url, compression=None, proxy=None) as websocket:
        say("ready")
        for _ in range(events):
            start = time.monotonic_ns()
            await websocket.send("x" * 340)
            await websocket.recv()
            took.append((time.monotonic_ns() - start) / 1000)
            await asyncio.sleep(float(pause))
    say(took)


async def together(
    frontend: Callable[[Callable[[], None], int], Coroutine[None, None, None]], count: int
) -> None:
    """Run so many frontends; one connects after the other, as a hub wants newcomers from one address."""
    waiting = count
    connected = asyncio.Event()

    def ready() -> None:
        nonlocal waiting
        waiting -= 1
        connected.set()
        if waiting == 0:
            say("ready")

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            connected.clear()
            tasks.create_task(frontend(ready, number))
            await connected.wait()


class Drain(asyncio.Protocol):
    """A WebSocket that counts bytes, once it was granted."""

    opened_by = b"caught_up"

    def __init__(self, token: str, expected: int, done: Callable[[], None]) -> None:
        self.token = token
        self.left = expected
        self.done = done
        self.opened = False
        self.tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(REQUEST.format(token=self.token).encode())
        transport.write(bytes((0x81, 0x80 | len(SUBSCRIBE), 0, 0, 0, 0)) + SUBSCRIBE)

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            self.opened = self.opened_by in self.tail + data
            self.tail = data[-16:]
            if self.opened:
                self.done()
            return
        self.left -= len(data)
        if self.left == 0:
            self.done()


async def drain(url: str, token: str, count: int, size: int, kind: type[Drain] = Drain) -> None:
    """Read `size` bytes on each of the connections after they caught up; 0: read until the end."""
    loop = asyncio.get_running_loop()
    host, port = url.removeprefix("ws://").removesuffix("/ws").split(":")
    left, event = count, asyncio.Event()

    def done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            event.set()

    for _ in range(count):
        await loop.create_connection(lambda: kind(token, size, done), host, int(port))
    await event.wait()
    say("ready")
    left = count
    event.clear()
    await event.wait()
    say("done")


class Follow(Drain):
    """Reads until a number."""

    def __init__(self, token: str, last: int, done: Callable[[], None]) -> None:
        super().__init__(token, 0, done)
        self.mark = b'"seq":%d,' % last

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            super().data_received(data)
            return
        # The number may be cut in two.
        if self.mark in self.tail + data:
            self.done()
        self.tail = data[-len(self.mark) :]


async def follow(url: str, token: str, count: int, last: int) -> None:
    """Read on each of the connections until a number."""
    await drain(url, token, count, last, Follow)


class Aging(Drain):
    """Notes how old each stamped message is, in microseconds."""

    seen: ClassVar[list[float]] = []
    stamp = re.compile(rb"@(\d+)@")

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            super().data_received(data)
            return
        now = time.monotonic_ns()
        data = self.tail + data
        end = 0
        for sent in self.stamp.finditer(data):
            self.seen.append((now - int(sent[1])) / 1000)
            self.left -= 1
            end = sent.end()
        self.tail = data[end:][-32:]
        if self.left == 0:
            self.done()


class SocketIO(Aging):
    """The same at a server of socket.io, which wants to be asked for the main namespace (40) once it has said hello (0)."""

    opened_by = b"40{"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(SOCKET_IO)

    def data_received(self, data: bytes) -> None:
        if b"0{" in data and self.opened_by not in data and not self.opened:
            self.transport.write(bytes((0x81, 0x82, 0, 0, 0, 0)) + b"40")
        super().data_received(data)


async def ages(url: str, token: str, count: int, events: int, kind: type[Aging] = Aging) -> None:
    """Report the ages of all messages at all frontends."""
    await drain(url, token, count, events, kind)
    say(Aging.seen)


async def socket_io(url: str, token: str, count: int, events: int) -> None:
    """Do it at a server of socket.io."""
    await ages(url, token, count, events, SocketIO)


async def stalled(url: str, token: str, _count: int, _events: int) -> None:
    """Subscribe, and read nothing."""
    host, port = url.removeprefix("ws://").removesuffix("/ws").split(":")
    opened = asyncio.Event()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: Drain(token, 0, opened.set), host, int(port))
    await opened.wait()
    transport.pause_reading()
    say("ready")
    await asyncio.Event().wait()


MODES: dict[str, Callable[..., Coroutine[None, None, None]]] = {
    "echo": echo,
    "latency": latency,
    "ages": ages,
    "socket_io": socket_io,
    "many": many,
    "drain": drain,
    "follow": follow,
    "stalled": stalled,
}

if __name__ == "__main__":
    mode, url, token, count, number, *more = sys.argv[1:]
    asyncio.run(MODES[mode](url, token, int(count), int(number), *more))
