"""How deep JSON is, told without making it."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.claude.decode import FLAT, decode, malformed
from turnwire.protocol.claude.results import Result
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import MAX_DEPTH, TOO_DEEP, is_deep, is_too_deep, outermost, parse

ROOM = 3
values = st.recursive(
    st.text('{}[]"\\ a\ud800') | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('{["\\', max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


def depth_of(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@given(values, st.sampled_from([None, 2]), st.booleans())
def test_a_text_and_its_value_are_as_deep_as_walking_tells(
    value: Json, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert is_too_deep(text, ROOM) == is_deep(value, ROOM) == (depth_of(value) > ROOM)


@given(st.binary())
def test_no_bytes_raise(text: bytes) -> None:
    is_too_deep(text, ROOM)
    outermost(text, ("id",))


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('[{"b":', "}]")])
def test_the_limit_itself_is_not_too_deep(opens: str, closes: str) -> None:
    levels = MAX_DEPTH // (len(closes))
    assert parse(opens * levels + "1" + closes * levels) is not None
    with pytest.raises(RecursionError, match=TOO_DEEP):
        parse("[" + opens * levels + "1" + closes * levels + "]")


def test_a_value_that_contains_itself_is_deep() -> None:
    value: list[object] = []
    value.append(value)
    assert is_deep(value)


def test_a_value_whose_parts_are_shared_costs_each_part_once() -> None:
    value: list[object] = []
    for _ in range(MAX_DEPTH - 1):
        value = [value] * 10  # 10 ** 127 lists, if each were looked at
    assert not is_deep(value)
    assert is_deep([value])


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"control_request","request_id":"r\\"1","request":%b}',
        b'{"request":%b, "request_id" : "r\\"1", "type":"control_request"}',
        b'{"request":{"request_id":"no","x":%b},"type":"control_request","request_id":"r\\"1"}',
    ],
)
def test_a_control_request_that_is_too_deep_still_names_itself(text: bytes) -> None:
    line = text % (b'{"a":[' * 500 + b"1" + b"]}" * 500)
    assert decode(line) == Malformed(line.decode(), TOO_DEEP, asks='r"1')


def test_what_is_too_deep_and_no_control_request_asks_nothing() -> None:
    message = decode(b'{"type":"user","request_id":"r","tool_use_result":%b}' % (b"[" * 500 + b"]" * 500))
    assert isinstance(message, Malformed)
    assert message.asks is None


def test_a_control_request_that_is_too_long_names_itself_by_its_beginning() -> None:
    head = (
        b'{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","input":{"a":"bbb'
    )
    assert malformed(OversizeLine(7, 999, head)).asks == "r1"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"id":7,"x":[{"id":"inner"}]}', {"id": 7}),
        (b'{"x":"id","id":"a\\u00e9"}', {"id": "a\u00e9"}),
        (b'{"id":null,"x":1}', {}),
        (b'{"x":{"id":1}', {}),
        (b'["id",1]', {}),
        (b'{"id":"\\x"}', {"id": '"\\x"'}),
    ],
)
def test_members_of_the_outermost_object(text: bytes, found: dict[str, str | int]) -> None:
    assert outermost(text, ("id",)) == found


@pytest.mark.parametrize("kind", sorted(FLAT, key=str), ids=str)
def test_what_is_not_measured_has_no_field_of_foreign_shape(kind: type) -> None:
    shape = repr(msgspec.inspect.type_info(kind))
    assert "AnyType" not in shape
    assert shape.count(f".{kind.__name__}'") == 1  # it holds no other of its kind


def test_what_of_a_result_is_of_foreign_shape_is_known() -> None:
    shapes = {
        field.name: repr(msgspec.inspect.type_info(field.type)) for field in msgspec.structs.fields(Result)
    }
    foreign = {name for name, shape in shapes.items() if "AnyType" in shape}
    assert foreign == {"structured_output", "permission_denials", "origin", "error"}


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"result","result":"r","unheard":%b}',
        b'{"type":"assistant","message":{"content":[{"type":"text","text":"t","unheard":%b}]}}',
        b'{"type":"system","subtype":"init","model":"m","unheard":%b}',
        b'{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","unheard":%b}}}',
        b'{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text","unheard":%b}}}',
    ],
)
def test_what_is_deep_where_nobody_reads_costs_nothing_or_its_line(text: bytes, depth: int) -> None:
    message = decode(text % (b"[" * depth + b"]" * depth))
    assert isinstance(message, Malformed) == (depth > MAX_DEPTH + 1)


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"tool_use","input":%b}}}',
        b'{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"x","input":%b}}}',
        b'{"type":"stream_event","event":{"type":"x","input":%b}}',
    ],
)
def test_a_piece_of_a_stream_that_may_be_deep_is_measured(text: bytes) -> None:
    assert isinstance(decode(text % (b'{"a":' * 200 + b"1" + b"}" * 200)), Malformed)


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"result","structured_output":%b}',
        b'{"type":"result","permission_denials":[%b]}',
        b'{"type":"result","origin":%b}',
        b'{"type":"assistant","message":{"content":[{"type":"text"},{"type":"tool_use","input":%b}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"x","input":%b}]}}',
        b'{"type":"user","tool_use_result":%b}',
    ],
)
def test_a_message_of_which_something_read_may_be_deep_is_measured(text: bytes) -> None:
    assert isinstance(decode(text % (b'{"a":' * 200 + b"1" + b"}" * 200)), Malformed)
