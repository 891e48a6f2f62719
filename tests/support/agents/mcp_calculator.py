"""An MCP server for tests: as an entry point (`mcp_calculator:server`), and as a command that speaks MCP on stdio."""

import asyncio
import json
import sys

from turnwire.adapter.mcp.tools import ToolServer
from turnwire.protocol.json_values import JsonObject

server = ToolServer("calculator")

NUMBERS: JsonObject = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}


@server.tool("Adds two numbers", NUMBERS)
async def add(arguments: JsonObject) -> str:
    """Add."""
    return f"the sum is {arguments['a'] + arguments['b']}"


async def serve_stdio() -> None:
    """Answer the messages on stdin, one a line."""
    for line in sys.stdin:
        answer = await server(json.loads(line))
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve_stdio())
