"""What the benches of the hub share: a hub over a journal, a bare websockets server, frontends in another process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.host import Frontend
from turnwire.hub.hub import Hub
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Entry, Journal, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sqlite.journal import SqliteJournal

SESSION = "s1"
PADDING = "x" * 200
FRONTENDS = Path(__file__).with_name("hub_frontends.py")
LIMITS = Limits(connections=2000, newcomers=2000, newcomers_per_address=2000, silence_s=3600)


def event(text: str) -> bytes:
    return b'{"type":"message_chunk","session_id":"c0ffee","text":"%s"}' % text.encode()


class NoHost:
    """Has one session and does nothing."""

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        raise NotImplementedError(command.type, frontend.name)

    def sessions(self) -> Sequence[SessionSummary]:
        last = 0 if self._journal is None else self._journal.last(SESSION)
        return [SessionSummary(session=SESSION, state="idle", last_seq=last, pending=0)]

    def agents(self) -> None:
        return None

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        return watcher


def installed(home: Path) -> dict[str, str]:
    """The environment of a process as where turnwire is installed: its modules are compiled once."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}


@asynccontextmanager
async def hub_of(journal: Journal) -> AsyncIterator[tuple[str, str, Hub]]:
    """Serve a journal; gives the WebSocket's address, a token and the hub."""
    hub = Hub(journal, NoHost(journal), HubConfig(limits=LIMITS))
    await hub.start()
    yield f"ws://127.0.0.1:{hub.port}/ws", hub.tokens.view, hub
    await hub.stop()


@asynccontextmanager
async def bare_server() -> AsyncIterator[tuple[str, set[ServerConnection]]]:
    """A websockets server that says it caught up and leaves the rest to `broadcast`."""
    connections: set[ServerConnection] = set()

    async def handler(connection: ServerConnection) -> None:
        await connection.send('{"type":"caught_up"}')
        connections.add(connection)
        await connection.wait_closed()
        connections.discard(connection)

    async with serve(
        handler,
        "127.0.0.1",
        0,
        compression=None,
        subprotocols=[Subprotocol("turnwire.v1")],
        ping_interval=None,
    ) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/ws", connections


@asynccontextmanager
async def frontends(
    mode: str, url: str, token: str, count: int, number: int, *more: str
) -> AsyncIterator[asyncio.StreamReader]:
    """Run frontends in another process; gives what they say, once they are ready."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(FRONTENDS),
        mode,
        url,
        token,
        str(count),
        str(number),
        *more,
        stdout=-1,
        limit=1 << 26,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b'"ready"\n'
    try:
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def journals(kind: str, retention: Retention | None = None) -> AsyncIterator[Journal]:
    """An empty journal."""
    kept = retention or Retention()
    if kind == "memory":
        yield MemoryJournal(kept)
    else:
        with TemporaryDirectory() as folder:
            journal = await SqliteJournal.open(Path(folder) / "journal.db", kept)
            yield journal
            await journal.close()


async def delivered(hub: Hub) -> None:
    """Wait until no frontend is behind."""
    while hub.lag:  # noqa: ASYNC110 - what is measured must not be told of it
        await asyncio.sleep(0.0005)


async def deepen(journal: Journal, last: int) -> None:
    pair = [Entry(event(PADDING)), Entry(event(PADDING))]
    held = journal.last(SESSION)
    while held < last:
        held = await journal.append(SESSION, pair)
        if held % 8 == 0:
            await asyncio.sleep(0)
    await journal.flush()
