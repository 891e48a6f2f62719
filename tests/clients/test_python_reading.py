"""What the Python client makes of frames, by the table that the TypeScript client is held to as well."""

import json

import pytest

from recordings import ROOT
from turnwire.client import EventFrame, ProtocolError
from turnwire.client.events import Notice, Unknown
from turnwire.client.reading import read_frame

CASES = {
    case["what"]: case
    for case in json.loads((ROOT / "clients" / "behaviour" / "frames.json").read_text("utf-8"))
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_frame_is_read_passed_over_or_the_hubs_fault(case: dict[str, str]) -> None:
    if case["is"] == "error":
        with pytest.raises(ProtocolError, match=r"^The hub sent"):
            read_frame(case["frame"])
    else:
        frame = read_frame(case["frame"])
        assert ("ignored" if frame is None else frame.type) == case["is"]


def test_an_event_of_a_type_this_version_does_not_know_is_a_value_with_all_that_came() -> None:
    frame = read_frame(CASES["an event of tomorrow"]["frame"])
    assert isinstance(frame, EventFrame)
    assert frame.event == Unknown(message_type="of_tomorrow", raw='{"type":"of_tomorrow","x":1}')
    known = read_frame(CASES["an event with a word of tomorrow"]["frame"])
    assert isinstance(known, EventFrame)
    assert isinstance(known.event, Notice)


def test_a_frame_nested_too_deep_is_the_hubs_fault() -> None:
    with pytest.raises(ProtocolError):
        read_frame("[" * 100_000)
    with pytest.raises(ProtocolError):
        read_frame('{"type":"reply","id":"1","ok":true,"result":' + "[" * 100_000 + "]" * 100_000 + "}")
