"""Logs of agents whose wire turnwire does not read: told by name with exit code 2, and nothing said of what they mean."""

import io
import json
import subprocess
from pathlib import Path

import pytest

from recordings import ROOT, recordings
from turnwire.normalize.recordings.lines import LineReader
from turnwire.recordings.filters.inspection import inspect
from turnwire.recordings.filters.translate import run
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import Unread
from turnwire_process import TURNWIRE, environment

LOGS = ROOT / "tests" / "support" / "recorded" / "foreign"
NAMES = {
    "ag-ui": "AG-UI events",
}
THEIRS = [pytest.param(LOGS / f"{name}.jsonl", told, id=name) for name, told in NAMES.items()]


def refused(source: Path) -> str:
    """Translate what cannot be read; return why not."""
    out = io.BytesIO()
    with pytest.raises(Unread) as caught:
        run(source, out, field_limit=1 << 20, stats=False)
    assert out.getvalue() == b""
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_there_is_a_log_of_each() -> None:
    assert sorted(file.stem for file in LOGS.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize(("file", "told"), THEIRS)
def test_a_log_of_another_agent_is_told_by_name_and_not_translated(file: Path, told: str) -> None:
    assert f"{file}: unread, for this looks like {told}; " in refused(file)


@pytest.mark.parametrize(("file", "told"), THEIRS)
def test_neither_is_a_folder_nor_a_wrapped_log_nor_rows(file: Path, told: str, tmp_path: Path) -> None:
    lines = file.read_text().splitlines()
    (tmp_path / "stdout.jsonl").write_text("\n".join(lines))
    (tmp_path / "stdin.jsonl").touch()
    rows = [json.dumps({"t": 0.1, "dir": "recv", "line": number}) for number in range(len(lines))]
    (tmp_path / "timeline.jsonl").write_text("\n".join(rows))
    listed = tmp_path / "execution.json"
    listed.write_text(json.dumps([json.loads(line) for line in lines], indent=2))
    recorded = tmp_path / "raw-1.jsonl"
    recorded.write_text(
        "".join(
            f'{{"ts":"2026-11-23T10:00:00Z","protocol":"streamjson","agent":"a","event":"recv","data":{line}}}\n'
            for line in lines
        )
    )
    for source in (tmp_path, listed, recorded):
        assert told in refused(source)
        with pytest.raises(Unread):
            read(source)  # before the first line is asked for: nothing is served that cannot be played


@pytest.mark.parametrize(("file", "told"), THEIRS)
def test_wherever_such_a_log_begins_no_turn_of_it_has_ended_well(
    file: Path, told: str, tmp_path: Path
) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    for first in range(len(lines)):
        rest = tmp_path / "stdout.jsonl"
        rest.write_bytes(b"".join(lines[first:]))
        with pytest.raises(Unread):
            inspect(read(rest), dict)  # type: ignore[arg-type]


def test_lines_of_claude_tell_before_any_odd_one_can() -> None:
    for recording in recordings(version="2.1.330"):
        reader = LineReader()
        list(reader.heard(recording.received()))
        assert reader.looks_like is None
        init = b'{"type":"system","subtype":"init","session_id":"s","tools":[],"mcp_servers":[]}'
    reader = LineReader()
    (odd,) = (LOGS / "ag-ui.jsonl").read_bytes().splitlines()[:1]
    assert len(list(reader.heard([init, odd]))) == 2
    assert (reader.looks_like, reader.is_readable) == (None, True)


@pytest.mark.long
def test_the_commands_say_so_and_end_with_2(tmp_path: Path) -> None:
    log, junk = LOGS / "ag-ui.jsonl", tmp_path / "junk.txt"
    junk.write_text("Error: not logged in\n\nnothing else\n")
    calls = [["translate"], ["inspect"], ["replay"], ["replay", "--otlp"], ["replay", "--serve"], ["doctor"]]
    for call in calls:
        for file, why in ((log, "looks like AG-UI"), (junk, "no line of it could be read")):
            result = subprocess.run(
                [*TURNWIRE, *call, str(file)],
                capture_output=True,
                check=False,
                timeout=60,
                env=environment(tmp_path) | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
            )
            assert result.returncode == 2, (call, result)
            assert why in result.stderr.decode()
            if call == ["translate"] and file == junk:
                types = [json.loads(line)["type"] for line in result.stdout.splitlines()]
                assert types == ["malformed", "malformed", "process_status"]


def test_whoever_pipes_another_agents_run_into_translate_is_not_stopped_by_it(tmp_path: Path) -> None:
    line = (LOGS / "ag-ui.jsonl").read_bytes().splitlines()[0] + b"\n"
    result = subprocess.run(
        [*TURNWIRE, "translate", "--stats"],
        input=line * 50_000,  # more than a pipe holds: an error of writing would be raised here
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(tmp_path),
    )
    assert (result.returncode, result.stdout) == (2, b"")
    stats, error = result.stderr.decode().splitlines()
    assert json.loads(stats)["published"] == 0
    assert error.startswith("turnwire: standard input: unread, for this looks like AG-UI ")
