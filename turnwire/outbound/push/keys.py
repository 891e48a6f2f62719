"""What encrypts and signs: the key by which push services know this turnwire (VAPID, RFC 8292), and what makes a message
readable to one browser alone (RFC 8291). Both by the libraries of the extra `push`.
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
"""How long a signature counts; a push service takes up to 24 hours."""

POINT = 65
"""Bytes of a browser's public key: an uncompressed point of P-256."""

AUTH = 16
"""Bytes of its secret."""


class KeyRefused(TurnwireError):
    """A key cannot be used; the text says whose, and what to do."""


def is_installed() -> bool:
    """Return whether the libraries are here."""
    return all(find_spec(name) is not None for name in ("http_ece", "py_vapid"))


class VapidKeys:
    """The key pair of one turnwire."""

    def __init__(self, key: "EllipticCurvePrivateKey") -> None:
        self._key = key

    @classmethod
    def kept(cls, path: Path) -> "VapidKeys":
        """Read the key's file, or make both: a PEM for its owner alone. Raises KeyRefused."""
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
        """What a browser subscribes with: the public point, base64url without padding."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra

        point = self._key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def headers(self, origin: str, contact: str, now: float | None = None) -> Mapping[str, str]:
        """Return what proves to the push service at `origin` who sends; `contact` is a mailto: or https: address."""
        from py_vapid import Vapid02  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, without types

        expires = int(time.time() if now is None else now) + VALID_S
        signed: Mapping[str, str] = Vapid02(self._key).sign({"aud": origin, "sub": contact, "exp": expires})
        return signed


def encrypted(body: bytes, p256dh: str, auth: str) -> bytes:
    """Encrypt for one browser (content coding aes128gcm); raises KeyRefused for keys that are none."""
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
    """Return a browser's public point and its secret, of base64url; raises KeyRefused."""
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
