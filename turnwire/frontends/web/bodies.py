"""Reads the body of a request within bounds of size and time.

What is too large is read on and thrown away before it is refused: a client reads the answer only once it has sent its body.
"""

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnwire.frontends.web.access import refusal

LIMIT = 8 << 20
"""Largest body, in bytes: pages send the whole conversation with each request."""

WITHIN_S = 30.0
"""Seconds that a body may take to come."""

THROWN_AWAY = 8
"""A body of more than so many times the limit is not read to its end."""


class BodyRefused(Exception):
    """The body is too large, or came too late. `status` and `code` are those of the answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class BadRequest(Exception):
    """A body that cannot be served: the field, and what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


async def body_of(request: Request, limit: int = LIMIT, within_s: float = WITHIN_S) -> bytes:
    """Return a request's body. Raises BodyRefused, and ClientDisconnect when the client leaves before its end."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(within_s):
            async for part in request.stream():
                size += len(part)
                if size <= limit:
                    parts.append(part)
                elif size > limit * THROWN_AWAY:
                    break
    except TimeoutError:
        if size <= limit:
            raise BodyRefused(408, "too_late", f"The body did not arrive within {within_s:g} s.") from None
    if size > limit:
        raise BodyRefused(413, "too_large", f"The body is larger than {limit} bytes. Send less at a time.")
    return b"".join(parts)


class BodyMiddleware:
    """Reads the bodies of POST requests for an application that would read them without bounds, or refuse them without words."""

    def __init__(self, app: ASGIApp, limit: int = LIMIT, within_s: float = WITHIN_S) -> None:
        self._app = app
        self._limit = limit
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with its whole body, or refuse it."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        try:
            body = await body_of(Request(scope, receive), self._limit, self._within_s)
        except BodyRefused as error:
            return await refusal(error.status, error.code, str(error))(scope, receive, send)
        except ClientDisconnect:
            return None
        told: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return told.pop() if told else await receive()

        return await self._app(scope, again, send)
