"""Mount a hub into a FastAPI application: `uvicorn fastapi_mounted:app`, log in, then open /agents/.

One function knows who asks. The application's own routes and the hub both use it. The logins here are a stand-in for yours.
"""

import os
import secrets
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Response
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from starlette.requests import HTTPConnection

import turnwire

USERS = {
    "ann": ("of-ann", turnwire.user("ann", "control")),
    "vera": ("of-vera", turnwire.user("vera", "view", "all")),
}
"""Password and rights. Ann steers her own sessions. Vera watches everybody's."""

logins: dict[str, turnwire.User] = {}
"""Who is logged in, by what the browser keeps in a cookie. Programs send the same as a bearer token."""


async def who(connection: HTTPConnection) -> turnwire.User | None:
    """Return who asks, for the hub."""
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    return logins.get(token if kind == "Bearer" else connection.cookies.get("login", ""))


async def logged_in(connection: HTTPConnection) -> turnwire.User:
    """Return who asks, for the routes of the application."""
    user = await who(connection)
    if user is None:
        raise HTTPException(401, "Log in first.")
    return user


hub = turnwire.asgi(who, agent=os.environ.get("AGENT", "demo"), journal="memory", recheck_s=1)
app = FastAPI(lifespan=hub.lifespan)


@app.post("/login")
async def login(
    given: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())], response: Response
) -> dict[str, str]:
    """Log in by name and password."""
    password, user = USERS.get(given.username, ("", None))
    if user is None or not secrets.compare_digest(password, given.password):
        raise HTTPException(401, "No user has this name and password.")
    token = secrets.token_urlsafe()
    logins[token] = user
    response.set_cookie("login", token, httponly=True, samesite="strict")
    return {"token": token}


@app.post("/logout")
async def logout(connection: HTTPConnection) -> None:
    """Log out: connections to the hub end as well."""
    logins.pop(connection.cookies.get("login", ""), None)


@app.get("/me")
async def me(user: Annotated[turnwire.User, Depends(logged_in)]) -> dict[str, str]:
    """Return the name and the role."""
    return {"name": user.name or "", "role": user.role}


app.mount("/agents", hub)
