"""The command line: one command a function, each imports what it needs when it runs.

Filters and stand-ins are started often, and for little: those that read their arguments themselves do not wait for the
application of all the other commands, which has them too for the sake of `turnwire --help`.
"""

import atexit
import gc
import signal
import sys

NEW_OBJECTS = 20_000
"""Objects made since the last time, after which Python looks for garbage: a start makes some 100,000, and keeps them."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(NEW_OBJECTS)
    # What is there at the end is let go whole: Python need not go through all that was loaded for what refers to itself.
    atexit.register(gc.freeze)
    try:
        match sys.argv[1:]:
            case ["translate", *arguments]:
                from sidecar.cli.translate import main as translate

                sys.exit(translate(arguments))
            case ["agent", *arguments]:
                from scripted_agent.command import main as agent

                sys.exit(agent(arguments))
            case ["stdio", *arguments]:
                _keep_secrets()
                from sidecar.streams.stdio.command import run as stdio

                sys.exit(stdio(arguments))
            case arguments:
                _keep_secrets(always=True)
                from sidecar.cli.commands import application

                application(next(iter(arguments), None))()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _keep_secrets(*, always: bool = False) -> None:
    """Let nobody else read the tokens we were given, and where there may be new ones, none of those either."""
    from sidecar.config import secrecy

    try:
        secrecy.take_secrets_out()
    except secrecy.SecretsNotPassed as error:
        sys.exit(f"turnwire: {error}")
    if always or secrecy.kept():
        secrecy.be_unreadable()
