"""What happens seldom: starts told over, lines told twice, lists that are broken, and long chunks."""

import json

import pytest

from tests.normalize.lines import Talk, control, init, system, user
from turnwire.normalize import events as ev
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Announced, Received
from turnwire.normalize.payloads import GenericPayload
from turnwire.normalize.payloads.titles import UNKNOWN_COMMAND
from turnwire.normalize.payloads.work import Generic
from turnwire.normalize.recordings.lines import LineReader
from turnwire.normalize.tool_calls.call_payloads import command_title
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.dialects import DIALECTS
from turnwire.protocol.dialects.foreign import foreign_wire
from turnwire.protocol.framing import SLICE_LINES, OversizeLine, WholeFramer
from turnwire.protocol.wrapped import _is_batch, _Objects, unwrapped

INIT = b'{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.330","uuid":"u"}'
SAID = b'{"type":"assistant","message":{"id":"m","model":"c","content":[{"type":"text","text":"Hi."}]},"uuid":"a"}'
ACP = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi."}}}}'
)


def started(after: int | None, state: str = "started") -> Announced:
    return Announced(ev.ProcessStatus(state=state, pid=7, after_turns=after))  # type: ignore[arg-type]  # the states are words


def acp() -> Received:
    (heard,) = LineReader().received(ACP)
    assert isinstance(heard, Received)
    return heard


@pytest.mark.parametrize("family", ["claude", "acp"])
def test_a_start_after_turnwires_own_restart_ends_what_was_open_and_counts_on(family: str) -> None:
    core = recorded_core()
    said = [Received(line, decode(line)) for line in (INIT, SAID)] if family == "claude" else [acp()]
    kinds = [event.type for item in said for event in core.handle(item)]
    assert "turn_started" in kinds
    told = core.handle(started(4))
    assert [event.type for event in told if event.type in {"complete", "process_status"}] == [
        "complete",
        "process_status",
    ]
    (turn,) = [event for item in said for event in core.handle(item) if isinstance(event, ev.TurnStarted)]
    assert turn.operation_id == "turn-5"
    for other in (started(None), started(-1), started(2, "exited")):
        assert [event.type for event in core.handle(other)] == ["process_status"]


def test_output_of_a_command_that_is_told_twice_is_shown_once() -> None:
    talk = Talk()
    line = system("local_command_output", content="x", uuid="u")
    talk.hears(init(), line)
    talk.hears(system("status", status="compacting", uuid="v"), line)
    assert talk.hears(line) == []


def test_output_of_a_command_in_a_users_line_that_is_told_twice_is_shown_once() -> None:
    talk = Talk()
    line = user("<local-command-stdout>Set model</local-command-stdout>", isReplay=True, uuid="u")
    talk.hears(init(), line)
    talk.hears(system("status", status="compacting", uuid="v"))
    assert talk.hears(line) == []


def test_what_is_no_object_is_no_foreign_wire() -> None:
    assert foreign_wire([1]) is None


def test_an_agent_of_any_dialect_keeps_nothing_back() -> None:
    assert [DIALECTS[name].agent().pause() for name in ("claude", "json_rpc", "miriad", "auto")] == [[]] * 4


def test_a_chunk_of_many_lines_is_cut_into_slices() -> None:
    lines = [line for part in WholeFramer().slices(b"x\n" * (SLICE_LINES + 1)) for line in part]
    assert lines == [b"x\n"] * (SLICE_LINES + 1)


BROKEN = b'[{"jsonrpc":"2.0"'
LONG = OversizeLine(1, 5, b"x")


@pytest.mark.parametrize(
    "lines",
    [
        [LONG, INIT],
        [b"12:00 " + INIT, LONG, b"12:01 " + SAID],
        [BROKEN, INIT],
        [b'[1, "jsonrpc"]', INIT],
        [b'[{"jsonrpc": 2}]', INIT],
        [b"[what", INIT],
        [b'["jsonrpc" ', INIT],
        [
            b'{"log":"' + json.dumps(INIT.decode())[1:-1].encode() + b'\\n","stream":"stdout","time":"t"}',
            b"no record",
        ],
    ],
    ids=["long", "long-held", "broken", "numbers", "no-batch", "bracket", "unended", "docker"],
)
def test_nothing_of_a_broken_wrapping_is_lost(lines: list[bytes | OversizeLine]) -> None:
    found = [line for piece in unwrapped([lines]) for line in piece.lines]
    assert INIT in found or any(isinstance(one, bytes) and b'"init"' in one for one in found)


def test_a_hook_that_the_cli_takes_back_leaves_its_call_alone() -> None:
    talk = Talk()
    hook = control("h1", "hook_callback", callback_id="x", input={"hook_event_name": "PreToolUse"})
    talk.hears(init(), hook)
    told = talk.hears({"type": "control_cancel_request", "request_id": "h1"})
    assert "tool_update" not in [event.split()[0] for event in told]


def test_an_untold_command_is_called_unknown_and_a_request_nobody_knows_is_about_nothing() -> None:
    facts = ToolCallState(kind="execute")
    assert command_title(facts, GenericPayload(generic=Generic(name="x"))) == UNKNOWN_COMMAND
    core = AcpCore()
    core.handle(acp())
    assert core.asked_about("nobody's") == []


def test_what_begins_like_a_list_and_is_none_stays_as_it_is() -> None:
    assert _Objects().feed(b"[what") == [b"[what"]
    assert not _is_batch(b'[1, "jsonrpc"]')
    assert not _is_batch(b'["jsonrpc"')
