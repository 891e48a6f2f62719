"""The frontend for web pages that speak AG-UI: a client of a hub, here or elsewhere."""

from typing import TYPE_CHECKING, Annotated

import typer

from turnwire.frontends.plugins import FrontendPlugin
from turnwire.sidecar.cli.web_frontend import (
    AllowedHost,
    AllowedOrigin,
    Connect,
    Host,
    LogLevel,
    Port,
    serve_pages,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp

DEFAULT_PORT = 8791


def agui_command(
    *,
    connect: Connect = "http://127.0.0.1:8790",
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    allowed_host: AllowedHost = None,
    allowed_origin: AllowedOrigin = None,
    interrupt_when_gone: Annotated[
        bool, typer.Option("--interrupt-when-gone", help="Interrupt the turn when its client disconnects.")
    ] = False,
    log_level: LogLevel = "info",
) -> None:
    """Serve AG-UI, for CopilotKit and others: POST /agui/SESSION with a token of the hub."""

    def make(hosts: list[str], any_address: bool) -> "ASGIApp":
        from turnwire.frontends.agui.app import create_app

        return create_app(
            connect,
            allowed_hosts=[*(allowed_host or ()), *hosts],
            allowed_origins=allowed_origin or (),
            any_address=any_address,
            interrupt_when_gone=interrupt_when_gone,
        )

    serve_pages(
        "agui", "/agui/SESSION", connect=connect, host=host, port=port, log_level=log_level, make=make
    )


AGUI = FrontendPlugin(
    summary="Serve web pages that speak AG-UI (CopilotKit).",
    command=agui_command,
    examples=("turnwire serve", "turnwire agui --connect http://127.0.0.1:8790   # beside it"),
)
