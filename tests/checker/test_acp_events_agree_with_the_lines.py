"""The independent checker over every recording of the Agent Client Protocol: with what was sent, and of stdout alone."""

import json
from pathlib import Path

from acp_recordings import AcpRecording, acp_recordings
from msgspec.structs import asdict

from cases import for_each
from tests.checker.acp import facts_of, violations
from tests.normalize.translating import as_json
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.lines import LineReader
from turnwire.recordings.reading import read


def translated(path: Path) -> tuple[list[AgentEvent], Core]:
    core = recorded_core()
    return [event for timed in read(path) for event in core.handle(timed.input)], core


@for_each("recording", acp_recordings())
def test_the_events_of_a_whole_session_agree_with_its_lines(recording: AcpRecording) -> None:
    events, core = translated(recording.folder)
    facts = facts_of(recording.rows())
    assert violations(facts, as_json(events), whole=True) == []
    assert sum(asdict(core.stats).values()) == facts.lines
    assert core.stats.malformed == core.stats.unknown == core.stats.blank == 0


@for_each("recording", acp_recordings())
def test_the_events_of_stdout_alone_agree_with_its_lines(recording: AcpRecording) -> None:
    events, core = translated(recording.folder / "stdout.jsonl")
    facts = facts_of(recording.rows())
    assert violations(facts, as_json(events), whole=False) == []
    assert sum(asdict(core.stats).values()) == facts.lines
    assert core.stats.malformed == core.stats.unknown == core.stats.blank == 0


@for_each("recording", acp_recordings())
def test_a_file_and_a_folder_tell_the_same_of_texts_and_calls(recording: AcpRecording) -> None:
    alone, _ = translated(recording.folder / "stdout.jsonl")
    whole, _ = translated(recording.folder)
    kinds = ("message_chunk", "reasoning", "agent_plan")

    def told(events: list[AgentEvent]) -> list[object]:
        return [
            (event["type"], event.get("text"), event.get("reasoning_text"), event.get("plan_content"))
            for event in as_json(events)
            if event["type"] in kinds
        ]

    assert told(alone) == told(whole)
    payloads = [
        [(e["tool_call_id"], e.get("normalized")) for e in as_json(events) if e["type"] == "tool_call"]
        for events in (alone, whole)
    ]
    assert payloads[0] == payloads[1]


@for_each("recording", acp_recordings(with_corpus=False))
def test_rows_of_our_own_and_a_folder_give_the_same_events(recording: AcpRecording, tmp_path: Path) -> None:
    rows = []
    for direction, line in recording.rows():
        head = {"ts": "2026-01-01T00:00:00.000000Z", "protocol": "acp", "agent": "x", "event": direction}
        body = b'"data":' + line if line.startswith(b"{") else b'"line":' + json.dumps(line.decode()).encode()
        rows.append(json.dumps(head).encode()[:-1] + b"," + body + b"}")
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join(rows) + b"\n")
    ours, folders = (as_json(translated(path)[0]) for path in (file, recording.folder))
    ended = ("complete", "error", "process_status")  # an exit is told in a folder alone
    assert [e for e in ours if e["type"] not in ended] == [e for e in folders if e["type"] not in ended]


def test_lines_without_an_end_and_sent_ones_are_read_as_they_come() -> None:
    reader, core = LineReader(), recorded_core()
    events: list[AgentEvent] = []
    for direction, line in acp_recordings(with_corpus=False)[0].rows():
        for item in reader.received(line) if direction == "recv" else reader.sent(line):
            events += core.handle(item)
    assert core.handle(Ended("end_of_input"))
    assert events
