"""What Claude's lines tell of requests between agent and host, for the spans of a conversation."""

import json
from typing import Any

import pytest

from turnwire.normalize.families import exchanges
from turnwire.normalize.model_calls import RequestAnswered, RequestMade, RequestTakenBack
from turnwire.protocol.claude.decode import decode


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


@pytest.mark.parametrize(
    ("asked", "name", "reply"),
    [
        ({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}, "can_use_tool", "permission_response"),
        ({"subtype": "hook_callback", "input": {"hook_event_name": "PreToolUse"}}, "hook_callback", "hook_response.pre_tool_use"),
        ({"subtype": "hook_callback", "input": {}}, "hook_callback", "hook_response.unknown"),
        ({"subtype": "hook_callback", "input": {"hook_event_name": 7}}, "hook_callback", "hook_response.unknown"),
        ({"subtype": "interrupt"}, "interrupt", "control_response.interrupt"),
        ({"subtype": "weather"}, "weather", "control_response.weather"),
    ],
)  # fmt: skip
def test_a_request_names_its_answer(asked: dict[str, Any], name: str, reply: str) -> None:
    message = decode(line("control_request", request_id="r", request=asked))
    assert exchanges()[type(message)](message) == RequestMade("r", name, reply)


def test_an_answer_names_its_request_and_what_is_taken_back_ends_it() -> None:
    answer = decode(line("control_response", response={"subtype": "success", "request_id": "r"}))
    assert exchanges()[type(answer)](answer) == RequestAnswered("r")
    back = decode(line("control_cancel_request", request_id="r"))
    assert exchanges()[type(back)](back) == RequestTakenBack()
