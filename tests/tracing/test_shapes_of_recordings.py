"""The same lines are the same inputs, whichever shape of recording they are kept in."""

import json
from pathlib import Path

import pytest

from cases import for_each
from normalize.inputs import Received
from protocol.claude.decode import decode
from protocol.dialects import DIALECTS
from recordings import Recording, recordings
from tracing.recordings.reading import read


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
