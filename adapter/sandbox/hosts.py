"""Which hosts an agent may reach: names and addresses as they are written, listed and resolved; pure.

A name says nothing of where it leads, so addresses are judged after it was resolved, and that address alone is connected to.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""How this machine calls itself; what a list opens of it, it opens by these names and with a port."""

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\Z")
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001:db8::/32", "3fff::/20")))
"""Networks of RFC 6890 and RFC 9637 that Python's `is_global` of some versions takes for public."""
_CLOUD = ipaddress.ip_address("168.63.129.16")
"""Where Azure's machines find their host, with its metadata: outside of link-local and private networks."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_WEB_PORTS = (80, 443)


class Target(NamedTuple):
    """Where a connection is to go."""

    host: str
    """A name in lower case without the dot at its end, or an address."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def address(self) -> Address | None:
        """The host as an address; None for a name."""
        return read_address(self.host)


def read_target(text: str, default_port: int | None = None) -> Target | None:
    """Read `HOST:PORT`, `[ADDRESS]:PORT` or, with a default port, `HOST`; None for what is neither."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text.strip(), ""
    if port == "" and default_port is not None:
        number = default_port
    elif port.isascii() and port.isdecimal() and 0 < int(port) < 65536:
        number = int(port)
    else:
        return None
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        address = read_address(host)
        return None if address is None else Target(str(address), number)
    address = read_address(host)
    if address is not None:
        return Target(str(address), number)
    name = host.lower().removesuffix(".")
    return Target(name, number) if _NAME.match(name) else None


def read_address(host: str) -> Address | None:
    """Read an address in any spelling that a resolver takes for one, such as 127.1 and 0x7f000001; None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    if re.fullmatch(r"[0-9a-fx.]+", host.lower()) and re.match(r"[0-9]", host):
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    return None


Listed: TypeAlias = Literal["no", "by pattern", "exactly"]


class HostList:
    """Hosts that need no asking: `HOST`, `HOST:PORT`, `*.HOST`, `*`. Without a port the web's own ports, 80 and 443, are meant."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Raises ValueError for an entry that is none."""
        self._exact: set[Target] = set()
        self._patterns: set[tuple[str, int]] = set()
        for entry in entries:
            name, colon, port = entry.strip().lower().rpartition(":")
            if entry.strip().startswith("*"):
                suffix, ports = (
                    (name, [int(port)])
                    if colon and port.isdecimal()
                    else (entry.strip().lower(), list(_WEB_PORTS))
                )
                if suffix != "*" and not suffix.startswith("*."):
                    raise ValueError(
                        f"{entry!r} is not a host: a wildcard stands for whole labels, as in *.example.org"
                    )
                self._patterns |= {(suffix[1:], one) for one in ports}
                continue
            targets = (
                [read_target(entry)]
                if read_target(entry)
                else [read_target(entry, one) for one in _WEB_PORTS]
            )
            if None in targets:
                raise ValueError(f"{entry!r} is not a host; write HOST or HOST:PORT")
            self._exact |= {one for one in targets if one is not None}

    def find(self, target: Target) -> Listed:
        """Tell whether a host is listed, and whether by its very name."""
        if target in self._exact:
            return "exactly"
        found = any(port == target.port and target.host.endswith(suffix) for suffix, port in self._patterns)
        return "by pattern" if found else "no"

    @property
    def loopback_ports(self) -> tuple[int, ...]:
        """The ports of this machine that are listed."""
        return tuple(sorted({one.port for one in self._exact if one.host in LOOPBACK}))


NEVER = ("it is a link-local address, such as that of a cloud's metadata", "it is the address of no host")
"""Why addresses are refused that nothing opens."""


def why_refused(address: Address, *, listed: Listed, by_name: bool = False) -> str | None:
    """Return why an address is not connected to; None where it may be.

    Args:
        address: where a host leads.
        listed: whether the operator has listed the host.
        by_name: the host is a name, which can lead anywhere.
    """
    for one in _meant(address):
        if one.is_link_local:
            return NEVER[0]
        if one.is_unspecified or one.is_multicast:
            return NEVER[1]
        if one.is_loopback and (listed != "exactly" or by_name):
            return "it is an address of this machine"
        if (one == _CLOUD or not _is_public(one)) and listed != "exactly":
            return "it is an address of a private network"
    return None


def _is_public(one: Address) -> bool:
    """Tell whether an address is one of the internet; of IPv6 only what is given to hosts, and the translation of IPv4 (RFC 6052)."""
    if one.version == 6 and one not in _GLOBAL_6 and one not in _NAT64:
        return False
    return one.is_global and not any(one.version == net.version and one in net for net in _SPECIAL)


def _meant(address: Address) -> list[Address]:
    """Return an address and the IPv4 address that is wrapped in it."""
    found = [address]
    if isinstance(address, ipaddress.IPv6Address):
        inside = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64 or int(address) >> 32 == 0:
            inside.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        found = [*(one for one in inside if one is not None), *([] if address.ipv4_mapped else found)]
        if address.is_loopback:
            found = [address]
    return found
