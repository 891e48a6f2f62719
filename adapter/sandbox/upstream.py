"""A proxy that this machine itself needs to reach others, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the agent's environment.

It gets the name of a host, since it may be the only one that can resolve it.
"""

import asyncio
import base64
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from turnwire.adapter.sandbox.hosts import Target


class Upstream(Struct, frozen=True):
    """A proxy of HTTP."""

    host: str
    port: int
    authorization: str | None
    """Value of `Proxy-Authorization`."""
    bypass: tuple[str, ...]
    """Entries of NO_PROXY: hosts, and what is below them; `*` is every host."""

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "Upstream | None":
        """Read the variables; None where no proxy is named. Raises ValueError for one that is not `http://HOST:PORT`."""
        names = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
        name = next((name for name in names if environment.get(name)), None)
        if name is None:
            return None
        text = environment[name]
        url = urlsplit(text if "://" in text else f"http://{text}")
        if url.scheme != "http" or not url.hostname:
            raise ValueError(f"{name} names a proxy that the sandbox cannot use; write http://HOST:PORT")
        user = f"{unquote(url.username)}:{unquote(url.password or '')}" if url.username else None
        encoded = None if user is None else f"Basic {base64.b64encode(user.encode()).decode()}"
        listed = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
        bypass = tuple(one.strip().lower().lstrip(".") for one in listed.split(",") if one.strip())
        return cls(url.hostname, url.port or 80, encoded, bypass)

    def takes(self, target: Target) -> bool:
        """Tell whether a host is reached by it."""
        if (address := target.address) is not None and address.is_loopback:
            return False
        return not any(
            one in ("*", target.host, str(target)) or target.host.endswith(f".{one}") for one in self.bypass
        )

    def whole(self, target: Target, forwarded: bytes) -> bytes:
        """Return the head of a plain request with the whole address, as a proxy wants it."""
        method, path, rest = forwarded.split(b" ", 2)
        line, _, fields = rest.partition(b"\r\n")
        where = b"http://" + str(target).removesuffix(":80").encode() + path
        more = b"" if self.authorization is None else self._field()
        return b"%s %s %s\r\n%s%s" % (method, where, line, more, fields)

    def _field(self) -> bytes:
        return f"Proxy-Authorization: {self.authorization}\r\n".encode()

    async def connect(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Have a connection to it lead to a host; raises OSError."""
        more = b"" if self.authorization is None else self._field()
        writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n".encode() + more + b"\r\n")
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise OSError(f"the proxy {self.host}:{self.port} does not answer CONNECT") from None
        words = head.split(b"\r\n", 1)[0].split(b" ", 2)
        if len(words) < 2 or words[1] != b"200":
            said = b" ".join(words[1:]).decode("latin-1")[:200]
            raise OSError(f"the proxy {self.host}:{self.port} refuses it: {said}")
