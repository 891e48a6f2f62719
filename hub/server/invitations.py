"""Codes that log one more browser in, shown as a picture to a phone's camera. Pure; time is an argument.

A code is good once and for a short time, so that whoever sees the picture later, or in a recording of the screen, has nothing.
"""

import hmac
import secrets
from collections import deque
from dataclasses import dataclass

from hub.principals import Principal

LIFE_S = 180.0
"""Seconds that a code is good for."""

MOST = 8
"""Codes at once; one more ends the oldest."""


@dataclass(frozen=True, slots=True)
class _Invitation:
    code: str
    principal: Principal
    until: float


class Invitations:
    """Codes that were given and not yet used."""

    def __init__(self) -> None:
        self._open: deque[_Invitation] = deque(maxlen=MOST)

    def give(self, principal: Principal, now: float) -> str:
        """Return a new code, which is for this principal again; `now` in seconds of any clock."""
        made = _Invitation(secrets.token_urlsafe(24), principal, now + LIFE_S)
        self._open.append(made)
        return made.code

    def redeem(self, code: str, now: float) -> Principal | None:
        """Return whose a code is, which is used up by that; None for one that opens nothing."""
        found = None
        for one in list(self._open):
            if hmac.compare_digest(one.code.encode(), code.encode(errors="replace")):
                found = one
        if found is None:
            return None
        self._open.remove(found)
        return found.principal if now < found.until else None
