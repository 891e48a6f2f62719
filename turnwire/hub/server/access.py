"""Access control: tokens and their roles, and the limit of wrong tokens. Pure; time is an argument.

A right token always passes, whatever else came from its address. Otherwise a stranger could lock out everybody behind
the same address. Wrong tokens beyond the allowance are answered late.

Tokens are never compared with ==, never logged, and never part of a URL that the hub sees: the printed URL
has the token in its fragment. A browser exchanges it (POST /login) for a cookie. The cookie's value is derived from
the token, so it is valid as long as the token.
"""

import hmac
import ipaddress
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from turnwire._runtime.origins import is_loopback
from turnwire.hub.config import HubConfig
from turnwire.hub.principals import TOKEN_PREFIX, NoPrincipals, Principal, Principals
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

TOKEN_SUBPROTOCOL = "turnwire.token."
"""Prefix of the subprotocol a browser can carry a token in."""

KEY_SUBPROTOCOL = "turnwire.key."
"""Prefix of the subprotocol in which a browser carries the key that belongs to its cookie."""

KEY_HEADER = "x-turnwire-key"
"""Header in which it does so in requests that are no WebSocket."""

MINIMUM_TOKEN = 16
"""Characters of a configured token."""

KEYS_REMEMBERED = 1024


class AccessError(TurnwireError):
    """The configuration would admit strangers. The message says what to change."""


class RoleTokens(Struct, frozen=True):
    """The two tokens."""

    control: str
    view: str

    @classmethod
    def random(cls) -> "RoleTokens":
        """Make new ones."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    @classmethod
    def from_config(cls, config: HubConfig, kept: "RoleTokens | None" = None) -> "RoleTokens":
        """Take the configured tokens, else those kept from an earlier start, else random ones.

        Raises AccessError if the configuration would not protect the hub.
        """
        if config.token is None and not is_loopback(config.host):
            raise AccessError(
                f"Listening on {config.host} lets other machines in: configure a token "
                f"(at least {MINIMUM_TOKEN} characters), or listen on 127.0.0.1."
            )
        otherwise = kept or cls.random()
        control = otherwise.control if config.token is None else config.token.get_secret_value()
        view = otherwise.view if config.view_token is None else config.view_token.get_secret_value()
        if min(len(control), len(view)) < MINIMUM_TOKEN:
            raise AccessError(f"A configured token is too short: use at least {MINIMUM_TOKEN} characters.")
        if control == view:
            raise AccessError(
                "The tokens of the roles control and view are the same: configure two, or only one."
            )
        return cls(control, view)

    def role(self, token: str) -> Role | None:
        """Return the role a token gives."""
        return _match(token, self.control, self.view)


def _match(given: str, control: str, view: str) -> Role | None:
    # Both are always compared, so that the time does not tell which one came close.
    is_control = hmac.compare_digest(given.encode(errors="replace"), control.encode())
    is_view = hmac.compare_digest(given.encode(errors="replace"), view.encode())
    return "control" if is_control else "view" if is_view else None


class Allowance:
    """A rate limit per address or other key: a bucket that refills over time."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, key: str, now: float) -> None:
        """Count one."""
        self._spent[key] = self._level(key, now) + 1, now
        self._spent.move_to_end(key)
        if len(self._spent) > KEYS_REMEMBERED:
            self._spent.popitem(last=False)

    def wait(self, key: str, now: float) -> float:
        """Return the seconds until the next use is allowed; 0 if it is allowed now."""
        return max(0.0, (self._level(key, now) - self._burst + 1) / self._per_s)

    def _level(self, key: str, now: float) -> float:
        spent, at = self._spent.get(key, (0.0, now))
        return max(0.0, spent - (now - at) * self._per_s)


class WrongToken(TurnwireError):
    """A token that gives no role."""

    def __init__(self, retry_after_s: float | None) -> None:
        super().__init__("the token is wrong")
        self.retry_after_s = retry_after_s
        """When its address has shown too many: when it may show the next; None when it has not."""


class TokenCheck:
    """Finds the principal of a token, and counts wrong tokens by address."""

    def __init__(
        self,
        tokens: RoleTokens,
        failures: Allowance,
        refused: Callable[[str, str, float], None] = lambda *_: None,
        principals: Principals | None = None,
    ) -> None:
        """refused: called with a reason, an address and the time."""
        self._tokens = tokens
        self._failures = failures
        self._refused = refused
        self._principals = principals or NoPrincipals()

    def principal(self, token: str, address: str, now: float) -> Principal:
        """Return the principal of a token. Raises WrongToken."""
        role = self._tokens.role(token)
        if role is not None:
            return Principal(role)
        if token.startswith(TOKEN_PREFIX):
            self._principals.refresh()
            if (found := self._principals.of_token(token)) is not None:
                return found
        key = address_prefix(address)
        wait = self._failures.wait(key, now)
        self._refused("wrong_token" if wait == 0 else "guessing", address, now)
        if wait > 0:
            raise WrongToken(wait)
        self._failures.spend(key, now)
        raise WrongToken(None)


def address_prefix(address: str) -> str:
    """Return the unit in which peers are counted: an IPv4 address, or the /64 network of an IPv6 subscriber."""
    try:
        found = _address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Read an address; IPv4 within IPv6 becomes IPv4. Raises ValueError."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


HOPS = 32
"""So many of the proxies a header names are looked at, the nearest first."""

_forwarded_for = re.compile(r'(?:^|[;,\s])for=("[^"]*"|[^;,\s]+)', re.IGNORECASE)


class Proxies:
    """The trusted reverse proxies, which report where a request comes from."""

    def __init__(self, trusted: Sequence[str]) -> None:
        """Take addresses and networks. Raises AccessError for an invalid one."""
        try:
            self._trusted = tuple(ipaddress.ip_network(one) for one in trusted)
        except ValueError as error:
            raise AccessError(
                f"trusted_proxies: {error}; name addresses or networks, such as 10.0.0.5 or 10.0.0.0/8"
            ) from None

    def trusts(self, peer: str) -> bool:
        """Return whether a peer is one of them."""
        try:
            address = _address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)

    def client(self, peer: str, headers: Mapping[str, str]) -> str:
        """Return a request's client address: as a trusted proxy reports it, otherwise the peer's own.

        A proxy writes one of the two headers and passes the other on from the client. If both name an address
        and they differ, neither is trusted. Only entries by trusted proxies count: the result is the last address that is not
        a trusted proxy.
        """
        if not self._trusted or not self.trusts(peer):
            return peer
        named = {
            self._last_stranger(hops)
            for name, hops in (
                ("x-forwarded-for", headers.get("x-forwarded-for", "").split(",")),
                ("forwarded", _forwarded_for.findall(headers.get("forwarded", ""))),
            )
            if name in headers
        }
        return (named.pop() if len(named) == 1 else None) or peer

    def _last_stranger(self, hops: Sequence[str]) -> str | None:
        nearest = None
        for hop in hops[: -HOPS - 1 : -1]:
            try:
                nearest = str(_address(_without_port(hop.strip().strip('"'))))
            except ValueError:
                return None
            if not self.trusts(nearest):
                return nearest
        return nearest


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def token_of(authorization: str | None, subprotocols: str | None) -> tuple[str | None, bool]:
    """Return the token a request carries, and whether it came in the Authorization header."""
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        return (token.strip() if scheme.lower() == "bearer" else ""), True
    return _offered(subprotocols, TOKEN_SUBPROTOCOL), False


def key_of(headers: Mapping[str, str]) -> str:
    """Return the key that a request carries in addition to its cookie; "" without one."""
    return headers.get(KEY_HEADER) or _offered(headers.get("sec-websocket-protocol"), KEY_SUBPROTOCOL) or ""


def _offered(subprotocols: str | None, prefix: str) -> str | None:
    """Return the rest of the first subprotocol that begins with the prefix."""
    names = (offered.strip() for offered in (subprotocols or "").split(","))
    return next((name.removeprefix(prefix) for name in names if name.startswith(prefix)), None)
