"""Every recording through the encoder: the official models take each update, and nothing that was counted is lost."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from acp import schema
from pydantic import BaseModel, TypeAdapter

from acp_updates import GOLDENS, is_whole, read, valid
from turnwire.client import events as ev
from turnwire.client.payloads import ContentPart, Generic, GenericPayload, TodoItem
from turnwire.client.values import JsonObject
from turnwire.frontends.acp.dialogs import DialogCapabilities, dialog
from turnwire.frontends.acp.encoder import Encoder
from turnwire.frontends.acp.tool_calls import ToolCalls
from turnwire.frontends.acp.turns import Prompts

elicitation: TypeAdapter[BaseModel] = TypeAdapter(schema.CreateElicitationRequest)


def said(updates: Iterable[JsonObject], kind: str) -> str:
    """The agent's own words of a kind: no notes on events, nothing that is said again."""
    own = (
        each["content"]["text"]
        for each in updates
        if each["sessionUpdate"] == kind and not {"event", "parentToolCallId"} & ours(each).keys()
    )
    return "".join(own)


def ours(update: JsonObject) -> JsonObject:
    found: JsonObject = update.get("_meta", {}).get("turnwire", {})
    return found


@pytest.mark.parametrize("terminals", [False, True])
def test_the_official_models_take_every_update_of_every_recording(terminals: bool) -> None:
    counted: Counter[str] = Counter()
    for golden in GOLDENS:
        encoder = Encoder(cwd="/workspace/project", shows_terminals=terminals)
        for event in read(golden):
            counted.update(valid(update)["sessionUpdate"] for update in encoder.handle(event))
        for update in encoder.state():
            valid(update)
    assert {
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "agent_thought_chunk",
        "plan",
    } <= counted.keys()
    assert {
        "usage_update",
        "available_commands_update",
        "user_message_chunk",
        "config_option_update",
    } <= counted.keys()


def test_text_calls_and_outcomes_of_every_recording_arrive() -> None:
    for golden in GOLDENS:
        events = read(golden)
        encoder = Encoder()
        updates = [update for event in events for update in encoder.handle(event)]
        messages = (event for event in events if isinstance(event, ev.MessageChunk))
        main = "".join(event.text for event in messages if event.parent_tool_call_id is None)
        assert said(updates, "agent_message_chunk") == main, golden
        reasonings = (event for event in events if isinstance(event, ev.Reasoning))
        thought = "".join(event.reasoning_text for event in reasonings if event.parent_tool_call_id is None)
        assert said(updates, "agent_thought_chunk") == thought, golden
        inner = "".join(
            update["content"]["text"]
            for update in updates
            if update["sessionUpdate"] == "agent_thought_chunk" and "parentToolCallId" in ours(update)
        )
        native = (
            event.text if isinstance(event, ev.MessageChunk) else event.reasoning_text
            for event in events
            if isinstance(event, ev.MessageChunk | ev.Reasoning) and event.parent_tool_call_id is not None
        )
        assert inner == "".join(native), golden
        calls = [update["toolCallId"] for update in updates if update["sessionUpdate"] == "tool_call"]
        # some are first heard of by their end, such as tools that the API runs itself
        native_calls = (
            event.tool_call_id for event in events if isinstance(event, ev.ToolCall | ev.ToolUpdate)
        )
        assert calls == list(dict.fromkeys(native_calls)), golden
        ends = Counter(update["status"] for update in updates if "status" in update)
        finals = Counter(event.tool_status for event in events if isinstance(event, ev.ToolUpdate))
        assert (ends["completed"], ends["failed"]) == (finals["complete"], finals["error"]), golden


def test_every_prompt_of_every_recording_is_answered_by_the_end_of_a_turn() -> None:
    reasons: Counter[str | None] = Counter()
    for golden in GOLDENS:
        prompts = Prompts()
        turns: dict[str | None, str] = {}
        answered: dict[str, str | None] = {}
        for event in read(golden):
            if isinstance(event, ev.TurnStarted) and event.origin in {"user", "queued"}:
                turns[event.operation_id] = (event.prompts or [f"prompt of {event.operation_id}"])[0]
                assert prompts.on_sent(turns[event.operation_id]) is None
            for prompt, result in prompts.handle(event):
                answered[prompt] = result.stop_reason
                reply = {"stopReason": result.stop_reason or "end_turn", "usage": result.usage}
                schema.PromptResponse.model_validate(reply)
                assert (result.stop_reason is None) == (result.error is not None)
        assert not prompts.open, golden
        reasons.update(answered.values())
    assert {"end_turn", "cancelled", "max_turn_requests", None} <= reasons.keys()


@pytest.mark.parametrize("offered", [DialogCapabilities(), DialogCapabilities(form=True, url=True)])
def test_the_official_models_take_every_question_of_every_recording(offered: DialogCapabilities) -> None:
    asked: Counter[str] = Counter()
    for golden in GOLDENS:
        for event in read(golden):
            if isinstance(event, ev.PermissionRequest | ev.QuestionRequest):
                method, params = dialog(event, ToolCalls(), offered).request()
                whole = json.loads(msgspec.json.encode({"sessionId": "s-1", **params}))
                asked[method] += 1
                if method == "elicitation/create":
                    assert is_whole(elicitation.validate_python(whole))
                else:
                    request = schema.RequestPermissionRequest.model_validate(whole)
                    assert len(request.options) == len(params["options"])
    assert asked["session/request_permission"] >= 180
    assert (asked["elicitation/create"] > 0) is offered.form


def thoughts(event: ev.AgentEvent) -> list[str]:
    found = Encoder().handle(event)
    for each in found:
        valid(each)
    return [each["content"]["text"].strip().strip("*") for each in found]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ev.ApiRetry(attempt=2, max_retries=10), "attempt 2 of 10, it is tried again."),
        (
            ev.Cut(text="Went back to the beginning.", reason="rewind", void_turns=["turn-1"]),
            "Went back to the beginning.",
        ),
        (ev.ProcessStatus(state="stalled", silent_ms=90_000), "The agent has been silent for 90 s."),
        (ev.ProcessStatus(state="exited", signal="SIGKILL"), "The agent was ended by SIGKILL."),
        (ev.ProcessStatus(state="exited", exit_code=3), "The agent exited with code 3."),
        (ev.Notice(kind="x", level="warning", text="Look out."), "Look out."),
    ],
    ids=["retry", "cut", "stalled", "killed", "failed", "warning"],
)
def test_what_a_human_should_know_and_acp_has_no_update_for_is_a_thought(
    event: ev.AgentEvent, words: str
) -> None:
    (thought,) = thoughts(event)
    assert thought.endswith(words)


@pytest.mark.parametrize(
    "event",
    [
        ev.ProcessStatus(state="exited", exit_code=0),
        ev.ProcessStatus(state="started"),
        ev.Notice(kind="x", level="info", text="By the way."),
    ],
    ids=lambda event: event.type,
)
def test_what_is_as_it_should_be_is_no_thought(event: ev.AgentEvent) -> None:
    assert thoughts(event) == []


def test_what_was_attached_to_a_message_of_a_human_is_shown_with_it() -> None:
    parts = [
        ContentPart(type="image", base64="iVBO", media_type="image/jpeg"),
        ContentPart(type="document", base64="JVBE", title="a.pdf"),
        ContentPart(type="document", url="https://example.org/a", title="A"),
        ContentPart(type="text", text="and this"),
        ContentPart(type="unknown"),
    ]
    updates = Encoder().handle(ev.UserMessage(text="Look.", parts=parts))
    for update in updates:
        valid(update)
    assert [update["content"] for update in updates] == [
        {"type": "text", "text": "Look."},
        {"type": "image", "data": "iVBO", "mimeType": "image/jpeg"},
        {"type": "resource", "resource": {"uri": "turnwire:a.pdf", "blob": "JVBE"}},
        {"type": "resource_link", "uri": "https://example.org/a", "name": "A"},
        {"type": "text", "text": "and this"},
    ]


def test_an_agents_plan_is_a_plan_and_no_message() -> None:
    encoder = Encoder()

    def told(**plan: Any) -> list[str]:
        (update,) = encoder.handle(ev.AgentPlan(**plan))
        assert update["sessionUpdate"] == "plan"
        return [f"{entry['status']} {entry['content']}" for entry in valid(update)["entries"]]

    first, second = TodoItem(description="One", status="completed"), TodoItem(description="Two", status="odd")
    assert told(plan_content="- [x] One", items=[first]) == ["completed One"]
    assert told(plan_content="", items=[first, second]) == ["completed One", "pending Two"]
    assert told(plan_content="# In words", plan_id="w") == [
        "completed One",
        "pending Two",
        "pending # In words",
    ]
    assert encoder.state()[:1] == encoder.handle(ev.AgentPlan(plan_content="# In words", plan_id="w"))
    assert told(plan_content="", items=[]) == ["pending # In words"]
    assert told(plan_content="", plan_id="w", items=[]) == []
    assert len(told(plan_content="", items=[first] * 5000)) == 1000
    for number in range(3000):
        (update,) = encoder.handle(ev.AgentPlan(plan_content="x", plan_id=str(number)))
        assert len(update["entries"]) <= 1000
    assert len(told(plan_content="x", plan_id="last")) <= 1000
    payload = GenericPayload(generic=Generic(name="ExitPlanMode", input={}))
    # a plan that a call asks leave for stays where the call is
    encoder = Encoder()
    encoder.handle(
        call := ev.ToolCall(
            tool_call_id="t",
            tool_name="ExitPlanMode",
            tool_title="Plan",
            tool_status="running",
            normalized=payload,
        )
    )
    (update,) = encoder.handle(ev.AgentPlan(plan_content="# Plan", tool_call_id=call.tool_call_id))
    assert update["sessionUpdate"] == "tool_call_update"
