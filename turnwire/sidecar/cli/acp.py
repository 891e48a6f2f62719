"""The frontend for editors: an agent of the Agent Client Protocol on stdin and stdout."""

from typing import Annotated

import typer

from turnwire.frontends.plugins import FrontendPlugin
from turnwire.sidecar.cli.application import check_address
from turnwire.sidecar.cli.event_loop import serving
from turnwire.sidecar.cli.options import (
    Agent,
    ConfigOption,
    Host,
    Journal,
    LogLevel,
    Model,
    PolicyOption,
    Port,
    Record,
    RecordDir,
    Rules,
    Sandbox,
    StateDir,
    configured,
)


def acp_command(
    context: typer.Context,
    *,
    connect: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Running turnwire to connect to, instead of a sidecar in this process. Its token comes from TURNWIRE_TOKEN, "
            "TURNWIRE_TOKEN_FILE or the URL.",
            show_default=False,
        ),
    ] = None,
    agent: Agent = None,
    policy: PolicyOption = None,
    sandbox: Sandbox = None,
    model: Model = None,
    rules: Rules = None,
    host: Host = None,
    port: Port = None,
    journal: Journal = None,
    state_dir: StateDir = None,
    record: Record = None,
    record_dir: RecordDir = None,
    log_level: LogLevel = None,
    config: ConfigOption = None,
) -> None:
    """Be an agent of the Agent Client Protocol on stdin and stdout: for Zed, JetBrains, Neovim, Emacs."""
    from turnwire.sidecar.streams.acp.command import serve_elsewhere, serve_here

    if connect is not None:
        check_address(connect)
    settings = configured(context)
    serving(serve_here(settings) if connect is None else serve_elsewhere(settings, connect, agent))


ACP = FrontendPlugin(
    summary="Be an agent for editors: Zed, JetBrains, Neovim, Emacs.",
    command=acp_command,
    examples=(
        "turnwire acp --agent demo                          # what the editor starts",
        "turnwire acp --connect http://127.0.0.1:8790       # with the sessions of a turnwire that runs",
    ),
)
