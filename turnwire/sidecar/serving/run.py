"""`turnwire run` and `turnwire serve`: live sessions until a signal."""

import asyncio
from functools import partial
from pathlib import Path

import typer
from msgspec import Struct

from turnwire.config.agents import check_name, find, with_agent_of_argv
from turnwire.config.known_agents import Family
from turnwire.config.settings import Settings
from turnwire.config.state_directory import claimed
from turnwire.hub.host import CommandRefused
from turnwire.hub.hub import Hub
from turnwire.journal.base import JournalUnavailable
from turnwire.protocol.errors import TurnwireError
from turnwire.sessions.live import LiveSession
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.new_session import NewSession
from turnwire.sessions.records.resume_point import NEW, ResumePoint
from turnwire.sessions.workspaces import workspace_of
from turnwire.sidecar.serving.qr import drawn, reachable
from turnwire.sidecar.serving.serve import serve

GREETING_S = 15.0
"""How long the end of a CLI counts as a failed start, while it has not answered `initialize`."""


class StartError(TurnwireError):
    """The first session cannot be started. The message says why and what to do."""


class FirstSession(Struct, frozen=True):
    """The first session."""

    argv: tuple[str, ...]
    """The CLI and its arguments. Empty: the configured agent."""
    family: Family | None = None
    """The CLI's family; None to derive it from the program."""
    workspace: Path | None = None
    prompt: str | None = None
    resume_point: ResumePoint = NEW
    starts: bool = True
    """Whether its CLI is started at once."""


async def run(
    settings: Settings, first: FirstSession | None, *, new_tokens: bool = False, qr: bool = False
) -> None:
    """Serve until a signal. Raises StartError, NoCode and the errors of turnwire.sidecar.serving.serve. With `qr` the URL is also
    drawn.
    """
    if qr:
        drawn(
            reachable("http://127.0.0.1:1/", settings.host, settings.public_url)
        )  # before anything is started
    # Whoever allowed something everywhere meant all workspaces.
    grants = settings.state_dir / "grants.json"
    if first is None:
        check_name(settings.agent, settings.agents)
        await serve(
            settings, _nothing, partial(_announce, settings, qr=qr), grants=grants, new_tokens=new_tokens
        )
        return
    if first.argv:
        name, agents = with_agent_of_argv(settings.agents, first.argv, first.family)
        settings = settings.model_copy(update={"agent": name, "agents": agents})
    find(settings.agent, settings.agents)

    started: LiveSession

    async def start(host: LiveHost) -> None:
        nonlocal started
        started = await _start(host, settings, first)

    async def ready(hub: Hub) -> None:
        await _announce(settings, hub, started.session, qr=qr)

    async def check() -> None:
        trouble = await started.greeting(GREETING_S) if first.starts else None
        if trouble is not None:
            raise StartError(f"{trouble}; run it by hand to see why, or name another program after `--`")

    try:
        workspace = workspace_of(str(first.workspace) if first.workspace else None)
    except CommandRefused as error:
        raise StartError(error.message) from error
    with claimed(settings, workspace) as placed:
        await serve(placed, start, ready, check=check, grants=grants, new_tokens=new_tokens)


async def run_hub(settings: Settings, *, new_tokens: bool = False) -> None:
    """Serve the frontends of a fleet until a signal. Raises the errors of turnwire.sidecar.serving.fleet_hub, and
    JournalUnavailable without the extra.
    """
    try:
        from turnwire.sidecar.serving.fleet_hub import serve_hub  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise JournalUnavailable("A fleet needs the extra `redis`: pip install 'turnwire[redis]'.") from error
    await serve_hub(settings, partial(_announce, settings, qr=False), new_tokens=new_tokens)


async def _start(host: LiveHost, settings: Settings, first: FirstSession) -> LiveSession:
    workspace = str(first.workspace) if first.workspace else None
    wanted = NewSession(workspace=workspace, agent=settings.agent)
    try:
        session = await host.open(wanted, first.resume_point, starts=first.starts)
        if first.prompt:
            await host.say(session, first.prompt)
        return session
    except CommandRefused as error:
        raise StartError(error.message) from error


async def _announce(settings: Settings, hub: Hub, session: str | None = None, *, qr: bool) -> None:
    typer.echo(f"turnwire is ready; {hub.invitation('control', session)}")
    typer.echo(f"to watch only: {hub.invitation('view', session)}")
    if qr:
        # A configured token is not shown, in a picture neither.
        token = None if settings.token is not None else hub.tokens.control
        typer.echo(drawn(reachable(hub.url(token, session), settings.host, settings.public_url)))
    await asyncio.sleep(0)


async def _nothing(_: LiveHost) -> None:
    """Do nothing: `serve` continues the sessions of earlier runs itself."""
