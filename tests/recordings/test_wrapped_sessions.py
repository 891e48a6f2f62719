"""Session files in another form: indented, as a list, in a log, exported. The events are those of the file itself."""

import gzip
import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from kept_files import AGENTS, WITH_A_FAILURE, kept_file
from kept_sessions import kept

from turnwire.normalize.events import to_lines
from turnwire.normalize.families import recorded_core
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.recordings.database import database_lines, save_lines
from turnwire.recordings.filters.translate import run
from turnwire.recordings.reading import read

CLAUDE = kept("2.1.330", "files-and-shell").file
FILES = {"claude": CLAUDE} | {
    agent: kept_file(agent) for agent in (*AGENTS, *WITH_A_FAILURE) if "opencode" not in agent
}


def indented(rows: Sequence[Json]) -> str:
    return "".join(json.dumps(row, indent=2) + "\n" for row in rows)


def in_logs(rows: Sequence[Json]) -> str:
    """In a log of compose in one of systemd."""
    return "".join(
        json.dumps({"_SYSTEMD_UNIT": "stack.service", "MESSAGE": f"agent-1  | {json.dumps(row)}"}) + "\n"
        for row in rows
    )


FORMS: dict[str, Callable[[Sequence[Json]], str]] = {
    "indented": indented,
    "an indented list": lambda rows: json.dumps(rows, indent=2),
    "a list of one line": json.dumps,
    "a time before each line": lambda rows: "".join(
        f"2026-11-29T06:33:40Z {json.dumps(row)}\n" for row in rows
    ),
    "a log in a log": in_logs,
}


def events_of(file: Path) -> list[str]:
    core = recorded_core()
    return (
        to_lines([event for timed in read(file) for event in core.handle(timed.input)]).decode().splitlines()
    )


def rows_of(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("agent", FILES)
def test_a_session_file_gives_the_same_events_in_every_form(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(FILES[agent])
    plain = tmp_path / FILES[agent].name
    plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = events_of(plain)
    assert len(expected) > 8
    for form, wrap in FORMS.items():
        file = tmp_path / form / plain.name
        file.parent.mkdir()
        file.write_text(wrap(rows))
        assert events_of(file) == expected, form
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
        out = io.BytesIO()
        run(None, out, field_limit=1 << 20, stats=False)
        assert out.getvalue().decode().splitlines() == expected, form
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(in_logs(rows).encode()))
    assert events_of(packed) == expected


def old_gemini(rows: Sequence[Json]) -> JsonObject:
    """The same conversation as Gemini CLI wrote it before it had a line for each message."""
    head, messages = rows[0], dict[str, Json]()
    assert isinstance(head, dict)
    for row in rows[1:]:
        assert isinstance(row, dict)
        change = row.get("$set")
        listed = change.get("messages", []) if isinstance(change, dict) else [row]
        assert isinstance(listed, list)
        messages |= {str(one["id"]): one for one in listed if isinstance(one, dict)}
    return {**head, "lastUpdated": "2026-01-01T00:20:00.000Z", "messages": [*messages.values()]}


@pytest.mark.parametrize("indent", [2, None])
def test_older_files_of_gemini_are_one_object(indent: int | None, tmp_path: Path) -> None:
    new = kept_file("gemini-0.61.0")
    file = tmp_path / "session-2026-01-01T00-00-22cc47f8.json"
    file.write_text(json.dumps(old_gemini(rows_of(new)), indent=indent))
    assert events_of(file) == events_of(new)


def test_an_export_of_opencode_has_the_events_of_its_database(tmp_path: Path) -> None:
    stored = kept_file("opencode-1.18.33")
    head, *messages = [
        msgspec.json.decode(line) for line in database_lines(stored) if isinstance(line, bytes)
    ]
    for message in messages:
        del message["time"]
    file = tmp_path / "export.json"
    about = head["info"] | {"time": {"created": head["time"]}}
    file.write_text(json.dumps({"info": about, "messages": messages}, indent=2))
    found = events_of(file)
    assert found == events_of(save_lines(stored, tmp_path))
    assert any('"complete"' in event for event in found)
