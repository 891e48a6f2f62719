"""What holds for any input: real lines in any order, repeated, left out, or mutilated."""

import random
from typing import Literal

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from recordings import recordings
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.inputs import Decision, Ended, Sent
from turnwire.protocol.claude.decode import decode
from turnwire.testing.events import balanced

POOL = sorted(
    {line for recording in recordings() for line in recording.received()}, key=lambda line: (len(line), line)
)
SHORT = [line for line in POOL if len(line) < 6000]
SESSIONS = [recording.received() for recording in recordings() if 4 < len(recording.received()) < 120]
SENT = sorted({line for recording in recordings() for line in recording.sent() if len(line) < 6000})

ODD = [None, 0, -1.5, 10**400, "", "x", [], [1], {}, {"type": "x"}, True]
"""Values where others were meant; no float holds the fourth."""

BEHAVIORS: tuple[Literal["allow", "deny", "ask", "answer", "pass"], ...] = (
    "allow",
    "deny",
    "ask",
    "answer",
    "pass",
)
ENDS = st.sampled_from([Ended("end_of_input"), Ended("exited", exit_code=1), Ended("hung")])
FEW = settings(
    max_examples=150, suppress_health_check=[*settings().suppress_health_check, HealthCheck.data_too_large]
)


@st.composite
def shuffled_session(draw: st.DrawFn) -> list[bytes]:
    """A session with lines left out, repeated and moved."""
    lines = list(draw(st.sampled_from(SESSIONS)))
    for _ in range(draw(st.integers(0, 8))):
        at, to = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(("drop", "repeat", "swap", "insert"))):
            case "drop" if len(lines) > 1:
                del lines[at]
            case "repeat":
                lines.insert(to, lines[at])
            case "swap":
                lines[at], lines[to] = lines[to], lines[at]
            case _:
                lines.insert(at, draw(st.sampled_from(SHORT)))
    return lines


@st.composite
def mutilated_line(draw: st.DrawFn) -> bytes:
    """A real line with a few bytes gone or changed, or one of its values replaced by another."""
    line = draw(st.sampled_from(SHORT))
    if draw(st.booleans()):
        start = draw(st.integers(0, len(line)))
        return line[:start] + draw(st.binary(max_size=4)) + line[start + draw(st.integers(0, 6)) :]
    value = msgspec.json.decode(line.replace(b"\\ud83d here", b""))
    holder = value
    while isinstance(holder, dict) and holder:
        key = draw(st.sampled_from(sorted(holder)))
        if draw(st.booleans()) or not isinstance(holder[key], dict):
            holder[key] = draw(st.sampled_from(ODD))
            break
        holder = holder[key]
    return msgspec.json.encode(value)


def translate(lines: list[bytes], end: Ended) -> list[AgentEvent]:
    translator = ClaudeCore()
    events = [event for line in lines for event in translator.receive(decode(line), line)]
    assert sum(asdict(translator.stats).values()) == len(lines)
    return [*events, *translator.handle(end)]


def check(events: list[AgentEvent]) -> None:
    """Turns balance, calls end once, requests end once, and every event can be read back."""
    balanced(events)
    for event in events:
        assert from_json(to_json(event)) == event
        assert to_json(from_json(to_json(event))) == to_json(event)


@FEW
@given(shuffled_session(), ENDS)
def test_turns_and_calls_balance_whatever_is_lost_repeated_or_moved(lines: list[bytes], end: Ended) -> None:
    check(translate(lines, end))


@FEW
@given(st.lists(st.sampled_from(SESSIONS), min_size=2, max_size=4), st.randoms(use_true_random=False), ENDS)
def test_interleaved_sessions_end_each_call_once(
    sessions: list[list[bytes]], order: random.Random, end: Ended
) -> None:
    turns = [number for number, session in enumerate(sessions) for _ in session]
    order.shuffle(turns)
    rest = [iter(session) for session in sessions]
    check(translate([next(rest[number]) for number in turns], end))


@FEW
@given(st.lists(mutilated_line(), max_size=12), ENDS)
def test_mutilated_lines_never_raise(lines: list[bytes], end: Ended) -> None:
    check(translate(lines, end))


@FEW
@given(st.lists(st.sampled_from(SHORT), max_size=30), st.data())
def test_any_mixture_of_inputs_balances(received: list[bytes], data: st.DataObject) -> None:
    translator = ClaudeCore(resumed=data.draw(st.booleans()))
    events: list[AgentEvent] = []
    for line in received:
        match data.draw(st.sampled_from(("receive", "receive", "receive", "send", "decide", "end"))):
            case "send":
                events += translator.handle(Sent(b"", decode(data.draw(st.sampled_from(SENT)))))
            case "decide":
                behavior = data.draw(st.sampled_from(BEHAVIORS))
                events += translator.handle(Decision(_some_request(events), behavior, "x", 1))
            case "end":
                events += translator.handle(data.draw(ENDS))
            case _:
                events += translator.receive(decode(line), line)
    check([*events, *translator.handle(Ended("end_of_input"))])


def _some_request(events: list[AgentEvent]) -> str:
    for event in reversed(events):
        if isinstance(event, ev.PermissionRequest | ev.QuestionRequest):
            return event.pending_id
    return "none"


@FEW
@given(shuffled_session())
def test_the_same_lines_give_the_same_bytes(lines: list[bytes]) -> None:
    first, second = translate(lines, Ended("hung")), translate(lines, Ended("hung"))
    assert [to_json(event) for event in first] == [to_json(event) for event in second]
