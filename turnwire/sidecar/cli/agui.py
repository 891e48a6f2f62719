"""The frontend for web pages that speak AG-UI: a client of a hub, here or elsewhere."""

from typing import Annotated, Literal

import typer

from turnwire.frontends.plugins import FrontendPlugin
from turnwire.sidecar.cli.application import check_address, fail

DEFAULT_PORT = 8791


def agui_command(
    *,
    connect: Annotated[
        str,
        typer.Option(
            help="The hub: its address, or the URL that turnwire prints; a token in it is not used."
        ),
    ] = "http://127.0.0.1:8790",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)
    ] = DEFAULT_PORT,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="Host name to accept besides loopback; repeatable."),
    ] = None,
    allowed_origin: Annotated[
        list[str] | None, typer.Option(help="Origin of pages that may use this server; repeatable.")
    ] = None,
    interrupt_when_gone: Annotated[
        bool, typer.Option("--interrupt-when-gone", help="Interrupt the turn when its client disconnects.")
    ] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="Lowest level that is logged.")
    ] = "info",
) -> None:
    """Serve AG-UI, for CopilotKit and others: POST /agui/SESSION with a token of the hub."""
    import asyncio

    from turnwire.sidecar.process import garbage, logs

    check_address(connect)

    try:
        from turnwire.frontends.agui.app import create_app
        from turnwire.frontends.agui.serving import is_loopback, listening, serve
    except ModuleNotFoundError as missing:
        fail(f"{missing.name} is not installed; AG-UI is an extra: pip install 'turnwire[agui]'")
    logs.configure(log_level)
    try:
        listener = listening(host, port)
    except OSError as error:
        from turnwire.sidecar.serving.listening import reason_of

        fail(f"cannot listen on {host}:{port}: {reason_of(error)}; take another with --host and --port")
    served = create_app(
        connect,
        allowed_hosts=[*(allowed_host or ()), *([] if is_loopback(host) else [host])],
        allowed_origins=allowed_origin or (),
        any_address=not is_loopback(host),
        interrupt_when_gone=interrupt_when_gone,
    )
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"turnwire agui is ready; POST http://{shown}:{listener.getsockname()[1]}/agui/SESSION")
    garbage.started()
    with listener:
        asyncio.run(serve(served, listener))


AGUI = FrontendPlugin(
    summary="Serve web pages that speak AG-UI (CopilotKit).",
    command=agui_command,
    examples=("turnwire serve", "turnwire agui --connect http://127.0.0.1:8790   # beside it"),
)
