"""The commands that try agents and frontends."""

from pathlib import Path
from typing import Annotated

import typer

from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.event_loop import serving
from turnwire.sidecar.cli.options import AgentFamilyOption, ConfigOption, FamilyOption, configured

conform_app = typer.Typer(
    help="Test an agent, a frontend or a recording: what it supports, and where it breaks its protocol.",
    short_help="Test an agent, a frontend or a recording.",
    no_args_is_help=True,
)
app.add_typer(conform_app, name="conform")


@conform_app.command(
    "agent",
    short_help="Test an agent.",
    epilog=examples(
        "turnwire conform agent --agent gemini", "turnwire conform agent --family acp -- my-agent --stdio"
    ),
)
def agent_command(
    context: typer.Context,
    *,
    cli: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="The agent to test, with its own arguments.",
            show_default="the configured agent",
        ),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="An agent by its name; see `turnwire agents`.")] = None,
    family: AgentFamilyOption = None,
    workspace: Annotated[
        Path | None,
        typer.Option(help="Empty folder that it works in.", show_default="one that is removed at the end"),
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds of silence after which it counts as hanging.", min=1)
    ] = 120.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print only a JSON array, at the end.")] = False,
    config: ConfigOption = None,
) -> None:
    """Test an agent: start, ask, refuse, interrupt and resume it. Its model gets about 20 short questions.

    Exit code 1 when something is broken.
    """
    if family and not cli:
        fail(
            "--family says what the command after `--` speaks; of a configured agent [agents.NAME] says it", 2
        )
    if agent and cli:
        fail("there is a command after `--` and an agent's name; give one of them", 2)
    settings = configured(context, journal="memory", port=0, history=False)
    from turnwire.sidecar.checks.conform.command import try_agent

    serving(try_agent(settings, tuple(cli or ()), family, workspace, timeout, json=as_json))


@conform_app.command(
    "frontend",
    short_help="Test a frontend.",
    epilog=examples(
        "turnwire conform frontend                          # prints the URL to connect to",
        "turnwire conform frontend -- python my_frontend.py",
    ),
)
def frontend_command(
    *,
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="Program to start as the frontend; it finds the hub's URL in TURNWIRE_URL.",
            show_default="print the URL and wait for one",
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)] = 0,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds without an acknowledgement after which it counts as hanging.", min=1),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print only a JSON array, at the end.")] = False,
) -> None:
    """Test a frontend: a hub plays every event, restarts, gaps and floods to it, and asks what it has delivered.

    docs/frontends.md says what a frontend has to answer. Exit code 1 when something is broken.
    """
    from turnwire.sidecar.checks.conform.command import try_frontend

    serving(try_frontend(tuple(program or ()), port, timeout, json=as_json))


@conform_app.command(
    "recording",
    short_help="Test a recording.",
    epilog=examples(
        "turnwire record gemini --out new -- -p hi --output-format stream-json",
        "turnwire conform recording new",
    ),
)
def recording_command(
    *,
    source: Annotated[Path, typer.Argument(help="Recording, folder with a timeline, or CLI stdout.")],
    family: FamilyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only a JSON array, at the end.")] = False,
) -> None:
    """Say whether turnwire reads a recording whole: every line known, every turn, call and question ended, every edited file changed.

    Exit code 1 when something is broken.
    """
    from turnwire.normalize.families import UnknownFamily
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.checks.conform.command import judge_recording

    with plain_errors(RecordingError, UnknownFamily, OSError):
        judge_recording(source, family, json=as_json)
