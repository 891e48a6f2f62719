"""The official TypeScript client drives `turnwire acp`: it checks every message by a schema of its own, and takes the stable protocol alone."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_editor import SCRIPT, within
from recordings import ROOT
from turnwire_process import TURNWIRE, environment

pytestmark = pytest.mark.node


@pytest.mark.long
async def test_the_typescript_client_prompts_allows_answers_cancels_and_loads(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "script.yaml").write_text(SCRIPT)
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(tmp_path / "script.yaml")]
    (tmp_path / "turnwire.toml").write_text(f"[agents]\nscripted = {json.dumps(argv)}\n")
    env = environment(
        tmp_path / "home",
        PATH=os.environ["PATH"],
        TURNWIRE_PASS_ENV="PYTHONPATH",
        TURNWIRE_CONFIG=str(tmp_path / "turnwire.toml"),
        TURNWIRE_AGENT="scripted",
        TURNWIRE_PORT="0",
        TURNWIRE_STATE_DIR=str(tmp_path / "state"),
    )
    driver = ROOT / "tests" / "frontends" / "acp" / "drive.mjs"
    node = await asyncio.create_subprocess_exec(
        *("node", str(driver), str(project), *TURNWIRE, "acp"),
        cwd=tmp_path,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await within(node.communicate())
    assert node.returncode == 0, complaints.decode()
    seen = json.loads(printed)

    assert seen["hello"]["protocolVersion"] == 1
    assert seen["exit"] == 0
    assert seen["replies"] == ["end_turn", "end_turn", "cancelled"]
    assert seen["takenBack"] == 1
    assert [each["toolCall"]["kind"] for each in seen["permissions"]] == ["edit", "execute"]
    assert seen["permissions"][0]["toolCall"]["content"][0]["type"] == "diff"
    assert [each["mode"] for each in seen["forms"]] == ["form"]
    assert {"default", "plan"} <= set(seen["modes"])
    assert seen["options"] == ["mode"]  # the scripted agent lists no models
    assert seen["mode"] == "default"
    assert seen["listed"] == [True]

    def said(updates: list[dict[str, Any]], kind: str) -> str:
        found = (each["update"] for each in updates)
        return "".join(update["content"]["text"] for update in found if update["sessionUpdate"] == kind)

    def calls(updates: list[dict[str, Any]]) -> dict[str, str]:
        found = (each["update"] for each in updates)
        return {update["toolCallId"]: update["status"] for update in found if "status" in update}

    assert said(seen["live"], "agent_message_chunk") == "I change it.Changed.Asked.I run wait."
    assert said(seen["past"], "agent_message_chunk") == said(seen["live"], "agent_message_chunk")
    assert calls(seen["past"]) == calls(seen["live"])
    assert said(seen["live"], "user_message_chunk") == ""
    assert said(seen["past"], "user_message_chunk") == "change itask mewait"
