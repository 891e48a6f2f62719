"""The official SDK takes the scripted agent for a CLI: a peer's reading of what it says."""

import asyncio
import sys
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ToolPermissionContext,
)

from agent_process import DEADLINE, script_file
from recordings import ROOT

SCRIPT = """
turns:
  - steps:
      - text: Hello.
      - tool: Bash
        input: {command: ls}
        permission: true
        result: app.py
      - text: Done.
"""


def executable(folder: Path, script: Path) -> Path:
    """A file that the SDK can start as a CLI."""
    path = folder / "cli"
    path.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m turnwire.scripted_agent "{script}" "$@"\n'
    )
    path.chmod(0o755)
    return path


async def test_the_sdk_plays_a_turn_with_a_permission_and_partial_messages(tmp_path: Path) -> None:
    asked: list[str] = []

    async def decide(
        tool: str, arguments: dict[str, object], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        asked.append(f"{tool} {arguments['command']}")
        return PermissionResultAllow()

    options = ClaudeAgentOptions(
        cli_path=executable(tmp_path, script_file(tmp_path, SCRIPT)),
        can_use_tool=decide,
        include_partial_messages=True,
        cwd=tmp_path,
    )
    async with asyncio.timeout(DEADLINE), ClaudeSDKClient(options) as client:
        await client.query("go")
        messages = [message async for message in client.receive_response()]
        texts = [
            block.text
            for message in messages
            if isinstance(message, AssistantMessage)
            for block in message.content
            if isinstance(block, TextBlock)
        ]
        result = messages[-1]
        assert isinstance(result, ResultMessage)
        assert (texts, asked, result.result) == (["Hello.", "Done."], ["Bash ls"], "Done.")
        assert any(isinstance(message, StreamEvent) for message in messages)
        await client.set_permission_mode("plan")
        await client.interrupt()
