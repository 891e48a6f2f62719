"""The logins of browsers: a cookie and a key for each, so that one can be logged out and the others go on. Pure.

A browser sends its cookie to every port of the hub's host, so a cookie alone opens nothing. The key is the other half: a page keeps
it in its own storage, which no other port can read, and sends it with each request. Both name the login and prove it by the token.
So they live as long as the token does, and the hub keeps nothing of logins in use. It keeps which were logged out: the newest ones
each, and the older ones by a time up to which all are over. So the list has a bound and no login comes back.
"""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct, field

from turnwire.hub.principals import NoPrincipals, Principal, Principals
from turnwire.hub.server.access import RoleTokens

REMEMBERED = 1000
"""Logins that are known one by one to be logged out."""


class LoggedOut(Struct, frozen=True):
    """The logins whose cookies open nothing any more."""

    logins: Mapping[str, int] = field(default_factory=dict)
    """When each began, in seconds since 1970, by its id."""
    until: int = 0
    """All that began up to then are logged out, too."""

    def with_login(self, login: str, began: int) -> "LoggedOut":
        """Return this and one more, by its id."""
        logins = {**self.logins, login: began}
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
    principal: Principal


class Cookies:
    """Gives cookies, and knows whose they are."""

    def __init__(
        self, tokens: RoleTokens, logged_out: LoggedOut | None = None, principals: Principals | None = None
    ) -> None:
        self._tokens = tokens
        self._principals = principals or NoPrincipals()
        self.logged_out = logged_out or LoggedOut()
        """Which are over."""

    def give(self, principal: Principal, now: float) -> str:
        """Return the value of a new cookie."""
        login = Login(secrets.token_urlsafe(16), int(now), principal)
        of = "" if principal.id is None else f".{principal.id}.{principal.role}"
        return f"{login.id}.{login.began}.{self._proof(login, 'cookie')}{of}"

    def key(self, value: str) -> str | None:
        """Return the key that belongs to a cookie; None for a cookie that opens nothing."""
        login = self._of(value)
        return None if login is None else self._proof(login, "key")

    def login(self, value: str, key: str) -> Login | None:
        """Return the login of a cookie and its key; None where the two open nothing."""
        login = self._of(value)
        if login is None or not key.isascii() or not hmac.compare_digest(key, self._proof(login, "key")):
            return None
        return login

    def _of(self, value: str) -> Login | None:
        name, _, rest = value.partition(".")
        began, _, rest = rest.partition(".")
        proof, _, rest = rest.partition(".")
        token_id, _, role = rest.partition(".")
        if not (name and began.isascii() and began.isdigit() and len(began) < 16 and proof.isascii()):
            return None
        # All are always compared, so that the time does not tell which one came close.
        logins = [Login(name, int(began), principal) for principal in self._possible(token_id, role)]
        proven = [login for login in logins if hmac.compare_digest(proof, self._proof(login, "cookie"))]
        return next((login for login in proven if not self.logged_out.has(login)), None)

    def log_out(self, login: Login) -> None:
        """Let a login's cookie open nothing any more."""
        self.log_out_by_id(login.id, login.began)

    def log_out_by_id(self, login: str, began: int) -> None:
        """The same of one whose cookie is not at hand."""
        self.logged_out = self.logged_out.with_login(login, began)

    def _possible(self, token_id: str, role: str) -> Sequence[Principal]:
        if not token_id:
            return [Principal("control"), Principal("view")]
        self._principals.refresh()
        found = self._principals.of_id(token_id)
        if found is None or role not in {found.role, "view"}:
            return []
        return [found.as_viewer() if role == "view" else found]

    def _proof(self, login: Login, half: Literal["cookie", "key"]) -> str:
        who = login.principal
        token = self._tokens.view if who.id is None and who.role == "view" else self._tokens.control
        key, role = token.encode(), str(who.role)
        if who.id is not None:
            # Beside the hub's own token: what is kept of a principal's is readable where it is kept.
            key, role = key + self._principals.secret(who.id), f"{who.role} of {who.id}"
        words = f"turnwire {half} {role} {login.id} {login.began}"
        return hmac.digest(key, words.encode(errors="replace"), "sha256").hex()
