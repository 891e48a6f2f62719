"""How the server is reached: over standard input and output, or over HTTP by whoever shows the hub's token."""

import hmac

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from turnwire._runtime.origins import RequestPolicy
from turnwire.frontends.web.access import PolicyMiddleware, refusal
from turnwire.frontends.web.bodies import LIMIT, BodyMiddleware


class TokenMiddleware:
    """Lets in who shows the token that this server has for the hub."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that shows it."""
        if scope["type"] == "http":
            kind, _, shown = Request(scope).headers.get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not hmac.compare_digest(shown.strip().encode(), self._token):
                answer = refusal(401, "unauthorized", "Send the hub's token as Authorization: Bearer.")
                return await answer(scope, receive, send)
        return await self._app(scope, receive, send)


def http_app(server: MCPServer[None], token: str, policy: RequestPolicy) -> ASGIApp:
    """Return the ASGI application: POST /mcp with the token."""
    # Host and Origin are checked as at every other door of ours.
    app = server.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=LIMIT,
    )
    app.user_middleware = [
        Middleware(PolicyMiddleware, policy),
        Middleware(TokenMiddleware, token),
        Middleware(BodyMiddleware),
    ]
    return app
