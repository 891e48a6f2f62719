"""The AG-UI application on a hub whose host does what a test says, called without a socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from hub_harness import SESSION, HubHarness, StubHost, hub_harness
from pydantic import JsonValue
from starlette.types import ASGIApp, Message

from turnwire.frontends.agui.app import create_app
from turnwire.frontends.agui.runs import Limits
from turnwire.hub.wire.frames import AnyCommand
from turnwire.journal.base import Entry
from turnwire.normalize import events
from turnwire.normalize.events import to_json

DEADLINE = 60.0
"""Seconds that any wait may take."""


@dataclass
class Answer:
    """A response, read as slowly as the test likes: what is sent waits until it is read."""

    sent: "asyncio.Queue[Message]"
    calling: "asyncio.Task[None]"
    asked: asyncio.Event
    """Set when the body was taken; then `gone` ends the connection."""
    gone: asyncio.Event
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    rest: bytes = b""

    async def message(self) -> Message | None:
        """The next thing sent; None after the last."""
        getting = asyncio.ensure_future(self.sent.get())
        async with asyncio.timeout(DEADLINE):
            await asyncio.wait({getting, self.calling}, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        getting.cancel()
        if not self.sent.empty():
            return self.sent.get_nowait()
        await self.calling
        return None

    async def begun(self) -> "Answer":
        """Wait for status and headers."""
        message = await self.message()
        assert message is not None
        assert message["type"] == "http.response.start"
        self.status = message["status"]
        self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        return self

    async def chunks(self) -> AsyncIterator[bytes]:
        while (message := await self.message()) is not None:
            if message.get("body"):
                yield message["body"]

    async def body(self) -> Any:
        return json.loads(b"".join([chunk async for chunk in self.chunks()]))

    async def next(self) -> dict[str, Any] | None:
        """The next event; None after the last."""
        while b"\n\n" not in self.rest:
            message = await self.message()
            if message is None:
                return None
            self.rest += message.get("body", b"")
        line, _, self.rest = self.rest.partition(b"\n\n")
        if not line.startswith(b"data: "):
            return await self.next()
        found: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        return found

    async def until(self, kind: str) -> dict[str, Any]:
        """The next event of a type."""
        while (event := await self.next()) is not None:
            if event["type"] == kind:
                return event
        raise AssertionError(f"the run has ended without {kind}")

    async def events(self) -> list[dict[str, Any]]:
        """All events that come."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@dataclass
class AguiHarness:
    """The application and the hub behind it."""

    app: ASGIApp
    hub: HubHarness
    calls: list["asyncio.Task[None]"] = field(default_factory=list)

    async def append(self, *happened: events.AgentEvent, session: str = SESSION) -> None:
        """Let something happen in the session."""
        await self.hub.journal.append(session, [Entry(to_json(event)) for event in happened])

    def on_prompt(self, *happened: events.AgentEvent, prompt: str = "p1") -> None:
        """Let events follow a prompt."""

        async def prompted(_: AnyCommand) -> JsonValue:
            await self.append(*happened)
            return {"prompt": prompt}

        self.hub.host.handlers["prompt"] = prompted

    async def call(
        self,
        path: str,
        body: bytes | dict[str, Any],
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
        method: str = "POST",
        unread: int = 0,
    ) -> Answer:
        """Call the application; `unread` messages may wait for the reader, 0: any number."""
        token = self.hub.token if token == "" else token
        all_headers = {"host": "127.0.0.1:8791", "content-type": "application/json", **(headers or {})}
        if token is not None:
            all_headers["authorization"] = f"Bearer {token}"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in all_headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8791),
        }
        pieces = [content[start : start + 65536] for start in range(0, len(content), 65536)] or [b""]
        asked, gone = asyncio.Event(), asyncio.Event()

        async def receive() -> Message:
            if pieces:
                piece = pieces.pop(0)
                if not pieces:
                    asked.set()
                return {"type": "http.request", "body": piece, "more_body": bool(pieces)}
            await gone.wait()
            return {"type": "http.disconnect"}

        sent: asyncio.Queue[Message] = asyncio.Queue(unread)
        calling = asyncio.ensure_future(self.app(scope, receive, sent.put))
        self.calls.append(calling)
        return await Answer(sent, calling, asked, gone).begun()

    async def run(self, session: str = SESSION, **more: Any) -> Answer:
        """Ask for a run; what is not said is a look at the session."""
        return await self.call(f"/agui/{session}", input_of(**more))


def input_of(said: str | None = None, message: str = "u1", **more: Any) -> dict[str, Any]:
    """A RunAgentInput of a client of version 1.0, with one new message."""
    messages = [] if said is None else [{"id": message, "role": "user", "content": said}]
    return {
        "threadId": "t1",
        "runId": "r1",
        "protocolVersion": "1.0",
        "state": {},
        "messages": messages,
        "tools": [],
        "context": [],
        "forwardedProps": {},
        **more,
    }


@asynccontextmanager
async def agui(
    limits: Limits | None = None, host: StubHost | None = None, **options: Any
) -> AsyncIterator[AguiHarness]:
    """Run a hub and the application on it."""
    async with hub_harness(host=host) as hub:
        there = AguiHarness(create_app(hub.base, limits=limits, **options), hub)
        try:
            yield there
        finally:
            for call in there.calls:
                call.cancel()
            await asyncio.gather(*there.calls, return_exceptions=True)
