"""The frontend for editors: an agent of the Agent Client Protocol on stdin and stdout."""

from typing import Annotated

import typer

from turnwire.frontends.plugins import FrontendPlugin
from turnwire.sidecar.cli import options
from turnwire.sidecar.cli.application import check_address
from turnwire.sidecar.cli.event_loop import serving


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
    agent: options.Agent = None,
    policy: options.PolicyOption = None,
    sandbox: options.Sandbox = None,
    model: options.Model = None,
    rules: options.Rules = None,
    host: options.Host = None,
    port: options.Port = None,
    journal: options.Journal = None,
    state_dir: options.StateDir = None,
    record: options.Record = None,
    record_dir: options.RecordDir = None,
    log_level: options.LogLevel = None,
    config: options.ConfigOption = None,
) -> None:
    """Be an agent of the Agent Client Protocol on stdin and stdout: for Zed, JetBrains, Neovim, Emacs."""
    from turnwire.sidecar.streams.acp.command import serve_elsewhere, serve_here

    if connect is not None:
        check_address(connect)
    settings = options.configured(context)
    serving(serve_here(settings) if connect is None else serve_elsewhere(settings, connect, agent))


ACP = FrontendPlugin(
    summary="Be an agent for editors: Zed, JetBrains, Neovim, Emacs.",
    command=acp_command,
    examples=(
        "turnwire acp --agent demo                          # what the editor starts",
        "turnwire acp --connect http://127.0.0.1:8790       # with the sessions of a turnwire that runs",
    ),
)
