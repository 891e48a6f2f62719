"""Attacks on the doors for pages on the AI SDK and for assistants: real servers in front of a session that asks for permission."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from hostile_cli import hostile_cli
from mcp.client.streamable_http import streamable_http_client

from live import Frontend, preloaded_running, scripted_setup
from turnwire.client import connect
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved
from turnwire_process import DEADLINE, TURNWIRE, environment, preloaded_turnwire, turnwire

pytestmark = pytest.mark.long

STRANGE = ("..", "../../etc/passwd", "%2e%2e%2f%2e%2e%2fsessions", "a%00b", "x" * 5000)
"""Session ids that might lead elsewhere."""


def answer(request: PermissionRequest, session: str, option: str) -> dict[str, Any]:
    """What `useChat` sends for a decision."""
    approval = {"id": request.pending_id, "approved": option.startswith("allow")}
    part = {
        "type": "dynamic-tool",
        "toolName": "Bash",
        "toolCallId": request.tool_call_id,
        "state": "approval-responded",
        "input": {},
        "approval": approval,
    }
    message = {"id": "turn-1", "role": "assistant", "parts": [part]}
    return {"id": session, "trigger": "submit-message", "messages": [message]}


async def refused_http(url: str, body: Any, right: str) -> None:
    """Try what no page and no stranger may do."""
    async with httpx2.AsyncClient(timeout=DEADLINE) as http:
        bearer = {"Authorization": f"Bearer {right}"}
        for headers, status in (
            ({}, 401),
            ({"Authorization": f"Bearer {'x' * 40}"}, 401),
            ({"Cookie": f"token={right}"}, 401),
            ({**bearer, "Host": "rebound.example"}, 403),
            ({**bearer, "Origin": "https://evil.example"}, 403),
            ({**bearer, "Origin": "null"}, 403),
            # a form of another page sends no token, and needs no preflight
            ({"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"}, 401),
        ):
            reply = await http.post(url, json=body, headers=headers)
            assert reply.status_code == status, headers
            assert "access-control-allow-origin" not in reply.headers
        assert (await http.post(f"{url}?token={right}", json=body)).status_code == 401
        for bad in (b"{", b"\xff", b"[" * 100_000):
            reply = await http.post(url, content=bad, headers={**bearer, "Content-Type": "application/json"})
            assert 400 <= reply.status_code < 500, (bad[:9], reply.status_code)
        large = await http.post(url, content=b"x" * 9_000_000, headers=bearer)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        assert "8388608 bytes" in large.json()["error"]["message"]


async def test_pages_on_the_ai_sdk_decide_what_is_theirs_and_a_view_token_nothing(
    tmp_path: Path,
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    setup = scripted_setup(tmp_path, "2.1.330")
    async with (
        preloaded_running(tmp_path, setup, "--policy", "supervised") as (mine, served),
        preloaded_turnwire(
            beside, "usechat", "--connect", served.url, "--port", "0", stdout_lines=1, placed=False
        ) as door,
    ):
        url = f"http://127.0.0.1:{door.base.split(':')[2].split('/')[0]}/ai"
        await mine.prompt("ls")
        request = await mine.until(PermissionRequest)
        allows = answer(request, served.session, "allow_once")
        await refused_http(url, allows, served.token)
        view = {"Authorization": f"Bearer {served.view_url.partition('token=')[2]}"}
        right = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(timeout=DEADLINE) as http:
            assert (await http.post(url, json=allows, headers=view)).status_code == 403
            assert (await http.post(f"{url}/{served.session}/stop", headers=view)).status_code == 403
            for strange in STRANGE:
                reply = await http.get(f"{url}/{strange}/messages", headers=right)
                assert reply.status_code in {400, 404}, strange
            other = answer(request, "s-0000000000", "allow_once")
            assert (await http.post(url, json=other, headers=right)).status_code == 404
            assert not mine.seen(PermissionResolved), "nothing was decided"
            denies = answer(request, served.session, "reject_once")
            async with http.stream("POST", url, json=denies, headers=right) as reply:
                assert reply.status_code == 200
                assert (await mine.until(PermissionResolved)).behavior == "deny"
    assert served.token not in (beside / "turnwire.log").read_text()


async def refused_tools(client: mcp.Client, session: str, request: PermissionRequest) -> None:
    for tool, given in (
        ("decide", {"session": session, "request": request.pending_id, "option": "allow_once"}),
        ("prompt", {"session": session, "text": "x", "seconds": 1}),
        ("interrupt", {"session": session}),
        ("start_session", {}),
        ("wait", {"session": "../../etc/passwd", "seconds": 1}),
    ):
        assert (await client.call_tool(tool, given)).is_error, tool


async def test_assistants_over_http_and_standard_input_decide_nothing_that_they_may_not(
    tmp_path: Path,
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    async with preloaded_running(tmp_path, setup, "--policy", "supervised") as (mine, served):
        await mine.prompt("ls")
        request = await mine.until(PermissionRequest)
        env = environment(tmp_path / "other-home")
        stdio = mcp.StdioServerParameters(
            command=TURNWIRE[0],
            args=[*TURNWIRE[1:], "mcp", "--decide", "--connect", served.view_url],
            env=env,
            cwd=str(tmp_path),
        )
        async with asyncio.timeout(DEADLINE), mcp.Client(mcp.stdio_client(stdio)) as client:
            await refused_tools(client, served.session, request)
        process = await asyncio.create_subprocess_exec(
            *TURNWIRE, "mcp", "--http", "--decide", "--port", "0", "--connect", served.view_url,
            cwd=tmp_path, env=env, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async with asyncio.timeout(DEADLINE):
                url = (await process.stdout.readline()).decode().split()[-1]
                view = served.view_url.partition("token=")[2]
                await refused_http(url, json.loads('{"jsonrpc": "2.0", "id": 1, "method": "ping"}'), view)
                async with (
                    httpx2.AsyncClient(headers={"Authorization": f"Bearer {view}"}) as http,
                    mcp.Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    await refused_tools(client, served.session, request)
        finally:
            process.terminate()
            await process.wait()
        assert not mine.seen(PermissionResolved), "nothing was decided"


async def test_who_answers_second_is_told_what_was_decided(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    async with preloaded_running(tmp_path, setup, "--policy", "supervised") as (mine, served):
        stdio = mcp.StdioServerParameters(
            command=TURNWIRE[0],
            args=[*TURNWIRE[1:], "mcp", "--decide", "--connect", served.url],
            env=environment(tmp_path / "other-home"),
            cwd=str(tmp_path),
        )
        async with asyncio.timeout(DEADLINE), mcp.Client(mcp.stdio_client(stdio)) as client:

            async def decide(request: PermissionRequest, option: str) -> Any:
                given = {"session": served.session, "request": request.pending_id, "option": option}
                return await client.call_tool("decide", given)

            # twice by the same assistant
            await mine.prompt("ls")
            request = await mine.until(PermissionRequest)
            assert not (await decide(request, "reject_once")).is_error
            resolved = await mine.until(PermissionResolved)
            again = await decide(request, "allow_once")
            assert again.is_error
            assert f"{resolved.by} has already decided: it is denied" in again.content[0].text
            # a human was first
            await mine.prompt("ls -l")
            request = await mine.until(PermissionRequest)
            await mine.respond(request, "allow_once")
            resolved = await mine.until(PermissionResolved)
            late = await decide(request, "reject_once")
            assert late.is_error
            assert f"{resolved.by} has already decided: it is allowed" in late.content[0].text
        assert [one.behavior for one in mine.seen(PermissionResolved)] == ["deny", "allow"]


CALLS = 2000
LONG = 16_000
RUNS = f"""
for at in range({CALLS}):
    use = {{"type": "tool_use", "id": f"t{{at}}", "name": "Bash", "input": {{"command": f"echo {{at}} " + "x" * {LONG}}}}}
    say(type="assistant", message={{"id": f"m{{at}}", "content": [use]}})
end()
"""


def peak(process: asyncio.subprocess.Process) -> int:
    """Bytes that the process has held at most."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) << 10


async def test_an_assistant_that_does_not_read_keeps_nobody_waiting_and_little_is_kept_for_it(
    tmp_path: Path,
) -> None:
    cli = hostile_cli(tmp_path, RUNS)
    there, end = os.pipe()
    async with (
        turnwire(tmp_path, "run", "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session)
        process = await asyncio.create_subprocess_exec(
            *TURNWIRE, "mcp", "--connect", served.url,
            cwd=tmp_path, env=environment(tmp_path / "other-home"), stdin=-1, stdout=end,
        )  # fmt: skip
        os.close(end)
        assert process.stdin is not None

        def say(method: str, **message: Any) -> None:
            line = json.dumps({"jsonrpc": "2.0", "method": method, **message})
            process.stdin.write(f"{line}\n".encode())  # type: ignore[union-attr]

        with os.fdopen(there, "rb") as back:
            about = {"name": "deaf", "version": "1"}
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
            say("initialize", id=1, params=hello)
            assert json.loads(await asyncio.to_thread(back.readline))["id"] == 1
            before = peak(process)
            given = {"session": frontend.session, "text": "go"}
            asks = {"name": "prompt", "arguments": given, "_meta": {"progressToken": 1}}
            say("notifications/initialized")
            say("tools/call", id=2, params=asks)
            await frontend.until(Complete)
            assert peak(process) - before < CALLS * LONG / 2
            lines = [json.loads(await asyncio.to_thread(back.readline)) for _ in range(CALLS + 1)]
            process.kill()
            await process.wait()
    assert [line["params"]["progress"] for line in lines[:-1]] == list(range(1, CALLS + 1))
    assert lines[-1]["result"]["structuredContent"]["outcome"] == "completed"
