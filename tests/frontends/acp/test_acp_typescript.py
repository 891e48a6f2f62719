"""The official TypeScript clients of both versions drive `turnwire acp`: they check every message by schemas of their own."""

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


async def drive(driver: str, tmp_path: Path) -> dict[str, Any]:
    """What a driver saw of `turnwire acp` in front of the scripted agent."""
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
    node = await asyncio.create_subprocess_exec(
        *("node", str(ROOT / "tests" / "frontends" / "acp" / driver), str(project), *TURNWIRE, "acp"),
        cwd=tmp_path,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await within(node.communicate())
    assert node.returncode == 0, complaints.decode()
    seen: dict[str, Any] = json.loads(printed)
    assert seen["exit"] == 0
    return seen


@pytest.mark.long
async def test_the_client_of_version_2_prompts_allows_answers_cancels_and_resumes(tmp_path: Path) -> None:
    seen = await drive("drive2.mjs", tmp_path)
    assert seen["hello"]["protocolVersion"] == 2
    assert seen["stops"] == ["end_turn", "end_turn", "error", "cancelled"]
    assert seen["errors"] == ["It broke."]
    assert seen["takenBack"] == 1
    subjects = [each["subject"]["toolCall"] for each in seen["permissions"]]
    assert [each["kind"] for each in subjects] == ["edit", "execute"]
    assert subjects[0]["content"][0]["patch"]["format"] == "git_patch"
    assert [each["mode"] for each in seen["forms"]] == ["form"]
    assert {"default", "plan"} <= set(seen["modes"])
    assert (seen["options"], seen["mode"]) == (["mode"], "plan")
    assert seen["listed"] == [True]

    def told(updates: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
        return [update for update in updates if update["sessionUpdate"] == kind]

    def words(updates: list[dict[str, Any]]) -> str:
        return "".join(each["content"]["text"] for each in told(updates, "agent_message_chunk"))

    assert words(seen["live"]) == words(seen["past"]) == "I change it.Changed.Asked.I run wait."
    for updates in (seen["live"], seen["past"]):
        prompts = told(updates, "user_message")
        assert [each["messageId"] for each in prompts] == seen["replies"]
        assert [each["content"][0]["text"] for each in prompts] == ["change it", "ask me", "fail", "wait"]
    assert told(seen["silent"], "user_message") == []
    states = [each["state"] for each in told(seen["live"], "state_update")]
    assert states[:4] == ["running", "requires_action", "running", "idle"]
    assert told(seen["past"], "state_update") == []


@pytest.mark.long
async def test_the_client_of_version_1_prompts_allows_answers_cancels_and_loads(tmp_path: Path) -> None:
    seen = await drive("drive.mjs", tmp_path)
    assert seen["hello"]["protocolVersion"] == 1
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
