"""Whatever a session does, its runs keep the rules that AG-UI's clients verify, and late clients see what others saw."""

from typing import Any

import pytest
from ag_ui.core import BaseEvent, RunErrorEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from agui_runs import Player
from turnwire.client import events
from turnwire.client.payloads import Generic, GenericPayload, SubagentTask, SubagentTaskPayload
from turnwire.frontends.agui.encoder import Run
from turnwire.frontends.agui.thread import Thread

NAMES = st.sampled_from(["a", "b", "c"])
OWNERS = st.sampled_from([None, None, "t1", "t2"])
TEXTS = st.sampled_from(["", "x", "xy", "z"])
PAYLOADS = st.sampled_from(
    [
        GenericPayload(generic=Generic(name="Tool", input={"a": [1]}, output="done")),
        SubagentTaskPayload(subagent_task=SubagentTask(description="Look", prompt="…")),
    ]
)
OPTIONS = [events.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
COMPLETE = events.CompleteData(outcome="completed", is_error=False)

EVENTS = st.one_of(
    st.builds(
        events.TurnStarted, operation_id=NAMES, origin=st.just("user"), prompts=st.none() | st.lists(NAMES)
    ),
    st.builds(events.Complete, operation_id=NAMES, data=st.just(COMPLETE)),
    st.builds(events.UserMessage, text=TEXTS, uuid=st.none() | NAMES, parent_tool_call_id=OWNERS),
    st.builds(
        events.MessageChunk,
        text=TEXTS,
        message_id=st.none() | NAMES,
        block_index=st.none() | st.integers(0, 1),
        is_delta=st.booleans(),
        replace=st.booleans(),
        parent_tool_call_id=OWNERS,
    ),
    st.builds(
        events.Reasoning,
        reasoning_text=TEXTS,
        message_id=st.none() | NAMES,
        block_index=st.none() | st.integers(2, 3),
        is_delta=st.booleans(),
        parent_tool_call_id=OWNERS,
    ),
    st.builds(
        events.ToolCall,
        tool_call_id=st.sampled_from(["t1", "t2", "t3"]),
        tool_name=NAMES,
        tool_title=TEXTS,
        tool_status=st.just("running"),
        normalized=PAYLOADS,
        parent_tool_call_id=OWNERS,
    ),
    st.builds(
        events.ToolUpdate,
        tool_call_id=st.sampled_from(["t1", "t2", "t3"]),
        tool_status=st.sampled_from(["running", "complete", "error"]),
        normalized=st.none() | PAYLOADS,
        parent_tool_call_id=OWNERS,
    ),
    st.builds(events.Retraction, message_ids=st.none() | st.lists(NAMES)),
    st.builds(
        events.PermissionRequest,
        pending_id=NAMES,
        permission_title=TEXTS,
        permission_options=st.just(OPTIONS),
        action_type=st.just("other"),
    ),
    st.builds(events.PermissionResolved, pending_id=NAMES, behavior=st.just("allow")),
    st.builds(events.SessionMode, current_mode_id=NAMES),
    st.builds(events.ProcessStatus, state=st.sampled_from(["started", "exited"])),
    st.builds(events.Unknown, message_type=NAMES, raw=TEXTS),
)

OPENS = {
    "TEXT_MESSAGE_START": ("text", "messageId"),
    "REASONING_START": ("span", "messageId"),
    "REASONING_MESSAGE_START": ("thinking", "messageId"),
    "TOOL_CALL_START": ("call", "toolCallId"),
    "STEP_STARTED": ("step", "stepName"),
    "SUBAGENT_STARTED": ("subagent", "subagentRunId"),
}
CLOSES = {
    "TEXT_MESSAGE_END": ("text", "messageId"),
    "REASONING_END": ("span", "messageId"),
    "REASONING_MESSAGE_END": ("thinking", "messageId"),
    "TOOL_CALL_END": ("call", "toolCallId"),
    "STEP_FINISHED": ("step", "stepName"),
    "SUBAGENT_FINISHED": ("subagent", "subagentRunId"),
    "SUBAGENT_ERROR": ("subagent", "subagentRunId"),
}
CONTINUES = {
    "TEXT_MESSAGE_CONTENT": ("text", "messageId"),
    "REASONING_MESSAGE_CONTENT": ("thinking", "messageId"),
    "TOOL_CALL_ARGS": ("call", "toolCallId"),
}


def check(run: list[BaseEvent]) -> None:
    """Fail where a run breaks a rule of @ag-ui/client's verify."""
    told = [event.model_dump(by_alias=True, mode="json") for event in run]
    opened: set[tuple[str, str]] = set()
    ended: set[tuple[str, str]] = set()
    owners: dict[tuple[str, str], Any] = {}
    assert told[0]["type"] == "RUN_STARTED"
    for event in told[1:-1]:
        kind = event["type"]
        assert kind not in {"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"}
        if kind in OPENS:
            key = OPENS[kind][0], event[OPENS[kind][1]]
            assert key not in opened
            assert key[0] != "subagent" or key not in ended
            opened.add(key)
            assert owners.setdefault(key, event.get("subagentRunId")) == event.get("subagentRunId")
            if event.get("parentSubagentRunId") is not None:
                assert ("subagent", event["parentSubagentRunId"]) in opened | ended
        elif kind in CLOSES:
            key = CLOSES[kind][0], event[CLOSES[kind][1]]
            opened.remove(key)
            ended.add(key)
        elif kind in CONTINUES:
            key = CONTINUES[kind][0], event[CONTINUES[kind][1]]
            assert key in opened
            assert owners[key] == event.get("subagentRunId")
    assert told[-1]["type"] in {"RUN_FINISHED", "RUN_ERROR"}
    assert opened == set()


any_session = given(st.lists(EVENTS, max_size=25), st.sampled_from(["1.0", None]))


@settings(max_examples=80)
@any_session
def test_every_run_keeps_the_rules(happened: list[events.AgentEvent], version: str | None) -> None:
    for run in Player(version).play(happened):
        check(run.events)


@pytest.mark.long
@settings(max_examples=400)
@any_session
def test_it_holds_for_many_more(happened: list[events.AgentEvent], version: str | None) -> None:
    for run in Player(version).play(happened):
        check(run.events)


@settings(max_examples=60)
@given(st.lists(EVENTS, max_size=25))
def test_who_was_there_and_who_comes_late_see_the_same(happened: list[events.AgentEvent]) -> None:
    live, late = Player(), Thread("s1")
    live.play(happened)
    for seq, event in enumerate(happened, 1):
        late.handle(seq, event)
    assert late.messages() == live.thread.messages()
    assert late.state == live.thread.state
    snapshot = Run(late, thread_id="t", run_id="r", version="1.0").start()
    check([*snapshot, RunErrorEvent(message="")])
