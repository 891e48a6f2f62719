"""The command line: one command a function, each imports what it needs when it runs.

What goes wrong by the user's hand is one sentence on standard error and a non-zero exit: 2 for a wrong call or
configuration, 1 for work that could not be done.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

app = typer.Typer(
    name="turnwire",
    help="A sidecar for coding-agent CLIs: typed events over WebSocket, recordings, traces.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="TOML file with settings.", show_default=False)
]
FieldLimit = Annotated[
    int, typer.Option(help="Bytes above which a field of a tool payload is cut.", min=1024, show_default=True)
]

DEFAULT_FIELD_LIMIT = 262_144


def fail(message: str, code: int = 1) -> NoReturn:
    """Say what is wrong in one sentence, and exit."""
    typer.echo(f"turnwire: {message}", err=True)
    raise typer.Exit(code)


@contextmanager
def plain_errors(*kinds: type[Exception], code: int = 1) -> Iterator[None]:
    """Turn errors of these kinds, which are the caller's to mend, into one sentence each."""
    try:
        yield
    except kinds as error:
        fail(str(error), code)
    except BrokenPipeError:
        # The reader of our stdout has gone, as `head` does; nothing is left to say, and nothing to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from None
    except KeyboardInterrupt:
        raise typer.Exit(128 + signal.SIGINT) from None


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


def version_option(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from sidecar.version import VERSION

        typer.echo(f"turnwire {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=version_option, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A sidecar for coding-agent CLIs: typed events over WebSocket, recordings, traces."""


def main() -> None:
    """Run the command line."""
    from sidecar import cli_live, cli_stdio  # noqa: F401 - they register their commands

    app()
