"""Which Host and Origin headers are served. Protects against DNS rebinding and foreign pages. Pure.

A page whose name was rebound to our address sends that name as Host, so names must be known. A foreign page sends its own
origin. A literal address cannot be rebound.
"""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from msgspec import Struct

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class RequestPolicy(Struct, frozen=True):
    """Which Host and Origin a request may have."""

    hosts: tuple[str, ...] = ()
    """Host names in addition to loopback; an address counts if it is listed."""
    origins: tuple[str, ...] = ()
    """Origins in addition to the server's own."""
    any_address: bool = False
    """Serve requests whose Host is a literal address: the server listens beyond loopback."""

    @classmethod
    def of(cls, hosts: Iterable[str], origins: Iterable[str], any_address: bool = False) -> "RequestPolicy":
        """Return the policy for hosts and origins as somebody wrote them; raises ValueError for one that is none."""
        from turnwire._runtime.allowed import allowed_hosts, allowed_origins  # noqa: PLC0415 - the hub's are read already

        return cls(allowed_hosts(hosts), allowed_origins(origins), any_address)

    def host_allowed(self, host: str | None) -> bool:
        """Return whether a Host header may be served."""
        try:
            name = urlsplit(f"//{host}").hostname if host else None
        except ValueError:
            return False
        if name is None:
            return False
        if name in _LOOPBACK_NAMES or name.endswith(".localhost") or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address

    def origin_allowed(self, origin: str | None, host: str | None) -> bool:
        """Return whether a page of this origin may send requests."""
        if origin is None or origin in self.origins:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in {"http", "https"} and rest.lower() == (host or "").lower()


def policy_for(listens_on: str, hosts: tuple[str, ...], origins: tuple[str, ...]) -> RequestPolicy:
    """Return the policy of a server that listens on this address, with more host names and origins."""
    if is_loopback(listens_on):
        return RequestPolicy(hosts, origins)
    return RequestPolicy((*hosts, listens_on), origins, any_address=True)
