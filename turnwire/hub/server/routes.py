"""Decide what a request gets: first Host and Origin, then the token, then the route."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from turnwire._runtime.origins import policy_for
from turnwire.hub.host import CommandRefused
from turnwire.hub.principals import HIDDEN, BadPrincipal, Principal, ProxyUsers, Scope
from turnwire.hub.server import http
from turnwire.hub.server.access import WrongToken, key_of, token_of
from turnwire.hub.server.connection_handler import HubContext
from turnwire.hub.server.cookies import Login
from turnwire.hub.server.http import BadCursor, HttpAnswer, HttpRequest, Stream, refuse
from turnwire.hub.server.static_files import StaticFile
from turnwire.hub.wire.codes import CloseCode

WEBSOCKET_PATH = "/ws"


class Probes(Struct, frozen=True):
    """What the sidecar reports about itself to monitoring."""

    metrics: Callable[[], tuple[str, bytes]] = lambda: ("text/plain; version=0.0.4; charset=utf-8", b"")
    """Content type and text of /metrics."""
    trouble: Callable[[], str | None] = lambda: None
    """Why the sidecar is not ready, as a sentence; None when it is."""
    notes: Callable[[], Sequence[str]] = list
    """What an operator should know of a sidecar that is ready, as sentences."""
    pages_only: bool = False
    """Only pages and probes are served, and the rest is refused with the reason: it waits for what it needs to start."""


class Upgrade(Struct, frozen=True):
    """The request may become a WebSocket, with a principal or without one for the time being."""

    principal: Principal | None
    refused: CloseCode | None = None
    """What is wrong with its token. Sent as a close code, which browsers can see, unlike a status."""
    login: str | None = None
    """The login of its cookie. None if it came with a token, or with nothing."""


class Routes:
    """Decides on requests."""

    def __init__(
        self,
        context: HubContext,
        files: Mapping[str, StaticFile],
        probes: Probes,
        cookie: str,
        *,
        secure: bool,
        logged_out: Callable[[str], None],
    ) -> None:
        """name: the cookie's name. on_logout: called with the login's id."""
        config = context.config
        self._context = context
        self._files = files
        self._probes = probes
        self._cookie = cookie
        self._secure = secure
        self._logged_out = logged_out
        self._origins = policy_for(config.host, config.allowed_hosts, config.allowed_origins)
        self._users = ProxyUsers(
            config.proxy_user_header, config.proxy_user_role, Scope.parse(config.proxy_user_sessions)
        )

    async def decide(self, request: HttpRequest) -> HttpAnswer | Stream | Upgrade:
        """Return the answer to a request."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if not self._origins.host_allowed(host):
            return refuse("host_not_allowed")
        if not self._origins.origin_allowed(origin, host):
            return refuse("origin_not_allowed")
        if self._users.said(request.headers) is not None and not request.by_proxy:
            return refuse("not_by_proxy")
        if self._probes.pages_only and request.path not in {"/healthz", "/readyz", *self._files}:
            return refuse("not_ready", self._why_not_ready(request, "The sidecar starts."))
        if request.path == WEBSOCKET_PATH:
            return self._upgrade(request)
        if request.path in {"/login", "/logout"}:
            return await self._session_cookie(request)
        if request.method not in {"GET", "HEAD"}:
            return refuse("method_not_allowed", headers={"Allow": "GET, HEAD"})
        answer = self._get(request)
        if isinstance(answer, HttpAnswer) and request.method == "HEAD":
            return replace(answer, head_only=True)
        return answer

    def _get(self, request: HttpRequest) -> HttpAnswer | Stream:
        if request.path == "/healthz":
            return http.answer_json({"status": "ok"})
        if request.path == "/readyz":
            return self._readiness(request)
        if (file := self._files.get(request.path)) is not None:
            return file.answer(request.headers.get("if-none-match"), request.headers.get("accept-encoding"))
        session = http.session_of_stream(request.path)
        if request.path not in {"/metrics", "/sessions"} and session is None:
            return refuse("not_found")
        shown = self._shown(request)
        if isinstance(shown, HttpAnswer):
            return shown
        if session is not None:
            return self._stream(request, session, shown)
        principal = shown.principal if isinstance(shown, Login) else shown
        if request.path == "/metrics":
            if not principal.sees_all:
                return refuse("forbidden")
            content_type, text = self._probes.metrics()
            return HttpAnswer(200, text, content_type, {"Cache-Control": "no-store"})
        return http.answer_json(to_builtins(self._context.visible(principal)))

    def _readiness(self, request: HttpRequest) -> HttpAnswer:
        if self._probes.trouble() is not None:
            return refuse("not_ready", self._why_not_ready(request, HIDDEN["journal_unavailable"]))
        notes = self._probes.notes() if self._sees_all(request) else ()
        return http.answer_json({"status": "ready", "notes": [*notes]} if notes else {"status": "ready"})

    def _why_not_ready(self, request: HttpRequest, otherwise: str) -> str:
        """Return the trouble, which names servers and files, to who may see that, and something else to others."""
        trouble = self._probes.trouble()
        return trouble if trouble is not None and self._sees_all(request) else otherwise

    def _sees_all(self, request: HttpRequest) -> bool:
        if request.headers.get("authorization") is None and request.headers.get("cookie") is None:
            return False
        shown = self._shown(request)
        if isinstance(shown, HttpAnswer):
            return False
        principal = shown.principal if isinstance(shown, Login) else shown
        return principal.sees_all

    def _stream(self, request: HttpRequest, session: str, shown: Principal | Login) -> HttpAnswer | Stream:
        principal = shown.principal if isinstance(shown, Login) else shown
        if not self._context.knows(principal, session):
            return refuse("unknown_session")
        try:
            cursor = http.cursor_of(request)
        except BadCursor:
            return refuse("bad_cursor")
        return Stream(session, cursor, principal, shown.id if isinstance(shown, Login) else None)

    def _shown(self, request: HttpRequest) -> Principal | Login | HttpAnswer:
        """Return the credentials of a request, or the answer for missing or invalid ones."""
        if http.from_elsewhere(request):
            return refuse("origin_not_allowed")
        token, _ = token_of(request.headers.get("authorization"), None)
        if token is None:
            return self._login(request) or self._user(request) or _unauthorized()
        return self._principal_of(token, request.address)

    async def _session_cookie(self, request: HttpRequest) -> HttpAnswer:
        if request.method != "POST":
            return refuse("method_not_allowed", headers={"Allow": "POST"})
        if http.from_elsewhere(request):
            return refuse("origin_not_allowed")
        if request.path == "/logout":
            if (login := self._login(request)) is not None:
                self._context.cookies.log_out(login)
                self._logged_out(login.id)
            return http.log_out(self._cookie)
        token, _ = token_of(request.headers.get("authorization"), None)
        if token is None:
            return _unauthorized()
        try:
            invited = await self._context.invitations.redeem(token)
        except CommandRefused as refused:
            return refuse("not_ready", refused.message)
        principal = invited or self._principal_of(token, request.address)
        if isinstance(principal, HttpAnswer):
            return principal
        value = self._context.cookies.give(principal, time.time())
        key = self._context.cookies.key(value) or ""
        return http.log_in(principal.role, self._cookie, value, key, secure=self._secure)

    def _upgrade(self, request: HttpRequest) -> HttpAnswer | Upgrade:
        token, by_header = token_of(
            request.headers.get("authorization"), request.headers.get("sec-websocket-protocol")
        )
        if token is None:
            login = self._login(request)
            if login is not None:
                return Upgrade(login.principal, login=login.id)
            user = self._user(request)
            return user if isinstance(user, HttpAnswer) else Upgrade(user)
        principal = self._principal_of(token, request.address)
        if isinstance(principal, HttpAnswer):
            code = CloseCode.UNAUTHORIZED if principal.status == 401 else CloseCode.TOO_MANY
            return principal if by_header else Upgrade(None, code)
        return Upgrade(principal)

    def _user(self, request: HttpRequest) -> Principal | HttpAnswer | None:
        """Return the user that the proxy names; None if it names nobody."""
        said = self._users.said(request.headers)
        if said is None:
            return None
        try:
            return self._users.principal(said)
        except BadPrincipal as bad:
            return refuse("bad_user", f"The proxy names a user that cannot be one: {bad}.")

    def _login(self, request: HttpRequest) -> Login | None:
        # A cookie of an earlier start is no attempt at guessing: it counts as none.
        value = request.cookie(self._cookie)
        return None if value is None else self._context.cookies.login(value, key_of(request.headers))

    def _principal_of(self, token: str, address: str) -> Principal | HttpAnswer:
        try:
            return self._context.check.principal(token, address, asyncio.get_running_loop().time())
        except WrongToken as wrong:
            if wrong.retry_after_s is None:
                return _unauthorized()
            return refuse("too_many_failures", headers={"Retry-After": str(int(wrong.retry_after_s) + 1)})


def _unauthorized() -> HttpAnswer:
    return refuse("unauthorized", headers={"WWW-Authenticate": "Bearer"})
