"""What a run tells, as transcripts: a session's events in, AG-UI events out."""

from typing import Any

import pytest
from ag_ui.core import BaseEvent, TextMessageContentEvent, UserMessage
from msgspec import structs

from agui_runs import Player
from turnwire.client import events
from turnwire.client.payloads import (
    Generic,
    GenericPayload,
    ManageTodos,
    ManageTodosPayload,
    ShellExec,
    ShellExecPayload,
    ShellOutput,
    SubagentTask,
    SubagentTaskPayload,
    TodoItem,
)
from turnwire.frontends.agui.encoder import Run
from turnwire.frontends.agui.thread import PromptIds, Thread

START = events.TurnStarted(operation_id="turn-1", origin="user", prompts=["p1"])


def end(outcome: Any = "completed", **more: Any) -> events.Complete:
    data = events.CompleteData(outcome=outcome, is_error=outcome == "error", **more)
    return events.Complete(operation_id="turn-1", data=data)


def chunk(text: str, block: int = 0, **more: Any) -> events.MessageChunk:
    return events.MessageChunk(text=text, message_id="m1", block_index=block, **more)


def call(name: str, payload: Any, **more: Any) -> events.ToolCall:
    return events.ToolCall(
        tool_call_id=name,
        tool_name="Tool",
        tool_title="A tool",
        tool_status="running",
        normalized=payload,
        **more,
    )


def result(name: str, payload: Any, status: Any = "complete", **more: Any) -> events.ToolUpdate:
    return events.ToolUpdate(tool_call_id=name, tool_status=status, normalized=payload, **more)


def told(*happened: events.AgentEvent, version: str | None = "1.0") -> list[dict[str, Any]]:
    """The first run of a session that does this, without snapshots and states."""
    player = Player(version)
    player.play(happened)
    return plain(player.runs[0].events)


def plain(told: list[BaseEvent]) -> list[dict[str, Any]]:
    everything = [event.model_dump(by_alias=True, mode="json") for event in told]
    return [event for event in everything if not event["type"].startswith("STATE_")]


def types(told: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("TEXT_MESSAGE_") for event in told if event["type"] != "CUSTOM"]


def test_text_is_opened_told_and_closed_before_the_run_ends() -> None:
    happened = START, chunk("a", is_delta=True), chunk("b", is_delta=True), chunk("c", 1), end()
    assert types(told(*happened)) == [
        *["RUN_STARTED", "START", "CONTENT", "CONTENT", "END", "START", "CONTENT", "END", "RUN_FINISHED"]
    ]


def test_thinking_has_a_span_and_a_message() -> None:
    thought = events.Reasoning(reasoning_text="Hm.", message_id="m1", block_index=0)
    assert types(told(START, thought, end()))[1:-1] == [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
    ]


def test_a_call_has_its_arguments_its_result_as_text_and_the_payload_beside_it() -> None:
    payload = ShellExecPayload(shell_exec=ShellExec(command="ls"))
    ran = ShellExecPayload(
        shell_exec=ShellExec(command="ls", output=ShellOutput(exit_code=2, stdout="a", stderr="b"))
    )
    run = told(START, call("t1", payload), result("t1", ran, "error", error="Exit code 2"), end())
    by_type = {event["type"]: event for event in run}
    assert by_type["TOOL_CALL_ARGS"]["delta"] == '{"command":"ls"}'
    found = by_type["TOOL_CALL_RESULT"]
    assert (found["toolCallId"], found["content"]) == ("t1", "a\nb\nExit code 2")
    assert found["metadata"]["turnwire"]["status"] == "error"
    assert found["metadata"]["turnwire"]["normalized"]["shell_exec"]["output"]["exit_code"] == 2


SUBAGENT = SubagentTaskPayload(
    subagent_task=SubagentTask(description="Look", prompt="…", subagent_type="Explore")
)


def test_a_subagent_is_told_as_one_to_clients_of_1_0_and_as_a_step_to_those_before() -> None:
    happened = (
        START,
        call("t1", SUBAGENT),
        chunk("x", parent_tool_call_id="t1"),
        result("t1", SUBAGENT),
        end(),
    )
    new, old = told(*happened), told(*happened, version=None)
    assert types(new)[4:] == [
        *[
            "SUBAGENT_STARTED",
            "START",
            "CONTENT",
            "END",
            "SUBAGENT_FINISHED",
            "TOOL_CALL_RESULT",
            "RUN_FINISHED",
        ]
    ]
    assert {event.get("subagentRunId") for event in new if event["type"].startswith("TEXT_")} == {"t1"}
    assert types(old)[4:] == [
        *["STEP_STARTED", "START", "CONTENT", "END", "STEP_FINISHED", "TOOL_CALL_RESULT", "RUN_FINISHED"]
    ]


ASKS = events.PermissionRequest(
    pending_id="q1",
    permission_title="Run ls",
    permission_options=[events.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
    action_type="command",
)


def test_a_subagent_that_waits_for_a_human_is_suspended_and_goes_on_in_the_next_run() -> None:
    player = Player()
    answered = events.PermissionResolved(pending_id="q1", behavior="allow")
    player.play([START, call("t1", SUBAGENT), ASKS, answered, result("t1", SUBAGENT), end()])
    first, second, _ = [plain(run.events) for run in player.runs]
    assert first[-2]["outcome"] == {"type": "suspended"}
    assert first[-1]["outcome"]["interrupts"][0]["responseSchema"]["required"] == ["option_id"]
    assert types(second) == ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]


@pytest.mark.parametrize(
    ("outcome", "version", "last"),
    [
        ("completed", "1.0", ("RUN_FINISHED", {"type": "success"})),
        ("interrupted", "1.0", ("RUN_FINISHED", {"type": "cancelled"})),
        ("interrupted", None, ("RUN_FINISHED", None)),
        ("error", "1.0", ("RUN_ERROR", None)),
        ("max_turns", "1.0", ("RUN_ERROR", None)),
        ("process_exited", None, ("RUN_ERROR", None)),
    ],
)
def test_each_outcome_of_a_turn_is_one_of_a_run(
    outcome: str, version: str | None, last: tuple[str, Any]
) -> None:
    found = told(START, end(outcome), version=version)[-1]
    assert (found["type"], found.get("outcome")) == last
    assert found.get("code") == (outcome if last[0] == "RUN_ERROR" else None)


def test_what_a_turn_used_counts_cached_tokens_as_input() -> None:
    used = end(input_tokens=1, output_tokens=2, cache_read_input_tokens=10, cache_creation_input_tokens=100)
    assert told(START, used)[-1]["usage"] == [
        {"inputTokens": 111, "outputTokens": 2, "cachedInputTokens": 10, "cacheWriteInputTokens": 100}
    ]


def test_a_block_that_is_corrected_comes_as_a_snapshot() -> None:
    run = told(START, chunk("Hellp", is_delta=True), chunk("Hello", replace=True), end())
    (snapshot,) = [event for event in run if event["type"] == "MESSAGES_SNAPSHOT"]
    assert [each["content"] for each in snapshot["messages"]] == ["Hello"]


def test_a_correction_that_only_adds_is_a_delta() -> None:
    run = told(START, chunk("Hell", is_delta=True), chunk("Hello", replace=True), end())
    assert [event["delta"] for event in run if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["Hell", "o"]


def test_what_is_withdrawn_leaves_the_conversation() -> None:
    run = told(START, chunk("Never mind"), events.Retraction(message_ids=["m1"]), end())
    (snapshot,) = [event for event in run if event["type"] == "MESSAGES_SNAPSHOT"]
    assert snapshot["messages"] == []


def test_an_event_of_a_newer_hub_and_a_line_that_is_none_are_raw() -> None:
    odd = (
        events.Unknown(message_type="hologram", raw="{}"),
        events.Malformed(reason="no JSON", raw="x", size=1),
    )
    raw = [event for event in told(START, *odd, end()) if event["type"] == "RAW"]
    assert [event["event"]["type"] for event in raw] == ["unknown", "malformed"]


def test_what_has_no_counterpart_is_custom_under_its_own_name() -> None:
    limited = events.RateLimit(rate_limit_message="Slowly", status="rejected")
    names = [event["name"] for event in told(START, limited, end()) if event["type"] == "CUSTOM"]
    assert names[0] == "turnwire.rate_limit"


def test_the_state_follows_todos_plan_context_and_cost() -> None:
    todos = ManageTodosPayload(
        manage_todos=ManageTodos(operation="write", items=[TodoItem(description="One", status="pending")])
    )
    context = events.ContextWindow(
        context_window_size=100, context_window_used=5, context_window_remaining=95, context_efficiency=5.0
    )
    plan = events.AgentPlan(
        plan_content="- [ ] One",
        plan_id="p",
        items=[TodoItem(description="One", status="pending")],
    )
    player = Player()
    player.play([START, call("t1", todos), result("t1", todos), plan, context, end(total_cost_usd=0.5)])
    state: dict[str, Any] = {}
    for event in player.runs[0].events:
        found = event.model_dump(by_alias=True)
        if found["type"] == "STATE_SNAPSHOT":
            state = dict(found["snapshot"]["turnwire"])
        for operation in found.get("delta", ()) if found["type"] == "STATE_DELTA" else ():
            name = operation["path"].removeprefix("/turnwire/")
            if operation["op"] == "remove":
                del state[name]
            else:
                state[name] = operation["value"]
    assert state == player.thread.state
    assert state["todos"] == [{"description": "One", "status": "pending"}]
    assert (state["plan"], state["cost"], state["context"]["context_window_used"]) == (
        {
            "plan_content": "- [ ] One",
            "plan_id": "p",
            "items": [{"description": "One", "status": "pending"}],
        },
        {"total_usd": 0.5},
        5,
    )


def test_a_clients_own_state_stays_beside_ours() -> None:
    run = Run(Thread("s1"), thread_id="t", run_id="r", version="1.0")
    snapshot = run.start(state={"mine": 1})[-1].model_dump(by_alias=True)["snapshot"]
    assert snapshot == {"mine": 1, "turnwire": {"session": "s1"}}


def test_a_client_that_missed_something_is_emptied_before_it_gets_everything() -> None:
    thread = Thread("s1")
    happened: list[events.AgentEvent] = [START, chunk("a"), chunk("b", 1), end()]
    for seq, event in enumerate(happened, 1):
        thread.handle(seq, event)
    new = UserMessage(id="u2", content="And?")

    def snapshots(known: list[str], said: UserMessage | None) -> list[list[str]]:
        run = Run(thread, thread_id="t", run_id="r", version="1.0")
        found = [event.model_dump(by_alias=True) for event in run.start(known, None, said)]
        return [
            [each["id"] for each in event["messages"]]
            for event in found
            if event["type"] == "MESSAGES_SNAPSHOT"
        ]

    assert snapshots(["m1.0", "m1.1"], new) == []
    assert snapshots(["m1.0"], None) == [["m1.0", "m1.1"]]
    assert snapshots(["m1.0"], new) == [[], ["m1.0", "m1.1", "u2"]]
    assert snapshots(["other"], None) == [[], ["m1.0", "m1.1"]]


def test_the_conversation_is_bounded_and_says_so() -> None:
    thread = Thread("s1", history=1000)
    for number in range(100):
        thread.handle(number, events.MessageChunk(text="x" * 100, message_id=f"m{number}"))
    assert len(thread.ids) <= 10
    assert thread.ids[-1] == "m99"
    assert thread.state["messages_left_out"] == thread.left_out == 100 - len(thread.ids)
    run = Run(thread, thread_id="t", run_id="r", version="1.0")
    everything = [f"m{number}" for number in range(100)]
    assert "MESSAGES_SNAPSHOT" not in [event.type.value for event in run.start(everything)]


def test_one_text_that_is_larger_than_all_that_is_kept_is_kept_alone() -> None:
    thread = Thread("s1", history=1000)
    for number in range(50):
        thread.handle(number, events.MessageChunk(text="x" * 100, message_id="m1", is_delta=True))
    assert thread.ids == ["m1"]


def test_a_result_without_a_call_and_a_call_twice_do_no_harm() -> None:
    payload = GenericPayload(generic=Generic(name="Tool", input={"a": 1}))
    run = told(
        START, result("t9", payload), call("t1", payload), call("t1", payload), result("t1", payload), end()
    )
    assert types(run).count("TOOL_CALL_START") == types(run).count("TOOL_CALL_RESULT") == 1


def test_a_message_is_a_prompt_once() -> None:
    sent = PromptIds(most=2)
    assert sent.begin("u1")
    assert not sent.begin("u1")
    sent.failed("u1")
    assert sent.begin("u1")
    sent.on_sent("u1", "p1")
    assert sent.message("p1") == "u1"
    assert sent.begin("u2")
    assert sent.begin("u3")
    assert sent.begin("u1")


def test_of_several_plans_the_one_that_was_told_last_and_is_not_removed_is_shown() -> None:
    player = Player()
    told = [events.AgentPlan(plan_content=text, plan_id=text, items=None) for text in "ab"]
    player.play([START, *told])
    assert player.thread.state["plan"] == {"plan_content": "b", "plan_id": "b"}
    player.play([events.AgentPlan(plan_content="", plan_id="b", items=[])])
    assert player.thread.state["plan"] == {"plan_content": "a", "plan_id": "a"}
    player.play([events.AgentPlan(plan_content="", plan_id="a", items=[]), end()])
    assert "plan" not in player.thread.state


def test_no_event_is_larger_than_a_client_takes() -> None:
    huge = "\x01" * 900_000  # six characters each in JSON
    payload = GenericPayload(generic=Generic(name="Tool", input={"a": huge, "b": huge}, output=huge * 2))
    many = [chunk(huge, is_delta=True) for _ in range(10)]
    asks = structs.replace(ASKS, tool_input={"content": huge})
    player = Player()
    player.play(
        [
            START,
            *many,
            call("t1", payload),
            result("t1", payload, error=huge),
            events.AgentPlan(plan_content=huge),
            asks,
        ]
    )
    encoded = [len(event.model_dump_json(by_alias=True)) for run in player.runs for event in run.events]
    assert max(encoded) < 10 << 20
    late = Run(player.thread, thread_id="t", run_id="r", version="1.0").start()
    assert max(len(event.model_dump_json(by_alias=True)) for event in late) < 10 << 20
    text = "".join(
        event.delta for event in player.runs[0].events if isinstance(event, TextMessageContentEvent)
    )
    assert text == huge * 10
