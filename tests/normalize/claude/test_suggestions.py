"""What an "always" answer may remember where the CLI itself suggests nothing."""

from typing import Any

import pytest

from turnwire.normalize.claude.requests.suggestions import suggestions
from turnwire.protocol.claude.requests import CanUseTool

RULE = {"type": "addRules", "behavior": "allow", "destination": "localSettings"}


def offered(tool_name: str, arguments: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return suggestions(CanUseTool(tool_name=tool_name, input=arguments, **fields))


def test_what_the_cli_suggests_is_taken() -> None:
    assert offered("Bash", {"command": "ls"}, permission_suggestions=[RULE]) == [RULE]


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("Bash", {"command": "ls src"}, {"toolName": "Bash", "ruleContent": "ls src"}),
        (
            "WebFetch",
            {"url": "https://example.org/x"},
            {"toolName": "WebFetch", "ruleContent": "domain:example.org"},
        ),
        ("mcp__calc__add", {"a": 1}, {"toolName": "mcp__calc__add"}),
    ],
)
def test_a_rule_of_ours_is_no_wider_than_the_call(
    tool: str, arguments: dict[str, Any], rule: dict[str, str]
) -> None:
    assert offered(tool, arguments) == [{**RULE, "rules": [rule]}]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "rm *"}),
        ("Bash", {"command": "a\nb"}),
        ("WebFetch", {"url": "http://[broken"}),
        ("WebFetch", {"url": "nowhere"}),
        ("AskUserQuestion", {"questions": []}),
        ("ExitPlanMode", {"plan": "x"}),
    ],
)
def test_what_no_rule_can_stand_for_is_asked_again(tool: str, arguments: dict[str, Any]) -> None:
    assert offered(tool, arguments) == []


def test_edits_offer_the_mode_that_covers_them() -> None:
    assert offered("Write", {"file_path": "/x"}) == [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]
    assert offered("Write", {}, requires_user_interaction=True) == []
