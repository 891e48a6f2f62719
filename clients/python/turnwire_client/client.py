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
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from ssl import SSLContext
from typing import Any, TypeAlias, TypeVar, get_args
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
from .following import HELD, Following, Subscription
from .frames import (
    CaughtUp,
    EventFrame,
    EventsFrame,
    GapFrame,
    Lag,
    Reply,
    Sessions,
    SessionSummary,
    ShellEnded,
    ShellFrame,
    Welcome,
)
from .reading import read_frame, read_result
from .requests import Requests
from .values import Command, JsonValue

MAX_FRAME = 64 * 1024 * 1024
"""Bytes of a frame."""

REPLY_TIMEOUT_S = 120.0
"""How long a command waits for its reply."""

SILENCE_S = 20.0
"""How often a hub is asked for a sign of life, and how long it may take for one."""

CLOSE_S = 2.0
"""How long a hub may take to agree that the connection ends; one that has gone silent never does."""

ASK_AGAIN_S = 0.5
"""How long a subscription waits that the hub has called one command too many."""

REFUSED = frozenset({400, 401, 403, 404})
"""Status codes of a handshake that trying again would not change."""

UNAUTHORIZED = 401
"""Status of a handshake whose token is wrong."""

MISUNDERSTOOD = frozenset({1002, 1003, 1007, 1009})
"""Codes with which we close: the hub broke the WebSocket protocol, or sent a frame that is no text or too large."""

Result = TypeVar("Result")

Source: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A text, or a function that gives it: asked before each attempt to connect, so that it can be renewed."""

log = logging.getLogger("turnwire_client")


class Client(Requests):
    """A hub's client; made by `connect`."""

    def __init__(
        self,
        url: Source,
        token: Source | None,
        name: str | None,
        *,
        lazy: bool,
        ssl: SSLContext | None,
        backoff: Backoff,
        reply_timeout: float,
        max_frame: int,
        ask_again: float,
    ) -> None:
        super().__init__()
        self._source, self._token_source = url, token
        self._name = name
        self._wanted = asyncio.Event()
        """Set once a connection is wanted: at once, or, of a lazy client, when it is first used."""
        if not lazy:
            self._wanted.set()
        self._refused = False
        """The last connection was refused for its token, which a function may renew."""
        self._ssl = ssl
        self._backoff = backoff
        self._reply_timeout = reply_timeout
        self._max_frame = max_frame
        self._ask_again_s = ask_again
        self._ids = itertools.count(1)
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[ClientConnection] = self._loop.create_future()
        self._failure: TurnwireError | None = None
        self.hindrance = ""
        """What has kept it from a connection so far, as far as it knows."""
        self.address = websocket_address(url) if isinstance(url, str) else ""
        """The WebSocket's address; empty until a function has given the URL."""
        self._replies: dict[str, asyncio.Future[JsonValue]] = {}
        self._followings: dict[str, weakref.WeakSet[Following]] = {}
        self._asked: dict[str, Subscription] = {}
        """Subscriptions asked for, by the id of the command."""
        self._sending: set[asyncio.Task[None]] = set()
        self.named_session = _carried(url, "session") if isinstance(url, str) else None
        """The session that the URL names, as the one that `turnwire run` prints does."""
        self.welcome: Welcome | None = None
        """What the hub said of itself, on the last connection."""
        self.known_sessions: list[SessionSummary] = []
        """All sessions, as the hub last told."""
        self.on_shell: Callable[[ShellFrame | ShellEnded], None] = lambda _: None
        """Called with what the shells write that this client has opened, and with their ends."""

    def follow(self, session: str, after: Cursor = BEGINNING, *, held: int = HELD) -> Following:
        """Follow a session's events after a cursor, beside other followings of it.

        So many frames are `held` for a consumer that is slow; then they wait at the hub.
        """
        self._wanted.set()
        following = Following(session, after, ask=self._subscribe, leave=self._unsubscribe, held=held)
        if self._failure is not None:
            following.fail(self._failure)
            return following
        self._followings.setdefault(session, weakref.WeakSet()).add(following)
        weakref.finalize(following, self._on_left, session).atexit = False
        self._subscribe(session)
        return following

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._ready.done() and self._failure is None

    async def connected(self) -> Welcome:
        """Wait for a connection, and return what the hub says of itself; raises AccessRefused and ProtocolError."""
        self._wanted.set()
        await asyncio.shield(self._ready)
        assert self.welcome is not None, "a connection is ready once the hub has said welcome"
        return self.welcome

    async def command(
        self, command: Command[Result], *, timeout: float | None = None, command_id: str | None = None
    ) -> Result:
        """Send a command and return its reply's result; `timeout` in seconds, the client's own when None.

        The first command of a lazy client waits for the connection. With a UUID as `command_id` the hub of a fleet does it once, however often it is sent, and gives its first reply. Every hub does so with a prompt, and the UUID is the prompt's.

        Raises CommandFailed, ConnectionLost (also where there is no connection now: see `connected`), TimedOut,
        and AccessRefused or ProtocolError once the client has failed.
        """
        if not self._ready.done() and not self._wanted.is_set():
            await self.wait(self._reply_timeout if timeout is None else timeout)
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
                return read_result(await reply, _result_type(type(command)), command.type)  # type: ignore[no-any-return]  # as the command says
        except TimeoutError as late:
            raise TimedOut(f'The hub has not answered "{command.type}" in {seconds:g} s.') from late
        except ConnectionClosed as closed:
            raise ConnectionLost(f'The connection broke before "{command.type}" was answered.') from closed
        finally:
            self._replies.pop(command_id, None)

    async def run(self) -> None:
        """Keep the connection; returns when the client has failed."""
        await self._wanted.wait()
        while True:
            try:
                await self._connection()
            except InvalidStatus as answer:
                status = answer.response.status_code
                if status in REFUSED:
                    other = f"{self.address} has answered with HTTP {status}; is it a turnwire hub, and the port right?"
                    refusal = AccessRefused(_sentence(answer.response.body, other))
                    if status != UNAUTHORIZED or not self._may_renew():
                        return self.fail(refusal)
                log.info("The hub does not take the connection now: %s", answer)
                self.hindrance = str(answer)
            except AccessRefused as failure:
                if not self._may_renew():
                    return self.fail(failure)
            except ProtocolError as failure:
                return self.fail(failure)
            except ConnectionClosed as closed:
                log.info("The connection to the hub was lost: %s", closed)
            except (OSError, InvalidHandshake, TimeoutError) as error:
                log.info("The hub cannot be reached: %s", error)
                self.hindrance = str(error) or self.hindrance
            await asyncio.sleep(self._backoff.next())

    async def wait(self, seconds: float) -> None:
        """Wait so many seconds for a connection; raises TimedOut, and what `connected` does."""
        try:
            async with asyncio.timeout(seconds):
                await self.connected()
        except TimeoutError as late:
            why = f": {self.hindrance}" if self.hindrance else ""
            raise TimedOut(f"No hub has answered at {self.address} in {seconds:g} s{why}.") from late

    def _may_renew(self) -> bool:
        """Tell whether a function may have a better token than the refused one: once after each connection."""
        if isinstance(self._token_source, str | None) and isinstance(self._source, str):
            return False
        renews, self._refused = not self._refused, True
        return renews

    def fail(self, failure: TurnwireError) -> None:
        """End all there is with this error, now and for good."""
        self._failure = failure
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        self._ready.set_exception(failure)
        # Whoever asks later gets it; that nobody does is no error.
        self._ready.exception()
        for following in self._all_followings():
            following.fail(failure)
        self._followings.clear()

    def _all_followings(self) -> list[Following]:
        return [one for each in self._followings.values() for one in each]

    def close(self) -> None:
        """End all there is: followings end after what they hold, commands raise ConnectionLost."""
        for following in self._all_followings():
            following.end()
        self._followings.clear()
        if self._failure is None:
            self.fail(ConnectionLost("The client was closed."))

    async def _place(self) -> tuple[str, str | None]:
        """Return the URL and the token to connect with now; raises OSError when a function of the caller's has failed."""
        try:
            url = await _given(self._source)
            token = None if self._token_source is None else await _given(self._token_source)
        except Exception as error:
            log.warning("The function for the URL or the token has failed.", exc_info=error)
            raise OSError(f"the function for the URL or the token has failed: {error!r}") from error
        try:
            self.address = websocket_address(url)
        except ValueError as error:
            raise OSError(str(error)) from error
        self.named_session = _carried(url, "session")
        return url, token or _carried(url, "token")

    async def _connection(self) -> None:
        url, token = await self._place()
        if token is None:
            self.hindrance = "no token was given; the URL that turnwire prints has one"
        async with open_websocket(
            self.address,
            additional_headers={} if token is None else {"Authorization": f"Bearer {token}"},
            subprotocols=[Subprotocol("turnwire.v1")],
            ssl=self._ssl,
            proxy=None if _is_loopback(urlsplit(url).hostname or "") else True,
            max_size=self._max_frame,
            compression="deflate",
            ping_interval=SILENCE_S,
            ping_timeout=SILENCE_S,
            close_timeout=CLOSE_S,
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
            case ShellFrame() | ShellEnded() as of_shell:
                self._of_shell(of_shell)
            case None:
                pass
            case frame:
                self._received(frame)

    def _of_shell(self, frame: ShellFrame | ShellEnded) -> None:
        try:
            self.on_shell(frame)
        except Exception:
            log.exception("The function for the output of shells has failed.")

    def _welcomed(self, websocket: ClientConnection, welcome: Welcome) -> None:
        if self._ready.done():
            raise ProtocolError("The hub said welcome twice.")
        self.welcome = welcome
        self.known_sessions = welcome.sessions
        if not self._followings:
            self._backoff.reset()
        self._refused = False
        self._ready.set_result(websocket)
        if self._name is not None:
            self._send(commands.Hello(name=self._name))
        for session, followings in self._followings.items():
            if any(one.state == "idle" for one in followings):
                self._subscribe(session)

    def _disconnected(self, lost: TurnwireError) -> None:
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()
        for following in self._all_followings():
            following.on_lost()
        self._asked.clear()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(lost)

    def _received(self, frame: EventFrame | GapFrame | CaughtUp | Lag) -> None:
        if isinstance(frame, CaughtUp):
            # Not at the welcome: a hub that cannot read its log yet is not to be asked ever again at once.
            self._backoff.reset()
        followings = self._followings.get(frame.session)
        if followings is None:
            return
        missing = False
        for following in tuple(followings):
            if following.on_frame(frame):
                continue
            match following.state:
                case "full":
                    if all(one.state == "full" for one in followings):
                        self._send(commands.Unsubscribe(session=frame.session))
                case "closed":
                    self._unsubscribe(following)
                case _:
                    missing = True
        if missing:
            self._subscribe(frame.session)

    def _replied(self, reply: Reply) -> None:
        failure = None if reply.ok else _failure(reply)
        if (subscription := self._asked.pop(reply.id or "", None)) is not None:
            # At once, and not in a task: the events come right behind.
            self._subscribed(subscription, reply.result, failure)
        elif (waiting := self._replies.get(reply.id or "")) is not None and not waiting.done():
            if failure is None:
                waiting.set_result(reply.result)
            else:
                waiting.set_exception(failure)

    def _subscribed(
        self, subscription: Subscription, result: JsonValue, failure: CommandFailed | None
    ) -> None:
        if failure is None:
            last = result.get("last") if isinstance(result, dict) else None
            for following in subscription.followings:
                following.on_subscribed(
                    subscription,
                    self.welcome.epoch if self.welcome else "",
                    last if isinstance(last, int) else 0,
                )
        elif failure.code == "rate_limited":
            # a following that fills and empties quickly asks often
            for following in subscription.followings:
                following.on_lost()
            session = subscription.followings[0].session
            asyncio.get_running_loop().call_later(self._ask_again_s, self._ask_again, session)
        else:
            for following in subscription.followings:
                self._forget(following)
                following.fail(failure)

    def _subscribe(self, session: str) -> None:
        """Ask for what the followings of a session lack: from the earliest of their places."""
        followings = tuple(
            one for one in self._followings.get(session, ()) if one.state not in {"closed", "full"}
        )
        if not self._ready.done() or not followings:
            return
        cursor = min((self._begin_at(one) for one in followings), key=self._order)
        subscription = Subscription(cursor, followings)
        for following in followings:
            following.on_subscribe(subscription)
        command = commands.Subscribe(
            session=session, after=cursor.seq, epoch=cursor.epoch if cursor.seq else None
        )
        self._asked[self._send(command)] = subscription

    def _begin_at(self, following: Following) -> Cursor:
        """Return where the hub is to begin: of LATEST the newest number that we know, as the hub's own is no lower."""
        cursor = following.next
        if cursor.seq >= 0 or self.welcome is None:
            return cursor
        known = (one.last_seq for one in self.known_sessions if one.session == following.session)
        return Cursor(self.welcome.epoch, next(known, 0))

    def _order(self, cursor: Cursor) -> tuple[bool, int]:
        """Sort places: those of another life of the log first, as all that follows is new to them."""
        epoch = self.welcome.epoch if self.welcome else ""
        return cursor.seq == 0 or cursor.epoch == epoch, cursor.seq

    def _ask_again(self, session: str) -> None:
        if any(one.state == "idle" for one in self._followings.get(session, ())):
            self._subscribe(session)

    def _unsubscribe(self, following: Following) -> None:
        followings = self._followings.get(following.session)
        if followings is not None:
            followings.discard(following)
        self._leave(following.session)

    def _forget(self, following: Following) -> None:
        others = self._followings.get(following.session)
        if others is not None:
            others.discard(following)
            if not others:
                del self._followings[following.session]

    def _on_left(self, session: str) -> None:
        """Note, in whatever thread, that a following is no more: a loop over it was left."""
        try:
            self._loop.call_soon_threadsafe(self._leave, session)
        except RuntimeError:
            pass  # the loop is closed

    def _leave(self, session: str) -> None:
        """Follow a session no more that nobody follows."""
        if session in self._followings and not self._followings[session]:
            del self._followings[session]
            if self._ready.done():
                self._send(commands.Unsubscribe(session=session))

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
    url: Source,
    token: Source | None = None,
    *,
    name: str | None = None,
    lazy: bool = False,
    ssl: SSLContext | None = None,
    timeout: float = 10.0,
    reply_timeout: float = REPLY_TIMEOUT_S,
    backoff: Backoff | None = None,
    max_frame: int = MAX_FRAME,
    ask_again: float = ASK_AGAIN_S,
) -> AsyncIterator[Client]:
    """Connect to a hub: its printed URL, or its address and a token. Functions for either are asked before each attempt.

    A lazy client connects when it is first used, and waits for nothing here.
    `name` is shown as `by` in the decisions this client takes, `reply_timeout` is in seconds, `max_frame` in bytes; a following that
    the hub finds too frequent is asked for again after `ask_again` seconds.
    Raises AccessRefused, ProtocolError, TimedOut when there is no hub within `timeout` seconds, and ValueError for a URL that is none.
    """
    client = Client(
        url,
        token,
        name,
        lazy=lazy,
        ssl=ssl,
        backoff=backoff or Backoff(),
        reply_timeout=reply_timeout,
        max_frame=max_frame,
        ask_again=ask_again,
    )
    keeper = asyncio.create_task(client.run())
    try:
        if not lazy:
            await client.wait(timeout)
        yield client
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        client.close()


def websocket_address(url: str) -> str:
    """Return the WebSocket's address: that of a hub, or below the path that a proxy has it at. Raises ValueError, without the token."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        shown = url.partition("#")[0]
        raise ValueError(f"{shown!r} is no address of a hub: give http://HOST:PORT, as turnwire prints it.")
    scheme = "wss" if parts.scheme in {"https", "wss"} else "ws"
    path = parts.path if parts.path.endswith("/ws") else f"{parts.path.rstrip('/')}/ws"
    return f"{scheme}://{parts.netloc}{path}"


def _carried(url: str, part: str) -> str | None:
    """Return what the fragment of a printed URL has: its token or its session."""
    return next(iter(parse_qs(urlsplit(url).fragment).get(part, [])), None)


async def _given(source: Source) -> str:
    """Return a text, or what the function for it gives."""
    found = source if isinstance(source, str) else source()
    return found if isinstance(found, str) else await found


@cache
def _result_type(command: type[Command[Any]]) -> Any:
    """Return the type of a command's result: the argument of its base."""
    return get_args(command.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # typing's own, of each generic class


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _encoded(command_id: str, command: Command[Any]) -> str:
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
