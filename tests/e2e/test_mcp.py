"""MCP servers that the sidecar hosts: the real CLI (offline) calls their tools through the control protocol."""

import json
import sys
from pathlib import Path

import pytest

from live import preloaded_running as running
from live import real_setup
from recordings import ROOT
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client.events import PermissionRequest, ToolCall, ToolUpdate

SUPPORT = ROOT / "tests" / "support" / "agents"

ENTRY_POINT = 'entry_point = "mcp_calculator:server"'
COMMAND = f"command = {json.dumps([sys.executable, str(SUPPORT / 'mcp_calculator.py')])}"


@pytest.mark.long
@pytest.mark.parametrize("kind", [ENTRY_POINT, COMMAND], ids=["entry point", "command"])
async def test_a_tool_of_a_hosted_server_is_called(tmp_path: Path, kind: str) -> None:
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        path = f"{ROOT}:{SUPPORT}"
        (tmp_path / "turnwire.toml").write_text(
            f'[hosted_mcp.calculator]\n{kind}\nenv = {{ PYTHONPATH = "{path}" }}\n'
        )
        async with running(tmp_path, setup, PYTHONPATH=path) as (frontend, _):
            complete = await frontend.turn(
                plan([tool_use("mcp__calculator__add", a=2, b=3)], [text("Five.")])
            )
        assert complete.data.outcome == "completed"
        assert frontend.seen(ToolCall)[0].normalized.kind == "mcp_tool"
        assert frontend.seen(PermissionRequest)[0].action_type == "mcp_tool"
        assert frontend.seen(ToolUpdate)[-1].tool_status == "complete"
        assert "the sum is 5" in json.dumps(api.requests[-1]["messages"])
