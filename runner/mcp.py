"""Wait until the MCP servers of a run are connected: the model would not see their tools before."""

import asyncio
from collections.abc import Collection

from protocol.claude.requests import Initialize, McpStatus
from protocol.json_values import JsonObject, text_at
from runner.agent import Agent, AgentFailed

DEADLINE = 60.0
"""Seconds for all servers to connect, and for any answer of the CLI."""

UNLISTED = 5.0
"""Seconds that the CLI may not name a server in its list: it names those that it connects to at once, and leaves out
without a word what it cannot make sense of."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two looks; each pause is twice the last one."""


async def connect_servers(agent: Agent, names: Collection[str]) -> None:
    """Return once every server is connected; raises AgentFailed when one cannot be, or not in time."""
    await agent.ask(Initialize(), DEADLINE)
    waiting = sorted(names)
    clock = asyncio.get_running_loop().time
    began, pause = clock(), FIRST_PAUSE
    try:
        async with asyncio.timeout(DEADLINE):
            while waiting:
                told = {text_at(server, "name"): server for server in await _servers(agent)}
                waiting = [name for name in waiting if not _is_connected(name, told.get(name))]
                unlisted = [name for name in waiting if name not in told]
                if unlisted and clock() - began > UNLISTED:
                    raise AgentFailed(f"MCP server {unlisted[0]}: the CLI does not take its configuration")
                if waiting:
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
    except TimeoutError:
        raise AgentFailed(f"MCP server {waiting[0]} did not connect within {DEADLINE:.0f} s") from None


async def _servers(agent: Agent) -> list[JsonObject]:
    servers = (await agent.ask(McpStatus(), DEADLINE)).get("mcpServers")
    return [server for server in servers if isinstance(server, dict)] if isinstance(servers, list) else []


def _is_connected(name: str, server: JsonObject | None) -> bool:
    if server is None:
        return False  # the CLI has not come to it yet
    match text_at(server, "status"):
        case "connected":
            return True
        case "pending" | "":
            return False
        case status:
            why = text_at(server, "error")
            raise AgentFailed(f"MCP server {name}: {status}{f': {why}' if why else ''}")
