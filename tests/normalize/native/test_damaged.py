"""Recordings that were cut, mixed up or wrapped: each line is accounted for, and each turn and each call ends once."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pytest
from native_recordings import NativeRecording, native_recordings

from tests.normalize.translating import as_json
from turnwire.normalize.core import Stats
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.wrapped import unwrapped

RECORDINGS = list(native_recordings(with_corpus=False))
SEED = 20261126


def told(lines: Iterable[bytes]) -> tuple[list[AgentEvent], Stats]:
    """Read lines as they come from a pipe, to their end."""
    reader, core = LineReader(holds=True), recorded_core()
    inputs: list[SessionInput] = [
        happened
        for piece in unwrapped([[*lines]])
        for line in piece.lines
        for happened in reader.received(line)
    ]
    inputs += [*reader.close(), Ended("end_of_input")]
    return [event for happened in inputs for event in core.handle(happened)], core.stats


Damage = Callable[[random.Random, list[bytes]], list[bytes]]


def cut(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    return lines[: draw.randrange(len(lines)) + 1]


def half(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    last = draw.randrange(len(lines))
    return [*lines[:last], lines[last][: len(lines[last]) // 2]]


def without_head(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    return lines[draw.randrange(len(lines)) :]


def dropped(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    gone = draw.randrange(len(lines))
    return [*lines[:gone], *lines[gone + 1 :]] or lines


def repeated(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    return lines


def swapped(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def with_noise(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    odd = (
        b"npm warn deprecated", b"{", b"[1,2]", b"null", b"\xff\xfe", b'{"type":[]}', b'{"type":"new.kind","x":1}',
        b'{"type":{"a":1},"part":3,"item":[],"data":"x","params":7,"properties":null}',
    )  # fmt: skip
    lines.insert(draw.randrange(len(lines)), draw.choice(odd))
    return lines


def twice(_: random.Random, lines: list[bytes]) -> list[bytes]:
    return lines + lines


@pytest.mark.parametrize(
    "damage",
    [cut, half, without_head, dropped, repeated, swapped, with_noise, twice],
    ids=lambda one: one.__name__,
)
def test_damage_loses_no_line_and_leaves_nothing_open(damage: Damage) -> None:
    draw = random.Random(f"{SEED}{damage.__name__}")
    for recording in draw.sample(RECORDINGS, 12):
        lines = damage(draw, [*recording.lines()])
        events, stats = told(lines)
        shown = f"{recording}, {damage.__name__}"
        counted = (
            stats.published + stats.counted + stats.control + stats.unknown + stats.malformed + stats.blank
        )
        assert counted == len(lines), shown
        published = as_json(events)
        started = [event["operation_id"] for event in published if event["type"] == "turn_started"]
        assert [event["operation_id"] for event in published if event["type"] == "complete"] == started, shown
        calls = Counter(event["tool_call_id"] for event in published if event["type"] == "tool_call")
        ends = (one for one in published if one["type"] == "tool_update" and one["tool_status"] != "running")
        assert Counter(event["tool_call_id"] for event in ends) == calls, shown


def one_of_each() -> Sequence[NativeRecording]:
    """Return a recording of each agent."""
    return list({one.agent: one for one in RECORDINGS if len(one.lines()) > 2}.values())


@pytest.mark.parametrize(
    ("before", "after", "at_first"),
    [
        (b"", b"\r", b""),
        (b"", b"", b"\xef\xbb\xbf"),
        (b"2026-11-23T13:44:39.000000000Z ", b"", b""),
        (b"agent-1  | ", b"", b""),
        (b"\x1b[0m", b"\x1b[0m", b""),
        (b"", b"", b"\x1b[1m"),
    ],
    ids=["carriage-return", "byte-order-mark", "times", "compose", "colours", "colour-first"],
)
def test_what_logs_put_around_lines_changes_no_event(before: bytes, after: bytes, at_first: bytes) -> None:
    for recording in one_of_each():
        plain = recording.lines()
        wrapped = [before + line + after for line in plain]
        wrapped[0] = at_first + wrapped[0]
        assert as_json(told(wrapped)[0]) == as_json(told(plain)[0]), str(recording)


@pytest.mark.parametrize("recording", one_of_each(), ids=str)
def test_a_log_that_has_each_line_twice_tells_it_once(recording: NativeRecording) -> None:
    lines = recording.lines()
    doubled = [copy for line in lines for copy in (line, bytes(bytearray(line)))]
    assert as_json(told(doubled)[0]) == as_json(told(lines)[0])


@pytest.mark.parametrize("recording", one_of_each(), ids=str)
def test_a_line_that_comes_twice_neither_begins_nor_ends_a_turn_again(recording: NativeRecording) -> None:
    lines = recording.lines()
    plain = _turns(told(lines)[0])
    for at, line in enumerate(lines[:40]):
        copied = [*lines[:at], line, bytes(bytearray(line)), *lines[at + 1 :]]
        assert _turns(told(copied)[0]) == plain, line


def _turns(events: Sequence[AgentEvent]) -> list[tuple[str, object]]:
    """Return what is told of turns: their beginnings, and their ends with their tokens."""
    return [
        (one.type, getattr(one, "data", None)) for one in events if one.type in ("turn_started", "complete")
    ]
