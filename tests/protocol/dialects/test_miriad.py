import json

import pytest

from turnwire.protocol.claude.blocks import (
    AnyBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ResponseBody,
    failure,
    success,
)
from turnwire.protocol.claude.encode import EncodeError
from turnwire.protocol.claude.messages import (
    Assistant,
    AssistantBody,
    Message,
    StreamEvent,
    Unknown,
    User,
    UserBody,
)
from turnwire.protocol.claude.requests import (
    CanUseTool,
    GetStatus,
    Initialize,
    Interrupt,
    SetModel,
    UnknownRequest,
)
from turnwire.protocol.claude.results import Result, ResultText
from turnwire.protocol.claude.system import Init, Status
from turnwire.protocol.dialects import MIRIAD, AgentPeer
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import Queued, SystemFailure


def lines(written: list[bytes]) -> list[Json]:
    return [json.loads(line) for line in written]


def assistant(*blocks: AnyBlock) -> Assistant:
    return Assistant(
        message=AssistantBody(id="msg", content=[*blocks], model="m", usage=Usage(1, 2)), uuid="u"
    )


# The host: we drive a miriad agent


def test_initialize_succeeds_without_a_word() -> None:
    exchange = MIRIAD.host().write(ControlRequest("r", Initialize()))
    assert (exchange.messages, exchange.lines) == ([success("r", {})], [])


def test_an_interrupt_succeeds_as_soon_as_it_is_said() -> None:
    exchange = MIRIAD.host().write(ControlRequest("r", Interrupt()))
    assert exchange.messages == [success("r")]
    assert lines(exchange.lines) == [{"type": "control", "action": "interrupt"}]


def test_a_status_request_is_answered_by_the_agents_status() -> None:
    host = MIRIAD.host()
    assert host.write(ControlRequest("r1", GetStatus())).messages == []
    told = b'{"type":"system","subtype":"status","running":true,"session_id":"s","queued_messages":2}'
    status = Status(running=True, session_id="s", queued_messages=2)
    assert host.read(told).messages == [
        status,
        success("r1", {"running": True, "session_id": "s", "queued_messages": 2}),
    ]
    host.write(ControlRequest("lost", GetStatus()))
    host.write(ControlRequest("r2", GetStatus()))
    idle = Status(running=False)
    assert host.read(b'{"type":"system","subtype":"status","running":false}').messages == [
        idle,
        success("lost", {"running": False}),
        success("r2", {"running": False}),
    ]
    assert host.read(told).messages == [status]


def test_a_status_that_says_something_else_answers_nothing() -> None:
    host = MIRIAD.host()
    host.write(ControlRequest("r", GetStatus()))
    assert host.read(b'{"type":"system","subtype":"status","status":"compacting"}').messages == [
        Status(status="compacting")
    ]
    assert host.read(b'{"type":"system","subtype":"status","queued_messages":0}').messages == [
        Status(queued_messages=0),
        success("r", {"queued_messages": 0}),
    ]


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (SetModel(model="m"), "the miriad dialect has no set_model"),
        (UnknownRequest({}), "the miriad dialect has no such request"),
    ],
)
def test_a_request_that_the_dialect_lacks_fails_at_once(
    request_: SetModel | UnknownRequest, reason: str
) -> None:
    exchange = MIRIAD.host().write(ControlRequest("r", request_))
    assert (exchange.messages, exchange.lines) == ([failure("r", reason)], [])


def test_an_answer_has_nobody_to_go_to() -> None:
    exchange = MIRIAD.host().write(success("r"))
    assert (exchange.messages, exchange.lines) == ([], [])


def test_a_prompt_keeps_only_what_the_dialect_knows() -> None:
    prompt = User(message=UserBody(content="hi"), uuid="u", priority="now", session_id="s")
    assert lines(MIRIAD.host().write(prompt).lines) == [
        {"type": "user", "message": {"role": "user", "content": "hi"}, "session_id": "s"}
    ]


@pytest.mark.parametrize(
    "message", [Init(), ControlCancelRequest("r"), User(message=UserBody(role="system"))], ids=repr
)
def test_what_a_miriad_agent_does_not_take_is_refused(message: Message) -> None:
    with pytest.raises(EncodeError):
        MIRIAD.host().write(message)


# The agent: we stand in for one


def test_a_prompt_that_is_not_taken_is_told_in_words() -> None:
    (line,) = MIRIAD.agent().refuse(User(message=UserBody(content="hi")), "no room").lines
    (message,) = MIRIAD.host().read(line.rstrip()).messages
    assert message == SystemFailure(message="no room")


def test_each_control_line_becomes_a_request_of_its_own() -> None:
    agent = MIRIAD.agent()
    assert agent.read(b'{"type":"control","action":"status"}').messages == [
        ControlRequest("control-1", GetStatus())
    ]
    assert agent.read(b'{"type":"control","action":"status"}').messages == [
        ControlRequest("control-2", GetStatus())
    ]


def test_the_answer_to_a_status_request_is_a_system_message() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"status"}')
    answer = success("control-1", {"running": False, "session_id": "s", "queued_messages": 0})
    assert lines(agent.write(answer).lines) == [
        {"type": "system", "subtype": "status", "running": False, "session_id": "s", "queued_messages": 0}
    ]
    assert agent.write(answer).lines == []


def test_a_status_without_content_is_still_told() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"status"}')
    assert lines(agent.write(success("control-1")).lines) == [{"type": "system", "subtype": "status"}]
    agent.read(b'{"type":"control","action":"status"}')
    odd = ControlResponse(response=ResponseBody(subtype="success", request_id="control-2", response=[1]))
    assert lines(agent.write(odd).lines) == [{"type": "system", "subtype": "status"}]


def test_a_good_answer_to_an_interrupt_needs_no_line_and_a_bad_one_is_an_error() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"interrupt"}')
    assert agent.write(success("control-1")).lines == []
    assert lines(agent.write(failure("control-1", "no")).lines) == [
        {"type": "system", "subtype": "error", "message": "no"}
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"type":"control","action":"explode"}', "unknown action: explode"),
        (b'{"type":"control"}', "unknown action: none"),
        (b'{"type":"explode"}', "unknown type: explode"),
        (b"{}", "unknown type: none"),
        (b"", "not a message: blank line"),
    ],
)
def test_what_the_host_gets_wrong_is_told_to_it(line: bytes, error: str) -> None:
    assert lines(MIRIAD.agent().read(line).lines) == [
        {"type": "system", "subtype": "error", "message": error}
    ]


def test_what_the_host_gets_wrong_is_a_message_too() -> None:
    assert MIRIAD.agent().read(b'{"type":"x"}').messages == [Unknown({"type": "x"})]
    assert MIRIAD.agent().read(b"").messages == [Malformed("", "blank line")]


def test_the_official_control_protocol_passes_through() -> None:
    agent = MIRIAD.agent()
    answer = b'{"type":"control_response","response":{"subtype":"success","request_id":"x","response":{}}}'
    assert agent.read(answer).messages == [success("x", {})]
    assert agent.write(success("x", {})).lines == [answer + b"\n"]
    asked = ControlRequest("x", Interrupt())
    (line,) = agent.write(asked).lines
    assert agent.read(line).messages == [asked]
    assert agent.write(asked, b'{"raw":1}').lines == [b'{"raw":1}\n']


def test_reasoning_and_partial_messages_have_no_word() -> None:
    agent = MIRIAD.agent()
    assert agent.write(assistant(ThinkingBlock("hm"))).lines == []
    assert agent.write(StreamEvent()).lines == []
    assert lines(agent.write(assistant(ThinkingBlock("hm"), TextBlock("hi"))).lines) == [
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "model": "m"},
        }
    ]


def test_tool_results_are_system_messages_one_each_and_echoes_are_none() -> None:
    user = User(
        message=UserBody(
            content=[ToolResultBlock("a", "1"), TextBlock("x"), ToolResultBlock("b", None, True)]
        ),
        session_id="s",
    )
    assert lines(MIRIAD.agent().write(user).lines) == [
        {
            "type": "system",
            "subtype": "tool_result",
            "session_id": "s",
            "tool_result": {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        },
        {
            "type": "system",
            "subtype": "tool_result",
            "session_id": "s",
            "tool_result": {"type": "tool_result", "tool_use_id": "b", "is_error": True},
        },
    ]
    assert MIRIAD.agent().write(User(message=UserBody(content="hi"), is_replay=True)).lines == []


@pytest.mark.parametrize(
    ("result", "subtype", "text"),
    [
        (Result(subtype="success", is_error=False, result="ok"), "success", "ok"),
        (Result(subtype="success", is_error=False, result=ResultText("ok")), "success", "ok"),
        (Result(subtype="success", is_error=True, result="API error"), "error", "API error"),
        (Result(subtype="error_max_turns", is_error=True, errors=["a", "b"]), "error", "a\nb"),
        (Result(subtype="error_during_execution", is_error=False), "error", None),
        (Result(subtype="cancelled", is_error=False), "cancelled", None),
    ],
)
def test_a_turn_ends_as_success_error_or_cancelled(result: Result, subtype: str, text: str | None) -> None:
    *errors, line = lines(MIRIAD.agent().write(result).lines)
    # a CLI tells a failed call of the API by a success that is an error
    failed = result.subtype == "success" and subtype == "error"
    assert errors == [{"type": "system", "subtype": "error", "message": text}] * failed
    assert (line["subtype"], line["is_error"], line.get("result")) == (subtype, subtype == "error", text)
    assert (line["duration_ms"], line["num_turns"]) == (0, 0)


def test_a_turn_that_an_interrupt_broke_off_is_cancelled_and_the_next_one_is_not() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"interrupt"}')
    assert agent.write(success("control-1")).lines == []
    broken = Result(subtype="error_during_execution", is_error=True)
    assert [lines(agent.write(broken).lines)[0]["subtype"] for _ in range(2)] == ["cancelled", "error"]


def test_a_turn_that_ends_well_in_spite_of_an_interrupt_is_a_success() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"interrupt"}')
    agent.write(success("control-1"))
    (line,) = lines(agent.write(Result(subtype="success", is_error=False)).lines)
    assert line["subtype"] == "success"


def test_an_interrupt_of_nothing_says_nothing_and_cancels_no_later_turn() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"interrupt"}')
    assert agent.write(failure("control-1", "no turn runs")).lines == []
    (line,) = lines(agent.write(Result(subtype="error_during_execution", is_error=True)).lines)
    assert line["subtype"] == "error"


def test_a_turn_that_was_interrupted_says_nothing_of_the_clis_diagnostics() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"control","action":"interrupt"}')
    agent.write(success("control-1"))
    broken = Result(
        subtype="error_during_execution", is_error=True, errors=["[ede_diagnostic] result_type=user", "Boom"]
    )
    cancelled, failed = (lines(agent.write(broken).lines)[0] for _ in range(2))
    assert "result" not in cancelled
    assert failed["result"] == "Boom"


def call(message_id: str | None, parent: str | None = None) -> Assistant:
    body = AssistantBody(id=message_id, content=[ToolUseBlock("t", "read", {})], model="m")
    return Assistant(message=body, parent_tool_use_id=parent)


@pytest.mark.parametrize(
    ("said", "cycles"),
    [
        ([assistant(TextBlock("hi"))], 0),
        ([call("a")], 1),
        ([call("a"), call("a")], 1),
        ([call("a"), call("b")], 2),
        ([call(None), call(None)], 2),
        ([call("a"), call("b", parent="t")], 1),
    ],
)
def test_the_turns_of_a_result_are_its_cycles_of_tool_use(said: list[Assistant], cycles: int) -> None:
    agent = MIRIAD.agent()
    for message in said:
        agent.write(message)
    good = Result(subtype="success", is_error=False, num_turns=7)
    assert [lines(agent.write(good).lines)[0]["num_turns"] for _ in range(2)] == [cycles, 0]


def test_the_session_is_the_one_that_the_callers_prompt_names() -> None:
    agent = MIRIAD.agent()
    good = Result(subtype="success", is_error=False, top_session_id="of-the-cli")
    told: list[Message] = [
        Queued(position=1, session_id="of-the-cli"),
        User(message=UserBody(content=[ToolResultBlock("a", "1")]), session_id="of-the-cli"),
        good,
    ]
    agent.read(b'{"type":"user","message":{"role":"user","content":"hi"},"session_id":"sess_1"}')
    assert {lines(agent.write(message).lines)[0]["session_id"] for message in told} == {"sess_1"}
    agent.read(b'{"type":"control","action":"status"}')
    (status,) = lines(agent.write(success("control-1", {"running": False, "session_id": "of-the-cli"})).lines)
    assert status["session_id"] == "sess_1"
    agent.read(b'{"type":"user","message":{"role":"user","content":"hi"},"session_id":""}')
    assert lines(agent.write(good).lines)[0]["session_id"] == "of-the-cli"


def test_a_status_that_the_agent_tells_by_itself_is_told_once() -> None:
    host, agent = MIRIAD.host(), MIRIAD.agent()
    for _ in range(2):
        (asked,) = agent.read(b'{"type":"control","action":"status"}').messages
        host.write(asked)
    told = b'{"type":"system","subtype":"status","running":true,"queued_messages":2}'
    said = [
        line for _ in range(2) for message in host.read(told).messages for line in agent.write(message).lines
    ]
    assert said == [told + b"\n"] * 2


def test_metadata_passes_through() -> None:
    assert MIRIAD.agent().write(Queued(position=1)).lines == [
        b'{"type":"system","subtype":"queued","position":1}\n'
    ]
    assert MIRIAD.agent().write(Init(), b'{"whole":1}').lines == [b'{"whole":1}\n']


def test_what_one_end_writes_the_other_reads() -> None:
    host, agent = MIRIAD.host(), MIRIAD.agent()
    for message in (
        assistant(TextBlock("hi")),
        User(message=UserBody(content=[ToolResultBlock("a", "1")])),
        Result(
            subtype="success",
            is_error=False,
            num_turns=1,
            duration_ms=5,
            result="ok",
            top_session_id="s",
            usage=Usage(1, 2),
        ),
        Queued(position=1),
    ):
        (line,) = agent.write(message).lines
        (again,) = host.read(line).messages
        assert agent.write(again).lines == [line]


def in_turn() -> AgentPeer:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"user","message":{"role":"user","content":"go"},"session_id":"mine"}')
    return agent


def said_blocks(written: list[bytes]) -> list[list[str]]:
    return [[block["type"] for block in line["message"]["content"]] for line in lines(written)]


def test_text_and_call_of_one_message_are_one_line() -> None:
    agent = in_turn()
    assert agent.write(assistant(TextBlock("I read."))).lines == []
    assert agent.write(StreamEvent()).lines == []
    assert agent.write(assistant(ThinkingBlock("hm"))).lines == []
    (line,) = lines(agent.write(assistant(ToolUseBlock("c1", "Read", {}))).lines)
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    assert line["message"] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "I read."}, call],
        "model": "m",
    }
    # it runs meanwhile: who watches sees the next one at once
    assert said_blocks(agent.write(assistant(ToolUseBlock("c2", "Read", {}))).lines) == [["tool_use"]]


@pytest.mark.parametrize(
    "next_",
    [
        Assistant(message=AssistantBody(id="other", content=[ToolUseBlock("c", "Read", {})])),
        Assistant(
            message=AssistantBody(id="msg", content=[ToolUseBlock("c", "Read", {})]), parent_tool_use_id="p"
        ),
        Result(subtype="success", is_error=False),
        User(message=UserBody(content=[ToolResultBlock("a", "1")])),
        ControlRequest("r", CanUseTool()),
        SystemFailure(message="x"),
        Init(),
    ],
    ids=lambda message: type(message).__name__,
)
def test_text_that_waits_is_told_before_what_is_not_of_its_message(next_: Message) -> None:
    agent = in_turn()
    agent.write(assistant(TextBlock("Hello.")))
    first, second = lines(agent.write(next_).lines)
    assert first["message"]["content"] == [{"type": "text", "text": "Hello."}]
    assert "id" not in first["message"]
    assert "Hello." not in json.dumps(second)


def test_what_nothing_has_to_follow_is_told_at_once() -> None:
    agent = in_turn()
    agent.write(Result(subtype="success", is_error=False))
    assert said_blocks(agent.write(assistant(TextBlock("Late."))).lines) == [["text"]]
    agent.write(Init())
    assert agent.write(assistant(TextBlock("A turn of its own."))).lines == []
    nameless = Assistant(message=AssistantBody(content=[TextBlock("x")]))
    assert said_blocks(agent.write(nameless).lines) == [["text"], ["text"]]


def test_a_failed_call_of_the_api_is_an_error_in_words_once() -> None:
    agent = in_turn()
    failed = Assistant(
        message=AssistantBody(id="e", content=[TextBlock("API Error: 403")], model="<synthetic>"),
        error_kind="invalid_request",
    )
    assert lines(agent.write(failed).lines) == [
        {"type": "system", "subtype": "error", "message": "API Error: 403"}
    ]
    result = Result(subtype="success", is_error=True, result="API Error: 403")
    (line,) = lines(agent.write(result).lines)
    assert (line["subtype"], line["result"]) == ("error", "API Error: 403")
    told, line = lines(agent.write(result).lines)
    assert (told["message"], line["subtype"]) == ("API Error: 403", "error")


def test_the_callers_session_id_stands_in_system_lines_too() -> None:
    agent = in_turn()
    line = b'{"type":"system","subtype":"init","session_id":"its-own","new":[1]}'
    assert lines(agent.write(Init(session_id="its-own"), line).lines) == [
        {
            "type": "system",
            "subtype": "init",
            "session_id": "mine",
            "new": [1],
            "cli_session_id": "its-own",
        }
    ]
    nobody = MIRIAD.agent()
    assert nobody.write(Init(session_id="its-own"), line).lines == [line + b"\n"]


def test_a_control_request_that_is_none_is_answered() -> None:
    told = MIRIAD.agent().read(b'{"type":"control_request","request_id":"r","request":{"subtype":"explode"}}')
    assert told.messages == []
    assert lines(told.lines)[0]["response"] == {
        "subtype": "error",
        "request_id": "r",
        "error": "the miriad-code protocol has no control request explode",
    }


def test_text_waits_for_no_call_once_nothing_has_come_for_a_while() -> None:
    agent = MIRIAD.agent()
    agent.read(b'{"type":"user","message":{"role":"user","content":"hello"},"session_id":"s"}')
    body = AssistantBody(id="m-1", content=[TextBlock("I look.")])
    assert agent.write(Assistant(message=body)).lines == []
    (told,) = lines(agent.pause())
    assert told["message"]["content"] == [{"type": "text", "text": "I look."}]
    assert agent.pause() == []
