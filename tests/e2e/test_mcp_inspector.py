"""The inspector of the Model Context Protocol, by its command line, on `turnwire mcp`: over standard input and over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from real_agents import AGENTS, node

from agent_process import agent_command
from turnwire_process import DEADLINE, TURNWIRE, Served, environment, preloaded_turnwire

pytestmark = pytest.mark.long

INSPECTOR = AGENTS / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
SCRIPT = "fallback:\n  steps:\n    - text: 'You said: {prompt}'\n"
TOOLS = {"list_sessions", "start_session", "interrupt", "prompt", "wait", "answer_question"}


async def inspected(folder: Path, *arguments: str, code: int = 0) -> Any:
    """What the inspector prints as JSON, of a server that is named by its arguments."""
    process = await asyncio.create_subprocess_exec(
        str(node()), str(INSPECTOR), "--cli", *arguments,
        cwd=folder, env=environment(folder / "home"), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(DEADLINE):
        printed, said = await process.communicate()
    assert process.returncode == code, (printed + said).decode()
    return json.loads(printed) if code == 0 else said.decode()


async def shown_to(folder: Path, session: str, *server: str) -> None:
    """Use the server as a person at the inspector does."""
    listed = await inspected(folder, *server, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == TOOLS
    given = ("--tool-name", "prompt", "--tool-arg", f"session={session}", "text=hello")
    called = await inspected(folder, *server, "--method", "tools/call", *given)
    report = json.loads(called["content"][0]["text"])
    assert (report["state"], report["outcome"], report["text"]) == ("ended", "completed", "You said: hello")
    templates = await inspected(folder, *server, "--method", "resources/templates/list")
    assert len(templates["resourceTemplates"]) == 2
    transcript = f"turnwire://sessions/{session}/transcript"
    read = await inspected(folder, *server, "--method", "resources/read", "--uri", transcript)
    assert "You said: hello" in read["contents"][0]["text"]


@asynccontextmanager
async def scripted(folder: Path) -> AsyncIterator[Served]:
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    command = ("run", "--", *agent_command(script))
    async with preloaded_turnwire(folder, *command, env=environment(folder / "home")) as served:
        yield served


async def test_the_inspector_uses_it_over_standard_input(tmp_path: Path) -> None:
    async with scripted(tmp_path) as served:
        await shown_to(tmp_path, served.session, *TURNWIRE, "mcp", "--connect", served.url)


async def test_the_inspector_uses_it_over_http_with_the_token_alone(tmp_path: Path) -> None:
    async with scripted(tmp_path) as served:
        process = await asyncio.create_subprocess_exec(
            *TURNWIRE, "mcp", "--http", "--port", "0", "--connect", served.url,
            cwd=tmp_path, env=environment(tmp_path / "home"), stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async with asyncio.timeout(DEADLINE):
                url = (await process.stdout.readline()).decode().split()[-1]
            await shown_to(tmp_path, served.session, url, "--header", f"Authorization: Bearer {served.token}")
            said = await inspected(tmp_path, url, "--method", "tools/list", code=3)
            assert "auth_required" in said
        finally:
            process.terminate()
            await process.wait()
