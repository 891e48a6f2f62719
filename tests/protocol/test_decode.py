import json
import random

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recordings import recording, recordings
from turnwire.protocol.claude.blocks import (
    DocumentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolReferenceBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    Usage,
)
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode, message_of
from turnwire.protocol.claude.incidents import ModelRefusalFallback
from turnwire.protocol.claude.messages import Assistant, StreamEvent, Unknown, User
from turnwire.protocol.claude.notices import (
    ActiveGoal,
    Goal,
    KeepAlive,
    RateLimit,
    RateLimitEvent,
    RateLimitInfo,
    ToolProgress,
    TranscriptMirror,
)
from turnwire.protocol.claude.requests import CanUseTool, HookCallback, Interrupt, UnknownRequest
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.stream import (
    ContentBlockDelta,
    MessageDelta,
    Stopped,
    TextDelta,
    UnknownApiEvent,
    UnknownDelta,
)
from turnwire.protocol.claude.system import Init, McpServer, PermissionDenied, Status, System, UnknownSystem
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import MAX_DEPTH, TOO_DEEP


def line(value: object) -> bytes:
    return json.dumps(value).encode()


def assistant(*content: object, **fields: object) -> Assistant:
    message = decode(
        line({"type": "assistant", "message": {"role": "assistant", "content": content}, **fields})
    )
    assert isinstance(message, Assistant)
    return message


# What arrives


def test_the_order_of_keys_does_not_matter() -> None:
    message = decode(b'{"is_error":false,"result":"ok","subtype":"success","num_turns":2,"type":"result"}')
    assert message == Result(subtype="success", is_error=False, num_turns=2, result="ok")


def test_every_block_has_its_class() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    message = assistant(
        {"type": "text", "text": "hi"},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "image", "source": source}],
            "is_error": True,
        },
        {"type": "document", "source": source, "title": "d"},
        {"type": "tool_reference", "tool_name": "WebFetch"},
    )
    search = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"type": "web_search_result"}],
    }
    assert message.blocks == [
        TextBlock("hi"),
        ThinkingBlock("hm", "s"),
        RedactedThinkingBlock("x"),
        ToolUseBlock("t1", "Read", {"file_path": "/a"}),
        ServerToolUseBlock("s1", "web_search", {"query": "q"}),
        UnknownBlock(search),
        ToolResultBlock("t1", [ImageBlock(source)], True),
        DocumentBlock(source, "d"),
        ToolReferenceBlock("WebFetch"),
    ]


def test_an_unknown_block_tells_what_it_can() -> None:
    (block,) = assistant({"type": "mcp_tool_result", "tool_use_id": "t", "content": [1]}).blocks
    assert isinstance(block, UnknownBlock)
    assert (block.type, block.tool_use_id, block.content) == ("mcp_tool_result", "t", [1])
    (bare,) = assistant("not a block").blocks
    assert isinstance(bare, UnknownBlock)
    assert (bare.type, bare.tool_use_id, bare.content) == ("", "", None)


def test_a_bad_block_does_not_cost_its_neighbours() -> None:
    message = assistant(
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": 5, "name": "X"},
        7,
        {"type": "text", "text": "b"},
    )
    assert message.blocks == [TextBlock("a"), ToolUseBlock(name="X"), UnknownBlock(7), TextBlock("b")]


def test_a_mistyped_field_costs_only_itself() -> None:
    message = decode(
        line(
            {
                "type": "system",
                "subtype": "init",
                "cwd": 5,
                "model": "m",
                "tools": ["A", 1, "B"],
                "mcp_servers": [{"name": "x", "status": []}, "y"],
                "session_id": None,
            }
        )
    )
    assert message == Init(model="m", tools=["A", "B"], mcp_servers=[McpServer(name="x")])


def test_a_whole_number_may_be_written_with_a_point() -> None:
    usage = {"input_tokens": 300.0, "output_tokens": 60.5, "cache_read_input_tokens": 7}
    message = decode(line({"type": "result", "num_turns": 3.0, "usage": usage}))
    assert isinstance(message, Result)
    assert message.num_turns == 3
    assert message.usage == Usage(input_tokens=300, cache_read_input_tokens=7)


def test_a_mistyped_value_in_a_map_costs_only_itself() -> None:
    message = decode(
        line(
            {
                "type": "result",
                "modelUsage": {"a": {"contextWindow": 5, "inputTokens": "x"}, "b": 3},
                "usage": [],
            }
        )
    )
    assert isinstance(message, Result)
    assert {name: usage.context_window for name, usage in message.model_usage_camel.items()} == {"a": 5}
    assert message.usage is None


def test_content_that_is_neither_text_nor_list_is_empty() -> None:
    message = decode(b'{"type":"assistant","message":{"content":5,"model":"m"}}')
    assert isinstance(message, Assistant)
    assert (message.blocks, message.message.model) == ([], "m")


def test_a_message_that_is_no_object_is_empty() -> None:
    assert decode(b'{"type":"user","message":"hi","uuid":"u"}') == User(uuid="u")


def test_text_content_is_one_block_and_no_text_is_none() -> None:
    message = decode(b'{"type":"user","message":{"role":"user","content":"hi"}}')
    assert isinstance(message, User)
    assert message.blocks == [TextBlock("hi")]
    assert User().blocks == []


def test_an_unknown_type_keeps_the_whole_object() -> None:
    message = decode(b'{"type":"weather","value":{"degrees":3}}')
    assert message == Unknown({"type": "weather", "value": {"degrees": 3}})
    assert isinstance(message, Unknown)
    assert message.type == "weather"


def test_a_goal_and_rows_of_the_transcript_have_models() -> None:
    line = b'{"type":"active_goal","value":{"condition":"c","iterations":3},"uuid":"u","session_id":"s"}'
    assert decode(line) == ActiveGoal(value=Goal(condition="c", iterations=3), uuid="u", session_id="s")
    assert decode(b'{"type":"active_goal","value":null}') == ActiveGoal()
    mirrored = decode(b'{"type":"transcript_mirror","filePath":"/t","entries":[{"type":"user"},7]}')
    assert mirrored == TranscriptMirror(file_path="/t", entries=[{"type": "user"}, 7])


@pytest.mark.parametrize("text", ["{}", '{"type":5}', '{"type":null}', '{"kind":"user"}'])
def test_an_object_without_a_type_is_unknown(text: str) -> None:
    message = decode(text.encode())
    assert message == Unknown(json.loads(text))
    assert isinstance(message, Unknown)
    assert message.type == ""


def test_an_unknown_system_message_keeps_the_whole_object_and_its_session() -> None:
    raw = {"type": "system", "subtype": "brand_new", "uuid": "u", "session_id": "s", "x": [1]}
    message = decode(line(raw))
    assert message == UnknownSystem(raw=raw, session_id="s")
    assert isinstance(message, System)
    assert message.subtype == "brand_new"


def test_a_system_message_without_a_subtype_is_unknown() -> None:
    message = decode(b'{"type":"system","subtype":5,"uuid":7}')
    assert message == UnknownSystem(raw={"type": "system", "subtype": 5, "uuid": 7})
    assert isinstance(message, System)
    assert message.subtype == ""


def test_a_system_message_without_a_subtype_that_names_a_session_is_its_first() -> None:
    message = decode(b'{"type":"system","session_id":"s","status":"active","slash_commands":["compact"]}')
    assert message == Init(session_id="s", slash_commands=["compact"])


def test_a_known_system_message_knows_its_subtype() -> None:
    message = decode(b'{"type":"system","subtype":"permission_denied","message":"no","tool_name":"Bash"}')
    assert message == PermissionDenied(message="no", tool_name="Bash")
    assert isinstance(message, System)
    assert message.subtype == "permission_denied"


def test_an_unknown_event_or_delta_keeps_its_value() -> None:
    ping = decode(b'{"type":"stream_event","event":{"type":"ping"}}')
    assert ping == StreamEvent(event=UnknownApiEvent({"type": "ping"}))
    assert isinstance(ping, StreamEvent)
    assert isinstance(ping.event, UnknownApiEvent)
    assert ping.event.type == "ping"
    cited = decode(
        b'{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta"}}}'
    )
    delta = UnknownDelta({"type": "citations_delta"})
    assert cited == StreamEvent(event=ContentBlockDelta(2, delta))
    assert delta.type == "citations_delta"


def test_a_stream_event_without_an_event_is_one_without_a_model() -> None:
    assert decode(b'{"type":"stream_event","uuid":"u"}') == StreamEvent(event=UnknownApiEvent(None))
    assert decode(b'{"type":"stream_event","event":[1]}') == StreamEvent(event=UnknownApiEvent([1]))


def test_the_stop_reason_of_a_message_delta_is_read() -> None:
    assert MessageDelta(Stopped("end_turn")).stop_reason == "end_turn"
    assert MessageDelta(Stopped("")).stop_reason is None


def test_control_requests_have_a_class_each() -> None:
    assert decode(
        b'{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}'
    ) == ControlRequest("r", Interrupt())
    assert Interrupt().subtype == "interrupt"
    asked = decode(
        b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash",'
        b'"input":{"command":"ls"},"blocked_paths":"/etc,/usr"}}'
    )
    assert asked == ControlRequest(
        "r", CanUseTool(tool_name="Bash", input={"command": "ls"}, blocked_paths="/etc,/usr")
    )
    new = decode(b'{"type":"control_request","request_id":"r","request":{"subtype":"get_settings","x":1}}')
    assert new == ControlRequest("r", UnknownRequest({"subtype": "get_settings", "x": 1}))
    assert UnknownRequest({"subtype": "get_settings"}).subtype == "get_settings"


def test_a_mistyped_control_request_is_still_answered_for() -> None:
    message = decode(
        b'{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"h","input":[]}}'
    )
    assert message == ControlRequest("r", HookCallback(callback_id="h"))


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"a":1}}}',
        '{"type":"control_response","request_id":"r","response":{"subtype":"success","result":{"a":1}}}',
        '{"type":"control_response","request_id":"r","response":{"subtype":"success","request_id":"r","response":{"a":1},"result":{"b":2}}}',
    ],
    ids=["official", "Kandev", "merged"],
)
def test_an_answer_is_read_in_every_shape(text: str) -> None:
    message = decode(text.encode())
    assert isinstance(message, ControlResponse)
    assert (message.request_id, message.payload, message.error) == ("r", {"a": 1}, None)


def test_a_failed_answer_says_why() -> None:
    message = decode(
        b'{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}'
    )
    assert isinstance(message, ControlResponse)
    assert message.error == "no"
    bare = decode(b'{"type":"control_response","response":{"subtype":"error"}}')
    assert isinstance(bare, ControlResponse)
    assert (bare.request_id, bare.error, bare.payload) == ("", "error", None)


def test_cancels_and_keep_alives_are_read() -> None:
    assert decode(b'{"type":"control_cancel_request","request_id":"r"}') == ControlCancelRequest("r")
    assert decode(b'{"type":"keep_alive"}') == KeepAlive()


def test_limits_are_read_in_both_spellings() -> None:
    event = decode(
        b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1,"rateLimitType":"five_hour"}}'
    )
    assert event == RateLimitEvent(
        rate_limit_info=RateLimitInfo(status="rejected", resets_at=1, rate_limit_type="five_hour")
    )
    assert decode(b'{"type":"rate_limit","message":"slow down"}') == RateLimit(message="slow down")


def test_messages_no_recording_has_are_read_as_the_sdk_declares_them() -> None:
    progress = decode(
        b'{"type":"tool_progress","tool_use_id":"t","tool_name":"Bash","elapsed_time_seconds":2.5}'
    )
    assert progress == ToolProgress(tool_use_id="t", tool_name="Bash", elapsed_time_seconds=2.5)
    refusal = decode(b'{"type":"system","subtype":"model_refusal_fallback","retracted_message_uuids":["u"]}')
    assert refusal == ModelRefusalFallback(retracted_message_uuids=["u"])


# Spellings of the documents


def test_the_result_of_spec_3_is_read() -> None:
    message = decode(
        b'{"type":"result","subtype":"success","cost_usd":0.0234,"total_input_tokens":45000,"total_output_tokens":2300,'
        b'"model_usage":{"m":{"context_window":200000}},"result":{"text":"done","session_id":"s"}}'
    )
    assert isinstance(message, Result)
    assert (message.text, message.session_id, message.cost) == ("done", "s", 0.0234)
    assert (message.total_input_tokens, message.total_output_tokens) == (45000, 2300)
    assert message.model_usage_snake["m"].context_window == 200000


def test_the_result_of_a_real_cli_is_read() -> None:
    row = next(row for row in recording("2.1.330", "plain-text").received() if b'"type":"result"' in row)
    message, value = decode(row), json.loads(row)
    assert isinstance(message, Result)
    assert (message.text, message.session_id) == (value["result"], value["session_id"])
    assert message.cost == value["total_cost_usd"] > 0
    assert message.usage is not None
    assert message.usage.output_tokens == value["usage"]["output_tokens"] > 0
    assert message.model_usage_camel["claude-opus-5-5"].context_window == 1_000_000


def test_the_session_of_a_result_without_one_is_none() -> None:
    assert Result(result="x").session_id is None


def test_an_assistant_error_is_read_in_both_places() -> None:
    assert assistant(error="rate_limit").error == "rate_limit"
    inner = decode(b'{"type":"assistant","message":{"content":[],"model":"m","error":"billing_error"}}')
    assert isinstance(inner, Assistant)
    assert inner.error == "billing_error"
    assert assistant().error is None


def test_the_context_that_a_response_fills_is_the_sum_of_its_tokens() -> None:
    assert Usage(1, 20, 300, 4000).context_tokens == 4321


# Bad lines


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"", "blank line"),
        (b"  \t", "blank line"),
        (b"null", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'[{"type":"user"}]', "not a JSON object"),
        (b"this is not json", "Expecting value: line 1 column 1 (char 0)"),
        (b"\xff\xfe", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"type":"user"', "Expecting ',' delimiter: line 1 column 15 (char 14)"),
        (b'{"type":"user"}{"type":"user"}', "Extra data: line 1 column 16 (char 15)"),
    ],
)
def test_what_is_no_json_object_is_malformed(bad: bytes, reason: str) -> None:
    assert decode(bad) == Malformed(bad.decode("utf-8", "replace"), reason)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 900, 2_000, 10_000, 100_000])
@pytest.mark.parametrize(
    "template", [b'{"type":"user","x":%b}', b'{"type":"user","tool_use_result":%b}', b'{"x":%b}', b"%b"]
)
def test_deep_nesting_is_malformed(template: bytes, depth: int) -> None:
    deep = template % (b"[" * depth + b"]" * depth)
    message = decode(deep)
    assert isinstance(message, Malformed)
    assert message == Malformed(deep.decode(), TOO_DEEP)


def test_nested_blocks_that_a_parser_still_takes_are_taken() -> None:
    content = b'"end"'
    for _ in range(60):
        content = b'[{"type":"tool_result","content":%b}]' % content
    message = decode(b'{"type":"user","message":{"content":%b,"role":5}}' % content)
    assert isinstance(message, User)
    assert message.message.role == "user"
    assert isinstance(message.blocks[0], ToolResultBlock)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert decode(b'\xef\xbb\xbf{"type":"keep_alive"}') == KeepAlive()


def test_bytes_that_are_not_utf_8_cost_only_themselves() -> None:
    message = decode(b'{"type":"assistant","message":{"content":[{"type":"text","text":"a\xffb"}]}}')
    assert isinstance(message, Assistant)
    assert message.blocks == [TextBlock("a\ufffdb")]


def test_integers_of_any_size_survive() -> None:
    numbers = [2**53 + 1, 2**63, 2**64, -(2**70), 10**40]
    message = assistant({"type": "tool_use", "id": "t", "name": "n", "input": {"n": numbers}})
    assert message.blocks == [ToolUseBlock("t", "n", {"n": numbers})]


def test_numbers_that_python_cannot_hold_stay_text() -> None:
    digits = "9" * 5000
    message = decode(
        b'{"type":"user","tool_use_result":[NaN,-Infinity,1e999,1.5,%b],"uuid":"u"}' % digits.encode()
    )
    assert message == User(tool_use_result=["NaN", "-Infinity", "1e999", 1.5, digits], uuid="u")


def test_of_a_key_that_occurs_twice_the_last_counts() -> None:
    assert decode(b'{"type":"keep_alive","uuid":"a","type":"user","uuid":"b"}') == User(uuid="b")
    assert decode(b'{"type":"user","uuid":"a","uuid":"b"}') == User(uuid="b")


def test_a_field_no_model_knows_is_passed_over() -> None:
    assert decode(b'{"type":"user","brand_new":{"deep":[1]},"uuid":"u"}') == User(uuid="u")


# Lone surrogates


def test_a_line_with_a_lone_surrogate_is_kept() -> None:
    message = decode(
        b'{"type":"assistant","uuid":"u","message":{"content":[{"type":"text","text":"a\\ud83db"}]}}'
    )
    assert isinstance(message, Assistant)
    assert (message.uuid, message.blocks) == ("u", [TextBlock("a\ufffdb")])


def test_a_lone_surrogate_in_a_key_is_replaced() -> None:
    message = decode(b'{"type":"user","tool_use_result":{"\\ud83d":1},"\\ud83d":2}')
    assert message == User(tool_use_result={"\ufffd": 1})


@pytest.mark.parametrize(
    ("kind", "field"),
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")],
)
def test_halves_at_the_ends_of_a_delta_are_kept_for_joining(kind: str, field: str) -> None:
    text = '{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"%s","%s":"\\ude00a\\ud83db\\ud83d"}}}'
    message = decode((text % (kind, field)).encode())
    assert isinstance(message, StreamEvent)
    assert isinstance(message.event, ContentBlockDelta)
    assert getattr(message.event.delta, field) == "\ude00a\ufffdb\ud83d"


@pytest.mark.parametrize(
    "event",
    [
        '"\\ud83d"',
        '{"type":"ping","delta":"\\ud83d"}',
        '{"delta":{"type":"text_delta","text":["\\ud83d"]}}',
        '{"delta":{"type":"other_delta","text":"\\ud83d"}}',
    ],
)
def test_no_other_part_of_a_stream_event_has_halves(event: str) -> None:
    message = decode(b'{"type":"stream_event","event":%b}' % event.encode())
    assert isinstance(message, StreamEvent)
    assert isinstance(message.event, UnknownApiEvent)
    json.dumps(message.event.raw, ensure_ascii=False).encode()


def test_the_recordings_lone_surrogates_decode() -> None:
    for found in recordings("unicode"):
        for row in found.received():
            assert not isinstance(decode(row), Malformed | Unknown)


# Everything

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    [
        "assistant",
        "user",
        "result",
        "system",
        "stream_event",
        "control_request",
        "control_response",
        "rate_limit_event",
        "\x00unknown",
    ]
)
LINES = [
    row
    for found in recordings("partial-messages", "tool-write-edit", "subagent", "initialize", "perm-allow")
    for row in found.received()
    if len(row) < 20_000
]


@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    decode(data)


@given(
    TYPES,
    st.dictionaries(
        st.sampled_from(
            [
                "message",
                "event",
                "request",
                "response",
                "content",
                "uuid",
                "subtype",
                "usage",
                "modelUsage",
                "tools",
            ]
        ),
        JSON,
    ),
)
@example("stream_event", {"event": {"type": "\x00unknown"}})
@example("system", {"subtype": "\x00unknown"})
@example("control_request", {"request": {"subtype": "\x00unknown", "raw": 5}})
def test_no_json_raises(kind: str, fields: dict[str, object]) -> None:
    message = decode(line({**fields, "type": kind}))
    assert not isinstance(message, Malformed)


@given(st.sampled_from(LINES), st.integers(0, 20_000), st.integers(0, 300), st.binary(max_size=5))
def test_no_mutation_of_a_real_line_raises(row: bytes, at: int, length: int, put: bytes) -> None:
    at %= len(row)
    decode(row[:at] + put + row[at + length :])


@given(st.sampled_from(LINES), st.randoms(use_true_random=False))
def test_shuffling_the_keys_of_a_real_line_changes_nothing(row: bytes, rng: random.Random) -> None:
    def shuffled(value: object) -> object:
        if isinstance(value, dict):
            keys = rng.sample(list(value), len(value))
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert decode(line(shuffled(json.loads(row)))) == decode(row)


@given(st.sampled_from(LINES), st.data())
def test_one_odd_field_of_a_real_line_costs_only_itself(row: bytes, data: st.DataObject) -> None:
    value = json.loads(row)
    key = data.draw(st.sampled_from(sorted(set(value) - {"type", "subtype"})))
    odd = decode(line({**value, key: data.draw(JSON)}))
    whole = decode(row)
    assert type(odd) is type(whole)
    for field in msgspec.structs.fields(whole):
        if field.encode_name != key:
            assert getattr(odd, field.name) == getattr(whole, field.name)


def test_status_is_read() -> None:
    assert decode(b'{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}') == Status(
        permission_mode="plan"
    )


def test_a_text_delta_is_read_in_one_pass() -> None:
    message = decode(
        b'{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}},"uuid":"u"}'
    )
    assert message == StreamEvent(event=ContentBlockDelta(1, TextDelta("hi")))


def test_an_object_that_is_nested_too_deep_is_malformed() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert message_of({"type": "user", "tool_use_result": deep}) == Malformed("", TOO_DEEP)
    assert message_of({"type": "keep_alive"}) == KeepAlive()


def test_orders_to_a_terminal_before_a_message_cost_nothing() -> None:
    assert decode(b'\x1b[2J\x1b[3J\x1b[H{"type":"keep_alive"}') == KeepAlive()
    assert isinstance(decode(b"\x1b[2J"), Malformed)
