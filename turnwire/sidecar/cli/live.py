"""The commands that serve frontends: run, serve and replay."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from turnwire.sidecar.cli import options
from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.event_loop import serving

if TYPE_CHECKING:
    from turnwire.config.settings import Settings

FleetJournal = Annotated[
    str | None,
    typer.Option(help="The fleet's Redis: redis://HOST:PORT/0.", show_default=False),
]
WorkerName = Annotated[
    str | None,
    typer.Option(
        "--worker",
        help="Run as a worker of a fleet under this name; `turnwire hub` reaches it.",
        show_default=False,
    ),
]
NewTokens = Annotated[
    bool,
    typer.Option("--new-tokens", help="Create new access tokens. Earlier URLs and cookies stop working."),
]
Qr = Annotated[
    bool,
    typer.Option(
        "--qr",
        help="Draw the URL as a QR code for a phone. Needs an address that the phone reaches, and the extra `qr`.",
    ),
]


_WHOLE_ID = 36
"""Characters of a UUID, which is no beginning of another."""


@app.command(
    "run",
    short_help="Run an agent here; watch and answer it in the browser.",
    epilog=examples(
        "turnwire run                                   # Claude Code in this folder",
        "turnwire run --agent demo                      # no account and no CLI needed",
        "turnwire run --prompt 'What is in this folder?'",
        'turnwire run -- claude --model sonnet "do X"   # any CLI and its own arguments',
    ),
)
def run_command(
    context: typer.Context,
    *,
    cli: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- CLI ARGUMENTS...",
            help="The CLI to start, with its own arguments. A prompt among the arguments of claude is the first prompt.",
            show_default="the configured agent",
        ),
    ] = None,
    family: options.AgentFamilyOption = None,
    workspace: Annotated[
        Path | None, typer.Option(help="Folder that the CLI works in.", show_default="here")
    ] = None,
    prompt: Annotated[str | None, typer.Option(help="First prompt.", show_default=False)] = None,
    resume: Annotated[
        str | None,
        typer.Option(help="Session id of the CLI to continue, or its beginning.", show_default=False),
    ] = None,
    resume_session_at: Annotated[
        str | None,
        typer.Option(
            help="Message to go back to: the `resume_token` of a `complete` event.", show_default=False
        ),
    ] = None,
    fork_session: Annotated[
        bool, typer.Option("--fork-session", help="Continue under a new session id, with --resume.")
    ] = False,
    continue_latest: Annotated[
        bool, typer.Option("--continue", help="Continue the newest conversation of the workspace.")
    ] = False,
    agent: options.Agent = None,
    policy: options.PolicyOption = None,
    sandbox: options.Sandbox = None,
    model: options.Model = None,
    rules: options.Rules = None,
    host: options.Host = None,
    port: options.Port = None,
    allowed_origins: options.AllowedOrigins = None,
    journal: options.Journal = None,
    state_dir: options.StateDir = None,
    new_tokens: NewTokens = False,
    qr: Qr = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="Attach this terminal to the session; leaving it ends both.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="With --attach: leave the session running when you leave.")
    ] = False,
    idle: Annotated[bool, typer.Option("--idle", hidden=True, help="Start no CLI yet.")] = False,
    record: options.Record = None,
    record_dir: options.RecordDir = None,
    log_level: options.LogLevel = None,
    config: options.ConfigOption = None,
) -> None:
    """Start a CLI, serve the console and the WebSocket, and print the URL."""
    from turnwire.sessions.records.resume_point import ResumePoint
    from turnwire.sidecar.cli.prompt import PromptError, without_prompt
    from turnwire.sidecar.serving.run import FirstSession, run

    with plain_errors(PromptError, code=2):
        argv, written = without_prompt(cli or [])
    if prompt and written:
        fail("there is a prompt among the CLI's arguments and one by --prompt; give one of them", 2)
    if family and not argv:
        fail("--family says what the CLI after `--` speaks; of a configured agent [agents.NAME] says it", 2)
    settings = options.configured(context)
    resumed = None if resume is None else _full_id(settings, resume)
    resume_point = ResumePoint(resumed, resume_session_at, branch=fork_session, latest=continue_latest)
    first = FirstSession(tuple(argv), family, workspace, prompt or written, resume_point, not idle)
    if keep and not attach:
        fail("--keep says what happens when an attached terminal leaves; give --attach too", 2)
    if attach:
        _attached(settings, keep=keep)
    serving(run(settings, first, new_tokens=new_tokens, qr=qr))


def _full_id(settings: "Settings", name: str) -> str:
    """Return the whole id of a conversation that `turnwire sessions` shows by its beginning; others as they are."""
    from turnwire.history.history import History, index_file
    from turnwire.history.index import HistoryError

    file = index_file(settings)
    if len(name) >= _WHOLE_ID or not settings.history or file is None or not file.exists():
        return name
    with plain_errors(HistoryError):
        library = History(settings)
        try:
            return library.full_id(name)
        finally:
            library.close()


def _attached(settings: "Settings", *, keep: bool) -> NoReturn:
    """Run the same command without --attach in another process, and attach to it."""
    from turnwire.frontends.terminal.problems import NotAttached
    from turnwire.sidecar.cli.attach import interface_missing, is_simple
    from turnwire.sidecar.serving.attached import NotStarted, run_attached

    given, dashes, rest = sys.argv[1:], [], []
    if "--" in given:
        at = given.index("--")
        given, dashes, rest = given[:at], ["--"], given[at + 1 :]
    arguments = [*(one for one in given if one not in {"--attach", "--keep"}), *dashes, *rest]
    plain = is_simple()
    if not plain and (missing := interface_missing()):
        fail(missing)
    with plain_errors(NotAttached, NotStarted):
        token = None if settings.token is None else settings.token.get_secret_value()
        raise typer.Exit(run_attached(arguments, settings.state_dir, token, keep=keep, plain=plain))


@app.command(
    "serve",
    short_help="Serve many sessions that frontends create and close.",
    epilog=examples(
        "turnwire serve",
        "turnwire serve --agent gemini --port 9000",
        "TURNWIRE_TOKEN=... turnwire serve --host 0.0.0.0   # for others; docs/access.md",
    ),
)
def serve_command(
    context: typer.Context,
    *,
    agent: options.Agent = None,
    policy: options.PolicyOption = None,
    sandbox: options.Sandbox = None,
    model: options.Model = None,
    rules: options.Rules = None,
    host: options.Host = None,
    port: options.Port = None,
    allowed_origins: options.AllowedOrigins = None,
    journal: options.Journal = None,
    worker: WorkerName = None,
    state_dir: options.StateDir = None,
    new_tokens: NewTokens = False,
    qr: Qr = False,
    record: options.Record = None,
    record_dir: options.RecordDir = None,
    log_level: options.LogLevel = None,
    config: options.ConfigOption = None,
) -> None:
    """Serve many sessions. Frontends create, resume, fork and close them."""
    from turnwire.sidecar.serving.run import run

    serving(run(options.configured(context), None, new_tokens=new_tokens, qr=qr))


@app.command(
    "hub",
    short_help="Serve the frontends of a fleet of workers.",
    epilog=examples(
        "turnwire serve --worker build-1 --journal redis://redis.example   # where the code is",
        "turnwire hub --journal redis://redis.example                      # where people connect",
    ),
)
def hub_command(
    context: typer.Context,
    *,
    host: options.Host = None,
    port: options.Port = None,
    allowed_origins: options.AllowedOrigins = None,
    journal: FleetJournal = None,
    state_dir: options.StateDir = None,
    new_tokens: NewTokens = False,
    log_level: options.LogLevel = None,
    config: options.ConfigOption = None,
) -> None:
    """Serve the frontends of a fleet. Its sessions run in workers: `turnwire serve --worker NAME` with the same journal."""
    from turnwire.sidecar.serving.run import run_hub

    settings = options.configured(context)
    if not settings.journal_kind.shared:
        fail("a hub finds the sessions of its fleet in Redis; give --journal redis://HOST:PORT/0", 2)
    serving(run_hub(settings, new_tokens=new_tokens))


@app.command(
    "replay",
    short_help="Play a recording: as events, in the browser, as spans.",
    epilog=examples(
        "turnwire replay recording.jsonl --serve   # in the browser, at its own pace",
        "turnwire replay recording.jsonl --otlp    # to the collector of OTEL_EXPORTER_OTLP_ENDPOINT",
        "zcat old.jsonl.gz | turnwire replay -     # events on standard output",
    ),
)
def replay_command(
    context: typer.Context,
    *,
    files: Annotated[list[Path], typer.Argument(help="Recordings, folders with a timeline, or CLI stdout.")],
    speed: Annotated[
        float | None,
        typer.Option(
            help="Factor of the recorded pace. 0 plays without waiting.",
            min=0,
            show_default="1 on a terminal and with --serve, else 0",
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Play to the console instead of standard output.")
    ] = False,
    otlp: Annotated[
        bool, typer.Option("--otlp", help="Export spans with the times of the recording.")
    ] = False,
    family: options.FamilyOption = None,
    host: options.Host = None,
    port: options.Port = None,
    log_level: options.LogLevel = None,
    config: options.ConfigOption = None,
) -> None:
    """Play recordings through the code of a live session. `-` is standard input."""
    from turnwire.normalize.families import UnknownFamily
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.cli.standard_input import on_disk
    from turnwire.sidecar.replay.run import to_console, to_otlp, to_stdout

    settings = options.configured(context, journal="memory")
    if serve and otlp:
        fail("--serve and --otlp exclude each other; give one of them", 2)
    if otlp:
        from turnwire.tracing.export.wanted import tracing_wanted

        if not (tracing_wanted() or settings.trace_processors):
            fail(
                "--otlp: no exporter is configured, so no span would be sent; set OTEL_EXPORTER_OTLP_ENDPOINT, "
                "or OTEL_TRACES_EXPORTER to other than none, and unset OTEL_SDK_DISABLED",
                2,
            )
    if speed is None:
        speed = 1.0 if serve or sys.stdout.isatty() else 0.0
    with plain_errors(RecordingError, UnknownFamily), on_disk(files) as found:
        if serve:
            serving(to_console(settings, found, speed or None, family))
        elif otlp:
            serving(to_otlp(settings, found, family))
        else:
            serving(to_stdout(settings, found, speed or None, family))
