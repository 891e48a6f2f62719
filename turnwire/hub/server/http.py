"""The plain HTTP side of the hub: routes, the login that turns a token into a cookie, and the answers. Pure.

Streams (server-sent events) are named here and served by the server.
"""

import json
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, unquote

from msgspec import Struct, field
from pydantic import JsonValue

from turnwire.hub.principals import Principal
from turnwire.hub.wire.codes import HTTP_CODES
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
"""No inline script, no frame around it, nothing from elsewhere."""

COOKIE_S = 400 * 24 * 3600
"""Seconds that a browser keeps its cookie: the longest that browsers allow. The cookie is invalid once its token has changed."""


class HttpRequest(Struct, frozen=True):
    """A request's head; names of headers are lower case, repeated ones joined by a comma."""

    method: str
    target: str
    headers: Mapping[str, str]
    address: str
    by_proxy: bool = False
    """Whether a trusted proxy hands it on."""

    @property
    def path(self) -> str:
        """The path, decoded."""
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> Mapping[str, str]:
        """The first value of each query parameter."""
        return {name: values[0] for name, values in parse_qs(self.target.partition("?")[2]).items()}

    def cookie(self, name: str) -> str | None:
        """Return a cookie's value."""
        try:
            cookies = SimpleCookie(self.headers.get("cookie", ""))
        except CookieError:
            return None
        return cookies[name].value if name in cookies else None


class HttpAnswer(Struct, frozen=True):
    """A whole response."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    head_only: bool = False
    """Send the headers of the body only: the request was HEAD."""


class Stream(Struct, frozen=True):
    """The request is for a session's events as a stream."""

    session: str
    cursor: Cursor
    principal: Principal
    login: str | None = None
    """The login of its cookie. None if it came with a token."""


def answer_json(
    content: JsonValue, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpAnswer:
    """Return content as JSON that caches must not store."""
    body = json.dumps(content, ensure_ascii=False).encode() + b"\n"
    return HttpAnswer(status, body, headers={"Cache-Control": "no-store", **(headers or {})})


def refuse(code: str, message: str | None = None, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    """Return the answer of an error code."""
    status, meaning = HTTP_CODES[code]
    return answer_json({"error": {"code": code, "message": message or meaning}}, status, headers)


def log_in(role: Role, name: str, value: str, key: str, *, secure: bool) -> HttpAnswer:
    """Give a browser the cookie and the key of a login."""
    attributes = f"HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_S}" + ("; Secure" if secure else "")
    return answer_json({"role": role, "key": key}, headers={"Set-Cookie": f"{name}={value}; {attributes}"})


def log_out(name: str) -> HttpAnswer:
    """Return the answer that deletes the cookie."""
    return answer_json({}, headers={"Set-Cookie": f"{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"})


def session_of_stream(path: str) -> str | None:
    """Return the session of an event stream's path, /sessions/ID/events."""
    parts = path.split("/")
    return parts[2] if len(parts) == 4 and parts[:2] == ["", "sessions"] and parts[3] == "events" else None


class BadCursor(TurnwireError):
    """The value is not a cursor."""


SEQ_DIGITS = 15
"""Most digits of a number in a log. JavaScript's numbers hold them exactly, and no log reaches them."""


def cursor_of(request: HttpRequest) -> Cursor:
    """Return where a stream begins: Last-Event-ID or ?after=EPOCH-SEQ, otherwise the first event. Raises BadCursor."""
    place = request.headers.get("last-event-id") or request.query.get("after", "")
    if not place:
        return Cursor("", 0)
    epoch, _, seq = place.rpartition("-")
    if not (epoch and seq.isascii() and seq.isdigit() and len(seq) <= SEQ_DIGITS):
        raise BadCursor
    return Cursor(epoch, int(seq))


def from_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser marks the request as made by a page of another origin.

    This covers requests without an Origin header, such as images. The cookie of one port is sent to all ports.
    """
    return request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
