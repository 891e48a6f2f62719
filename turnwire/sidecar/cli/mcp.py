"""The frontend for assistants and agents that speak MCP: a client of a hub, here or elsewhere."""

from typing import TYPE_CHECKING, Annotated

import typer

from turnwire.frontends.plugins import FrontendPlugin
from turnwire.sidecar.cli.application import check_address, fail
from turnwire.sidecar.cli.options import ConfigOption, StateDir, configured
from turnwire.sidecar.cli.web_frontend import AllowedHost, AllowedOrigin, Host, Port, serve_pages

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from turnwire.config.settings import Settings

DEFAULT_PORT = 8793
EXTRA = "the MCP server is an extra: pip install 'turnwire[mcp]'"


def mcp_command(
    context: typer.Context,
    *,
    connect: Annotated[
        str | None,
        typer.Option(help="The hub's URL, as turnwire prints it.", show_default="the one that runs here"),
    ] = None,
    decide: Annotated[
        bool, typer.Option("--decide", help="Offer the tool that answers permission requests.")
    ] = False,
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Serve HTTP to clients that show the hub's token, instead of standard input."
        ),
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    allowed_host: AllowedHost = None,
    allowed_origin: AllowedOrigin = None,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """Serve MCP: an assistant starts sessions, prompts them, reads them and answers their questions."""
    settings = configured(context)
    url, token = _hub(settings, connect)
    try:
        from turnwire._runtime.version import VERSION
        from turnwire.frontends.mcp.server import create_server, to_hub
    except ModuleNotFoundError as missing:
        fail(f"{missing.name} is not installed; {EXTRA}")
    server = create_server(to_hub(url, token), decides=decide, version=VERSION)
    if not http:
        import asyncio

        asyncio.run(server.run_stdio_async())
        return

    def make(hosts: list[str], any_address: bool) -> "ASGIApp":
        from turnwire._runtime.origins import RequestPolicy
        from turnwire.frontends.mcp.serving import http_app

        policy = RequestPolicy.of((*(allowed_host or ()), *hosts), allowed_origin or (), any_address)
        return http_app(server, token, policy)

    serve_pages("mcp", "/mcp", connect=url, host=host, port=port, log_level=settings.log_level, make=make)


def _hub(settings: "Settings", connect: str | None) -> tuple[str, str]:
    """Return the hub's address and the token for it; fails with one sentence."""
    from urllib.parse import parse_qs

    from turnwire.config.running import running

    if connect is None:
        found = list(running(settings))
        if len(found) != 1:
            many = "several run here" if found else "no turnwire runs here"
            fail(f"{many}; give its URL with --connect")
        return found[0]
    check_address(connect)
    address, _, carried = connect.partition("#")
    token = next(iter(parse_qs(carried).get("token", [])), None)
    if token is None and settings.token is not None:
        token = settings.token.get_secret_value()
    if token is None:
        fail("no token was given; the URL that turnwire prints has one, or set TURNWIRE_TOKEN")
    return address, token


MCP = FrontendPlugin(
    summary="Let assistants and agents lead sessions, over MCP.",
    command=mcp_command,
    examples=(
        "turnwire mcp   # what an assistant starts, beside `turnwire serve`",
        "turnwire mcp --connect 'http://127.0.0.1:8790/#token=…' --decide",
    ),
)
