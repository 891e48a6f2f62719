import json
from collections.abc import Iterable

import pytest
from msgspec import Struct

from cases import for_each
from recordings import Recording, recordings
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.claude.blocks import TextBlock, ToolResultBlock
from turnwire.protocol.claude.control import ControlRequest
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, Unknown, User, UserBody
from turnwire.protocol.claude.requests import Interrupt
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects.line_decoder import LineDecoder
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import SystemFailure, SystemToolResult

RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "ok", "uuid": "u"}
SAID = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}}


def rpc(**members: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@for_each("recording", recordings(version="2.1.330"))
def test_recorded_lines_are_what_they_decode_to(recording: Recording) -> None:
    heard = LineDecoder()
    for line in recording.received():
        assert list(heard.received(line)) == [decode(line)]
    for line in recording.sent():
        assert heard.sent(line) == [decode(line)]


def test_envelopes_are_opened_on_both_sides() -> None:
    heard = LineDecoder()
    assert heard.sent(rpc(id=1, method="run", params={"prompt": "hi"})) == [
        User(message=UserBody(content="hi"))
    ]
    assert heard.received(rpc(method="assistant", params=SAID)) == [
        Assistant(message=AssistantBody(role="assistant", content=[TextBlock("hi")]))
    ]
    (result,) = heard.received(rpc(id=1, result=RESULT))
    assert isinstance(result, Result)
    assert result.text == "ok"
    assert heard.received(rpc(id=2, result=RESULT)) == []
    (failed,) = heard.received(
        rpc(id=3, error={"code": -32000, "message": "no", "data": {**RESULT, "is_error": True}})
    )
    assert isinstance(failed, Result)
    assert failed.is_error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (rpc(id=9, error={"code": 1, "message": "no"}), SystemFailure(message="no")),
        (b"[1]", Malformed("[1]", "not a JSON object")),
        (b'{"type":"new"}', Unknown({"type": "new"})),
        (
            b'{"type":"system","subtype":"tool_result","tool_result":{"type":"tool_result","tool_use_id":"t"}}',
            SystemToolResult(tool_result=ToolResultBlock("t")),
        ),
    ],
)
def test_what_is_no_envelope_is_what_it_decodes_to(line: bytes, message: Message) -> None:
    assert list(LineDecoder().received(line)) == [message]


def test_a_batch_is_opened() -> None:
    line = b"[" + rpc(method="assistant", params=SAID) + b"," + rpc(id=1, result=RESULT) + b"]"
    assert [type(message) for message in LineDecoder().received(line)] == [Assistant, Result]


def test_control_of_spec_1_is_understood() -> None:
    assert LineDecoder().sent(b'{"type":"control","action":"interrupt"}') == [
        ControlRequest("control-1", Interrupt())
    ]


def test_lines_that_were_too_long_keep_their_place_whatever_the_protocol() -> None:
    reader, long = LineReader(), OversizeLine(2, 99, b'{"type"')
    told = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}'
    heard = [
        *reader.heard([b'{"type":"keep_alive"}', long, b"no JSON", told, long]),
        *reader.heard([told, long]),
    ]
    assert [line for line, _ in heard] == [b'{"type":"keep_alive"}', None, b"no JSON", told, None, told, None]
    assert [type(message).__name__ for _, message in heard] == [
        "KeepAlive",
        "Malformed",
        "Malformed",
        "SessionUpdate",
        "Malformed",
        "SessionUpdate",
        "Malformed",
    ]


@for_each("recording", recordings())
def test_lines_that_were_glued_in_pairs_are_what_they_were_alone(recording: Recording) -> None:
    lines = [line for line in recording.received() if decode(line).__class__ is not Malformed]
    glued = [b"".join(lines[at : at + 2]) for at in range(0, len(lines), 2)]
    assert [*LineReader().heard(glued)] == [*LineReader().heard(lines)]


def test_glued_lines_of_the_agent_client_protocol_are_told_apart() -> None:
    told = rpc(method="session/update", params={"sessionId": "s", "update": {}})
    reader = LineReader()
    heard = [*reader.heard([told + told]), *reader.heard([told + told + b"{"])]
    assert [line for line, _ in heard] == [told, told, told, told, b"{"]
    assert [type(message).__name__ for _, message in heard] == ["SessionUpdate"] * 4 + ["Malformed"]


THEIRS = b'{"type":"init","session_id":"s","model":"m","timestamp":"t"}'
ANYBODYS = json.dumps(SAID).encode()


def kinds(heard: Iterable[tuple[bytes | None, Struct]]) -> list[str]:
    return [type(message).__name__ for _, message in heard]


def test_lines_that_could_be_anybodys_wait_for_one_that_tells() -> None:
    reader = LineReader(holds=True)
    assert kinds(reader.heard([b"Welcome!", ANYBODYS])) == []
    assert reader.is_readable is None
    assert kinds(reader.heard([ANYBODYS, THEIRS])) == ["Malformed", "JsonLine", "JsonLine", "JsonLine"]
    assert reader.close() == []


def test_a_result_of_another_agent_tells_too() -> None:
    assert kinds(LineReader().heard([b'{"type":"result","status":"success","timestamp":"t"}'])) == [
        "JsonLine"
    ]


def test_they_are_claudes_where_a_line_of_claudes_tells_or_none_does() -> None:
    reader = LineReader(holds=True)
    assert kinds(reader.heard([ANYBODYS])) == []
    assert kinds(reader.heard([b'{"type":"stream_event","event":{}}'])) == ["Assistant", "StreamEvent"]
    assert kinds(reader.heard([ANYBODYS])) == ["Assistant"]
    reader = LineReader(holds=True)
    assert kinds(reader.heard([ANYBODYS])) == []
    assert [type(one.message).__name__ for one in reader.close()] == ["Assistant"]
    assert reader.is_readable


def test_no_more_than_a_few_wait_and_none_where_another_line_is_odd() -> None:
    assert len(kinds(LineReader(holds=True).heard([ANYBODYS] * 17))) == 17
    odd = [ANYBODYS, b'{"type":"weather"}', THEIRS]
    assert kinds(LineReader(holds=True).heard(odd)) == ["Assistant", "Unknown", "JsonLine"]
    assert kinds(LineReader().heard([ANYBODYS, THEIRS])) == ["Assistant", "JsonLine"]


def test_what_is_nobodys_that_turnwire_reads_is_not_taken_for_claudes() -> None:
    reader = LineReader(holds=True)
    assert kinds(reader.heard([ANYBODYS])) == []
    assert kinds(reader.heard([b'{"type":"RUN_STARTED","runId":"r"}', ANYBODYS])) == []
    assert (reader.looks_like, reader.close()) == ("AG-UI events", [])
