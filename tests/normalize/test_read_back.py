"""What is published reads back as the same bytes, whatever is empty, zero or false in it."""

import json
from collections.abc import Iterator
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordings import Recording, recordings
from tests.normalize.lines import JsonObject, Talk, init, result
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.base import Event
from turnwire.normalize.inputs import Ended
from turnwire.protocol.claude.decode import decode

KINDS: tuple[type[Event], ...] = get_args(AgentEvent)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
NUMBERS = (0, -1, 1 << 53, 10**400)
"""Whole numbers that are put where a line has a number; no float holds the last."""
AROUND = 20
"""Lines before and behind the one that was changed."""


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type, empty ones first."""
    if hint is Any:
        return JSON
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return st.one_of([values(one) for one in inner])
    if kind is Literal:
        return st.sampled_from(inner)
    if kind is list:
        return st.lists(values(inner[0]), max_size=2)
    if kind is dict:
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return st.deferred(lambda: built(hint))
    if hint is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    return st.from_type(hint)


def built(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Structs of a class, with any field set or not."""
    hints = get_type_hints(kind)
    fields = msgspec.structs.fields(kind)
    required = {field.name: values(hints[field.name]) for field in fields if field.required}
    optional = {field.name: values(hints[field.name]) for field in fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda told: kind(**told))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
@settings(
    max_examples=8,
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_an_event_of_any_kind_reads_back_as_the_same_bytes(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(built(kind))
    written = to_json(event)
    again = from_json(written)
    assert again == event
    assert to_json(again) == written


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_a_turn_that_cost_nothing_reads_back_as_the_same_bytes(zero: float) -> None:
    figures: list[JsonObject] = [
        {"total_cost_usd": zero, "model_usage_since_last_result": {"m": {"costUSD": zero}}},
        {"total_cost_usd": zero, "model_usage_since_last_result": {}},
        {"total_cost_usd": zero},
        {"cost_usd": zero},
    ]
    talk = Talk()
    for number, told in enumerate(figures):
        talk.hears(init(), result("x", uuid=f"r{number}", **told))
        assert talk.last("complete")["data"]["cost_usd"] == 0
    for event in talk.events:
        assert to_json(from_json(to_json(event))) == to_json(event)


def spots(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where a line has numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from spots(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:1]):
            yield from spots(inner, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def put(line: bytes, path: tuple[str | int, ...], number: int) -> bytes:
    """The line with another number in that place."""
    value = holder = json.loads(line)
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = number
    return json.dumps(value).encode()


NUMERIC = recordings(
    "api-429-retry",
    "partial-messages",
    "rate-limit-event",
    "slash-compact",
    "subagent-background",
    "tool-bash-background",
)


@pytest.mark.parametrize(
    "made",
    [pytest.param(made, marks=() if made.version == "2.1.330" else pytest.mark.long) for made in NUMERIC],
    ids=str,
)
def test_no_number_is_too_large_for_the_translator(made: Recording) -> None:
    lines = made.received()
    known = set()
    for at, line in enumerate(lines):
        value = json.loads(line)
        for path in spots(value):
            place = (value["type"], value.get("subtype"), path)
            if place in known:
                continue
            known.add(place)
            for number in NUMBERS:
                translator = ClaudeCore()
                near = [
                    *lines[max(at - AROUND, 0) : at],
                    put(line, path, number),
                    *lines[at + 1 : at + AROUND],
                ]
                events = [
                    event for near_line in near for event in translator.receive(decode(near_line), near_line)
                ]
                for event in [*events, *translator.handle(Ended("end_of_input"))]:
                    assert to_json(from_json(to_json(event))) == to_json(event), place
    assert known
