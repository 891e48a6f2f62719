"""Recordings against the events expected of them; `make golden` writes them anew, and the diff is the review.

A golden is what a frontend gets of the whole session, fields of more than 4 KiB cut: one line an event.
"""

import difflib
from pathlib import Path

import pytest

from cases import for_each
from recordings import FIXTURES, Recording, recordings
from tests.normalize.translating import of_session
from turnwire.normalize.events import from_json, to_json
from turnwire.normalize.events.limits import cut

GOLDENS = Path(__file__).parent / "goldens"
LIMIT = 4096

COMMITTED = [recording for recording in recordings() if recording.folder.is_relative_to(FIXTURES)]


def golden_of(recording: Recording) -> Path:
    return GOLDENS / recording.version / f"{recording.scenario}.jsonl"


@for_each("recording", COMMITTED, by=lambda recording: recording.version)
def test_a_recording_gives_the_events_expected_of_it(recording: Recording, update_goldens: bool) -> None:
    events, _ = of_session(recording)
    lines = [to_json(cut(event, LIMIT)).decode() for event in events]
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


@for_each("recording", COMMITTED, by=lambda recording: recording.version)
def test_every_event_can_be_read_back(recording: Recording) -> None:
    for line in golden_of(recording).read_bytes().split(b"\n")[:-1]:
        assert to_json(from_json(line)) == line
