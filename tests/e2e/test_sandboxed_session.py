"""The real Claude Code in the sandbox `network`: turns, a host that is asked about, and a conversation that is gone on with."""

import asyncio
import json
import sys
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest

from live import real_setup, running
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client.commands import PortList, PortOpen
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved, SandboxDenied, ToolUpdate
from turnwire.client.results import OpenedPort


def visited(opened: OpenedPort) -> str:
    """What a browser shows that follows the link; raises OSError where nobody listens."""
    browser = build_opener(ProxyHandler({}), HTTPCookieProcessor())
    with browser.open(f"http://127.0.0.1:{opened.port}{opened.path}", timeout=20) as answer:
        return str(answer.read().decode())


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]


async def test_claude_code_works_in_a_sandbox_and_asks_about_a_new_host(tmp_path: Path) -> None:
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id").write_text("a-key")
    command = "echo here > made.txt; cat ~/.ssh/id; touch .vscode/tasks.json; curl -sS -m 20 https://files.example.org/; cat made.txt"
    command += "; setsid python3 -m http.server 5173 >/dev/null 2>&1 </dev/null &"
    with scripted_messages_api() as api:
        hosts = api.url.removeprefix("http://")
        setup = real_setup(tmp_path, api, str)
        async with running(tmp_path, setup, "--sandbox", "network", TURNWIRE_SANDBOX_HOSTS=hosts) as (
            frontend,
            _,
        ):
            (listed,) = frontend.client.known_sessions
            assert listed.sandbox == "network"
            await frontend.prompt(
                plan(
                    [tool_use("Bash", command=command, description="Try")],
                    [text("Done.")],
                    note="remember 4711",
                )
            )
            leave = await frontend.until(PermissionRequest)
            await frontend.respond(leave, "allow_once")
            asked = await frontend.until(PermissionRequest, lambda one: one.action_type == "network")
            assert asked.permission_title == "Bash wants to reach files.example.org:443"
            await frontend.respond(asked, "reject_once")
            assert (await frontend.until(Complete)).data.outcome == "completed"

            ended = next(one for one in frontend.seen(ToolUpdate) if one.tool_status != "running")
            assert {one.target: one.tool_call_id for one in frontend.seen(SandboxDenied)} == {
                "files.example.org:443": ended.tool_call_id,
                f"{tmp_path}/home/.ssh/id": ended.tool_call_id,
                ".vscode/tasks.json": ended.tool_call_id,
            }
            (resolved,) = [
                one for one in frontend.seen(PermissionResolved) if one.pending_id == asked.pending_id
            ]
            assert (resolved.behavior, resolved.option_id) == ("deny", "reject_once")
            assert (tmp_path / "project" / "made.txt").read_text() == "here\n"
            assert "a-key" not in json.dumps(api.requests)

            ports = PortList(session=frontend.session)
            async with asyncio.timeout(20):
                while not (await frontend.client.command(ports)).ports:  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.05)
            opened = await frontend.client.command(PortOpen(session=frontend.session, port=5173))
            (shown,) = (await frontend.client.command(ports)).ports
            assert (shown.port, shown.open) == (5173, True)
            page = await asyncio.to_thread(visited, opened)
            assert "made.txt" in page
            await frontend.client.close_session(frontend.session)
            with pytest.raises(OSError, match="refused"):
                await asyncio.to_thread(visited, opened)
            assert not (tmp_path / "project" / ".vscode").exists()
            await frontend.client.resume(frontend.session)
            await frontend.turn(plan([text("It was 4711.")]))
            assert "remember 4711" in json.dumps(api.requests[-1]["messages"])
