"""Check the addresses of push services. A browser sends its push endpoint, so it is untrusted input that turnwire will call.

An endpoint must use https and belong to a known push service or to one that the operator has named. A host name must
resolve to public addresses only. Otherwise a token would give access to the network behind turnwire. turnwire connects
to the address that it checked, so the name cannot change meanwhile. The operator may also name a literal IP address.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError

KNOWN = (
    "fcm.googleapis.com",  # Chrome, Edge on phones, Opera, Brave
    "*.push.services.mozilla.com",  # Firefox
    "*.push.apple.com",  # Safari
    "*.notify.windows.com",  # Edge
)
"""The push services of browser makers. A star stands for one or more leading labels."""

LONGEST = 2048
"""Maximum number of characters of an endpoint."""

PORT = 443


class EndpointRefused(TurnwireError):
    """An endpoint is not called. The message says why but omits the endpoint, which is a secret of the browser."""


class EndpointAddress(Struct, frozen=True):
    """The parsed address of an endpoint."""

    host: str
    port: int
    target: str
    """Path and query string."""
    is_named: bool
    """True if the operator has named it."""

    @property
    def authority(self) -> str:
        """Host and port for the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORT else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Origin for which the VAPID signature is made."""
        return f"https://{self.authority}"


Resolve = Callable[[str, int], Iterable[str]]
"""Resolve host and port to IP addresses. Raises OSError."""


def resolve(host: str, port: int) -> list[str]:
    """Resolve a host with the system resolver. Raises OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def parse_endpoint(endpoint: str, named: Sequence[str] = ()) -> EndpointAddress:
    """Parse and check an endpoint. named: the operator's services, as HOST or HOST:PORT. Raises EndpointRefused."""
    if len(endpoint) > LONGEST or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        raise EndpointRefused("the endpoint is not a URL of a push service")
    try:
        parts = urlsplit(endpoint)
        port = parts.port or PORT
    except ValueError:
        raise EndpointRefused("the endpoint is not a URL of a push service") from None
    host = parts.hostname or ""
    if parts.scheme != "https" or not host or parts.username is not None or parts.password is not None:
        raise EndpointRefused("the endpoint must be https, without a user name")
    is_named = _is_among(host, port, named)
    if not is_named and not _is_among(host, port, KNOWN):
        raise EndpointRefused(
            f"{host} is not a known push service of a browser; add it to push_services if you trust it"
        )
    target = parts.path or "/"
    return EndpointAddress(host, port, f"{target}?{parts.query}" if parts.query else target, is_named)


def checked_address(place: EndpointAddress, lookup: Resolve = resolve) -> str:
    """Return the IP address to connect to. Raises EndpointRefused if it is not public, OSError if there is none."""
    literal = _address(place.host)
    if literal is not None:
        if place.is_named:
            return place.host
        raise EndpointRefused("the endpoint names an address instead of a push service")
    found = list(lookup(place.host, place.port))
    for one in found:
        address = _address(one)
        if address is None or not address.is_global or address.is_multicast:
            raise EndpointRefused(f"{place.host} leads to {one}, which is not public")
    if not found:
        raise OSError("no address")
    return found[0]


def _is_among(host: str, port: int, services: Sequence[str]) -> bool:
    return any(_is(host, port, service.lower()) for service in services)


def _is(host: str, port: int, service: str) -> bool:
    name, allowed = service, PORT
    if not service.endswith("]") and service.count(":") != 0 and _address(service) is None:
        name, _, number = service.rpartition(":")
        allowed = int(number) if number.isascii() and number.isdigit() else -1
    name = name.strip("[]")
    if port != allowed:
        return False
    return host == name or (name.startswith("*.") and host.endswith(name[1:]) and len(host) > len(name) - 1)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
