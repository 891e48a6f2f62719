"""The commands that read and write files: translate, inspect, redact, schema; and the scripted agent."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption, FamilyOption, PricesOption, configured

if TYPE_CHECKING:
    from turnwire.normalize.recordings.session_files import ConversationSummary

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""For commands that read their arguments themselves."""


@app.command("translate", short_help="Turn a CLI's stdout into events: a filter.", context_settings=PASSED_ON)
def translate_command(context: typer.Context) -> None:
    """Translate CLI stdout into events, one JSON object a line."""
    from turnwire.sidecar.cli.translate import main

    raise typer.Exit(main(context.args))


@app.command(
    "agent", short_help="Play a script as if it were a CLI, for tests and demos.", context_settings=PASSED_ON
)
def agent_command(context: typer.Context) -> None:
    """Run the scripted agent: a stand-in CLI that plays a script or a recording."""
    from turnwire.scripted_agent.command import main as scripted_agent

    raise typer.Exit(scripted_agent(context.args))


@app.command(
    "schema",
    short_help="Print the schemas of events, commands and frames.",
    epilog=examples(
        "turnwire schema events > events.json",
        "turnwire schema           # the AsyncAPI document of all of it",
    ),
)
def schema_command(
    what: Annotated[
        Literal["events", "commands", "results", "frames", "asyncapi"], typer.Argument(help="Which schema.")
    ] = "asyncapi",
) -> None:
    """Print a JSON Schema of the protocol, or the AsyncAPI document with all of them."""
    from turnwire.hub.schema import document
    from turnwire.protocol.visible import to_json

    typer.echo(to_json(document(what), indent=2))


@app.command(
    "inspect",
    short_help="Summarize a recording: what happened, what it cost.",
    epilog=examples(
        "turnwire inspect recording.jsonl", "turnwire inspect recording.jsonl --json | jq '.turns[].verdict'"
    ),
)
def inspect_command(
    context: typer.Context,
    *,
    file: Annotated[Path, typer.Argument(help="Recording, folder with a timeline, or CLI stdout.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    family: FamilyOption = None,
    prices: PricesOption = None,
    config: ConfigOption = None,
) -> None:
    """Summarize a recording (`-`: standard input): turns, tools, permissions, cost, and where the time went."""
    from turnwire.normalize.families import UnknownFamily
    from turnwire.recordings.filters.inspect import run
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.cli.standard_input import on_disk
    from turnwire.tracing.prices import Prices, PricesError
    from turnwire.tracing.prices import prices as read_prices

    @cache
    def needed() -> Prices:
        return read_prices(configured(context).prices)

    def beside(identity: str, outline: "ConversationSummary") -> float:
        from turnwire.history.history import known_beside

        return known_beside(configured(context), identity, outline, needed)

    with plain_errors(RecordingError, PricesError, UnknownFamily), on_disk([file]) as (found,):
        if prices is not None:
            needed()
        run(found, needed, as_json=as_json, family=family, known_beside=beside)


@app.command(
    "redact",
    short_help="Copy a recording without its secrets.",
    epilog=examples("turnwire redact recording.jsonl clean.jsonl"),
)
def redact_command(
    file: Annotated[Path, typer.Argument(help="Recording, folder with a timeline, or CLI stdout.")],
    out: Annotated[Path, typer.Argument(help="The copy to write; it must not exist. `-`: standard output.")],
    *,
    family: FamilyOption = None,
) -> None:
    """Copy a recording, and replace its secrets, tokens, e-mail addresses and home paths. Sizes and times stay.

    With --family NAME, nothing is copied of a file of which that family can read no line.
    """
    from turnwire.normalize.families import UnknownFamily
    from turnwire.recordings.filters.redact import run
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.cli.standard_input import DASH, on_disk

    try:
        with plain_errors(RecordingError, UnknownFamily), on_disk([file]) as (found,):
            run(found, None if out == DASH else out, family)
    except FileExistsError as error:
        fail(f"{error.filename}: {error.strerror}; name a copy that does not exist yet")
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror}; name a recording to read and a copy to write")
