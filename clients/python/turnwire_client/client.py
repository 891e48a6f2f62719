"""The client: one connection to a hub, kept up; followings that go on where they were; commands that are awaited.

    async with connect("http://127.0.0.1:8790/#token=…") as client:
        session = await client.create(workspace=".", prompt="Say hello.")
        async for received in client.follow(session): ...

A connection that breaks is made again with growing waits. Commands under way then raise ConnectionLost and are never
repeated: only the caller knows whether doing one twice is harmless.
"""

import asyncio
import ipaddress
import itertools
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from urllib.parse import parse_qs, urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from . import commands
from .backoff import Backoff
from .codes import FINAL_CLOSE_CODES
from .errors import (
    AccessRefused,
    CommandFailed,
    ConnectionLost,
    ProtocolError,
    TimedOut,
    TurnwireError,
)
from .feed import BEGINNING, Cursor
from .following import HELD, Following
from .frames import (
    CaughtUp,
    EventFrame,
    EventsFrame,
    GapFrame,
    Lag,
    Reply,
    Sessions,
    SessionSummary,
    Welcome,
)
from .reading import read_frame
from .requests import Requests
from .values import JsonValue

MAX_FRAME = 64 * 1024 * 1024
"""Bytes of a frame."""

REPLY_TIMEOUT_S = 120.0
"""How long a command waits for its reply."""

ASK_AGAIN_S = 0.5
"""How long a subscription waits that the hub has called one command too many."""

REFUSED = frozenset({400, 401, 403, 404})
"""Status codes of a handshake that trying again would not change."""

MISUNDERSTOOD = frozenset({1002, 1003, 1007, 1009})
"""Codes with which we close: the hub broke the WebSocket protocol, or sent a frame that is no text or too large."""

log = logging.getLogger("turnwire_client")


class Client(Requests):
    """A hub's client; made by `connect`."""

    def __init__(
        self,
        url: str,
        token: str | None,
        name: str | None,
        *,
        ssl: SSLContext | None,
        backoff: Backoff,
        reply_timeout: float,
        max_frame: int,
        ask_again: float,
    ) -> None:
        super().__init__()
        parts = urlsplit(url)
        carried = parse_qs(parts.fragment)
        token = token or next(iter(carried.get("token", [])), None)
        self._url = _address(url)
        self._local = _is_loopback(parts.hostname or "")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._name = name
        self._ssl = ssl
        self._backoff = backoff
        self._reply_timeout = reply_timeout
        self._max_frame = max_frame
        self._ask_again_s = ask_again
        self._ids = itertools.count(1)
        self._ready: asyncio.Future[ClientConnection] = asyncio.get_running_loop().create_future()
        self._failure: TurnwireError | None = None
        self.hindrance = (
            "" if token is not None else "no token was given; the URL that turnwire prints has one"
        )
        """What has kept it from a connection so far, as far as it knows."""
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

    def follow(self, session: str, after: Cursor = BEGINNING, *, held: int = HELD) -> Following:
        """Follow a session's events after a cursor; following it again ends the former following.

        So many frames are `held` for a consumer that is slow; then they wait at the hub.
        """
        if (former := self._followings.get(session)) is not None:
            former.end()
        following = Following(session, after, ask=self._subscribe, leave=self._unsubscribe, held=held)
        if self._failure is not None:
            following.fail(self._failure)
            return following
        self._followings[session] = following
        self._subscribe(following)
        return following

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._ready.done() and self._failure is None

    async def connected(self) -> Welcome:
        """Wait for a connection, and return what the hub says of itself; raises AccessRefused and ProtocolError."""
        await asyncio.shield(self._ready)
        assert self.welcome is not None, "a connection is ready once the hub has said welcome"
        return self.welcome

    async def command(
        self, command: commands.AnyCommand, *, timeout: float | None = None, command_id: str | None = None
    ) -> JsonValue:
        """Send a command and return its reply's result; `timeout` in seconds, the client's own when None.

        With a UUID as `command_id` the hub of a fleet does it once, however often it is sent, and gives its first reply.

        Raises CommandFailed, ConnectionLost (also where there is no connection now: see `connected`), TimedOut,
        and AccessRefused or ProtocolError once the client has failed.
        """
        if not self._ready.done():
            raise ConnectionLost(f'There is no connection, so "{command.type}" was not sent.')
        websocket = self._ready.result()
        command_id = command_id or self._new_id()
        reply: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._replies[command_id] = reply
        seconds = self._reply_timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                await websocket.send(_encoded(command_id, command))
                return await reply
        except TimeoutError as late:
            raise TimedOut(f'The hub has not answered "{command.type}" in {seconds:g} s.') from late
        except ConnectionClosed as closed:
            raise ConnectionLost(f'The connection broke before "{command.type}" was answered.') from closed
        finally:
            self._replies.pop(command_id, None)

    async def run(self) -> None:
        """Keep the connection; returns when the client has failed."""
        while True:
            try:
                await self._connection()
            except InvalidStatus as answer:
                if answer.response.status_code in REFUSED:
                    return self.fail(AccessRefused(_sentence(answer.response.body, str(answer))))
                log.info("The hub does not take the connection now: %s", answer)
                self.hindrance = str(answer)
            except (AccessRefused, ProtocolError) as failure:
                return self.fail(failure)
            except ConnectionClosed as closed:
                log.info("The connection to the hub was lost: %s", closed)
            except (OSError, InvalidHandshake, TimeoutError) as error:
                log.info("The hub cannot be reached: %s", error)
                self.hindrance = str(error) or self.hindrance
            await asyncio.sleep(self._backoff.next())

    def fail(self, failure: TurnwireError) -> None:
        """End all there is with this error, now and for good."""
        self._failure = failure
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        self._ready.set_exception(failure)
        # Whoever asks later gets it; that nobody does is no error.
        self._ready.exception()
        for following in self._followings.values():
            following.fail(failure)
        self._followings.clear()

    def close(self) -> None:
        """End all there is: followings end after what they hold, commands raise ConnectionLost."""
        for following in self._followings.values():
            following.end()
        self._followings.clear()
        if self._failure is None:
            self.fail(ConnectionLost("The client was closed."))

    async def _connection(self) -> None:
        async with open_websocket(
            self._url,
            additional_headers=self._headers,
            subprotocols=[Subprotocol("turnwire.v1")],
            ssl=self._ssl,
            proxy=None if self._local else True,
            max_size=self._max_frame,
            compression="deflate",
        ) as websocket:
            lost: TurnwireError = ConnectionLost("The connection broke before the reply came.")
            try:
                while True:
                    self._take(websocket, await websocket.recv())
            except ProtocolError as misunderstood:
                lost = misunderstood
                raise
            except ConnectionClosed as closed:
                if (failure := self._final(closed)) is None:
                    raise
                lost = failure
                raise failure from closed
            finally:
                self._disconnected(lost)

    def _final(self, closed: ConnectionClosed) -> TurnwireError | None:
        """Return what makes coming again useless, if anything does."""
        if closed.rcvd is not None and closed.rcvd.code in FINAL_CLOSE_CODES:
            return AccessRefused(closed.rcvd.reason or "The token was not accepted.")
        if closed.sent is not None and closed.sent.code in MISUNDERSTOOD and not closed.rcvd_then_sent:
            why = closed.sent.reason or f"we closed with {closed.sent.code}"
            return ProtocolError(
                f"The hub sent what this client cannot take: {why}; `max_frame` is {self._max_frame} bytes."
            )
        return None

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
        if self._ready.done():
            raise ProtocolError("The hub said welcome twice.")
        self.welcome = welcome
        self.known_sessions = welcome.sessions
        self._backoff.reset()
        self._ready.set_result(websocket)
        if self._name is not None:
            self._send(commands.Hello(name=self._name))
        for following in self._followings.values():
            if following.state == "idle":
                self._subscribe(following)

    def _disconnected(self, lost: TurnwireError) -> None:
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        for following in self._followings.values():
            following.on_lost()
        self._asked.clear()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(lost)

    def _received(self, frame: EventFrame | GapFrame | CaughtUp | Lag) -> None:
        following = self._followings.get(frame.session)
        if following is None or following.on_frame(frame):
            return
        if following.state == "full":
            self._send(commands.Unsubscribe(session=frame.session))
        elif following.state == "closed":
            self._unsubscribe(following)
        else:
            self._subscribe(following)

    def _replied(self, reply: Reply) -> None:
        failure = None if reply.ok else _failure(reply)
        if (following := self._asked.pop(reply.id or "", None)) is not None:
            # At once, and not in a task: the events come right behind.
            if failure is None:
                following.on_subscribed(self.welcome.epoch if self.welcome else "")
            elif failure.code == "rate_limited":
                # a following that fills and empties quickly asks often
                following.on_lost()
                asyncio.get_running_loop().call_later(self._ask_again_s, self._ask_again, following)
            else:
                self._forget(following)
                following.fail(failure)
        elif (waiting := self._replies.get(reply.id or "")) is not None and not waiting.done():
            if failure is None:
                waiting.set_result(reply.result)
            else:
                waiting.set_exception(failure)

    def _subscribe(self, following: Following) -> None:
        if not self._ready.done() or following.state == "closed":
            return
        following.on_subscribe()
        cursor = following.next
        command = commands.Subscribe(
            session=following.session,
            after=cursor.seq,
            epoch=cursor.epoch if cursor.seq else None,
        )
        self._asked[self._send(command)] = following

    def _ask_again(self, following: Following) -> None:
        if following.state == "idle" and self._followings.get(following.session) is following:
            self._subscribe(following)

    def _unsubscribe(self, following: Following) -> None:
        if self._forget(following) and self._ready.done():
            self._send(commands.Unsubscribe(session=following.session))

    def _forget(self, following: Following) -> bool:
        """Leave a following out; False when another has taken its place."""
        if self._followings.get(following.session) is not following:
            return False
        del self._followings[following.session]
        return True

    def _new_id(self) -> str:
        return str(next(self._ids))

    def _send(self, command: commands.AnyCommand) -> str:
        """Send a command whose reply nobody waits for here, and return its id; if the connection breaks, the next one asks anew."""
        command_id = self._new_id()
        text = _encoded(command_id, command)
        task = asyncio.create_task(self._send_to(self._ready.result(), text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
        return command_id

    async def _send_to(self, websocket: ClientConnection, text: str) -> None:
        try:
            await websocket.send(text)
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
    reply_timeout: float = REPLY_TIMEOUT_S,
    backoff: Backoff | None = None,
    max_frame: int = MAX_FRAME,
    ask_again: float = ASK_AGAIN_S,
) -> AsyncIterator[Client]:
    """Connect to a hub: its printed URL, or its address and a token.

    `name` is shown as `by` in the decisions this client takes, `reply_timeout` is in seconds, `max_frame` in bytes; a following that
    the hub finds too frequent is asked for again after `ask_again` seconds.
    Raises AccessRefused, ProtocolError, and TimedOut when there is no hub within `timeout` seconds.
    """
    client = Client(
        url,
        token,
        name,
        ssl=ssl,
        backoff=backoff or Backoff(),
        reply_timeout=reply_timeout,
        max_frame=max_frame,
        ask_again=ask_again,
    )
    keeper = asyncio.create_task(client.run())
    try:
        try:
            async with asyncio.timeout(timeout):
                await client.connected()
        except TimeoutError as late:
            why = f": {client.hindrance}" if client.hindrance else ""
            raise TimedOut(f"No hub has answered at {_address(url)} in {timeout:g} s{why}.") from late
        yield client
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        client.close()


def _address(url: str) -> str:
    """Return the WebSocket's address: that of a hub, or below the path that a proxy has it at."""
    parts = urlsplit(url)
    scheme = "wss" if parts.scheme in {"https", "wss"} else "ws"
    path = parts.path if parts.path.endswith("/ws") else f"{parts.path.rstrip('/')}/ws"
    return f"{scheme}://{parts.netloc}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _encoded(command_id: str, command: commands.AnyCommand) -> str:
    return msgspec.json.encode({"id": command_id, **msgspec.to_builtins(command)}).decode()


def _failure(reply: Reply) -> CommandFailed:
    if reply.error is None:
        return CommandFailed("unknown", "The hub gave no reason.")
    return CommandFailed(reply.error.code, reply.error.message, reply.error.field)


def _sentence(body: bytes | bytearray | None, otherwise: str) -> str:
    try:
        return str(json.loads(body or b"")["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return otherwise
