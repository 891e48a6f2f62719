"""The command that looks whether turnwire can work here."""

from pathlib import Path
from typing import Annotated

import typer

from turnwire.sidecar.cli import options
from turnwire.sidecar.cli.application import app, examples, plain_errors


def _unknown_family(family: str | None) -> tuple[type[Exception], ...]:
    """Return the error class of an unknown family. Without a name the families are not imported."""
    if family is None:
        return ()
    from turnwire.normalize.families import UnknownFamily

    return (UnknownFamily,)


@app.command(
    "doctor",
    short_help="Check that turnwire can work here.",
    epilog=examples(
        "turnwire doctor",
        "turnwire doctor --agent gemini",
        "turnwire doctor recording.jsonl   # what is new in it to turnwire",
    ),
)
def doctor_command(
    context: typer.Context,
    *,
    file: Annotated[
        Path | None, typer.Argument(help="Recording to compare with the known types and fields.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    family: options.FamilyOption = None,
    agent: options.Agent = None,
    rules: options.Rules = None,
    host: options.Host = None,
    port: options.Port = None,
    journal: options.Journal = None,
    state_dir: options.StateDir = None,
    record: options.Record = None,
    record_dir: options.RecordDir = None,
    config: options.ConfigOption = None,
) -> None:
    """Check that turnwire can work here: CLI, ports, journal, collector, and what is new in a recording."""
    import asyncio

    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.checks.doctor import run
    from turnwire.sidecar.cli.standard_input import on_disk

    settings = options.configured(context)
    with (
        plain_errors(RecordingError, *_unknown_family(family)),
        on_disk([] if file is None else [file]) as found,
    ):
        asyncio.run(run(settings, found[0] if found else None, as_json=as_json, family=family))
