import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.claude.blocks import TextBlock
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ResponseBody,
    failure,
    success,
)
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, Unknown, User, UserBody
from turnwire.protocol.claude.notices import KeepAlive
from turnwire.protocol.claude.requests import (
    CanUseTool,
    GetStatus,
    Initialize,
    Interrupt,
    SetModel,
    UnknownRequest,
)
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init, UnknownSystem
from turnwire.protocol.dialects import JSON_RPC
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import Injected, SystemFailure
from turnwire.protocol.parsing.depth import TOO_DEEP

GOOD = Result(subtype="success", is_error=False, result="ok")
BAD = Result(subtype="error_during_execution", is_error=True, errors=["broken"])
HI = Assistant(message=AssistantBody(content=[TextBlock("hi")], model="m"))


def prompt(text: str) -> User:
    return User(message=UserBody(content=text))


def line(**members: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def parsed(written: list[bytes]) -> list[Json]:
    return [json.loads(row) for row in written]


def run(request_id: Json, text: str = "hi") -> bytes:
    return line(id=request_id, method="run", params={"prompt": text})


# The host: we drive an agent


def test_a_prompt_is_a_run_and_its_response_the_result() -> None:
    host = JSON_RPC.host()
    assert parsed(host.write(prompt("hi")).lines) == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "run",
            "params": {"type": "user", "message": {"role": "user", "content": "hi"}},
        }
    ]
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "ok"}
    assert host.read(line(id=1, result=result)).messages == [GOOD]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("ok", GOOD),
        ({"result": "ok"}, GOOD),
        (None, Result(subtype="success", is_error=False)),
        ({"is_error": True, "subtype": "error"}, Result(subtype="error", is_error=True)),
    ],
)
def test_a_response_that_is_less_than_a_result_is_made_one(result: Json, message: Message) -> None:
    host = JSON_RPC.host()
    host.write(prompt("hi"))
    assert host.read(line(id=1, result=result)).messages == [message]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"code": -32000, "message": "broken"}, Result(subtype="error", is_error=True, errors=["broken"])),
        ({"code": -32800, "message": "stopped"}, Result(subtype="cancelled", is_error=False)),
        ("broken", Result(subtype="error", is_error=True, errors=["error"])),
        ({"data": {"type": "result", "subtype": "error_max_turns"}}, Result(subtype="error_max_turns")),
        ({"data": {"type": "other"}, "message": "m"}, Result(subtype="error", is_error=True, errors=["m"])),
    ],
)
def test_an_error_of_a_run_is_a_result_too(error: Json, message: Message) -> None:
    host = JSON_RPC.host()
    host.write(prompt("hi"))
    assert host.read(line(id=1, error=error)).messages == [message]


def test_a_result_that_came_as_a_notification_does_not_come_again() -> None:
    host = JSON_RPC.host()
    host.write(prompt("one"))
    host.write(prompt("two"))
    told = {"type": "result", "subtype": "success", "is_error": False, "result": "ok"}
    assert host.read(line(method="result", params=told)).messages == [GOOD]
    assert host.read(line(id=1, result=told)).messages == []
    assert host.read(line(id=2, result=told)).messages == [GOOD]


def test_prompts_that_joined_the_turn_end_with_it() -> None:
    host = JSON_RPC.host()
    for text in ("one", "two", "three", "four"):
        host.write(prompt(text))
    injected = {"type": "system", "subtype": "injected", "message_count": 2}
    assert host.read(line(method="system", params=injected)).messages == [Injected(message_count=2)]
    taken = [host.read(line(id=number, result="ok")).messages for number in (1, 2, 3, 4)]
    assert taken == [[GOOD], [], [], [GOOD]]


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        (
            "assistant",
            {"type": "assistant", "message": {"content": "hi"}},
            Assistant(message=AssistantBody(content="hi")),
        ),
        ("assistant", {"message": {"content": "hi"}}, Assistant(message=AssistantBody(content="hi"))),
        (
            "message",
            {"type": "system", "subtype": "new"},
            UnknownSystem(raw={"type": "system", "subtype": "new"}),
        ),
        ("event", {"message": {"type": "keep_alive"}}, KeepAlive()),
        ("event", {"type": "brand_new"}, Unknown({"type": "brand_new"})),
    ],
)
def test_a_notification_carries_a_message(method: str, params: Json, message: Message) -> None:
    assert JSON_RPC.host().read(line(method=method, params=params)).messages == [message]


@pytest.mark.parametrize("params", [None, [1], {"x": 1}, "text"])
def test_a_notification_without_a_message_is_unknown(params: Json) -> None:
    raw = {"jsonrpc": "2.0", "method": "brand_new", "params": params}
    assert JSON_RPC.host().read(json.dumps(raw).encode()).messages == [Unknown(raw)]


def test_messages_without_an_envelope_are_read_too() -> None:
    assert JSON_RPC.host().read(b'{"type":"keep_alive"}').messages == [KeepAlive()]
    assert JSON_RPC.host().read(b"").messages == [Malformed("", "blank line")]


def test_a_batch_holds_several() -> None:
    batch = b'[{"jsonrpc":"2.0","method":"keep_alive","params":{}},{"type":"keep_alive"},5]'
    assert JSON_RPC.host().read(batch).messages == [
        KeepAlive(),
        KeepAlive(),
        Malformed("5", "not a JSON object"),
    ]
    assert JSON_RPC.host().read(b"[]").messages == [Malformed("[]", "not a JSON object")]
    assert JSON_RPC.host().read(b"[1").messages == [
        Malformed("[1", "Expecting ',' delimiter: line 1 column 3 (char 2)")
    ]


def test_control_requests_are_requests_and_responses_answer_them() -> None:
    host = JSON_RPC.host()
    assert parsed(host.write(ControlRequest("r", SetModel(model="m"))).lines) == [
        {"jsonrpc": "2.0", "id": 1, "method": "set_model", "params": {"model": "m"}}
    ]
    assert host.read(line(id=1, result={"model": "m"})).messages == [success("r", {"model": "m"})]
    host.write(ControlRequest("s", Interrupt()))
    assert host.read(line(id=2, result=None)).messages == [success("s")]
    host.write(ControlRequest("t", GetStatus()))
    assert host.read(line(id=3, error={"code": -32601, "message": "no"})).messages == [failure("t", "no")]
    host.write(ControlRequest("u", GetStatus()))
    assert host.read(line(id=4, error=None)).messages == [failure("u", "error")]


def test_initialize_succeeds_without_a_word_and_a_request_without_subtype_fails() -> None:
    exchange = JSON_RPC.host().write(ControlRequest("r", Initialize()))
    assert (exchange.messages, exchange.lines) == ([success("r", {})], [])
    exchange = JSON_RPC.host().write(ControlRequest("r", UnknownRequest({})))
    assert (exchange.messages, exchange.lines) == ([failure("r", "a control request needs a subtype")], [])


def test_a_response_that_nobody_waits_for_is_unknown() -> None:
    raw = {"jsonrpc": "2.0", "id": 7, "result": 1}
    assert JSON_RPC.host().read(json.dumps(raw).encode()).messages == [Unknown(raw)]


def test_an_error_that_belongs_to_no_request_is_a_failure_of_the_agent() -> None:
    assert JSON_RPC.host().read(line(id=None, error={"code": -32700, "message": "what?"})).messages == [
        SystemFailure(message="what?")
    ]
    assert JSON_RPC.host().read(line(error=5)).messages == [SystemFailure(message="error")]


def test_the_agent_may_ask_and_is_answered() -> None:
    host = JSON_RPC.host()
    asked = line(id="a1", method="can_use_tool", params={"tool_name": "Bash", "input": {}})
    (message,) = host.read(asked).messages
    assert message == ControlRequest("rpc-1", CanUseTool(tool_name="Bash"))
    assert parsed(host.write(success("rpc-1", {"behavior": "allow"})).lines) == [
        {"jsonrpc": "2.0", "id": "a1", "result": {"behavior": "allow"}}
    ]
    assert host.write(success("rpc-1", {})).lines == []
    host.read(line(id="a2", method="brand_new"))
    assert parsed(host.write(failure("rpc-2", "no")).lines) == [
        {"jsonrpc": "2.0", "id": "a2", "error": {"code": -32000, "message": "no"}}
    ]


def test_the_agent_may_take_its_question_back() -> None:
    host = JSON_RPC.host()
    host.read(line(id="a1", method="can_use_tool", params={"tool_name": "Bash"}))
    taken_back = line(method="control_cancel_request", params={"request_id": "a1"})
    assert host.read(taken_back).messages == [ControlCancelRequest("rpc-1")]
    assert JSON_RPC.host().read(taken_back).messages == [ControlCancelRequest("a1")]


@pytest.mark.parametrize("message", [Init(), KeepAlive(), User(message=UserBody(role="system"))], ids=repr)
def test_what_an_agent_does_not_take_is_refused(message: Message) -> None:
    with pytest.raises(EncodeError):
        JSON_RPC.host().write(message)


# The agent: we stand in for one


@pytest.mark.parametrize(
    "params",
    [
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        {"message": {"role": "user", "content": "hi"}},
        {"prompt": "hi"},
        {"message": "hi"},
        {"content": "hi"},
        {"input": "hi"},
        {"text": "hi"},
        ["hi"],
    ],
)
def test_a_run_is_a_prompt_under_any_usual_name(params: Json) -> None:
    exchange = JSON_RPC.agent().read(line(id=1, method="run", params=params))
    assert (exchange.messages, exchange.lines) == ([prompt("hi")], [])


def test_a_run_keeps_its_session() -> None:
    exchange = JSON_RPC.agent().read(line(id=1, method="run", params={"prompt": "hi", "session_id": "s"}))
    assert exchange.messages == [User(message=UserBody(content="hi"), session_id="s")]


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        [],
        ["a", "b"],
        [5],
        {"prompt": 5},
        {"message": {"content": ""}},
        {"message": {"content": 5}},
        {"message": {"role": "assistant", "content": "hi"}},
    ],
)
def test_a_run_without_a_prompt_is_refused(params: Json) -> None:
    exchange = JSON_RPC.agent().read(line(id=1, method="run", params=params))
    assert exchange.messages == []
    assert [row["error"]["code"] for row in parsed(exchange.lines)] == [-32602]


def test_a_second_run_with_the_id_of_an_open_one_is_refused() -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1))
    exchange = agent.read(run(1))
    assert exchange.messages == []
    assert [(row["id"], row["error"]["code"]) for row in parsed(exchange.lines)] == [(1, -32600)]
    agent.write(GOOD)
    assert agent.read(run(1)).messages == [prompt("hi")]


def test_what_was_too_long_to_be_read_is_refused_by_its_id() -> None:
    unread = Malformed('{"jsonrpc":"2.0","id":7,"method":"run","params":{"prompt":"aaa', "too long")
    (refused,) = parsed(JSON_RPC.agent().refuse(unread, "too long").lines)
    assert (refused["id"], refused["error"]) == (7, {"code": -32600, "message": "too long"})


def test_initialize_is_handed_on_whole() -> None:
    exchange = JSON_RPC.agent().read(line(id=1, method="initialize", params={"newOption": [1]}))
    (asked,) = exchange.messages
    assert isinstance(asked, ControlRequest)
    assert asked.request == UnknownRequest({"newOption": [1], "subtype": "initialize"})


def test_a_result_answers_its_run() -> None:
    agent = JSON_RPC.agent()
    agent.read(run("a"))
    agent.read(run(7))
    told = {"type": "result", "subtype": "success", "is_error": False, "result": "ok"}
    assert parsed(agent.write(GOOD).lines) == [{"jsonrpc": "2.0", "id": "a", "result": told}]
    assert parsed(agent.write(GOOD).lines) == [{"jsonrpc": "2.0", "id": 7, "result": told}]
    assert parsed(agent.write(GOOD).lines) == [{"jsonrpc": "2.0", "method": "result", "params": told}]


def test_a_run_that_is_a_notification_gets_no_response() -> None:
    agent = JSON_RPC.agent()
    assert agent.read(line(method="run", params={"prompt": "hi"})).messages == [prompt("hi")]
    assert [row["method"] for row in parsed(agent.write(GOOD).lines)] == ["result"]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (BAD, "broken"),
        (Result(subtype="success", is_error=True, result="API error"), "API error"),
        (Result(subtype="error_during_execution", is_error=False), "error_during_execution"),
    ],
)
def test_a_failed_turn_is_an_error_that_carries_the_result(result: Result, text: str) -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1))
    (row,) = parsed(agent.write(result).lines)
    assert (row["error"]["code"], row["error"]["message"]) == (-32000, text)
    host = JSON_RPC.host()
    host.write(prompt("hi"))
    assert host.read(json.dumps(row).encode()).messages == [result]


def test_a_turn_that_was_interrupted_is_cancelled() -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1))
    assert agent.read(line(id=2, method="interrupt")).messages == [ControlRequest("rpc-1", Interrupt())]
    assert parsed(agent.write(success("rpc-1", {})).lines) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]
    (row,) = parsed(agent.write(BAD).lines)
    assert row["error"]["code"] == -32800
    agent.read(run(3))
    (row,) = parsed(agent.write(Result(subtype="cancelled")).lines)
    assert row["error"]["code"] == -32800


def test_an_interrupt_of_nothing_cancels_no_later_turn() -> None:
    agent = JSON_RPC.agent()
    agent.read(line(id=1, method="interrupt"))
    (row,) = parsed(agent.write(failure("rpc-1", "no turn runs")).lines)
    assert row["error"]["message"] == "no turn runs"
    agent.read(run(2))
    (row,) = parsed(agent.write(BAD).lines)
    assert row["error"]["code"] == -32000


def test_runs_that_were_injected_end_with_the_turn_they_joined() -> None:
    agent = JSON_RPC.agent()
    for number in (1, 2, 3):
        agent.read(run(number))
    (row,) = parsed(agent.write(Injected(message_count=1)).lines)
    assert row["params"] == {"type": "system", "subtype": "injected", "message_count": 1}
    assert [row["id"] for row in parsed(agent.write(GOOD).lines)] == [1, 2]
    assert [row["id"] for row in parsed(agent.write(GOOD).lines)] == [3]


def test_everything_else_is_a_notification_with_all_that_its_line_had() -> None:
    agent = JSON_RPC.agent()
    whole = b'{"type":"assistant","message":{"content":"hi"},"brand_new":1}'
    assert parsed(agent.write(HI, whole).lines) == [
        {"jsonrpc": "2.0", "method": "assistant", "params": json.loads(whole)}
    ]
    told = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "model": "m"},
    }
    assert parsed(agent.write(HI).lines) == [{"jsonrpc": "2.0", "method": "assistant", "params": told}]
    assert parsed(agent.write(HI, b'{"x":NaN}').lines) == [
        {"jsonrpc": "2.0", "method": "assistant", "params": told}
    ]
    assert agent.write(Malformed("", "no")).lines == []


def test_control_requests_are_methods() -> None:
    agent = JSON_RPC.agent()
    assert agent.read(line(id=5, method="set_model", params={"model": "m"})).messages == [
        ControlRequest("rpc-1", SetModel(model="m"))
    ]
    assert parsed(agent.write(success("rpc-1", {"model": "m"})).lines) == [
        {"jsonrpc": "2.0", "id": 5, "result": {"model": "m"}}
    ]
    assert agent.read(line(id=None, method="status")).messages == [ControlRequest("rpc-2", GetStatus())]
    assert parsed(agent.write(failure("rpc-2", "no")).lines) == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no"}}
    ]
    assert agent.read(line(method="interrupt")).messages == [ControlRequest("rpc-3", Interrupt())]
    assert agent.write(success("rpc-3")).lines == []


def test_a_control_request_without_a_model_is_passed_on_and_the_cli_says_whether_it_knows_it() -> None:
    agent = JSON_RPC.agent()
    asked = UnknownRequest({"subtype": "brand_new", "x": 1})
    assert agent.read(line(id=5, method="brand_new", params={"x": 1})).messages == [
        ControlRequest("rpc-1", asked)
    ]
    assert parsed(agent.write(success("rpc-1", {"y": 2})).lines) == [
        {"jsonrpc": "2.0", "id": 5, "result": {"y": 2}}
    ]
    agent.read(line(id=6, method="explode"))
    (row,) = parsed(agent.write(failure("rpc-2", "Unsupported control request subtype: explode")).lines)
    assert (row["id"], row["error"]["code"]) == (6, -32601)


def test_a_run_that_is_not_taken_has_failed_and_the_others_go_on() -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1, "one"))
    (refused,) = agent.read(run(2, "two")).messages
    assert parsed(agent.refuse(refused, "no room").lines) == [
        {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "no room"}}
    ]
    assert [row["id"] for row in parsed(agent.write(GOOD).lines)] == [1]
    (row,) = parsed(agent.refuse(prompt("of nobody"), "no room").lines)
    assert (row["method"], row["params"]["message"]) == ("system", "no room")


@pytest.mark.parametrize(
    ("interrupted", "code", "text"), [(True, -32800, "cancelled"), (False, -32000, "error_during_execution")]
)
def test_diagnostics_of_the_cli_are_no_text_for_a_human(interrupted: bool, code: int, text: str) -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1))
    if interrupted:
        agent.read(line(id=2, method="interrupt"))
        agent.write(success("rpc-1"))
    (row,) = parsed(
        agent.write(
            Result(subtype="error_during_execution", is_error=True, errors=["[ede_diagnostic] x"])
        ).lines
    )
    assert (row["error"]["code"], row["error"]["message"]) == (code, text)


def test_an_answer_without_content_is_an_empty_object() -> None:
    agent = JSON_RPC.agent()
    agent.read(line(id=5, method="interrupt"))
    assert parsed(agent.write(success("rpc-1")).lines) == [{"jsonrpc": "2.0", "id": 5, "result": {}}]


@pytest.mark.parametrize(
    ("row", "request_id", "code"),
    [
        (line(id=1, method="$/explode"), 1, -32601),
        (line(id=1, method="rpc.explode"), 1, -32601),
        (line(id=[1], method="run"), None, -32600),
        (line(id=True, method="run"), None, -32600),
        (line(id=1), 1, -32600),
        (line(id=1, method=5), 1, -32600),
        (b"not json", None, -32700),
        (b'{"type":"brand_new"}', None, -32600),
        (b"[]", None, -32600),
        (b"[1]", None, -32600),
        (b"5", None, -32600),
        (b"[1", None, -32700),
    ],
)
def test_what_the_caller_gets_wrong_is_told_to_it(row: bytes, request_id: Json, code: int) -> None:
    (answer,) = parsed(JSON_RPC.agent().read(row).lines)
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)


def test_a_notification_with_a_method_that_nobody_knows_is_unknown_and_not_answered() -> None:
    exchange = JSON_RPC.agent().read(line(method="$/explode"))
    assert exchange.messages == [Unknown({"jsonrpc": "2.0", "method": "$/explode"})]
    assert exchange.lines == []


def test_messages_without_an_envelope_are_taken_from_a_caller_too() -> None:
    exchange = JSON_RPC.agent().read(b'{"type":"user","message":{"role":"user","content":"hi"}}')
    assert (exchange.messages, exchange.lines) == ([prompt("hi")], [])


@pytest.mark.parametrize(
    ("asked", "params"),
    [
        (None, {"request": None}),
        ([{"x": 1}], {"request": [{"x": 1}]}),
        ({"subtype": ["ask"], "x": 1}, {"x": 1}),
        ({}, {}),
    ],
)
def test_a_request_of_the_cli_that_is_none_goes_on_without_a_method(asked: Json, params: Json) -> None:
    message = decode(json.dumps({"type": "control_request", "request_id": "q", "request": asked}).encode())
    assert isinstance(message, ControlRequest)
    (row,) = parsed(JSON_RPC.agent().write(message).lines)
    assert row == {"jsonrpc": "2.0", "id": "q", "method": "", "params": params}
    assert JSON_RPC.host().write(message).messages == [failure("q", "a control request needs a subtype")]


def test_questions_of_the_cli_are_requests_and_the_callers_responses_answer_them() -> None:
    agent = JSON_RPC.agent()
    (row,) = parsed(agent.write(ControlRequest("q", UnknownRequest({"subtype": "ask", "x": 1}))).lines)
    assert row == {"jsonrpc": "2.0", "id": "q", "method": "ask", "params": {"x": 1}}
    assert agent.read(line(id="q", result={"a": 1})).messages == [success("q", {"a": 1})]
    assert agent.read(line(id="q", error={"code": 1, "message": "no"})).messages == [failure("q", "no")]
    assert agent.read(line(id="q", error=None)).messages == [failure("q", "error")]


def test_a_question_that_the_cli_takes_back_reaches_the_other_end() -> None:
    host, agent = JSON_RPC.host(), JSON_RPC.agent()
    (asked,) = agent.write(ControlRequest("q", CanUseTool(tool_name="Bash"))).lines
    assert host.read(asked).messages == [ControlRequest("rpc-1", CanUseTool(tool_name="Bash"))]
    (taken_back,) = agent.write(ControlCancelRequest("q")).lines
    assert host.read(taken_back).messages == [ControlCancelRequest("rpc-1")]


def test_what_one_end_writes_the_other_reads() -> None:
    host, agent = JSON_RPC.host(), JSON_RPC.agent()
    (sent,) = host.write(prompt("hi")).lines
    assert agent.read(sent).messages == [prompt("hi")]
    for message in (Init(model="m"), HI, Injected(message_count=0), KeepAlive(), GOOD):
        (row,) = agent.write(message).lines
        assert host.read(row).messages == [message]
    (asked,) = host.write(ControlRequest("r", SetModel(model="m"))).lines
    assert agent.read(asked).messages == [ControlRequest("rpc-1", SetModel(model="m"))]
    (answered,) = agent.write(success("rpc-1", {"model": "m"})).lines
    assert host.read(answered).messages == [
        ControlResponse(response=ResponseBody(subtype="success", request_id="r", response={"model": "m"}))
    ]


MEMBERS = st.dictionaries(
    st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc"]),
    st.none()
    | st.integers(-3, 3)
    | st.sampled_from(["run", "result", "system", "interrupt"])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(
        st.sampled_from(["type", "message", "data", "prompt"]),
        st.sampled_from(["result", "user", "x"]),
        max_size=3,
    ),
)


@given(
    st.lists(MEMBERS.map(lambda members: json.dumps(members).encode()) | st.binary(max_size=8), max_size=8)
)
def test_no_line_raises_at_either_end(rows: list[bytes]) -> None:
    host, agent = JSON_RPC.host(), JSON_RPC.agent()
    host.write(prompt("hi"))
    host.write(ControlRequest("r", Interrupt()))
    for row in rows:
        assert host.read(row).lines == []
        for answer in agent.read(row).lines:
            assert json.loads(answer)["jsonrpc"] == "2.0"


# Prompts that were injected between two turns: one of them begins the next turn, the others join it


def test_runs_injected_between_turns_are_answered_by_the_next_result_and_no_other_is() -> None:
    agent = JSON_RPC.agent()
    for number in (1, 2, 3):
        agent.read(run(number))
    assert [answer["id"] for answer in parsed(agent.write(GOOD).lines)] == [1]
    agent.write(Injected(message_count=2, content_length=1))
    agent.read(run(4))
    assert [answer["id"] for answer in parsed(agent.write(GOOD).lines)] == [2, 3]
    assert [answer["id"] for answer in parsed(agent.write(GOOD).lines)] == [4]


def test_a_run_after_a_result_begins_a_turn_that_others_join_whole() -> None:
    agent = JSON_RPC.agent()
    agent.read(run(1))
    agent.write(GOOD)
    for number in (2, 3):
        agent.read(run(number))
    agent.write(Injected(message_count=1, content_length=1))
    assert [answer["id"] for answer in parsed(agent.write(GOOD).lines)] == [2, 3]


def test_a_host_takes_one_result_from_runs_injected_between_turns() -> None:
    host = JSON_RPC.host()
    for text in ("a", "b", "c", "d"):
        host.write(prompt(text))
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "ok"}
    assert host.read(line(id=1, result=result)).messages == [GOOD]
    injected = {"type": "system", "subtype": "injected", "message_count": 2}
    host.read(line(method="system", params=injected))
    answers = [host.read(line(id=number, result=result)).messages for number in (2, 3, 4)]
    assert answers == [[GOOD], [], [GOOD]]


def test_a_request_is_the_same_after_it_was_said() -> None:
    request = UnknownRequest({"subtype": "get_settings", "x": 1})
    (said,) = parsed(JSON_RPC.host().write(ControlRequest("r", request)).lines)
    assert (said["method"], said["params"]) == ("get_settings", {"x": 1})
    JSON_RPC.agent().write(ControlRequest("r", request))
    assert request.raw == {"subtype": "get_settings", "x": 1}


def test_a_request_that_is_nested_too_deep_is_answered_by_its_own_id() -> None:
    host = JSON_RPC.host()
    deep = b"[" * 500 + b"]" * 500
    line = b'{"jsonrpc":"2.0","method":"can_use_tool","params":{"input":%b},"id":7}' % deep
    [message] = host.read(line).messages
    assert isinstance(message, Malformed)
    assert message.asks is not None
    [answer] = host.write(failure(message.asks, message.reason)).lines
    assert json.loads(answer)["id"] == 7
    assert host.read(b'{"jsonrpc":"2.0","method":"assistant","params":%b}' % deep).messages == [
        Malformed(f'{{"jsonrpc":"2.0","method":"assistant","params":{deep.decode()}}}', TOO_DEEP)
    ]


def test_a_caller_whose_run_is_nested_too_deep_is_told_by_its_id() -> None:
    line = b'{"jsonrpc":"2.0","id":"a","method":"run","params":%b}' % (b"[" * 500 + b"]" * 500)
    [told] = JSON_RPC.agent().read(line).lines
    assert json.loads(told)["id"] == "a"
    assert json.loads(told)["error"]["message"] == TOO_DEEP
