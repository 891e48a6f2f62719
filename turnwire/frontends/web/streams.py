"""What the applications share that stream sessions to pages, for AG-UI and for `useChat`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse

from turnwire._runtime.origins import RequestPolicy
from turnwire.client import AccessRefused, Client, CommandFailed, TimedOut, TurnwireError
from turnwire.client.commands import Attachment
from turnwire.frontends.web.access import PolicyMiddleware, refusal
from turnwire.frontends.web.bodies import BadRequest, BodyRefused

TokenOf: TypeAlias = Callable[[Request], Awaitable[str | None]]
"""From a request to the hub's token for it; None refuses it."""

ENDS_LINES = {ord(end): f"\\u{ord(end):04x}" for end in "\u0085\u2028\u2029"}
"""Characters that JSON leaves as they are and some readers of event streams end a line at."""

REFUSED = (BodyRefused, BadRequest, TurnwireError, TimeoutError)
"""What `answer_to` answers."""


async def bearer(request: Request) -> str | None:
    """Return the token of the Authorization header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def middleware(policy: RequestPolicy, methods: Sequence[str]) -> list[Middleware]:
    """Return what checks Host and Origin, and opens CORS to the pages of allowed origins, if there are any."""
    headers = ["Authorization", "Content-Type"]
    opened = Middleware(
        CORSMiddleware, allow_origins=policy.origins, allow_methods=methods, allow_headers=headers
    )
    return [Middleware(PolicyMiddleware, policy), *([opened] if policy.origins else [])]


def answer_to(error: Exception, statuses: Mapping[str, int], otherwise: int) -> JSONResponse:
    """Return the answer to a refused request as the hub would give it. `statuses` are those of the hub's codes, `otherwise` that of others."""
    match error:
        case BodyRefused():
            return refusal(error.status, error.code, str(error))
        case BadRequest():
            return refusal(400, "invalid_params", str(error), error.field or None)
        case AccessRefused():
            return refusal(401, "unauthorized", str(error))
        case CommandFailed():
            return refusal(statuses.get(error.code, otherwise), error.code, error.message, error.field)
        case TimedOut() | TimeoutError():
            return refusal(504, "hub_silent", "The hub has not answered in time; is it running?")
        case _:
            return refusal(502, "hub_lost", str(error))


async def prompt(client: Client, session: str, text: str, attachments: Sequence[Attachment]) -> str:
    """Send a prompt to an agent, which is started again where it has ended, and return its UUID; raises TurnwireError."""
    try:
        return await client.prompt(session, text, attachments=attachments)
    except CommandFailed as refused:
        if refused.code != "not_running":
            raise
    await client.resume(session)
    return await client.prompt(session, text, attachments=attachments)
