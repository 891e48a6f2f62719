"""The ASGI application: POST /agui/SESSION, POST /agui for a session by threadId, POST /agui/SESSION/interrupt.

Mountable into an application of somebody else's: `app.mount("/", create_app(hub_url))`. It holds no token: a request's own goes to
the hub, which decides; an application that has its own users hands over another function for that.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from turnwire._runtime.origins import RequestPolicy
from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import AccessRefused, Client, connect
from turnwire.frontends.agui import run_request
from turnwire.frontends.agui.runs import Limits, RunStore, SessionRun, session_of
from turnwire.frontends.web.access import hub_address, refusal
from turnwire.frontends.web.bodies import body_of
from turnwire.frontends.web.streams import REFUSED, TokenOf, answer_to, bearer, middleware

log = logging.getLogger("turnwire.frontends.agui")

NAME = "ag-ui"
"""Shown as `by` in the decisions that runs bring."""

STATUS = {
    "unknown_session": 404,
    "forbidden": 403,
    "not_allowed": 403,
    "invalid_params": 400,
    "not_live": 409,
    "not_running": 409,
    "rate_limited": 429,
    "limit_sessions": 503,
    "limit_processes": 503,
    "journal_unavailable": 503,
}
"""HTTP statuses of the hub's codes, as far as they come before the stream begins; 502 for others."""


def create_app(
    hub: str,
    *,
    prefix: str = "/agui",
    token_of: TokenOf = bearer,
    allowed_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
    any_address: bool = False,
    interrupt_when_gone: bool = False,
    limits: Limits | None = None,
) -> Starlette:
    """Make the application for a hub: its printed URL or its address (a token in it is not used).

    `prefix` is the path of the endpoints. `allowed_origins` are origins of pages that may ask, and read the answer: only
    these open CORS. `any_address` serves literal addresses as Host, for a server beyond loopback. `interrupt_when_gone`
    stops the turn of a client that goes away; else the turn goes on, and a client that comes again sees it.
    Raises ValueError for an address, a host or an origin that is none.
    """
    server = Server(hub_address(hub), token_of, limits or Limits(), interrupt_when_gone=interrupt_when_gone)
    policy = RequestPolicy.of(allowed_hosts, allowed_origins, any_address)
    run, interrupt = Endpoint(server.run), Endpoint(server.interrupt)
    routes = [
        Route(prefix or "/", run, methods=["POST"]),
        Route(f"{prefix}/{{session}}", run, methods=["POST"]),
        Route(f"{prefix}/{{session}}/interrupt", interrupt, methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=middleware(policy, ["POST"]))


class Endpoint:
    """An ASGI endpoint, whose call lives as long as its response does."""

    def __init__(self, serve: Callable[[Request, Send], Awaitable[Response | None]]) -> None:
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; a refusal is answered as the hub would."""
        try:
            answer = await self._serve(Request(scope, receive, send), send)
        except REFUSED as error:
            answer = answer_to(error, STATUS, 502)
        except ClientDisconnect:
            return
        if answer is not None:
            await answer(scope, receive, send)


class Server:
    """What the endpoints do."""

    def __init__(self, hub: str, token_of: TokenOf, limits: Limits, *, interrupt_when_gone: bool) -> None:
        self._hub = hub
        self._token_of = token_of
        self._limits = limits
        self._interrupt_when_gone = interrupt_when_gone
        self._kept = RunStore(limits.threads)
        self._running = 0

    async def run(self, request: Request, send: Send) -> Response | None:
        """Answer a RunAgentInput with a run."""
        if self._running >= self._limits.runs:
            return refusal(503, "too_many_runs", "As many runs as may be are under way; come again later.")
        self._running += 1
        try:
            return await self._run(request, send)
        finally:
            self._running -= 1

    async def interrupt(self, request: Request, _: Send) -> Response:
        """Stop the session's turn; AG-UI has no message for it."""
        async with await self._client(request) as client:
            await client.interrupt(request.path_params["session"])
        return JSONResponse({"ok": True}, headers={"Cache-Control": "no-store"})

    async def _client(self, request: Request) -> AbstractAsyncContextManager[Client]:
        token = await self._token_of(request)
        if token is None:
            raise AccessRefused("The request has no token: send it as Authorization: Bearer.")
        return connect(self._hub, token, name=NAME, timeout=self._limits.connect_s)

    async def _run(self, request: Request, send: Send) -> Response | None:
        # who may come in at all is known before a byte of the body is read
        async with await self._client(request) as client:
            given = run_request.read(await body_of(request, self._limits.body, self._limits.body_s))
            session = request.path_params.get("session")
            if session is None:
                session = await session_of(client, given, self._kept)
            run = SessionRun(client, session, given, self._kept, self._limits)
            try:
                await run.catch_up()
                if (
                    not await self._stream(run, request, send)
                    and self._interrupt_when_gone
                    and not run.finished
                ):
                    await client.interrupt(session)
            finally:
                run.close()
        return None

    async def _stream(self, run: SessionRun, request: Request, send: Send) -> bool:
        """Send the run as server-sent events; False when the client went away."""
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
            (b"x-content-type-options", b"nosniff"),
        ]

        async def tell(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        async def tell_all() -> None:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await run.stream(tell)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        async def go() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        async with TaskOwner() as tasks:
            telling = tasks.begin("a run that is told", tell_all())
            gone = tasks.begin("the end of who listens", go())
            await asyncio.wait({telling, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not telling.done():
                return False
            try:
                await telling
            except OSError:
                return False
        return True
