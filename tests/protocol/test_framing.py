import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.claude.decode import malformed
from turnwire.protocol.framing import (
    HEAD_SIZE,
    SLICE_BYTES,
    SLICE_LINES,
    LineFramer,
    LinePiece,
    OversizeLine,
    WholeFramer,
    ending,
)
from turnwire.protocol.malformed import Malformed


def cut(data: bytes, sizes: list[int], limit: int) -> list[bytes | OversizeLine]:
    framer = LineFramer(limit)
    lines: list[bytes | OversizeLine] = []
    at = 0
    for size in sizes:
        lines += framer.feed(data[at : at + size])
        at += size
    lines += framer.feed(data[at:])
    last = framer.close()
    if last is not None:
        lines.append(last)
    assert framer.count == len(lines)
    return lines


def test_lines_end_with_a_newline_and_nothing_else() -> None:
    text = '{"a":"\u2028\u2029\u0085\x0b\x0c\x1c"}'
    assert LineFramer().feed(f"{text}\n{text}\n".encode()) == [text.encode()] * 2


def test_a_blank_line_is_a_line() -> None:
    assert cut(b"a\n\n\nb\n", [], 100) == [b"a", b"", b"", b"b"]


def test_one_carriage_return_before_the_newline_is_dropped() -> None:
    assert cut(b"a\r\nb\r\r\n\r\nc\rd\n", [], 100) == [b"a", b"b\r", b"", b"c\rd"]


def test_a_carriage_return_and_its_newline_may_come_in_different_chunks() -> None:
    assert cut(b"a\r\nb", [2], 100) == [b"a", b"b"]


def test_the_last_line_needs_no_newline() -> None:
    assert cut(b"a\nb", [], 100) == [b"a", b"b"]
    assert cut(b"a\nb\r", [], 100) == [b"a", b"b"]


def test_a_stream_that_ends_with_a_newline_has_no_last_line() -> None:
    framer = LineFramer()
    framer.feed(b"a\n")
    assert framer.close() is None
    assert LineFramer().close() is None


def test_closing_twice_gives_the_last_line_once() -> None:
    framer = LineFramer()
    framer.feed(b"a")
    assert framer.close() == b"a"
    assert framer.close() is None


def test_a_line_beyond_the_limit_is_a_value_and_the_stream_goes_on_behind_it() -> None:
    assert cut(b"a\n" + b"x" * 11 + b"\nb\n", [], 10) == [b"a", OversizeLine(2, 11, b"x" * 11), b"b"]


def test_a_line_of_just_the_limit_is_whole() -> None:
    assert cut(b"x" * 10 + b"\n", [3], 10) == [b"x" * 10]


def test_of_a_line_beyond_the_limit_only_the_head_is_held() -> None:
    framer = LineFramer(limit=10_000)
    for _ in range(100):
        assert framer.feed(b"x" * 1000) == []
        assert len(framer._held) <= 10_000
    assert framer.feed(b"\nb\n") == [OversizeLine(1, 100_000, b"x" * HEAD_SIZE), b"b"]


def test_a_last_line_beyond_the_limit_is_a_value_too() -> None:
    assert cut(b"x" * 11, [4, 4], 10) == [OversizeLine(1, 11, b"x" * 11)]


def test_an_oversize_line_becomes_a_malformed_message() -> None:
    message = malformed(OversizeLine(7, 5000, b"{\xff"))
    assert message == Malformed("{\ufffd", "line 7 has 5000 bytes, beyond the limit")


def test_a_line_of_64_mib_in_chunks_of_4_kib_comes_out_whole() -> None:
    size, piece = 64 * 1024 * 1024, b"0123456789abcdef" * 256
    framer = LineFramer()
    for _ in range(size // len(piece)):
        assert framer.feed(piece) == []
    (line,) = framer.feed(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == size
    assert line[-16:] == b"0123456789abcdef"


def test_many_short_lines_in_one_chunk_come_out_in_order() -> None:
    lines = [str(number).encode() for number in range(100_000)]
    assert LineFramer().feed(b"\n".join(lines) + b"\n") == lines


@pytest.mark.parametrize("limit", [5, 10_000])
@given(
    pieces=st.lists(
        st.sampled_from([b"\n", b"\r", b"\r\n", b"", b"ab", "é\u2028😀".encode(), b"0123456789"])
        | st.binary(max_size=20)
    ),
    seed=st.integers(0, 10_000),
)
def test_any_chunking_yields_the_same_lines(limit: int, pieces: list[bytes], seed: int) -> None:
    data = b"".join(pieces)
    whole = cut(data, [], limit)
    rng = random.Random(seed)
    assert cut(data, [rng.randint(0, 7) for _ in range(len(data))], limit) == whole
    assert cut(data, [1] * len(data), limit) == whole


@given(data=st.binary())
def test_nothing_is_lost(data: bytes) -> None:
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    lines = cut(data, [], 10_000)
    assert lines == (expected if data.split(b"\n")[-1] else expected[:-1])


@given(st.binary(max_size=200).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 5))
def test_slices_are_the_same_lines(chunk: bytes, repeats: int) -> None:
    chunk *= repeats * 200
    whole, sliced = LineFramer(100), LineFramer(100)
    slices = list(sliced.slices(chunk))
    assert [line for lines in slices for line in lines] == whole.feed(chunk)
    assert sliced.close() == whole.close()
    assert all(len(lines) <= SLICE_LINES for lines in slices)
    assert len(slices) >= max(1, len(chunk) // SLICE_BYTES)


def whole(data: bytes, sizes: list[int], limit: int) -> list[bytes | LinePiece | OversizeLine]:
    framer = WholeFramer(limit)
    lines: list[bytes | LinePiece | OversizeLine] = []
    for size in [*sizes, len(data)]:
        lines += [line for part in framer.slices(data[:size]) for line in part]
        data = data[size:]
    return lines + framer.close()


def test_whole_lines_have_their_ends() -> None:
    assert whole(b"a\r\n\n\r\nb", [2], 100) == [b"a\r\n", b"\n", b"\r\n", b"b"]
    assert [ending(line) for line in (b"a\r\n", b"\n", b"b", b"c\r")] == [
        (b"a", b"\r\n"),
        (b"", b"\n"),
        (b"b", b""),
        (b"c", b"\r"),
    ]


def test_a_whole_line_beyond_the_limit_comes_in_pieces() -> None:
    assert whole(b"a\n0123456789\nb\n", [4, 7], 8) == [
        b"a\n",
        LinePiece(b"012345678"),
        LinePiece(b"9\n"),
        OversizeLine(2, 10, b"0123456789\n"),
        b"b\n",
    ]


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")), st.lists(st.integers(0, 9)))
def test_not_a_byte_is_lost_of_whole_lines(data: bytes, sizes: list[int]) -> None:
    lines = whole(data, sizes, 5)
    kept = [line.data if isinstance(line, LinePiece) else line for line in lines]
    assert b"".join(line for line in kept if isinstance(line, bytes)) == data
    bare = [line for line in lines if not isinstance(line, LinePiece)]
    assert len(bare) == len(data.split(b"\n")) - (not data.split(b"\n")[-1])
