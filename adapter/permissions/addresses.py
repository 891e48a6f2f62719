"""Patterns on web addresses: what a rule that denies may mean, and what one that allows surely covers; pure.

A pattern of `url` is `domain:HOST`, or `SCHEME://HOST/PATH` with wildcards in each part. In one that allows, a wildcard
never leaves its part: the `*` of `https://*.python.org/*` stands for names of hosts and not for `attacker.net/x`.
"""

import ipaddress
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from turnwire.adapter.permissions.patterns import Match
from turnwire.protocol.parsing.addresses import Address, read_address

DOMAIN = "domain:"
"""Begins a pattern, and a grant, that is about a host alone."""

_WILD = re.compile(r"[*?\[]")
_SCHEME = re.compile(r"\A[\x00-\x20]*[A-Za-z][\w+.\-]*:[/\\]{2}")
_AUTHORITY = re.compile(r"\A[\x00-\x20]*(?:[A-Za-z][\w+.\-]*:)?//(?P<said>[^/]*@[^/]*)")
_SPLITS = re.compile(r"[?#@]")
_MISREAD = 16
"""Hosts that an address is looked at for; one with more may be on any."""
_DOUBTFUL = re.compile(r"[\\\x00-\x20\x7f]")
"""What other parsers read otherwise than the standard does."""
_PATH_CHARACTERS = "%/*?[]!:@$&'()+,;=~#"


class _Pattern(NamedTuple):
    scheme: str
    host: str
    port: str
    rest: str


def covers_domain(host: str, url: str) -> bool:
    """Tell whether an address is on a host, which may have wildcards: by http or https, on their own ports, without credentials."""
    address = _read(url)
    if address is None or not address.is_web or _is_doubtful(url):
        return False
    return fnmatchcase(address.host, _host(host))


def covers_address(pattern: str, url: str) -> bool:
    """Tell whether a pattern allows an address."""
    if pattern == "*":
        return True
    if pattern.startswith(DOMAIN):
        return covers_domain(pattern.removeprefix(DOMAIN), url)
    address = _read(url)
    if address is None or address.has_credentials or _is_doubtful(url):
        return False
    meant = _parts(pattern)
    schemes = (meant.scheme,) if meant.scheme else ("http", "https")
    return (
        any(fnmatchcase(address.scheme, scheme) for scheme in schemes)
        and fnmatchcase(address.host, meant.host)
        and fnmatchcase(address.port, meant.port)
        and fnmatchcase(address.rest, meant.rest)
    )


def covers_address_by(regex: re.Pattern[str], url: str) -> bool:
    """Tell whether a regular expression allows an address: it is found in the normalized one, which has no credentials."""
    address = _read(url)
    if address is None or address.has_credentials or _is_doubtful(url):
        return False
    return regex.search(address.spelled()) is not None


def _is_doubtful(url: str) -> bool:
    """Tell whether programs may read it otherwise than the standard does."""
    return _DOUBTFUL.search(url) is not None or any(True for _ in _misread(url))


def finds_address(pattern: str, url: str) -> Match:
    """Tell whether a pattern means an address, however it is spelled; "maybe" for what is no address."""
    addresses = list(_possible(url))
    if pattern.startswith(DOMAIN):
        host = _host(pattern.removeprefix(DOMAIN))
        found = any(fnmatchcase(name, host) for address in addresses for name in _hosts(address))
        if not found and any(name is None or fnmatchcase(name, host) for name in _misread(url)):
            return "maybe"
    else:
        texts = list(_spellings(url, addresses))
        meant = _parts(pattern)
        patterns = {pattern.lower(), unquote(pattern).lower()}
        if meant.host and "://" in pattern:
            port = f":{meant.port}" if meant.port else ""
            patterns.add(f"{meant.scheme}://{meant.host}{port}{meant.rest}".lower())
        found = any(fnmatchcase(text, one) for text in texts for one in patterns)
    return "yes" if found else "no" if addresses else "maybe"


def finds_address_by(regex: re.Pattern[str], url: str) -> Match:
    """Tell the same of a regular expression."""
    addresses = list(_possible(url))
    found = regex.search(url) or any(regex.search(text) for text in _spellings(url, addresses))
    return "yes" if found else "no" if addresses else "maybe"


@lru_cache(maxsize=16)
def _read(url: str) -> Address | None:
    return read_address(url)


def _possible(url: str) -> Iterator[Address]:
    """Yield what a tool may make of a text; without a scheme it may add one."""
    address = _read(url)
    if address is not None:
        yield address
    if (address is None or not address.host) and not _SCHEME.match(url):
        address = _read(f"https://{url.strip()}")
        if address is not None:
            yield address
    if "\\" in url:  # a slash by this standard, and by RFC 3986 a letter of the user's name
        address = _read(url.replace("\\", "%5C"))
        if address is not None:
            yield address


def _misread(url: str) -> Iterator[str | None]:
    """Yield hosts that programs read which do not keep to the standard, where @ stands twice or behind a ? or #; None for any."""
    found = _AUTHORITY.match(url)
    said = _SPLITS.split(found["said"], _MISREAD) if found is not None else ()
    if len(said) > _MISREAD:
        yield None
    for one in said if len(said) > 2 else ():
        address = _read(f"https://{one}/")
        if address is not None:
            yield from _hosts(address)


def _spellings(url: str, addresses: list[Address]) -> Iterator[str]:
    """Yield an address in lower case, as it is written and as the standard normalizes it."""
    yield url.lower()
    for address in addresses:
        for host in _hosts(address):
            one = Address(address.scheme, host, address.port, address.rest, has_credentials=False)
            for text in {one.spelled(), one.spelled(port=False)}:
                yield text.lower()
                yield unquote(text).lower()


def _hosts(address: Address) -> Iterator[str]:
    """Yield the names of one host: without the dot at its end, in its own script, as the IPv4 address in an IPv6 one."""
    host = address.host.removesuffix(".")
    yield host
    if host != address.host:
        yield address.host
    if "xn--" in host:
        import ada_url  # noqa: PLC0415  as in protocol/parsing/addresses.py

        yield ada_url.idna_to_unicode(host)
    if host.startswith("["):
        inside = ipaddress.IPv6Address(host[1:-1])
        for old in (inside.ipv4_mapped, inside.sixtofour):
            if old is not None:
                yield str(old)


@lru_cache(maxsize=256)
def _parts(pattern: str) -> _Pattern:
    """Return the parts of a pattern, each normalized; `https://a.org*` is a whole host, and anything on it."""
    scheme, separator, after = pattern.partition("://")
    if not separator:
        scheme, after = "", pattern
    authority, slash, rest = after.partition("/")
    if not slash and authority.endswith("*"):
        authority, rest = authority if authority.strip("*") == "" else authority.rstrip("*"), "*"
    else:
        rest = "/" + quote(rest, safe=_PATH_CHARACTERS)
    host, colon, port = authority, "", ""
    if not authority.endswith("]"):
        host, colon, port = authority.rpartition(":")
        if not colon:
            host, port = authority, ""
    if (scheme.lower(), port) in (("http", "80"), ("https", "443")):
        port = ""
    return _Pattern(scheme.lower(), _host(host), port, rest)


def _host(host: str) -> str:
    """Return a pattern of hosts as normalized hosts are spelled."""
    if host.startswith("[") and ":" in host:
        address = read_address(f"http://{host}/")
        return "[[]" + (address.host if address else host)[1:]
    if not _WILD.search(host):
        address = read_address(f"http://{host}/")
        return address.host if address else host.lower()
    labels = (
        address.host
        if not label.isascii() and (address := read_address(f"http://{label}/")) is not None
        else label.lower()
        for label in host.split(".")
    )
    return ".".join(labels)
