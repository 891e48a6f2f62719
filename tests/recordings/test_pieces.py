"""A recording that was set aside piece by piece is one recording, and what is missing of it is told."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from recordings import recording
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, Notice, ProcessStatus
from turnwire.normalize.inputs import Announced, SessionInput
from turnwire.recordings.pieces import distinct
from turnwire.recordings.reading import length, name_of, read
from turnwire.recordings.recorded import RecordingError
from turnwire.recordings.recorder import KEEP, Recorder

WHOLE = recording("2.1.330", "perm-allow").folder


def in_pieces(folder: Path, inputs: Sequence[SessionInput], count: int, agent: str = "a") -> list[Path]:
    """Record inputs into so many pieces; the oldest first. Each recorder sets aside what it finds."""
    for number in range(count):
        recorder = Recorder(folder, agent, rotate_at=1)
        for item in inputs[number * len(inputs) // count : (number + 1) * len(inputs) // count]:
            recorder.tap(item, [Notice(kind="x", level="info", text="x")])
        recorder.close()
    path = recorder.path
    return [*(path.with_name(f"{path.name}.{place}") for place in range(count - 1, 0, -1)), path]


def inputs_of(path: Path) -> list[SessionInput]:
    return [timed.input for timed in read(path)]


def events_of(path: Path) -> list[AgentEvent]:
    translator = ClaudeCore()
    return [event for item in inputs_of(path) for event in translator.handle(item)]


def told(path: Path) -> list[str]:
    """What the recording says of itself."""
    return [
        item.event.text
        for item in inputs_of(path)
        if isinstance(item, Announced) and isinstance(item.event, Notice) and item.event.kind == "recording"
    ]


def test_all_pieces_are_read_as_one_whichever_is_named(tmp_path: Path) -> None:
    inputs = inputs_of(WHOLE)
    found = in_pieces(tmp_path, inputs, 5)
    assert [path.is_file() for path in found] == [True] * 5
    for path in (*found, tmp_path):
        assert inputs_of(path) == inputs
        assert events_of(path) == events_of(WHOLE)
        assert sum(isinstance(event, ProcessStatus) for event in events_of(path)) == 1
        assert len(inputs) <= length(path) <= len(inputs) + 5
        assert name_of(path) == "a"


@pytest.mark.parametrize("kept", range(5))
def test_a_piece_alone_gives_what_it_has_and_says_what_is_missing(tmp_path: Path, kept: int) -> None:
    inputs = inputs_of(WHOLE)
    piece = in_pieces(tmp_path / "all", inputs, 5)[kept]
    alone = tmp_path / piece.name
    shutil.copy(piece, alone)
    own = inputs[kept * len(inputs) // 5 : (kept + 1) * len(inputs) // 5]
    assert [item for item in inputs_of(alone) if not isinstance(item, Announced)][: len(own)] == own
    words = []
    if kept > 0:
        count = "a piece is" if kept == 1 else f"{kept} pieces are"
        words.append(
            f"The recording is not whole: {count} missing before {alone.name}, with all that happened then."
        )
    if kept < 4:
        count = "a piece is" if kept == 3 else f"{4 - kept} pieces are"
        words.append(
            f"The recording is not whole: {count} missing behind {alone.name}, with all that happened then."
        )
    assert told(alone) == words


def test_a_hole_in_the_middle_is_told_where_it_is(tmp_path: Path) -> None:
    found = in_pieces(tmp_path, inputs_of(WHOLE), 5)
    found[2].unlink()
    (words,) = told(tmp_path)
    assert words.startswith(f"The recording is not whole: a piece is missing before {found[3].name}")


def test_pieces_beyond_those_that_are_kept_are_told_of(tmp_path: Path) -> None:
    inputs = inputs_of(WHOLE)
    for item in inputs[: KEEP + 4]:
        recorder = Recorder(tmp_path, "a", rotate_at=1)
        recorder.tap(item, [])
        recorder.close()
    assert len(list(tmp_path.glob("raw-*"))) == KEEP + 1
    (words,) = told(recorder.path)
    assert words.startswith("The recording is not whole: 3 pieces are missing before")
    assert inputs_of(recorder.path)[1:-1] == inputs[3 : KEEP + 4]


def test_pieces_without_numbers_of_older_recordings_are_counted_by_their_names(tmp_path: Path) -> None:
    inputs = inputs_of(WHOLE)
    found = in_pieces(tmp_path, inputs, 4)
    for path in found[1:]:
        path.write_bytes(path.read_bytes().partition(b"\n")[2])
    assert inputs_of(tmp_path) == inputs
    found[1].unlink()
    (words,) = told(tmp_path)
    assert words.startswith(f"The recording is not whole: a piece is missing before {found[2].name}")


def test_a_folder_of_several_recordings_wants_one_named(tmp_path: Path) -> None:
    inputs = inputs_of(WHOLE)
    first, second = (in_pieces(tmp_path, inputs, 2, agent) for agent in ("a", "b"))
    with pytest.raises(
        RecordingError, match=f"2 recordings, {first[1].name}, {second[1].name}; name one of them"
    ):
        read(tmp_path)
    assert distinct([tmp_path, *first, *second]) == [first[1], second[1]]
    assert distinct([first[0], first[1], WHOLE]) == [first[0], WHOLE]
    with pytest.raises(RecordingError, match="timeline"):
        read(Path(__file__).parent)


@pytest.mark.parametrize("name", ["normalized-streamjson-a.jsonl", "events.jsonl"])
def test_a_file_of_events_is_no_recording(tmp_path: Path, name: str) -> None:
    in_pieces(tmp_path, inputs_of(WHOLE), 1)
    path = (tmp_path / "normalized-streamjson-a.jsonl").rename(tmp_path / name)
    with pytest.raises(RecordingError, match="these are the events that a recording gave"):
        read(path)
