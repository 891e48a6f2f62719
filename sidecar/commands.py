"""All commands but the filter's own start, as one application."""

from sidecar import cli_doctor, cli_filters, cli_journal, cli_live, cli_stdio, cli_trust
from sidecar.command_line import app

MODULES = (cli_filters, cli_journal, cli_live, cli_doctor, cli_stdio, cli_trust)
"""Modules whose import adds their commands to the application."""

__all__ = ["MODULES", "app"]
