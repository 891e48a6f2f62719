"""Ports of a sandbox that frontends open: real servers and requests over loopback; the sandbox's own network is a stand-in."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from turnwire.adapter.sandbox.ports import NoPort
from turnwire.adapter.session.agent import AgentSession
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames import PortClose, PortList, PortOpen
from turnwire.normalize.vocabulary import Role
from turnwire.sessions import ports
from turnwire.sessions.ports import OpenPorts

VITE = 5173


class Box:
    """A sandbox in which one server listens on VITE; it answers each request with the bytes that reached it."""

    def __init__(self) -> None:
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.listens = [VITE]
        self.address = 0

    def on_close(self, close: Callable[[], Awaitable[None]]) -> None:
        self.closers.append(close)

    async def listening(self) -> list[int]:
        return self.listens

    async def connect(self, port: int) -> socket.socket:
        if port not in self.listens:
            raise NoPort(f"nothing listens on port {port}")
        one = socket.socket()
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", self.address))
        return one


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = b""
    while line := await reader.readline():
        head += line
        if line == b"\r\n":
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + head)
            break
    writer.close()


class Doors:
    """What a test asks of the ports of one session."""

    def __init__(self, box: Box | None) -> None:
        self.open = OpenPorts("127.0.0.1")
        self.agent = cast("AgentSession", SimpleNamespace(options=SimpleNamespace(box=box)))

    async def ask(self, command: frames.PortCommand, role: Role = "control") -> Any:
        return await self.open.execute(command, self.agent, Frontend(name="me", role=role))

    async def open_port(self, role: Role = "control", port: int = VITE) -> Any:
        return await self.ask(PortOpen(id="1", type="port.open", session="s", port=port), role)

    async def listed(self) -> Any:
        return await self.ask(PortList(id="2", type="port.list", session="s"))

    async def close_port(self) -> Any:
        return await self.ask(PortClose(id="3", type="port.close", session="s", port=VITE))


async def _get(at: int, target: str, method: str = "GET", cookie: str = "") -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", at)
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: x\r\nCookie: hub=secret; {cookie}\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer


@pytest.fixture
async def box() -> Any:
    one = Box()
    async with await asyncio.start_server(_echo, "127.0.0.1", 0) as server:
        one.address = server.sockets[0].getsockname()[1]
        yield one
        for close in one.closers:
            await close()


async def test_an_open_port_is_reached_by_its_link_until_it_is_closed(box: Box) -> None:
    doors = Doors(box)
    assert await doors.listed() == {"ports": [{"port": VITE, "open": False}]}
    opened = await doors.open_port()
    assert (urlsplit(opened["url"]).hostname or "").endswith(".localhost")
    assert await doors.listed() == {"ports": [{"port": VITE, "open": True}]}
    assert (await doors.open_port())["port"] == opened["port"]

    entered = await _get(opened["port"], opened["path"])
    assert entered.startswith("HTTP/1.1 303 ")
    cookie = entered.split("Set-Cookie: ", 1)[1].split(";", 1)[0]
    answer = await _get(opened["port"], "/index.html", cookie=cookie)
    assert answer.startswith("HTTP/1.1 200 OK")
    assert "GET /index.html" in answer
    assert cookie not in answer
    assert "used" in await _get(opened["port"], opened["path"])
    assert (await _get(opened["port"], "/")).startswith("HTTP/1.1 403 ")

    assert await doors.close_port() is None
    with pytest.raises(OSError, match="Connect"):
        await _get(opened["port"], "/", cookie=cookie)
    assert await doors.close_port() is None


async def test_a_view_frontend_opens_no_port_and_only_reads_an_open_one(box: Box) -> None:
    doors = Doors(box)
    with pytest.raises(CommandRefused, match="role control has to open it first"):
        await doors.open_port("view")
    await doors.open_port()
    seen = await doors.open_port("view")
    cookie = (await _get(seen["port"], seen["path"])).split("Set-Cookie: ", 1)[1].split(";", 1)[0]
    assert (await _get(seen["port"], "/", cookie=cookie)).startswith("HTTP/1.1 200 ")
    assert (await _get(seen["port"], "/", "POST", cookie)).startswith("HTTP/1.1 403 ")


async def test_what_cannot_be_opened_is_refused_with_the_reason(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandRefused, match="has no sandbox"):
        await Doors(None).open_port()
    doors = Doors(box)
    with pytest.raises(CommandRefused, match="nothing listens on port 99"):
        await doors.open_port(port=99)
    monkeypatch.setattr(ports, "MOST_PORTS", 0)
    with pytest.raises(CommandRefused, match="the most allowed"):
        await doors.open_port()
    monkeypatch.undo()
    doors.open = OpenPorts("192.0.2.1")
    with pytest.raises(CommandRefused, match="cannot listen"):
        await doors.open_port()


async def test_a_session_with_another_sandbox_has_no_port_of_the_earlier_one(box: Box) -> None:
    doors = Doors(box)
    opened = await doors.open_port()
    later = Box()
    doors.agent = Doors(later).agent
    later.address = box.address
    assert await doors.listed() == {"ports": [{"port": VITE, "open": False}]}
    with pytest.raises(OSError, match="Connect"):
        await _get(opened["port"], "/")


@pytest.mark.parametrize(
    ("host", "linked"),
    [
        ("localhost", "name.localhost"),
        ("::1", "name.localhost"),
        ("0.0.0.0", "name.localhost"),
        ("hub.lan", "hub.lan"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "[2001:db8::1]"),
    ],
)
def test_only_a_hub_on_loopback_has_names_below_localhost(host: str, linked: str) -> None:
    assert ports._host_of_link(host, "name") == linked
