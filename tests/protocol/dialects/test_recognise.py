import pytest

from cases import for_each
from recordings import Recording, recordings
from turnwire.protocol.claude.blocks import ToolResultBlock
from turnwire.protocol.claude.control import ControlRequest, success
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User, UserBody
from turnwire.protocol.claude.requests import Initialize, Interrupt
from turnwire.protocol.dialects import AUTOMATIC, recognise
from turnwire.protocol.miriad.system import SystemFailure

PROMPT = User(message=UserBody(content="hi"))
TOOL_RESULT = b'{"type":"system","subtype":"tool_result","tool_result":{"type":"tool_result","tool_use_id":"t","content":"x"}}'
EITHER = b'{"type":"assistant","message":{"role":"assistant","content":[],"model":"m"}}'


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([], None),
        ([EITHER, b"", b"not json"], None),
        ([EITHER, TOOL_RESULT], "miriad"),
        ([b'{"type":"system","subtype":"queued","position":1}'], "miriad"),
        ([b'{"type":"control","action":"status"}'], "miriad"),
        ([b'{"type":"result","subtype":"cancelled"}'], "miriad"),
        ([b'{"type":"result","subtype":"success"}'], None),
        ([b'{"type":"result","subtype":"success","uuid":"u"}'], "claude"),
        ([b'{"type":"system","subtype":"init"}'], "claude"),
        ([b'{"type":"control_response","response":{}}'], "claude"),
        ([b'{"type":"assistant","uuid":"u","message":{"content":[]}}'], "claude"),
        ([b'{"jsonrpc":"2.0","method":"assistant","params":{}}'], "json_rpc"),
        ([b' [{"jsonrpc":"2.0"}]'], "json_rpc"),
    ],
)
def test_a_dialect_is_told_by_the_first_line_that_only_it_has(lines: list[bytes], name: str | None) -> None:
    assert recognise(lines) == name


@for_each("recording", recordings())
def test_every_recording_that_says_anything_is_claude(recording: Recording) -> None:
    assert recognise(recording.received()) == ("claude" if recording.stdout.strip() else None)


def test_an_automatic_host_reads_miriad_before_and_after_it_knows() -> None:
    host = AUTOMATIC.host()
    host.read(EITHER)
    assert host.write(PROMPT).lines == [b'{"type":"user","message":{"role":"user","content":"hi"}}\n']
    assert host.read(TOOL_RESULT).messages == [User(message=UserBody(content=[ToolResultBlock("t", "x")]))]
    assert host.write(ControlRequest("r", Interrupt())).lines == [
        b'{"type":"control","action":"interrupt"}\n'
    ]


def test_an_automatic_host_speaks_claude_until_it_knows_better() -> None:
    assert b"control_request" in AUTOMATIC.host().write(ControlRequest("r", Interrupt())).lines[0]


def test_an_automatic_agent_answers_in_the_dialect_it_heard() -> None:
    agent = AUTOMATIC.agent()
    assert agent.read(b'{"jsonrpc":"2.0","id":1,"method":"run","params":["hi"]}').messages == [PROMPT]
    assert b'"jsonrpc"' in agent.read(b"not json").lines[0]
    assert b"no room" in agent.refuse(PROMPT, "no room").lines[0]


def test_what_was_asked_before_the_dialect_was_known_is_asked_again_in_it() -> None:
    host = AUTOMATIC.host()
    host.write(ControlRequest("r", Initialize()))
    heard = host.read(b'{"type":"system","subtype":"error","message":"unknown type: control_request"}')
    assert heard.messages == [SystemFailure(message="unknown type: control_request"), success("r", {})]
    assert heard.lines == []
    assert host.read(EITHER).messages == [decode(EITHER)]


def test_what_was_asked_of_a_claude_is_not_asked_again() -> None:
    host = AUTOMATIC.host()
    host.write(ControlRequest("r", Initialize()))
    assert len(host.read(b'{"type":"system","subtype":"init"}').messages) == 1
