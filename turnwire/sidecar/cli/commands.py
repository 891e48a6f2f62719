"""Which module has which commands. Of them that alone is imported whose command is called: a start pays for no other."""

from importlib import import_module

import typer

from turnwire.sidecar.cli.application import app

MODULES = {
    "live": ("run", "serve", "hub", "replay"),
    "agents": ("agents",),
    "agui": ("agui",),
    "conform": ("conform",),
    "doctor": ("doctor",),
    "filters": ("translate", "agent", "schema", "inspect", "redact"),
    "journal": ("journal",),
    "library": ("sessions", "search", "usage", "export"),
    "rules": ("rules",),
    "stdio": ("runner", "stdio", "acp"),
    "token": ("token",),
    "trust": ("trust",),
}
"""Modules of this package whose import adds commands to the application, in the order of its help, with these commands' names."""


def application(called: str | None = None) -> typer.Typer:
    """Return the application, with all commands, or with those of the module that has the one that is called."""
    having = [module for module, commands in MODULES.items() if called in commands]
    for module in having or MODULES:
        import_module(f"turnwire.sidecar.cli.{module}")
    return app
