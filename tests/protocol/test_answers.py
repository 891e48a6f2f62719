import pytest

from recordings import recordings
from turnwire.protocol.claude.answers import (
    Allow,
    Deny,
    HookOutput,
    answer_hook,
    answer_permission,
    read_hook,
    read_permission,
)
from turnwire.protocol.claude.control import ControlResponse, ResponseBody, success
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError, to_json
from turnwire.protocol.json_values import Json


def payload(response: ControlResponse) -> Json:
    assert response.request_id == "r"
    return response.payload


def test_an_allow_carries_the_input() -> None:
    assert payload(answer_permission("r", Allow({}))) == {"behavior": "allow", "updatedInput": {}}


def test_always_carries_the_rules() -> None:
    rule = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert payload(answer_permission("r", Allow({"a": 1}, [rule]))) == {
        "behavior": "allow",
        "updatedInput": {"a": 1},
        "updatedPermissions": [rule],
    }


def test_an_allow_without_input_is_refused() -> None:
    with pytest.raises(EncodeError, match="updatedInput"):
        answer_permission("r", Allow())


def test_a_deny_always_carries_a_message() -> None:
    assert payload(answer_permission("r", Deny())) == {"behavior": "deny", "message": ""}
    assert payload(answer_permission("r", Deny("no", interrupt=True))) == {
        "behavior": "deny",
        "message": "no",
        "interrupt": True,
    }


def test_permission_answers_are_read_back() -> None:
    for answer in (Allow({"a": 1}, []), Deny("no", interrupt=True)):
        assert read_permission(answer_permission("r", answer)) == answer


def test_a_permission_answer_is_read_in_the_shape_of_spec_3() -> None:
    message = decode(
        b'{"type":"control_response","request_id":"req_123","response":{"subtype":"success","result":'
        b'{"behavior":"allow","updatedPermissions":[],"message":""}}}'
    )
    assert isinstance(message, ControlResponse)
    assert read_permission(message) == Allow(None, [])


@pytest.mark.parametrize("garbage", [None, "allow", {}, {"behavior": "maybe"}, {"behavior": ["allow"]}])
def test_anything_else_is_no_permission_answer(garbage: Json) -> None:
    response = ControlResponse(response=ResponseBody(subtype="success", request_id="r", response=garbage))
    assert read_permission(response) is None


def test_an_odd_field_of_a_permission_answer_costs_only_itself() -> None:
    assert read_permission(success("r", {"behavior": "deny", "message": "no", "interrupt": "yes"})) == Deny(
        "no"
    )


def test_hook_outputs_are_written_in_camel_case() -> None:
    output = HookOutput(go_on=False, stop_reason="enough", decision="block", system_message="hi")
    assert payload(answer_hook("r", output)) == {
        "continue": False,
        "stopReason": "enough",
        "decision": "block",
        "systemMessage": "hi",
    }
    assert read_hook(answer_hook("r", output)) == output


def test_a_hook_that_says_nothing_is_an_empty_output() -> None:
    assert payload(answer_hook("r", HookOutput())) == {}
    assert read_hook(success("r")) == HookOutput()


def test_every_recorded_answer_to_a_permission_request_is_read() -> None:
    seen = 0
    for found in recordings("perm-allow", "perm-allow-always", "perm-deny", "perm-deny-interrupt"):
        for line in found.sent():
            message = decode(line)
            if isinstance(message, ControlResponse):
                answer = read_permission(message)
                assert answer is not None
                assert to_json(answer) == message.payload
                seen += 1
    assert seen >= 4
