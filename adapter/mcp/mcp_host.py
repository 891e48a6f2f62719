"""MCP servers that live in the sidecar: the agent sends them JSON-RPC, Claude in `mcp_message` requests, and we answer.

A server is an async callable in Python, named "package.module:attribute", or a stdio command that is bridged
(adapter/mcp/bridge.py). Every message is answered, notifications too; the CLI waits for it. Messages
may arrive before the answer to `initialize` (2.1).
"""

import importlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct

from turnwire.adapter.process import suspend_aware
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.parsing.depth import TOO_DEEP, is_deep

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
DEADLINE = 300.0
"""Seconds that a server may take for an answer. The CLI has its own deadlines for tool calls."""

MessageHandler: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject | None]]
"""An MCP server in Python: takes a JSON-RPC message, and returns the response to a request or None for a notification."""


class McpError(TurnwireError):
    """A server that cannot be hosted. The text says which, why, and what to do."""


class HostedServer(Struct, frozen=True, kw_only=True):
    """An MCP server of the configuration: either an entry point or a command."""

    entry_point: str | None = None
    """"package.module:attribute", an async callable of one JSON-RPC message."""
    command: tuple[str, ...] = ()
    """Program and arguments of a server that speaks MCP on stdio."""
    env: Mapping[str, str] | None = None
    """Environment of the command, in addition to PATH and HOME."""


class McpServer(Protocol):
    """A server at work."""

    async def handle(self, message: JsonObject) -> JsonObject | None:
        """Return the response to a request; None to a notification or a response."""
        ...

    async def close(self) -> None:
        """End it."""
        ...


class PythonServer:
    """A server that is an async callable."""

    def __init__(self, handler: MessageHandler) -> None:
        self._handler = handler

    async def handle(self, message: JsonObject) -> JsonObject | None:
        """Return the response to a request; None to a notification or a response."""
        answer = await self._handler(message)
        # whatever is no JSON, or too deep, is refused here, where it is the server's failure alone
        if is_deep(answer):
            raise McpError(f"the answer is {TOO_DEEP}")
        json.dumps(answer)
        return answer

    async def close(self) -> None:
        """Nothing is held."""


def load_entry_point(entry_point: str) -> PythonServer:
    """Import the server of an entry point; raises McpError."""
    module, _, attribute = entry_point.partition(":")
    try:
        handler = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise McpError(f"{entry_point}: {error}; name an entry point as package.module:attribute") from None
    if not callable(handler):
        raise McpError(f"{entry_point} is not callable")
    return PythonServer(handler)


class McpHost:
    """The hosted servers of one session."""

    def __init__(self, servers: Mapping[str, McpServer], *, deadline: float = DEADLINE) -> None:
        self._servers = servers
        self._deadline = deadline

    @property
    def names(self) -> list[str]:
        """The servers' names, for `initialize`."""
        return list(self._servers)

    async def answer(self, name: str, message: JsonObject) -> JsonObject:
        """Return a server's answer to a message. Never raises; errors are JSON-RPC errors."""
        server = self._servers.get(name)
        if server is None:
            answer: JsonObject | None = _error(message, METHOD_NOT_FOUND, f"there is no server {name!r}")
        else:
            answer = await self._handle(server, message)
        if answer is None:
            # what the SDKs answer to a notification; the CLI only waits for anything at all
            answer = {"jsonrpc": "2.0", "id": message.get("id", 0), "result": {}}
        return answer

    async def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
            await server.close()

    async def _handle(self, server: McpServer, message: JsonObject) -> JsonObject | None:
        try:
            async with suspend_aware.timeout(self._deadline):
                return await server.handle(message)
        except TimeoutError:
            return _error(message, INTERNAL_ERROR, f"no answer within {self._deadline:g} s")
        except Exception as error:  # noqa: BLE001  a server is foreign code: its failure is its answer
            return _error(message, INTERNAL_ERROR, f"{type(error).__name__}: {error}")


def refuse(message: JsonObject, reason: str) -> JsonObject:
    """Return the answer to a message that no server gets."""
    return _error(message, INTERNAL_ERROR, reason) or {}


def _error(message: JsonObject, code: int, text: str) -> JsonObject | None:
    if "id" not in message:
        return None
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}
