"""`turnwire mcp` as a process: over standard input, over HTTP with a token, and with the real Claude Code (offline) as its host."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

from agent_process import agent_command
from live import preloaded_running, real_setup
from recordings import ROOT
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client.events import PermissionRequest, ToolUpdate
from turnwire_process import DEADLINE, TURNWIRE, environment, preloaded_turnwire

pytestmark = pytest.mark.long

SCRIPT = "fallback:\n  steps:\n    - text: 'You said: {prompt}'\n"


def scripted(folder: Path) -> tuple[str, ...]:
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    return ("run", "--", *agent_command(script))


def value(result: Any) -> Any:
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


async def test_an_assistant_leads_a_session_over_standard_input(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    async with preloaded_turnwire(tmp_path, *scripted(tmp_path), env=env) as served:
        server = mcp.StdioServerParameters(
            command=TURNWIRE[0],
            args=[*TURNWIRE[1:], "mcp", "--connect", served.url],
            env=env,
            cwd=str(tmp_path),
        )
        async with asyncio.timeout(DEADLINE), mcp.Client(mcp.stdio_client(server)) as client:
            report = value(await client.call_tool("prompt", {"session": served.session, "text": "hello"}))
            assert (report["state"], report["text"]) == ("ended", "You said: hello")
            told = await client.read_resource(f"turnwire://sessions/{served.session}/transcript")
            assert "You said: hello" in str(told)


async def test_http_is_for_who_shows_the_hubs_token(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    async with preloaded_turnwire(tmp_path, *scripted(tmp_path), env=env) as served:
        process = await asyncio.create_subprocess_exec(
            *TURNWIRE, "mcp", "--http", "--port", "0", "--connect", served.url,
            cwd=tmp_path, env=env, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async with asyncio.timeout(DEADLINE):
                url = (await process.stdout.readline()).decode().split()[-1]
                async with httpx2.AsyncClient() as http:
                    assert (await http.post(url, json={})).status_code == 401
                    headers = {"Authorization": f"Bearer {served.token}"}
                    foreign = {**headers, "Origin": "https://evil.example"}
                    assert (await http.post(url, json={}, headers=foreign)).status_code == 403
                async with (
                    httpx2.AsyncClient(headers=headers) as http,
                    mcp.Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    report = value(
                        await client.call_tool("prompt", {"session": served.session, "text": "hi"})
                    )
                    assert report["text"] == "You said: hi"
        finally:
            process.terminate()
            await process.wait()


async def test_the_real_claude_code_leads_another_agent(tmp_path: Path) -> None:
    led, leading = tmp_path / "led", tmp_path / "leading"
    led.mkdir()
    leading.mkdir()
    with scripted_messages_api() as api:
        async with preloaded_turnwire(led, *scripted(led), env=environment(led / "home")) as served:
            setup = real_setup(leading, api, str)
            command = [sys.executable, "-m", "turnwire", "mcp", "--connect", served.url]
            (leading / "turnwire.toml").write_text(
                f'[hosted_mcp.agents]\ncommand = {json.dumps(command)}\nenv = {{ PYTHONPATH = "{ROOT}" }}\n'
            )
            async with preloaded_running(leading, setup, PYTHONPATH=str(ROOT)) as (frontend, _):
                given = {"session": served.session, "text": "from Claude"}
                complete = await frontend.turn(
                    plan([tool_use("mcp__agents__prompt", **given)], [text("It answered.")])
                )
        assert complete.data.outcome == "completed"
        assert frontend.seen(PermissionRequest)[0].action_type == "mcp_tool"
        assert frontend.seen(ToolUpdate)[-1].tool_status == "complete"
        assert "You said: from Claude" in json.dumps(api.requests[-1]["messages"])
