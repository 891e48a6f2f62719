"""`turnwire replay` as a command: what a shell's `*` names, and what is no recording."""

import subprocess
from pathlib import Path

import pytest

from preloaded import ran
from recordings import recording
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.recordings.reading import read
from turnwire.recordings.recorder import Recorder
from turnwire_process import environment

PIECES = 4


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return ran(arguments, cwd=folder, env=environment(folder / "home"))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A folder with a recording in four pieces, and its events."""
    folder = tmp_path / "recordings"
    inputs = [timed.input for timed in read(recording("2.1.330", "perm-allow").folder)]
    for number in range(PIECES):
        recorder = Recorder(folder, "one", rotate_at=1)
        for item in inputs[number * len(inputs) // PIECES : (number + 1) * len(inputs) // PIECES]:
            recorder.tap(item, [])
        recorder.close()
    return folder


def test_a_recording_in_pieces_is_replayed_once_whatever_names_it(tmp_path: Path, recorded: Path) -> None:
    whole = run(tmp_path, "replay", "--speed", "0", str(recording("2.1.330", "perm-allow").folder)).stdout
    assert whole.count(b'"process_status"') == 1
    pieces = sorted(map(str, recorded.glob("raw-*")))
    assert len(pieces) == PIECES
    for named in ([str(recorded)], pieces, pieces[:1], pieces[2:3]):
        assert run(tmp_path, "replay", "--speed", "0", *named).stdout == whole
        assert run(tmp_path, "translate", named[0]).stdout == whole
    report = run(tmp_path, "inspect", pieces[1]).stdout
    assert b"2 turns" in report


@pytest.mark.parametrize(
    "command", [["replay", "--speed", "0"], ["replay", "--serve"], ["translate"], ["inspect"]]
)
def test_a_file_of_events_is_refused_with_the_name_of_its_recording(
    tmp_path: Path, command: list[str]
) -> None:
    recorder = Recorder(tmp_path, "one")
    translator = ClaudeCore()
    for timed in read(recording("2.1.330", "perm-allow").folder):
        recorder.tap(timed.input, translator.handle(timed.input))
    recorder.close()
    done = run(tmp_path, *command, "normalized-streamjson-one.jsonl")
    assert done.returncode == 1
    assert b"name raw-streamjson-one.jsonl" in done.stderr
