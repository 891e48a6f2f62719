"""Frontends written against Kandev's agent events find every field they know.

event_shapes.jsonl has one line of each type as such a frontend gets it today.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recordings import recordings
from tests.normalize.lines import (
    JsonObject,
    Talk,
    assistant,
    control,
    init,
    message_start,
    result,
    text,
    tool_use,
)
from tests.normalize.translating import as_json, of_session
from turnwire.normalize.events import from_json, to_json

SHAPES = [
    json.loads(line)
    for line in (Path(__file__).parent / "event_shapes.jsonl").read_text(encoding="utf-8").splitlines()
]


def ident(shape: JsonObject) -> str:
    return str(shape["type"])


@pytest.mark.parametrize("shape", SHAPES, ids=ident)
def test_a_line_of_that_shape_is_an_event_that_keeps_all_it_says(shape: JsonObject) -> None:
    event = from_json(json.dumps(shape))
    assert contains(json.loads(to_json(event)), shape)


@pytest.mark.parametrize("shape", SHAPES, ids=ident)
def test_what_is_published_has_every_field_of_that_shape(shape: JsonObject) -> None:
    published = [event for event in everything() if event["type"] == shape["type"]]
    wanted = set(paths(shape))
    assert any(wanted <= set(paths(event)) for event in published)


def everything() -> Iterator[JsonObject]:
    talk = Talk()
    talk.hears(init(), message_start(), assistant(text("A"), tool_use("t"), uuid="a-93"))
    talk.hears(control("req-1", "can_use_tool", tool_name="Bash", input={"command": "ls"}))
    talk.hears({"type": "control_cancel_request", "request_id": "req-1"})
    figures: JsonObject = {"total_cost_usd": 0.01, "duration_ms": 1200, "num_turns": 2, "usage": {}}
    talk.hears(result(None, "error_during_execution", is_error=True, errors=["boom", "bang"], **figures))
    assert talk.last("complete")["error"] == talk.last("error")["error"] == "boom; bang"
    yield from as_json(talk.events)
    for name in ("initialize", "plan-approve", "text-thinking", "subagent", "rate-limit-event"):
        for recording in recordings(name):
            yield from as_json(of_session(recording)[0])


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and contains(whole[key], part[key]) for key in part
        )
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def paths(value: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{prefix}.{key}")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, f"{prefix}[]")
    else:
        yield prefix
