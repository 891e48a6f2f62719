"""Hosts and origins that somebody allows, spelt as requests spell them; pure.

Browsers send an origin in small letters, without a path and without the usual port of its scheme. What is written otherwise would
allow nothing, so it is either read as it is meant or refused.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}


def allowed_origins(written: Iterable[str]) -> tuple[str, ...]:
    """Return origins of pages as browsers send them, such as `https://app.example`; raises ValueError for one that is none."""
    return tuple(_origin(each) for each in _several(written, "https://app.example"))


def allowed_hosts(written: Iterable[str]) -> tuple[str, ...]:
    """Return names of hosts as they are compared, without a port; raises ValueError for one that is none."""
    return tuple(_host(each) for each in _several(written, "app.example"))


def _several(written: Iterable[str], example: str) -> Iterable[str]:
    if isinstance(written, str):  # each of its characters would be taken for one
        raise ValueError(f"{written!r} is one text; give a list, such as [{example!r}]")  # noqa: TRY004 - as all that is refused here
    return written


def _origin(written: str) -> str:
    wrong = ValueError(f"{written!r} is not the origin of a page; write SCHEME://HOST or SCHEME://HOST:PORT")
    if written == "null":
        return written
    try:
        parts = urlsplit(written)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if not (parts.scheme and host and host.isascii()) or "*" in host or "@" in parts.netloc:
        raise wrong
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise wrong
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (
        "" if port in {None, _USUAL_PORTS.get(parts.scheme)} else f":{port}"
    )


def _host(written: str) -> str:
    wrong = ValueError(f"{written!r} is not the name of a host; write the name alone, such as app.example")
    if written.count(":") > 1 and not written.startswith("["):
        written = f"[{written}]"
    try:
        parts = urlsplit(f"//{written}")
        host = parts.hostname
        _ = parts.port  # raises for one that is none
    except ValueError:
        raise wrong from None
    if not host or not host.isascii() or parts.netloc != written or set(parts.netloc) & set("*@ "):
        raise wrong
    return host
