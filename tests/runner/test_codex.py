"""Runs of Codex, with an app server that does what its prompts say."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from runner_harness import DEADLINE, Caller, request, serving

from recordings import ROOT
from turnwire.adapter.families import open_session
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.agents import Agent
from turnwire.config.rulebook import Rulebook
from turnwire.config.settings import Settings
from turnwire.runner.codex_runs import CodexParams, codex_runs
from turnwire.runner.runner_lines import Refused, read_request, run_line
from turnwire.runner.server import RunnerOptions

PROGRAM = str(ROOT / "tests" / "support" / "agents" / "app_server.py")
PIXEL = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def ask(run_id: str, *steps: dict[str, Any], before: list[object] | None = None, **params: object) -> bytes:
    content = [*(before or []), {"type": "text", "text": json.dumps(steps)}]
    message = {"type": "user", "message": {"role": "user", "content": content}}
    return request(run_id, message=message, **params)


async def served(*lines: bytes, options: RunnerOptions | None = None) -> Caller:
    agent = Agent("codex", (sys.executable, "-S", PROGRAM), family="codex-app-server")
    async with asyncio.timeout(DEADLINE), Watchdog.start() as watchdog:
        runs = codex_runs(agent, Rulebook(), Settings(), open_session, watchdog)
        async with serving(runs, options) as (caller, task):
            caller.send(*lines)
            caller.close()
            await caller.read()
            await task
    return caller


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def test_a_run_is_over_when_its_turn_is_and_tells_the_servers_own_lines() -> None:
    caller = await served(
        ask("r", {"echo": True}, before=[PIXEL], effort="low", system_prompt="Be brief.", model="m")
    )
    (echoed,) = [
        json.loads(event["params"]["item"]["text"])
        for event in caller.events("r")
        if event.get("params", {}).get("item", {}).get("type") == "agentMessage"
    ]
    assert echoed["input"][0] == {"type": "image", "url": "data:image/png;base64,aGk="}
    assert (echoed["model"], echoed["effort"], echoed["opening"]["baseInstructions"]) == (
        "m",
        "low",
        "Be brief.",
    )
    assert caller.ends()["r"]["status"] == "ok"


async def test_events_are_told_where_they_are_wanted() -> None:
    caller = await served(ask("r", {"end": "completed"}), options=RunnerOptions(normalized=True))
    assert [event["type"] for event in caller.events("r")][-1] == "process_status"
    assert "complete" in [event["type"] for event in caller.events("r")]


async def test_a_turn_that_is_refused_or_fails_fails_the_run() -> None:
    caller = await served(ask("r", {"refuse": "slow down"}), ask("s", {"end": "failed"}))
    assert caller.ends()["r"]["error"] == "Codex refuses turn/start: slow down"
    assert caller.ends()["s"]["error"] == "the turn failed; Codex does not say why"


def test_what_codex_has_no_place_for_is_refused_by_name() -> None:
    message = {"type": "user", "message": {"role": "user", "content": "hi"}}
    given = {"message": message, "rate_limit_max_retries": 0, "thinking_disabled": True, "user_agent": "u"}
    found = read_request(run_line("r", given), CodexParams)
    assert found == Refused(
        "r", "invalid-params: thinking_disabled, user_agent: Codex has no field for this; leave it out"
    )
