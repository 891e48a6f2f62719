"""The ASGI application: POST /ai for `useChat`, GET /ai/SESSION/stream and /ai/SESSION/messages, POST /ai/SESSION/stop and /answer.

A chat's id is the session's. It holds no token: a request's own goes to the hub, which decides. An application that has its own users
hands over another function for that, and mounts it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from turnwire._runtime.origins import RequestPolicy
from turnwire.client import AccessRefused, Answer, Client, connect
from turnwire.frontends.web.access import hub_address, refusal
from turnwire.frontends.web.bodies import BadRequest, body_of
from turnwire.frontends.web.streams import REFUSED, TokenOf, answer_to, bearer, middleware

from . import request
from .chat import Reply, answered, loaded, prompted, resumed, told

NAME = "useChat"
"""Shown as `by` in the decisions that requests bring."""

CONNECT_S = 10.0
"""How long the hub may take to answer."""

STREAMS = 64
"""Responses at a time; one more is answered 503."""

STATUS = {
    "unknown_session": 404,
    "unknown_request": 404,
    "forbidden": 403,
    "not_allowed": 403,
    "invalid_params": 400,
    "rate_limited": 429,
    "journal_unavailable": 503,
}
"""HTTP statuses of the hub's codes; 409 for others."""

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
    "X-Vercel-AI-UI-Message-Stream": "v1",
}


def create_app(
    hub: str,
    *,
    prefix: str = "/ai",
    token_of: TokenOf = bearer,
    allowed_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
    any_address: bool = False,
) -> Starlette:
    """Make the application for a hub: its printed URL or its address (a token in it is not used).

    `allowed_origins` are origins of pages that may ask and read the answer. `any_address` serves literal addresses as Host.
    Raises ValueError for an address, a host or an origin that is none.
    """
    server = Server(hub_address(hub), token_of)
    policy = RequestPolicy.of(allowed_hosts, allowed_origins, any_address)
    routes = [
        Route(prefix or "/", server.served(server.chat), methods=["POST"]),
        Route(f"{prefix}/{{session}}", server.served(server.chat), methods=["POST"]),
        Route(f"{prefix}/{{session}}/stream", server.served(server.stream), methods=["GET"]),
        Route(f"{prefix}/{{session}}/messages", server.served(server.messages), methods=["GET"]),
        Route(f"{prefix}/{{session}}/stop", server.served(server.stop), methods=["POST"]),
        Route(f"{prefix}/{{session}}/answer", server.served(server.answer), methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=middleware(policy, ["GET", "POST"]))


class _QuestionAnswer(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    answers: dict[str, str | list[str]] | None = None
    action: str = "accept"
    content: object = None


Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class Server:
    """What the endpoints do."""

    def __init__(self, hub: str, token_of: TokenOf) -> None:
        self._hub = hub
        self._token_of = token_of
        self._streams = 0

    def served(self, endpoint: Endpoint) -> Endpoint:
        """Answer what is refused as the hub would."""

        async def serve(asked: Request) -> Response:
            try:
                return await endpoint(asked)
            except REFUSED as error:
                return answer_to(error, STATUS, 409)
            except ClientDisconnect:
                return Response(status_code=499)  # nobody reads it

        return serve

    async def chat(self, asked: Request) -> Response:
        """Answer a prompt, or answers to permission requests, with a stream."""
        async with AsyncExitStack() as stack:
            client = await self._client(asked, stack)
            given = request.read(await body_of(asked))
            session = asked.path_params.get("session") or given.chat
            if session is None:
                raise BadRequest("id", "is missing; it is the session's id")
            if self._streams >= STREAMS:
                return refusal(
                    503, "too_many_streams", "As many responses as may be are under way; come again later."
                )
            serve = answered if given.approvals else prompted
            return self._streaming(await serve(client, session, given), stack.pop_all())

    async def stream(self, asked: Request) -> Response:
        """Tell the turn that runs from its beginning; 204 where none does."""
        async with AsyncExitStack() as stack:
            client = await self._client(asked, stack)
            reply = await resumed(client, asked.path_params["session"])
            return Response(status_code=204) if reply is None else self._streaming(reply, stack.pop_all())

    async def messages(self, asked: Request) -> Response:
        """Return the conversation as UI messages."""
        async with AsyncExitStack() as stack:
            client = await self._client(asked, stack)
            return _json(await loaded(client, asked.path_params["session"]))

    async def stop(self, asked: Request) -> Response:
        """Stop the turn; a page that only stops listening lets it go on."""
        async with AsyncExitStack() as stack:
            client = await self._client(asked, stack)
            await client.interrupt(asked.path_params["session"])
            return _json({"ok": True})

    async def answer(self, asked: Request) -> Response:
        """Answer a question: `id` of its `data-question`, `answers` by question."""
        async with AsyncExitStack() as stack:
            client = await self._client(asked, stack)
            try:
                given = msgspec.json.decode(await body_of(asked), type=_QuestionAnswer)
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                raise BadRequest("", str(error)) from None
            match given.action:
                case "accept" | "decline" | "cancel":
                    answer = Answer(answers=given.answers, action=given.action, content=given.content)
                case _:
                    raise BadRequest("action", "must be accept, decline or cancel")
            await client.answer(asked.path_params["session"], given.id, answer)
            return _json({"ok": True})

    async def _client(self, asked: Request, stack: AsyncExitStack) -> Client:
        token = await self._token_of(asked)
        if token is None:
            raise AccessRefused("No token was shown: send it as Authorization: Bearer.")
        return await stack.enter_async_context(connect(self._hub, token, name=NAME, timeout=CONNECT_S))

    def _streaming(self, reply: Reply, stack: AsyncExitStack) -> Response:
        self._streams += 1

        async def tell() -> AsyncIterator[bytes]:
            try:
                async with stack:
                    async for data in told(reply):
                        yield data
            finally:
                self._streams -= 1

        return StreamingResponse(tell(), headers=HEADERS)


def _json(content: object) -> Response:
    return JSONResponse(content, headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})
