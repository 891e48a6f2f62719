"""What is new in a recording is told by name and number; what real CLIs have written is not new."""

import json
from pathlib import Path

import pytest

from recordings import ROOT, recordings
from turnwire.protocol.claude.decode import decode
from turnwire.sidecar.checks.doctor.drift import SEEN, Drift, seen


def drift(*lines: dict[str, object]) -> Drift:
    found = Drift()
    for line in lines:
        data = json.dumps(line).encode()
        found.add(data, decode(data))
    return found


def test_nothing_in_the_recordings_is_new(update_goldens: bool) -> None:
    found = Drift()
    for recording in recordings():
        for line in recording.received():
            found.add(line, decode(line))
    if update_goldens:
        unmodelled = sorted({*found.fields, *found.types})
        (ROOT / "turnwire" / "sidecar" / "checks" / "doctor" / SEEN).write_text("\n".join(unmodelled) + "\n")
        seen.cache_clear()
    assert found.lines > 5000
    new = found.without(seen())
    assert (new.types, new.fields, new.mistyped, new.malformed) == ({}, {}, {}, 0)


def test_the_list_holds_nothing_that_a_model_has_by_now() -> None:
    found = Drift()
    for recording in recordings():
        for line in recording.received():
            found.add(line, decode(line))
    assert seen() <= {*found.fields, *found.types}


@pytest.mark.parametrize(
    ("line", "types", "fields", "mistyped"),
    [
        ({"type": "martian", "a": 1}, {"martian"}, set(), set()),
        ({"type": "system", "subtype": "landed"}, {"system/landed"}, set(), set()),
        ({"type": "keep_alive", "mood": "good"}, set(), {"keep_alive.mood"}, set()),
        (
            {"type": "assistant", "message": {"id": "m", "usage": {"tears": 1}, "content": []}},
            set(),
            {"assistant.message.usage.tears"},
            set(),
        ),
        (
            {"type": "assistant", "message": {"content": [{"type": "song", "notes": []}]}},
            {"assistant.message.content[song]"},
            set(),
            set(),
        ),
        (
            {
                "type": "control_request",
                "request_id": "1",
                "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"any": 1}, "aura": 1},
            },
            set(),
            {"control_request.request[can_use_tool].aura"},
            set(),
        ),
        ({"type": "assistant", "uuid": 7, "message": {}}, set(), set(), {"assistant.uuid: int"}),
    ],
)
def test_what_is_new_is_named(
    line: dict[str, object], types: set[str], fields: set[str], mistyped: set[str]
) -> None:
    found = drift(line, line)
    assert set(found.types) == types
    assert set(found.fields) == fields
    assert set(found.mistyped) == mistyped
    assert {*found.types.values(), *found.fields.values(), *found.mistyped.values()} == {2}


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    found = Drift()
    found.add(b"no json", decode(b"no json"))
    assert found.malformed == found.count == 1
