"""Every example line of the miriad-code protocol and the SDK's, read and written in its dialect."""

import json

import pytest

from turnwire.protocol.claude.blocks import TextBlock, ToolResultBlock, ToolUseBlock, Usage
from turnwire.protocol.claude.control import ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import encode, encode_input
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, User, UserBody
from turnwire.protocol.claude.requests import GetStatus, Interrupt
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects import CLAUDE, DIALECTS, JSON_RPC, MIRIAD
from turnwire.protocol.json_values import Json
from turnwire.protocol.miriad.system import Consolidation, Injected, Queued, SystemFailure, SystemToolResult

MODEL = "claude-opus-4-5-20251101"
RESULT = ToolResultBlock("call_123", "file contents")
HELLO = UserBody(content="Hello")


def said(*blocks: TextBlock | ToolUseBlock, model: str = MODEL) -> Assistant:
    return Assistant(message=AssistantBody(content=[*blocks], model=model))


def ended(
    text: str | None,
    duration: int,
    turns: int,
    tokens: tuple[int, int],
    session: str,
    *,
    api: int | None = None,
) -> Result:
    return Result(
        subtype="success",
        duration_ms=duration,
        duration_api_ms=api,
        is_error=False,
        num_turns=turns,
        top_session_id=session,
        result=text,
        usage=Usage(*tokens),
    )


READ_FILE = ToolUseBlock("call_1", "read", {"filePath": "/tmp/test.txt"})

# Lines of the miriad-code protocol, in its order: what the agent is told …
MIRIAD_INPUT: list[tuple[str, Message]] = [
    (
        '{"type":"user","message":{"role":"user","content":"Hello"},"session_id":"default"}',
        User(message=HELLO, session_id="default"),
    ),
    (
        '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Hello"}]},"session_id":"default"}',
        User(message=UserBody(content=[TextBlock("Hello")]), session_id="default"),
    ),
    ('{"type":"control","action":"interrupt"}', ControlRequest("control-1", Interrupt())),
    ('{"type":"control","action":"status"}', ControlRequest("control-1", GetStatus())),
    (
        '{"type":"user","message":{"role":"user","content":"Read /tmp/test.txt"},"session_id":"sess_1"}',
        User(message=UserBody(content="Read /tmp/test.txt"), session_id="sess_1"),
    ),
    (
        '{"type":"user","message":{"role":"user","content":"Thanks!"},"session_id":"sess_1"}',
        User(message=UserBody(content="Thanks!"), session_id="sess_1"),
    ),
]

# … and what it says, with the message that our host takes from it.
MIRIAD_OUTPUT: list[tuple[str, Message]] = [
    (
        '{"type":"system","subtype":"queued","session_id":"sess_2","position":1}',
        Queued(session_id="sess_2", position=1),
    ),
    (
        '{"type":"system","subtype":"injected","message_count":2,"content_length":150}',
        Injected(message_count=2, content_length=150),
    ),
    (
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello!"}],"model":"claude-opus-4-5-20251101"}}',
        said(TextBlock("Hello!")),
    ),
    (
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"call_123","name":"read","input":{"filePath":"/tmp/test.txt"}}],"model":"claude-opus-4-5-20251101"}}',
        said(ToolUseBlock("call_123", "read", {"filePath": "/tmp/test.txt"})),
    ),
    (
        '{"type":"result","subtype":"success","duration_ms":1234,"is_error":false,"num_turns":3,"session_id":"default","result":"Done!","usage":{"input_tokens":100,"output_tokens":50}}',
        ended("Done!", 1234, 3, (100, 50), "default"),
    ),
    (
        '{"type":"system","subtype":"tool_result","tool_result":{"type":"tool_result","tool_use_id":"call_123","content":"file contents"}}',
        User(message=UserBody(content=[RESULT])),
    ),
    (
        '{"type":"system","subtype":"error","message":"Something went wrong"}',
        SystemFailure(message="Something went wrong"),
    ),
    (
        '{"type":"system","subtype":"consolidation","entries_created":2,"entries_updated":1}',
        Consolidation(entries_created=2, entries_updated=1),
    ),
    (
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I\'ll read that file for you."},{"type":"tool_use","id":"call_1","name":"read","input":{"filePath":"/tmp/test.txt"}}],"model":"claude-opus-4-5-20251101"}}',
        said(TextBlock("I'll read that file for you."), READ_FILE),
    ),
    (
        '{"type":"system","subtype":"tool_result","tool_result":{"type":"tool_result","tool_use_id":"call_1","content":"Hello from test file!"}}',
        User(message=UserBody(content=[ToolResultBlock("call_1", "Hello from test file!")])),
    ),
    (
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The file contains: Hello from test file!"}],"model":"claude-opus-4-5-20251101"}}',
        said(TextBlock("The file contains: Hello from test file!")),
    ),
    (
        '{"type":"result","subtype":"success","duration_ms":2500,"is_error":false,"num_turns":1,"session_id":"sess_1","result":"The file contains: Hello from test file!","usage":{"input_tokens":150,"output_tokens":30}}',
        ended("The file contains: Hello from test file!", 2500, 1, (150, 30), "sess_1"),
    ),
    (
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"You\'re welcome!"}],"model":"claude-opus-4-5-20251101"}}',
        said(TextBlock("You're welcome!")),
    ),
    (
        '{"type":"result","subtype":"success","duration_ms":800,"is_error":false,"num_turns":0,"session_id":"sess_1","result":"You\'re welcome!","usage":{"input_tokens":50,"output_tokens":10}}',
        ended("You're welcome!", 800, 0, (50, 10), "sess_1"),
    ),
]

# Blocks of the miriad-code protocol.
BLOCKS: list[tuple[str, TextBlock | ToolUseBlock | ToolResultBlock]] = [
    ('{"type":"text","text":"Hello world"}', TextBlock("Hello world")),
    (
        '{"type":"tool_use","id":"call_123","name":"read","input":{"filePath":"/tmp/test.txt"}}',
        ToolUseBlock("call_123", "read", {"filePath": "/tmp/test.txt"}),
    ),
    (
        '{"type":"tool_result","tool_use_id":"call_123","content":"file contents","is_error":false}',
        ToolResultBlock("call_123", "file contents", False),
    ),
]

SONNET = "claude-sonnet-4-20250514"

# Lines of the SDK's flows: who says it, the line, the message.
SPEC_2: list[tuple[str, str, Message]] = [
    (
        "host",
        '{"type":"user","message":{"role":"user","content":"Hello"},"session_id":"default"}',
        User(message=HELLO, session_id="default"),
    ),
    (
        "agent",
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello! How can I help?"}],"model":"claude-sonnet-4-20250514"}}',
        said(TextBlock("Hello! How can I help?"), model=SONNET),
    ),
    (
        "agent",
        '{"type":"result","subtype":"success","duration_ms":1234,"duration_api_ms":1000,"is_error":false,"num_turns":1,"session_id":"abc123","usage":{"input_tokens":10,"output_tokens":20}}',
        ended(None, 1234, 1, (10, 20), "abc123", api=1000),
    ),
    (
        "agent",
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Let me read that file."},{"type":"tool_use","id":"call_123","name":"read","input":{"filePath":"/tmp/test.txt"}}],"model":"claude-sonnet-4-20250514"}}',
        said(
            TextBlock("Let me read that file."),
            ToolUseBlock("call_123", "read", {"filePath": "/tmp/test.txt"}),
            model=SONNET,
        ),
    ),
    (
        "host",
        '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_123","content":"File contents here"}]},"session_id":"default"}',
        User(
            message=UserBody(content=[ToolResultBlock("call_123", "File contents here")]),
            session_id="default",
        ),
    ),
    (
        "agent",
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The file contains..."}],"model":"claude-sonnet-4-20250514"}}',
        said(TextBlock("The file contains..."), model=SONNET),
    ),
]


def without_caches(value: Json) -> Json:
    """Leave out the counts of cached tokens, which are optional in the SDK's protocol and written always."""
    if "usage" in value:
        usage = {name: count for name, count in value["usage"].items() if "cache" not in name}
        return {**value, "usage": usage}
    return value


@pytest.mark.parametrize(("line", "message"), MIRIAD_INPUT)
def test_a_miriad_agent_reads_what_spec_1_tells_it(line: str, message: Message) -> None:
    exchange = MIRIAD.agent().read(line.encode())
    assert (exchange.messages, exchange.lines) == ([message], [])


@pytest.mark.parametrize(("line", "message"), MIRIAD_INPUT)
def test_a_miriad_host_writes_what_spec_1_tells_the_agent(line: str, message: Message) -> None:
    (written,) = MIRIAD.host().write(message).lines
    assert json.loads(written) == json.loads(line)


@pytest.mark.parametrize(("line", "message"), MIRIAD_OUTPUT)
def test_a_miriad_host_reads_what_spec_1_says(line: str, message: Message) -> None:
    exchange = MIRIAD.host().read(line.encode())
    assert (exchange.messages, exchange.lines) == ([message], [])


@pytest.mark.parametrize(("line", "message"), MIRIAD_OUTPUT)
def test_a_miriad_agent_writes_what_spec_1_says(line: str, message: Message) -> None:
    agent = MIRIAD.agent()
    if isinstance(message, Result):  # its `num_turns` are the cycles of tool use before it
        for _ in range(message.num_turns or 0):
            agent.write(said(ToolUseBlock("call_123", "read", {}), model=SONNET))
    (written,) = agent.write(message).lines
    assert json.loads(written) == json.loads(line)


@pytest.mark.parametrize(("text", "block"), BLOCKS)
def test_the_blocks_of_spec_1_are_read_and_written(
    text: str, block: TextBlock | ToolUseBlock | ToolResultBlock
) -> None:
    line = b'{"type":"user","message":{"role":"user","content":[%b]}}' % text.encode()
    message = User(message=UserBody(content=[block]))
    assert decode(line) == message
    assert json.loads(encode(message)) == json.loads(line)


@pytest.mark.parametrize(("speaker", "line", "message"), SPEC_2)
def test_the_lines_of_spec_2_are_read_and_written(speaker: str, line: str, message: Message) -> None:
    if speaker == "host":
        assert CLAUDE.agent().read(line.encode()).messages == [message]
        (written,) = CLAUDE.host().write(message).lines
        assert encode_input(message) == written
    else:
        assert CLAUDE.host().read(line.encode()).messages == [message]
        (written,) = CLAUDE.agent().write(message).lines
    assert without_caches(json.loads(written)) == json.loads(line)


@pytest.mark.parametrize(("speaker", "line", "message"), SPEC_2)
def test_the_lines_of_spec_2_travel_in_an_envelope_and_back(
    speaker: str, line: str, message: Message
) -> None:
    host, agent = JSON_RPC.host(), JSON_RPC.agent()
    if speaker == "host":
        (enveloped,) = host.write(message).lines
        assert json.loads(enveloped)["params"] == json.loads(line)
        assert agent.read(enveloped[:-1]).messages == [message]
    else:
        (enveloped,) = agent.write(message).lines
        assert without_caches(json.loads(enveloped)["params"]) == json.loads(line)
        assert host.read(enveloped[:-1]).messages == [message]


CONTROL_OF_SPEC_2 = [
    '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"permission_suggestions":[]}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"h","input":{"a":1},"tool_use_id":"t"}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"s","message":{"jsonrpc":"2.0","id":1}}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"initialize","hooks":{"Stop":[]}}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"set_permission_mode","mode":"plan"}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"set_model","model":"m"}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"rewind_files","user_message_id":"u"}}',
    '{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"a":1}}}',
    '{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}',
]


@pytest.mark.parametrize("line", CONTROL_OF_SPEC_2)
def test_the_control_messages_of_spec_2_are_read_and_written(line: str) -> None:
    message = decode(line.encode())
    assert isinstance(message, ControlRequest | ControlResponse)
    again = json.loads(encode(message))
    original = json.loads(line)
    if "request" in original:
        again["request"] = {name: value for name, value in again["request"].items() if value is not None}
    assert again == original


def test_a_system_tool_result_has_a_model_of_its_own_in_every_dialect() -> None:
    assert decode(MIRIAD_OUTPUT[5][0].encode()) == SystemToolResult(tool_result=RESULT)


def test_every_dialect_is_known_by_its_name() -> None:
    assert set(DIALECTS) == {"claude", "miriad", "json_rpc", "auto"}
