"""The frontends of bench_hub.py, in a process of their own: `python bench/hub_frontends.py MODE URL COUNT EVENTS`.

Modes: `latency` measures how old the time stamped into each message is when it arrives; `drain` reads bytes and does
nothing with them, so that what is measured is the server; `follow` does so until an event's number was seen; `stalled` subscribes and never reads.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Coroutine

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

SENT = re.compile(r"@(\d+)@")
REQUEST = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)
SUBSCRIBE = b'{"type":"subscribe","id":"1","session":"s1"}'


def say(content: object) -> None:
    print(json.dumps(content), flush=True)


async def latency(url: str, token: str, count: int, events: int) -> None:
    """Report the ages, in microseconds, of all messages at all frontends."""
    ages: list[float] = []

    async def frontend(ready: Callable[[], None]) -> None:
        protocols = [Subprotocol("turnwire.v1"), Subprotocol(f"turnwire.token.{token}")]
        async with connect(url, subprotocols=protocols, compression=None, proxy=None) as websocket:
            await websocket.send(SUBSCRIBE.decode())
            while "caught_up" not in str(await websocket.recv()):
                pass
            ready()
            seen = 0
            while seen < events:
                text = str(await websocket.recv())
                now = time.monotonic_ns()
                for sent in SENT.findall(text):
                    ages.append((now - int(sent)) / 1000)
                    seen += 1

    await together(frontend, count)
    say(ages)


async def echo(url: str, _token: str, _count: int, events: int) -> None:
    """Report how long a message took there and back, in microseconds."""
    took: list[float] = []
    async with connect(url, compression=None, proxy=None) as websocket:
        say("ready")
        for _ in range(events):
            start = time.monotonic_ns()
            await websocket.send("x" * 340)
            await websocket.recv()
            took.append((time.monotonic_ns() - start) / 1000)
            await asyncio.sleep(0.004)
    say(took)


async def together(frontend: Callable[[Callable[[], None]], Coroutine[None, None, None]], count: int) -> None:
    waiting = count

    def ready() -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            say("ready")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(count):
            tasks.create_task(frontend(ready))


class Drain(asyncio.Protocol):
    """A WebSocket that counts bytes, once it was granted."""

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
            self.opened = b"caught_up" in self.tail + data
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


MODES: dict[str, Callable[[str, str, int, int], Coroutine[None, None, None]]] = {
    "echo": echo,
    "latency": latency,
    "drain": drain,
    "follow": follow,
    "stalled": stalled,
}

if __name__ == "__main__":
    mode, url, token, count, number = sys.argv[1:]
    asyncio.run(MODES[mode](url, token, int(count), int(number)))
