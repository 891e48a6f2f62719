"""Recordings of ACP agents against the events expected of them; `make golden` writes them anew, and the diff is the review.

Lists that are long and always the same (models, commands, options) are cut to their first two entries.
"""

import difflib
import json
from pathlib import Path
from typing import Any

import pytest
from acp_recordings import ACP, AcpRecording, acp_recordings

from turnwire.normalize.events import to_json
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read

GOLDENS = Path(__file__).parent / "goldens"
COMMITTED = acp_recordings(with_corpus=False)


def golden_of(recording: AcpRecording) -> Path:
    return GOLDENS / recording.folder.parent.name / f"{recording.folder.name}.jsonl"


def shortened(event: dict[str, Any]) -> dict[str, Any]:
    lists = {"models", "available_modes", "available_commands", "options", "values"}
    return {
        key: [shortened(item) if isinstance(item, dict) else item for item in value[:2]]
        if key in lists
        else value
        for key, value in event.items()
    }


def lines_of(recording: AcpRecording) -> list[str]:
    core = recorded_core()
    events = [event for timed in read(recording.folder) for event in core.handle(timed.input)]
    return [json.dumps(shortened(json.loads(to_json(event))), ensure_ascii=False) for event in events]


@pytest.mark.parametrize("recording", COMMITTED, ids=str)
def test_a_recording_gives_the_events_expected_of_it(recording: AcpRecording, update_goldens: bool) -> None:
    lines = lines_of(recording)
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
    assert len(COMMITTED) == len([*ACP.glob("*/*")])
