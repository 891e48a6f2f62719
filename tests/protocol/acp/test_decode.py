"""Lines of the Agent Client Protocol: every message, odd fields, hostile lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.acp import encode
from turnwire.protocol.acp.content import Diff, ShownContent, TextContent, UnknownContent, UnknownShown
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import (
    ACP_TYPES,
    Batch,
    Notification,
    Option,
    PermissionRequest,
    Request,
    Response,
    RpcError,
    SessionUpdate,
    Unknown,
)
from turnwire.protocol.acp.recognise import is_acp
from turnwire.protocol.acp.updates import AgentMessageChunk, Plan, ToolCall, ToolCallUpdate, UnknownUpdate
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.malformed import BLANK, Malformed, oversize
from turnwire.protocol.parsing.depth import TOO_DEEP


def update(**fields: Any) -> bytes:
    params = {"sessionId": "s", "update": fields}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def read(**fields: Any) -> Any:
    message = decode(update(**fields))
    assert isinstance(message, SessionUpdate)
    assert message.session_id == "s"
    return message.update


def test_a_piece_of_text() -> None:
    chunk = read(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Hi"}, messageId="m")
    assert chunk == AgentMessageChunk(content=TextContent(text="Hi"), message_id="m")


def test_an_update_of_an_unknown_kind_is_a_value() -> None:
    odd = read(sessionUpdate="weather", degrees=7)
    assert odd == UnknownUpdate(raw={"sessionUpdate": "weather", "degrees": 7})
    assert odd.kind == "weather"


def test_one_odd_field_costs_itself_alone() -> None:
    call = read(
        sessionUpdate="tool_call",
        toolCallId="c",
        title=7,
        kind="read",
        content=[{"type": "diff", "path": "/a", "newText": "x"}, {"type": "hologram"}, 3],
        locations="here",
    )
    assert call == ToolCall(
        tool_call_id="c",
        kind="read",
        content=[
            Diff(path="/a", new_text="x"),
            UnknownShown(raw={"type": "hologram"}),
            UnknownShown(raw=3),
        ],
    )


def test_a_content_block_of_an_unknown_type_is_a_value() -> None:
    chunk = read(sessionUpdate="agent_message_chunk", content={"type": "smell", "of": "rain"})
    assert chunk.content == UnknownContent(raw={"type": "smell", "of": "rain"})


def test_a_request_for_leave() -> None:
    asked = decode(
        encode.request(
            0,
            "session/request_permission",
            {
                "sessionId": "s",
                "toolCall": {"toolCallId": "c", "rawInput": {"command": "ls"}},
                "options": [{"optionId": "a", "name": "Yes", "kind": "allow_once"}, 5],
            },
        ).rstrip()
    )
    assert isinstance(asked, PermissionRequest)
    assert (asked.id, asked.session_id, asked.tool_call) == (
        0,
        "s",
        ToolCallUpdate(tool_call_id="c", raw_input={"command": "ls"}),
    )
    assert asked.options == [Option("a", "Yes", "allow_once")]


def test_everything_else_of_json_rpc() -> None:
    assert decode(b'{"id":"7","method":"fs/read_text_file","params":{"path":"/a"}}') == Request(
        "7", "fs/read_text_file", {"path": "/a"}
    )
    assert decode(encode.notification("session/cancel", {"sessionId": "s"}).rstrip()) == Notification(
        "session/cancel", {"sessionId": "s"}
    )
    assert decode(encode.response(3, {"stopReason": "end_turn"}).rstrip()) == Response(
        3, {"stopReason": "end_turn"}
    )
    assert decode(encode.error(3, -32603, "no", {"a": 1}).rstrip()) == Response(
        3, None, RpcError(-32603, "no", {"a": 1})
    )
    assert decode(b'{"jsonrpc":"2.0","id":1,"error":"no"}') == Response(1, None, RpcError(data="no"))
    assert decode(b'{"id":[1],"result":{}}') == Response("[1]", {})
    assert decode(b'{"id":true,"result":{}}') == Response("True", {})
    assert decode(b'{"a":1}') == Unknown(raw={"a": 1})
    batch = decode(b'[{"id":1,"result":{}},7]')
    assert batch == Batch([Response(1, {}), Malformed("7", "not a JSON object")])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", BLANK),
        (b"  ", BLANK),
        (b"7", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b'{"params":' * 300 + b"1" + b"}" * 300, TOO_DEEP),
    ],
)
def test_what_is_no_message(line: bytes, reason: str) -> None:
    message = decode(line)
    assert isinstance(message, Malformed)
    assert message.reason == reason


def test_a_line_too_long_to_keep_says_so() -> None:
    message = oversize(OversizeLine(7, 5000, b'{"\xff'))
    assert message == Malformed('{"\ufffd', "line 7 has 5000 bytes, beyond the limit")


def test_half_a_character_at_the_end_of_a_piece_stays() -> None:
    line = update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "a"})
    message = decode(line.replace(b'"a"', b'"a\\ud83d"'))
    assert isinstance(message, SessionUpdate)
    assert message.update == AgentMessageChunk(content=TextContent(text="a\ud83d"))


@pytest.mark.parametrize(
    "told",
    [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "a"}},
        {"sessionUpdate": "agent_message_chunk", "content": {"text": "a"}},
        {"sessionUpdate": ["agent_message_chunk"], "content": {"type": "text", "text": "a"}},
    ],
)
def test_half_a_character_stays_in_no_other_text(told: dict[str, Any]) -> None:
    message = decode(update(**told).replace(b'"a"', b'"a\\ud83d"'))
    assert r"\ud83d" not in repr(message)
    assert "a\ufffd" in repr(message)


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ({"method": "session/update", "params": {}}, True),
        ({"method": "initialize", "id": 1, "params": {"protocolVersion": 1}}, True),
        ({"method": "initialize", "id": 1, "params": {}}, False),
        ({"method": "can_use_tool", "id": 1}, False),
        ({"method": "_auth/status_update"}, True),
        ({"method": "$/cancel_request", "params": {"requestId": 1}}, True),
        ({"method": "notifications/message", "params": {}}, False),
        ({"method": "tools/list", "id": 1}, False),
        ({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}}, True),
        ({"id": 1, "result": {"stopReason": "end_turn"}}, True),
        ({"id": 1, "result": {"sessionId": "s", "modes": None}}, True),
        ({"id": 1, "result": {"type": "result", "sessionId": "s"}}, False),
        ({"id": 1, "error": {"code": 1}}, False),
        (7, False),
    ],
)
def test_a_line_tells_by_its_method_or_its_answer_whose_it_is(value: Any, ours: bool) -> None:
    assert is_acp(value) is ours


def test_a_typed_line_with_a_result_and_no_id_answers_nothing() -> None:
    value = {"type": "result", "result": "hello"}
    assert decode(json.dumps(value).encode()) == Unknown(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "odd"]
)
names = st.sampled_from(
    ["content", "toolCallId", "rawInput", "entries", "_meta", "locations", "title", "used"]
)


@given(kinds, st.dictionaries(names, json_values, max_size=4))
def test_any_value_in_any_field_is_read(kind: str, fields: dict[str, Any]) -> None:
    message = decode(update(**{"sessionUpdate": kind, **fields}))
    assert isinstance(message, ACP_TYPES)


@given(json_values)
def test_any_json_is_a_message(value: Any) -> None:
    assert isinstance(decode(json.dumps(value).encode()), (*ACP_TYPES, Malformed))


def test_a_block_that_is_shown() -> None:
    call = read(
        sessionUpdate="tool_call_update",
        content=[{"type": "content", "content": {"type": "text", "text": "a"}}],
    )
    assert call.content == [ShownContent(content=TextContent(text="a"))]
    assert read(sessionUpdate="plan", entries=[{"content": "a"}, 1]) == Plan(entries=[{"content": "a"}])
