"""Recordings of agents' own wires against the events expected of them; `make golden` writes them anew, and the diff is the review."""

import difflib
import json
from pathlib import Path

import pytest
from native_recordings import NATIVE, NativeRecording, native_recordings

from cases import for_each
from turnwire.normalize.events import to_json
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read
from turnwire.testing.events import balanced, readable

GOLDENS = Path(__file__).parent / "goldens"
COMMITTED = [*native_recordings(with_corpus=False)]


def golden_of(recording: NativeRecording) -> Path:
    return GOLDENS / f"{recording}.jsonl"


@pytest.mark.parametrize("recording", COMMITTED, ids=str)
def test_a_recording_gives_the_events_expected_of_it(
    recording: NativeRecording, update_goldens: bool
) -> None:
    core = recorded_core()
    events = [event for timed in read(recording.source) for event in core.handle(timed.input)]
    lines = [json.dumps(json.loads(to_json(event)), ensure_ascii=False) for event in events]
    path = golden_of(recording)
    if update_goldens:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
        return
    expected = path.read_text(encoding="utf-8").split("\n")[:-1]
    if lines != expected:
        diff = difflib.unified_diff(expected, lines, "expected", "translated", n=0, lineterm="")
        pytest.fail("\n".join(line[:600] for line in list(diff)[:40]), pytrace=False)


def test_every_golden_has_a_recording(update_goldens: bool) -> None:
    known = {golden_of(recording) for recording in COMMITTED}
    stale = set(GOLDENS.glob("*/*.jsonl")) - known
    if update_goldens:
        for path in stale:
            path.unlink()
    else:
        assert stale == set()
    assert {*NATIVE.glob("*/*/stdout*.jsonl")} == {recording.stdout for recording in COMMITTED}


@for_each("recording", [one for one in native_recordings() if one.family is not None])
def test_every_line_of_a_recording_is_known_and_accounted_for(recording: NativeRecording) -> None:
    core = recorded_core()
    events = [event for timed in read(recording.source) for event in core.handle(timed.input)]
    stats = core.stats
    assert (stats.unknown, stats.malformed) == (0, 0)
    assert stats.published + stats.counted + stats.control == len(recording.lines())
    balanced(events)
    readable(events)
