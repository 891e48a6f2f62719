"""The independent checker over every recording of an agent's own JSON output; and that it can fail."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from native_recordings import OF_ANOTHER_NAME, NativeRecording, native_recordings

from cases import for_each
from tests.checker.checks import violations as claude_violations
from tests.checker.native import WIRES, facts_of, files_after, violations
from tests.checker.raw import Facts as ClaudeFacts
from tests.normalize.translating import as_json
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read

Events = list[dict[str, Any]]


CHECKED = [
    one for one in native_recordings() if one.family in WIRES or one.agent.startswith((*OF_ANOTHER_NAME,))
]


class Processes(list[NativeRecording]):
    """The recordings of one scenario's processes, in their order: several of them share the files afterwards."""

    def __str__(self) -> str:
        return f"{self[0].agent}/{self[0].folder.name}"


SCENARIOS = [
    Processes(processes)
    for folder, processes in groupby(CHECKED, lambda one: one.folder)
    if (folder / "files-after.txt").exists()
]


def told(recording: NativeRecording) -> Events:
    core = recorded_core()
    return as_json([event for timed in read(recording.source) for event in core.handle(timed.input)])


@for_each("recording", CHECKED)
def test_the_events_agree_with_the_lines(recording: NativeRecording) -> None:
    if recording.family not in WIRES:  # an agent that writes Claude Code's own wire
        assert claude_violations(ClaudeFacts(recording.lines()), told(recording)) == []
        return
    stderr = recording.folder / recording.stdout.name.replace("stdout", "stderr").replace(".jsonl", ".txt")
    words = stderr.read_text(errors="replace") if stderr.exists() else ""
    facts = facts_of(str(recording.family), recording.lines(), words)
    assert violations(facts, told(recording)) == []


@for_each("processes", SCENARIOS)
def test_the_files_afterwards_are_as_told(processes: Processes) -> None:
    folder = processes[0].folder
    listing, meta = (
        (folder / "files-after.txt").read_text(errors="replace"),
        (folder / "meta.json").read_text(),
    )
    events = [event for process in processes for event in told(process)]
    assert [*files_after(listing, events, meta)] == []


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


@pytest.mark.parametrize(
    ("agent", "scenario", "fault", "rule"),
    [
        ("gemini", "api-401", without("error"), "errors"),
        ("droid", "api-401", changed("error", "status", to=500), "errors"),
        ("codex-exec", "api-401", twice("error"), "errors"),
        ("copilot", "api-401", without("api_retry"), "requests"),
        ("opencode-serve", "perm-deny", without("permission_request"), "requests"),
        ("gemini", "shell-fail", changed("tool_update", "normalized", "shell_exec", "output", "stdout", to=""), "outputs"),
        ("opencode-serve", "perm-deny", changed("tool_update", "error", to="x"), "outputs"),
        ("codex-exec", "interrupt", changed("complete", "data", "outcome", to="completed"), "ends"),
    ],
)  # fmt: skip
def test_a_fault_of_errors_requests_outputs_and_ends_is_named(
    agent: str, scenario: str, fault: Callable[[Events], Events], rule: str
) -> None:
    recording = next(
        one for one in native_recordings(agent, with_corpus=False) if one.folder.name.startswith(scenario)
    )
    facts = facts_of(agent, recording.lines())
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
    changed_untold = "git status:\n?? other.txt\n\n--- notes.txt (17 bytes)\nalpha\nBETA\ngamma\n"
    assert [*files_after(changed_untold, events)] == [
        "git says that other.txt was changed, and no call tells it"
    ]
    # one line further down than the diff says
    assert [*files_after("--- notes.txt (18 bytes)\n\nalpha\nBETA\ngamma\n", events)] != []


def test_files_are_as_the_processes_of_a_scenario_tell_together() -> None:
    first, second = (
        told(one)
        for one in native_recordings("droid", with_corpus=False)
        if one.folder.name in ("file-edit", "file-write")
    )
    made = "git status:\n?? made.txt\n\n--- made.txt (8 bytes)\none\ntwo\n"
    both = f"{made}--- notes.txt (17 bytes)\nalpha\nBETA\ngamma\n"
    assert [*files_after(both, first + second)] == []
    assert [*files_after(made, first + second)] != []
