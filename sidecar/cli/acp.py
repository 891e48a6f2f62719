"""The command that editors start: acp."""

from typing import Annotated

import typer

from sidecar.cli.application import ConfigOption, app, fail
from sidecar.cli.live import (
    Agent,
    Host,
    Journal,
    LogLevel,
    Model,
    PolicyOption,
    Port,
    Record,
    RecordDir,
    Rules,
    StateDir,
    configured,
    serving,
)


@app.command("acp")
def acp_command(
    context: typer.Context,
    *,
    connect: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A running turnwire to connect to, instead of a sidecar in this process; its token by TURNWIRE_TOKEN, "
            "TURNWIRE_TOKEN_FILE or in the URL.",
            show_default=False,
        ),
    ] = None,
    agent: Agent = None,
    policy: PolicyOption = None,
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
    try:
        from sidecar.acp.command import serve_elsewhere, serve_here
    except ModuleNotFoundError as error:
        if error.name != "turnwire_client":
            raise
        fail("this needs the Python client; install it with: pip install 'turnwire[acp]'")
    settings = configured(context)
    serving(serve_here(settings) if connect is None else serve_elsewhere(settings, connect, agent))
