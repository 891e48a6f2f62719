"""Playing a recording reads it as it goes, and counts its way."""

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from recordings import recordings
from turnwire.normalize.inputs import Announced, Ended, Received, SessionInput
from turnwire.recordings.reading import length, read
from turnwire.sidecar.replay.player import Player


async def played(path: Path, **options: float) -> list[SessionInput]:
    found: list[SessionInput] = []

    async def feed(batch: Sequence[SessionInput]) -> None:
        found.extend(batch)

    player = Player(read(path), length(path), feed, speed=None, **options)
    assert player.position == 0
    await player.run()
    assert player.position == 1
    return found


async def test_every_recording_is_played_whole_and_its_length_is_known_before() -> None:
    for made in recordings():
        inputs = [timed.input for timed in read(made.folder)]
        assert await played(made.folder) == inputs
        assert length(made.stdout_path) in {len(made.received()) + 1, len(made.received())}


async def test_a_large_recording_is_not_held_in_memory(tmp_path: Path) -> None:
    line = b'{"type":"keep_alive","filler":"%s"}\n' % (b"x" * 4000)
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        for _ in range(8000):
            file.write(line)
    seen = 0

    async def feed(batch: Sequence[SessionInput]) -> None:
        nonlocal seen
        seen += len(batch)

    tracemalloc.start()
    try:
        await Player(read(path), length(path), feed, speed=None).run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == 8001
    assert peak < path.stat().st_size / 3


def test_a_row_that_a_killed_recorder_left_half_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    row = '{"ts":"2026-01-01T00:00:00.000000Z","protocol":"streamjson","agent":"a","event":"recv","data":{"type":"keep_alive"}}'
    path = tmp_path / "raw.jsonl"
    path.write_text(f"{row}\n{row[:60]}\n{row}\n{row[:90]}")
    inputs = [timed.input for timed in read(path)]
    assert [type(item) for item in inputs] == [Received, Announced, Received, Announced, Ended]
    assert "Row 2" in str(inputs[1])


@pytest.mark.parametrize("missing", ["timeline.jsonl", "stdout.jsonl", "stdin.jsonl"])
def test_a_folder_that_lacks_a_file_says_which(missing: str, tmp_path: Path) -> None:
    from turnwire.recordings.recorded import RecordingError

    for name in {"timeline.jsonl", "stdout.jsonl", "stdin.jsonl"} - {missing}:
        (tmp_path / name).touch()
    with pytest.raises(RecordingError, match=f"{missing} is missing"):
        list(read(tmp_path))
