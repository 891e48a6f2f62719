"""Serves the application by itself: one listening socket, uvicorn behind it, until it is told to stop."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

CONNECTIONS = 512
"""Connections at a time; one more is answered 503."""

HEAD = 64 * 1024
"""Bytes of a request's head."""

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


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve`, which ends well with them."""
        yield


async def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD,
        timeout_graceful_shutdown=int(LEAVE_S),
    )
    server = _Server(config)

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    await server.serve(sockets=[listener])
