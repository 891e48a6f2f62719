"""What happens around the turns of an agent that runs no hooks: the look for uncommitted changes, and hooks of the configuration."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_stage import AcpHarness, AcpStage

from turnwire.adapter.acp.turn_hooks import TurnHooks
from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize import events as ev
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Received, Sent
from turnwire.normalize.recordings.lines import LineReader
from waiting import until

HOOK = """
import json, sys
given = sys.stdin.read()
with open(sys.argv[1], "a") as kept:
    kept.write(given.strip() + "\\n")
print(sys.argv[2])
"""
"""Keeps what it is given in a file, and answers what it is told to."""


@pytest.fixture
def stage(tmp_path: Path) -> AcpStage:
    folder = tmp_path / "work"
    folder.mkdir()
    return AcpStage(folder.resolve())


@pytest.fixture
def repository(stage: AcpStage) -> Path:
    """The workspace as a repository with a file that nobody has committed."""
    subprocess.run(["git", "init", "-q"], cwd=stage.workspace, check=True)
    (stage.workspace / "made.txt").write_text("made")
    return stage.workspace


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """What the hooks were given, one JSON a line."""
    return tmp_path / "kept.jsonl"


def hook(stage: AcpStage, kept: Path, event: str, answer: object = None, **more: Any) -> HookSetting:
    script = stage.workspace.parent / "hook.py"
    script.write_text(HOOK)
    said = "" if answer is None else json.dumps(answer)
    return HookSetting(event=event, command=(sys.executable, "-I", str(script), str(kept), said), **more)


def given(kept: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]


def said(run: AcpHarness) -> list[str]:
    """What the agent was told in prompts."""
    prompts = [line for line in run.told if line.get("method") == "session/prompt"]
    return [line["params"]["prompt"][0]["text"] for line in prompts]


async def ended(run: AcpHarness, number: int) -> None:
    await run.until(lambda: len(run.of(ev.Complete)) == number)


@pytest.mark.parametrize("policy", ["supervised", "plan"])
async def test_an_agent_that_stops_with_uncommitted_changes_is_sent_back_once_a_prompt(
    stage: AcpStage, repository: Path, policy: str
) -> None:
    async with stage.session(policy=policy) as run:
        prompt = await run.session.prompt("text")
        await ended(run, 2)
        first, second = run.of(ev.UserMessage)
        assert (first.uuid, first.synthetic) == (prompt, None)
        assert second.synthetic
        assert "made.txt" in second.text
        assert [event.origin for event in run.of(ev.TurnStarted)] == ["user", "autonomous"]
        # it has not committed, and is left in peace until somebody says something
        await run.session.prompt("again")
        await ended(run, 4)
        assert [bool(event.synthetic) for event in run.of(ev.UserMessage)] == [False, True, False, True]
        assert len(said(run)) == 4
    # a recording gives the same
    lines, core = LineReader(), recorded_core()
    again = [
        event
        for item in run.inputs
        if isinstance(item, Sent | Received)
        for read in (lines.sent(item.line) if isinstance(item, Sent) else lines.received(item.line))
        for event in core.handle(read)
    ]
    assert [event for event in again if isinstance(event, ev.UserMessage)] == run.of(ev.UserMessage)


async def test_an_agent_that_has_committed_or_was_stopped_or_need_not_is_not_sent_back(
    stage: AcpStage, repository: Path
) -> None:
    for options in ({}, {"policy": "autonomous"}, {"policy": "supervised", "check_uncommitted": False}):
        async with stage.session(**options) as run:
            await run.turn("text")
            await run.turn("last")
            assert said(run) == ["text", "last"]
    async with stage.session(policy="supervised") as run:
        await run.session.prompt("wait")
        await run.until(lambda: run.of(ev.TurnStarted))
        await run.session.interrupt()
        await ended(run, 1)
        (repository / "made.txt").unlink()
        await run.turn("text")
        await run.turn("last")
        assert said(run) == ["wait", "text", "last"]


async def test_who_waits_is_heard_before_the_agent_is_sent_back(stage: AcpStage, repository: Path) -> None:
    async with stage.session(policy="supervised") as run:
        await run.session.prompt("tool")
        asked = await run.asked()
        await run.session.prompt("second")
        run.session.answer(asked.pending_id, PermissionAnswer("once"), "anna")
        await ended(run, 3)
        assert said(run)[:2] == ["tool", "second"]
        assert "made.txt" in said(run)[2]


async def test_hooks_run_around_turns_with_what_the_protocol_tells(stage: AcpStage, kept: Path) -> None:
    events = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
    hooks = [
        *(hook(stage, kept, event) for event in events),
        hook(stage, kept, "SessionStart", matcher="resume"),
        hook(stage, kept, "PostToolUse", matcher="NoSuchTool"),
    ]
    async with stage.session(hooks=hooks, policy="autonomous") as run:
        await run.turn("tool")
        await run.turn("wait-not")  # its end comes after the hooks of the first
        await until(lambda: "PostToolUse" in kept.read_text())
    found = given(kept)
    common = {"session_id": "agent-session-1", "cwd": str(stage.workspace)}
    assert {**common, "hook_event_name": "SessionStart", "source": "startup"} == found[0]
    assert {**common, "hook_event_name": "UserPromptSubmit", "prompt": "tool"} == found[1]
    (called,) = [one for one in found if one["hook_event_name"] == "PostToolUse"]
    assert called["tool_input"] == {"command": "touch made.txt"}
    assert called["tool_response"][0]["content"]["text"] == "done"
    assert called["tool_name"]
    stops = [one for one in found if one["hook_event_name"] == "Stop"]
    assert stops[0] == {**common, "hook_event_name": "Stop", "stop_hook_active": False}
    assert run.notices == []


async def test_a_prompt_that_a_hook_blocks_is_not_said(stage: AcpStage, kept: Path) -> None:
    hooks = [hook(stage, kept, "UserPromptSubmit", {"decision": "block", "reason": "not today"})]
    async with stage.session(hooks=hooks) as run:
        prompt = await run.session.prompt("text")
        await run.until(lambda: run.of(ev.Withdrawn))
        assert [event.prompt for event in run.of(ev.Withdrawn)] == [prompt]
        assert said(run) == []
        assert [(notice.code, "not today" in notice.message) for notice in run.notices] == [
            ("prompt_blocked", True)
        ]


READING = """
import json, pathlib, sys
print(pathlib.Path(sys.argv[1], json.load(sys.stdin)["prompt"]).read_text())
"""
"""Reads the file that is named like the prompt, to its end."""


async def looked_at(fifo: Path) -> int:
    """Wait until a hook reads, and return the file that it reads until it is closed."""
    found: list[int] = []

    def reads() -> bool:
        try:
            found.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    await until(reads)
    return found[0]


async def test_a_prompt_that_a_hook_looks_at_can_be_taken_back_and_goes_with_its_agent(
    stage: AcpStage, tmp_path: Path
) -> None:
    for name in ("first", "second", "third"):
        os.mkfifo(tmp_path / name)
    script = tmp_path / "hook.py"
    script.write_text(READING)
    hooks = [
        HookSetting(event="UserPromptSubmit", command=(sys.executable, "-I", str(script), str(tmp_path)))
    ]
    async with stage.session(hooks=hooks) as run:
        first = await run.session.prompt("first")
        reading = await looked_at(tmp_path / "first")
        assert await run.session.withdraw(first)
        assert not await run.session.withdraw(first)
        os.close(reading)
        await run.session.prompt("second")
        os.close(await looked_at(tmp_path / "second"))
        await ended(run, 1)
        third = await run.session.prompt("third")
        reading = await looked_at(tmp_path / "third")
        await run.session.stop()
        os.close(reading)
    assert said(run) == ["second"]
    assert [event.prompt for event in run.of(ev.Withdrawn)] == [first, third]
    assert run.notices == []


async def test_a_hook_sends_an_agent_back_once_and_never_in_a_loop(stage: AcpStage, kept: Path) -> None:
    hooks = [hook(stage, kept, "Stop", {"decision": "block", "reason": "run the tests"})]
    async with stage.session(hooks=hooks) as run:
        await run.session.prompt("text")
        await ended(run, 2)
        await run.session.prompt("again")
        await ended(run, 4)
        assert said(run) == ["text", "run the tests", "again", "run the tests"]
        assert [one["stop_hook_active"] for one in given(kept)][:3] == [False, True, False]
        # how often it would have sent it back again is told once
        assert [notice.code for notice in run.notices] == ["hook_not_obeyed"]


async def test_what_cannot_be_obeyed_is_told_once_and_a_hook_that_fails_changes_nothing(
    stage: AcpStage, kept: Path
) -> None:
    more = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}}
    hooks = [
        hook(stage, kept, "UserPromptSubmit", more),
        HookSetting(event="UserPromptSubmit", command=("/bin/false",)),
    ]
    async with stage.session(hooks=hooks) as run:
        await run.turn("text")
        await run.turn("again")
        assert said(run) == ["text", "again"]
        assert [notice.code for notice in run.notices] == ["hook_not_obeyed", "hook_failed", "hook_failed"]
        assert "additionalContext" in run.notices[0].message


class Calls:
    """Lines of an agent about calls, and the hooks of PostToolUse that hear them."""

    def __init__(
        self, folder: Path, *, most_kept: int = 1 << 20, command: tuple[str, ...] = ("/bin/false",)
    ) -> None:
        self.notices: list[SessionNotice] = []
        self.hooks = TurnHooks(
            [HookSetting(event="PostToolUse", command=command)],
            workspace=folder,
            environment={},
            notify=self.notices.append,
            most_kept=most_kept,
        )
        self._core, self._lines = recorded_core(), LineReader()

    def tells(self, call: str, status: str, **more: object) -> None:
        update = {"sessionUpdate": "tool_call", "toolCallId": call, "title": "x", "status": status, **more}
        params = {"sessionId": "a", "update": update}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
        for item in self._lines.received(line):
            self.hooks.on_happened(InputWithEvents(item, self._core.handle(item)))


async def test_calls_that_wait_for_their_hooks_have_a_bound(tmp_path: Path) -> None:
    calls = Calls(tmp_path)
    for number in range(2000):
        calls.tells(f"c-{number}", "completed")
    assert [notice.code for notice in calls.notices] == ["hook_not_obeyed"]


async def test_what_is_remembered_of_calls_has_a_bound_in_bytes(stage: AcpStage, kept: Path) -> None:
    calls = Calls(stage.workspace, most_kept=50_000, command=hook(stage, kept, "PostToolUse").command)
    for number in range(12):
        # told again and again, it counts once
        for _ in range(3):
            calls.tells(f"c-{number}", "in_progress", rawInput={"x": "y" * 10_000})
    for number in range(12):
        calls.tells(f"c-{number}", "completed")
    running = asyncio.create_task(calls.hooks.serve())
    await until(lambda: kept.exists() and "c-11" in kept.read_text())
    running.cancel()
    await asyncio.wait([running])
    told = given(kept)
    assert [len(one.get("tool_input", {}).get("x", "")) for one in told] == [0] * 8 + [10_000] * 4
    assert calls.notices == []
