"""Lines with several objects, as two writers to one file leave them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.parsing.depth import MAX_DEPTH
from turnwire.protocol.parsing.glued import MOST, cut

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(), VALUES, max_size=3), min_size=2, max_size=5)


@given(OBJECTS, st.sampled_from([b"", b" ", b"\t\r ", b", "]), st.booleans())
def test_objects_are_told_apart_whatever_is_in_them(
    objects: list[dict[str, object]], between: bytes, ascii_only: bool
) -> None:
    lines = [json.dumps(one, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for one in objects]
    assert cut(between.join(lines) + between) == lines


RECORD = {
    "type": "note",
    "uuid": "n1",
    "message": {"role": "x", "content": 'a "{" [ä'},
    "list": [{"a": [1, True]}],
}
OTHER = {"timestamp": "noon", "type": "note", "payload": {"type": "t", "id": "3"}}


@pytest.mark.parametrize("half", [RECORD, OTHER], ids=["record", "other"])
@pytest.mark.parametrize("between", [b"", b"\0\0\0"], ids=["nothing", "nuls"])
def test_a_record_behind_half_of_another_is_found_wherever_that_was_cut(
    half: dict[str, object], between: bytes
) -> None:
    first = json.dumps(half, ensure_ascii=False).encode()
    whole = [json.dumps(one).encode() for one in (RECORD, OTHER)]
    for end in range(1, len(first)):
        begun = first[:end]
        assert cut(begun + between + whole[0]) == [begun, whole[0]]
        assert cut(begun + between + b"".join(whole)) == [begun, *whole]
        assert cut(begun) == []


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        (b'\0\0{"a":1}', [b'{"a":1}']),
        (b'{"a":1}\0\0', [b'{"a":1}']),
        (b'\0{"a":1}\0\0{"b":2}\0', [b'{"a":1}', b'{"b":2}']),
        (b"\0\0\0", []),
        (b'{"type":"user",,"message":{"a":{"b":1}}}', []),
        (b'{"type":"user","message":{"type":"text","text":"x"}', []),
        (
            b'{"type":"user","message":{"jsonrpc":"2.0","id":1}',
            [b'{"type":"user","message":', b'{"jsonrpc":"2.0","id":1}'],
        ),
        (b'{"a":[' * 50 + b'{"a":1},' * 9, []),
        (b'{"a' * 100_000, []),
        (b'{"type":"user","text":"if () {}', []),
        (b'{"a":1}{"b":', [b'{"a":1}', b'{"b":']),
        (b' {"a":"}{"}\t{"', [b'{"a":"}{"}', b'{"']),
        (b'{"a":1}[1]', []),
        (b'{"a":1}{"b":2} at the end', []),
        (b'\xef\xbb\xbf{"a":1}{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":"\xff"}{"b":1}', [b'{"a":"\xff"}', b'{"b":1}']),
        (b'{"a":' + b"9" * 5000 + b'}{"b":NaN}', [b'{"a":' + b"9" * 5000 + b"}", b'{"b":NaN}']),
        (b'{"a":"}{"}', []),
        (b'{"a":1', []),
        (b"", []),
        (b"[1]{}", []),
        (b'before {"a":1}{"b":2}', []),
        (b"{}" * MOST, [b"{}"] * MOST),
        (b"{}" * (MOST + 1), []),
        (b"{}" * 1_000_000, []),
        (b'{"a":' * (MAX_DEPTH + 1) + b"{}" + b"}" * (MAX_DEPTH + 1) + b"{}", []),
        (b'{"a":' * 100_000 + b"}" * 100_000, []),
    ],
)
def test_a_line_is_cut_where_objects_begin_and_stays_as_it_is_otherwise(
    line: bytes, pieces: list[bytes]
) -> None:
    assert cut(line) == pieces
