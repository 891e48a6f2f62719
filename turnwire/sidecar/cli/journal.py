"""The commands about the journal's file."""

from pathlib import Path
from typing import Annotated

import typer

from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption

journal = typer.Typer(help="Repair the journal file.", no_args_is_help=True)
app.add_typer(journal, name="journal")


@journal.callback()
def root() -> None:
    """The file that holds events and the list of sessions."""


@journal.command(
    "set-aside",
    short_help="Rename a journal that cannot be used.",
    epilog=examples("turnwire journal set-aside --state-dir .turnwire"),
)
def set_aside_command(
    state_dir: Annotated[
        Path | None, typer.Option(help="Directory of the journal.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Rename a journal that cannot be used. The next start creates a new one; the old file is not changed."""
    from turnwire.config.settings import ConfigurationError, load
    from turnwire.config.state_directory import journal_file
    from turnwire.journal.base import JournalError
    from turnwire.journal.sqlite.opening import set_aside
    from turnwire.protocol.visible import ordered

    with plain_errors(ConfigurationError, code=2):
        path = journal_file(load({"state_dir": state_dir}, config))
    if not path.exists() and not path.with_name(f"{path.name}-wal").exists():
        fail(f"there is no journal {path}; name its directory with --state-dir")
    with plain_errors(JournalError):
        moved = set_aside(path)
    typer.echo(ordered(f"{path} is now {moved.name}; the next start of turnwire begins a new journal"))
