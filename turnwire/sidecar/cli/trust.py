"""The command that trusts a folder's configuration file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from turnwire.sidecar.cli.application import app, examples, fail, plain_errors

SECRET = ("token", "view_token")
"""Settings whose values are hidden."""


@app.command(
    "trust",
    short_help="Accept all settings of this folder's turnwire.toml.",
    epilog=examples("turnwire trust            # ./turnwire.toml, as it is now", "turnwire trust --revoke"),
)
def trust_command(
    file: Annotated[
        Path, typer.Argument(help="The turnwire.toml, or its folder.", show_default="./turnwire.toml")
    ] = Path(),
    *,
    revoke: Annotated[bool, typer.Option("--revoke", help="Stop trusting it.")] = False,
) -> None:
    """Accept all settings of a folder's turnwire.toml, as it is now. After a change, trust it again."""
    from turnwire.config.settings import ConfigurationError, read_file, trust_store
    from turnwire.config.trust import PROJECT_FILE, full_name
    from turnwire.protocol.visible import ordered, visible_line

    if file.is_dir():
        file /= PROJECT_FILE
    if file.name == PROJECT_FILE and not revoke and not file.exists():
        fail(f"there is no {full_name(file)} to trust; name the folder that has one")
    if file.name != PROJECT_FILE:
        fail(f"only a {PROJECT_FILE} needs trust; name {file} with --config", 2)
    store, name = trust_store(), visible_line(str(full_name(file)))
    with plain_errors(ConfigurationError, OSError):
        if revoke:
            if not store.revoke(file):
                fail(f"{name} is not trusted")
            typer.echo(f"{name} is trusted no more")
            return
        found = read_file(file)
        store.trust(file, found.content)
    typer.echo(f"{name} is trusted as it is now; these settings count from here on:")
    for setting in found.ignored():
        # a value is a stranger's text: nothing in it may move the cursor or turn the line around
        shown = "(not shown)" if setting in SECRET else json.dumps(found.settings[setting], default=str)
        typer.echo(ordered(f"  {setting} = {shown}"))
