"""A hub on a free port of 127.0.0.1 with a host that answers whatever a test wants."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import JsonValue
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.typing import Origin, Subprotocol

from turnwire.hub.config import HubConfig
from turnwire.hub.host import CommandRefused, Fleet, Frontend, ShellHost
from turnwire.hub.hub import Hub
from turnwire.hub.principals import Principals
from turnwire.hub.server.routes import Probes
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary
from turnwire.journal.base import Entry, Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import MessageChunk, to_json

SESSION = "s1"


def chunk(text: str) -> Entry:
    """An event as the pipeline appends it."""
    return Entry(to_json(MessageChunk(text=text)))


EMPTY: Mapping[str, JsonValue] = {"worktree.list": {"worktrees": []}, "port.list": {"ports": []}}
"""Lists that pages ask for on their own."""


class StubHost:
    """Remembers the commands; a handler by type says what comes of them."""

    def __init__(self, sessions: Sequence[str] = (SESSION,)) -> None:
        self.commands: list[tuple[AnyCommand, Frontend]] = []
        self.handlers: dict[str, Callable[[AnyCommand], Awaitable[JsonValue]]] = {}
        self.summaries = [
            SessionSummary(session=session, state="idle", last_seq=0, pending=0) for session in sessions
        ]
        self.watchers: list[Callable[[], None]] = []
        self.choices: Sequence[AgentChoice] | None = None
        """Agents for new sessions; None where there can be none."""

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        self.commands.append((command, frontend))
        if (handler := self.handlers.get(command.type)) is not None:
            return await handler(command)
        if command.type == "set_model":
            raise CommandRefused("not_running", "nothing runs", "session")
        if command.type in EMPTY:
            return EMPTY[command.type]
        return {"did": command.type}

    def sessions(self) -> Sequence[SessionSummary]:
        return self.summaries

    def agents(self) -> Sequence[AgentChoice] | None:
        return self.choices

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        self.watchers.append(watcher)
        return lambda: self.watchers.remove(watcher)

    def changed(self) -> None:
        for watcher in self.watchers:
            watcher()


@dataclass
class HubHarness:
    """A running hub, and what stands behind it."""

    hub: Hub
    journal: Journal
    host: StubHost
    url: str

    @property
    def base(self) -> str:
        """The address without the token."""
        return self.url.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.hub.tokens.control

    async def append(self, *texts: str, session: str = SESSION) -> None:
        await self.journal.append(session, [chunk(text) for text in texts])

    def websocket(
        self, token: str | None = "", *, origin: str | None = None, **options: Any
    ) -> open_websocket:
        """Open a WebSocket; with the control token unless another is given, without any for None."""
        headers = dict(options.pop("headers", {}))
        # The library's own would miss its answers where a test does not read for a while.
        options.setdefault("ping_interval", None)
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.token}"
        return open_websocket(
            self.base.replace("http", "ws", 1) + "/ws",
            additional_headers=headers,
            origin=None if origin is None else Origin(origin),
            subprotocols=options.pop("subprotocols", [Subprotocol("turnwire.v1")]),
            proxy=None,
            **options,
        )

    async def log_in(self, token: str) -> dict[str, str]:
        """Trade a token for a login, and return the headers that prove it: the cookie and its key."""
        status, headers, body = await self.request(
            "/login", method="POST", headers={"Authorization": f"Bearer {token}"}
        )
        assert status == 200, body
        return {
            "Cookie": headers["set-cookie"].partition(";")[0],
            "X-Turnwire-Key": json.loads(body)["key"],
        }

    async def request(
        self, target: str, *, method: str = "GET", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one plain HTTP request and return status, headers and body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.hub.port)
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [
            f"{name}: {value}"
            for name, value in {"Host": f"127.0.0.1:{self.hub.port}", **(headers or {})}.items()
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        head, _, body = answer.partition(b"\r\n\r\n")
        status, *rest = head.decode().split("\r\n")
        names = (line.partition(": ") for line in rest)
        return int(status.split()[1]), {name.lower(): value for name, _, value in names}, body


@asynccontextmanager
async def hub_harness(
    config: HubConfig | None = None,
    *,
    journal: Journal | None = None,
    host: StubHost | None = None,
    probes: Probes | None = None,
    principals: Principals | None = None,
    fleet: Fleet | None = None,
    shells: ShellHost | None = None,
) -> AsyncIterator[HubHarness]:
    """Run a hub."""
    journal = journal or MemoryJournal()
    host = host or StubHost()
    hub = Hub(
        journal,
        host,
        config,
        version="0.0.0",
        probes=probes,
        principals=principals,
        fleet=fleet,
        shells=shells,
    )
    url = await hub.start()
    try:
        yield HubHarness(hub, journal, host, url)
    finally:
        async with asyncio.timeout(60):
            await hub.stop()


def clock_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what sets the running loop's clock so many seconds ahead, as it is after a machine has stood still."""
    loop = asyncio.get_running_loop()
    time, ahead = loop.time, 0.0

    def pass_over(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(loop, "time", lambda: time() + ahead)
    return pass_over


async def receive(websocket: ClientConnection) -> dict[str, Any]:
    """Return the next frame."""
    async with asyncio.timeout(60):
        frame = json.loads(await websocket.recv())
    assert isinstance(frame, dict)
    return frame


async def ask(websocket: ClientConnection, **command: Any) -> dict[str, Any]:
    """Send a command and return its reply, passing over other frames."""
    command.setdefault("id", "ask")
    await websocket.send(json.dumps(command))
    while True:
        frame = await receive(websocket)
        if frame["type"] == "reply" and frame["id"] == command["id"]:
            return frame


async def events(websocket: ClientConnection, last: int) -> list[tuple[int, str]]:
    """Return (seq, text) of events up to a number, and of those before it in the same frames."""
    received: list[tuple[int, str]] = []
    while not received or received[-1][0] < last:
        frame = await receive(websocket)
        batch = {"event": [frame], "events": frame.get("events", [])}.get(frame["type"], [])
        received += [(event["seq"], event["event"]["text"]) for event in batch]
    return received
