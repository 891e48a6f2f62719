"""Which requests are served at all: the same rules for Host and Origin as the hub has. Pure but for the middleware.

A page whose name was rebound to this address sends that name as Host, and a foreign page sends its own as Origin; a literal
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
    """Literal addresses are served: it listens beyond loopback."""

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
        """Return whether a page of this origin may ask."""
        if origin is None or origin in self.origins:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in {"http", "https"} and rest.lower() == (host or "").lower()


class PolicyMiddleware:
    """Refuses requests whose Host or Origin is not allowed, before anything is read of them."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may be served."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origin = headers.get("host"), headers.get("origin")
            if not self._policy.host_allowed(host):
                answer = refusal(
                    403, "host_not_allowed", "The Host header names a host this is not; see allowed_hosts."
                )
                return await answer(scope, receive, send)
            if not self._policy.origin_allowed(origin, host):
                answer = refusal(
                    403, "origin_not_allowed", "The page that asks is of another origin; see allowed_origins."
                )
                return await answer(scope, receive, send)
        return await self._app(scope, receive, send)


def refusal(status: int, code: str, message: str, field: str | None = None) -> JSONResponse:
    """Return an error as the hub has them."""
    error = {"code": code, "message": message} | ({"field": field} if field else {})
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": error}, status, headers)
