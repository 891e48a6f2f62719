"""Wait until the MCP servers of a run are connected. Until then the model does not see their tools."""

import asyncio
from collections.abc import Collection

from msgspec import Struct

from turnwire.adapter.process.suspend_aware_timer import SuspendAwareTimer
from turnwire.adapter.session.agent import AgentSession
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.runner.family import RunFailed

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two status requests. Each pause is twice the one before."""


class ServerDeadlines(Struct, frozen=True, kw_only=True):
    """Seconds to wait for MCP servers."""

    connect: float = 60.0
    """Until all servers are connected, and for each answer of the CLI."""
    unlisted: float = 5.0
    """Until a server must be in the CLI's list. The CLI lists a server when it starts to connect, and silently leaves out a server
    whose configuration it rejects."""


async def connect_servers(session: AgentSession, names: Collection[str], deadlines: ServerDeadlines) -> None:
    """Return once every server is connected.

    Raises RunFailed if a server fails or exceeds the deadline, and the errors of `session.control`.
    """
    waiting = sorted(names)
    clock = asyncio.get_running_loop().time
    timer, pause = SuspendAwareTimer(deadlines.unlisted, clock()), FIRST_PAUSE
    try:
        async with asyncio.timeout(deadlines.connect):
            while waiting:
                told = {
                    text_at(server, "name"): server for server in await _servers(session, deadlines.connect)
                }
                waiting = [name for name in waiting if not _is_connected(name, told.get(name))]
                unlisted = [name for name in waiting if name not in told]
                if timer.left(clock()) <= 0 and unlisted:
                    raise RunFailed(f"MCP server {unlisted[0]}: the CLI rejects its configuration")
                if waiting:
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
    except TimeoutError:
        raise RunFailed(f"MCP server {waiting[0]} did not connect within {deadlines.connect:.0f} s") from None


async def _servers(session: AgentSession, deadline: float) -> list[JsonObject]:
    servers = (await session.control({"subtype": "mcp_status"}, deadline)).get("mcpServers")
    return [server for server in servers if isinstance(server, dict)] if isinstance(servers, list) else []


def _is_connected(name: str, server: JsonObject | None) -> bool:
    if server is None:
        return False  # the CLI has not listed it yet
    match text_at(server, "status"):
        case "connected":
            return True
        case "pending" | "":
            return False
        case status:
            why = text_at(server, "error")
            raise RunFailed(f"MCP server {name}: {status}{f': {why}' if why else ''}")
