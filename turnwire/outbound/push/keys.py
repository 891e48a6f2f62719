"""Keys of web push: turnwire's signing key (VAPID, RFC 8292), and encryption for one browser (RFC 8291).

Both need the libraries of the extra `push`.
"""

import base64
import binascii
import os
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from turnwire._runtime.private_files import make_private, open_private, read_private
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

VALID_S = 12 * 3600
"""Seconds that a signature is valid. Push services accept up to 24 hours."""

POINT = 65
"""Length in bytes of a browser's public key: an uncompressed P-256 point."""

AUTH = 16
"""Length in bytes of a browser's secret."""


class KeyRefused(TurnwireError):
    """A key is invalid. The message says whose key, and what to do."""


def is_installed() -> bool:
    """Return whether the libraries of the extra `push` are installed."""
    return all(find_spec(name) is not None for name in ("http_ece", "py_vapid"))


class VapidKeys:
    """The signing key pair of this turnwire."""

    def __init__(self, key: "EllipticCurvePrivateKey") -> None:
        self._key = key

    @classmethod
    def load(cls, path: Path) -> "VapidKeys":
        """Read the key from a PEM file, or create the file with mode 600. Raises KeyRefused."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - an extra

        try:
            pem = read_private(path, owners={os.getuid()}, follows_links=False)
            key = serialization.load_pem_private_key(pem.encode(), None)
            if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
                raise KeyRefused(
                    f"{path} does not hold a P-256 key; move it away, and turnwire makes a new one"
                )
            return cls(key)
        except FileNotFoundError:
            made = ec.generate_private_key(ec.SECP256R1())
        except OSError as error:
            raise KeyRefused(f"the key in {path} is not used: {error.strerror}") from error
        except ValueError as error:
            raise KeyRefused(
                f"{path} does not hold a key; move it away, and turnwire makes a new one"
            ) from error
        text = made.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        try:
            make_private(path.parent)
            with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(text)
        except OSError as error:
            raise KeyRefused(f"the key cannot be written to {path}: {error.strerror}") from error
        return cls(made)

    @property
    def public(self) -> str:
        """The public key that browsers subscribe with: a P-256 point, base64url without padding."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra

        point = self._key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def headers(self, origin: str, contact: str, now: float | None = None) -> Mapping[str, str]:
        """Return the signed VAPID headers for a push service. contact: a mailto: or https: address."""
        from py_vapid import Vapid02  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, without types

        expires = int(time.time() if now is None else now) + VALID_S
        signed: Mapping[str, str] = Vapid02(self._key).sign({"aud": origin, "sub": contact, "exp": expires})
        return signed


def encrypted(body: bytes, p256dh: str, auth: str) -> bytes:
    """Encrypt for one browser (content coding aes128gcm). Raises KeyRefused for invalid keys."""
    import http_ece  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, without types
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - an extra

    point, secret = browser_keys(p256dh, auth)
    mine = ec.generate_private_key(ec.SECP256R1())
    try:
        sealed: bytes = http_ece.encrypt(
            body, private_key=mine, dh=point, auth_secret=secret, version="aes128gcm"
        )
    except ValueError as error:
        raise KeyRefused("invalid push key: p256dh is not a point of P-256") from error
    return sealed


def browser_keys(p256dh: str, auth: str) -> tuple[bytes, bytes]:
    """Decode a browser's public key (65 bytes) and secret (16 bytes) from base64url. Raises KeyRefused."""
    try:
        point, secret = (
            base64.b64decode(f"{text}{'=' * (-len(text) % 4)}", altchars=b"-_", validate=True)
            for text in (p256dh, auth)
        )
    except (binascii.Error, ValueError):
        raise KeyRefused("invalid push keys: they are not base64url") from None
    if len(point) != POINT or point[0] != 4 or len(secret) != AUTH:
        raise KeyRefused("invalid push keys: p256dh must have 65 bytes and auth 16")
    return point, secret
