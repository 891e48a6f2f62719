import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from turnwire.adapter.claude.opening import build_argv
from turnwire.adapter.mcp.bridge import BridgedServer
from turnwire.adapter.mcp.hosting import host_servers
from turnwire.adapter.mcp.mcp_host import HostedServer, McpError, McpHost, PythonServer, load_entry_point
from turnwire.adapter.mcp.tools import ToolServer
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.session.notices import SessionNotice
from turnwire.protocol.json_values import Json, JsonObject

calc = ToolServer("calc", "1.2")


@calc.tool("Adds two numbers", {"type": "object", "properties": {"a": {"type": "number"}}})
async def add(arguments: JsonObject) -> str:
    return str(arguments["a"] + arguments["b"])


@calc.tool("Hangs", {"type": "object"})
async def hang(arguments: JsonObject) -> str:
    await asyncio.Event().wait()
    return "never"


async def say(host: McpHost, message: JsonObject, server: str = "calc") -> Json:
    return await host.answer(server, message)


def call(method: str, number: int = 1, **params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


HOST = McpHost({"calc": PythonServer(calc)})


async def test_a_server_of_python_functions_speaks_mcp() -> None:
    assert (await say(HOST, call("initialize", protocolVersion="2025-11-25")))["result"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "calc", "version": "1.2"},
    }
    tools = (await say(HOST, call("tools/list")))["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["add", "hang"]
    assert tools[0]["inputSchema"]["properties"] == {"a": {"type": "number"}}
    assert await say(HOST, call("tools/call", 7, name="add", arguments={"a": 2, "b": 3})) == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"content": [{"type": "text", "text": "5"}]},
    }
    assert (await say(HOST, call("ping")))["result"] == {}


async def test_a_tool_that_fails_tells_the_model() -> None:
    result = (await say(HOST, call("tools/call", name="add", arguments={"a": 1})))["result"]
    assert result == {"content": [{"type": "text", "text": "KeyError: 'b'"}], "isError": True}
    assert (await say(HOST, call("tools/call", name="sub")))["result"]["isError"] is True


async def test_a_notification_is_answered_too_since_the_cli_waits() -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await say(HOST, notification) == {"jsonrpc": "2.0", "id": 0, "result": {}}
    assert (await say(HOST, notification, "nobody"))["result"] == {}


@pytest.mark.parametrize(
    ("server", "message", "complaint"),
    [
        ("nobody", call("ping"), "there is no server 'nobody'"),
        ("calc", call("resources/list"), "no method 'resources/list'"),
    ],
)
async def test_what_cannot_be_answered_is_an_error_of_json_rpc(
    server: str, message: JsonObject, complaint: str
) -> None:
    answer = await say(HOST, message, server)
    assert answer["id"] == 1
    assert answer["error"]["message"] == complaint


async def test_a_server_that_hangs_is_answered_for_in_time() -> None:
    host = McpHost({"calc": PythonServer(calc)}, deadline=0.05)
    answer = await say(host, call("tools/call", name="hang"))
    assert answer["error"]["message"] == "no answer within 0.05 s"


async def test_a_server_that_raises_costs_its_answer_alone() -> None:
    async def broken(message: JsonObject) -> JsonObject | None:
        raise ValueError("oh")

    answer = await say(McpHost({"calc": PythonServer(broken)}), call("ping"))
    assert answer["error"]["message"] == "ValueError: oh"


async def test_what_is_no_json_is_the_servers_failure() -> None:
    async def broken(message: JsonObject) -> JsonObject | None:
        return {"jsonrpc": "2.0", "id": 1, "result": {1, 2}}

    answer = await say(McpHost({"calc": PythonServer(broken)}), call("ping"))
    assert "not JSON serializable" in answer["error"]["message"]


def test_entry_points_are_found_or_refused_in_words() -> None:
    assert isinstance(load_entry_point("json:loads"), PythonServer)
    for wrong in ("json", "json:nope", "no_such_module:x", ":x"):
        with pytest.raises(McpError, match=r"package\.module:attribute"):
            load_entry_point(wrong)
    with pytest.raises(McpError, match="not callable"):
        load_entry_point("json:__name__")


def test_hosted_servers_are_announced_to_the_cli() -> None:
    options = SessionOptions(workspace=Path(), hosted_servers={"calc": HostedServer(command=("x",))})
    argv = build_argv(options, PermissionSettings(), None)
    assert '--mcp-config={"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}' in argv
    assert HOST.names == ["calc"]
    both = replace(options, command=CommandOptions(mcp_servers={"calc": {"command": "y"}}))
    with pytest.raises(CommandError, match="calc: in hosted_mcp and in mcp_servers; remove one of the two"):
        build_argv(both, PermissionSettings(), None)


# Bridged

BRIDGED = """
import json, sys
print("a greeting that is no JSON", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "crash":
        sys.stderr.write("it hurts"); sys.exit(4)
    if message.get("method") == "news":
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
    elif "id" in message and "method" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"echo": message["method"]}}), flush=True)
"""


class Bridge:
    def __init__(self) -> None:
        self.news: asyncio.Queue[tuple[str, JsonObject]] = asyncio.Queue()
        self.notices: list[SessionNotice] = []


@pytest.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[tuple[McpHost, Bridge]]:
    seen = Bridge()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        host = await host_servers(
            {
                "echo": HostedServer(command=(sys.executable, "-c", BRIDGED)),
                "missing": HostedServer(command=("no-such-server",)),
                "calc": HostedServer(entry_point="json:loads"),
            },
            workspace=tmp_path,
            tasks=tasks,
            send=lambda server, message: seen.news.put_nowait((server, message)),
            notify=seen.notices.append,
        )
        yield host, seen
        await host.close()


async def test_a_command_is_bridged(bridge: tuple[McpHost, Bridge]) -> None:
    host, seen = bridge
    answers = await asyncio.gather(*(say(host, call(f"m{n}", n), "echo") for n in range(10)))
    assert [(answer["id"], answer["result"]["echo"]) for answer in answers] == [
        (n, f"m{n}") for n in range(10)
    ]
    assert await say(host, {"jsonrpc": "2.0", "method": "news"}, "echo")
    assert await seen.news.get() == (
        "echo",
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    )


async def test_a_command_that_is_missing_is_told_once_and_answers_with_the_reason(
    bridge: tuple[McpHost, Bridge],
) -> None:
    host, seen = bridge
    [notice] = seen.notices
    assert notice.code == "mcp_failed"
    assert "no-such-server" in notice.message
    assert "no-such-server" in (await say(host, call("initialize"), "missing"))["error"]["message"]


async def test_a_command_that_dies_fails_what_waits_and_what_comes(bridge: tuple[McpHost, Bridge]) -> None:
    host, _ = bridge
    for method in ("crash", "after"):
        answer = await say(host, call(method), "echo")
        assert "the MCP server echo has exited (4) it hurts" in answer["error"]["message"]


async def test_a_command_gets_its_own_environment_and_not_ours(tmp_path: Path) -> None:
    program = "import json, os, sys; json.loads(sys.stdin.readline()); print(json.dumps({'id': 1, 'result': dict(os.environ)}), flush=True)"
    os.environ["TURNWIRE_TEST_SECRET"] = "must not be passed on"
    try:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            host = await host_servers(
                {"env": HostedServer(command=(sys.executable, "-c", program), env={"MINE": "1"})},
                workspace=tmp_path,
                tasks=tasks,
                send=lambda server, message: None,
                notify=lambda notice: None,
            )
            environment = (await say(host, call("x"), "env"))["result"]
            await host.close()
    finally:
        del os.environ["TURNWIRE_TEST_SECRET"]
    assert environment["MINE"] == "1"
    assert "TURNWIRE_TEST_SECRET" not in environment


@pytest.mark.long
async def test_a_command_that_will_not_end_is_ended(tmp_path: Path) -> None:
    program = "import time; time.sleep(600)"
    async with asyncio.timeout(60):
        server = await BridgedServer.start(
            "sleepy",
            (sys.executable, "-c", program),
            workspace=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            on_message=lambda message: None,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.run())
            await server.close()


async def test_a_command_that_dies_and_leaves_its_output_to_a_daemon_fails_what_waits(tmp_path: Path) -> None:
    program = """
import subprocess, sys
sys.stdin.readline()
subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, env={})
raise SystemExit(4)
"""
    async with asyncio.timeout(60):
        server = await BridgedServer.start(
            "leaving",
            (sys.executable, "-c", program),
            workspace=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            on_message=lambda message: None,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.run())
            with pytest.raises(McpError, match=r"has exited \(4\)"):
                await server.handle({"jsonrpc": "2.0", "id": 1, "method": "x"})
            await server.close()
