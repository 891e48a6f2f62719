"""An MCP server that is a stdio command, bridged: the CLI's messages go to its stdin, its own come back.

JSON-RPC on stdio is one JSON object per line. Answers are matched by id. Messages that the server sends unasked (notifications,
its own requests) are passed to the CLI, whose answers come back as ordinary messages.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from turnwire.adapter.mcp.mcp_host import McpError
from turnwire.adapter.process.cli import CliProcess, ProgramNotFound
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.lines import fail
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.parsing import depth

MAX_LINE = 32 * 1024 * 1024
"""Bytes of one message of the server."""

CLOSE_DEADLINE = 2.0
"""Seconds that the server has to exit after its stdin was closed."""


class BridgedServer:
    """A running command that speaks MCP."""

    def __init__(self, name: str, process: CliProcess, on_message: Callable[[JsonObject], None]) -> None:
        self._name = name
        self._process = process
        self._on_message = on_message
        self._waiting: dict[str | int, asyncio.Future[JsonObject]] = {}
        self._gone: McpError | None = None

    @classmethod
    async def start(
        cls,
        name: str,
        command: tuple[str, ...],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        on_message: Callable[[JsonObject], None],
        watchdog: Watchdog | None = None,
    ) -> "BridgedServer":
        """Start the command. `on_message` gets the messages that the server sends unasked. Raises McpError."""
        try:
            process = await CliProcess.spawn(
                command, workspace=workspace, environment=environment, watchdog=watchdog
            )
        except ProgramNotFound as error:
            raise McpError(f"the MCP server {name}: {error}") from None
        return cls(name, process, on_message)

    async def run(self) -> None:
        """Read the server's messages until it ends. Then fail the requests that wait."""
        framer = LineFramer(MAX_LINE)
        while chunk := await self._process.read():
            for line in framer.feed(chunk):
                if not isinstance(line, OversizeLine):
                    self._take(line)
        exit_ = await self._process.wait()
        tail = self._process.stderr_tail.strip()[-300:]
        self._gone = McpError(
            f"the MCP server {self._name} has exited ({exit_.signal or exit_.code}) {tail}".strip()
        )
        for waiting in self._waiting.values():
            fail(waiting, self._gone)

    async def handle(self, message: JsonObject) -> JsonObject | None:
        """Pass a message on, and return the response if it is a request; raises McpError when the server has gone."""
        if self._gone is not None:
            raise self._gone
        number = message.get("id")
        if "method" not in message or not isinstance(number, str | int):
            await self._write(message)
            return None
        answered: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            await self._write(message)
            return await answered
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the command and all that it started."""
        self._process.close_input()
        if not await self._process.exits_within(CLOSE_DEADLINE):
            self._process.kill()
        await self._process.wait()

    async def _write(self, message: JsonObject) -> None:
        try:
            await self._process.write(line_of(message))
        except ProcessGone as error:
            raise McpError(f"the MCP server {self._name}: {error}") from None

    def _take_unread(self, line: bytes) -> None:
        """Handle a line that is not JSON-RPC: a greeting, as some servers print, or an answer that is nested too deep."""
        answered = self._waiting.get(depth.outermost(line, ("id",)).get("id", ""))
        if answered is not None:
            fail(answered, McpError(f"the MCP server {self._name} gave an answer that cannot be read"))

    def _take(self, line: bytes) -> None:
        try:
            message = depth.parse(line)
        except (ValueError, RecursionError):
            self._take_unread(line)
            return
        if not isinstance(message, dict):
            return
        number = message.get("id")
        if "method" not in message and isinstance(number, str | int):
            answered = self._waiting.get(number)
            if answered is not None and not answered.done():
                answered.set_result(message)
        else:
            self._on_message(message)
