"""What translating a line takes, counted: calls of functions, which no other load of a machine changes.

Seconds are for `make bench`. What is counted here may grow by a seventh before somebody has to say why: then the numbers below
are set anew, with the reason in the commit.
"""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from recordings import ROOT
from turnwire.normalize.events import AgentEvent, to_lines
from turnwire.normalize.families import recorded_core
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import LineFramer
from turnwire.recordings.filters.translate import CHUNK

PER_LINE = {"partial messages": 20.6, "all recordings of 2.1.330": 41.2, "agents of ACP": 152.0}
"""Calls a line: of Python's functions and of C's, from the chunk to the bytes of its events, with CPython 3.11."""

MARGIN = 1.15


def turn_with_partial_messages() -> list[bytes]:
    lines = lines_of("2.1.330/partial-messages/stdout.jsonl")
    end = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return lines[: end + 1]


def lines_of(pattern: str) -> list[bytes]:
    paths = sorted((ROOT / "fixtures").glob(pattern))
    return [line for path in paths for line in path.read_bytes().split(b"\n") if line]


INPUTS: dict[str, Callable[[], list[bytes]]] = {
    "partial messages": turn_with_partial_messages,
    "all recordings of 2.1.330": lambda: lines_of("2.1.330/*/stdout.jsonl"),
    "agents of ACP": lambda: lines_of("acp/*/*/stdout.jsonl"),
}


def translate(lines: list[bytes]) -> bytes:
    core, framer, transcript = recorded_core(), LineFramer(), LineReader()
    events: list[AgentEvent] = []
    data = b"".join(line + b"\n" for line in lines)
    for start in range(0, len(data), CHUNK):
        events += core.receive_all(transcript.heard(framer.feed(data[start : start + CHUNK])))
    return to_lines(events)


def calls_of(lines: list[bytes]) -> int:
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    translate(lines)  # imports, and what is remembered of versions
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        translate(lines)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", INPUTS)
def test_a_line_takes_no_more_calls_than_it_did(name: str) -> None:
    lines = INPUTS[name]()
    each = calls_of(lines) / len(lines)
    assert each <= PER_LINE[name] * MARGIN, (
        f"{each:.1f} calls a line; bench/bench_translate.py tells the cost"
    )
