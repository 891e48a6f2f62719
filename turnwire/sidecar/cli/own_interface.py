"""`turnwire claude …`: an agent's own interface as ever, and its session served beside it."""

import os
import sys
from typing import NoReturn

import typer

from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.attach import is_simple
from turnwire.sidecar.cli.options import configured

QR = "TURNWIRE_QR"
"""The variable that has the URL drawn; options are the agent's own."""

AGENTS = {"claude": "Claude Code", "codex": "Codex"}
"""The agents with such a command, and their titles."""

_ALONE = frozenset({"-h", "--help", "-v", "-V", "--version", "-p", "--print"})
"""Arguments of calls that open no interface."""

_COMMANDS = frozenset({
    "agents", "apply", "app-server", "auth", "cloud", "completion", "config", "debug", "doctor", "exec", "features", "help",
    "install", "login", "logout", "mcp", "mcp-server", "migrate-installer", "plugin", "proto", "review", "sandbox",
    "setup-token", "update", "upgrade",
})  # fmt: skip
"""Commands of these agents that open no interface."""


def opens_none(arguments: list[str]) -> bool:
    """Say whether a call of an agent opens no interface, so it runs as it would without turnwire."""
    return bool(arguments and arguments[0] in _COMMANDS) or not _ALONE.isdisjoint(arguments)


def run(agent: str, context: typer.Context) -> NoReturn:
    """Run an agent's own interface with its arguments as they are, and serve the session."""
    from turnwire.config.agents import AgentNotFoundError, interface
    from turnwire.frontends.terminal.problems import NotAttached
    from turnwire.sidecar.serving.attached import NotStarted, run_native
    from turnwire.sidecar.serving.qr import NoCode, drawn, reachable

    arguments, settings = context.args, configured(context)
    with plain_errors(AgentNotFoundError):
        argv = interface(agent, settings.agents, None)
    if is_simple() or opens_none(arguments):
        try:
            os.execv(argv[0], [*argv, *arguments])
        except OSError as error:
            fail(f"{argv[0]} cannot be started: {error.strerror}")

    def picture(url: str) -> str:
        return drawn(reachable(url, settings.host, settings.public_url))

    qr = None if os.environ.get(QR) in {None, "", "0"} else picture
    token = None if settings.token is None else settings.token.get_secret_value()
    environments = {name: one.env for name, one in settings.agents.items()}
    serving = ["run", "--agent", agent, "--idle", "--port", "0"]
    with plain_errors(NotAttached, NotStarted, NoCode):
        code = run_native(
            serving, settings.state_dir, token, given=arguments, environments=environments, qr=qr
        )
    sys.exit(code)


def _add(agent: str, title: str) -> None:
    @app.command(
        agent,
        short_help=f"Run {title}'s own interface, and serve its session.",
        epilog=examples(f"turnwire {agent}   # as `{agent}`, and a URL for other frontends"),
        context_settings={
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "help_option_names": [],
        },
    )
    def command(context: typer.Context) -> None:
        context.params["config"] = None
        run(agent, context)


for _agent, _title in AGENTS.items():
    _add(_agent, _title)
