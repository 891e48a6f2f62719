"""The cookies that browsers get for a token: one a login, so that one can be logged out and the others go on. Pure.

A cookie says which login it is and since when, and proves it by the token, so that it lives as long as the token does and
nothing is kept of those that are in use. Kept is which were logged out: of the newest ones each, and beyond these up to
when all were, so that the list has a bound and no cookie comes back.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hub.server.access import Tokens
from normalize.vocabulary import Role

REMEMBERED = 1000
"""Logins that are known one by one to be logged out."""


@dataclass(frozen=True, slots=True)
class LoggedOut:
    """The logins whose cookies open nothing any more."""

    logins: Mapping[str, int] = field(default_factory=dict)
    """When each began, in seconds since 1970, by its id."""
    until: int = 0
    """All that began up to then are logged out, too."""

    def with_login(self, login: "Login") -> "LoggedOut":
        """Return this and one more."""
        logins = {**self.logins, login.id: login.began}
        until = self.until
        if len(logins) > REMEMBERED:
            until = max(until, min(logins.values()))
            logins = {name: began for name, began in logins.items() if began > until}
        return LoggedOut(logins, until)

    def has(self, login: "Login") -> bool:
        """Tell whether a login is over."""
        return login.began <= self.until or login.id in self.logins


class Login(NamedTuple):
    """A login that a cookie stands for."""

    id: str
    began: int
    """Seconds since 1970."""
    role: Role


class Cookies:
    """Gives cookies, and knows whose they are."""

    def __init__(self, tokens: Tokens, logged_out: LoggedOut | None = None) -> None:
        self._tokens = tokens
        self.logged_out = logged_out or LoggedOut()
        """Which are over."""

    def give(self, role: Role, now: float) -> str:
        """Return the value of a new cookie."""
        login = Login(secrets.token_urlsafe(16), int(now), role)
        return f"{login.id}.{login.began}.{self._proof(login)}"

    def login(self, value: str) -> Login | None:
        """Return whose cookie this is; None for one that opens nothing."""
        name, _, rest = value.partition(".")
        began, _, proof = rest.partition(".")
        if not (name and began.isascii() and began.isdigit() and len(began) < 16 and proof.isascii()):
            return None
        # Both are always compared, so that the time does not tell which one came close.
        logins = [Login(name, int(began), role) for role in ("control", "view")]
        proven = [login for login in logins if hmac.compare_digest(proof, self._proof(login))]
        return next((login for login in proven if not self.logged_out.has(login)), None)

    def log_out(self, login: Login) -> None:
        """Let a login's cookie open nothing any more."""
        self.logged_out = self.logged_out.with_login(login)

    def _proof(self, login: Login) -> str:
        token = self._tokens.control if login.role == "control" else self._tokens.view
        words = f"turnwire cookie {login.role} {login.id} {login.began}"
        return hmac.digest(token.encode(), words.encode(errors="replace"), "sha256").hex()
