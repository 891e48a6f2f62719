"""Every rule of the checker notices a fault of its kind: events are spoilt one way each, and the rule must say so."""

from collections.abc import Callable

import pytest

from recordings import recording
from tests.checker.checks import CHECKS, violations
from tests.checker.raw import Facts, JsonObject
from tests.normalize.translating import as_json, of_stdout

Events = list[JsonObject]
Fault = Callable[[Events], Events]


def without(kind: str, number: int = 0) -> Fault:
    """Leave out an event."""

    def fault(events: Events) -> Events:
        index = [i for i, event in enumerate(events) if event["type"] == kind][number]
        return events[:index] + events[index + 1 :]

    return fault


def twice(kind: str, number: int = 0) -> Fault:
    """Repeat an event."""

    def fault(events: Events) -> Events:
        index = [i for i, event in enumerate(events) if event["type"] == kind][number]
        return events[: index + 1] + events[index:]

    return fault


def changed(kind: str, number: int = 0, **fields: object) -> Fault:
    """Change fields of an event; of `complete`, of its data."""

    def fault(events: Events) -> Events:
        index = [i for i, event in enumerate(events) if event["type"] == kind][number]
        event = dict(events[index])
        if kind == "complete":
            event["data"] = {**event["data"], **fields}
        else:
            event.update(fields)
        return [*events[:index], event, *events[index + 1 :]]

    return fault


def swapped(kind: str) -> Fault:
    """Exchange the first two events of a kind."""

    def fault(events: Events) -> Events:
        first, second = [i for i, event in enumerate(events) if event["type"] == kind][:2]
        spoilt = list(events)
        spoilt[first], spoilt[second] = spoilt[second], spoilt[first]
        return spoilt

    return fault


def last(kind: str) -> Fault:
    """Move the first event of a kind to the end."""

    def fault(events: Events) -> Events:
        index = next(i for i, event in enumerate(events) if event["type"] == kind)
        return [*events[:index], *events[index + 1 :], events[index]]

    return fault


FAULTS: list[tuple[str, str, str, Fault]] = [
    ("every_text_and_call_once_and_in_order", "2.1.330", "partial-messages", without("message_chunk")),
    ("every_text_and_call_once_and_in_order", "2.1.330", "partial-messages", twice("message_chunk", 2)),
    ("every_text_and_call_once_and_in_order", "2.1.330", "partial-messages", swapped("message_chunk")),
    ("every_text_and_call_once_and_in_order", "1.0.120", "interrupt-text", without("message_chunk", 1)),
    ("every_text_and_call_once_and_in_order", "2.1.330", "partial-messages", without("reasoning")),
    (
        "every_text_and_call_once_and_in_order",
        "2.1.330",
        "subagent",
        changed("message_chunk", 2, text="other"),
    ),
    ("every_text_and_call_once_and_in_order", "2.1.330", "text-thinking", without("reasoning", 1)),
    ("local_output_is_shown", "1.0.120", "slash-local", changed("message_chunk", 1, text="")),
    ("result_text_only_when_nothing_was_said", "2.1.330", "hook-prompt-block", without("message_chunk")),
    ("result_text_only_when_nothing_was_said", "2.1.330", "hook-prompt-block", twice("message_chunk")),
    ("turns_balance", "2.1.330", "tool-read", without("complete")),
    ("turns_balance", "2.1.330", "tool-read", twice("turn_started")),
    ("turns_balance", "2.1.330", "queue-at-start", swapped("turn_started")),
    ("turns_balance", "1.0.120", "kill-midturn", without("complete")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", without("tool_call")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", twice("tool_call")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", without("tool_update")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", last("tool_update")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", last("tool_call")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", changed("tool_call", tool_call_id="toolu_none")),
    ("calls_and_updates_balance", "2.1.330", "tool-read", changed("tool_call", tool_name="Write")),
    ("statuses_agree_with_the_results", "2.1.330", "tool-read", changed("tool_update", tool_status="error")),
    (
        "statuses_agree_with_the_results",
        "2.1.330",
        "interrupt-subagent",
        changed("tool_update", 1, reason=None),
    ),
    (
        "statuses_agree_with_the_results",
        "2.1.330",
        "hooks-observe",
        changed("tool_update", normalized={"shell_exec": {"output": {"exit_code": 7}}}),
    ),
    (
        "statuses_agree_with_the_results",
        "2.1.330",
        "perm-allow",
        changed("tool_update", normalized={"shell_exec": {"output": {"exit_code": 7}}}),
    ),
    ("figures_agree_with_the_results", "2.1.330", "tool-read", changed("complete", total_cost_usd=1.0)),
    ("figures_agree_with_the_results", "2.1.330", "tool-read", changed("complete", is_error=True)),
    ("figures_agree_with_the_results", "2.1.330", "api-500", changed("complete", is_error=False)),
    ("figures_agree_with_the_results", "2.1.330", "json-schema", changed("complete", structured_output=None)),
    ("figures_agree_with_the_results", "1.0.120", "kill-midturn", changed("complete", outcome="max_turns")),
    ("shares_add_up", "2.1.101", "partial-messages", changed("complete", 1, cost_usd=0.5)),
    ("shares_add_up", "2.1.101", "partial-messages", changed("complete", 1, cost_usd=None)),
    ("errors_are_said_once", "2.1.330", "api-500", without("error")),
    ("errors_are_said_once", "2.1.330", "api-500", twice("error")),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", 8, context_window_used=5),
    ),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", 8, context_window_size=200000, context_window_remaining=0),
    ),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", context_window_size=None),
    ),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", context_window_used=2_000_000),
    ),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", context_efficiency=0),
    ),
    (
        "context_agrees_with_the_usage",
        "2.1.330",
        "tool-read",
        changed("context_window", 8, context_window_size=5),
    ),
    ("uuids_agree_with_the_lines", "2.1.330", "tool-read", changed("complete", last_message_uuid="other")),
    ("uuids_agree_with_the_lines", "2.0.14", "tool-read", changed("complete", resume_token="other")),
    ("requests_end_once", "2.1.330", "perm-allow", without("permission_request")),
    ("requests_end_once", "2.1.330", "perm-allow", twice("permission_resolved")),
    ("nested_events_name_their_parent", "2.1.330", "subagent", last("tool_call")),
]


@pytest.mark.parametrize(("rule", "version", "scenario", "fault"), FAULTS)
def test_a_rule_notices_a_fault_of_its_kind(rule: str, version: str, scenario: str, fault: Fault) -> None:
    taken = recording(version, scenario)
    facts, events = Facts(taken.received()), as_json(of_stdout(taken))
    assert violations(facts, events) == []
    assert any(sentence.startswith(f"{rule}:") for sentence in violations(facts, fault(events)))


def test_every_rule_has_a_fault_that_it_notices() -> None:
    assert {check.__name__ for check in CHECKS} == {rule for rule, *_ in FAULTS}
