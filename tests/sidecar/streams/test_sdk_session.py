"""`turnwire stdio` over an agent of the Agent Client Protocol, as a process and under the official SDK."""

import asyncio
import json
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultMessage,
    query,
)

from agent_process import AgentProcess
from live import descendants, gone
from recordings import ROOT
from turnwire_process import DEADLINE, TURNWIRE, environment

JSON = dict[str, Any]

SCRIPT = """
turns:
  - match: "^hang"
    steps: [{text: Waiting.}, {hang: true}]
  - match: "^crash"
    steps: [{text: Ouch.}, {crash: 3}]
  - match: "^touch"
    steps:
      - tool: Bash
        input: {command: "touch made"}
        permission: true
        result: "made"
      - text: Done.
fallback:
  steps: [{text: "ok: {prompt}"}]
"""


def configured(folder: Path) -> list[str]:
    """The options that start the scripted agent."""
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--family", "acp"]
    config = folder / "turnwire.toml"
    config.write_text(f'[agents.under]\nfamily = "acp"\ncommand = {json.dumps(argv)}\n')
    return ["stdio", "--agent=under", f"--config={config}"]


@asynccontextmanager
async def stdio(
    folder: Path, *options: str, argv: Sequence[str] = (), **env: str
) -> AsyncIterator[AgentProcess]:
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *(argv or configured(folder)),
        *options,
        cwd=folder,
        env=environment(folder / "home", PYTHONPATH=str(ROOT), **env),
        limit=1 << 26,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            yield AgentProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def sdk(folder: Path, **given: Any) -> ClaudeAgentOptions:
    program = folder / "cli"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([*TURNWIRE, *configured(folder)])} "$@"\n')
    program.chmod(0o755)
    env = environment(folder / "home", PYTHONPATH=str(ROOT))
    return ClaudeAgentOptions(cli_path=program, cwd=folder, env=env, **given)


async def test_a_program_drives_the_agent_and_ends_it(tmp_path: Path) -> None:
    async with stdio(tmp_path, "--permission-prompt-tool", "stdio", "--include-partial-messages") as peer:
        peer.control("1", subtype="initialize", hooks=None)
        greeting = await peer.next()
        assert greeting["response"]["response"]["turnwire"]["agent"] == "Scripted agent"
        peer.prompt("touch it", uuid="11111111-0000-4000-8000-000000000000")
        asked = await peer.until_type("control_request")
        assert (asked["request"]["tool_name"], asked["request"]["input"]) == (
            "Bash",
            {"command": "touch made"},
        )
        told = [line for line in peer.received if line["type"] == "assistant"]
        assert told[0]["message"]["content"][0]["id"] == asked["request"]["tool_use_id"]
        peer.allow(asked)
        done = await peer.result()
        assert (done["result"], done["user_message_uuids"]) == (
            "Done.",
            ["11111111-0000-4000-8000-000000000000"],
        )
        peer.prompt("hang")
        await peer.until(lambda line: line["type"] == "stream_event" and "Waiting." in str(line))
        peer.control("2", subtype="interrupt")
        assert (await peer.result())["subtype"] == "error_during_execution"
        peer.control("3", subtype="set_permission_mode", mode="plan")
        peer.control("4", subtype="set_model", model="scripted-agent-2")
        peer.control("5", subtype="rewind_files", user_message_id="x")
        answers = {
            line["response"]["request_id"]: line["response"]
            for line in [await peer.until_type("control_response") for _ in range(4)]
        }
        assert [answers[name]["subtype"] for name in "2345"] == ["success", "success", "success", "error"]
        assert "rewind_files" in answers["5"]["error"]
        processes = descendants(peer.process.pid)
        assert await peer.rest() == []
        assert await peer.process.wait() == 0
        await gone(processes)


async def test_what_the_agent_cannot_do_is_refused_by_name(tmp_path: Path) -> None:
    async def hook(*_: Any) -> Any:
        return {}

    given = sdk(tmp_path, max_turns=3, hooks={"PreToolUse": [HookMatcher(hooks=[hook])]})
    with pytest.raises(
        Exception, match=r"under cannot do what is asked for: --max-turns; hooks\.PreToolUse\."
    ):
        async with asyncio.timeout(DEADLINE), ClaudeSDKClient(given):
            pass
    async with stdio(tmp_path, "--max-turns=3") as peer:
        peer.prompt("hello")
        assert "--max-turns" in (await peer.result())["errors"][0]
        assert await peer.rest() == []
        assert await peer.process.wait() == 1
    servers = json.dumps({"mcpServers": {"calc": {"type": "sdk"}}})
    async with stdio(tmp_path, "--mcp-config", servers, TURNWIRE_SANDBOX="files") as peer:
        peer.control("1", subtype="initialize")
        assert "calc: in a sandbox" in (await peer.next())["response"]["error"]
        assert await peer.rest() == []
    async with stdio(tmp_path) as peer:
        # the SDK for TypeScript does not wait for the answer
        peer.control("1", subtype="initialize", hooks={"PreToolUse": [{"hookCallbackIds": ["h"]}]})
        peer.prompt("touch it")
        assert "hooks.PreToolUse" in (await peer.result())["errors"][0]
        assert await peer.rest() == []
        assert await peer.process.wait() == 1


async def test_a_caller_that_goes_is_asked_nothing_more_and_its_turn_is_done(tmp_path: Path) -> None:
    async with stdio(tmp_path, "--permission-prompt-tool", "stdio") as peer:
        peer.prompt("touch it")
        await peer.until_type("control_request")
        last = (await peer.rest())[-1]
        assert (last["type"], last["permission_denials"][0]["tool_name"]) == ("result", "Bash")
        assert await peer.process.wait() == 0


async def test_an_agent_that_dies_ends_the_turn_and_the_process(tmp_path: Path) -> None:
    async with stdio(tmp_path) as peer:
        peer.prompt("crash")
        died = await peer.result()
        assert (died["subtype"], died["is_error"]) == ("error_during_execution", True)
        assert await peer.line() == b""
        assert await peer.process.wait() == 3


async def test_a_signal_ends_the_agent_and_all_that_it_started(tmp_path: Path) -> None:
    async with stdio(tmp_path) as peer:
        peer.prompt("hang")
        await peer.until_type("system")
        processes = descendants(peer.process.pid)
        peer.process.send_signal(signal.SIGTERM)
        assert await peer.process.wait() == -signal.SIGTERM
        await gone(processes)


async def test_what_cannot_be_is_an_error_and_ends_nothing_before_its_time(tmp_path: Path) -> None:
    async with stdio(tmp_path, "--permission-mode=nowhere") as peer:
        for line in (b"garbage\n", b"\n", b"[" * 5000 + b"\n", b'{"type":"keep_alive"}\n'):
            peer.send_raw(line)
        peer.control("1", subtype="interrupt")
        assert "has not been started" in (await peer.next())["response"]["error"]
        peer.control("2", subtype="initialize")
        assert "nowhere" in (await peer.next())["response"]["error"]
        assert await peer.rest() == []


async def test_the_callers_name_of_a_session_is_kept_and_a_tool_that_is_allowed_is_not_asked_about(
    tmp_path: Path,
) -> None:
    name = "0123abcd-0000-4000-8000-000000000000"
    given = sdk(tmp_path, session_id=name, allowed_tools=["Bash"])
    async with asyncio.timeout(DEADLINE):
        messages = [message async for message in query(prompt="touch it", options=given)]
    last = messages[-1]
    assert isinstance(last, ResultMessage)
    assert (last.session_id, last.result, last.permission_denials) == (name, "Done.", [])
    [kept] = (tmp_path / "home").rglob(name)
    assert kept.read_text() != name


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
async def test_a_mode_that_the_agent_was_not_started_for_is_refused(tmp_path: Path, mode: str) -> None:
    other = "bypassPermissions" if mode == "default" else "default"
    agent = json.dumps([sys.executable, "-I", str(ROOT / "tests" / "support" / "agents" / "acp_agent.py")])
    (tmp_path / "turnwire.toml").write_text(
        f'accept_unasked = true\n[agents.small]\nfamily = "acp"\ncommand = {agent}\n'
    )
    words = ("stdio", "--agent=small", f"--config={tmp_path / 'turnwire.toml'}", f"--permission-mode={mode}")
    async with stdio(tmp_path, "--permission-prompt-tool", "stdio", argv=words) as peer:
        peer.control("1", subtype="initialize")
        await peer.next()
        peer.control("2", subtype="set_permission_mode", mode=other)
        assert f"permission_mode='{other}'" in (await peer.next())["response"]["error"]
        peer.prompt("tool")
        if mode == "default":
            await peer.until_type("control_request")
        else:
            assert "once" in (await peer.result())["result"]
        await peer.rest()
