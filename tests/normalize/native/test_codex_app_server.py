"""What the recordings of `codex app-server` have none of."""

import json
from typing import Any

import pytest

from turnwire.normalize.events import to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.json_values import Json, JsonObject

Line = tuple[str, JsonObject]


def told(*lines: Line, end: Ended | None = None) -> list[dict[str, Any]]:
    reader, core = LineReader("codex-app-server"), new_core("codex-app-server")
    inputs: list[SessionInput] = []
    for side, value in lines:
        line = json.dumps(value).encode()
        inputs += reader.received(line) if side == "<" else reader.sent(line)
    events = [event for one in inputs + ([end] if end else []) for event in core.handle(one)]
    return [json.loads(to_json(event)) for event in events]


def notice(method: str, **params: Json) -> Line:
    return "<", {"method": method, "params": {"threadId": "t", **params}}


def asks(method: str, number: Json = 0, **params: Json) -> Line:
    return "<", {"method": method, "id": number, "params": {"threadId": "t", **params}}


def answers(result: Json, number: int = 0) -> Line:
    return ">", {"id": number, "result": result}


def done(kind: str, **members: Json) -> Line:
    return notice("item/completed", item={"type": kind, "id": "i", **members})


def began(kind: str, **members: Json) -> Line:
    return notice("item/started", item={"type": kind, "id": "i", **members})


TURN = notice("turn/started", turn={"id": "1"})
RUNS = began("commandExecution", command="ls", status="inProgress")
WANTS = asks("item/commandExecution/requestApproval", itemId="i", command="ls")


def last(*lines: Line) -> dict[str, Any]:
    return told(*lines)[-1]


def test_what_a_program_answers_and_no_person_is_no_event() -> None:
    assert told(asks("item/tool/call"), notice("thread/name/updated", name="x")) == []


def test_requests_and_lines_that_are_not_known_are_unknown() -> None:
    kinds = [event["type"] for event in told(asks("weather/ask"), asks("item/tool/call2"), ("<", {"id": 1}))]
    assert kinds == ["unknown"] * 3
    assert last(asks("item/tool/requestUserInput", number=None))["type"] == "unknown"
    assert last(TURN, began("weather"), done("weather"))["type"] == "unknown"


def test_a_refused_request_of_the_client_is_a_notice_that_names_it() -> None:
    refused: Line = "<", {"id": 7, "error": {"code": -32600, "message": "no such thread"}}
    assert (
        last((">", {"id": 7, "method": "thread/resume"}), refused)["text"] == "thread/resume: no such thread"
    )
    wordless: Line = "<", {"id": None, "error": None}
    assert last(wordless)["text"] == "request: The server refused a request without a word."


def test_an_answer_to_nothing_is_no_event() -> None:
    assert told(answers({"decision": "accept"})) == []
    assert told((">", {"id": None, "method": "initialized"})) == []


@pytest.mark.parametrize(
    ("decision", "behavior", "option"),
    [
        ("acceptForSession", "allow", "acceptForSession"),
        ({"acceptWithExecpolicyAmendment": {}}, "allow", "acceptWithExecpolicyAmendment"),
        ("decline", "deny", "decline"),
        (None, "deny", "cancel"),
    ],
)
def test_an_answer_is_told_with_its_option(decision: Json, behavior: str, option: str) -> None:
    resolved = last(TURN, RUNS, WANTS, answers({"decision": decision}))
    assert (resolved["behavior"], resolved["option_id"]) == (behavior, option)


def test_an_error_as_an_answer_denies() -> None:
    resolved = last(TURN, RUNS, WANTS, (">", {"id": 0, "error": {"code": 1, "message": "nobody is here"}}))
    assert (resolved["behavior"], resolved["message"]) == ("deny", "nobody is here")


def test_options_that_are_not_known_are_offered_under_their_own_names() -> None:
    offered: Json = ["maybe", {"acceptForever": {}, "refuseForever": {}}, "decline", 7]
    request = last(
        TURN, RUNS, asks("item/commandExecution/requestApproval", itemId="i", availableDecisions=offered)
    )
    options = [(one["option_id"], one["kind"]) for one in request["permission_options"]]
    assert options == [
        ("maybe", "allow_once"),
        ("acceptForever", "allow_always"),
        ("refuseForever", "reject_always"),
        ("decline", "reject_once"),
    ]


def test_leave_for_more_than_the_sandbox_allows_is_asked_and_answered() -> None:
    wants = asks(
        "item/permissions/requestApproval", itemId="p", permissions={"network": True}, reason="To fetch"
    )
    granted = told(TURN, wants, answers({"permissions": {"network": True}}))
    assert [event["type"] for event in granted][-3:] == [
        "tool_call",
        "permission_request",
        "permission_resolved",
    ]
    assert granted[-1]["behavior"] == "allow"
    assert last(TURN, wants, answers({"permissions": {}}))["behavior"] == "deny"


def test_an_elicitation_is_a_question_and_its_answer_counts() -> None:
    wants = asks("mcpServer/elicitation/request", serverName="s", message="Which?", requestedSchema={})
    events = told(TURN, wants, answers({"action": "accept"}))
    assert (events[-2]["kind"], events[-2]["mcp_server"], events[-1]["behavior"]) == (
        "elicitation",
        "s",
        "allow",
    )


def test_a_question_is_over_though_its_answer_was_not_heard() -> None:
    wants = asks("item/tool/requestUserInput", questions=[])
    assert last(TURN, wants, notice("serverRequest/resolved", requestId=0))["behavior"] == "answer"
    assert told(notice("serverRequest/resolved", requestId=[])) == []


def test_a_command_says_what_was_decided_where_no_answer_was_heard() -> None:
    over = notice("serverRequest/resolved", requestId=0)
    ended = done("commandExecution", command="ls", status="declined")
    kinds = [(event["type"], event.get("behavior")) for event in told(TURN, RUNS, WANTS, over, ended)]
    assert kinds[-2:] == [("permission_resolved", "deny"), ("tool_update", None)]


@pytest.mark.parametrize(
    ("item", "name", "kind"),
    [
        ({"type": "webSearch", "query": "q"}, "web_search", "http_request"),
        ({"type": "imageView", "path": "/a.png"}, "view_image", "read_file"),
        ({"type": "dynamicToolCall", "tool": "mine", "success": False}, "mine", "generic"),
        ({"type": "imageGeneration"}, "image_generation", "generic"),
    ],
)
def test_every_kind_of_call_is_told(item: JsonObject, name: str, kind: str) -> None:
    call, update = told(TURN, notice("item/completed", item={"id": "i", **item}))[-2:]
    assert (call["tool_name"], call["normalized"]["kind"]) == (name, kind)
    assert update["tool_status"] == ("error" if "success" in item else "complete")


def test_items_that_are_no_calls() -> None:
    assert told(TURN, began("sleep"), done("sleep"))[2:] == []
    assert last(TURN, done("enteredReviewMode", review="Look."))["text"] == "The review begins: Look."
    assert last(TURN, done("plan", text="1. Go"))["plan_content"] == "1. Go"
    thought = last(TURN, done("reasoning", summary=[7], content=["Hm."]))
    assert (thought["reasoning_text"], thought["message_id"]) == ("Hm.", "i:content:0")
    assert last(TURN, notice("item/reasoning/textDelta", itemId="i", delta="H"))["reasoning_text"] == "H"
    assert (
        last(TURN, done("userMessage", content=[{"type": "text", "text": "a"}, {"type": "image"}]))["text"]
        == "a"
    )


def test_a_patch_is_told_while_it_is_written_and_a_file_can_move() -> None:
    changes: Json = [
        {"path": "/a", "kind": {"type": "update", "move_path": "/b"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"},
        {"path": "/c", "kind": {"type": "delete"}, "diff": "c\n"},
    ]
    call = last(TURN, notice("item/fileChange/patchUpdated", itemId="i", changes=changes))
    mutations = call["normalized"]["modify_file"]["mutations"]
    assert [(one["type"], one.get("file_path")) for one in mutations] == [("edit", None), ("delete", "/c")]
    assert call["normalized"]["modify_file"]["file_path"] == "/b"


def test_a_failure_of_a_subagent_fails_no_turn() -> None:
    error: Json = {"message": "unexpected status 500", "codexErrorInfo": "internalServerError"}
    sub: Line = "<", {"method": "error", "params": {"threadId": "u", "error": error}}
    assert last(TURN, sub)["kind"] == "subagent_error"


def test_a_failure_before_any_text_is_tried_again() -> None:
    error: Json = {
        "message": "unexpected status 503",
        "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 503}},
    }
    retry = last(TURN, notice("error", error=error, willRetry=True))
    assert (retry["type"], retry["attempt"], retry["status"]) == ("api_retry", 1, 503)


def test_a_conversation_that_follows_in_the_same_process_is_the_session() -> None:
    reply: Line = "<", {"id": 1, "result": {"thread": {"id": "t"}, "cwd": "/"}}
    other: Line = "<", {"method": "thread/started", "params": {"thread": {"id": "v", "cwd": "/"}}}
    child: Line = "<", {"method": "thread/started", "params": {"thread": {"id": "u", "parentThreadId": "t"}}}
    assert [event["session_id"] for event in told(reply, child) if event["type"] == "session_status"] == ["t"]
    assert [event["session_id"] for event in told(reply, other) if event["type"] == "session_status"] == [
        "t",
        "v",
    ]


def test_what_a_subagent_is_told_and_its_compaction_are_its_own() -> None:
    def sub(method: str, **params: Json) -> Line:
        return "<", {"method": method, "params": {"threadId": "u", **params}}

    prompt: Json = {"type": "userMessage", "id": "p", "content": []}
    lines = (
        sub("item/started", item=prompt),
        sub("item/completed", item=prompt),
        sub("item/started", item={"type": "agentMessage", "id": "m"}),
        sub("item/completed", item={"type": "contextCompaction", "id": "c"}),
    )
    assert told(TURN, *lines)[2:] == []


def test_a_server_that_does_not_start_and_another_model_are_told() -> None:
    failed = notice("mcpServer/startupStatus/updated", name="calc", status="failed")
    assert last(failed)["text"] == "The MCP server calc does not start: it does not say why"
    assert last(notice("model/rerouted", toModel="small"))["model"] == "small"
    assert last(notice("configWarning"))["text"] == "warning"


def test_a_count_of_tokens_that_comes_again_counts_once() -> None:
    def tokens(total: int, call: int, **more: Json) -> Line:
        usage: Json = {
            "total": {"totalTokens": total, "inputTokens": total},
            "last": {"totalTokens": call, "inputTokens": call},
        }
        return notice("thread/tokenUsage/updated", tokenUsage=usage, **more)

    end = notice("turn/completed", turn={"status": "completed"})
    complete = last(tokens(500, 100), TURN, tokens(500, 100), tokens(600, 100), end)
    assert (complete["data"]["input_tokens"], complete["data"]["total_input_tokens"]) == (100, 600)


def starts(name: str | None = "p", number: int = 3, thread: str = "t") -> Line:
    said: Json = [{"type": "text", "text": "Go on."}]
    return ">", {
        "id": number,
        "method": "turn/start",
        "params": {"threadId": thread, "clientUserMessageId": name, "input": said},
    }


def kinds(*lines: Line, end: Ended | None = None) -> list[str]:
    return [event["type"] for event in told(*lines, end=end)]


def test_a_prompt_that_its_client_names_begins_the_turn_and_is_told_once() -> None:
    item: Json = {
        "type": "userMessage",
        "id": "u",
        "clientId": "p",
        "content": [{"type": "text", "text": "Go on."}],
    }
    echoes = [notice("item/started", item=item), notice("item/completed", item=item)]
    lines = [starts(), TURN, *echoes, notice("turn/completed", turn={"status": "completed"})]
    assert kinds(*lines) == ["session_status", "turn_started", "user_message", "complete"]
    assert told(*lines)[-1]["data"]["prompts"] == ["p"]
    assert kinds(starts(), TURN, echoes[1]) == ["session_status", "turn_started", "user_message"]
    # without a name, in another thread and in a turn that runs, the server says it
    assert kinds(starts(None)) == []
    assert kinds(opened(), starts(thread="other")) == kinds(opened())
    assert kinds(TURN, starts()) == ["session_status", "turn_started"]


def test_a_turn_that_the_server_refuses_ends_as_an_error() -> None:
    refused: Line = "<", {"id": 3, "error": {"message": "unexpected status 429 Too Many Requests"}}
    ended = next(event for event in told(starts(), refused) if event["type"] == "complete")
    assert (ended["data"]["outcome"], ended["data"]["api_error_status"]) == ("error", 429)
    assert kinds(starts(), refused, TURN)[-1] == "turn_started"
    # of a turn that runs already, and of one that has begun, the error is a notice
    assert kinds(TURN, starts(), refused)[-1] == kinds(starts(), TURN, refused)[-1] == "notice"


def test_a_process_that_ends_before_the_turn_has_begun_ends_it() -> None:
    ended = [event for event in told(starts(), end=Ended("exited", 1)) if event["type"] == "complete"]
    assert [event["data"]["outcome"] for event in ended] == ["process_exited"]


def offers(*models: JsonObject) -> Line:
    return "<", {"id": 9, "result": {"data": [*models]}}


MODEL: JsonObject = {
    "model": "m",
    "displayName": "M",
    "defaultReasoningEffort": "low",
    "supportedReasoningEfforts": [
        {"reasoningEffort": "low", "description": "Fast"},
        {"reasoningEffort": "high"},
    ],
}


def opened(effort: str | None = None) -> Line:
    thread: JsonObject = {"id": "t", "cwd": "/w"}
    return "<", {"id": 2, "result": {"thread": thread, "cwd": "/w", "model": "m", "reasoningEffort": effort}}


def test_models_and_the_efforts_of_the_one_in_use_are_told_and_told_again_when_they_change() -> None:
    settings = notice("thread/settings/updated", threadSettings={"model": "m", "effort": "high"})
    events = told(
        opened(), offers(MODEL, {**MODEL, "model": "old", "hidden": True}), offers(MODEL), settings, settings
    )
    (listed,) = [event["models"] for event in events if event.get("models")]
    assert listed == [{"id": "m", "name": "M"}]
    shown = [event["options"][0] for event in events if event["type"] == "session_options"]
    assert [(one["id"], one["current"]) for one in shown] == [("effort", "low"), ("effort", "high")]
    assert [value["value"] for value in shown[0]["values"]] == ["low", "high"]
    assert kinds(offers({"cwd": "/w"})) == []
    assert "session_options" not in kinds(offers(MODEL))


def test_settings_of_the_conversation_tell_its_model_and_mode() -> None:
    mode: Json = {"model": "n", "collaborationMode": {"mode": "plan"}}
    events = told(opened(), notice("thread/settings/updated", threadSettings=mode))
    assert [event["type"] for event in events][-2:] == ["session_info", "session_mode"]
    assert (events[-2]["model"], events[-1]["current_mode_id"]) == ("n", "plan")
    other: Line = (
        "<",
        {"method": "thread/settings/updated", "params": {"threadId": "other", "threadSettings": mode}},
    )
    assert len(told(opened(), other)) == len(told(opened()))


def test_a_request_for_leave_to_patch_has_the_changes_of_its_item() -> None:
    changes: Json = [{"path": "/w/a", "kind": {"type": "add"}, "diff": "one\n"}]
    wants = asks("item/fileChange/requestApproval", itemId="i")
    assert last(TURN, began("fileChange", changes=changes), wants)["action_details"]["path"] == "/w/a"
    updated = notice("item/fileChange/patchUpdated", itemId="i", changes=changes)
    assert last(TURN, updated, wants)["action_details"]["path"] == "/w/a"
    over = notice("turn/completed", turn={"status": "completed"})
    assert "/w/a" not in json.dumps(
        last(TURN, updated, over, TURN, asks("item/fileChange/requestApproval", itemId="j"))
    )


def test_what_a_turn_left_running_ends_in_no_turn() -> None:
    over = notice("turn/completed", turn={"status": "interrupted"})
    late = done("commandExecution", command="ls", status="failed", exitCode=-1)
    assert kinds(TURN, RUNS, over, late) == kinds(TURN, RUNS, over)
    assert kinds(TURN, RUNS, over, late, TURN, late)[-1] == "tool_update"


def test_the_diff_of_a_turn_is_told_once_at_its_end() -> None:
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"
    end = notice("turn/completed", turn={"id": "1", "status": "completed"})
    updated = [notice("turn/diff/updated", diff="old"), notice("turn/diff/updated", diff=diff)]
    of_another = ("<", {"method": "turn/diff/updated", "params": {"threadId": "child", "diff": "other"}})
    told_of = [
        event for event in told(TURN, *updated, of_another, end, TURN, end) if "turn_diff" in event.values()
    ]
    assert [(event["text"], event["details"]) for event in told_of] == [
        ("The turn changed 1 file: 2 lines added, 1 removed", {"diff": diff})
    ]


def test_what_a_command_reads_is_its_description() -> None:
    actions: list[Json] = [
        {"type": "read", "path": "/p/a.txt", "name": "a.txt"},
        {"type": "listFiles", "path": None},
        {"type": "search", "query": "x", "path": "src"},
        {"type": "search", "query": None, "path": None},
        {"type": "unknown", "command": "true"},
    ]
    runs = began("commandExecution", command="cat a.txt", status="inProgress", commandActions=actions)
    call = last(TURN, runs)
    words = "reads /p/a.txt; lists files; searches 'x' in src"
    assert call["normalized"]["shell_exec"]["description"] == words
    asked = last(
        TURN, asks("item/commandExecution/requestApproval", itemId="i", command="ls", commandActions=actions)
    )
    assert asked["tool_input"]["description"] == words


HOOKS = "/home/me/.codex/hooks.json"


def ran(event: str, name: str, status: str, *entries: str, **more: Json) -> Line:
    run: JsonObject = {
        "id": f"{name}:0:{HOOKS}",
        "eventName": event,
        "sourcePath": HOOKS,
        "status": status,
        "statusMessage": "checking",
        "entries": [{"kind": "feedback", "text": words} for words in entries],
    }
    phase = "started" if status == "running" else "completed"
    return notice(f"hook/{phase}", turnId="1", run=run | more)


def test_hooks_of_the_configuration_are_told_with_what_they_said() -> None:
    began, over = told(
        TURN, ran("stop", "stop", "running"), ran("stop", "stop", "blocked", "Run the", "tests.")
    )[-2:]
    assert (began["type"], began["phase"], began["hook_event"]) == ("hook_activity", "started", "Stop")
    assert "outcome" not in began
    assert (over["phase"], over["outcome"], over["output"]) == ("finished", "block", "Run the\ntests.")
    assert (over["hook_id"], over["hook_name"]) == (f"stop:0:{HOOKS}", "checking")
    assert "tool_call_id" not in over


def test_a_hook_about_a_call_names_it() -> None:
    told_of = last(TURN, ran("preToolUse", "pre-tool-use", "failed", id=f"pre-tool-use:0:{HOOKS}:call_1"))
    assert (told_of["tool_call_id"], told_of["outcome"]) == ("call_1", "error")


def test_a_hook_of_which_nothing_is_told_is_told_all_the_same() -> None:
    assert last(TURN, notice("hook/completed", run=None))["phase"] == "finished"


def test_what_a_hook_tells_the_model_is_a_prompt_of_nobodys() -> None:
    prompt = last(TURN, done("hookPrompt", fragments=[{"text": "Run the tests."}, {"text": 7}]))
    assert (prompt["type"], prompt["text"], prompt["synthetic"]) == ("user_message", "Run the tests.", True)
    of_a_subagent = notice("item/completed", threadId="child", item={"type": "hookPrompt", "id": "i"})
    assert told(TURN, of_a_subagent) == told(TURN)


def limited(primary: Json = None, secondary: Json = None, reached: str | None = None) -> Line:
    limits: JsonObject = {"primary": primary, "secondary": secondary, "rateLimitReachedType": reached}
    return "<", {"method": "account/rateLimits/updated", "params": {"rateLimits": limits}}


def window(used: int, minutes: int | None = 300, resets: int = 1795900000) -> JsonObject:
    return {"usedPercent": used, "windowDurationMins": minutes, "resetsAt": resets}


def test_a_limit_that_is_near_or_reached_is_told_once_until_it_resets() -> None:
    week = window(40, 10080)
    assert told(limited(), limited(window(89), week)) == []
    near = limited(window(98), week)
    (one,) = told(near, near)
    assert one["rate_limit_message"] == "Close to the rate limit (five_hour): 98% used"
    assert (one["status"], one["resets_at"], one["utilization"]) == ("allowed_warning", 1795900000, 0.98)
    full = limited(window(100), week, "rate_limit_reached")
    _, reached, again = told(near, full, full, limited(window(95, resets=1795918000), week))
    assert (reached["status"], reached["rate_limit_message"]) == (
        "rejected",
        "Rate limited by API (five_hour)",
    )
    assert again["resets_at"] == 1795918000


def test_limits_without_a_known_window_are_named_by_what_is_told() -> None:
    (spent,) = told(limited(reached="workspace_owner_credits_depleted"))
    assert (spent["rate_limit_type"], spent["status"]) == ("workspace_owner_credits_depleted", "rejected")
    assert "utilization" not in spent
    assert [last(limited(window(99, minutes)))["rate_limit_type"] for minutes in (60, None)] == [
        "60 minutes",
        "limit",
    ]
