"""The frontend for web pages that use the AI SDK's `useChat`: a client of a hub, here or elsewhere."""

from typing import TYPE_CHECKING

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

DEFAULT_PORT = 8792


def usechat_command(
    *,
    connect: Connect = "http://127.0.0.1:8790",
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    allowed_host: AllowedHost = None,
    allowed_origin: AllowedOrigin = None,
    log_level: LogLevel = "info",
) -> None:
    """Serve the AI SDK's UI message stream, for useChat: POST /ai with a token of the hub; a chat's id is the session's."""

    def make(hosts: list[str], any_address: bool) -> "ASGIApp":
        from turnwire.frontends.ai_sdk.app import create_app

        return create_app(
            connect,
            allowed_hosts=[*(allowed_host or ()), *hosts],
            allowed_origins=allowed_origin or (),
            any_address=any_address,
        )

    serve_pages("usechat", "/ai", connect=connect, host=host, port=port, log_level=log_level, make=make)


USECHAT = FrontendPlugin(
    summary="Serve web pages that use the AI SDK (useChat).",
    command=usechat_command,
    examples=("turnwire serve", "turnwire usechat --connect http://127.0.0.1:8790   # beside it"),
)
