"""`turnwire translate` as a filter: every recording, in full, and every bad input in one sentence."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordings import Recording, recordings
from turnwire.normalize.events import from_json
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.dialects import JSON_RPC, MIRIAD, recognise

TURNWIRE = [sys.executable, "-m", "turnwire"]
LONG = pytest.mark.long


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*TURNWIRE, "translate", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(recording, id=str(recording), marks=() if recording.version == "2.1.330" else LONG)
        for recording in recordings("partial-messages", "unicode")
    ],
)
def test_a_recording_is_translated_whole_and_the_fates_of_its_lines_add_up(recording: Recording) -> None:
    file = recording.folder / "stdout.jsonl"
    first, second = run(file, "--stats"), run(file)
    assert first.returncode == 0
    assert first.stdout == second.stdout
    for line in first.stdout.splitlines():
        from_json(line)
    stats = json.loads(first.stderr)
    assert stats.pop("lines") == sum(stats.values()) == len(recording.received())


def test_standard_input_gives_what_the_file_gives() -> None:
    file = recordings("partial-messages")[0].folder / "stdout.jsonl"
    assert run(stdin=file.read_bytes()).stdout == run(file).stdout


def test_beyond_the_limit_fields_of_tools_are_cut_and_the_agents_text_is_not() -> None:
    blocks = [
        {"type": "text", "text": "t" * 3000},
        {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "c" * 3000}},
    ]
    line = json.dumps({"type": "assistant", "message": {"id": "m", "content": blocks}}).encode() + b"\n"
    events = [json.loads(event) for event in run("--field-limit", "1024", stdin=line).stdout.splitlines()]
    assert next(event["text"] for event in events if event["type"] == "message_chunk") == "t" * 3000
    call = next(event for event in events if event["type"] == "tool_call")
    assert call["truncated"] == {"normalized.shell_exec.command": 3000}
    assert call["normalized"]["shell_exec"]["command"] == "c" * 1024


def test_a_folder_with_a_timeline_is_translated_with_both_directions() -> None:
    folder = recordings("perm-allow", version="2.1.330")[0].folder
    types = [json.loads(line)["type"] for line in run(folder).stdout.splitlines()]
    assert "permission_request" in types
    assert "permission_resolved" in types


@pytest.mark.parametrize("bad", ["missing", "empty", "folder", "folder without a timeline"])
def test_bad_input_is_one_sentence_and_a_non_zero_exit(bad: str, tmp_path: Path) -> None:
    file = tmp_path / "stdout.jsonl"
    if bad == "empty":
        file.touch()
    result = run(tmp_path if "folder" in bad else file)
    assert result.returncode == 1
    assert result.stdout == b""
    (sentence,) = result.stderr.decode().splitlines()
    assert sentence.startswith("turnwire: ")
    assert str(tmp_path) in sentence


def test_a_recorded_cli_that_wrote_nothing_has_no_events(tmp_path: Path) -> None:
    (tmp_path / "stdout.jsonl").touch()
    (tmp_path / "timeline.jsonl").write_text('{"t": 0.5, "dir": "exit", "code": 1}\n')
    result = run(tmp_path / "stdout.jsonl", "--stats")
    assert result.returncode == 0
    assert json.loads(result.stderr)["lines"] == 0


def test_a_reader_that_leaves_ends_the_filter_quietly(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes((recordings("partial-messages")[0].folder / "stdout.jsonl").read_bytes() * 200)
    filter_ = subprocess.Popen(
        [*TURNWIRE, "translate", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert filter_.stdout is not None
    assert filter_.stderr is not None
    filter_.stdout.read(100)
    filter_.stdout.close()
    assert filter_.wait(timeout=120) == 128 + 13
    assert filter_.stderr.read() == b""
    filter_.stderr.close()


@pytest.mark.parametrize("scenario", ["plain-text", "tool-bash", "text-thinking", "interrupt-tool"])
def test_json_rpc_envelopes_around_the_lines_change_nothing(scenario: str) -> None:
    recording = recordings(scenario, version="2.1.330")[0]
    agent = JSON_RPC.agent()
    lines = [line for line in recording.received() if b'"control_response"' not in line]
    enveloped = [out for line in lines for out in agent.write(decode(line), line).lines]
    assert all(b'"jsonrpc"' in line for line in enveloped)
    assert run(stdin=b"".join(enveloped)).stdout == run(stdin=b"\n".join(lines)).stdout


@pytest.mark.parametrize("recording", recordings("tool-bash", version="2.1.330"), ids=str)
def test_the_same_session_in_spec_1_gives_the_same_story(recording: Recording) -> None:
    def story(stdin: bytes) -> list[tuple[str, object]]:
        events = [json.loads(line) for line in run(stdin=stdin).stdout.splitlines()]
        told: dict[str, Callable[[dict[str, Any]], object]] = {
            "message_chunk": lambda event: event["text"],
            "tool_call": lambda event: (event["tool_call_id"], event["tool_name"]),
            "tool_update": lambda event: (event["tool_call_id"], event["tool_status"]),
            "complete": lambda event: event["data"]["outcome"],
        }
        return [(event["type"], told[event["type"]](event)) for event in events if event["type"] in told]

    agent = MIRIAD.agent()
    spoken = [out for line in recording.received() for out in agent.write(decode(line), line).lines]
    assert recognise(spoken[1:]) == "miriad"
    assert story(b"".join(spoken)) == story(recording.stdout)
