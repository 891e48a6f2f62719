"""Every rule of the checker for ACP notices a fault of its kind: events are spoilt one way each, and the rule must say so."""

from collections.abc import Callable
from typing import Any

import pytest
from acp_recordings import ACP, AcpRecording

from tests.checker.acp import facts_of, violations
from tests.normalize.translating import as_json
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read

Events = list[dict[str, Any]]


def without(kind: str, **having: object) -> Callable[[Events], Events]:
    """Leave out the first event of a kind."""

    def fault(events: Events) -> Events:
        found = next(e for e in events if e["type"] == kind and having.items() <= e.items())
        return [event for event in events if event is not found]

    return fault


def twice(kind: str) -> Callable[[Events], Events]:
    """Repeat the first event of a kind."""

    def fault(events: Events) -> Events:
        number = next(i for i, event in enumerate(events) if event["type"] == kind)
        return [*events[: number + 1], *events[number:]]

    return fault


def changed(kind: str, path: tuple[Any, ...], value: object) -> Callable[[Events], Events]:
    """Change a member of every event of a kind that has it."""

    def fault(events: Events) -> Events:
        for event in events:
            inner: Any = event
            try:
                for name in path[:-1]:
                    inner = inner[name]
                if event["type"] == kind and path[-1] in inner:
                    inner[path[-1]] = value
            except (KeyError, IndexError):
                continue
        return events

    return fault


DIFF = ("normalized", "modify_file", "mutations", 0, "diff")


@pytest.mark.parametrize(
    ("recording", "fault", "rule"),
    [
        ("gemini-acp-0.61.0/perm-allow", without("message_chunk"), "texts_and_calls"),
        ("gemini-acp-0.61.0/perm-allow", twice("message_chunk"), "texts_and_calls"),
        ("gemini-acp-0.61.0/resume.2-load", changed("message_chunk", ("history",), False), "texts_and_calls"),
        ("gemini-acp-0.61.0/perm-allow", without("tool_call"), "calls_balance"),
        ("gemini-acp-0.61.0/perm-allow", without("tool_update"), "calls_balance"),
        ("gemini-acp-0.61.0/perm-allow", twice("tool_update"), "calls_balance"),
        ("gemini-acp-0.61.0/perm-allow", without("complete"), "turns_balance"),
        ("gemini-acp-0.61.0/perm-allow", twice("complete"), "turns_balance"),
        ("gemini-acp-0.61.0/perm-allow", changed("complete", ("data", "outcome"), "error"), "turns_agree"),
        ("gemini-acp-0.61.0/perm-allow", without("user_message"), "prompts"),
        ("gemini-acp-0.61.0/perm-allow", without("permission_resolved"), "permissions"),
        (
            "gemini-acp-0.61.0/perm-allow",
            changed("permission_resolved", ("behavior",), "deny"),
            "permissions",
        ),
        (
            "gemini-acp-0.61.0/perm-allow",
            changed("permission_request", ("permission_options",), []),
            "permissions",
        ),
        ("copilot-acp-1.0.102/shell-fail", changed("tool_update", ("tool_status",), "complete"), "statuses"),
        (
            "codex-acp-2.6.0/file-edit",
            changed("tool_update", DIFF, "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n"),
            "diffs_hold",
        ),
        ("claude-agent-acp-v2-0.100.0/plan", without("agent_plan"), "plans_and_modes"),
        (
            "gemini-acp-0.61.0/perm-allow",
            changed("session_mode", ("current_mode_id",), "x"),
            "plans_and_modes",
        ),
        (
            "claude-agent-acp-0.100.0/shell-fail",
            changed("available_commands", ("available_commands",), []),
            "commands",
        ),
    ],
)
def test_a_fault_is_named(recording: str, fault: Callable[[Events], Events], rule: str) -> None:
    folder = ACP / recording
    core = recorded_core()
    events = as_json([event for timed in read(folder) for event in core.handle(timed.input)])
    facts = facts_of(AcpRecording(folder).rows())
    assert violations(facts, events, whole=True) == []
    assert rule in {said.partition(":")[0] for said in violations(facts, fault(events), whole=True)}
