"""The official SDK takes `turnwire stdio` for a CLI: over the scripted agent, and over the real CLI offline."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    Message,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

from real_cli import real_cli, real_cli_environment
from recordings import ROOT
from scripted_messages_api import hang, plan, scripted_messages_api, text, tool_use
from turnwire_process import DEADLINE, environment
from waiting import until

JSON = dict[str, Any]

SCRIPT = """
turns:
  - match: "^hang"
    steps: [{text: Waiting.}, {hang: true}]
  - match: "^touch"
    steps:
      - text: Touching.
      - tool: Bash
        input: {command: "touch made"}
        permission: true
        result: ""
      - text: Done.
fallback:
  steps: [{text: "ok: {prompt}"}]
"""


@dataclass
class Peer:
    """A CLI underneath, and the prompts that make it do things."""

    options: ClaudeAgentOptions
    touch: str
    hanging: str
    real: bool


def executable(folder: Path, config: Path) -> Path:
    """A file that the SDK can start as a CLI."""
    path = folder / "cli"
    command = shlex.join(
        [sys.executable, "-m", "turnwire", "stdio", "--agent", "under", "--config", str(config)]
    )
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
    return path


def options(folder: Path, argv: list[str], env: dict[str, str]) -> ClaudeAgentOptions:
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps(argv)}\n")
    project = folder / "project"
    project.mkdir()
    return ClaudeAgentOptions(
        cli_path=executable(folder, config),
        cwd=project,
        env={**env, "PYTHONPATH": str(ROOT)},
        include_partial_messages=True,
    )


@pytest.fixture(params=["scripted", "real"])
def peer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Peer]:
    if request.param == "scripted":
        script = tmp_path / "script.yaml"
        script.write_text(SCRIPT)
        argv = [sys.executable, "-m", "turnwire.scripted_agent", str(script)]
        yield Peer(options(tmp_path, argv, environment(tmp_path / "home")), "touch", "hang", real=False)
        return
    with scripted_messages_api() as api:
        env = real_cli_environment(tmp_path / "home", api.url)
        call = tool_use("Bash", command="touch made", description="Touch a file")
        touch = plan([text("Touching."), call], [text("Done.")])
        made = options(tmp_path, [str(real_cli())], env)
        yield Peer(made, touch, plan([text("Waiting."), hang()]), real=True)


@pytest.fixture(autouse=True)
def _bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    # the SDK passes its own environment on; nothing of the developer's may reach the CLI
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)


def texts(messages: list[Message]) -> list[str]:
    return [
        block.text
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, TextBlock)
    ]


def last(messages: list[Message]) -> ResultMessage:
    result = messages[-1]
    assert isinstance(result, ResultMessage)
    return result


async def turn(client: ClaudeSDKClient, prompt: str) -> list[Message]:
    await client.query(prompt)
    return [message async for message in client.receive_response()]


async def test_a_query_is_answered(peer: Peer) -> None:
    async with asyncio.timeout(DEADLINE):
        messages = [message async for message in query(prompt="hello", options=peer.options)]
    assert texts(messages) == ["ok: hello"]
    assert last(messages).result == "ok: hello"
    assert isinstance(messages[0], SystemMessage)
    assert any(isinstance(message, StreamEvent) for message in messages)


@pytest.mark.long
async def test_input_is_streamed(peer: Peer) -> None:
    async def prompts() -> AsyncIterator[JSON]:
        for prompt in ("one", "two"):
            yield {"type": "user", "message": {"role": "user", "content": prompt}}

    async with asyncio.timeout(DEADLINE):
        messages = [message async for message in query(prompt=prompts(), options=peer.options)]
    assert " ".join(texts(messages)).startswith("ok: one")
    assert "two" in " ".join(texts(messages))
    assert last(messages).is_error is False


@pytest.mark.long
async def test_the_process_stays_between_turns(peer: Peer) -> None:
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(peer.options) as client:
        first, second = await turn(client, "first"), await turn(client, "second")
        assert (last(first).result, last(second).result) == ("ok: first", "ok: second")
        assert last(first).session_id == last(second).session_id
        await client.set_permission_mode("plan")


@pytest.mark.long
@pytest.mark.parametrize("allowed", [True, False])
async def test_permissions_are_asked_of_the_sdk(peer: Peer, allowed: bool) -> None:
    asked: list[tuple[str, JSON]] = []

    async def decide(
        tool: str, arguments: JSON, context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        asked.append((tool, arguments))
        return PermissionResultAllow() if allowed else PermissionResultDeny(message="not here")

    peer.options.can_use_tool = decide
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(peer.options) as client:
        messages = await turn(client, peer.touch)
    assert [(tool, arguments["command"]) for tool, arguments in asked] == [("Bash", "touch made")]
    results = [
        block
        for message in messages
        if isinstance(message, UserMessage) and isinstance(message.content, list)
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]
    assert [bool(block.is_error) for block in results] == [not allowed]
    assert any(
        isinstance(block, ToolUseBlock) and block.name == "Bash"
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
    )
    assert texts(messages)[-1] == "Done."
    if peer.real:
        assert (Path(str(peer.options.cwd)) / "made").exists() is allowed


@pytest.mark.long
async def test_hooks_are_called_in_the_sdk(peer: Peer) -> None:
    seen: list[tuple[str, str]] = []

    async def hook(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        event = given["hook_event_name"]
        seen.append((event, str(dict(given).get("tool_name", ""))))
        if event != "PreToolUse":
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "no touching",
            }
        }

    peer.options.hooks = {
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])],
        "UserPromptSubmit": [HookMatcher(hooks=[hook])],
    }
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(peer.options) as client:
        messages = await turn(client, peer.touch)
    assert seen == [("UserPromptSubmit", ""), ("PreToolUse", "Bash")]
    assert "no touching" in str(messages)
    if peer.real:
        assert not (Path(str(peer.options.cwd)) / "made").exists()


async def test_what_the_cli_says_on_stderr_is_heard_whole_and_at_once(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    program = tmp_path / "loud.py"
    program.write_text(
        "import os, runpy, sys\n"
        "for number in range(3000):\n"
        "    print(f'line {number} ' + 'x' * 100, file=sys.stderr, flush=True)\n"
        f"sys.argv[1:1] = [{str(script)!r}]\n"
        "runpy.run_module('turnwire.scripted_agent', run_name='__main__')\n"
    )
    heard: list[str] = []
    made = options(tmp_path, [sys.executable, str(program)], environment(tmp_path / "home"))
    made.stderr = heard.append
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(made) as client:
        assert last(await turn(client, "hello")).result == "ok: hello"
        await until(lambda: len(heard) == 3000)
    assert heard == [f"line {number} {'x' * 100}" for number in range(3000)]


@pytest.mark.long
async def test_the_debug_lines_of_the_real_cli_are_heard_while_it_runs(tmp_path: Path) -> None:
    heard: list[str] = []
    with scripted_messages_api() as api:
        made = options(tmp_path, [str(real_cli())], real_cli_environment(tmp_path / "home", api.url))
        made.stderr = heard.append
        made.extra_args = {"debug-to-stderr": None}
        async with asyncio.timeout(DEADLINE), ClaudeSDKClient(made) as client:
            assert last(await turn(client, "hello")).result == "ok: hello"
            await until(lambda: heard)


MIRIAD_AGENT = """
import json, sys

def say(message):
    print(json.dumps(message), flush=True)

assert sys.argv[1:] == [], sys.argv
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control":
        say({"type": "result", "subtype": "cancelled", "is_error": False})
        continue
    text = message["message"]["content"]
    say({"type": "assistant", "message": {"role": "assistant", "content": text}})
    say({"type": "brand_new"})
    say({"type": "system", "subtype": "error", "message": "odd"})
    if text == "fail":
        say({"type": "result", "subtype": "error", "is_error": True, "result": "broken"})
    elif text != "hang":
        say({"type": "result", "subtype": "success", "result": text})
"""

JSON_RPC_AGENT = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

running = None
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "interrupt":
        say(id=message["id"], result=None)
        say(id=running, error={"code": -32800, "message": "stopped"})
        continue
    running = message["id"]
    text = message["params"]["message"]["content"]
    content = [{"type": "text", "text": text}, {"type": "thinking", "thinking": "hm"}]
    say(method="assistant", params={"message": {"content": content}})
    say(method="stream_event", params={"event": {}})
    if text == "fail":
        say(id=running, error={"code": -32000, "message": "broken"})
    elif text != "hang":
        say(id=running, result=text)
"""


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "program"), [("miriad", MIRIAD_AGENT), ("json_rpc", JSON_RPC_AGENT)])
async def test_an_agent_of_another_dialect_is_a_cli_to_the_sdk(
    tmp_path: Path, dialect: str, program: str
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(program)
    env = environment(tmp_path / "home", TURNWIRE_DIALECT=dialect)
    made = options(tmp_path, [sys.executable, str(agent)], env)
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(made) as client:
        good = await turn(client, "hello")
        assert texts(good) == ["hello"]
        assert (last(good).subtype, last(good).result, last(good).is_error) == ("success", "hello", False)
        failed = last(await turn(client, "fail"))
        assert (failed.subtype, failed.errors, failed.is_error) == (
            "error_during_execution",
            ["broken"],
            True,
        )
        await client.query("hang")
        messages: list[Message] = []
        async for message in client.receive_response():
            messages.append(message)
            if texts(messages) == ["hang"]:
                await client.interrupt()
        assert last(messages).subtype == "error_during_execution"
        assert last(messages).terminal_reason == "aborted_streaming"


@pytest.mark.long
async def test_a_turn_is_interrupted_and_the_session_goes_on(peer: Peer) -> None:
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(peer.options) as client:
        await client.query(peer.hanging)
        messages: list[Message] = []
        async for message in client.receive_response():
            messages.append(message)
            if isinstance(message, StreamEvent) and "Waiting" in str(messages):
                break
        await client.interrupt()
        messages += [message async for message in client.receive_response()]
        assert last(messages).subtype == "error_during_execution"
        assert last(await turn(client, "again")).result == "ok: again"
