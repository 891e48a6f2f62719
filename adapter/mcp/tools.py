"""A small MCP server out of Python functions, for an entry point of the configuration.

server = ToolServer("calc")

@server.tool("Adds two numbers", {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}})
async def add(arguments): return str(arguments["a"] + arguments["b"])
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from turnwire.protocol.json_values import Json, JsonObject

PROTOCOL_VERSION = "2025-06-18"
"""The version of MCP for a client that names none."""

_METHOD_NOT_FOUND = -32601

ToolFunction: TypeAlias = Callable[[JsonObject], Awaitable[str]]


class _Tool(NamedTuple):
    function: ToolFunction
    description: JsonObject


class ToolServer:
    """An MCP server with only tools: an async callable of JSON-RPC messages."""

    def __init__(self, name: str, version: str = "1") -> None:
        self._name = name
        self._version = version
        self._tools: dict[str, _Tool] = {}

    def tool(
        self, description: str, schema: JsonObject, *, name: str | None = None
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Register an async function that returns text. Its exception becomes the tool's error."""

        def register(function: ToolFunction) -> ToolFunction:
            called = name or function.__name__
            shown = {"name": called, "description": description, "inputSchema": schema}
            self._tools[called] = _Tool(function, shown)
            return function

        return register

    async def __call__(self, message: JsonObject) -> JsonObject | None:
        """Answer a JSON-RPC message; None for a notification."""
        if "id" not in message or "method" not in message:
            return None
        result: Json = None
        match message["method"]:
            case "initialize":
                params = message.get("params") or {}
                result = {
                    "protocolVersion": params.get("protocolVersion", PROTOCOL_VERSION),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": self._name, "version": self._version},
                }
            case "ping":
                result = {}
            case "tools/list":
                result = {"tools": [tool.description for tool in self._tools.values()]}
            case "tools/call":
                result = await self._call(message.get("params") or {})
            case method:
                error = {"code": _METHOD_NOT_FOUND, "message": f"no method {method!r}"}
                return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    async def _call(self, params: JsonObject) -> JsonObject:
        tool = self._tools.get(str(params.get("name")))
        if tool is None:
            return _said(f"there is no tool {params.get('name')!r}", failed=True)
        try:
            return _said(await tool.function(params.get("arguments") or {}))
        except Exception as error:  # noqa: BLE001  a tool's failure is its result, for the model to read
            return _said(f"{type(error).__name__}: {error}", failed=True)


def _said(text: str, *, failed: bool = False) -> JsonObject:
    result: JsonObject = {"content": [{"type": "text", "text": text}]}
    return {**result, "isError": True} if failed else result
