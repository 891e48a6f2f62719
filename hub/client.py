"""The Python client: follows sessions and sends commands, over one WebSocket that is renewed whenever it breaks.

    async with connect("http://127.0.0.1:8787/#token=…") as client:
        session = await client.create(workspace=".", prompt="Say hello.")
        async for received in client.follow(session): ...

A following goes on where it was, over reconnects and restarts of the sidecar. A command whose reply was
cut off raises ConnectionLost: whether it was done is not known.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from urllib.parse import parse_qs, urlsplit

import structlog
from pydantic import JsonValue
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from hub.following import Following, Received
from hub.reading import read_frame
from hub.requests import CommandFailed, Requests
from hub.server.access import is_loopback
from hub.wire import frames
from hub.wire.codes import CloseCode
from hub.wire.frames_out import EventsFrame, Reply, Sessions, SessionSummary, Welcome
from normalize.events.envelope import Cursor

BEGINNING = Cursor("", 0)
"""From the first event."""

BACKOFF_S = 0.1
BACKOFF_LIMIT_S = 10.0
"""A lost connection is tried again after a random part of a time that doubles from one to the other."""

REFUSED = frozenset({400, 401, 403, 404})
"""Status codes that trying again would not change."""

log = structlog.get_logger("hub.client")


class AccessRefused(Exception):
    """The hub does not accept the token, or this client at all; trying again would not help."""


class ConnectionLost(Exception):
    """The connection broke before the reply came: whether the command was done is not known."""


class Client(Requests):
    """A hub's client; made by `connect`."""

    def __init__(self, url: str, token: str | None, name: str | None, ssl: SSLContext | None) -> None:
        super().__init__()
        parts = urlsplit(url)
        carried = parse_qs(parts.fragment)
        token = token or next(iter(carried.get("token", [])), None)
        self._url = f"{'wss' if parts.scheme in {'https', 'wss'} else 'ws'}://{parts.netloc}/ws"
        self._local = is_loopback(parts.hostname or "")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._name = name
        self._ssl = ssl
        self._ready: asyncio.Future[ClientConnection] = asyncio.get_running_loop().create_future()
        self._replies: dict[str, asyncio.Future[JsonValue]] = {}
        self._followings: dict[str, Following] = {}
        self._asked: dict[str, Following] = {}
        """Subscriptions asked for, by the id of the command."""
        self._sending: set[asyncio.Task[None]] = set()
        self.named_session = next(iter(carried.get("session", [])), None)
        """The session that the URL names, as the one that `turnwire run` prints does."""
        self.welcome: Welcome | None = None
        """What the hub said of itself, on the last connection."""
        self.known_sessions: list[SessionSummary] = []
        """All sessions, as the hub last told."""

    def follow(self, session: str, after: Cursor = BEGINNING) -> Following:
        """Follow a session's events after a cursor; following it again ends the former."""
        if (former := self._followings.get(session)) is not None:
            former.close()
        following = self._followings[session] = Following(session, after, self._subscribe)
        self._subscribe(following)
        return following

    async def connected(self) -> None:
        """Wait for a connection; raises AccessRefused."""
        await asyncio.shield(self._ready)

    async def unfollow(self, following: Following) -> None:
        """Follow it no more."""
        following.close()
        if self._followings.get(following.session) is following:
            del self._followings[following.session]
            await self.request(
                frames.Unsubscribe(type="unsubscribe", id=self.new_id(), session=following.session)
            )

    async def request(self, command: frames.AnyCommand) -> JsonValue:
        """Send a command, once there is a connection, and return its reply's result."""
        websocket = await asyncio.shield(self._ready)
        reply: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._replies[command.id] = reply
        try:
            await websocket.send(command.model_dump_json(exclude_none=True))
            return await reply
        except ConnectionClosed as closed:
            raise ConnectionLost(command.type) from closed
        finally:
            self._replies.pop(command.id, None)

    async def run(self) -> None:
        """Keep the connection; returns only by AccessRefused or cancellation."""
        failures = 0
        try:
            while True:
                before = self.welcome
                try:
                    await self._connection()
                except InvalidStatus as answer:
                    if answer.response.status_code in REFUSED:
                        raise AccessRefused(_sentence(answer.response.body, str(answer))) from answer
                    log.info("The hub does not take the connection now.", error=str(answer))
                except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError) as error:
                    log.info("The connection to the hub was lost.", error=str(error))
                failures = 0 if self.welcome is not before else failures + 1
                limit = min(BACKOFF_LIMIT_S, BACKOFF_S * 2.0 ** min(failures, 10))
                await asyncio.sleep(random.uniform(0, limit))
        except AccessRefused as refused:
            self._fail(refused)

    async def _connection(self) -> None:
        async with open_websocket(
            self._url,
            additional_headers=self._headers,
            subprotocols=[Subprotocol("turnwire.v1")],
            ssl=self._ssl,
            proxy=None if self._local else True,
            max_size=None,
            compression="deflate",
        ) as websocket:
            try:
                async for text in websocket:
                    self._take(websocket, text)
            finally:
                self._disconnected()
            if websocket.close_code == CloseCode.UNAUTHORIZED:
                raise AccessRefused(websocket.close_reason or "the token was not accepted")

    def _take(self, websocket: ClientConnection, text: str | bytes) -> None:
        match read_frame(text):
            case Welcome() as welcome:
                self._welcomed(websocket, welcome)
            case Sessions() as sessions:
                self.known_sessions = sessions.sessions
            case Reply() as reply:
                self._replied(reply)
            case EventsFrame() as frame:
                for event in frame.events:
                    self._received(event)
            case None:
                pass
            case frame:
                self._received(frame)

    def _welcomed(self, websocket: ClientConnection, welcome: Welcome) -> None:
        self.welcome = welcome
        self.known_sessions = welcome.sessions
        self._ready.set_result(websocket)
        if self._name is not None:
            self._send(frames.Hello(type="hello", id=self.new_id(), name=self._name))
        for following in self._followings.values():
            if following.state == "idle":
                self._subscribe(following)

    def _disconnected(self) -> None:
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        for following in self._followings.values():
            following.lost()
        self._asked.clear()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(ConnectionLost("the connection broke before the reply came"))

    def _fail(self, refused: AccessRefused) -> None:
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        self._ready.set_exception(refused)
        # Whoever asks later gets it; that nobody does is no error.
        self._ready.exception()
        for following in self._followings.values():
            following.fail(refused)

    def _received(self, frame: Received) -> None:
        following = self._followings.get(frame.session)
        if following is None or following.take(frame):
            return
        if following.state == "full":
            self._send(frames.Unsubscribe(type="unsubscribe", id=self.new_id(), session=frame.session))
        else:
            self._subscribe(following)

    def _replied(self, reply: Reply) -> None:
        failure = (
            None
            if reply.error is None
            else CommandFailed(reply.error.code, reply.error.message, reply.error.field)
        )
        if (following := self._asked.pop(reply.id or "", None)) is not None:
            # At once, and not in a task: the events come right behind.
            if failure is None:
                following.confirmed(self.welcome.epoch if self.welcome else "")
            else:
                following.fail(failure)
        elif (waiting := self._replies.get(reply.id or "")) is not None and not waiting.done():
            if failure is None:
                waiting.set_result(reply.result)
            else:
                waiting.set_exception(failure)

    def _subscribe(self, following: Following) -> None:
        if not self._ready.done() or following.state == "closed":
            return
        following.asked()
        cursor = following.next
        command = frames.Subscribe(
            type="subscribe",
            id=self.new_id(),
            session=following.session,
            after=cursor.seq,
            epoch=cursor.epoch if cursor.seq else None,
        )
        self._asked[command.id] = following
        self._send(command)

    def _send(self, command: frames.AnyCommand) -> None:
        """Send a command whose reply nobody waits for here; if the connection breaks, the next one asks anew."""
        task = asyncio.create_task(self._send_to(self._ready.result(), command))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_to(self, websocket: ClientConnection, command: frames.AnyCommand) -> None:
        try:
            await websocket.send(command.model_dump_json(exclude_none=True))
        except ConnectionClosed:
            pass


@asynccontextmanager
async def connect(
    url: str,
    token: str | None = None,
    *,
    name: str | None = None,
    ssl: SSLContext | None = None,
    timeout: float = 10.0,
) -> AsyncIterator[Client]:
    """Connect to a hub: its printed URL, or its address and a token.

    `name` is shown as `by` in the decisions this client takes. Raises AccessRefused, and TimeoutError when
    there is no hub within `timeout` seconds.
    """
    client = Client(url, token, name, ssl)
    keeper = asyncio.create_task(client.run())
    try:
        async with asyncio.timeout(timeout):
            await client.connected()
        yield client
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


def _sentence(body: bytes | bytearray | None, otherwise: str) -> str:
    try:
        return str(json.loads(body or b"")["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return otherwise
