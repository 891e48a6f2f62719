"""The command for worktrees that turnwire made."""

from typing import Annotated

import typer

from turnwire.sidecar.cli.application import app, examples, plain_errors
from turnwire.sidecar.cli.attach import hubs_at
from turnwire.sidecar.cli.options import ConfigOption, StateDir, configured


@app.command(
    "worktrees",
    short_help="List the git worktrees of sessions, and remove unused ones.",
    epilog=examples(
        "turnwire worktrees                     # each with its branch, its sessions, and what would be lost",
        "turnwire worktrees --remove PATH",
        "turnwire worktrees --unused            # remove all that no session uses and that have no unsaved work",
    ),
)
def worktrees_command(
    context: typer.Context,
    *,
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Remove this worktree. Its branch stays; repeatable."),
    ] = None,
    unused: Annotated[
        bool,
        typer.Option("--unused", help="Remove all without a session and without unsaved work."),
    ] = False,
    connect: Annotated[
        str | None, typer.Option(help="The hub's URL.", show_default="those that run here")
    ] = None,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """List the git worktrees that turnwire made for sessions, or remove those that nobody uses.

    Asks the turnwires that run here. A worktree that a session uses, or that has work saved nowhere else, stays.
    """
    import asyncio

    from turnwire.frontends.terminal.problems import NotAttached
    from turnwire.frontends.terminal.worktrees import worktrees

    hubs = hubs_at(configured(context), connect)
    with plain_errors(NotAttached):
        lines, is_done = asyncio.run(worktrees(hubs, remove=remove or (), unused=unused))
        for line in lines:
            typer.echo(line)
        if not is_done:
            raise typer.Exit(1)
