import pytest

from turnwire.adapter.claude.permissions import Launch, hook_table, launch
from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.policies import (
    PRE_TOOL,
    STOP,
    PermissionSettings,
)
from turnwire.adapter.permissions.rules import read_rules
from turnwire.normalize.vocabulary import Policy

RULES = read_rules([{"action": "ask", "tool": "Bash"}])


def test_autonomous_registers_no_hook_and_skips_every_check() -> None:
    settings = PermissionSettings(policy="autonomous")
    assert hook_table(settings) is None
    assert launch(settings) == Launch(None, skip_permissions=True)


def test_autonomous_with_rules_keeps_the_checks_that_obey_an_ask() -> None:
    settings = PermissionSettings(policy="autonomous", rules=RULES)
    assert hook_table(settings) == {"PreToolUse": [{"matcher": None, "hookCallbackIds": [PRE_TOOL]}]}
    assert launch(settings, "bypassPermissions") == Launch("default", skip_permissions=False)


@pytest.mark.parametrize(
    ("asked", "started"),
    [
        (None, "default"),
        ("acceptEdits", "acceptEdits"),
        ("plan", "plan"),
        ("bypassPermissions", "default"),
        ("dontAsk", "default"),
    ],
)
def test_supervised_never_starts_in_a_mode_where_old_versions_ignore_an_ask(
    asked: str | None, started: str
) -> None:
    assert launch(PermissionSettings(policy="supervised"), asked) == Launch(started, skip_permissions=False)


def test_plan_starts_in_the_one_mode_that_has_a_plan_to_approve() -> None:
    assert launch(PermissionSettings(policy="plan"), "default") == Launch("plan", skip_permissions=False)


def test_without_a_policy_the_cli_starts_as_asked() -> None:
    assert launch(PermissionSettings(), "dontAsk") == Launch("dontAsk", skip_permissions=False)
    assert hook_table(PermissionSettings()) is None


@pytest.mark.parametrize("policy", ["supervised", "plan"])
def test_supervised_and_plan_judge_calls_and_look_at_the_workspace(policy: Policy) -> None:
    assert hook_table(PermissionSettings(policy=policy)) == {
        "PreToolUse": [{"matcher": None, "hookCallbackIds": [PRE_TOOL]}],
        "Stop": [{"matcher": None, "hookCallbackIds": [STOP]}],
    }
    unchecked = hook_table(PermissionSettings(policy=policy, check_uncommitted=False))
    assert unchecked is not None
    assert "Stop" not in unchecked


def test_hooks_of_the_configuration_stand_beside_ours() -> None:
    hook = HookSetting(event="PreToolUse", matcher="Bash", command=("x",), timeout=5)
    table = hook_table(PermissionSettings(policy="supervised", check_uncommitted=False, hooks=(hook,)))
    assert table == {
        "PreToolUse": [
            {"matcher": None, "hookCallbackIds": [PRE_TOOL]},
            {"matcher": "Bash", "hookCallbackIds": ["turnwire_hook_0"], "timeout": 15},
        ]
    }
