"""docs/events.md is what the models say today, with an example of everything."""

import json
import re

import msgspec
import pytest

from docs import generate_events
from turnwire.hub.schema.field_docs import field_docs
from turnwire.normalize.events import from_json, to_json
from turnwire.normalize.events.base import Event, ThreadEvent
from turnwire.normalize.payloads import NormalizedPayload, Payload

PAYLOAD: msgspec.json.Decoder[NormalizedPayload] = msgspec.json.Decoder(NormalizedPayload)


@pytest.fixture(scope="module")
def page() -> str:
    return generate_events.page()


def test_the_reference_is_up_to_date(page: str, update_goldens: bool) -> None:
    if update_goldens:
        generate_events.main()
    committed = generate_events.PAGE.read_text(encoding="utf-8")
    assert committed == page, "run `python docs/generate_events.py`, or `make golden`"


@pytest.mark.parametrize("event", generate_events.EVENTS, ids=lambda event: str(event.__name__))
def test_every_event_has_a_section_with_its_fields_and_a_real_example(page: str, event: type[Event]) -> None:
    name = str(event.__struct_config__.tag)
    section = section_of(page, name)
    (line,) = re.findall(r"```json\n(.*)\n```", section)
    example = from_json(line)
    assert example.type == name
    assert json.loads(line) == json.loads(to_json(example))
    for field in event.__struct_fields__:
        if field not in ThreadEvent.__struct_fields__:
            assert f"| `{field}`" in section
            assert field_docs(event)[field]


@pytest.mark.parametrize("payload", generate_events.PAYLOADS, ids=lambda payload: str(payload.__name__))
def test_every_payload_kind_has_a_section_and_a_real_example(page: str, payload: type[Payload]) -> None:
    kind = str(payload.__struct_config__.tag)
    section = section_of(page, kind)
    (line,) = re.findall(r"```json\n(.*)\n```", section)
    assert PAYLOAD.decode(line).kind == kind
    assert "(from `fixtures/" in section


def test_an_event_without_an_example_is_not_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_events, "MADE", {})
    with pytest.raises(LookupError, match="no example of session_options"):
        generate_events.examples()


def test_only_what_no_recording_has_is_made_up() -> None:
    events, payloads = generate_events.examples()
    made = {name for name, example in (events | payloads).items() if example.source == "made"}
    assert made == set(generate_events.MADE) | {event.type for event in generate_events.OURS}


def section_of(page: str, name: str) -> str:
    found = re.search(rf"^## {name}\n(.*?)(?=^#{{1,2}} |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]
