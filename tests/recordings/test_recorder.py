"""What is recorded is what is read back: byte for byte, in order, whatever the lines are."""

import resource
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordings import recordings
from turnwire.normalize import events as ev
from turnwire.normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import RecordingError
from turnwire.recordings.recorder import Recorder, check_folder


def recorded(folder: Path, items: list[SessionInput], agent: str = "a") -> Path:
    recorder = Recorder(folder, agent, clock=lambda: 1_700_000_000.25)
    for item in items:
        recorder.tap(item, [])
    recorder.close()
    return recorder.path


def received(line: bytes) -> Received:
    return Received(line, decode(line))


def sent(line: bytes) -> Sent:
    return Sent(line, decode(line))


@pytest.mark.long
def test_every_line_of_the_recordings_survives_byte_for_byte(tmp_path: Path) -> None:
    for number, recording in enumerate(recordings()):
        items: list[SessionInput] = [received(line) for line in recording.received()]
        items += [sent(line) for line in recording.sent()]
        path = recorded(tmp_path, items, f"agent{number}")
        back = [timed.input for timed in read(path)]
        assert back[:-1] == items
        assert back[-1] == Ended("end_of_input")


@settings(
    max_examples=60,
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
)
@given(lines=st.lists(st.binary(max_size=80).map(lambda line: line.replace(b"\n", b" ")), max_size=20))
def test_any_bytes_survive(tmp_path: Path, lines: list[bytes]) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    back = (
        [timed.input for timed in read(recorded(folder, [received(line) for line in lines]))] if lines else []
    )
    assert [item.line for item in back if isinstance(item, Received)] == lines


def test_what_looks_like_json_and_is_none_survives(tmp_path: Path) -> None:
    lines = [b'{"a":}', b"{}x}", b'{"a":"\xff"}']
    back = [timed.input for timed in read(recorded(tmp_path, [received(line) for line in lines]))]
    assert [item.line for item in back if isinstance(item, Received)] == lines


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_place_where_no_recordings_can_be_written_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match=r"recordings cannot be written there .*--record-dir"):
        check_folder(tmp_path / name)


@pytest.mark.parametrize("depth", [127, 500, 900, 100_000])
def test_lines_of_any_depth_survive(tmp_path: Path, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    items: list[SessionInput] = [
        received(line)
        for line in (b'{"x":%b}' % deep, b'{"type":"user","unheard_of":%b}' % deep, b'{"type":"keep_alive"}')
    ]
    assert [timed.input for timed in read(recorded(tmp_path, items))][:-1] == items


@pytest.mark.parametrize("depth", [500, 900, 100_000])
@pytest.mark.parametrize("event", ["recv", "decision", "note", "exit"])
def test_a_row_that_is_nested_too_deep_costs_itself(tmp_path: Path, event: str, depth: int) -> None:
    good: list[SessionInput] = [received(b'{"type":"keep_alive"}')]
    path = recorded(tmp_path, good)
    deep = "[" * depth + "]" * depth
    with path.open("a", encoding="ascii") as rows:
        rows.write(f'{{"ts":"2026-01-01T00:00:00Z","agent":"a","event":"{event}","data":{{"x":{deep}}}}}\n')
    found, *rest = [timed.input for timed in read(path)]
    assert found == good[0]
    assert isinstance(rest[0], Announced if event != "recv" or depth > 900 else Received)
    assert rest[1:] == [Ended("end_of_input")]


def test_decisions_announcements_and_the_end_are_read_back(tmp_path: Path) -> None:
    items: list[SessionInput] = [
        Announced(ev.ProcessStatus(state="started", pid=42)),
        Decision(
            "p-1", "allow", "ada", 1500, option_id="allow_once", updated_input={"command": "ls", "n": None}
        ),
        Ended("exited", exit_code=None, signal="SIGKILL", stderr_tail="ä"),
    ]
    path = recorded(tmp_path, items)
    assert [timed.input for timed in read(path)] == items
    assert [timed.at for timed in read(path)] == [1_700_000_000.25] * 3


def test_events_stand_beside_the_raw_lines(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "a", clock=lambda: 0.0)
    recorder.tap(received(b'{"type":"keep_alive"}'), [ev.MessageChunk(text="hi")])
    recorder.close()
    assert (tmp_path / "normalized-streamjson-a.jsonl").read_bytes() == (
        b'{"ts":"1970-01-01T00:00:00.000000Z","protocol":"streamjson","agent":"a","event":"message_chunk",'
        b'"data":{"type":"message_chunk","text":"hi"}}\n'
    )


def test_a_large_file_is_set_aside_and_nothing_is_lost(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "a", rotate_at=400)
    lines = [b'{"type":"keep_alive","n":%d}' % number for number in range(12)]
    for line in lines:
        recorder.tap(received(line), [])
    recorder.close()
    back = [timed.input for timed in read(recorder.path)]
    # All rows may have reached the thread at once; then there is one file, since a batch is never torn.
    assert [item.line for item in back if isinstance(item, Received)] == lines


def test_a_recording_goes_on_in_the_same_file_after_a_restart(tmp_path: Path) -> None:
    recorded(tmp_path, [received(b'{"type":"keep_alive","n":1}')])
    path = recorded(tmp_path, [received(b'{"type":"keep_alive","n":2}')])
    assert [item.input.line for item in read(path) if isinstance(item.input, Received)] == [
        b'{"type":"keep_alive","n":1}',
        b'{"type":"keep_alive","n":2}',
    ]


def test_a_full_disk_ends_the_recording_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        recorded(tmp_path, [received(b'{"type":"keep_alive"}')])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "recording ended: the file cannot be written" in caplog.text


@pytest.mark.parametrize("name", ["raw-streamjson-a.jsonl", "normalized-streamjson-a.jsonl"])
def test_a_link_in_the_place_of_a_recording_is_not_followed(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / name).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        recorded(tmp_path, [received(b'{"type":"keep_alive"}')])
    assert victim.read_text() == "precious"


def test_what_follows_a_killed_recorder_begins_a_row_of_its_own(tmp_path: Path) -> None:
    path = recorded(tmp_path, [received(b'{"type":"keep_alive","n":1}')])
    path.write_bytes(path.read_bytes() + b'{"ts":"2026-01-01T00:0')
    recorded(tmp_path, [received(b'{"type":"keep_alive","n":2}')])
    items = [timed.input for timed in read(path)]
    assert [item.line for item in items if isinstance(item, Received)] == [
        b'{"type":"keep_alive","n":1}',
        b'{"type":"keep_alive","n":2}',
    ]
