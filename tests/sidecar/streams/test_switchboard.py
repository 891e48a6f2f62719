"""What `turnwire stdio` makes of each line, as transcripts. Prompts wait for a tool's end, or for the next turn."""

import json
from typing import Any, get_args

import pytest

from cases import for_each
from recordings import ROOT, Recording, recordings
from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.protocol.claude.control import ControlResponse
from turnwire.protocol.claude.messages import Assistant, Message, Unknown, User
from turnwire.protocol.claude.system import System
from turnwire.protocol.dialects import CLAUDE, JSON_RPC, MIRIAD, Dialect
from turnwire.protocol.framing import DEFAULT_LIMIT as LIMIT
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import TOO_DEEP
from turnwire.sidecar.streams.stdio import bridge as switchboard
from turnwire.sidecar.streams.stdio.bridge import (
    CALLER_GONE,
    OUR_GREETING,
    OUR_HOOK,
    BridgeOutput,
    StdioBridge,
)

JSON = dict[str, Any]

INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m"}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "ok",
    "session_id": "s",
    "num_turns": 1,
    "duration_ms": 5,
}
FAILED = {"type": "result", "subtype": "error_during_execution", "is_error": True, "session_id": "s"}
SPOKEN = pytest.mark.parametrize("spoken", [MIRIAD, JSON_RPC], ids=["miriad", "json_rpc"])

HOOK = {
    "type": "control_request",
    "request_id": "h1",
    "request": {"subtype": "hook_callback", "callback_id": OUR_HOOK, "input": {}},
}


def line(value: JSON) -> bytes:
    return json.dumps(value).encode()


def prompt(content: Any) -> JSON:
    return {"type": "user", "message": {"role": "user", "content": content}}


def objects(lines: list[bytes]) -> list[JSON]:
    assert all(row.endswith(b"\n") and row.count(b"\n") == 1 for row in lines)
    return [json.loads(row) for row in lines]


class Transcript:
    """A switchboard whose moves are read as objects."""

    def __init__(self, bridge: StdioBridge) -> None:
        self.bridge = bridge
        self.to_cli: list[JSON] = []
        self.to_caller: list[JSON] = []
        self.closes = False

    def _done(self, moves: BridgeOutput) -> "Transcript":
        self.to_cli, self.to_caller = objects(moves.to_cli), objects(moves.to_caller)
        self.closes = moves.close
        return self

    def caller(self, value: JSON | bytes) -> "Transcript":
        return self._done(self.bridge.on_caller_line(value if isinstance(value, bytes) else line(value)))

    def cli(self, value: JSON | bytes) -> "Transcript":
        return self._done(self.bridge.on_cli_line(value if isinstance(value, bytes) else line(value)))

    def closed(self) -> "Transcript":
        return self._done(self.bridge.on_close())


@pytest.fixture
def miriad() -> Transcript:
    return Transcript(StdioBridge(MIRIAD, CLAUDE))


@pytest.fixture
def relay() -> Transcript:
    return Transcript(StdioBridge(CLAUDE, CLAUDE))


# A caller of Claude's dialect


@for_each("recording", recordings(version="2.1.330"))
def test_every_recorded_line_is_relayed_byte_for_byte(recording: Recording) -> None:
    bridge = StdioBridge(CLAUDE, CLAUDE)
    for received in recording.received():
        assert b"".join(bridge.on_cli_line(received).to_caller) == received + b"\n"
    for sent in recording.sent():
        told = bridge.on_caller_line(sent).to_cli
        if recording.scenario in ("input-not-json", "input-blank-line"):
            continue
        assert told == [sent + b"\n"]


def test_what_would_kill_a_cli_for_nothing_is_not_relayed(relay: Transcript) -> None:
    assert relay.caller(b"junk").to_cli == []
    assert relay.caller(b"   ").to_cli == []


def test_ends_of_lines_are_the_senders_own(relay: Transcript) -> None:
    for end in (b"\n", b"\r\n", b""):
        asked = line(prompt("hi"))
        assert relay.bridge.on_caller_line(asked, end).to_cli == [asked + end]
        for said in (line(RESULT), b"garbage", b""):
            assert relay.bridge.on_cli_line(said, end).to_caller == [said + end]


def test_a_line_that_is_dropped_is_told_with_its_size(relay: Transcript) -> None:
    (notice,) = relay.bridge.on_caller_line(b"garbage").notices
    assert notice.startswith("a line of the caller is no message and was dropped: 7 bytes; ")
    (notice,) = relay.bridge.on_caller_line(b'{"type":"us', b"").notices
    assert "11 bytes, where stdin ended" in notice
    assert relay.bridge.on_caller_line(b"  ").notices == []


STATUS = b'{"type":"control","action":"status"}'


def test_what_is_ours_does_not_come_into_the_middle_of_a_line_that_passes_in_pieces(
    relay: Transcript,
) -> None:
    bridge = relay.bridge
    assert bridge.on_cli_piece(b'{"type":').to_caller == [b'{"type":']
    assert bridge.on_caller_line(STATUS).to_caller == []
    assert bridge.on_cli_piece(b'"x"}\n').to_caller == [b'"x"}\n']
    ended = bridge.on_cli_overlong(OversizeLine(1, 12, b'{"type":"x"}'))
    assert objects(ended.to_caller)[0]["subtype"] == "status"
    assert ended.notices == [f"line 1 of the agent was passed on unread: 12 bytes are more than {LIMIT}"]
    assert len(bridge.on_caller_line(STATUS).to_caller) == 1
    refused = b'{"type":"control_request","request_id":"r","request":{"input":%b}}' % DEEP
    assert bridge.on_caller_piece(b'{"type":"user",').to_cli == [b'{"type":"user",']
    assert bridge.on_cli_line(refused).to_cli == []
    ended = bridge.on_caller_overlong(OversizeLine(2, 99, b'{"type":"user",'))
    assert objects(ended.to_cli)[0]["response"]["error"] == TOO_DEEP
    assert objects(bridge.on_caller_line(STATUS).to_caller)[0]["running"] is True


DEEP = b"[" * 500 + b"]" * 500


def test_a_request_of_the_cli_that_is_nested_too_deep_is_refused_here(
    relay: Transcript, miriad: Transcript
) -> None:
    for joint in (relay, miriad):
        joint.cli(b'{"type":"control_request","request_id":"r","request":{"input":%b}}' % DEEP)
        assert joint.to_caller == []
        assert [said["response"]["error"] for said in joint.to_cli] == [TOO_DEEP]


def test_a_caller_is_told_of_a_line_that_is_nested_too_deep(relay: Transcript) -> None:
    relay.caller(b'{"type":"control_request","request_id":"r","request":{"x":%b}}' % DEEP)
    assert relay.to_caller[0]["response"] == {"subtype": "error", "request_id": "r", "error": TOO_DEEP}
    relay.caller(b'{"type":"user","message":{"content":%b}}' % DEEP)
    assert TOO_DEEP in relay.to_caller[0]["message"]
    assert relay.to_cli == []


def test_a_relayed_caller_may_ask_in_the_words_of_spec_1(relay: Transcript) -> None:
    relay.caller(prompt("hi"))
    assert relay.caller({"type": "control", "action": "status"}).to_caller == [
        {"type": "system", "subtype": "status", "running": True, "queued_messages": 0}
    ]
    (request,) = relay.caller({"type": "control", "action": "interrupt"}).to_cli
    assert request["request"] == {"subtype": "interrupt"}


def test_a_relayed_caller_that_closes_closes_the_cli(relay: Transcript) -> None:
    relay.caller(prompt("hi"))
    assert relay.closed().closes


def test_a_blank_line_of_the_cli_is_relayed_and_nothing_to_a_caller_of_spec_1(
    relay: Transcript, miriad: Transcript
) -> None:
    assert relay.bridge.on_cli_line(b"").to_caller == [b"\n"]
    assert miriad.bridge.on_cli_line(b"").to_caller == []


# A caller of the miriad-code protocol


def test_a_hook_of_ours_that_the_cli_takes_back_is_none_of_the_callers(miriad: Transcript) -> None:
    miriad.caller(prompt("hi"))
    miriad.cli(HOOK)
    assert miriad.cli({"type": "control_cancel_request", "request_id": "h1"}).to_caller == []
    other = {"type": "control_cancel_request", "request_id": "of-the-cli"}
    assert miriad.cli(other).to_caller == [other]


def test_a_turn(miriad: Transcript) -> None:
    greeting, said = miriad.caller(prompt("hi")).to_cli
    assert said == prompt("hi")
    assert (greeting["request_id"], greeting["request"]["subtype"]) == (OUR_GREETING, "initialize")
    assert set(greeting["request"]["hooks"]) == {"PostToolUse", "PostToolUseFailure"}
    answer = {"subtype": "success", "request_id": OUR_GREETING, "response": {"commands": []}}
    assert miriad.cli({"type": "control_response", "response": answer}).to_caller == []
    assert miriad.cli(INIT).to_caller == [INIT]
    assert miriad.cli(RESULT).to_caller == [
        {
            "type": "result",
            "subtype": "success",
            "duration_ms": 5,
            "is_error": False,
            "num_turns": 0,
            "session_id": "s",
            "result": "ok",
        }
    ]


def test_prompts_of_a_running_turn_wait_with_their_position_and_go_in_as_one(miriad: Transcript) -> None:
    miriad.caller(prompt("first"))
    miriad.cli(INIT)
    queued = {"type": "system", "subtype": "queued", "session_id": "s"}
    assert miriad.caller(prompt("one")).to_caller == [{**queued, "position": 1}]
    assert miriad.caller(prompt([{"type": "text", "text": "two"}])).to_caller == [{**queued, "position": 2}]
    assert miriad.to_cli == []
    miriad.cli(HOOK)
    # the prompt stands before the answer that the CLI waits for
    assert [said["type"] for said in miriad.to_cli] == ["user", "control_response"]
    assert miriad.to_cli[0]["message"]["content"] == "one\n\ntwo"
    assert miriad.to_cli[1]["response"] == {"subtype": "success", "request_id": "h1", "response": {}}
    assert miriad.to_caller == [
        {"type": "system", "subtype": "injected", "session_id": "s", "message_count": 2, "content_length": 8}
    ]
    assert miriad.cli(HOOK).to_caller == []
    assert [said["type"] for said in miriad.to_cli] == ["control_response"]


def test_prompts_that_no_tool_gave_way_to_begin_the_next_turn(miriad: Transcript) -> None:
    miriad.caller(prompt("first"))
    miriad.caller(prompt("one"))
    miriad.caller(prompt("two"))
    miriad.cli(RESULT)
    assert [said["message"]["content"] for said in miriad.to_cli] == ["one\n\ntwo"]
    assert [said.get("subtype") for said in miriad.to_caller] == ["success", "injected"]
    assert miriad.caller(prompt("three")).to_caller[0]["position"] == 1
    assert miriad.cli(RESULT).to_cli == [prompt("three")]


def test_prompts_with_more_than_text_are_joined_block_after_block(miriad: Transcript) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    miriad.caller(prompt("first"))
    miriad.caller(prompt("look"))
    miriad.caller(prompt([image]))
    (said,) = miriad.cli(RESULT).to_cli
    assert said["message"]["content"] == [{"type": "text", "text": "look"}, image]


def test_an_interrupt_cancels_the_turn_and_keeps_the_queue(miriad: Transcript) -> None:
    miriad.caller(prompt("first"))
    miriad.caller(prompt("next"))
    (request,) = miriad.caller({"type": "control", "action": "interrupt"}).to_cli
    assert request["request"] == {"subtype": "interrupt"}
    answer = {"subtype": "success", "request_id": request["request_id"]}
    assert miriad.cli({"type": "control_response", "response": answer}).to_caller == []
    miriad.cli(FAILED)
    assert [said["subtype"] for said in miriad.to_caller] == ["cancelled", "injected"]
    assert miriad.to_caller[0]["is_error"] is False
    assert miriad.to_cli == [prompt("next")]


def test_an_interrupt_of_nothing_does_nothing(miriad: Transcript) -> None:
    asked = miriad.caller({"type": "control", "action": "interrupt"})
    assert (asked.to_cli, asked.to_caller) == ([], [])
    miriad.caller(prompt("hi"))
    assert [said["subtype"] for said in miriad.cli(FAILED).to_caller] == ["error"]


def test_status_is_answered_here(miriad: Transcript) -> None:
    status = {"type": "control", "action": "status"}
    idle = {"type": "system", "subtype": "status", "running": False, "queued_messages": 0}
    assert miriad.caller(status).to_caller == [idle]
    miriad.caller(prompt("first"))
    miriad.cli(INIT)
    miriad.caller(prompt("one"))
    busy = {**idle, "running": True, "queued_messages": 1, "session_id": "s"}
    assert miriad.caller(status).to_caller == [busy]
    assert miriad.to_cli == []


def test_control_requests_pass_through_in_both_directions(miriad: Transcript) -> None:
    asked = {
        "type": "control_request",
        "request_id": "r",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
    }
    assert miriad.cli(asked).to_caller == [asked]
    body = {"subtype": "success", "request_id": "r", "response": {"behavior": "allow", "updatedInput": {}}}
    answer = {"type": "control_response", "response": body}
    assert miriad.caller(answer).to_cli == [answer]
    request = {
        "type": "control_request",
        "request_id": "q",
        "request": {"subtype": "set_model", "model": "x"},
    }
    assert miriad.caller(request).to_cli == [request]
    done = {"type": "control_response", "response": {"subtype": "success", "request_id": "q"}}
    assert miriad.cli(done).to_caller == [done]


def test_what_it_does_not_understand_is_an_error_and_goes_nowhere(miriad: Transcript) -> None:
    for value in (b"junk", line({"type": "jump"}), line({"type": "control", "action": "x"})):
        said = miriad.caller(value)
        assert [error["subtype"] for error in said.to_caller] == ["error"]
        assert said.to_cli == []
    bad = {"type": "user", "message": {"role": "assistant", "content": "x"}}
    assert miriad.caller(bad).to_caller[0]["subtype"] == "error"
    assert miriad.to_cli == []
    assert miriad.closed().closes


def test_a_refused_prompt_is_no_turn_and_joins_no_queue(miriad: Transcript) -> None:
    bad = {"type": "user", "message": {"role": "assistant", "content": "x"}}
    miriad.caller(prompt("first"))
    assert [said["subtype"] for said in miriad.caller(bad).to_caller] == ["error"]
    status = miriad.caller({"type": "control", "action": "status"}).to_caller[0]
    assert (status["running"], status["queued_messages"]) == (True, 0)
    assert miriad.cli(RESULT).to_cli == []
    assert miriad.closed().closes


def test_prompts_beyond_what_may_wait_are_refused(
    miriad: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchboard, "QUEUE_LIMIT", 5000)
    miriad.caller(prompt("first"))
    told = [miriad.caller(prompt("x" * 2000)).to_caller[0] for _ in range(3)]
    assert [said["subtype"] for said in told] == ["queued", "queued", "error"]
    assert "wait for the turn to end" in told[-1]["message"]
    miriad.cli(RESULT)
    assert len(miriad.to_cli[0]["message"]["content"]) == 4002
    assert miriad.caller(prompt("x" * 2000)).to_caller[0]["position"] == 1


def test_the_end_of_input_lets_the_turn_and_the_queue_be_done(miriad: Transcript) -> None:
    miriad.caller(prompt("first"))
    miriad.caller(prompt("next"))
    assert not miriad.closed().closes
    assert not miriad.cli(RESULT).closes
    assert miriad.cli(RESULT).closes
    idle = Transcript(StdioBridge(MIRIAD, CLAUDE))
    assert idle.closed().closes


ASKS: dict[str, tuple[JSON, JSON]] = {
    "permission": (
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
        {"behavior": "deny", "message": CALLER_GONE},
    ),
    "hook": (
        {"subtype": "hook_callback", "callback_id": "c", "input": {"hook_event_name": "PreToolUse"}},
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": CALLER_GONE,
            }
        },
    ),
    "form": ({"subtype": "elicitation", "mcp_server_name": "m", "message": "?"}, {"action": "cancel"}),
    "dialog": ({"subtype": "request_user_dialog", "dialog_kind": "d"}, {"behavior": "cancelled"}),
}


NO_PROMPTS: list[tuple[JSON, str]] = [
    ({}, "needs message.content"),
    ({"message": "hi"}, "needs message.content"),
    ({"message": {"role": "user"}}, "needs message.content"),
    ({"message": {"role": "user", "content": 42}}, "needs message.content"),
    ({"message": {"role": "user", "content": []}}, "needs message.content"),
    ({"message": {"role": "user", "content": ""}}, "needs message.content"),
    ({"message": {"role": "user", "content": [{"type": "text", "text": 5}]}}, "needs message.content"),
    ({"message": {"role": "user", "content": [42]}}, "not 42"),
    ({"message": {"role": "user", "content": [{"type": "zzz"}]}}, "not zzz"),
    ({"message": {"role": "user", "content": [{}]}}, "not no type"),
    ({"message": {"role": "user", "content": [{"type": "tool_use", "name": "Bash"}]}}, "not tool_use"),
]


@pytest.mark.parametrize(("body", "words"), NO_PROMPTS, ids=str)
def test_a_prompt_about_nothing_begins_no_turn(miriad: Transcript, body: JSON, words: str) -> None:
    (said,) = miriad.caller({"type": "user", **body}).to_caller
    assert said["subtype"] == "error"
    assert words in said["message"]
    assert miriad.to_cli == []
    assert miriad.closed().closes


def test_a_prompt_about_nothing_is_refused_over_json_rpc() -> None:
    rpc = Transcript(StdioBridge(JSON_RPC, CLAUDE))
    params = {"message": {"role": "user", "content": [{"type": "zzz"}]}}
    (said,) = rpc.caller({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params}).to_caller
    assert (said["id"], "zzz" in said["error"]["message"], rpc.to_cli) == (1, True, [])


def test_a_prompt_of_a_picture_alone_is_one(miriad: Transcript) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    assert miriad.caller(prompt([image])).to_cli[-1] == prompt([image])


def test_a_request_that_spec_1_has_no_word_for_fails(miriad: Transcript) -> None:
    asked = {"type": "control_request", "request_id": "r", "request": {"subtype": "brand_new"}}
    (said,) = miriad.cli(asked).to_cli
    assert (said["response"]["subtype"], "brand_new" in said["response"]["error"]) == ("error", True)
    assert miriad.to_caller == []
    (said,) = miriad.caller(asked).to_caller
    assert "brand_new" in said["response"]["error"]
    assert miriad.to_cli == []


def test_an_interrupt_of_nothing_is_a_success_over_json_rpc() -> None:
    rpc = Transcript(StdioBridge(JSON_RPC, CLAUDE))
    (said,) = rpc.caller({"jsonrpc": "2.0", "id": 7, "method": "interrupt"}).to_caller
    assert said == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert rpc.to_cli == []
    rpc.caller({"jsonrpc": "2.0", "id": 8, "method": "run", "params": {"prompt": "hi"}})
    (said,) = rpc.cli(FAILED).to_caller
    assert said["error"]["code"] == -32000


@pytest.mark.parametrize("asks", ASKS)
@SPOKEN
def test_a_caller_that_goes_denies_what_it_was_asked(spoken: Dialect, asks: str) -> None:
    request, denial = ASKS[asks]
    here = Transcript(StdioBridge(spoken, CLAUDE))
    here.bridge.on_caller_line(line(prompt("go")))
    for name in ("answered", "taken-back", "open"):
        here.cli({"type": "control_request", "request_id": name, "request": request})
        assert len(here.to_caller) == 1
    here.caller({"type": "control_response", "response": {"subtype": "success", "request_id": "answered"}})
    here.cli({"type": "control_cancel_request", "request_id": "taken-back"})
    here.closed()
    assert [said["response"] for said in here.to_cli] == [
        {"subtype": "success", "request_id": "open", "response": denial}
    ]
    assert not here.closes
    here.cli({"type": "control_request", "request_id": "late", "request": request})
    assert [said["response"]["response"] for said in here.to_cli] == [denial]
    assert here.to_caller == []
    assert here.cli(RESULT).closes


def test_what_has_no_denial_fails_when_the_caller_goes(miriad: Transcript) -> None:
    request = {"subtype": "mcp_message", "server_name": "m", "message": {}}
    miriad.cli({"type": "control_request", "request_id": "r", "request": request})
    (said,) = miriad.closed().to_cli
    assert said["response"] == {"subtype": "error", "request_id": "r", "error": CALLER_GONE}


def test_a_relayed_cli_denies_by_itself(relay: Transcript) -> None:
    relay.cli({"type": "control_request", "request_id": "r", "request": ASKS["permission"][0]})
    assert (relay.closed().to_cli, relay.closes) == ([], True)


@pytest.mark.parametrize(
    ("ended", "how"),
    [(Ended("exited", 3), "exited with code 3"), (Ended("exited", None, "SIGKILL"), "was ended by SIGKILL")],
)
def test_a_cli_that_dies_in_a_turn_is_an_error_and_a_result(
    miriad: Transcript, ended: Ended, how: str
) -> None:
    miriad.caller(prompt("first"))
    moves = miriad.bridge.on_exit(ended)
    error, result = objects(moves.to_caller)
    text = f"the agent {how} in the middle of a turn"
    assert (error["subtype"], error["message"]) == ("error", text)
    assert (result["subtype"], result["is_error"], result["result"]) == ("error", True, text)
    assert moves.seen == [ended]
    assert miriad.bridge.on_exit(ended).to_caller == []


def test_what_happens_is_told_to_who_watches(miriad: Transcript) -> None:
    kinds = [type(item) for item in miriad.bridge.on_caller_line(line(prompt("hi"))).seen]
    kinds += [type(item) for item in miriad.bridge.on_cli_line(line(RESULT)).seen]
    assert kinds == [Sent, Sent, Received]


@SPOKEN
def test_a_line_of_the_caller_that_is_too_long_to_be_read_is_refused(spoken: Dialect) -> None:
    bridge = StdioBridge(spoken, CLAUDE)
    head = b'{"jsonrpc":"2.0","id":"a","method":"run","params":{"prompt":"xxx'
    assert bridge.on_caller_piece(head) == BridgeOutput()
    refused = bridge.on_caller_overlong(OversizeLine(3, 5000, head))
    (said,) = objects(refused.to_caller)
    text = "a line of yours is not taken: line 3 has 5000 bytes, beyond the limit"
    if spoken is JSON_RPC:
        assert (said["id"], said["error"]["message"]) == ("a", text)
    else:
        assert (said["subtype"], said["message"]) == ("error", text)
    assert refused.to_cli == []


@pytest.mark.parametrize("head", [b'{"duration_api_ms":1,"result":"xx', b'{"type":"result","result":"xx'])
@SPOKEN
def test_a_result_that_is_too_long_to_be_read_ends_its_turn(spoken: Dialect, head: bytes) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    here.bridge.on_caller_line(line(prompt("first")))
    assistant = here.bridge.on_cli_overlong(OversizeLine(3, 5000, b'{"type":"assistant","message":{'))
    assert len(assistant.to_caller) == 1
    assert "line 3 has 5000 bytes" in str(assistant.to_caller)
    lost = objects(here.bridge.on_cli_overlong(OversizeLine(4, 6000, head)).to_caller)
    assert len(lost) == 2
    assert "is_error" in str(lost[1])
    assert here.closed().closes


@SPOKEN
def test_a_request_that_is_too_long_to_be_read_fails(spoken: Dialect) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    asked = b'{"type":"control_request","request_id":"r","request":{"input":"xx'
    (said,) = objects(here.bridge.on_cli_overlong(OversizeLine(4, 6000, asked)).to_cli)
    assert (said["response"]["request_id"], said["response"]["subtype"]) == ("r", "error")


# A caller of JSON-RPC


def test_every_run_is_answered_with_the_result_of_the_turn_that_heard_it() -> None:
    rpc = Transcript(StdioBridge(JSON_RPC, CLAUDE))

    def run(number: int, text: str) -> Transcript:
        return rpc.caller({"jsonrpc": "2.0", "id": number, "method": "run", "params": {"prompt": text}})

    assert run(1, "a").to_cli[-1] == prompt("a")
    assert run(2, "b").to_caller[0]["params"]["subtype"] == "queued"
    rpc.cli(HOOK)
    run(3, "c")
    run(4, "d")
    answered = [said["id"] for said in rpc.cli(RESULT).to_caller if "id" in said]
    assert answered == [1, 2]
    answered = [said["id"] for said in rpc.cli(RESULT).to_caller if "id" in said]
    assert answered == [3, 4]


def test_every_run_is_answered_when_the_cli_dies() -> None:
    rpc = Transcript(StdioBridge(JSON_RPC, CLAUDE))
    for number in (1, 2, 3):
        rpc.caller({"jsonrpc": "2.0", "id": number, "method": "run", "params": {"prompt": "hi"}})
    said = objects(rpc.bridge.on_exit(Ended("exited", 3)).to_caller)
    assert [(row["id"], row["error"]["code"]) for row in said if "id" in row] == [
        (1, -32000),
        (2, -32000),
        (3, -32000),
    ]


def introduction(spoken: Dialect, body: JSON, number: int = 1) -> JSON:
    if spoken is JSON_RPC:
        return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": body}
    request = {"subtype": "initialize", **body}
    return {"type": "control_request", "request_id": str(number), "request": request}


def answered(said: JSON) -> Any:
    """What an introduction is answered, or the words of its refusal."""
    if "response" in said:
        return said["response"].get("response") or said["response"]["error"]
    return said["result"] if "result" in said else said["error"]["message"]


def greeted(here: Transcript, **body: Any) -> Transcript:
    return here.cli(
        {"type": "control_response", "response": {"subtype": "success", "request_id": OUR_GREETING, **body}}
    )


@SPOKEN
def test_what_a_caller_introduces_itself_with_is_merged_with_our_hook(spoken: Dialect) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    own = {"matcher": "Bash", "hookCallbackIds": ["mine"], "onFailure": "block"}
    body = {
        "hooks": {"PreToolUse": [own], "PostToolUse": [own]},
        "sdkMcpServers": ["calc"],
        "systemPrompt": "Be brief.",
        "brandNew": {"x": 1},
    }
    (said,) = here.caller(introduction(spoken, body)).to_cli
    ours = {"matcher": None, "hookCallbackIds": [OUR_HOOK]}
    assert said["request"] == {
        **body,
        "subtype": "initialize",
        "hooks": {"PreToolUse": [own], "PostToolUse": [own, ours], "PostToolUseFailure": [ours]},
    }
    assert here.to_caller == []
    (said,) = greeted(here, response={"commands": []}).to_caller
    told = answered(said)
    assert told["commands"] == []
    assert told["turnwire"]["not_carried"] == spoken.untold
    assert here.caller(prompt("hi")).to_cli == [prompt("hi")]
    asked = {
        "subtype": "hook_callback",
        "callback_id": "mine",
        "input": {"hook_event_name": "PreToolUse"},
        "new": 1,
    }
    (said,) = here.cli({"type": "control_request", "request_id": "h", "request": asked}).to_caller
    request = {"subtype": said["method"], **said["params"]} if spoken is JSON_RPC else said["request"]
    assert request == asked


@SPOKEN
def test_an_introduction_that_cannot_hold_is_refused_by_name(spoken: Dialect) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    taken: JSON = {"hooks": {"Stop": [{"hookCallbackIds": [OUR_HOOK]}]}}
    for body, words in (
        (taken, OUR_HOOK),
        ({"hooks": "x"}, "hooks must be"),
        ({"hooks": {"Stop": 1}}, "hooks must be"),
    ):
        (said,) = here.caller(introduction(spoken, body)).to_caller
        assert words in answered(said)
        assert here.to_cli == []
    here.caller(prompt("hi"))
    late: JSON = {"hooks": {"Stop": []}, "systemPrompt": "x", "agents": None, "title": ""}
    (said,) = here.caller(introduction(spoken, late)).to_caller
    assert answered(said).startswith("initialize: hooks, systemPrompt came too late")
    assert here.to_cli == []


@SPOKEN
def test_an_introduction_that_the_cli_refuses_is_refused_and_may_be_sent_again(spoken: Dialect) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    here.caller(introduction(spoken, {"agents": {"a": 1}}))
    refused = {"subtype": "error", "request_id": OUR_GREETING, "error": "no such agent"}
    (said,) = here.cli({"type": "control_response", "response": refused}).to_caller
    assert answered(said) == "no such agent"
    (again,) = here.caller(introduction(spoken, {}, number=2)).to_cli
    assert again["request"]["subtype"] == "initialize"


@SPOKEN
def test_an_introduction_of_nothing_is_asked_of_the_cli_once(spoken: Dialect) -> None:
    here = Transcript(StdioBridge(spoken, CLAUDE))
    here.caller(introduction(spoken, {}))
    assert here.to_caller == []
    (first,) = greeted(here, response={"commands": []}).to_caller
    (second,) = here.caller(introduction(spoken, {}, number=2)).to_caller
    assert answered(first) == answered(second)
    assert here.to_cli == []


@SPOKEN
def test_what_a_dialect_is_said_not_to_carry_is_what_it_leaves_out(spoken: Dialect) -> None:
    """Of every message that Claude Code has: either there are words for it, or the table names it."""
    agent = spoken.agent()
    lines = {
        kind: agent.write(kind(*(["r"] if "own_id" in kind.__struct_fields__ else []))).lines
        for kind in get_args(Message)
        if kind not in (Unknown, Malformed, System, User, Assistant, ControlResponse)
    }
    left_out = {kind.__struct_config__.tag for kind, said in lines.items() if not said}
    assert left_out == {name for name, fate in spoken.untold.items() if fate.startswith("left out")} & {
        kind.__struct_config__.tag for kind in lines
    }


def test_the_table_of_the_manual_is_what_the_answer_to_an_introduction_says() -> None:
    rows = [
        f"| `{dialect.name}`, {whom} | `{name}` | {fate} |"
        for dialect in (MIRIAD, JSON_RPC)
        for whom, lost in (("to a caller", dialect.untold), ("to an agent", dialect.untaken))
        for name, fate in lost.items()
    ]
    manual = (ROOT / "docs" / "stdio.md").read_text()
    assert [row for row in manual.splitlines() if ", to a" in row] == rows


# An agent underneath that is not Claude Code


def test_a_claude_caller_over_a_miriad_agent() -> None:
    mixed = Transcript(StdioBridge(CLAUDE, MIRIAD))
    greeting = {"type": "control_request", "request_id": "g", "request": {"subtype": "initialize"}}
    (answer,) = mixed.caller(greeting).to_caller
    told = {"turnwire": {"not_carried": dict(MIRIAD.untaken)}}
    assert answer["response"] == {"subtype": "success", "request_id": "g", "response": told}
    assert mixed.caller(prompt("hi")).to_cli == [prompt("hi")]
    assert mixed.caller(prompt("more")).to_cli == [prompt("more")]
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    (user,) = mixed.cli({"type": "system", "subtype": "tool_result", "tool_result": result}).to_caller
    assert user["message"]["content"] == [result]
    interrupt = {"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}
    assert mixed.caller(interrupt).to_cli == [{"type": "control", "action": "interrupt"}]


@pytest.mark.parametrize("agent", [MIRIAD, JSON_RPC], ids=["miriad", "json_rpc"])
def test_an_agent_that_takes_no_introduction_has_what_is_in_it_refused_by_name(agent: Dialect) -> None:
    mixed = Transcript(StdioBridge(CLAUDE, agent))
    body = {"hooks": {"Stop": [{"hookCallbackIds": ["a"]}]}, "supportedDialogKinds": ["x"], "brandNew": 1}
    (said,) = mixed.caller(introduction(CLAUDE, body)).to_caller
    assert answered(said) == f"initialize: an agent of the dialect {agent.name} takes no hooks, brandNew"
    (said,) = mixed.caller(introduction(CLAUDE, {"hooks": None, "supportedDialogKinds": ["x"]})).to_caller
    assert answered(said)["turnwire"]["not_carried"] == agent.untaken
    assert mixed.to_cli == []
