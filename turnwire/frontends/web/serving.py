"""Serves an ASGI application with uvicorn on one listening socket, until a signal stops it."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 512
"""Most connections at a time. The server answers one more with 503."""

HEAD = 64 * 1024
"""Largest head of a request, in bytes."""

HEAD_S = 10.0
"""Seconds until a connection without a complete head is closed."""

LEAVE_S = 2.0
"""Seconds that open runs have to end when the server stops. The sessions continue."""


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=CONNECTIONS)


class Server(uvicorn.Server):
    """uvicorn's server without its signal handlers: `serve` has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def server(app: ASGIApp, *, head_s: float = HEAD_S) -> Server:
    """Return a server with bounds on what a client can send before it shows a token."""

    class Protocol(H11Protocol):
        """Closes a connection whose first head does not arrive in time. Each answer closes the connection, so there is no second head."""

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
