"""Runs of the real CLI, offline: what its options do, its MCP servers, and a rate limit that passes."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from real_cli import real_cli, real_cli_environment
from recordings import ROOT
from scripted_messages_api import ScriptedMessagesApi, http_error, scripted_messages_api, text, tool_use
from turnwire.runner.client import ClientRun, RunError, RunnerClient
from turnwire_process import DEADLINE, TURNWIRE

JSON = dict[str, Any]

MCP_SERVER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    method, number = request.get("method"), request.get("id")
    if number is None:
        continue
    result = {}
    if method == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "add", "description": "Add", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "the sum is 3"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
"""


@pytest.fixture
def api() -> Iterator[ScriptedMessagesApi]:
    with scripted_messages_api() as running:
        yield running


@asynccontextmanager
async def runner(folder: Path, api: ScriptedMessagesApi, **more: str) -> AsyncIterator[RunnerClient]:
    names = [*real_cli_environment(folder / "home", api.url), *more]
    env = {
        **real_cli_environment(folder / "home", api.url),
        **more,
        "PYTHONPATH": str(ROOT),
        "TURNWIRE_PASS_ENV": ",".join(names),
        "TURNWIRE_AGENTS": json.dumps({"claude": [str(real_cli())]}),
    }
    client = RunnerClient([*TURNWIRE, "runner"], env=env, cwd=str(folder))
    async with asyncio.timeout(DEADLINE), client as running:
        yield running


async def run(running: RunnerClient, prompt: str, **params: object) -> ClientRun:
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    whole = {"model": "claude-sonnet-5-5", "message": message, "rate_limit_max_retries": 1, **params}
    return await running.run(**whole)


async def events(of: ClientRun) -> list[JSON]:
    return [event async for event in of]


@pytest.mark.long
async def test_options_reach_the_cli_and_there_are_no_tools(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    async with runner(tmp_path, api) as running:
        one = await run(running, "hello", system_prompt="Be brief.", effort="low", user_agent="mine/1.2")
        said = await events(one)
        assert one.status == "ok"
        init, result = said[0], said[-1]
        assert (init["tools"], init["permissionMode"]) == ([], "bypassPermissions")
        assert result["result"] == "ok: hello"
        assert any(event["type"] == "stream_event" for event in said)
        body = api.requests[0]
        assert body["model"] == "claude-sonnet-5-5"
        assert "Be brief." in json.dumps(body["system"])
        assert not body.get("tools")
        resumed = await events(await run(running, "more", resume=init["session_id"]))
        assert resumed[-1]["session_id"] == init["session_id"]
        assert "ok: hello" in json.dumps(api.requests[1]["messages"])


async def test_mcp_servers_are_waited_for_and_are_the_tools(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    server = tmp_path / "server.py"
    server.write_text(MCP_SERVER)
    api.queue([tool_use("mcp__sums__add")], [text("It is three.")])
    async with runner(tmp_path, api) as running:
        servers = {"sums": {"command": sys.executable, "args": [str(server)]}}
        one = await run(running, "add", mcp_servers=servers)
        said = await events(one)
        assert said[-1]["result"] == "It is three."
        assert "the sum is 3" in json.dumps(said)
        assert "mcp__sums__add" in next(event for event in said if event.get("subtype") == "init")["tools"]
        assert {event["type"] for event in said} & {"control_request", "control_response"} == set()


@pytest.mark.long
async def test_an_mcp_server_that_fails_fails_the_run(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    async with runner(tmp_path, api) as running:
        broken = {"broken": {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}}
        with pytest.raises(RunError, match="MCP server broken: failed"):
            await events(await run(running, "add", mcp_servers=broken))
        assert api.requests == []


@pytest.mark.long
async def test_an_mcp_server_that_the_cli_does_not_understand_fails_the_run(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with runner(tmp_path, api) as running:
        with pytest.raises(RunError, match=r"invalid-params: .*mcp_servers\.odd"):
            await events(await run(running, "add", mcp_servers={"odd": {}}))
        odd = {"odd": {"type": "brand_new", "command": "x"}}
        with pytest.raises(RunError, match="MCP server odd: the CLI rejects its configuration"):
            await events(await run(running, "add", mcp_servers=odd))
        assert api.requests == []


@pytest.mark.long
async def test_a_rate_limit_is_waited_for_and_the_turn_is_finished(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    limit = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(int(time.time()) + 2),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    api.queue([http_error(429, "rate_limit_error", "limited", limit)], [text("Here I am again.")])
    # limits are told of with a subscription's token alone, here a dummy
    more = {
        "ANTHROPIC_API_KEY": "",
        "CLAUDE_CODE_OAUTH_TOKEN": "dummy-local-token",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    async with runner(tmp_path, api, **more) as running:
        one = await run(running, "hello")
        said = await events(one)
    assert one.status == "ok"
    # what was said of the limit is no event, and the turn has one result
    assert [event["result"] for event in said if event["type"] == "result"] == ["Here I am again."]
    assert len({event["session_id"] for event in said if "session_id" in event}) == 1
    assert [event["rate_limit_info"]["status"] for event in said if event["type"] == "rate_limit_event"] in (
        [],
        ["allowed"],
    )
    (note,) = one.notes
    assert note.level == "warn"
    assert "retry 1 of 1" in note.message
    assert json.dumps(api.requests[-1]["messages"]).count("hello") == 1
