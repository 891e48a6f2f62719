"""Mount a hub into an application that has users of its own: `uvicorn mounted:app`, log in, then open /agents/.

The logins here are a stand-in: replace `who` by what your application knows of a request.
"""

import os
import secrets

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Mount, Route

import turnwire

PASSWORDS = {"of-ann": turnwire.user("ann", "control"), "of-vera": turnwire.user("vera", "view", "all")}
"""Ann steers her own sessions. Vera watches everybody's."""

logins = dict(PASSWORDS)
"""Who is logged in, by what the browser keeps in a cookie. Programs send the password itself, as a bearer token."""


async def who(connection: HTTPConnection) -> turnwire.User | None:
    """Return who asks."""
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    return logins.get(token if kind == "Bearer" else connection.cookies.get("login", ""))


async def login(request: Request) -> Response:
    """Log a browser in by the password in the request's body."""
    user = PASSWORDS.get((await request.body()).decode())
    if user is None:
        return Response(status_code=401)
    cookie = secrets.token_urlsafe()
    logins[cookie] = user
    answer = Response()
    answer.set_cookie("login", cookie, httponly=True, samesite="strict")
    return answer


async def logout(request: Request) -> Response:
    """Log it out: its connections to the hub end as well."""
    logins.pop(request.cookies.get("login", ""), None)
    return Response()


hub = turnwire.asgi(who, agent=os.environ.get("AGENT", "demo"), journal="memory", recheck_s=1)
app = Starlette(
    routes=[
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
        Mount("/agents", hub),
    ],
    lifespan=hub.lifespan,
)
