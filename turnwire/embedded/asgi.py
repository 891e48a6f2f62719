"""A hub as an ASGI application, mounted into an application that knows who asks.

    hub = turnwire.asgi(who, agent="demo")
    app = Starlette(lifespan=hub.lifespan)
    app.mount("/agents", hub)

The hub is that of `open_hub`: it listens on a free loopback port, and this application passes on what comes for it, message by message,
so that a slow reader slows its own connection down. Each request goes there under a token of its own, made for what `who` returns.
"""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import isawaitable, iscoroutinefunction
from types import TracebackType
from typing import Any
from urllib.parse import quote

import h11
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from turnwire._runtime.origins import RequestPolicy
from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import ConfigurationError
from turnwire.embedded.hub import Hub, hub_with
from turnwire.frontends.web.access import refusal, wrong_page
from turnwire.hub.principals import TOKEN_PREFIX, NoPrincipals, Principal, checked_name
from turnwire.hub.principals import Scope as Sessions
from turnwire.normalize.vocabulary import Role

RECHECK_S = 60.0
"""Seconds after which the application is asked again whether a connection's user is still let in."""

CHUNK = 1 << 16
"""Bytes of an answer that are passed on at a time."""

PASSED_ON = ("accept-encoding", "if-none-match", "last-event-id", "sec-fetch-site")
"""Headers of a request that reach the hub. Nothing with which somebody shows who they are is among them."""

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding"})

UNAUTHORIZED = 4401
"""The hub's own close code for a token that does not count."""


User = Principal
"""Somebody whom the hub knows: their name, role and sessions."""


def user(name: str, role: Role = "view", *sessions: str) -> Principal:
    """Return a user of the hub, as `turnwire.asgi` wants it.

    Args:
        name: decisions are `by` `user:NAME`, and sessions that it begins are its own.
        role: `view` may only watch, `control` may also decide and prompt.
        sessions: which it may see: `all`, `own`, `folder:/PATH`; its own when none is given.

    Raises:
        TurnwireError: the name, the role or the sessions are invalid; the message says what is valid.
    """
    return Principal(role, checked_name(name), Sessions.parse(sessions or ("own",)))


Who = Callable[[HTTPConnection], Awaitable[Principal | None] | Principal | None]
"""Returns who asks, or None for somebody who is not let in. A plain function runs in a thread."""


class _Callers(NoPrincipals):
    """The users of the requests that are under way, by the token under which each goes to the hub."""

    def __init__(self) -> None:
        self._known: dict[str, Principal] = {}

    def add(self, caller: Principal) -> str:
        """Return a new token of this user."""
        token = f"{TOKEN_PREFIX}{secrets.token_urlsafe(32)}"
        self._known[token] = caller
        return token

    def remove(self, token: str) -> None:
        """Let a token count no more."""
        self._known.pop(token, None)

    def of_token(self, token: str) -> Principal | None:
        """Return whose token this is."""
        return self._known.get(token)


class HubApplication:
    """A hub to be mounted; `turnwire.asgi` makes it. It serves while its `lifespan` runs, or its context is open."""

    def __init__(
        self,
        who: Who,
        policy: RequestPolicy,
        recheck_s: float,
        settings: Mapping[str, Any],
    ) -> None:
        self._who = who
        self._policy = policy
        self._recheck_s = recheck_s
        self._settings = settings
        self._callers = _Callers()
        self._opened: AbstractAsyncContextManager[Hub] | None = None
        self._hub: Hub | None = None

    async def __aenter__(self) -> Hub:
        """Start the hub; raises TurnwireError as `open_hub` does."""
        self._opened = hub_with(self._settings, self._callers)
        self._hub = await self._opened.__aenter__()
        return self._hub

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it with its sessions."""
        self._hub = None
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:  # noqa: ARG002 - as applications call it
        """Serve while an application runs: `Starlette(lifespan=hub.lifespan)`."""
        async with self:
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or a WebSocket."""
        if scope["type"] not in {"http", "websocket"}:
            raise NotImplementedError("turnwire.asgi is mounted: give hub.lifespan to the application")
        if (answer := self._turned_away(scope)) is not None:
            return await _refuse(answer, scope, receive, send)
        caller = await self._user(scope)
        if caller is None:
            answer = refusal(401, "unauthorized", "The application does not let you in here. Log in there.")
            return await _refuse(answer, scope, receive, send)
        token = self._callers.add(caller)
        try:
            if scope["type"] == "websocket":
                await self._talk(WebSocket(scope, receive, send), caller, token)
            else:
                await self._answer(scope, receive, send, caller, token)
        except InvalidStatus as refused:  # by the hub, which takes no more connections
            said = refused.response
            answer = Response(bytes(said.body or b""), said.status_code, media_type="application/json")
            await _refuse(answer, scope, receive, send)
        finally:
            self._callers.remove(token)

    async def _user(self, scope: Scope) -> Principal | None:
        """Ask the application who it is; raises TypeError where it answers with something else, which lets nobody in."""
        request = HTTPConnection(scope)
        is_async = iscoroutinefunction(self._who) or iscoroutinefunction(type(self._who).__call__)
        found: object = self._who(request) if is_async else await run_in_threadpool(self._who, request)
        if isawaitable(found):
            found = await found
        if found is None or isinstance(found, Principal):
            return found
        raise TypeError(
            f"who() returned {found!r}; return turnwire.user(…), or None for somebody who is not let in"
        )

    def _turned_away(self, scope: Scope) -> Response | None:
        """Return the answer to what is refused before anybody is asked who it is."""
        if (answer := wrong_page(self._policy, scope)) is not None:
            return answer
        if self._hub is None:
            return refusal(503, "not_ready", "The hub does not run: give hub.lifespan to the application.")
        if scope["type"] == "http" and scope["method"] not in {"GET", "HEAD"}:
            answer = refusal(
                405,
                "method_not_allowed",
                "Only GET and HEAD are served here. Send commands over the WebSocket at /ws; log in at the application.",
            )
            answer.headers["Allow"] = "GET, HEAD"
            return answer
        return None

    def _sent(self, scope: Scope, token: str) -> dict[str, str]:
        """Return the headers with which a request goes to the hub."""
        headers, client = Headers(scope=scope), scope.get("client")
        return {
            **{name: headers[name] for name in PASSED_ON if name in headers},
            **({} if client is None else {"x-forwarded-for": client[0]}),
            "authorization": f"Bearer {token}",
        }

    def _address(self) -> tuple[str, int]:
        assert self._hub is not None, "it was looked"
        return "127.0.0.1", self._hub.port

    # WebSockets

    async def _talk(self, page: WebSocket, caller: Principal, token: str) -> None:
        host, port = self._address()
        offered = page.scope.get("subprotocols", [])
        path = _path(page.scope)
        if path != "/ws" or (offered and "turnwire.v1" not in offered):
            await page.close(1002, "the WebSocket is at /ws and speaks turnwire.v1")
            return
        async with (
            open_websocket(
                f"ws://{host}:{port}{path}",
                additional_headers=self._sent(page.scope, token),
                subprotocols=[Subprotocol("turnwire.v1")],
                compression=None,
                max_size=None,
                ping_interval=None,
                proxy=None,
            ) as hub,
            TaskOwner() as tasks,
        ):
            await page.accept("turnwire.v1" if offered else None)
            over = tasks.begin("the user of a WebSocket", self._no_longer(page.scope, caller))
            ways = (
                tasks.begin("what a page says", _up(page, hub)),
                tasks.begin("what the hub says", _down(hub, page)),
                over,
            )
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                if over.done():
                    await over
                    ways[1].cancel()
                    await asyncio.wait(ways[1:])
                    await page.close(UNAUTHORIZED, "the application no longer lets this user in")
            finally:
                for way in ways:
                    way.cancel()

    async def _no_longer(self, scope: Scope, caller: Principal) -> None:
        """Ask the application from time to time who it is; returns once that is somebody else, or nobody."""
        is_same = True
        while is_same:
            await asyncio.sleep(self._recheck_s)
            is_same = await self._user(scope) == caller

    # Plain requests, and streams of server-sent events

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, caller: Principal, token: str
    ) -> None:
        host, port = self._address()
        reader, writer = await asyncio.open_connection(host, port)
        try:
            async with TaskOwner() as tasks:
                passing = tasks.begin("an answer", self._pass_on(scope, send, token, reader, writer))
                gone = tasks.begin("the end of a request", _left(receive))
                over = tasks.begin("the user of a request", self._no_longer(scope, caller))
                try:
                    await asyncio.wait((passing, gone, over), return_when=asyncio.FIRST_COMPLETED)
                    if passing.done():
                        await passing
                finally:
                    for task in (passing, gone, over):
                        task.cancel()
        finally:
            writer.close()

    async def _pass_on(
        self,
        scope: Scope,
        send: Send,
        token: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        client = h11.Connection(h11.CLIENT)
        query = scope["query_string"].decode("latin-1")
        target = quote(_path(scope)) + (f"?{query}" if query else "")
        host, port = self._address()
        headers = {"host": f"{host}:{port}", **self._sent(scope, token)}
        request = h11.Request(method=scope["method"], target=target, headers=list(headers.items()))
        writer.write((client.send(request) or b"") + (client.send(h11.EndOfMessage()) or b""))
        while True:
            event = client.next_event()
            match event:
                case h11.NEED_DATA:
                    client.receive_data(await reader.read(CHUNK))
                case h11.Response():
                    kept = [(name, value) for name, value in event.headers if name.decode() not in HOP_BY_HOP]
                    await send({"type": "http.response.start", "status": event.status_code, "headers": kept})
                case h11.Data():
                    await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
                case _:
                    return await send({"type": "http.response.body", "body": b""})


async def _refuse(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a request, or a WebSocket whose server may have no way to say why."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await answer(scope, receive, send)


async def _up(page: WebSocket, hub: ClientConnection) -> None:
    """Pass on what a page says, until it is gone."""
    while True:
        message: Message = await page.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        try:
            await hub.send(text if text is not None else message.get("bytes", b""))
        except ConnectionClosed:
            await asyncio.Event().wait()  # the other way tells how the hub has closed it


async def _down(hub: ClientConnection, page: WebSocket) -> None:
    """Pass on what the hub says, and how it closes."""
    try:
        try:
            async for frame in hub:
                await (page.send_text(frame) if isinstance(frame, str) else page.send_bytes(frame))
        except ConnectionClosed:
            pass
        code = hub.close_code
        await page.close(1011 if code is None or code in {1005, 1006} else code, hub.close_reason or "")
    except (WebSocketDisconnect, RuntimeError, OSError):
        return  # the page is gone


async def _left(receive: Receive) -> None:
    """Wait until who asked is gone; what a request has as its body is not kept."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _path(scope: Scope) -> str:
    """Return the path below the one that the application is mounted at."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    below = path[len(root) :] if root and path.startswith(f"{root}/") else path
    return below or "/"


def _is_duration(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < math.inf


def asgi(
    who: Who,
    *,
    allowed_hosts: tuple[str, ...] = (),
    allowed_origins: tuple[str, ...] = (),
    recheck_s: float = RECHECK_S,
    **settings: Any,
) -> HubApplication:
    """Return a hub as an ASGI application, to be mounted into one that knows who asks.

    Args:
        who: a function, async or plain, from a request (starlette's HTTPConnection) to its `turnwire.user`, or None for somebody who is not
            let in. A plain one runs in a thread. It is asked for every request, and for a WebSocket every `recheck_s` seconds: once it answers otherwise, the connection ends.
        allowed_hosts: names that the Host header may have, besides loopback.
        allowed_origins: origins of pages that may ask, besides the application's own.
        recheck_s: seconds, above 0.
        settings: settings by name, as for `open_hub`.

    Raises:
        TurnwireError: `who`, a host, an origin, `recheck_s` or a setting is none that counts here. The lifespan raises it for other settings.
    """
    if not callable(who):
        raise ConfigurationError(f"who: {who!r} cannot be called; give a function that returns who asks")
    if not _is_duration(recheck_s):
        raise ConfigurationError(f"recheck_s: {recheck_s!r} must be a number of seconds above 0")
    try:
        policy = RequestPolicy.of(allowed_hosts, allowed_origins)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    fixed = {"host": "127.0.0.1", "port": 0, "trusted_proxies": ["127.0.0.1"]}
    if given := sorted(fixed.keys() & settings.keys()):
        raise ConfigurationError(
            f"{given[0]} is not for a mounted hub: its application listens; leave it out"
        )
    return HubApplication(who, policy, recheck_s, {**settings, **fixed})
