"""Options that several commands have, and the settings that a command reads from its own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from turnwire.normalize.vocabulary import Policy, SandboxLevel
from turnwire.sidecar.cli.application import plain_errors

if TYPE_CHECKING:
    from turnwire.config.settings import Settings


def _is_run(family: str | None) -> str | None:
    """Check the name of a family. typer prints the error."""
    if family is not None:
        from turnwire.config.agents import checked_family

        try:
            checked_family(family)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return family


AgentFamilyOption = Annotated[
    str | None,
    typer.Option(
        "--family",
        help="Wire of the CLI after `--`: claude, qwen, acp or another registered family.",
        show_default="by its program, else claude",
        callback=_is_run,
    ),
]
FamilyOption = Annotated[
    str | None,
    typer.Option(
        "--family",
        help="Family of the agent, if its lines do not show it: claude, acp, gemini or another registered family.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Settings file (TOML). Other settings files are ignored.", show_default=False
    ),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")]
Port = Annotated[
    int | None,
    typer.Option(help="Port to listen on; 0 takes any free one.", show_default="8790, or the next free one"),
]
AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-origin",
        help="Origin of pages that may connect, such as https://app.example; repeatable.",
        show_default="the console's own",
    ),
]
Journal = Annotated[
    str | None,
    typer.Option(
        help="Where events are kept: sqlite, memory, redis, or redis://HOST:PORT/0.", show_default="sqlite"
    ),
]
StateDir = Annotated[
    Path | None,
    typer.Option(
        help="Directory of the journal, the tokens and the audit trail.",
        show_default="one for each workspace",
    ),
]


def agent_names(incomplete: str) -> list[str]:
    """Return the agents whose names begin with `incomplete`, for shell completion. The configuration is not read."""
    from turnwire.config.agents import DEMOS
    from turnwire.config.known_agents import KNOWN

    return [name for name in (*KNOWN, *DEMOS) if name.startswith(incomplete)]


Agent = Annotated[
    str | None,
    typer.Option(
        autocompletion=agent_names,
        help="A known agent (`turnwire agents` lists them), demo, or a configured name.",
        show_default="claude",
    ),
]
PolicyOption = Annotated[
    Policy | None,
    typer.Option(help="Permission policy.", show_default=False),
]
Sandbox = Annotated[
    SandboxLevel | None,
    typer.Option(
        help="What the sandbox denies agents: off (nothing), files (foreign files), network (also hosts that nobody allowed).",
        show_default="off",
    ),
]
Model = Annotated[str | None, typer.Option(help="Model to ask for.", show_default=False)]
Record = Annotated[
    bool | None, typer.Option("--record/--no-record", help="Write recordings.", show_default=False)
]
RecordDir = Annotated[Path | None, typer.Option(help="Directory of the recordings.", show_default="here")]
Rules = Annotated[
    Path | None, typer.Option(help="TOML file with permission rules and hooks.", show_default=False)
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option(help="Lowest level that is logged.", show_default="info"),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        help="JSON file with prices of models. It takes precedence over turnwire's table.", show_default=False
    ),
]


def configured(context: typer.Context, **fixed: object) -> "Settings":
    """Load the settings from a command's options, and set up logging; or fail with one sentence."""
    from turnwire.config.settings import ConfigurationError, Settings, load
    from turnwire.config.token_sources import with_tokens
    from turnwire.sidecar.process import logs

    # an option that may be repeated and is not given is an empty tuple
    options = {
        name: value for name, value in context.params.items() if name in Settings.model_fields and value != ()
    }
    with plain_errors(ConfigurationError, code=2):
        settings = with_tokens(load(options | fixed, context.params["config"]))
    logs.configure(settings.log_level)
    return settings
