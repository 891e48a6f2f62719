"""Policies, rules and hooks on the real CLI, offline."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from session_harness import RealCliHarness, always

from scripted_messages_api import plan, text, tool_use
from turnwire.adapter.hooks.settings import read_hooks
from turnwire.adapter.options import CommandOptions
from turnwire.adapter.permissions.rules import read_rules
from turnwire.protocol.claude.requests import CanUseTool, HookCallback
from turnwire.protocol.claude.system import Status


def bash(command: str) -> str:
    return plan([tool_use("Bash", command=command, description="as told")], [text("Done.")])


@pytest.fixture
def repository(cli_harness: RealCliHarness) -> Path:
    for words in (
        ["init"],
        ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=cli_harness.workspace, check=True, capture_output=True)
    return cli_harness.workspace


# Autonomous


@pytest.mark.long
async def test_autonomous_runs_everything_and_asks_nobody(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(policy="autonomous") as harness:
        await harness.turn(bash("echo made > made.txt"))
        assert "--dangerously-skip-permissions" in harness.session.argv
        assert harness.asked(CanUseTool) == []
        assert harness.asked(HookCallback) == []
    assert (cli_harness.workspace / "made.txt").exists()


async def test_autonomous_with_rules_obeys_them(cli_harness: RealCliHarness) -> None:
    rules = read_rules(
        [
            {
                "action": "deny",
                "tool": "Bash",
                "input": {"command": "rm *"},
                "reason": "Nothing is removed here.",
            },
            {"action": "ask", "tool": "Bash", "input": {"command": "touch asked*"}},
        ]
    )
    async with cli_harness.harness(always("reject_once"), policy="autonomous", rules=rules) as harness:
        await harness.turn(bash("touch free.txt"))
        await harness.turn(bash("cd . && rm free.txt"))
        assert "Nothing is removed here." in cli_harness.tool_results()[-1]
        await harness.turn(bash("touch asked.txt"))
        assert [(d.behavior, d.by) for d in harness.decisions] == [
            ("allow", "policy:autonomous"),
            ("deny", "rule:1"),
            ("ask", "rule:2"),
            ("deny", "ada"),
        ]
    assert [path.name for path in cli_harness.workspace.iterdir()] == ["free.txt"]


# Supervised


@pytest.mark.long
async def test_supervised_asks_about_a_harmless_command_but_not_about_reading(
    cli_harness: RealCliHarness,
) -> None:
    (cli_harness.workspace / "a.txt").write_text("secret of a\n")
    async with cli_harness.harness(always("allow_once"), policy="supervised") as harness:
        await harness.turn(
            plan(
                [tool_use("Read", file_path=str(cli_harness.workspace / "a.txt"))],
                [tool_use("Bash", command="ls", description="List")],
                [text("Done.")],
            )
        )
        assert [request.tool_name for _, request in harness.asked(CanUseTool)] == ["Bash"]
        assert [(d.behavior, d.by) for d in harness.decisions if d.by != "policy:supervised"] == [
            ("allow", "ada")
        ]
        assert "secret of a" in cli_harness.tool_results()[0]


@pytest.mark.long
async def test_supervised_denies_when_a_human_does(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("reject_once"), policy="supervised") as harness:
        await harness.turn(bash("touch x"))
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_under_supervised_an_always_holds_in_this_session_and_in_a_fresh_one(
    cli_harness: RealCliHarness,
) -> None:
    command = bash("touch always.txt")
    async with cli_harness.harness(always("allow_always:localSettings"), policy="supervised") as harness:
        await harness.turn(command)
        await harness.turn(command)
        assert len(harness.asked(CanUseTool)) == 1
    async with cli_harness.harness(policy="supervised") as harness:
        await harness.turn(command)
        assert harness.asked(CanUseTool) == []
        assert "remembered" in [decision.by for decision in harness.decisions]


@pytest.mark.long
async def test_under_supervised_edits_can_be_accepted_for_the_session(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_always:mode:acceptEdits"), policy="supervised") as harness:
        for name in ("one.txt", "two.txt"):
            path = str(cli_harness.workspace / name)
            await harness.turn(plan([tool_use("Write", file_path=path, content="x")], [text("Done.")]))
        assert len(harness.asked(CanUseTool)) == 1
    assert sorted(path.name for path in cli_harness.workspace.iterdir()) == ["one.txt", "two.txt"]


# Plan


PLANNING = plan(
    [tool_use("ExitPlanMode", plan="# Plan\n\n1. Write it")],
    [tool_use("Bash", command="echo made > made.txt", description="make")],
    [text("Done.")],
)


@pytest.mark.long
async def test_an_approved_plan_is_carried_out_without_more_asking(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once"), policy="plan") as harness:
        result = await harness.turn(PLANNING)
        assert [request.tool_name for _, request in harness.asked(CanUseTool)] == ["ExitPlanMode"]
        assert result.subtype == "success"
    assert (cli_harness.workspace / "made.txt").exists()


@pytest.mark.long
async def test_under_plan_everything_but_the_plan_is_allowed_before_it_is_approved_as_well(
    cli_harness: RealCliHarness,
) -> None:
    (cli_harness.workspace / "Makefile").write_text("test:\n\techo tested\n")
    commands = (
        "python3 -c 'print(6 * 7)'",
        "make test",
        "python3 -c 'print(6 * 7)' && make test",
        "echo said > out.txt",
    )
    written = str(cli_harness.workspace / "w.txt")
    async with cli_harness.harness(always("reject_once"), policy="plan") as harness:
        await harness.turn(
            plan(
                *([tool_use("Bash", command=command, description="as told")] for command in commands),
                [tool_use("Write", file_path=written, content="x")],
                [text("Done.")],
            )
        )
        assert [(d.behavior, d.by) for d in harness.decisions if d.behavior != "allow"] == []
    results = cli_harness.tool_results()
    assert results[:2] == ["42", "echo tested\ntested"]
    assert "tested" in results[2]
    assert (cli_harness.workspace / "out.txt").read_text() == "said\n"
    assert Path(written).read_text() == "x"


@pytest.mark.long
async def test_under_plan_a_human_is_asked_where_a_rule_or_a_hook_or_the_cli_wants_one(
    cli_harness: RealCliHarness,
) -> None:
    asks = cli_harness.folder / "asks.py"
    asks.write_text('print(\'{"decision": "ask", "reason": "the hook asks"}\')\n')
    hooks = read_hooks([{"event": "PreToolUse", "matcher": "Write", "command": [sys.executable, str(asks)]}])
    rules = read_rules([{"action": "ask", "tool": "Bash", "input": {"command": "touch *"}}])
    settings = {"permissions": {"ask": ["Bash(wc:*)"]}}
    config = str(cli_harness.workspace / ".git" / "config")
    async with cli_harness.harness(
        always("reject_once"),
        policy="plan",
        hooks=hooks,
        rules=rules,
        command=CommandOptions(settings=settings),
    ) as harness:
        await harness.turn(
            plan(
                [tool_use("Write", file_path=str(cli_harness.workspace / "w.txt"), content="x")],
                [tool_use("Bash", command="touch x", description="as told")],
                [tool_use("Bash", command="wc -l Makefile", description="as told")],
                [tool_use("Edit", file_path=config, old_string="", new_string="x")],
                [text("Done.")],
            )
        )
        asked = [request.tool_name for _, request in harness.asked(CanUseTool)]
        assert asked == ["Write", "Bash", "Bash", "Edit"]
        assert [d.behavior for d in harness.decisions if d.by == "ada"] == ["deny"] * 4
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_a_plan_is_approved_with_a_mode_to_go_on_in(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once", mode="acceptEdits"), policy="plan") as harness:
        await harness.turn(PLANNING)
        modes = [message.permission_mode for message in harness.messages if isinstance(message, Status)]
        assert "acceptEdits" in modes


@pytest.mark.long
async def test_a_rejected_plan_comes_back_with_the_feedback(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(
        always("reject_once", message="Add a test step."), policy="plan"
    ) as harness:
        await harness.turn(plan([tool_use("ExitPlanMode", plan="# Plan")], [text("I think again.")]))
        assert "Add a test step." in cli_harness.tool_results()[-1]
    assert list(cli_harness.workspace.iterdir()) == []


# The Stop hook


@pytest.mark.long
@pytest.mark.parametrize("policy", ["supervised", "plan"])
async def test_a_dirty_repository_sends_the_agent_back_once(
    policy: str, cli_harness: RealCliHarness, repository: Path
) -> None:
    (repository / "forgotten.txt").write_text("x")
    async with cli_harness.harness(policy=policy) as harness:
        cli_harness.api.queue([text("All done.")], [text("It stays uncommitted.")])
        result = await harness.turn("Go.")
        assert result.text == "It stays uncommitted."
        seen = json.dumps(cli_harness.api.requests[-1]["messages"])
        assert "There are uncommitted changes in the workspace" in seen
        assert "forgotten.txt" in seen
        assert [d.behavior for d in harness.decisions] == ["deny", "allow"]
        cli_harness.api.queue([text("Again."), text("and")], [text("Still so.")])
        assert (await harness.turn("Go on.")).text == "Still so.", "the next turn is looked at anew"


@pytest.mark.long
async def test_a_clean_repository_lets_the_agent_stop(cli_harness: RealCliHarness, repository: Path) -> None:
    async with cli_harness.harness(policy="supervised") as harness:
        cli_harness.api.queue([text("All done.")])
        assert (await harness.turn("Go.")).text == "All done."
        assert [(d.behavior, d.by) for d in harness.decisions] == [("allow", "policy:supervised")]


# Hooks of the configuration


@pytest.mark.long
async def test_a_configured_hook_is_told_and_its_answer_counts(cli_harness: RealCliHarness) -> None:
    told = cli_harness.folder / "told.jsonl"
    code = (
        f"import json, sys; p = json.load(sys.stdin); open({str(told)!r}, 'a').write(json.dumps(p) + '\\n');"
        "print(json.dumps({'decision': 'deny', 'reason': 'the hook says no'}) if p.get('tool_name') == 'Bash' else '')"
    )
    hooks = read_hooks(
        [
            {"event": "PreToolUse", "matcher": "Bash", "command": [sys.executable, "-c", code]},
            {"event": "UserPromptSubmit", "command": [sys.executable, "-c", code]},
        ]
    )
    async with cli_harness.harness(hooks=hooks) as harness:
        await harness.turn(bash("touch x"))
        assert "the hook says no" in cli_harness.tool_results()[-1]
        assert harness.asked(CanUseTool) == []
    events = [json.loads(line)["hook_event_name"] for line in told.read_text().splitlines()]
    assert events == ["UserPromptSubmit", "PreToolUse"]
    assert cli_harness.notices == []


@pytest.mark.long
async def test_a_hook_that_fails_denies_the_call_and_is_told(cli_harness: RealCliHarness) -> None:
    hooks = read_hooks([{"event": "PreToolUse", "command": [sys.executable, "-c", "raise SystemExit(1)"]}])
    async with cli_harness.harness(hooks=hooks) as harness:
        await harness.turn(bash("touch x"))
        assert "failed: exit code 1" in cli_harness.tool_results()[-1]
    assert [notice.code for notice in cli_harness.notices] == ["hook_failed"]
    assert list(cli_harness.workspace.iterdir()) == []


@pytest.mark.long
async def test_a_hook_can_add_to_what_the_model_reads(cli_harness: RealCliHarness) -> None:
    code = 'print(\'{"hookSpecificOutput": {"additionalContext": "It is Friday."}}\')'
    hooks = read_hooks([{"event": "UserPromptSubmit", "command": [sys.executable, "-c", code]}])
    async with cli_harness.harness(hooks=hooks) as harness:
        await harness.turn("Hello.")
    assert "It is Friday." in json.dumps(cli_harness.api.requests[-1]["messages"])
