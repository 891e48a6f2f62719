"""Refuse requests by their Host and Origin, and say so in the hub's form."""

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from turnwire._runtime.origins import RequestPolicy
from turnwire.client.client import websocket_address


class PolicyMiddleware:
    """Refuses requests whose Host or Origin is not allowed, before it reads their body."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an allowed request; answer any other with 403."""
        if scope["type"] == "http" and (answer := wrong_page(self._policy, scope)) is not None:
            return await answer(scope, receive, send)
        return await self._app(scope, receive, send)


def wrong_page(policy: RequestPolicy, scope: Scope) -> JSONResponse | None:
    """Return the answer to a request whose Host or Origin is not allowed; None for an allowed one."""
    headers = Headers(scope=scope)
    host, origin = headers.get("host"), headers.get("origin")
    if not policy.host_allowed(host):
        return refusal(
            403,
            "host_not_allowed",
            "The Host header does not name this server. Add the name to allowed_hosts.",
        )
    if not policy.origin_allowed(origin, host):
        return refusal(
            403,
            "origin_not_allowed",
            "The page comes from another origin. Add its origin to allowed_origins.",
        )
    return None


def hub_address(url: str) -> str:
    """Return a hub's address, without what its printed URL carries behind it; raises ValueError where no hub can be."""
    websocket_address(url)
    return url.partition("#")[0]


def refusal(status: int, code: str, message: str, field: str | None = None) -> JSONResponse:
    """Return an error response in the hub's form: `{"error": {"code", "message", "field"?}}`."""
    error = {"code": code, "message": message} | ({"field": field} if field else {})
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": error}, status, headers)
