"""Start the MCP servers that a session hosts. If one fails, its messages are answered with the reason; others are unaffected."""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from turnwire.adapter.mcp.bridge import BridgedServer
from turnwire.adapter.mcp.mcp_host import HostedServer, McpError, McpHost, McpServer, load_entry_point
from turnwire.adapter.process.environment import build_environment
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.protocol.json_values import JsonObject

_BASIC = ("PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL")


class FailedServer:
    """Stands for a server that could not be started."""

    def __init__(self, error: McpError) -> None:
        self._error = error

    async def handle(self, message: JsonObject) -> JsonObject | None:  # noqa: ARG002  whatever is said
        """Fail."""
        raise self._error

    async def close(self) -> None:
        """Nothing runs."""


async def host_servers(
    servers: Mapping[str, HostedServer],
    *,
    workspace: Path,
    tasks: asyncio.TaskGroup,
    send: Callable[[str, JsonObject], None],
    notify: Notify,
    watchdog: Watchdog | None = None,
) -> McpHost:
    """Start the servers and return their host.

    Args:
        servers: the configuration, by name.
        workspace: working directory of the commands.
        tasks: parent of the tasks that read from bridged servers.
        send: called with a server's name and a message that it sends unasked.
        notify: called for servers that cannot be started.
        watchdog: ends commands if the sidecar dies.
    """
    running: dict[str, McpServer] = {}
    for name, server in servers.items():
        try:
            if server.entry_point is not None:
                running[name] = load_entry_point(server.entry_point)
                continue
            bridged = await BridgedServer.start(
                name,
                server.command,
                workspace=workspace,
                environment=build_environment(os.environ, allowed=_BASIC, given=server.env),
                on_message=partial(send, name),
                watchdog=watchdog,
            )
        except McpError as error:
            notify(SessionNotice("mcp_failed", str(error)))
            running[name] = FailedServer(error)
        else:
            tasks.create_task(bridged.run())
            running[name] = bridged
    return McpHost(running)
