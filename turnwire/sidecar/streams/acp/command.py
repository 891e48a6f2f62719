"""`turnwire acp`: serve an editor on stdin and stdout, from a sidecar in this process or from a running one.

A sidecar in this process ends with its editor: at the end of stdin its CLIs are stopped, and its journal keeps
everything. A separate sidecar continues, with its turns and pending requests.
"""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import JsonValue

from turnwire._runtime.version import VERSION
from turnwire.client import Client, CommandFailed, connect
from turnwire.client import TurnwireError as ClientError
from turnwire.config.agents import check_name
from turnwire.config.settings import Settings
from turnwire.config.state_directory import claimed
from turnwire.frontends.acp.agent import HubStarter, SessionParams, Starter, serve
from turnwire.hub.host import CommandRefused
from turnwire.hub.hub import Hub
from turnwire.hub.wire.agent_options import AgentOptions
from turnwire.runner.input import Input
from turnwire.runner.output import Output, OutputLost
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.new_session import NewSession
from turnwire.sidecar.serving import serve as serving
from turnwire.sidecar.serving.run import StartError

NAME = "editor"
"""Value of `by` for decisions that are made in the editor."""

OWN_HUB_S = 60.0
"""Seconds that the hub in this process has to answer. It is slower only on a very busy machine."""

FLUSH_S = 3.0
"""Seconds that an editor has to read the remaining output at the end."""


class NoHub(StartError):
    """The hub is not reachable, or refuses us. The message says why."""


class OperatorStarter:
    """Starts sessions with the operator's rights: any folder and any MCP servers."""

    def __init__(self, host: LiveHost, settings: Settings) -> None:
        self._host = host
        self._settings = settings

    async def begin(self, wish: SessionParams) -> str:
        """Start a session."""
        options = AgentOptions(add_dirs=list(wish.directories)) if wish.directories else None
        wanted = NewSession(
            workspace=wish.cwd,
            agent=wish.agent or self._settings.agent,
            mcp_servers=self._servers(wish),
            options=options,
        )
        try:
            return (await self._host.open(wanted)).session
        except CommandRefused as refused:
            raise _failed(refused) from refused

    async def claim(self, session: str, wish: SessionParams) -> None:
        """Continue an earlier session with the editor's current MCP servers."""
        try:
            self._host.claim(session, self._servers(wish))
        except CommandRefused as refused:
            raise _failed(refused) from refused

    def _servers(self, wish: SessionParams) -> dict[str, JsonValue]:
        return {**self._settings.mcp_servers, **wish.mcp_servers}


async def serve_here(settings: Settings) -> None:
    """Run a sidecar in this process and serve the editor. Raises the errors of turnwire.sidecar.serving.serve."""
    check_name(settings.agent, settings.agents)
    chunks, output = Input(0).chunks(), Output(_private_stdout())
    started: list[LiveHost] = []

    async def start(host: LiveHost) -> None:
        started.append(host)
        await asyncio.sleep(0)

    async def ready(hub: Hub) -> None:
        _say(f"turnwire serves an editor; to see the same in a browser, {hub.invitation('control')}")
        await asyncio.sleep(0)

    async def work(hub: Hub) -> None:
        starter = OperatorStarter(started[0], settings)
        url, certificate = hub.url(hub.tokens.control), _own_certificate(settings)
        async with connect(url, name=NAME, ssl=certificate, timeout=OWN_HUB_S) as client:
            await _serve(client, chunks, output, starter)

    with claimed(settings, Path.cwd()) as placed:
        await serving.serve(placed, start, ready, grants=settings.state_dir / "grants.json", work=work)


async def serve_elsewhere(settings: Settings, url: str, agent: str | None) -> None:
    """Serve the editor from a running hub. Raises NoHub."""
    chunks, output = Input(0).chunks(), Output(_private_stdout())
    token = None if settings.token is None else settings.token.get_secret_value()
    try:
        async with connect(url, token, name=NAME) as client:
            await _serve(client, chunks, output, HubStarter(client, agent=agent))
    except ClientError as error:
        raise NoHub(f"cannot connect to {url.partition('#')[0]}: {error}") from error


async def _serve(client: Client, chunks: AsyncIterator[bytes], output: Output, starter: Starter) -> None:
    try:
        await serve(client, chunks, output, starter, version=VERSION)
    except* OutputLost:
        pass  # the editor closed the connection
    try:
        async with asyncio.timeout(FLUSH_S):
            await output.flush()
    except (OutputLost, TimeoutError):
        pass  # the editor reads no more


def _private_stdout() -> int:
    """Return a descriptor for stdout. Other output goes to stderr from now on, so that it cannot break a line."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return private


def _own_certificate(settings: Settings) -> ssl.SSLContext | None:
    """Return a context that trusts only the sidecar's own certificate, whatever its host name."""
    if settings.tls_certificate is None:
        return None
    context = ssl.create_default_context(cafile=str(settings.tls_certificate))
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _failed(refused: CommandRefused) -> CommandFailed:
    """Return a refusal in the form of the hub's reply."""
    return CommandFailed(refused.code, refused.message, refused.field)


def _say(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - for the editor's log
    except OSError:
        pass
