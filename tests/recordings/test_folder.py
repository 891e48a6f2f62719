"""A recording as a folder, written while an agent runs."""

import json
from itertools import count
from pathlib import Path

import pytest

from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.recordings.folder import LARGEST_FILE, FolderRecorder, Workspace
from turnwire.recordings.reading import length, read
from turnwire.recordings.recorded import RecordingError


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "timeline.jsonl").read_text().splitlines()]


def test_every_line_has_its_time_whatever_the_pieces_it_came_in(tmp_path: Path) -> None:
    times = count()
    with FolderRecorder(tmp_path / "new", lambda: next(times)) as recorder:
        for data in (b'{"type":"us', b'er"}\n{"type":"system"}', b"", b"\n\n", b"half"):
            recorder.see("recv", data)
        recorder.see("send", b'{"type":"user"}\n')
        recorder.see("err", b"words\n")
        recorder.close({"argv": ["x"]}, -9, iter([b"git status:\n"]))
    assert [(row["dir"], row.get("line", row.get("code"))) for row in rows(tmp_path / "new")] == [
        ("recv", 0), ("recv", 1), ("recv", 2), ("send", 0), ("err", 0), ("recv", 3), ("exit", -9),
    ]  # fmt: skip
    assert (tmp_path / "new" / "stdout.jsonl").read_bytes() == b'{"type":"user"}\n{"type":"system"}\n\nhalf'
    [run] = json.loads((tmp_path / "new" / "meta.json").read_bytes())["runs"]
    assert (run["argv"], run["exit"], run["how"], run["stdout_lines"]) == (["x"], -9, "signal", 4)
    heard = [timed.input for timed in read(tmp_path / "new", "claude")]
    assert [type(one) for one in heard] == [Received, Received, Received, Sent, Received, Ended]
    ended = heard[-1]
    assert isinstance(ended, Ended)
    assert (ended.signal, ended.stderr_tail) == ("SIGKILL", "words\n")


def test_a_recording_is_its_owners_and_never_written_over(tmp_path: Path) -> None:
    with FolderRecorder(tmp_path / "new"):
        pass
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "new").iterdir()} == {0}
    with pytest.raises(FileExistsError):
        FolderRecorder(tmp_path / "new")


def test_what_a_run_has_changed_is_kept_and_nothing_else(tmp_path: Path) -> None:
    for name in ("same", "edited", "gone"):
        (tmp_path / name).write_text("old\n")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "out").mkdir()
    before = Workspace(tmp_path, [tmp_path / "out"])
    (tmp_path / "edited").write_text("new")
    (tmp_path / "gone").unlink()
    (tmp_path / "binary").write_bytes(b"\0")
    (tmp_path / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
    (tmp_path / "link").symlink_to("/etc/passwd")
    for hidden in ("node_modules", "out"):
        (tmp_path / hidden / "file").write_text("x")
    assert b"".join(before.changed()).decode() == (
        "git status:\n\n\n--- binary (1 bytes)\n(not kept: no text, or too large)\n\n--- edited (3 bytes)\nnew\n\n--- gone (gone)\n"
        f"\n--- large ({LARGEST_FILE + 1} bytes)\n(not kept: no text, or too large)\n"
    )


def test_a_folder_of_several_processes_is_one_session(tmp_path: Path) -> None:
    line = b'{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","result":"Done."}\n'
    for number in ("1", "2"):
        (tmp_path / f"stdout.{number}.jsonl").write_bytes(line)
        (tmp_path / f"stdin.{number}.jsonl").write_bytes(b"")
        (tmp_path / f"timeline.{number}.jsonl").write_text('{"t": 2.5, "dir": "recv", "line": 0}\n')
    (tmp_path / "stderr.2.txt").write_text("no more\n")
    (tmp_path / "meta.json").write_text('{"runs": [{"exit": 0}, {"exit": 42}]}')
    heard = list(read(tmp_path, "claude"))
    assert [timed.at for timed in heard] == [2.5, 2.5, 5.0, 5.0]
    ends = [timed.input for timed in heard if isinstance(timed.input, Ended)]
    assert [(end.exit_code, end.stderr_tail) for end in ends] == [(0, ""), (42, "no more\n")]
    assert length(tmp_path) == 4
    (tmp_path / "stdout.2.jsonl").unlink()
    with pytest.raises(RecordingError, match=r"stdout\.2\.jsonl"):
        read(tmp_path)
