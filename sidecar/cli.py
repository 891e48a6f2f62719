"""The command line: one command a function, each imports what it needs when it runs."""

from sidecar import cli_doctor, cli_filters, cli_journal, cli_live, cli_stdio
from sidecar.command_line import app

COMMANDS = (cli_filters, cli_journal, cli_live, cli_doctor, cli_stdio)
"""Modules whose import adds their commands to the application."""


def main() -> None:
    """Run the command line."""
    app()
