"""Lines of Cursor's agent, made by hand from public descriptions: it cannot be run offline."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import claiming, new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.testing.events import balanced, readable

SESSION = "11111111-1111-4111-8111-111111111111"
INIT: JsonObject = {
    "type": "system",
    "subtype": "init",
    "apiKeySource": "login",
    "cwd": "/w",
    "session_id": SESSION,
    "model": "Auto",
    "permissionMode": "default",
}
ASKED: JsonObject = {
    "type": "user",
    "message": {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
    "session_id": SESSION,
}
DONE: JsonObject = {
    "type": "result",
    "subtype": "success",
    "duration_ms": 48,
    "duration_api_ms": 40,
    "is_error": False,
    "result": "…",
    "session_id": SESSION,
    "request_id": "r",
    "usage": {"inputTokens": 130, "outputTokens": 17, "cacheReadTokens": 17408, "cacheWriteTokens": 2},
}


def said(words: str, **more: Json) -> JsonObject:
    message: Json = {"role": "assistant", "content": [{"type": "text", "text": words}]}
    return {"type": "assistant", "message": message, "session_id": SESSION, **more}


def thought(subtype: str, **more: Json) -> JsonObject:
    return {"type": "thinking", "subtype": subtype, "session_id": SESSION, "timestamp_ms": 1, **more}


def call(subtype: str, told: JsonObject, call_id: str = "c\nfc_1") -> JsonObject:
    return {
        "type": "tool_call",
        "subtype": subtype,
        "call_id": call_id,
        "tool_call": told,
        "session_id": SESSION,
    }


def told(*lines: Json, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader(), new_core("auto")
    inputs: list[SessionInput] = [one for line in lines for one in reader.received(json.dumps(line).encode())]
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    if end is not None:
        balanced(events)
        readable(events)
    return [json.loads(to_json(event)) for event in events]


def ran(tool: str, arguments: JsonObject, result: Json) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the beginning and the end of one call."""
    body: JsonObject = {"args": arguments}
    started = call("started", {tool: body, "toolCallId": "c\nfc_1"})
    ended = call("completed", {tool: {**body, "result": result}, "toolCallId": "c\nfc_1"})
    events = told(INIT, ASKED, started, ended, DONE)
    (begun,) = [event for event in events if event["type"] == "tool_call"]
    (update,) = [event for event in events if event["type"] == "tool_update"]
    assert begun["tool_call_id"] == update["tool_call_id"] == "c\nfc_1"
    return begun, update


def texts(*lines: JsonObject) -> list[str]:
    """Return the messages that are told, each in one piece."""
    found: dict[str, str] = {}
    for event in told(INIT, ASKED, *lines, DONE):
        if event["type"] == "message_chunk":
            found[event["message_id"]] = found.get(event["message_id"], "") + event["text"]
    return [*found.values()]


def test_a_whole_turn() -> None:
    events = told(
        INIT,
        ASKED,
        thought("delta", text="One "),
        thought("delta", text="thought."),
        thought("completed"),
        thought("delta", text="Another."),
        thought("completed"),
        said("Done."),
        DONE,
        end=Ended("exited", exit_code=0),
    )
    (info,) = [event for event in events if event["type"] == "session_info"]
    assert (info["session_id"], info["model"], info["cwd"], info["agent_name"]) == (
        SESSION,
        "Auto",
        "/w",
        "cursor-agent",
    )
    thoughts: dict[str, str] = {}
    for event in events:
        if event["type"] == "reasoning":
            thoughts[event["message_id"]] = thoughts.get(event["message_id"], "") + event["reasoning_text"]
    assert [*thoughts.values()] == ["One thought.", "Another."]
    (complete,) = [event for event in events if event["type"] == "complete"]
    data = complete["data"]
    assert (data["outcome"], data["duration_ms"], data["duration_api_ms"]) == ("completed", 48, 40)
    assert (data["input_tokens"], data["output_tokens"]) == (130, 17)
    assert (data["cache_read_input_tokens"], data["cache_creation_input_tokens"]) == (17408, 2)


def test_whole_texts_are_told_as_they_are() -> None:
    first, again = said("Same.", model_call_id="m", timestamp_ms=1), said("Same.")
    assert texts(first, call("started", {"lsToolCall": {}}), again) == ["Same.", "Same."]


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        # pieces, then the whole text
        ([said("On", timestamp_ms=1), said("ce.", timestamp_ms=2), said("Once.")], ["Once."]),
        # the whole text has more
        ([said("On", timestamp_ms=1), said("Once more.")], ["Once more."]),
        # whole before a call, and all of the turn at its end
        (
            [
                said("One.", timestamp_ms=1),
                said("One.", timestamp_ms=2, model_call_id="m"),
                said("Two.", timestamp_ms=3),
                said("One.Two."),
            ],
            ["One.", "Two."],
        ),
        # the last piece alone
        ([said("One. ", timestamp_ms=1), said("Two.", timestamp_ms=2), said("Two.")], ["One. Two."]),
        # a whole text that no piece has told
        ([said("One.", timestamp_ms=1), said("Other.")], ["One.", "Other."]),
    ],
)
def test_a_text_in_pieces_and_whole_is_told_once(lines: list[JsonObject], messages: list[str]) -> None:
    assert texts(*lines) == messages


@pytest.mark.parametrize("how", ["success", "failure"])
@pytest.mark.parametrize("code", [0, 3])
def test_a_command(how: str, code: int) -> None:
    arguments: JsonObject = {
        "command": "make",
        "workingDirectory": "/w/sub",
        "isBackground": True,
        "timeout": 5,
    }
    result: Json = {
        how: {"command": "make", "exitCode": code, "signal": "", "stdout": "out\n", "stderr": "err\n"}
    }
    begun, update = ran("shellToolCall", arguments, result)
    assert begun["tool_name"] == "shell"
    shell = update["normalized"]["shell_exec"]
    assert (shell["command"], shell["work_dir"], shell["background"]) == ("make", "/w/sub", True)
    assert shell["output"]["exit_code"] == code
    assert (shell["output"]["stdout"], shell["output"]["stderr"]) == ("out\n", "err\n")
    assert update["tool_status"] == ("complete" if (how, code) == ("success", 0) else "error")


@pytest.mark.parametrize(
    ("result", "status", "reason"),
    [
        ({"rejected": {"command": "make", "reason": "Hook blocked"}}, "denied", "Hook blocked"),
        ({"rejected": {"command": "make", "reason": ""}}, "denied", "The call was rejected."),
        ("rejected", "denied", "The call was rejected."),
        ({"spawnError": {"command": "", "error": "spawn /bin/zsh ENOENT"}}, "error", "spawn /bin/zsh ENOENT"),
        ({"timeout": {"command": "make"}}, "error", "timeout"),
        ({"error": {"errorMessage": "no such file"}}, "error", "no such file"),
    ],
)
def test_what_did_not_run_says_why(result: Json, status: str, reason: str) -> None:
    _, update = ran("shellToolCall", {"command": "make"}, result)
    assert update["tool_status"] == "error"
    assert (update.get("reason") == "denied") == (status == "denied")
    assert update["error"] == reason


@pytest.mark.parametrize("result", ["fine", None, {}])
def test_a_call_that_tells_no_result_is_over(result: Json) -> None:
    _, update = ran("readToolCall", {"path": "a.txt"}, result)
    assert update["tool_status"] == "complete"


def test_an_edit_has_the_numbers_of_the_whole_file() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    success: Json = {
        "path": "/w/a.txt",
        "diffString": "-15\n+fifteen",
        "beforeFullFileContent": before,
        "afterFullFileContent": before.replace("15", "fifteen"),
        "message": "The file was edited.",
    }
    _, update = ran("editToolCall", {"path": "/w/a.txt", "streamContent": "fifteen"}, {"success": success})
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert mutation["type"] == "edit"
    assert "@@ -12,7 +12,7 @@" in mutation["diff"]
    assert update["normalized"]["modify_file"]["output"]["message"] == "The file was edited."


def test_an_edit_that_tells_a_diff_alone() -> None:
    unified = "--- a/a.txt\n+++ b/a.txt\n@@ -3,1 +3,1 @@\n-old\n+new\n"
    _, update = ran("editToolCall", {"path": "a.txt"}, {"success": {"diffString": unified}})
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert "@@ -3,1 +3,1 @@" in mutation["diff"]


def test_a_file_that_was_not_there_is_created() -> None:
    _, update = ran("editToolCall", {"path": "a.txt"}, {"success": {"afterFullFileContent": "new\n"}})
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert (mutation["type"], mutation["content"]) == ("create", "new\n")


def test_a_file_is_written() -> None:
    arguments: JsonObject = {"path": "/w/b.txt", "fileText": "one\ntwo\n"}
    begun, update = ran("writeToolCall", arguments, {"success": {"path": "/w/b.txt", "linesCreated": 2}})
    assert begun["normalized"]["modify_file"]["file_path"] == "/w/b.txt"
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert mutation["content"] == "one\ntwo\n"


def test_a_file_is_deleted() -> None:
    _, update = ran("deleteToolCall", {"path": "b.txt"}, {"success": {"path": "b.txt", "prevContent": "x\n"}})
    (mutation,) = update["normalized"]["modify_file"]["mutations"]
    assert (mutation["type"], mutation["old_content"]) == ("delete", "x\n")


def test_a_file_is_read() -> None:
    _, update = ran(
        "readToolCall", {"path": "a.txt", "limit": 2}, {"success": {"content": "one\ntwo", "totalLines": 9}}
    )
    read = update["normalized"]["read_file"]
    assert (read["file_path"], read["output"]["content"]) == ("a.txt", "one\ntwo")


@pytest.mark.parametrize(
    ("found", "output"),
    [
        (
            {
                "content": {
                    "matches": [
                        {
                            "file": "a.py",
                            "matches": [
                                {"lineNumber": 2, "content": "x = 1"},
                                {"lineNumber": 3, "content": "y", "isContextLine": True},
                            ],
                        }
                    ]
                }
            },
            {"files": ["a.py"], "match_count": 1},
        ),
        ({"files": {"files": ["a.py", "b.py"]}}, {"files": ["a.py", "b.py"], "file_count": 2}),
        ({"count": {"counts": [{"file": "a.py", "count": 4}]}}, {"matches": [{"text": "a.py: 4"}]}),
    ],
)
def test_grep(found: JsonObject, output: JsonObject) -> None:
    result: Json = {"success": {"pattern": "x", "workspaceResults": {"/w": found}}}
    _, update = ran("grepToolCall", {"pattern": "x", "path": "/w"}, result)
    search = update["normalized"]["code_search"]
    assert (search["query"], search["path"]) == ("x", "/w")
    assert output.items() <= search["output"].items()


def test_glob_and_ls() -> None:
    arguments: JsonObject = {"globPattern": "*.py", "targetDirectory": "/w"}
    _, update = ran("globToolCall", arguments, {"success": {"files": ["a.py"], "totalFiles": 1}})
    search = update["normalized"]["code_search"]
    assert (search["pattern"], search["path"], search["output"]["files"]) == ("*.py", "/w", ["a.py"])
    tree: Json = {
        "absPath": "/w",
        "childrenFiles": [{"name": "a.py"}],
        "childrenDirs": [{"absPath": "/w/sub", "childrenFiles": [{"name": "b.py"}]}],
    }
    _, update = ran("lsToolCall", {"path": "/w"}, {"success": {"directoryTreeRoot": tree}})
    assert update["normalized"]["code_search"]["output"]["files"] == ["/w/a.py", "/w/sub/b.py"]


def test_a_list_of_things_to_do() -> None:
    todos: Json = [
        {"id": "1", "content": "First", "status": "TODO_STATUS_IN_PROGRESS"},
        {"id": "2", "content": "Second"},
    ]
    begun, _ = ran("updateTodosToolCall", {"todos": todos, "merge": False}, {"success": {"todos": todos}})
    items = begun["normalized"]["manage_todos"]["items"]
    assert [(item["description"], item["status"]) for item in items] == [
        ("First", "in_progress"),
        ("Second", "pending"),
    ]


@pytest.mark.parametrize("is_error", [False, True])
def test_a_tool_of_a_server(is_error: bool) -> None:
    arguments: JsonObject = {
        "name": "notes-add",
        "args": {"text": "hi"},
        "providerIdentifier": "notes",
        "toolName": "add",
    }
    parts: Json = [{"text": {"text": "added"}}, {"image": {"data": "…"}}]
    _, update = ran("mcpToolCall", arguments, {"success": {"content": parts, "isError": is_error}})
    mcp = update["normalized"]["mcp_tool"]
    assert (mcp["server"], mcp["tool"], mcp["input"]) == ("notes", "add", {"text": "hi"})
    assert [part["type"] for part in mcp["output"]] == ["text", "unknown"]
    assert update["tool_status"] == ("error" if is_error else "complete")


def test_a_subagent_and_the_web() -> None:
    steps: Json = [{"thinkingMessage": {}}, {"assistantMessage": {"text": "It is done."}}]
    arguments: JsonObject = {"description": "Look", "prompt": "Look around."}
    _, update = ran("taskToolCall", arguments, {"success": {"conversationSteps": steps}})
    assert update["normalized"]["subagent_task"]["output"]["text"] == "It is done."
    _, update = ran("webSearchToolCall", {"searchTerm": "weather"}, {"success": {"references": []}})
    assert update["normalized"]["http_request"]["query"] == "weather"
    for name in ("fetchToolCall", "webFetchToolCall"):
        _, update = ran(name, {"url": "http://a"}, {"success": {"markdown": "# A"}})
        assert update["normalized"]["http_request"]["response"] == "# A"


@pytest.mark.parametrize(("told_as", "given"), [('{"q": 1}', {"q": 1}), ("{", "{"), ({"q": 1}, {"q": 1})])
def test_a_tool_of_another_form(told_as: Json, given: Json) -> None:
    body: JsonObject = {"function": {"name": "lookup", "arguments": told_as}}
    begun, update = told(
        INIT, ASKED, call("started", body), call("completed", body | {"result": {"success": {}}})
    )[-2:]
    assert begun["normalized"]["generic"] == {"name": "lookup", "input": given}
    assert update["tool_status"] == "complete"


def test_a_call_whose_beginning_was_not_heard() -> None:
    body: JsonObject = {"shellToolCall": {"args": {"command": "ls"}, "result": {"success": {"exitCode": 0}}}}
    line = call("completed", {**body, "toolCallId": "inside"})
    events = told(INIT, {**line, "call_id": None})
    begun, update = events[-2:]
    assert (begun["tool_call_id"], begun["normalized"]["shell_exec"]["command"]) == ("inside", "ls")
    assert update["tool_status"] == "complete"


@pytest.mark.parametrize(
    ("result", "outcome", "words"),
    [
        ({"subtype": "error", "is_error": True, "result": "HTTP 401: no key"}, "error", "HTTP 401: no key"),
        (
            {"subtype": "success", "is_error": True, "result": "", "error": "Out of usage"},
            "error",
            "Out of usage",
        ),
        ({"subtype": "error_max_turns", "is_error": True, "result": None}, "max_turns", "error_max_turns"),
        ({"subtype": "error_during_execution", "is_error": None}, "error", "…"),
    ],
)
def test_a_turn_that_fails(result: JsonObject, outcome: str, words: str) -> None:
    events = told(INIT, ASKED, {**DONE, "usage": None, **result})
    (complete,) = [event for event in events if event["type"] == "complete"]
    assert (complete["data"]["outcome"], complete["data"]["errors"]) == (outcome, [words])
    assert complete["data"].get("input_tokens") is None


def test_an_error_is_the_last_line_of_a_run_that_fails() -> None:
    failed: Json = {"type": "error", "message": "quota exceeded"}
    events = told(INIT, ASKED, failed, end=Ended("exited", exit_code=1))
    (complete,) = [event for event in events if event["type"] == "complete"]
    assert (complete["data"]["outcome"], complete["data"]["errors"]) == ("error", ["quota exceeded"])


def test_a_run_that_is_killed_was_broken_off() -> None:
    events = told(INIT, ASKED, said("Wait.", timestamp_ms=1), end=Ended("exited", signal="SIGKILL"))
    (complete,) = [event for event in events if event["type"] == "complete"]
    assert complete["data"]["outcome"] == "process_exited"


def test_a_plan_is_shown_and_other_questions_are_not() -> None:
    def query(kind: str, body: JsonObject) -> JsonObject:
        return {"type": "interaction_query", "subtype": "request", "query_type": kind, "query": {kind: body}}

    plan = query("createPlanRequestQuery", {"args": {"plan": "# Plan\n- look"}})
    events = told(INIT, ASKED, query("webSearchRequestQuery", {}), plan)
    assert [event["type"] for event in events][-2:] == ["user_message", "agent_plan"]
    assert events[-1]["plan_content"] == "# Plan\n- look"


def test_other_lines_of_the_system_are_notices_and_unknown_ones_unknown() -> None:
    notice: Json = {"type": "system", "subtype": "task_notification", "session_id": SESSION}
    events = told(INIT, ASKED, notice, {"type": "weather"}, thought("paused"))
    assert [event["type"] for event in events[-3:]] == ["notice", "unknown", "unknown"]
    assert events[-3]["kind"] == "task_notification"


RECORDED = [
    INIT,
    ASKED,
    thought("delta", text="Looking"),
    thought("completed"),
    said("I look.", timestamp_ms=1, model_call_id="m"),
    call("started", {"shellToolCall": {"args": {"command": "exit 3"}}}),
    call(
        "completed",
        {"shellToolCall": {"args": {"command": "exit 3"}, "result": {"failure": {"exitCode": 3}}}},
    ),
    said("It failed."),
    DONE,
]


@pytest.mark.parametrize("first", range(len(RECORDED)))
def test_a_recording_is_cursors_wherever_it_begins(first: int) -> None:
    found = [family.name for line in RECORDED[first:] if (family := claiming(line)) is not None]
    assert {*found} == {"cursor-agent"}
    events = told(*RECORDED[first:], end=Ended("end_of_input"))
    assert not [event for event in events if event["type"] == "unknown"]
    assert [e["data"]["outcome"] for e in events if e["type"] == "complete"] == ["completed"] * (first < 8)


def test_a_text_that_has_more_than_cursors_is_not_claimed() -> None:
    assert claiming(said("Hello.", parent_tool_use_id=None)) is None
    assert claiming({**said("Hello."), "message": {"role": "assistant", "content": [], "model": "m"}}) is None
