"""Real agents by their own JSON output, one process a prompt: through `turnwire runner` and through the hub, offline."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from real_agents import CODEX, GEMINI, OPENCODE, RealAgent
from scripted_models import Fail, Say, scripted_models

from live import Frontend, journaled
from turnwire.client import connect
from turnwire.client.events import Complete, ProcessStatus, ToolUpdate
from turnwire_process import environment, lines_of, turnwire

pytestmark = [pytest.mark.long, pytest.mark.node]

ONE_SHOT = [
    (
        "codex-exec",
        replace(CODEX, name="codex-exec", command=lambda: [*CODEX.command()[:-1], "exec", "--json"]),
    ),
    ("gemini", replace(GEMINI, command=lambda: [*GEMINI.command()[:-1], "--output-format", "stream-json"])),
    (
        "opencode-run",
        replace(OPENCODE, command=lambda: [*OPENCODE.command()[:-1], "run", "--format", "json"]),
    ),
]
"""Families, with the agents whose wire they read."""


def configured(family: str, agent: RealAgent, folder: Path, url: str) -> dict[str, str]:
    """Write a configuration with the agent `one`, and return turnwire's environment."""
    (folder / "project").mkdir()
    given = agent.prepare(folder / "home", url)
    values = "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
    said = f"command = {json.dumps(agent.command())}\nfamily = {json.dumps(family)}"
    (folder / "turnwire.toml").write_text(f"[agents.one]\n{said}\n[agents.one.env]\n{values}")
    return environment(folder / "home", TURNWIRE_CONFIG=str(folder / "turnwire.toml"), TURNWIRE_AGENT="one")


def ran(
    folder: Path, env: Mapping[str, str], text: str, **params: object
) -> tuple[dict[str, Any], list[Any]]:
    """Have `turnwire runner` do one run; returns its end and its events."""
    message = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    asked = json.dumps(
        {"type": "run", "id": "r", "params": {"message": message, "rate_limit_max_retries": 0, **params}}
    )
    process = subprocess.run(
        [sys.executable, "-m", "turnwire", "runner", "--normalized"],
        cwd=folder / "project",
        env=env,
        input=asked + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    end = next((line for line in lines if line["type"] == "end"), None)
    assert end is not None, (process.stdout[-2000:], process.stderr[-2000:])
    return end, [line["event"] for line in lines if line["type"] == "event"]


@pytest.mark.parametrize(("family", "agent"), ONE_SHOT, ids=[family for family, _ in ONE_SHOT])
async def test_an_agent_runs_once_and_goes_on_in_another_process(
    family: str, agent: RealAgent, tmp_path: Path
) -> None:
    with scripted_models() as models:
        models.model = lambda prompt, results: (
            [Say("Done.")]
            if results
            else [agent.shell("echo one; touch made")]
            if "run" in prompt
            else [Say("Hi.")]
        )
        env = configured(family, agent, tmp_path, models.url)
        end, events = ran(tmp_path, env, "run it")
        assert end["status"] == "ok", end
        kinds = [event["type"] for event in events]
        assert kinds.count("user_message") == 1
        assert kinds.count("turn_started") == kinds.count("complete") == 1
        calls = [
            event for event in events if event["type"] == "tool_update" and event["tool_status"] != "running"
        ]
        assert [call["tool_status"] for call in calls] == ["complete"]
        assert (tmp_path / "project" / "made").exists()
        if family == "opencode-run":
            return  # it takes long to start, and codex and gemini say the same
        session = next(event["session_id"] for event in reversed(events) if event.get("session_id"))
        agent.age(tmp_path / "home")
        again, more = ran(tmp_path, env, "hello", resume=session)
        assert again["status"] == "ok", again
        said = "".join(event["text"] for event in more if event["type"] == "message_chunk")
        assert said == "Hi."
        assert {event["session_id"] for event in more if event.get("session_id")} == {session}


async def test_a_run_fails_as_its_turn_does(tmp_path: Path) -> None:
    family, agent = ONE_SHOT[0]
    with scripted_models() as models:
        models.model = lambda prompt, results: [Fail(401, "Who are you?")]
        env = configured(family, agent, tmp_path, models.url)
        failed, events = ran(tmp_path, env, "fail")
    assert failed["status"] == "error"
    assert "Who are you?" in failed["error"]
    assert [event["data"]["outcome"] for event in events if event["type"] == "complete"] == ["error"]


async def test_a_session_goes_on_with_another_process_for_each_prompt(tmp_path: Path) -> None:
    family, agent = ONE_SHOT[0]
    with scripted_models() as models:
        models.answers += [[agent.shell("echo one; exit 3")], [Say("First.")], [Say("Second.")]]
        env = configured(family, agent, tmp_path, models.url)
        places = ("--record-dir", str(tmp_path / "raw"), "--workspace", str(tmp_path / "project"))
        async with (
            turnwire(tmp_path, "run", "--record", *places, env=env) as served,
            connect(served.url) as client,
        ):
            frontend = Frontend(client, client.known_sessions[-1].session, 120.0)
            for prompt in ("Go on.", "And now?"):
                await frontend.prompt(prompt)
                assert (await frontend.until(Complete)).data.outcome == "completed"
                await frontend.until(ProcessStatus)
            assert frontend.text() == "First.Second."
            (end,) = [one for one in frontend.seen(ToolUpdate) if one.tool_status != "running"]
            assert end.normalized is not None
            assert '"exit_code":3' in json.dumps(to_builtins(end.normalized), separators=(",", ":"))
            session = frontend.session
    live = await journaled(tmp_path, session)
    raw = str(tmp_path / "raw" / f"raw-streamjson-{session}.jsonl")
    told = await lines_of(tmp_path, env, "translate", "--family", family, raw)
    assert [json.loads(line) for line in told] == [json.loads(line) for line in live]
