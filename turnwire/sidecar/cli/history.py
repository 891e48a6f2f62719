"""The commands about conversations in agents' files on this machine: sessions, search, usage, export."""

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from turnwire.protocol.visible import ordered, to_json
from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption, PricesOption, StateDir, configured

if TYPE_CHECKING:
    from turnwire.config.settings import Settings
    from turnwire.history.history import History
    from turnwire.history.index import Tell

Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="Only conversations of this agent: claude, codex, gemini or another one. `turnwire sessions` asks an agent that keeps no files.",
        show_default=False,
    ),
]
OfFamily = Annotated[
    str | None,
    typer.Option(
        "--family",
        help="Only conversations of agents of this family: claude, acp, gemini or another registered family.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Folder = Annotated[
    Path | None, typer.Option(help="Only conversations in this folder and below.", show_default=False)
]


@contextmanager
def _library(context: typer.Context, newest: int | None = None) -> Iterator["History"]:
    """Open the history and scan for changes, among the `newest` most recently changed files."""
    from turnwire.history.history import History
    from turnwire.history.index import HistoryError

    settings = configured(context)
    with plain_errors(HistoryError):
        library = History(settings)
        try:
            with _reading_shown() as tell:
                looked = library.look(newest, tell)
            for path in looked.failed[:5]:
                reason = f": {looked.reasons[path]}" if path in looked.reasons else ""
                typer.echo(f"turnwire: {ordered(str(path))} could not be read{reason}", err=True)
            yield library
        finally:
            library.close()


@contextmanager
def _reading_shown() -> Iterator["Tell | None"]:
    """Show on a terminal how far reading is; the first look at thousands of conversations takes a while."""
    if not sys.stderr.isatty():
        yield None
        return

    def tell(done: int, files: int) -> None:
        typer.echo(f"\rreading conversations: {done} of {files}\x1b[K", nl=False, err=True)

    try:
        yield tell
    finally:
        typer.echo("\r\x1b[K", nl=False, err=True)


def _within(folder: Path | None) -> str | None:
    """Return a folder in the form that conversations use. Fails if it is not a folder, unless an agent may once have worked in it."""
    if folder is None:
        return None
    if folder.exists() and not folder.is_dir():
        fail(f"--folder {folder}: this is not a folder; name one that an agent has worked in", 2)
    return str(folder.resolve())


def _is_found(found: Sequence[object], folder: Path | None) -> None:
    """Fail where nothing was found since there is no such folder, and never was one with a conversation."""
    if not found and folder is not None and not folder.exists():
        fail(f"--folder {folder}: there is no such folder, and no conversation of one", 2)


@app.command(
    "sessions",
    short_help="List the conversations that agents keep.",
    epilog=examples("turnwire sessions", "turnwire sessions --folder . --limit 5"),
)
def sessions_command(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 50,
    of_agent: Agent = None,
    family: OfFamily = None,
    folder: Folder = None,
    as_json: Json = False,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """List the conversations that agents on this machine have kept, the newest first.

    With --agent NAME, turnwire starts an agent that lists its conversations itself, and asks it.
    """
    from turnwire.history.show import conversation, table

    settings = configured(context)
    if of_agent is not None and settings.history:
        from turnwire.config.agents import AgentNotFoundError, check_name
        from turnwire.history.agent_listing import lists_itself, whose_files

        with plain_errors(AgentNotFoundError):
            check_name(of_agent, settings.agents)
        if lists_itself(of_agent, settings):
            _within(folder)
            _is_found((), folder)
            _ask_agent(of_agent, settings, limit, folder, as_json=as_json)
            return
        of_agent = whose_files(of_agent, settings)

    wanted = of_agent if family is None else _of_family(family, of_agent)
    # The first look reads everything only for who asks for something that could be anywhere.
    some = max(2 * limit, 100) if folder is None and wanted is None else None
    with _library(context, some) as library:
        where = _within(folder)
        running = library.running()
        found = library.index.newest(limit=limit, agent=wanted, folder=where)
        _is_found(found, folder)
        if as_json:
            for one in found:
                typer.echo(to_json(conversation(one, running)))
        else:
            table(found, running, library.index.count(wanted, where), whole=some is None)


def _of_family(family: str, of_agent: str | None) -> Collection[str]:
    """Return the agents of a family whose conversations are read; fail for a family without any, or without the agent."""
    from turnwire.history.agent_listing import READ
    from turnwire.normalize.families import UnknownFamily, agents_of

    with plain_errors(UnknownFamily):
        agents = sorted({*agents_of(family)} & READ)
    if not agents:
        fail(f"--family {family}: turnwire reads no conversations of this family; leave the option out", 2)
    if of_agent is not None and of_agent not in agents:
        fail(f"--agent {of_agent} is not of the family {family}, whose agents are {', '.join(agents)}", 2)
    return agents if of_agent is None else [of_agent]


def _ask_agent(name: str, settings: "Settings", limit: int, folder: Path | None, *, as_json: bool) -> None:
    """Print the conversations that an agent itself lists."""
    import asyncio

    from turnwire.history.agent_listing import listed_by_agent
    from turnwire.history.index import HistoryError
    from turnwire.history.show import conversation, table

    within = None if folder is None else folder.resolve()
    with plain_errors(HistoryError):
        found = asyncio.run(listed_by_agent(name, settings, within or Path.cwd()))
    if within is not None:
        found = [one for one in found if one.folder is not None and Path(one.folder).is_relative_to(within)]
    if as_json:
        for one in found[:limit]:
            typer.echo(to_json(conversation(one)))
    else:
        table(found[:limit], (), len(found))


@app.command(
    "search",
    short_help="Search all conversations.",
    epilog=examples('turnwire search "rate limit"', "turnwire search migration --agent claude"),
)
def search_command(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(help="Words to search for. All must occur. Put a phrase in double quotes.")
    ],
    *,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 20,
    of_agent: Agent = None,
    folder: Folder = None,
    as_json: Json = False,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """Search titles, prompts, texts, commands and paths of all conversations."""
    from turnwire.history.show import hit, hits

    if of_agent is not None:
        from turnwire.config.agents import AgentNotFoundError, check_name
        from turnwire.history.agent_listing import whose_files

        settings = configured(context)
        with plain_errors(AgentNotFoundError):
            check_name(of_agent, settings.agents)
        of_agent = whose_files(of_agent, settings)
    with _library(context) as library:
        text = " ".join(f'"{word}"' if " " in word else word for word in words)
        found = library.index.search(text, limit=limit, agent=of_agent, folder=_within(folder))
        _is_found(found, folder)
        if as_json:
            for one in found:
                typer.echo(to_json(hit(one)))
        else:
            hits(found)


@app.command(
    "usage",
    short_help="Add up tokens and dollars.",
    epilog=examples("turnwire usage --by day,model", "turnwire usage --by project --since 2026-01-01"),
)
def usage_command(
    context: typer.Context,
    *,
    by: Annotated[
        str,
        typer.Option(
            help="Sum up by day, week, month, block (of five hours), session, project, model or agent; several with commas."
        ),
    ] = "day",
    since: Annotated[
        str | None, typer.Option(help="First day: YYYY-MM-DD, local time.", show_default=False)
    ] = None,
    until: Annotated[str | None, typer.Option(help="Last day: YYYY-MM-DD.", show_default=False)] = None,
    folder: Folder = None,
    as_json: Json = False,
    prices: PricesOption = None,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """Add up tokens and dollars by day, week, month, session, project, model or agent. Dollars are estimates if the agent does not report them."""
    from msgspec import to_builtins

    from turnwire.history.index import GROUPS
    from turnwire.history.show import spending, time_of

    groups = [group for group in GROUPS if group in by.split(",")]
    if set(by.split(",")) - set(groups):
        fail(f"--by takes {', '.join(GROUPS)}, not {by!r}", 2)
    begin, end = (time_of(day, later) for day, later in ((since, 0), (until, 1)))
    if (since and begin is None) or (until and end is None):
        fail(f"{'--since' if since and begin is None else '--until'}: a day is written as YYYY-MM-DD", 2)
    if begin is not None and end is not None and begin >= end:
        fail(f"--since {since} is after --until {until}; exchange them", 2)
    with _library(context) as library:
        found = library.index.usage(groups, since=begin, until=end, folder=_within(folder))
        _is_found(found, folder)
        if as_json:
            for one in found:
                typer.echo(to_json(to_builtins(one)))
        else:
            spending(found, groups)


@app.command(
    "export",
    short_help="Write a conversation as Markdown or HTML.",
    epilog=examples(
        "turnwire sessions                        # shows the ids",
        "turnwire export ID conversation.html",
        "turnwire export ID --redact > shared.md",
        "turnwire export recording.jsonl shared.html",
    ),
)
def export_command(
    context: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            help="Conversation id or its beginning. Or a recording: a file, a folder with a timeline, or `-` for stdin."
        ),
    ],
    out: Annotated[Path | None, typer.Argument(help="File to write; standard output when absent.")] = None,
    *,
    form: Annotated[
        Literal["markdown", "html"] | None,
        typer.Option(
            "--format", help="What to write.", show_default="html for a name that ends so, else markdown"
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace secrets, tokens, e-mail addresses and home paths.")
    ] = False,
    branch: Annotated[
        str | None, typer.Option(help="Last message of the branch to export.", show_default=False)
    ] = None,
    state_dir: StateDir = None,
    config: ConfigOption = None,
) -> None:
    """Write a conversation as Markdown, or as one HTML page."""
    from turnwire.protocol.visible import visible
    from turnwire.recordings.standard_output import standard_output

    chosen = form or _form_of(out)
    from turnwire.recordings.recorded import in_database

    if session == "-" or Path(session).exists() or in_database(Path(session)):
        text = _exported_file(context, Path(session), chosen, redact=redact, branch=branch)
    else:
        with _library(context) as library:
            text = library.export(library.find(session), chosen, redact=redact, leaf=branch)
    data = text.encode("utf-8", "replace")
    if out is None:
        output = standard_output(visible)
        output.write(data)
        output.flush()
        return
    try:
        with out.open("xb") as file:
            file.write(data)
    except OSError as error:
        fail(f"{out}: {error.strerror}; name a document that does not exist yet")


FORMS: dict[str, Literal["markdown", "html"]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "markdown",
    "": "markdown",
    ".html": "html",
    ".htm": "html",
}
"""File suffix -> the document's format."""


def _form_of(out: Path | None) -> Literal["markdown", "html"]:
    if out is None:
        return "markdown"
    form = FORMS.get(out.suffix.lower())
    if form is None:
        fail(
            f"{out}: a document is Markdown (.md) or HTML (.html), never {out.suffix}; name it so, or give --format",
            2,
        )
    return form


def _exported_file(
    context: typer.Context, file: Path, form: Literal["markdown", "html"], *, redact: bool, branch: str | None
) -> str:
    from turnwire.history.index import HistoryError
    from turnwire.history.recorded_file import export_file
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sidecar.cli.standard_input import on_disk
    from turnwire.tracing.prices import PricesError, prices

    with plain_errors(HistoryError, RecordingError, PricesError), on_disk([file]) as (found,):
        return export_file(
            found, lambda: prices(configured(context).prices), form, redact=redact, leaf=branch
        )
