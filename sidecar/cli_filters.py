"""The commands that read and write files: translate, inspect, redact, schema; and the scripted agent."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from sidecar.command_line import app, plain_errors

FieldLimit = Annotated[
    int, typer.Option(help="Bytes above which a field of a tool payload is cut.", min=1024, show_default=True)
]

DEFAULT_FIELD_LIMIT = 262_144


@app.command("translate")
def translate_command(
    file: Annotated[
        Path | None, typer.Argument(help="CLI stdout, or a recording; standard input when absent.")
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Say on stderr what became of every line.")] = False,
    field_limit: FieldLimit = DEFAULT_FIELD_LIMIT,
) -> None:
    """Translate CLI stdout into events, one JSON object a line."""
    from sidecar.translate import InputError, run
    from tracing.recording import RecordingError

    with plain_errors(InputError, RecordingError):
        run(file, sys.stdout.buffer, field_limit=field_limit, stats=stats)


@app.command(
    "agent",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def agent_command(context: typer.Context) -> None:
    """Run the scripted agent: a stand-in CLI that plays a script or a recording."""
    from scripted_agent.command import main as scripted_agent

    raise typer.Exit(scripted_agent(context.args))


@app.command("schema")
def schema_command(
    what: Annotated[
        Literal["events", "commands", "frames", "asyncapi"], typer.Argument(help="Which schema.")
    ] = "asyncapi",
) -> None:
    """Print the wire's JSON Schema, or the AsyncAPI document of all of it."""
    from hub.schema import document

    typer.echo(json.dumps(document(what), indent=2, ensure_ascii=False))


@app.command("inspect")
def inspect_command(
    file: Annotated[Path, typer.Argument(help="Recording, folder with a timeline, or CLI stdout.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what happened in a recording: turns, tools, permissions, cost, and where the time went."""
    from sidecar.inspect_command import run
    from tracing.recording import RecordingError

    with plain_errors(RecordingError):
        run(file, as_json=as_json)


@app.command("redact")
def redact_command(
    file: Annotated[Path, typer.Argument(help="Recording or CLI stdout.")],
    out: Annotated[Path, typer.Argument(help="The redacted copy; must not exist.")],
) -> None:
    """Make a recording shareable: secrets, tokens, e-mail addresses and home paths replaced, sizes and times kept."""
    from sidecar.redact_command import run

    with plain_errors(OSError):
        run(file, out)
