"""The module of each command. Only the called command's module is imported, so a start pays for no other."""

from importlib import import_module
from typing import TYPE_CHECKING

import typer

from turnwire.protocol.visible import visible
from turnwire.sidecar.cli.application import app, examples

if TYPE_CHECKING:
    from turnwire.frontends.plugins import FrontendPlugin

MODULES = {
    "live": ("run", "serve", "hub", "replay"),
    "agents": ("agents",),
    "attach": ("attach",),
    "conform": ("conform",),
    "doctor": ("doctor",),
    "filters": ("translate", "agent", "schema", "inspect", "redact"),
    "journal": ("journal",),
    "fleet": ("fleet",),
    "history": ("sessions", "search", "usage", "export"),
    "record": ("record",),
    "rules": ("rules",),
    "stdio": ("runner", "stdio"),
    "own_interface": ("claude", "codex"),
    "token": ("token",),
    "trust": ("trust",),
    "worktrees": ("worktrees",),
}
"""Modules of this package that add commands to the application, in the order of its help -> the commands' names."""


FRONTENDS = {"agui": "AGUI", "usechat": "USECHAT", "mcp": "MCP", "acp": "ACP"}
"""turnwire's own frontends: command and module, and the name of its FrontendPlugin."""


def application(called: str | None = None) -> typer.Typer:
    """Return the application with all commands, or only with those of the called command's module."""
    having = [module for module, commands in MODULES.items() if called in commands]
    wanted = [name for name in FRONTENDS if name == called]
    if not having and not wanted:
        having, wanted = list(MODULES), list(FRONTENDS)
        if called is not None and not called.startswith("-"):
            _add_registered(called)
    for module in having:
        import_module(f"turnwire.sidecar.cli.{module}")
    for name in wanted:
        _add(name, getattr(import_module(f"turnwire.sidecar.cli.{name}"), FRONTENDS[name]))
    return app


def _add_registered(called: str) -> None:
    """Add the frontend that another distribution registers under this name, if there is one."""
    from turnwire.frontends.plugins import BadFrontend, registered

    try:
        plugin = registered(called)
    except BadFrontend as error:
        typer.echo(f"turnwire: {visible(str(error))}", err=True)
        raise SystemExit(1) from error
    if plugin is not None:
        _add(called, plugin)


def _add(name: str, frontend: "FrontendPlugin") -> None:
    epilog = examples(*frontend.examples) if frontend.examples else None
    app.command(name, short_help=frontend.summary, epilog=epilog)(frontend.command)
