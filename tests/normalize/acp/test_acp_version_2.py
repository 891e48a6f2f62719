"""Version 2 of the protocol: whole messages, turns that are told apart from the answers to prompts, several plans."""

import json

import pytest

from acp_talk import Event, Talk, only, shown, types
from turnwire.protocol.acp import encode

WORDS = {"type": "text", "text": "Go on."}


def test_a_turn_begins_with_the_prompt_and_ends_when_the_session_is_idle() -> None:
    talk = Talk()
    assert types(talk.prompt(1)) == ["session_status", "turn_started", "user_message"]
    assert talk.update("user_message", messageId="u", content=[WORDS]) == []
    assert talk.update("state_update", state="running") == []
    assert talk.answers(1, messageId="u") == []
    assert talk.is_busy()
    end = talk.update(
        "state_update", state="idle", stopReason="end_turn", usage={"inputTokens": 3, "outputTokens": 1}
    )
    data = only(end, "complete")["data"]
    assert (data["outcome"], data["input_tokens"], data["output_tokens"]) == ("completed", 3, 1)
    assert not talk.is_busy()
    assert talk.update("state_update", state="idle", stopReason="end_turn") == []


def test_a_turn_that_fails_says_why() -> None:
    talk = Talk()
    talk.prompt(1)
    end = talk.update("state_update", state="idle", error={"message": "No credit.", "status": 402})
    assert types(end) == ["complete", "error"]
    assert (end[1]["error"], end[1]["code"], end[1]["status"]) == ("No credit.", "billing_error", 402)


def test_a_session_that_only_says_that_it_is_idle_ends_no_turn_before_it_has_worked() -> None:
    talk = Talk()
    talk.prompt(1)
    assert talk.update("state_update", state="idle") == []
    assert talk.is_busy()
    assert talk.update("state_update", state="requires_action") == []
    assert talk.is_busy()
    assert only(talk.update("state_update", state="idle"), "complete")["data"]["outcome"] == "completed"


def test_a_call_shows_one_thing_more_and_its_terminal_too() -> None:
    talk = Talk()
    talk.prompt(1)
    told = {"content": {"type": "content", "content": WORDS}}
    assert talk.update("tool_call_content_chunk", toolCallId="t", **told) == []
    assert talk.update("terminal_output_chunk", terminalId="t", data="YQ==") == []
    terminal = {"type": "terminal", "terminalId": "x"}
    talk.update("tool_call_update", toolCallId="t", kind="execute", title="ls", content=[terminal])
    talk.update("terminal_update", terminalId="x", command="ls", output={"data": "b2xk"})
    talk.update("terminal_update", terminalId="x", output={"data": "YQ=="})
    talk.update("terminal_output_chunk", terminalId="x", data="Yg==")
    talk.update("terminal_update", terminalId="x", exitStatus={"exitCode": 3})
    (end,) = talk.update("tool_call_update", toolCallId="t", status="failed")
    assert end["normalized"]["shell_exec"]["output"]["stdout"] == "ab"
    assert end["normalized"]["shell_exec"]["output"]["exit_code"] == 3
    talk.update("tool_call_update", toolCallId="u", kind="other", title="look")
    talk.update("tool_call_content_chunk", toolCallId="u", **told)
    talk.update("tool_call_content_chunk", toolCallId="u", **told)
    (end,) = talk.update("tool_call_update", toolCallId="u", status="completed")
    assert json.dumps(end).count("Go on.") == 2


def test_a_call_that_was_cancelled_has_not_failed_by_itself() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call_update", toolCallId="t", kind="execute", title="ls", status="in_progress")
    (end,) = talk.update("tool_call_update", toolCallId="t", status="cancelled")
    assert (end["tool_status"], end["reason"]) == ("error", "interrupted")


def test_notices_and_compactions() -> None:
    talk = Talk()
    (told,) = talk.update("notice", severity="warning", title="Low credit", description="Add some.")
    assert (told["kind"], told["level"], told["text"]) == ("notice", "warning", "Low credit\nAdd some.")
    assert talk.update("notice", title="") == []
    assert talk.update("compaction_update", compactionId="c", status="in_progress") == []
    assert talk.update("compaction_summary_chunk", compactionId="c", content=WORDS) == []
    assert types(talk.update("compaction_update", compactionId="c", status="completed")) == [
        "compact_boundary"
    ]
    (failed,) = talk.update("compaction_update", compactionId="c", status="failed", error="no room")
    assert failed["text"] == "The conversation could not be summarised: no room"


def test_a_command_is_asked_about_without_a_call() -> None:
    talk = Talk()
    talk.prompt(1)
    params = {
        "sessionId": "s",
        "title": "Run it",
        "subject": {"type": "command", "command": "ls -l", "cwd": "/p"},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
    }
    asked = talk.hears(encode.request(7, "session/request_permission", params))
    request = only(asked, "permission_request")
    assert (request["action_type"], request["tool_input"]["command"]) == ("command", "ls -l")


def test_an_answer_without_a_reason_ends_the_turn_of_version_1() -> None:
    talk = Talk()
    talk.prompt(1)
    assert only(talk.answers(1), "complete")["data"]["outcome"] == "completed"


def test_a_turn_that_the_agent_begins_itself_is_its_own() -> None:
    talk = Talk()
    begun = talk.update("state_update", state="running")
    assert types(begun) == ["session_status", "turn_started"]
    assert begun[1]["origin"] == "autonomous"
    assert talk.update("state_update", state="running") == []
    assert types(talk.update("state_update", state="idle", stopReason="end_turn")) == [
        "notice",
        "complete",
    ]


def test_a_turn_that_a_prompt_waits_for_is_that_prompts() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.prompt(2)
    (_, end, *begun) = talk.update("state_update", state="idle", stopReason="end_turn")
    assert (end["type"], types(begun), begun[0]["origin"]) == ("complete", ["turn_started"], "queued")
    assert talk.update("state_update", state="running") == []


def test_an_answer_that_comes_after_its_turn_ended_is_no_news() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("state_update", state="idle", stopReason="end_turn")
    assert talk.answers(1, stopReason="end_turn") == []
    talk.prompt(2)
    talk.update("state_update", state="idle", stopReason="end_turn")
    talk.prompt(3)
    assert talk.answers(2, stopReason="end_turn") == []
    assert talk.is_busy()


def test_a_prompt_that_nobody_was_heard_to_send_begins_its_turn() -> None:
    talk = Talk()
    told = talk.update("user_message", messageId="u", content=[WORDS])
    assert types(told) == ["session_status", "turn_started", "user_message"]
    assert (told[1]["prompts"], told[2]["text"], told[2]["uuid"]) == (["u"], "Go on.", "u")


def test_a_prompt_of_the_past_or_of_another_client_begins_no_turn() -> None:
    talk = Talk()
    talk.sends(1, "session/load", sessionId="s", cwd="/w", mcpServers=[])
    (_, past) = talk.update("user_message", messageId="u", content=[WORDS])
    assert (past["text"], past["history"], "operation_id" in past) == ("Go on.", True, False)
    talk.answers(1)
    (started, _) = talk.prompt(2, "Now.")
    (other,) = talk.update("user_message", messageId="v", content=[WORDS])
    assert (other["type"], other["operation_id"]) == ("user_message", started["operation_id"])


@pytest.mark.parametrize(
    ("update", "kind", "field"),
    [("agent_message", "message_chunk", "text"), ("agent_thought", "reasoning", "reasoning_text")],
)
def test_a_whole_message_takes_the_place_of_its_chunks(update: str, kind: str, field: str) -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update(f"{update}_chunk", messageId="m", content={"type": "text", "text": "Hal"})
    (whole,) = talk.update(update, messageId="m", content=[{"type": "text", "text": "Hello"}])
    assert (whole["type"], whole[field], whole["message_id"]) == (kind, "Hello", "m")
    assert (whole["block_index"], whole["replace"]) == (0, True)
    (more,) = talk.update(f"{update}_chunk", messageId="m", content={"type": "text", "text": "!"})
    assert (more[field], more["message_id"], "replace" in more) == ("!", "m", False)
    (gone,) = talk.update(update, messageId="m", content=[])
    assert (gone[field], gone["replace"]) == ("", True)


def test_a_whole_message_without_chunks_is_said_once() -> None:
    talk = Talk()
    talk.prompt(1)
    (whole,) = talk.update("agent_message", messageId="m", content=[WORDS])
    assert (whole["text"], whole["message_id"], "replace" in whole) == ("Go on.", "m", False)
    (unnamed,) = talk.update("agent_message", content=[WORDS])
    assert unnamed["message_id"] not in (None, "m")
    assert talk.update("agent_message", messageId="empty") == []


def test_a_long_whole_message_is_replaced_once_and_goes_on_in_pieces() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.text("Hal", messageId="m")
    words = "é" * 200_000
    told = talk.update("agent_message", messageId="m", content=[{"type": "text", "text": words}])
    assert "".join(event["text"] for event in told) == words
    assert [event.get("replace") for event in told] == [True, *[None] * (len(told) - 1)]
    assert len(told) > 1


def test_plans_go_by_their_ids() -> None:
    talk = Talk()
    talk.prompt(1)
    entries = [{"content": "A", "status": "in_progress"}]
    (listed,) = talk.update("plan_update", plan={"planId": "p", "type": "items", "entries": entries})
    (written,) = talk.update("plan_update", plan={"planId": "q", "type": "markdown", "content": "# Plan"})
    (kept,) = talk.update("plan_update", plan={"planId": "r", "type": "file", "uri": "file:///plan.md"})
    (removed,) = talk.update("plan_removed", planId="p")
    assert [(event["plan_id"], event["plan_content"]) for event in (listed, written, kept, removed)] == [
        ("p", "- [-] A"),
        ("q", "# Plan"),
        ("r", ""),
        ("p", ""),
    ]
    assert (kept["plan_file_path"], removed["items"]) == ("file:///plan.md", [])


def test_a_plan_of_another_sort_is_kept_as_it_came() -> None:
    talk = Talk()
    talk.prompt(1)
    (odd,) = talk.update("plan_update", plan={"planId": "p", "type": "song", "notes": ["c"]})
    assert (odd["type"], odd["message_type"]) == ("unknown", "session/update/plan_update")
    assert json.loads(odd["raw"]) == {"planId": "p", "type": "song", "notes": ["c"]}


def test_leave_is_asked_for_a_subject() -> None:
    talk = Talk()
    talk.prompt(1)
    call = {"toolCallId": "c", "title": "List", "kind": "execute", "rawInput": {"command": "ls"}}
    params = {
        "sessionId": "s",
        "title": "Run ls?",
        "description": "It lists.",
        "subject": {"type": "tool_call", "toolCall": call},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    asked = talk.hears(encode.request(1, "session/request_permission", params))
    assert types(asked) == ["tool_call", "permission_request"]
    told = asked[1]
    assert (told["tool_call_id"], told["permission_title"], told["reason"]) == ("c", "ls", "It lists.")
    assert told["agent_title"] == "Run ls?"


@pytest.mark.parametrize("subject", [None, {"type": "weather"}])
def test_leave_that_is_asked_for_no_call_is_a_question_alone(subject: Event | None) -> None:
    talk = Talk()
    talk.prompt(1)
    params: Event = {"sessionId": "s", "title": "May I?", "subject": subject, "options": []}
    (asked,) = talk.hears(encode.request(1, "session/request_permission", params))
    assert (asked["type"], asked["permission_title"], "tool_call_id" in asked) == (
        "permission_request",
        "May I?",
        False,
    )
    (answered,) = talk.says(encode.response(1, {"outcome": {"outcome": "cancelled"}}))
    assert (answered["type"], answered["reason"]) == ("permission_cancelled", "cancelled")


def test_a_call_that_waits_for_leave_has_not_ended_whatever_the_question_says_of_it() -> None:
    talk = Talk()
    talk.prompt(1)
    asked = talk.asks(1, "c", title="List", kind="execute", status="completed", rawInput={"command": "ls"})
    assert types(asked) == ["tool_call", "permission_request"]
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed", content=shown("a"))[-1:]
    assert (end["type"], end["tool_status"]) == ("tool_update", "complete")
