"""The command line: one function per command. Each imports what it needs when it runs.

Filters and stand-ins are started often, for little work. Those that parse their arguments themselves do not wait for the
application of the other commands. The application contains them too, for `turnwire --help`.
"""

import os
import signal
import sys

from turnwire.sidecar.process import garbage


def main() -> None:
    """Run the command line."""
    garbage.starting()
    try:
        match sys.argv[1:]:
            case ["translate", *arguments]:
                from turnwire.sidecar.cli.translate import main as translate

                sys.exit(translate(arguments))
            case ["agent", *arguments]:
                from turnwire.scripted_agent.command import main as agent

                garbage.started()
                sys.exit(agent(arguments))
            case ["stdio", *arguments]:
                _keep_secrets()
                from turnwire.sidecar.streams.stdio.command import run as stdio

                sys.exit(stdio(arguments))
            case arguments:
                _keep_secrets(always=True)
                from turnwire.sidecar.cli.commands import application

                application(next(iter(arguments), None))()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _keep_secrets(*, always: bool = False) -> None:
    """Hide the tokens in our environment from other processes, and those in files that may contain new ones."""
    from turnwire.config import secrecy

    try:
        secrecy.restart_without_secrets()
    except secrecy.SecretsNotPassed as error:
        sys.exit(f"turnwire: {error}")
    if always or secrecy.removed_variables():
        secrecy.protect_memory()
    if always and os.getpid() == 1:
        from turnwire.sidecar.process.first_process import become_first

        become_first()
