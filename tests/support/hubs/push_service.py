"""A push service and a browser that is subscribed to it, on loopback: requests by TLS, messages decrypted as RFC 8291 says.

The steps are written out over `cryptography` alone: what sends them does so by another library.
"""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from recordings import ROOT

CERTIFICATE = ROOT / "tests" / "hub" / "localhost.pem"
"""Of 127.0.0.1 and localhost, its own authority; SSL_CERT_FILE makes a process believe it."""


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def of_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


@dataclass
class Subscriber:
    """A browser's side of a subscription."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = b"sixteen secrets!"

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )

    @property
    def fields(self) -> dict[str, Any]:
        """What `push.subscribe` takes."""
        return {"endpoint": self.endpoint, "p256dh": base64url(self.point), "auth": base64url(self.auth)}

    def read(self, body: bytes) -> dict[str, Any]:
        """Decrypt a message (RFC 8291, 3.4; RFC 8188, 2)."""
        salt, sender, sealed = body[:16], body[21 : 21 + body[20]], body[21 + body[20] :]
        shared = self.key.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        )
        secret = derived(shared, self.auth, b"WebPush: info\0" + self.point + sender, 32)
        key = derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(secret, salt, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert plain[-1:] == b"\x02"
        message: dict[str, Any] = json.loads(plain[:-1])
        return message


@dataclass(frozen=True)
class Pushed:
    """What the service was sent."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def claims(self, key: str) -> dict[str, Any]:
        """What the signature says (RFC 8292), which must be made by the key that browsers subscribe with."""
        scheme, _, fields = self.headers["authorization"].partition(" ")
        assert scheme == "vapid"
        told = dict(part.split("=", 1) for part in fields.split(","))
        assert told["k"] == key
        signed, _, signature = told["t"].rpartition(".")
        raw = of_base64url(signature)
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), of_base64url(key))
        halves = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
        public.verify(encode_dss_signature(*halves), signed.encode(), ec.ECDSA(hashes.SHA256()))
        claims: dict[str, Any] = json.loads(of_base64url(signed.partition(".")[2]))
        return claims


class PushService:
    """Takes messages."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pushed: asyncio.Queue[Pushed] = asyncio.Queue()
        self.answers: dict[str, bytes] = {}
        """Status line of a path, where it is not 201."""

    def subscriber(self, name: str) -> Subscriber:
        return Subscriber(f"https://127.0.0.1:{self.port}/{name}")

    async def next(self) -> Pushed:
        async with asyncio.timeout(60):
            return await self.pushed.get()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers["content-length"]))
        path = head[0].split()[1]
        self.pushed.put_nowait(Pushed(path, headers, body))
        status = self.answers.get(path, b"201 Created")
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def push_service(certificate: Path = CERTIFICATE) -> AsyncIterator[PushService]:
    """Run one."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    service = PushService(0)
    server = await asyncio.start_server(service.take, "127.0.0.1", 0, ssl=context)
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        server.close()
        await server.wait_closed()
