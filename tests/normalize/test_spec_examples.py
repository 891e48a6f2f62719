"""The examples of the three protocol documents, line for line as they print them, give what the documents say."""

import json

import pytest

from tests.normalize.lines import JsonObject, Talk, answer, init
from turnwire.protocol.claude.decode import decode


def lines(talk: Talk, *texts: str) -> list[str]:
    """What is told of lines as the documents print them."""
    return talk.hears(*(json.loads(text) for text in texts))


# miriad-code: an agent without partial messages, init or control protocol.


def test_spec_1_example_session() -> None:
    talk = Talk()
    assert talk.says(
        json.loads(
            '{"type":"user","message":{"role":"user","content":"Read /tmp/test.txt"},"session_id":"sess_1"}'
        )
    ) == ["turn_started turn-1 user", "user_message Read /tmp/test.txt"]
    assert lines(
        talk,
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I\'ll read that file for'
        ' you."},{"type":"tool_use","id":"call_1","name":"read","input":{"filePath":"/tmp/test.txt"}}],'
        '"model":"claude-opus-4-5-20251101"}}',
        '{"type":"system","subtype":"tool_result","tool_result":{"type":"tool_result","tool_use_id":"call_1",'
        '"content":"Hello from test file!"}}',
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The file contains: Hello'
        ' from test file!"}],"model":"claude-opus-4-5-20251101"}}',
        '{"type":"result","subtype":"success","duration_ms":2500,"is_error":false,"num_turns":1,"session_id":"sess_1",'
        '"result":"The file contains: Hello from test file!","usage":{"input_tokens":150,"output_tokens":30}}',
    ) == [
        "message_chunk I'll read that file for you.",
        "tool_call call_1 running",
        "tool_update call_1 complete",
        "message_chunk The file contains: Hello from test file!",
        "complete turn-1 completed",
    ]
    assert talk.last("tool_call")["normalized"]["read_file"]["file_path"] == "/tmp/test.txt"
    assert talk.last("tool_update")["normalized"]["read_file"]["output"]["content"] == "Hello from test file!"
    data = talk.last("complete")["data"]
    assert (
        data.items()
        >= {"duration_ms": 2500, "num_turns": 1, "input_tokens": 150, "output_tokens": 30}.items()
    )
    talk.says(
        json.loads('{"type":"user","message":{"role":"user","content":"Thanks!"},"session_id":"sess_1"}')
    )
    assert lines(
        talk,
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"You\'re welcome!"}],'
        '"model":"claude-opus-4-5-20251101"}}',
        '{"type":"result","subtype":"success","duration_ms":800,"is_error":false,"num_turns":0,"session_id":"sess_1",'
        '"result":"You\'re welcome!","usage":{"input_tokens":50,"output_tokens":10}}',
    ) == ["message_chunk You're welcome!", "complete turn-2 completed"]


def test_spec_1_system_messages() -> None:
    talk = Talk()
    assert lines(
        talk,
        '{"type":"system","subtype":"queued","session_id":"sess_2","position":1}',
        '{"type":"system","subtype":"injected","message_count":2,"content_length":150}',
        '{"type":"system","subtype":"error","message":"Something went wrong"}',
        '{"type":"system","subtype":"consolidation","entries_created":2,"entries_updated":1}',
    ) == ["queued 1", "injected 2", "error Something went wrong", "consolidation"]
    assert talk.last("injected")["content_length"] == 150
    assert talk.last("consolidation").items() >= {"entries_created": 2, "entries_updated": 1}.items()


def test_spec_1_results() -> None:
    talk = Talk()
    done = '{"type":"result","subtype":"success","duration_ms":1234,"is_error":false,"num_turns":3,"session_id":"default",'
    done += '"result":"Done!","usage":{"input_tokens":100,"output_tokens":50}}'
    assert lines(talk, done) == [
        "turn_started turn-1 user",
        "message_chunk Done! result",
        "complete turn-1 completed",
    ]
    assert lines(talk, done.replace("success", "cancelled"))[-1] == "complete turn-2 interrupted"
    assert lines(talk, done.replace("success", "error"))[-2:] == [
        "complete turn-3 Done! error",
        "error Done!",
    ]


# The messages of the SDK.


def test_spec_2_simple_query() -> None:
    talk = Talk()
    assert lines(
        talk,
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello! How can I help?"}],'
        '"model":"claude-sonnet-4-20250514"}}',
        '{"type":"result","subtype":"success","duration_ms":1234,"duration_api_ms":1000,"is_error":false,"num_turns":1,'
        '"session_id":"abc123","usage":{"input_tokens":10,"output_tokens":20}}',
    ) == ["turn_started turn-1 user", "message_chunk Hello! How can I help?", "complete turn-1 completed"]
    assert talk.last("complete")["data"]["duration_api_ms"] == 1000


def test_spec_2_tool_use() -> None:
    assert lines(
        Talk(),
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Let me read that file."},'
        '{"type":"tool_use","id":"call_123","name":"read","input":{"filePath":"/tmp/test.txt"}}],'
        '"model":"claude-sonnet-4-20250514"}}',
        '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_123",'
        '"content":"File contents here"}]},"session_id":"default"}',
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The file contains..."}],'
        '"model":"claude-sonnet-4-20250514"}}',
    ) == [
        "turn_started turn-1 user",
        "message_chunk Let me read that file.",
        "tool_call call_123 running",
        "tool_update call_123 complete",
        "message_chunk The file contains...",
    ]


@pytest.mark.parametrize(
    "kind",
    ["authentication_failed", "billing_error", "rate_limit", "invalid_request", "server_error", "unknown"],
)
def test_spec_2_errors_of_assistant_messages_are_typed(kind: str) -> None:
    talk = Talk()
    body = {"role": "assistant", "content": [{"type": "text", "text": "No"}], "model": "m", "error": kind}
    talk.hears(
        {"type": "assistant", "message": body},
        {"type": "result", "subtype": "success", "is_error": True, "result": "No"},
    )
    assert talk.last("error").items() >= {"error": "No", "code": kind}.items()


# Kandev.


def one_block(block: str) -> JsonObject:
    return {"type": "assistant", "message": {"content": [json.loads(block)], "model": "m"}, "session_id": "s"}


def test_spec_3_content_blocks() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(
        one_block('{ "type": "text", "text": "Here\'s the implementation..." }'),
        one_block('{ "type": "thinking", "thinking": "Let me analyze the code structure..." }'),
        one_block(
            '{ "type": "tool_use", "id": "toolu_abc123", "name": "Edit", "input": { "file_path": "/src/main.go",'
            ' "old_string": "...", "new_string": "..." } }'
        ),
    ) == [
        "message_chunk Here's the implementation...",
        "reasoning Let me analyze the code structure...",
        "tool_call toolu_abc123 running",
    ]
    assert talk.last("tool_call")["normalized"]["kind"] == "modify_file"
    block = '{ "type": "tool_result", "tool_use_id": "toolu_abc123", "content": "File edited successfully", "is_error": false }'
    told = talk.hears({"type": "user", "message": {"role": "user", "content": [json.loads(block)]}})
    assert told == ["tool_update toolu_abc123 complete"]
    assert talk.last("tool_update")["normalized"]["modify_file"]["output"]["applied"] is True


def test_spec_3_initialize() -> None:
    talk = Talk()
    request = {"hooks": {"PreToolUse": [{"matcher": "^Bash$", "hookCallbackIds": ["tool_approval"]}]}}
    sent = {
        "type": "control_request",
        "request_id": "<uuid>",
        "request": {"subtype": "initialize", **request},
    }
    assert talk.says(sent) == []
    commands = [
        {"name": "commit", "description": "Create a git commit"},
        {"name": "review-pr", "description": "Review a pull request"},
    ]
    talk.hears(answer("<uuid>", commands=commands))
    assert talk.last("available_commands")["available_commands"] == commands


def test_spec_3_permission_request_and_its_answer() -> None:
    talk = Talk()
    talk.hears(
        init(),
        one_block(
            '{"type":"tool_use","id":"toolu_abc","name":"Bash","input":{"command":"rm -rf /tmp/test"}}'
        ),
    )
    assert lines(
        talk,
        '{ "type": "control_request", "request_id": "req_123", "request": { "subtype": "can_use_tool",'
        ' "tool_name": "Bash", "tool_use_id": "toolu_abc", "input": { "command": "rm -rf /tmp/test" },'
        ' "blocked_paths": "/etc,/usr" } }',
    ) == ["permission_request toolu_abc req_123"]
    assert (
        talk.last("permission_request").items()
        >= {"action_type": "command", "blocked_path": "/etc,/usr"}.items()
    )
    told = talk.says(
        json.loads(
            '{ "type": "control_response", "request_id": "req_123", "response": { "subtype": "success",'
            ' "result": { "behavior": "allow", "updatedPermissions": [], "message": "" } } }'
        )
    )
    assert told == ["permission_resolved toolu_abc req_123 allow"]


@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_spec_3_pre_tool_use_hook(decision: str) -> None:
    talk = Talk()
    hook = {
        "subtype": "hook_callback",
        "callback_id": "tool_approval",
        "input": {"hook_event_name": "PreToolUse"},
    }
    talk.hears({"type": "control_request", "request_id": "req_456", "request": hook})
    output = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "Auto-approved by SDK",
    }
    result = {"subtype": "success", "result": {"hookSpecificOutput": output}}
    told = talk.says({"type": "control_response", "request_id": "req_456", "response": result})
    assert told == [f"hook_activity answered {decision}"]
    assert talk.last("hook_activity")["output"] == "Auto-approved by SDK"


def test_spec_3_stop_hook() -> None:
    talk = Talk()
    hook = {"subtype": "hook_callback", "callback_id": "stop_git_check", "input": {"hook_event_name": "Stop"}}
    talk.hears({"type": "control_request", "request_id": "req_789", "request": hook})
    result = {"subtype": "success", "result": {"decision": "approve", "reason": ""}}
    told = talk.says({"type": "control_response", "request_id": "req_789", "response": result})
    assert told == ["hook_activity answered approve"]


def test_spec_3_cancel_request_closes_the_dialog() -> None:
    talk = Talk()
    ask = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    talk.hears({"type": "control_request", "request_id": "req_123", "request": ask})
    told = lines(talk, '{ "type": "control_cancel_request", "request_id": "req_123" }')
    assert told == ["permission_cancelled req_123 cancelled"]


RESULT = """{
  "type": "result", "subtype": "success", "cost_usd": 0.0234, "duration_ms": 15234, "duration_api_ms": 12100,
  "is_error": false, "num_turns": 3, "total_input_tokens": 45000, "total_output_tokens": 2300,
  "model_usage": { "claude-sonnet-4-5": { "context_window": 200000 } },
  "result": { "text": "I've implemented the changes...", "session_id": "sess_abc123" }
}"""


def test_spec_3_result() -> None:
    talk = Talk()
    said = one_block('{"type":"text","text":"Working"}') | {"parent_tool_use_id": "sub"}
    talk.hears(
        init(),
        said,
        one_block('{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/x"}}') | {"uuid": "a-1"},
    )
    assert lines(talk, RESULT) == [
        "tool_update t complete no_result",
        "message_chunk I've implemented the changes... result",
        "complete turn-1 completed",
    ]
    assert (
        talk.last("complete")["data"].items()
        >= {
            "cost_usd": 0.0234,
            "duration_ms": 15234,
            "num_turns": 3,
            "input_tokens": 45000,
            "output_tokens": 2300,
            "last_message_uuid": "a-1",
        }.items()
    )
    assert talk.last("complete")["session_id"] == "sess_abc123"
    assert lines(talk, RESULT.replace('"is_error": false', '"is_error": true'))[-1].startswith(
        "error I've implemented"
    )


def test_spec_3_context_window() -> None:
    talk = Talk()
    usage = {
        "input_tokens": 1000,
        "output_tokens": 100,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 5,
    }
    talk.hears(
        {"type": "assistant", "message": {"content": [], "model": "claude-sonnet-4-5", "usage": usage}}
    )
    assert (
        talk.last("context_window").items()
        >= {
            "context_window_size": 200000,
            "context_window_used": 1115,
            "context_window_remaining": 198885,
            "context_efficiency": 0.5575,
        }.items()
    )


def test_spec_3_rate_limit() -> None:
    talk = Talk()
    talk.hears({"type": "rate_limit", "session_id": "s"})
    assert talk.last("rate_limit")["rate_limit_message"] == "Rate limited by API"


def test_the_documents_examples_are_all_messages() -> None:
    talk = Talk()
    for line in (RESULT, '{"type":"system","subtype":"status","running":false,"queued_messages":0}'):
        talk.translator.receive(decode(line.encode()), line.encode())
    assert (talk.translator.stats.unknown, talk.translator.stats.malformed) == (0, 0)
