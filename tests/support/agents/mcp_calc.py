"""An MCP server for tests: as an entry point ("mcp_calc:server"), or run as a program on stdio.

As a program it also asks the user: its tool `ask` answers what the elicitation brought.
"""

import asyncio
import itertools
import json
import sys

from turnwire.adapter.mcp.tools import ToolServer
from turnwire.protocol.json_values import JsonObject

server = ToolServer("calc")
_numbers = itertools.count(1000)


@server.tool(
    "Adds two numbers", {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
)
async def add(arguments: JsonObject) -> str:
    return f"the sum is {arguments['a'] + arguments['b']}"


def say(message: JsonObject) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


@server.tool("Asks for a name", {"type": "object", "properties": {}})
async def ask(arguments: JsonObject) -> str:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    request = {
        "jsonrpc": "2.0",
        "id": next(_numbers),
        "method": "elicitation/create",
        "params": {"message": "What is your name?", "requestedSchema": schema},
    }
    say(request)
    answer = json.loads(sys.stdin.readline())
    return f"answered: {json.dumps(answer.get('result'))}"


def main() -> None:
    while line := sys.stdin.readline():
        answer = asyncio.run(server(json.loads(line)))
        if answer is not None:
            say(answer)


if __name__ == "__main__":
    main()
