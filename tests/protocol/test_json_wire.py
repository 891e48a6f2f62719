"""Lines of plain JSON objects, and the shapes by which they are told."""

import json

import pytest

from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_wire import JsonLine, JsonWire, LineShape, any_of
from turnwire.protocol.malformed import Malformed


def test_each_line_is_an_object_or_says_what_is_wrong() -> None:
    deep = b'{"a":' + b"[" * 500 + b"]" * 500 + b"}"
    lines: list[bytes | OversizeLine] = [
        b'{"a":1}',
        b"",
        b"oops",
        b"[1]",
        deep,
        b'{"a":NaN}',
        b'{"a":1}{"a":2}',
        OversizeLine(8, 9, b"{"),
    ]
    heard = [*JsonWire("f").heard(lines)]
    assert [type(message).__name__ for _, message in heard] == [
        "JsonLine",
        "Malformed",
        "Malformed",
        "Malformed",
        "Malformed",
        "JsonLine",
        "JsonLine",
        "JsonLine",
        "Malformed",
    ]
    assert [line for line, _ in heard][-3:] == [b'{"a":1}', b'{"a":2}', None]
    assert JsonWire("f").sent(b'{"a":1}') == (JsonLine("f", {"a": 1}),)


def test_a_wire_may_bring_a_parser_of_its_own() -> None:
    def first_counts(line: bytes) -> object:
        return json.loads(line, object_pairs_hook=lambda pairs: dict(reversed(pairs)))

    ((_, message),) = JsonWire("f", first_counts).heard([b'{"id":1,"id":2}'])
    assert message == JsonLine("f", {"id": 1})


@pytest.mark.parametrize(
    ("shape", "fits"),
    [
        (LineShape("a", ("b",)), True),
        (LineShape("a*"), True),
        (LineShape("b"), False),
        (LineShape(None), False),
        (LineShape("a", lacks=("b",)), False),
        (LineShape("a", subtype="s"), False),
    ],
)
def test_lines_are_told_by_their_members(shape: LineShape, fits: bool) -> None:
    assert any_of(shape)({"type": "a", "b": 1}) is fits
    assert not shape.fits({"type": 7, "c": 1})


def test_halves_of_characters_do_not_get_through() -> None:
    ((_, message),) = JsonWire("f").heard([b'{"a":"\\ud83d"}'])
    assert message == JsonLine("f", {"a": "\ufffd"})
    assert not isinstance(message, Malformed)
