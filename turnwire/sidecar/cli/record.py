"""The command that records an agent's own streams."""

from pathlib import Path
from typing import Annotated

import typer

from turnwire.sidecar.cli.application import app, examples, plain_errors
from turnwire.sidecar.cli.options import ConfigOption, configured


@app.command(
    "record",
    short_help="Run an agent and record everything that it reads and writes.",
    epilog=examples(
        "turnwire record gemini -- -p 'Say hi' --output-format stream-json",
        "turnwire record codex --redact --out bug -- exec --json 'Say hi' < /dev/null",
    ),
)
def record_command(
    context: typer.Context,
    *,
    agent: Annotated[str, typer.Argument(help="An agent that `turnwire agents` lists, or a program.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- ARGUMENTS...",
            help="Arguments of its program.",
            show_default="those that make it speak with turnwire",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="New folder for the recording. It must not exist.", show_default="AGENT-TIME, here"
        ),
    ] = None,
    workspace: Annotated[Path, typer.Option(help="Folder that the agent works in.")] = Path(),
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace secrets, e-mail addresses and home paths.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Run an agent, pass its streams on, and write them to a folder with times, arguments and the files that it changed.

    Standard input goes to the agent, unless it is a terminal. Ctrl-C interrupts the agent and ends the recording. The exit code
    is the agent's.
    """
    from datetime import UTC, datetime

    from turnwire.adapter.process.cli import ProgramNotFound
    from turnwire.adapter.sandbox.settings import SandboxUnavailable
    from turnwire.config.agents import AgentNotFoundError
    from turnwire.sidecar.process.signals import die_by
    from turnwire.sidecar.streams.record.command import RecordError, command_of, record

    settings = configured(context)
    name = Path(agent).name
    out = out or Path(f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    with plain_errors(RecordError, ProgramNotFound, AgentNotFoundError, SandboxUnavailable, OSError):
        found = command_of(agent, arguments or [], settings)
        code = record(found, out, workspace.resolve(), settings, redact=redact)
    raise typer.Exit(code if code >= 0 else die_by(-code))
