import json

import pytest

from turnwire.protocol.claude.blocks import AnyBlock, ThinkingBlock, UnknownBlock
from turnwire.protocol.claude.control import ControlRequest
from turnwire.protocol.claude.encode import EncodeError
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, StreamEvent, Unknown, User
from turnwire.protocol.claude.notices import KeepAlive
from turnwire.protocol.claude.requests import Interrupt
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Status, UnknownSystem
from turnwire.protocol.dialects import CLAUDE
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed


def test_what_kills_a_cli_is_never_said() -> None:
    with pytest.raises(EncodeError):
        CLAUDE.host().write(KeepAlive())


def test_a_line_of_a_cli_is_passed_on_byte_for_byte() -> None:
    line = b'{"type":"user","brand_new":1e3}'
    (message,) = CLAUDE.host().read(line).messages
    assert CLAUDE.agent().write(message, line).lines == [line + b"\n"]


def test_a_message_of_ours_is_written_from_what_it_is() -> None:
    assert CLAUDE.agent().write(KeepAlive()).lines == [b'{"type":"keep_alive"}\n']
    assert CLAUDE.agent().write(Unknown({"type": "x"})).lines == [b'{"type":"x"}\n']


def test_a_malformed_line_is_not_passed_on() -> None:
    assert CLAUDE.agent().write(Malformed("x", "no"), b"x").lines == []


def said(message: Message) -> Json:
    (line,) = CLAUDE.agent().write(message).lines
    return json.loads(line)


def test_a_result_of_another_agent_has_all_that_a_caller_reads() -> None:
    good = {"type": "result", "subtype": "success", "is_error": False, "result": "ok", "session_id": ""}
    times = {"duration_ms": 0, "duration_api_ms": 0, "num_turns": 0}
    assert said(Result(subtype="success", result="ok")) == {**good, **times}
    told = Result(
        subtype="success", result="ok", is_error=False, duration_ms=5, duration_api_ms=4, num_turns=3
    )
    assert said(told) == {**good, "duration_ms": 5, "duration_api_ms": 4, "num_turns": 3}


@pytest.mark.parametrize(
    ("result", "more"),
    [
        (Result(subtype="cancelled", is_error=False, result="x"), {"terminal_reason": "aborted_streaming"}),
        (Result(subtype="error", result="broken"), {"errors": ["broken"]}),
        (Result(subtype="error", errors=["a", "b"]), {"errors": ["a", "b"]}),
        (Result(subtype="error"), {}),
    ],
)
def test_a_result_in_the_words_of_spec_1_is_said_in_those_of_a_cli(
    result: Result, more: dict[str, Json]
) -> None:
    value = said(result)
    assert value.items() >= {"subtype": "error_during_execution", "is_error": True, **more}.items()
    assert "result" not in value


def test_what_another_agent_says_has_a_model_whole_blocks_and_its_session() -> None:
    agent = CLAUDE.agent()
    agent.read(b'{"type":"user","message":{"role":"user","content":"hi"},"session_id":"mine"}')
    blocks: list[AnyBlock] = [ThinkingBlock("hm"), ThinkingBlock("hm", "sign"), UnknownBlock({"x": 1})]
    (line,) = agent.write(Assistant(message=AssistantBody(content=blocks))).lines
    assert json.loads(line)["message"] == {
        "role": "assistant",
        "model": "<unknown>",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "thinking", "thinking": "hm", "signature": "sign"},
        ],
    }
    (line,) = agent.write(Assistant(message=AssistantBody(content="hi", model="m"))).lines
    assert json.loads(line)["message"]["content"] == [{"type": "text", "text": "hi"}]
    (line,) = agent.write(StreamEvent()).lines
    assert json.loads(line).items() >= {"uuid": "", "session_id": "mine"}.items()
    (line,) = agent.write(UnknownSystem(raw={"type": "system"})).lines
    assert json.loads(line) == {"type": "system", "subtype": "unknown", "session_id": "mine"}
    assert [agent.write(Unknown(raw)).lines for raw in ({}, {"type": [1]})] == [[], []]
    (line,) = agent.write(Status(session_id="theirs", running=True)).lines
    assert json.loads(line)["session_id"] == "theirs"


def test_a_prompt_that_is_not_taken_is_an_error_of_the_system() -> None:
    (line,) = CLAUDE.agent().refuse(User(), "no room").lines
    assert line == b'{"type":"system","subtype":"error","message":"no room"}\n'


def test_both_ends_read_every_message() -> None:
    line = b'{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}'
    assert CLAUDE.agent().read(line).messages == [ControlRequest("r", Interrupt())]
    assert CLAUDE.host().read(line).messages == [ControlRequest("r", Interrupt())]
