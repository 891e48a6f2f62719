"""The same lines are the same inputs, whichever shape of recording they are kept in."""

import json
from pathlib import Path

import pytest

from cases import for_each
from recordings import Recording, recordings
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.dialects import DIALECTS
from turnwire.recordings.reading import length, name_of, read
from turnwire.recordings.recorded import RecordingError


def received(path: Path) -> list[Received]:
    return [timed.input for timed in read(path) if isinstance(timed.input, Received)]


def kept(folder: Path, lines: list[bytes]) -> tuple[Path, Path, Path]:
    """Keep lines of an agent as plain stdout, as rows, and in a folder with a timeline."""
    stdout, rows, timed = folder / "plain.jsonl", folder / "rows.jsonl", folder / "timed"
    timed.mkdir()
    written = b"".join(line + b"\n" for line in lines)
    stdout.write_bytes(written)
    (timed / "stdout.jsonl").write_bytes(written)
    (timed / "stdin.jsonl").write_bytes(b"")
    timeline = [{"t": number / 10, "dir": "recv", "line": number} for number in range(len(lines))]
    (timed / "timeline.jsonl").write_text("".join(json.dumps(row) + "\n" for row in timeline))
    rows.write_text(
        "".join(
            json.dumps({"ts": "2026-01-02T03:04:05Z", "event": "recv", "line": line.decode()}) + "\n"
            for line in lines
        )
    )
    return stdout, rows, timed


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_a_file_rows_and_a_folder_are_read_alike(recording: Recording, tmp_path: Path) -> None:
    read_alike(recording, "claude", tmp_path)


@pytest.mark.parametrize("dialect", ["json_rpc", "miriad"])
@for_each("recording", recordings(version="2.1.330"))
def test_so_they_are_in_another_dialect(recording: Recording, dialect: str, tmp_path: Path) -> None:
    read_alike(recording, dialect, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["json_rpc", "miriad"])
@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_so_are_all_in_another_dialect(recording: Recording, dialect: str, tmp_path: Path) -> None:
    read_alike(recording, dialect, tmp_path)


def read_alike(recording: Recording, dialect: str, tmp_path: Path) -> None:
    try:
        recording.stdout.decode()
    except UnicodeDecodeError:
        lines = [line.decode(errors="replace").encode() for line in recording.received()]
    else:
        lines = recording.received()
    if dialect != "claude":
        peer = DIALECTS[dialect].agent()
        lines = [said.removesuffix(b"\n") for line in lines for said in peer.write(decode(line), line).lines]
    stdout, rows, timed = kept(tmp_path, lines)
    plain = received(stdout)
    assert bool(plain) == bool(lines)
    assert received(timed) == plain
    assert received(rows) == [item for item in plain if item.line]


def timed(folder: Path, timeline: str, stdout: str = "{}\n{}\n{}\n") -> Path:
    (folder / "stdout.jsonl").write_text(stdout)
    (folder / "stdin.jsonl").write_text("")
    (folder / "timeline.jsonl").write_text(timeline)
    return folder


def test_a_timeline_may_have_empty_lines_and_name_lines_that_are_not_there(tmp_path: Path) -> None:
    rows = [
        {"t": 0, "dir": "recv", "line": 0},
        {"t": 1, "dir": "send", "line": 0},
        {"t": 2, "dir": "recv", "line": 9},
    ]
    folder = timed(tmp_path, "\n\n".join(map(json.dumps, rows)))
    assert [item.line for item in received(folder)] == [b"{}"]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ('{"t": 0, "dir": "recv", "line": 0}\n{"t": ', "timeline.jsonl, row 2: "),
        (
            '{"t": 0, "dir": "recv", "line": 1}\n{"t": 1, "dir": "recv", "line": 0}\n',
            "line 0 of stdout.jsonl comes after line 1",
        ),
        # where no line is left in the file
        (
            '{"t": 0, "dir": "recv", "line": 2}\n{"t": 1, "dir": "recv", "line": 0}\n',
            "line 0 of stdout.jsonl comes after line 2",
        ),
        (
            '{"t": 0, "dir": "recv", "line": 9}\n{"t": 1, "dir": "recv", "line": 1}\n',
            "line 1 of stdout.jsonl comes after line 9",
        ),
    ],
)
def test_a_timeline_that_is_damaged_is_refused_with_its_place(rows: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=why):
        list(read(timed(tmp_path, rows)))


def test_a_folder_without_its_timeline_and_rows_without_a_whole_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "stdout.jsonl").write_text("{}\n")
    for look in (length, lambda path: list(read(path))):
        with pytest.raises(RecordingError, match=r"timeline\.jsonl"):
            look(tmp_path)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"ts":"2026-01-02T03:04:05Z","event":"re\n')
    with pytest.raises(RecordingError, match=r"row 1: not a row of a recording .*; is the file damaged\?"):
        list(read(rows))
    assert name_of(rows) == "rows.jsonl"
