"""`turnwire run` and `turnwire serve`: live sessions until a signal."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import typer

from hub.frames import SessionCreate
from hub.host import CommandRefused
from hub.hub import Hub
from sidecar.agents import find, named
from sidecar.going import NEW, Going
from sidecar.host import LiveHost
from sidecar.serve import serve
from sidecar.settings import Settings

GREETING_S = 15.0
"""How long a CLI may take to answer `initialize` before the URL is printed all the same."""


class StartError(Exception):
    """The first session cannot be started; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class First:
    """What the first session is to be."""

    argv: tuple[str, ...]
    """The CLI and its own arguments; empty takes the configured agent."""
    workspace: Path | None = None
    prompt: str | None = None
    going: Going = NEW


async def run(settings: Settings, first: First | None) -> None:
    """Serve until a signal; raises StartError and what sidecar.serve raises."""
    if first is None:
        await serve(settings, _nothing, _announce)
        return
    if first.argv:
        agent = named(Path(first.argv[0]).name, first.argv)
        agents = {**settings.agents, agent.name: list(agent.argv)}
        settings = settings.model_copy(update={"agent": agent.name, "agents": agents})
    else:
        find(settings.agent, settings.agents)

    async def start(host: LiveHost) -> None:
        await _start(host, settings, first)

    await serve(settings, start, _announce)


async def _start(host: LiveHost, settings: Settings, first: First) -> None:
    workspace = str(first.workspace) if first.workspace else None
    command = SessionCreate(type="session.create", id="run", workspace=workspace, agent=settings.agent)
    try:
        session = await host.open(command, first.going)
        trouble = await session.greeting(GREETING_S)
        if trouble is not None:
            raise StartError(trouble)
        if first.prompt:
            await host.say(session, first.prompt)
    except CommandRefused as error:
        raise StartError(error.message) from error


async def _announce(hub: Hub) -> None:
    typer.echo(f"turnwire is ready; open {hub.url(hub.tokens.control)}")
    typer.echo(f"to watch only: {hub.url(hub.tokens.view)}")
    await asyncio.sleep(0)


async def _nothing(_: LiveHost) -> None:
    """`serve` begins with the sessions of earlier lives."""
