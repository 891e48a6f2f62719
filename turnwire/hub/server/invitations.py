"""Codes that log in one more browser, shown as a picture for a phone's camera.

A code works once and for a short time. So it is worthless to someone who sees the picture later, or in a recording
of the screen.
"""

import hmac
import secrets
from collections import deque
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from turnwire.hub.principals import Principal

LIFE_S = 180.0
"""Seconds that a code is good for."""

MOST = 8
"""Most codes of one hub. One more invalidates the oldest."""

PREFIX = "twi-"
"""Prefix of a code, so that it cannot be confused with a token."""


def new_code() -> str:
    """Return a random code."""
    return f"{PREFIX}{secrets.token_urlsafe(24)}"


class Invitations(Protocol):
    """Codes that were given and not yet used."""

    async def give(self, principal: Principal) -> str:
        """Return a new code for this principal. Raises turnwire.hub.host.CommandRefused if it cannot be stored."""
        ...

    async def redeem(self, code: str) -> Principal | None:
        """Return the principal of a code and use the code up; None for an invalid code.

        Raises turnwire.hub.host.CommandRefused if the code cannot be looked up.
        """
        ...


class _Invitation(Struct, frozen=True):
    code: str
    principal: Principal
    until: float


class OwnInvitations:
    """Implements `Invitations` for a single hub."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` returns the seconds of any clock."""
        self._now = now
        self._open: deque[_Invitation] = deque(maxlen=MOST)

    async def give(self, principal: Principal) -> str:
        """Return a new code."""
        made = _Invitation(new_code(), principal, self._now() + LIFE_S)
        self._open.append(made)
        return made.code

    async def redeem(self, code: str) -> Principal | None:
        """Return the principal of a code, once."""
        found = None
        for one in list(self._open):
            if hmac.compare_digest(one.code.encode(), code.encode(errors="replace")):
                found = one
        if found is None:
            return None
        self._open.remove(found)
        return found.principal if self._now() < found.until else None
