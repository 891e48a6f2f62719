"""Which Host and Origin headers are served: the hub's rules. Only the middleware does I/O.

A page whose name was rebound to our address sends that name as Host. A foreign page sends its own origin. A literal
address cannot be rebound.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """Which Host and Origin a request may have."""

    hosts: tuple[str, ...] = ()
    """Host names in addition to loopback; an address counts if it is listed."""
    origins: tuple[str, ...] = ()
    """Origins in addition to the server's own."""
    any_address: bool = False
    """Serve requests whose Host is a literal address: the server listens beyond loopback."""

    def host_allowed(self, host: str | None) -> bool:
        """Return whether a Host header may be served."""
        try:
            name = urlsplit(f"//{host}").hostname if host else None
        except ValueError:
            return False
        if name is None:
            return False
        if name in LOOPBACK_NAMES or name.endswith(".localhost") or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address

    def origin_allowed(self, origin: str | None, host: str | None) -> bool:
        """Return whether a page of this origin may send requests."""
        if origin is None or origin in self.origins:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in {"http", "https"} and rest.lower() == (host or "").lower()


class PolicyMiddleware:
    """Refuses requests whose Host or Origin is not allowed, before it reads their body."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an allowed request; answer any other with 403."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origin = headers.get("host"), headers.get("origin")
            if not self._policy.host_allowed(host):
                answer = refusal(
                    403,
                    "host_not_allowed",
                    "The Host header does not name this server. Add the name to allowed_hosts.",
                )
                return await answer(scope, receive, send)
            if not self._policy.origin_allowed(origin, host):
                answer = refusal(
                    403,
                    "origin_not_allowed",
                    "The page comes from another origin. Add its origin to allowed_origins.",
                )
                return await answer(scope, receive, send)
        return await self._app(scope, receive, send)


def refusal(status: int, code: str, message: str, field: str | None = None) -> JSONResponse:
    """Return an error response in the hub's form: `{"error": {"code", "message", "field"?}}`."""
    error = {"code": code, "message": message} | ({"field": field} if field else {})
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": error}, status, headers)
