"""The commands that speak over this process's own stdin and stdout: runner and stdio."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.core import TyperCommand

from turnwire.sidecar.cli.application import app, examples
from turnwire.sidecar.cli.options import (
    AgentFamilyOption,
    ConfigOption,
)


class _RunnerCommand(TyperCommand):
    """Reports a wrong call as JSON: every line of a runner's stderr is JSON."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            from turnwire.sidecar.streams.runner_command import say_fatal

            say_fatal(f"{error.format_message().rstrip('.')}; see turnwire runner --help.")
            raise typer.Exit(2) from None


@app.command(
    "runner",
    short_help="Run many agents over one stdin and stdout.",
    epilog=examples(
        'echo \'{"type":"run","id":"a","params":{"model":"sonnet","message":{"type":"user","message":{"role":"user","content":"hi"}},"rate_limit_max_retries":0}}\' | turnwire runner --agent demo',
        "turnwire runner --family acp -- my-agent --stdio",
    ),
    cls=_RunnerCommand,
)
def runner_command(
    *,
    cli: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- CLI ARGUMENTS...",
            help="The CLI to start for each run, with its own arguments.",
            show_default="the configured agent",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="An agent that `turnwire agents` lists, or a configured name.", show_default="claude"
        ),
    ] = None,
    family: AgentFamilyOption = None,
    at_end: Annotated[
        Literal["drain", "cancel"],
        typer.Option(help="At the end of stdin: wait for running runs, or cancel them."),
    ] = "drain",
    normalized: Annotated[
        bool, typer.Option("--normalized", help="Write typed events instead of the agent's lines.")
    ] = False,
    max_running: Annotated[
        int, typer.Option(help="Maximum number of agents at a time; further runs wait.", min=1)
    ] = 256,
    log_file: Annotated[
        Path | None, typer.Option(help="Log file.", show_default="runner.log in the state directory")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run many prompts over one stdin, stdout and stderr, as NDJSON."""
    from turnwire.config.agents import AgentNotFoundError, with_agent_of_argv
    from turnwire.config.settings import ConfigurationError, load
    from turnwire.runner.server import RunnerOptions
    from turnwire.sidecar.streams.runner_command import run, say_fatal

    if family and not cli:
        say_fatal("--family says what the CLI after `--` speaks; of a configured agent [agents.NAME] says it")
        raise typer.Exit(2)
    if agent and cli:
        say_fatal(f"there is --agent {agent} and a command line ({cli[0]}); give one of them")
        raise typer.Exit(2)
    warnings: list[str] = []
    try:
        settings = load({"agent": agent}, config, warn=warnings.append)
        if cli:
            name, agents = with_agent_of_argv(settings.agents, cli, family)
            settings = settings.model_copy(update={"agent": name, "agents": agents})
    except (AgentNotFoundError, ConfigurationError) as error:
        say_fatal(str(error))
        raise typer.Exit(2) from None
    options = RunnerOptions(at_end=at_end, normalized=normalized, max_running=max_running)
    raise typer.Exit(run(settings, options, log_file, warnings))


@app.command(
    "stdio",
    short_help="Be one agent on stdin and stdout, for SDKs.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def stdio_command(context: typer.Context) -> None:
    """Be one agent on stdin and stdout, over any CLI: for the official SDK, the miriad-code protocol and JSON-RPC."""
    from turnwire.sidecar.streams.stdio.command import run

    raise typer.Exit(run(context.args))
