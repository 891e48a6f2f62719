"""The command line: one command a function, each imports what it needs when it runs."""

import sys

FILTER = "translate"
"""The command that has a start of its own; see sidecar/cli/translate.py."""


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == [FILTER]:
        from sidecar.cli.translate import main as run_filter

        sys.exit(run_filter(sys.argv[2:]))
    from sidecar.cli.commands import app

    app()
