"""A QR code of the printed URL, for a phone's camera, drawn with half blocks on the terminal."""

import io
import ipaddress
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from turnwire._runtime.origins import is_loopback
from turnwire.protocol.errors import TurnwireError

ELSEWHERE = ("192.0.2.1", 9)
"""An unused address (RFC 5737). Nothing is sent to it; the system names our own address for the route."""

INSTALL = "--qr needs the extra: pip install 'turnwire[qr]'"


class NoCode(TurnwireError):
    """There is no code to draw. The message says why and what to do."""


def drawn(text: str) -> str:
    """Return a text as a code; raises NoCode."""
    try:
        import segno  # noqa: PLC0415 - an extra
    except ImportError:
        raise NoCode(INSTALL) from None
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out, border=2, compact=True)
    return out.getvalue()


def reachable(url: str, host: str, public: str | None, own: Callable[[], str] | None = None) -> str:
    """Return the URL for other devices: with the `public` address of a proxy, or with this machine's own.

    `host` is the address that the hub listens on, `own` finds an address of this machine. Raises NoCode if no other device can
    reach it.
    """
    parts = urlsplit(url)
    if public is not None:
        return f"{public.rstrip('/')}/#{parts.fragment}"
    if is_loopback(host):
        raise NoCode(
            f"--qr: turnwire listens on {host}, which a phone cannot reach; give --host with a token, or set public_url "
            "to the address of your proxy"
        )
    named = host
    if _is_any(host):
        named = (own or own_address)()
    at = f"[{named}]" if ":" in named else named
    return f"{parts.scheme}://{at}:{parts.port}/#{parts.fragment}"


def own_address() -> str:
    """Return the address by which this machine speaks to others; raises NoCode where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(ELSEWHERE)
        except OSError:
            raise NoCode(
                "--qr: this machine has no address that a phone could reach; set public_url"
            ) from None
        name: str = asked.getsockname()[0]
        return name


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
