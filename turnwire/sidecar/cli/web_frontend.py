"""Shared by the commands that serve a web protocol in front of a hub: options, the listening socket, the end."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from turnwire.sidecar.cli.application import check_address, fail

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Connect = Annotated[
    str,
    typer.Option(help="The hub: its address, or the URL that turnwire prints; a token in it is not used."),
]
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(help="Host name to accept besides loopback; repeatable."),
]
AllowedOrigin = Annotated[
    list[str] | None, typer.Option(help="Origin of pages that may use this server; repeatable.")
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"], typer.Option(help="Lowest level that is logged.")
]


def serve_pages(
    name: str,
    path: str,
    *,
    connect: str,
    host: str,
    port: int,
    log_level: str,
    make: Callable[[list[str], bool], "ASGIApp"],
) -> None:
    """Serve an application until a signal. `make` gets the allowed hosts, and whether literal addresses are allowed.

    `name` is the command and its extra, `path` the path that its line of readiness names.
    """
    import asyncio

    from turnwire._runtime.origins import is_loopback
    from turnwire.sidecar.process import garbage, logs

    check_address(connect)
    try:
        from turnwire.frontends.web.serving import listening, serve
    except ModuleNotFoundError as missing:
        fail(f"{missing.name} is not installed; it is part of an extra: pip install 'turnwire[{name}]'")
    logs.configure(log_level)
    try:
        listener = listening(host, port)
    except OSError as error:
        from turnwire.sidecar.serving.listening import reason_of

        fail(f"cannot listen on {host}:{port}: {reason_of(error)}; take another with --host and --port")
    try:
        served = make([] if is_loopback(host) else [host], not is_loopback(host))
    except ModuleNotFoundError as missing:
        fail(f"{missing.name} is not installed; it is part of an extra: pip install 'turnwire[{name}]'")
    except ValueError as error:  # an option of the caller's
        fail(str(error), 2)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"turnwire {name} is ready; POST http://{shown}:{listener.getsockname()[1]}{path}")
    garbage.started()
    with listener:
        asyncio.run(serve(served, listener))
