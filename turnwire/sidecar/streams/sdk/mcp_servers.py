"""MCP servers inside the caller of `turnwire stdio`, for agents that start their servers as commands.

The agent starts mcp_pipe.py, which connects to a socket in a private folder. Each message goes to the caller as `mcp_message`.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from turnwire.protocol.framing import LineFramer
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject
from turnwire.sidecar.streams.sdk import mcp_pipe

LARGEST = 32 * 1024 * 1024
"""Maximum bytes of a message."""

Ask = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Send a message to the caller's named server and return its answer."""


class CallerServers:
    """The servers of one session."""

    def __init__(self, names: Sequence[str], path: str, ask: Ask) -> None:
        self._names = names
        self._path = path
        self._ask = ask
        self._writers: dict[str, list[asyncio.StreamWriter]] = {}

    @property
    def commands(self) -> dict[str, JsonObject]:
        """The command that the agent starts for each server, in the form of a configuration."""
        program = ["-I", str(Path(mcp_pipe.__file__)), self._path]
        return {name: {"command": sys.executable, "args": [*program, name]} for name in self._names}

    def tell(self, name: str, message: JsonObject) -> bool:
        """Forward a message that a server sends on its own. Returns False if the agent has not started the server."""
        writers = self._writers.get(name, [])
        for writer in writers:
            writer.write(line_of(message))
        return bool(writers)

    async def joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve an agent that has started a server."""
        name = ""
        try:
            async with asyncio.TaskGroup() as tasks:
                name = (await reader.readline()).decode("utf-8", "replace").strip()
                if name not in self._names:
                    return
                self._writers.setdefault(name, []).append(writer)
                framer = LineFramer(LARGEST)
                while chunk := await reader.read(1 << 16):
                    for line in framer.feed(chunk):
                        if isinstance(line, bytes) and line.strip():
                            tasks.create_task(self._pass_on(name, line, writer))
        except* (ConnectionError, ValueError):
            pass  # the agent has closed the server
        finally:
            if writer in self._writers.get(name, []):
                self._writers[name].remove(writer)
            writer.close()

    async def _pass_on(self, name: str, line: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            message = msgspec.json.decode(line, type=dict)
        except (ValueError, RecursionError):
            return  # not JSON-RPC
        answer = await self._ask(name, message)
        if "method" in message and "id" in message:
            writer.write(line_of(answer))
            await writer.drain()


@asynccontextmanager
async def caller_servers(names: Sequence[str], ask: Ask) -> AsyncIterator[CallerServers]:
    """Serve the named servers while the context is open."""
    if not names:
        yield CallerServers((), "", ask)
        return
    with tempfile.TemporaryDirectory(prefix="turnwire-mcp-") as folder:
        path = str(Path(folder) / "mcp")
        servers = CallerServers(names, path, ask)
        listening = await asyncio.start_unix_server(servers.joined, path)
        try:
            yield servers
        finally:
            listening.close()
