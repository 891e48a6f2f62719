import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings import Recording, recordings
from turnwire.protocol.claude.blocks import ImageBlock, TextBlock, ToolResultBlock, UnknownBlock
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ResponseBody,
    failure,
    success,
)
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError, checked_input, encode, encode_input
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, Unknown, User, UserBody
from turnwire.protocol.claude.notices import KeepAlive
from turnwire.protocol.claude.requests import (
    Initialize,
    Interrupt,
    SetMaxThinkingTokens,
    SetModel,
    SetPermissionMode,
    StopTask,
    UnknownRequest,
)
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.stream import ContentBlockDelta, TextDelta
from turnwire.protocol.claude.system import Init, UnknownSystem
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.malformed import Malformed


def written(message: Message) -> object:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == message
    return json.loads(line)


def test_a_prompt_is_written_as_the_cli_reads_it() -> None:
    assert written(User(message=UserBody(content="Hello\n\u2028"), session_id="default")) == {
        "type": "user",
        "message": {"role": "user", "content": "Hello\n\u2028"},
        "session_id": "default",
    }


def test_a_prompt_of_blocks_is_written_as_the_cli_reads_it() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert written(User(message=UserBody(content=[TextBlock("hi"), ImageBlock(source)]))) == {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "hi"}, {"type": "image", "source": source}],
        },
    }


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (ControlRequest("r", Interrupt()), {"subtype": "interrupt"}),
        (ControlRequest("r", SetModel()), {"subtype": "set_model"}),
        (ControlRequest("r", SetModel(model="m")), {"subtype": "set_model", "model": "m"}),
        (
            ControlRequest("r", SetPermissionMode(mode="plan")),
            {"subtype": "set_permission_mode", "mode": "plan"},
        ),
        (
            ControlRequest("r", SetMaxThinkingTokens()),
            {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
        ),
        (ControlRequest("r", StopTask(task_id="t")), {"subtype": "stop_task", "task_id": "t"}),
        (
            ControlRequest("r", Initialize(sdk_mcp_servers=["a"])),
            {"subtype": "initialize", "sdkMcpServers": ["a"]},
        ),
        (
            ControlRequest("r", UnknownRequest({"subtype": "get_usage", "x": 1})),
            {"subtype": "get_usage", "x": 1},
        ),
    ],
)
def test_requests_are_written_as_the_cli_reads_them(message: Message, expected: object) -> None:
    assert written(message) == {"type": "control_request", "request_id": "r", "request": expected}
    assert encode_input(message) == encode(message)


def test_answers_are_written_in_the_official_shape_alone() -> None:
    assert written(success("r", {})) == {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "r", "response": {}},
    }
    assert written(failure("r", "no")) == {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "r", "error": "no"},
    }


def test_answers_may_be_written_to_a_cli() -> None:
    assert encode_input(success("r")) == encode(success("r"))
    assert encode_input(failure("r", "no")) == encode(failure("r", "no"))


def test_what_an_agent_says_can_be_written_too() -> None:
    assert written(Assistant(message=AssistantBody(content=[TextBlock("hi")], model="m"))) == {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "model": "m"},
    }
    assert written(Init(model="m", permission_mode="plan")) == {
        "type": "system",
        "subtype": "init",
        "model": "m",
        "permissionMode": "plan",
    }
    assert written(Result(subtype="success", is_error=False, num_turns=0, result="")) == {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 0,
        "result": "",
    }


def test_what_has_no_model_is_written_as_it_came() -> None:
    raw = {"type": "system", "subtype": "new", "x": {"y": [1]}}
    assert written(UnknownSystem(raw=raw)) == raw
    assert written(Unknown({"type": "new"})) == {"type": "new"}
    assert written(
        User(message=UserBody(content=[ToolResultBlock("t", [UnknownBlock({"type": "new"})])]))
    ) == {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "new"}]}],
        },
    }


def test_integers_of_any_size_are_written() -> None:
    assert (
        line_of({"n": 10**40, "text": "é"})
        == b'{"n":10000000000000000000000000000000000000000,"text":"\xc3\xa9"}\n'
    )


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    assert line_of(["\ud83d"]) == b'["\\ud83d"]\n'
    delta = decode(
        b'{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"\\ud83d"}}}'
    )
    assert decode(encode(delta)) == delta
    assert ContentBlockDelta(delta=TextDelta("\ud83d")) == getattr(delta, "event", None)


def test_a_malformed_line_cannot_be_written() -> None:
    with pytest.raises(EncodeError, match="blank line"):
        encode(Malformed("", "blank line"))


@pytest.mark.parametrize(
    "message",
    [
        User(message=UserBody(role="assistant", content="hi")),
        ControlRequest("", Interrupt()),
        ControlRequest("r", UnknownRequest({"x": 1})),
        ControlResponse(response=ResponseBody(subtype="success")),
        ControlResponse(response=ResponseBody(subtype="maybe", request_id="r")),
        ControlResponse(response=ResponseBody(subtype="success"), outer_request_id="r"),
        ControlCancelRequest("r"),
        KeepAlive(),
        Assistant(),
        Unknown({"type": "no_such_type"}),
        UnknownSystem(raw={"type": "system"}),
        Malformed("", "blank line"),
    ],
    ids=repr,
)
def test_what_kills_a_cli_is_refused(message: Message) -> None:
    with pytest.raises(EncodeError):
        encode_input(message)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b" \r\n",
        b"not json\n",
        b'{"type":"user",\n"message":{"role":"user","content":"hi"}}',
        b'{"type":"user","message":{"role":"system","content":"hi"}}',
        b'{"type":"keep_alive"}',
    ],
)
def test_a_foreign_line_that_kills_a_cli_is_refused(line: bytes) -> None:
    with pytest.raises(EncodeError):
        checked_input(line)


def test_a_foreign_line_is_written_unchanged() -> None:
    line = b'{"type":"user","message":{"role":"user","content":"hi"},"brand_new":1e3}'
    assert checked_input(line) == checked_input(line + b"\r\n") == line + b"\n"


DEADLY = [
    "input-assistant",
    "input-bad-user",
    "input-blank-line",
    "input-control-no-subtype",
    "input-keepalive",
    "input-not-json",
    "input-unknown-type",
]


@pytest.mark.parametrize("found", recordings(*DEADLY), ids=str)
def test_the_lines_that_killed_recorded_clis_are_refused(found: Recording) -> None:
    refused = 0
    for line in found.sent():
        try:
            checked_input(line)
        except EncodeError:
            refused += 1
    assert refused


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_tool_result_comes_back_as_it_was(value: object) -> None:
    message = User(tool_use_result=value, uuid="u")
    assert decode(encode(message)) == message


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_one_line(text: str) -> None:
    line = encode_input(User(message=UserBody(content=text)))
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert json.loads(line)["message"]["content"] == text
