"""Serves the application by itself: one listening socket, uvicorn behind it, until it is told to stop."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 512
"""Connections at a time; one more is answered 503."""

HEAD = 64 * 1024
"""Bytes of a request's head."""

HEAD_S = 10.0
"""How long a request's head may take to come."""

LEAVE_S = 2.0
"""How long open runs have to end when the server stops; the sessions go on."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=CONNECTIONS)


class Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to `serve`: it ends well with them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def server(app: ASGIApp, *, head_s: float = HEAD_S) -> Server:
    """Return a server of the application, with bounds on all that a stranger can send before it is asked for a token."""

    class Protocol(H11Protocol):
        """Closes a connection whose first head does not come; there is no second one, since each answer closes."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._late = self.loop.call_later(head_s, self._close_without_request)

        def connection_lost(self, exc: Exception | None) -> None:
            self._late.cancel()
            super().connection_lost(exc)

        def _close_without_request(self) -> None:
            # None until a request's head has come, whatever its annotation says
            if getattr(self, "cycle", None) is None:
                self.transport.close()

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="auto",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        headers=[("Connection", "close")],
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD,
        timeout_graceful_shutdown=int(LEAVE_S),
    )
    return Server(config)


async def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP."""
    running = server(app)

    def stop() -> None:
        running.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    await running.serve(sockets=[listener])
