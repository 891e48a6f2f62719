"""All commands but the filter's own start, as one application."""

from sidecar.cli import agents as cli_agents
from sidecar.cli import agui as cli_agui
from sidecar.cli import conform as cli_conform
from sidecar.cli import doctor as cli_doctor
from sidecar.cli import filters as cli_filters
from sidecar.cli import journal as cli_journal
from sidecar.cli import library as cli_library
from sidecar.cli import live as cli_live
from sidecar.cli import stdio as cli_stdio
from sidecar.cli import token as cli_token
from sidecar.cli import trust as cli_trust
from sidecar.cli.application import app

MODULES = (
    cli_agents,
    cli_agui,
    cli_conform,
    cli_filters,
    cli_journal,
    cli_library,
    cli_live,
    cli_doctor,
    cli_stdio,
    cli_token,
    cli_trust,
)
"""Modules whose import adds their commands to the application."""

__all__ = ["MODULES", "app"]
