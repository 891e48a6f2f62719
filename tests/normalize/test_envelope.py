"""Events in their envelope: the bytes of the journal, once for every frontend."""

import json

import pytest

from turnwire.normalize.events import Notice, from_json, to_json, to_lines
from turnwire.normalize.events.envelope import Envelope


@pytest.mark.parametrize("session", ["s", 'a "quoted"\n', "ä\u2028", ""])
def test_a_frame_is_the_envelope_with_the_event_as_it_was_written(session: str) -> None:
    event = to_json(Notice(kind="k", level="info", text="ü"))
    frame = Envelope(session, 7, "2026-01-02T03:04:05.678901Z", event).frame
    assert json.loads(frame) == {
        "type": "event",
        "session": session,
        "seq": 7,
        "ts": "2026-01-02T03:04:05.678901Z",
        "event": {"type": "notice", "kind": "k", "level": "info", "text": "ü"},
    }
    assert event in frame


def test_lines_are_events_and_read_back() -> None:
    events = [Notice(kind="k", level="info", text="a\nb"), Notice(kind="k", level="error", text="c")]
    lines = to_lines(events)
    assert lines == b"".join(to_json(event) + b"\n" for event in events)
    assert [from_json(line) for line in lines.splitlines()] == events
