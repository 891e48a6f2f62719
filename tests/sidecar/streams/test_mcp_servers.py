"""MCP servers inside a caller, reached by the command that an agent starts for each."""

import asyncio
import json
from asyncio.subprocess import PIPE

from turnwire.protocol.json_values import JsonObject
from turnwire.sidecar.streams.sdk.mcp_servers import caller_servers
from turnwire_process import DEADLINE
from waiting import until

HELLO: JsonObject = {"jsonrpc": "2.0", "method": "notifications/hello"}


async def answer(name: str, message: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": {"server": name, "said": message}}


async def started(command: JsonObject) -> asyncio.subprocess.Process:
    program, arguments = command["command"], command["args"]
    assert isinstance(program, str)
    assert isinstance(arguments, list)
    return await asyncio.create_subprocess_exec(program, *map(str, arguments), stdin=PIPE, stdout=PIPE)


async def test_a_request_is_answered_a_notice_is_not_and_the_server_may_speak_unasked() -> None:
    async with asyncio.timeout(DEADLINE), caller_servers(["one", "two"], answer) as servers:
        assert not servers.tell("one", HELLO), "no agent has started it"
        agent = await started(servers.commands["one"])
        assert agent.stdin is not None
        assert agent.stdout is not None
        request = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
        for line in (b"no json", json.dumps(HELLO).encode(), b"", json.dumps(request).encode()):
            agent.stdin.write(line + b"\n")
        said = json.loads(await agent.stdout.readline())
        assert (said["id"], said["result"]) == (7, {"server": "one", "said": request})
        assert servers.tell("one", HELLO)
        assert json.loads(await agent.stdout.readline()) == HELLO
        assert not servers.tell("two", HELLO)
        agent.stdin.close()
        assert await agent.wait() == 0
        await until(lambda: not servers.tell("one", HELLO))


async def test_a_name_that_no_server_has_is_let_go() -> None:
    async with asyncio.timeout(DEADLINE), caller_servers(["one"], answer) as servers:
        arguments = servers.commands["one"]["args"]
        assert isinstance(arguments, list)
        agent = await started({**servers.commands["one"], "args": [*arguments[:-1], "other"]})
        assert agent.stdout is not None
        assert await agent.stdout.read() == b""
        assert await agent.wait() == 0


async def test_without_names_there_is_nothing_to_start() -> None:
    async with caller_servers([], answer) as servers:
        assert servers.commands == {}
