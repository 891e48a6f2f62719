"""The independent checker over every recording of an agent's own JSON output; and that it can fail."""

from collections.abc import Callable
from typing import Any

import pytest
from native_recordings import NativeRecording, native_recordings

from cases import for_each
from tests.checker.native import WIRES, facts_of, files_after, violations
from tests.normalize.translating import as_json
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read

Events = list[dict[str, Any]]


def told(recording: NativeRecording) -> Events:
    core = recorded_core()
    return as_json([event for timed in read(recording.source) for event in core.handle(timed.input)])


@for_each("recording", [one for one in native_recordings() if one.family in WIRES])
def test_the_events_agree_with_the_lines(recording: NativeRecording) -> None:
    facts = facts_of(str(recording.family), recording.lines())
    events = told(recording)
    assert violations(facts, events) == []
    listing = recording.folder / "files-after.txt"
    if listing.exists() and recording.stdout.name == "stdout.jsonl":
        assert [*files_after(listing.read_text(), events)] == []


def without(kind: str) -> Callable[[Events], Events]:
    return lambda events: [event for event in events if event["type"] != kind]


def twice(kind: str) -> Callable[[Events], Events]:
    return lambda events: [one for event in events for one in [event] * (1 + (event["type"] == kind))]


def changed(kind: str, *path: str, to: object) -> Callable[[Events], Events]:
    def fault(events: Events) -> Events:
        for event in events:
            if event["type"] == kind:
                inner = event
                for name in path[:-1]:
                    inner = inner[name]
                inner[path[-1]] = to
        return events

    return fault


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (without("message_chunk"), "texts"),
        (twice("message_chunk"), "texts"),
        (changed("reasoning", "reasoning_text", to="x"), "texts"),
        (without("tool_call"), "calls_balance"),
        (twice("tool_update"), "calls_balance"),
        (changed("tool_update", "tool_status", to="complete"), "calls_agree"),
        (changed("tool_update", "normalized", "shell_exec", "command", to="x"), "calls_agree"),
        (changed("tool_update", "normalized", "shell_exec", "output", "exit_code", to=0), "calls_agree"),
        (without("complete"), "turns"),
        (twice("complete"), "turns"),
        (changed("complete", "data", "outcome", to="error"), "turns"),
        (changed("complete", "data", "output_tokens", to=1), "turns"),
        (changed("complete", "data", "input_tokens", to=1), "turns"),
    ],
)
def test_a_fault_is_named(fault: Callable[[Events], Events], rule: str) -> None:
    (recording,) = native_recordings("cursor-agent", with_corpus=False)
    facts = facts_of("cursor-agent", recording.lines())
    events = told(recording)
    assert violations(facts, events) == []
    assert rule in {said.partition(":")[0] for said in violations(facts, fault(events))}


def test_files_that_are_not_as_told_are_named() -> None:
    (recording,) = [
        one for one in native_recordings("droid", with_corpus=False) if one.folder.name == "file-edit"
    ]
    events = told(recording)
    assert [*files_after("--- notes.txt (17 bytes)\nalpha\nBETA\ngamma\n", events)] == []
    assert [*files_after("--- notes.txt (17 bytes)\nalpha\nbeta\ngamma\n", events)] != []
    assert [*files_after("git status:\n", events)] != []
