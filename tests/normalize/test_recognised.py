"""The core of a recording is that of the family which its first message tells, however its lines come in."""

import json
from pathlib import Path
from typing import Any

import pytest

import turnwire
from cases import for_each
from recordings import ROOT
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core, InputWithEvents, happenings
from turnwire.normalize.events import Notice, to_json
from turnwire.normalize.families import ACP, CLAUDE, new_core, recorded_core
from turnwire.normalize.inputs import Announced, Ended, Received, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.acp import encode
from turnwire.protocol.framing import OversizeLine

CALL = {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "x"}, "options": []}


def said(words: str) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    return encode.notification("session/update", {"sessionId": "s", "update": update}).rstrip()


LINES = [
    b"Welcome!",
    said("Hello."),
    encode.request(1, "session/request_permission", CALL).rstrip(),
    b'{"type":"assistant","message":{"role":"assistant","content":[]}}',
    b'{"jsonrpc":"2.0","weather":7}',
    said("And on."),
]


def received(lines: list[bytes]) -> list[Received]:
    reader = LineReader()
    return [one for line in lines for one in reader.received(line)]


def told(events: Any) -> list[dict[str, Any]]:
    return [json.loads(to_json(event)) for event in events]


def state(core: Core) -> tuple[int, bool, int]:
    return core.turns, core.busy, len(core.pending)


def test_a_message_of_another_family_hands_the_session_on_for_good() -> None:
    core = recorded_core()
    assert state(core) == (0, False, 0)
    kinds = [[event["type"] for event in told(core.handle(one))] for one in received(LINES)]
    assert kinds == [
        ["malformed"],
        ["session_status", "turn_started", "message_chunk"],
        ["tool_call", "permission_request"],
        ["unknown"],
        ["unknown"],
        ["message_chunk"],
    ]
    assert state(core) == (1, True, 1)
    assert [event["type"] for event in told(core.handle(Ended("end_of_input")))][-1] == "process_status"
    assert state(core) == (1, False, 0)


def test_lines_alone_give_what_all_that_happens_gives() -> None:
    one, other = recorded_core(), recorded_core()
    for happened in received(LINES):
        assert told(one.receive(happened.message, happened.line)) == told(other.handle(happened))
        assert state(one) == state(other)
    assert one.stats == other.stats
    assert (one.stats.published, one.stats.unknown, one.stats.malformed) == (3, 2, 1)


@pytest.mark.parametrize("pattern", ["2.1.330/*/stdout.jsonl", "acp/*/*/stdout.jsonl"])
def test_lines_together_give_what_each_gives(pattern: str) -> None:
    for path in sorted((ROOT / "fixtures").glob(pattern)):
        lines = path.read_bytes().split(b"\n")
        one, other = recorded_core(), recorded_core()
        each = [told for line, message in LineReader().heard(lines) for told in one.receive(message, line)]
        assert other.receive_all(LineReader().heard(lines)) == each, path
        assert other.stats == one.stats


def test_a_message_that_no_family_knows_stays_with_claude() -> None:
    core = recorded_core()
    (happened,) = received([b'{"type":"weather"}'])
    (event,) = told(core.receive(happened.message, happened.line))
    assert (event["type"], event["message_type"]) == ("unknown", "weather")
    assert core.stats.unknown == 1


def test_a_turn_that_was_open_ends_where_another_family_goes_on() -> None:
    core = recorded_core()
    begun = received([b'{"type":"system","subtype":"init","session_id":"t","model":"m"}', LINES[1]])
    (claude, acp) = [[event["type"] for event in told(core.handle(one))] for one in begun]
    assert claude[-1] == "turn_started"
    assert acp == ["complete", "error", "session_status", "turn_started", "message_chunk"]
    assert core.turns == 2


def test_json_rpc_of_a_program_that_the_agent_runs_ends_no_turn() -> None:
    """An MCP server that writes to the agent's stdout is no agent of another family."""
    init = b'{"type":"system","subtype":"init","session_id":"t","model":"m"}'
    of_server = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}'
    result = (
        b'{"type":"result","subtype":"success","is_error":false,"result":"hello","session_id":"t","uuid":"u"}'
    )
    core = recorded_core()
    kinds = [
        [event["type"] for event in told(core.handle(one))] for one in received([init, of_server, result])
    ]
    assert kinds[1] == ["unknown"]
    assert "complete" in kinds[2]
    assert core.stats.unknown == 1


def test_json_rpc_before_the_first_line_of_an_agent_hides_nothing_of_it() -> None:
    of_server = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}'
    stdout = min((ROOT / "fixtures/native").glob("gemini*/*/stdout.jsonl")).read_bytes()
    alone, after = (told(turnwire.translate([output])) for output in (stdout, of_server + b"\n" + stdout))
    assert after[0]["type"] == "unknown"
    assert after[1:] == alone


def test_each_family_has_its_core() -> None:
    assert isinstance(new_core(ACP, first_turn=3), AcpCore)
    assert isinstance(new_core(CLAUDE, first_turn=3), ClaudeCore)
    assert [new_core(name, first_turn=3).turns for name in (ACP, CLAUDE)] == [2, 2]
    with pytest.raises(KeyError, match="smalltalk"):
        new_core("smalltalk")


def test_what_happened_is_told_with_what_is_published_of_it() -> None:
    notice = Notice(kind="k", level="info", text="t")

    def inputs() -> Any:
        yield Announced(notice)
        raise OSError("the file is gone")

    found: list[InputWithEvents] = []
    core, happened = recorded_core(), Announced(notice)
    with pytest.raises(OSError, match="the file is gone"):
        found.extend(iter(happenings(core, inputs())))
    assert found == [InputWithEvents(happened, [notice])]
    given: list[SessionInput] = [happened, Ended("end_of_input")]
    first, last = happenings(core, given)
    assert first == InputWithEvents(happened, [notice])
    assert (last.input, [event.type for event in last.events]) == (given[1], ["process_status"])


@pytest.mark.parametrize("before", [[], [LINES[1]]], ids=["claude", "acp"])
def test_a_line_too_long_to_keep_is_malformed_of_an_agent_and_nothing_of_ours(before: list[bytes]) -> None:
    reader, core = LineReader(), recorded_core()
    for line in before:
        for one in reader.received(line):
            core.handle(one)
    long = OversizeLine(7, 5000, b"{ ...")
    (heard,) = reader.received(long)
    (event,) = told(core.handle(heard))
    assert (event["type"], event["reason"]) == ("malformed", "line 7 has 5000 bytes, beyond the limit")
    assert (event["raw"], heard.line) == ("{ ...", b"{ ...")
    assert reader.sent(long) == []


@for_each("path", sorted((ROOT / "fixtures" / "1.0.60").glob("*/stdout.jsonl")))
def test_lines_without_ids_that_were_written_twice_are_told_once(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    plain = recorded_core().receive_all(LineReader().heard(lines))
    doubled = [copy for line in lines for copy in (line, bytes(bytearray(line)))]
    assert recorded_core().receive_all(LineReader().heard(doubled)) == plain


@for_each("path", sorted((ROOT / "fixtures" / "2.1.330").glob("*/stdout.jsonl")))
def test_lines_that_were_written_twice_are_told_once(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    doubled = [
        copy for line in lines for copy in ([line, bytes(bytearray(line))] if b'"uuid":"' in line else [line])
    ]
    plain = recorded_core().receive_all(LineReader().heard(lines))
    assert recorded_core().receive_all(LineReader().heard(doubled)) == plain
    core = recorded_core()
    assert [event for one in received(doubled) for event in core.handle(one)] == plain
    # the second writer is some lines behind: A B C A B C
    behind = [
        line
        for start in range(0, len(lines), 20)
        for copied in (False, True)
        for line in lines[start : start + 20]
        if not copied or b'"uuid":"' in line
    ]
    late = [bytes(bytearray(line)) for line in behind]
    assert recorded_core().receive_all(LineReader().heard(late)) == plain
    core = recorded_core()
    assert [event for one in received(late) for event in core.handle(one)] == plain
