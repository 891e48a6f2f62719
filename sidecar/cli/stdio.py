"""The commands that speak over this process's own stdin and stdout: runner and stdio."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.core import TyperCommand

from sidecar.cli.application import ConfigOption, app


class _RunnerCommand(TyperCommand):
    """Says what is wrong with its call as its callers read it: every line of a runner's stderr is JSON."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            from sidecar.runner.command import say_fatal

            say_fatal(f"{error.format_message().rstrip('.')}; see turnwire runner --help.")
            raise typer.Exit(2) from None


@app.command("runner", cls=_RunnerCommand)
def runner_command(
    *,
    agent: Annotated[
        str | None, typer.Option(help="claude, demo, or a configured name.", show_default="claude")
    ] = None,
    at_end: Annotated[
        Literal["drain", "cancel"], typer.Option(help="What becomes of running runs at the end of stdin.")
    ] = "drain",
    normalized: Annotated[
        bool, typer.Option("--normalized", help="Events are AgentEvents instead of the CLI's lines.")
    ] = False,
    max_running: Annotated[int, typer.Option(help="CLIs at a time; further runs wait.", min=1)] = 256,
    log_file: Annotated[
        Path | None, typer.Option(help="Log file.", show_default="runner.log in the state directory")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run many agents over one stdin, stdout and stderr: NDJSON, a run each."""
    from runner.server import RunnerOptions
    from sidecar.config.settings import ConfigurationError, load
    from sidecar.runner.command import run, say_fatal

    warnings: list[str] = []
    try:
        settings = load({"agent": agent}, config, warn=warnings.append)
    except ConfigurationError as error:
        say_fatal(str(error))
        raise typer.Exit(2) from None
    options = RunnerOptions(at_end=at_end, normalized=normalized, max_running=max_running)
    raise typer.Exit(run(settings, options, log_file, warnings))


@app.command(
    "stdio",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def stdio_command(context: typer.Context) -> None:
    """Be one agent on stdin and stdout, over any CLI: for the official SDK, spec 1 and JSON-RPC."""
    from sidecar.stdio.command import run

    raise typer.Exit(run(context.args))
