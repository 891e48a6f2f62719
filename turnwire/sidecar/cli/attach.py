"""The command that makes a terminal a frontend."""

import os
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnwire.sidecar.cli.application import app, check_address, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption, StateDir, configured

if TYPE_CHECKING:
    from turnwire.config.settings import Settings
    from turnwire.frontends.terminal.command import Hub


@app.command(
    "attach",
    short_help="Follow and steer a session from this terminal.",
    epilog=examples(
        "turnwire attach                                   # the session that runs in this folder",
        "turnwire attach 'http://127.0.0.1:8790/#token=…'",
        "echo 'Run the tests.' | turnwire attach --plain   # lines in, lines out",
        "turnwire attach --native                          # the agent's own interface, then back again",
    ),
)
def attach_command(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION|URL",
            help="Session id, or the URL that turnwire prints.",
            show_default="the session of this folder",
        ),
    ] = None,
    *,
    connect: Annotated[
        str | None,
        typer.Option(
            help="The hub's URL, when SESSION names a session there.", show_default="those that run here"
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Lines in and lines out, without a screen.")] = False,
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="Run the agent's own interface here, on the same conversation. Others follow it."
        ),
    ] = False,
    end_background: Annotated[
        bool,
        typer.Option("--end-background", help="With --native: end what the agent runs in the background."),
    ] = False,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """Attach this terminal to a session: follow it, write prompts, answer what it asks."""
    import asyncio

    from turnwire.frontends.terminal.command import Native, attach
    from turnwire.frontends.terminal.guard import guarded
    from turnwire.frontends.terminal.problems import NotAttached
    from turnwire.sidecar.process import garbage

    settings = configured(context)
    url = target if target is not None and "://" in target else connect
    session = None if target is None or "://" in target else target
    hubs = hubs_at(settings, url, "the URL" if url == target else "--connect")
    garbage.started()
    if native:
        if url is not None:
            fail("--native needs a sidecar of this machine; leave the URL out", 2)
        if plain or is_simple():
            fail("--native needs a terminal that can be drawn on", 2)
        environments = {name: agent.env for name, agent in settings.agents.items()}
        with plain_errors(NotAttached), guarded() as guard:
            wanted = Native(guard, end_background=end_background, environments=environments)
            raise typer.Exit(
                asyncio.run(attach(hubs, session, folder=str(Path.cwd()), plain=False, native=wanted))
            )
    if end_background:
        fail("--end-background says what --native may end; give --native too", 2)
    simple = plain or is_simple()
    if not simple and (missing := interface_missing()):
        fail(missing)
    with plain_errors(NotAttached), nullcontext() if simple else guarded():
        raise typer.Exit(asyncio.run(attach(hubs, session, folder=str(Path.cwd()), plain=simple)))


def hubs_at(settings: "Settings", url: str | None, option: str = "--connect") -> "list[Hub]":
    """Return the hub at an address that an option names, with the configured token; without one those that run here."""
    from turnwire.config.running import running
    from turnwire.frontends.terminal.command import Hub

    if url is None:
        return [Hub(address, token) for address, token in running(settings)]
    check_address(url, option)
    return [Hub(url, None if settings.token is None or "#" in url else settings.token.get_secret_value())]


def is_simple() -> bool:
    """Say whether this is no terminal that can be drawn on."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return not is_terminal or os.environ.get("TERM") in {None, "", "dumb"}


def interface_missing() -> str | None:
    """Return what to do if the interface is not installed; None if it is."""
    if find_spec("textual") is not None:
        return None
    return "the interface is an extra: pip install 'turnwire[tui]'; `turnwire attach --plain` needs none"
