"""Events of a session as lines of Claude Code's stream-json."""

from itertools import count
from typing import Any

import pytest

from turnwire.normalize import events as ev
from turnwire.normalize.events.session_events import Command, McpServerStatus, Model
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec, ShellOutput
from turnwire.sidecar.streams.sdk.encoder import ClaudeLines, SessionFacts

JSON = dict[str, Any]


def encoder(**options: Any) -> ClaudeLines:
    numbers, times = count(1), count(10, 2)
    made = ClaudeLines(
        new_id=lambda: f"id{next(numbers)}", now=lambda: next(times), facts=SessionFacts(), **options
    )
    made.lines(ev.SessionInfo(session_id="s1", model="m", cwd="/srv/project"))
    return made


def told(made: ClaudeLines, *events: ev.AgentEvent) -> list[JSON]:
    return [line for event in events for line in made.lines(event)]


def chunk(text: str, **given: Any) -> ev.MessageChunk:
    return ev.MessageChunk(text=text, is_delta=True, **given)


def command(text: str = "ls", **output: Any) -> ShellExecPayload:
    given = ShellOutput(**output) if output else None
    return ShellExecPayload(shell_exec=ShellExec(command=text, output=given))


def call(payload: ShellExecPayload | None = None, **given: Any) -> ev.ToolCall:
    return ev.ToolCall(
        tool_call_id="c1", tool_name="bash", tool_title="ls", tool_status="running", normalized=payload or command(), **given
    )  # fmt: skip


def update(status: Any = "complete", **given: Any) -> ev.ToolUpdate:
    return ev.ToolUpdate(tool_call_id="c1", tool_status=status, **given)


def complete(
    outcome: Any = "completed", *, is_error: bool = False, error: str | None = None, **data: Any
) -> ev.Complete:
    return ev.Complete(data=ev.CompleteData(outcome=outcome, is_error=is_error, **data), error=error)


STARTED = ev.TurnStarted(origin="user")


def blocks(lines: list[JSON]) -> list[Any]:
    return [
        block
        for line in lines
        if line["type"] in ("assistant", "user")
        for block in line["message"]["content"]
    ]


def test_a_turn_begins_with_init_and_ends_with_its_result() -> None:
    made = encoder()
    init, said, result = told(
        made, STARTED, chunk("Hel"), chunk("lo."), complete(input_tokens=3, prompts=["p"])
    )
    assert (init["type"], init["subtype"], init["session_id"], init["model"]) == ("system", "init", "s1", "m")
    assert said["message"]["content"] == [{"type": "text", "text": "Hello."}]
    assert (result["subtype"], result["is_error"], result["result"]) == ("success", False, "Hello.")
    assert (result["duration_ms"], result["num_turns"], result["usage"]["input_tokens"]) == (2000, 1, 3)
    assert result["user_message_uuids"] == ["p"]
    assert "total_cost_usd" not in result


def test_init_tells_what_the_session_has_told() -> None:
    made = encoder()
    made.lines(
        ev.SessionInfo(
            version="1",
            permission_mode="ask",
            tools=["bash"],
            agents=["a"],
            skills=["k"],
            agent_name="gemini",
            mcp_servers=[McpServerStatus(name="calc", status="connected")],
            models=[Model(id="m1")],
        )
    )
    made.lines(ev.AvailableCommands(available_commands=[Command(name="help")]))
    init = made.init()
    assert (init["tools"], init["agents"], init["skills"]) == (["bash"], ["a"], ["k"])
    assert init["mcp_servers"] == [{"name": "calc", "status": "connected"}]
    assert init["slash_commands"] == ["help"]
    assert init["turnwire"] == {"agent": "gemini", "version": "1", "mode": "ask"}
    assert made.facts.models == [{"value": "m1", "displayName": "m1", "description": ""}]


def test_the_callers_name_of_the_session_stands_on_each_line() -> None:
    made = encoder(named="mine")
    assert {line["session_id"] for line in told(made, STARTED, chunk("x"), complete())} == {"mine"}


def test_a_mode_that_changes_in_a_turn_is_told() -> None:
    made = encoder()
    changed = ev.SessionMode(current_mode_id="plan", available_modes=[ev.Mode(id="plan"), ev.Mode(id="ask")])
    assert made.lines(changed) == []
    assert made.facts.agent_modes == ["plan", "ask"]
    assert told(made, STARTED, ev.SessionMode(current_mode_id="plan"))[1:] == []
    [line] = made.lines(ev.SessionMode(current_mode_id="ask"))
    assert (line["subtype"], line["permissionMode"]) == ("status", "ask")


def test_thinking_and_text_are_blocks_of_one_message() -> None:
    made = encoder()
    lines = told(
        made,
        STARTED,
        ev.Reasoning(reasoning_text="Hm."),
        ev.Reasoning(reasoning_text=""),
        chunk("So."),
        complete(),
    )
    assert blocks(lines) == [
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "text", "text": "So."},
    ]
    assert lines[1]["message"]["id"] == lines[2]["message"]["id"]


def test_what_corrects_a_block_takes_the_place_of_its_pieces() -> None:
    made = encoder()
    lines = told(
        made, chunk("Wrogn", message_id="a"), chunk("Right.", message_id="a", replace=True), complete()
    )
    assert blocks(lines) == [{"type": "text", "text": "Right."}]


def test_the_past_of_a_conversation_is_not_told() -> None:
    assert told(encoder(), chunk("Then.", history=True)) == []


def test_a_call_and_its_result_stand_between_two_messages() -> None:
    made = encoder()
    lines = told(
        made,
        STARTED,
        call(),
        update("running"),
        update(normalized=command(stdout="out")),
        chunk("Done."),
        complete(),
    )
    assert blocks(lines) == [
        {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_result", "tool_use_id": "c1", "content": "out"},
        {"type": "text", "text": "Done."},
    ]
    assert lines[2]["tool_use_result"]["stdout"] == "out"
    assert lines[1]["message"]["id"] != lines[3]["message"]["id"]
    assert lines[-1]["num_turns"] == 2


def test_a_call_that_fails_has_an_error_as_its_result() -> None:
    made = encoder()
    lines = told(made, call(), update("error", error="no"), update("error", error="again"))
    assert blocks(lines)[1:] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    ]


def test_a_call_waits_for_its_arguments() -> None:
    made = encoder()
    assert told(made, call(command("")), update("running")) == []
    [said] = made.lines(update("running", normalized=command("make")))
    assert blocks([said]) == [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make"}}]
    assert [line["type"] for line in told(made, update())] == ["user"]


def test_a_call_that_never_tells_its_arguments_is_told_with_its_end() -> None:
    assert [line["type"] for line in told(encoder(), call(command("")), update())] == ["assistant", "user"]


def request(**given: Any) -> ev.PermissionRequest:
    return ev.PermissionRequest(
        pending_id="p1", permission_title="ls", permission_options=[], action_type="command", **given
    )


def test_a_call_is_told_before_leave_for_it_is_asked() -> None:
    made = encoder()
    told(made, call(command("")))
    asked, lines = made.asked(request(tool_call_id="c1", normalized=command("make")))
    assert (asked.name, asked.arguments) == ("Bash", {"command": "make"})
    assert blocks(lines)[0]["input"] == {"command": "make"}
    assert made.asked(request(tool_call_id="c1", normalized=command("make"))) == (asked, [])
    assert made.asked(request(tool_name="own", tool_input={"a": 1}))[1] == []


def test_leave_for_several_calls_is_asked_for_all_of_them() -> None:
    asked, lines = encoder().asked(
        request(tool_call_id="c1", normalized=command("make"), action_details={"calls": ["make", "rm -rf ."]})
    )
    assert (asked.name, asked.arguments) == ("several_calls", {"calls": ["make", "rm -rf ."]})
    assert blocks(lines)[0]["input"] == {"command": "make"}


def test_what_was_denied_stands_in_the_result() -> None:
    made = encoder()
    denied = ev.PermissionResolved(pending_id="p1", tool_call_id="c1", behavior="deny")
    unknown = ev.PermissionResolved(pending_id="p2", tool_name="write", behavior="deny")
    allowed = ev.PermissionResolved(pending_id="p3", tool_call_id="c1", behavior="allow")
    result = told(made, STARTED, call(), denied, unknown, allowed, complete())[-1]
    assert result["permission_denials"] == [
        {"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": "ls"}},
        {"tool_name": "write", "tool_use_id": "", "tool_input": {}},
    ]


def test_a_subagent_has_its_own_messages() -> None:
    made = encoder(partial=True)
    prompt = ev.UserMessage(text="look", parent_tool_call_id="t1")
    lines = told(made, STARTED, prompt, chunk("Sub.", parent_tool_call_id="t1"), complete())[1:]
    assert [(line["type"], line.get("parent_tool_use_id")) for line in lines] == [
        ("user", "t1"), ("assistant", "t1"), ("result", None),
    ]  # fmt: skip
    assert (lines[-1]["result"], lines[-1]["num_turns"]) == ("", 0)


def test_the_callers_prompts_are_replayed_on_request_and_those_that_nobody_wrote_never() -> None:
    prompts = (ev.UserMessage(text="hi", uuid="u"), ev.UserMessage(text="no", synthetic=True))
    assert told(encoder(), *prompts) == []
    [line] = told(encoder(replays=True), *prompts)
    assert (line["uuid"], line["isReplay"], line["message"]["content"][0]["text"]) == ("u", True, "hi")


def test_pieces_go_ahead_of_the_whole_block() -> None:
    made = encoder(partial=True)
    lines = told(made, chunk("Hel"), chunk("lo."), call(), update(), complete())
    shape = [line["event"]["type"] if line["type"] == "stream_event" else line["type"] for line in lines]
    assert shape == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta", "assistant", "content_block_stop",
        "content_block_start", "content_block_delta", "assistant", "content_block_stop", "message_delta", "message_stop",
        "user", "result",
    ]  # fmt: skip
    indexes = [
        line["event"]["index"]
        for line in lines
        if line["type"] == "stream_event" and "index" in line["event"]
    ]
    assert indexes == [0, 0, 0, 0, 1, 1, 1]
    assert lines[7]["event"]["delta"] == {"type": "input_json_delta", "partial_json": '{"command":"ls"}'}
    assert lines[10]["event"]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("outcome", "subtype"),
    [
        ("max_turns", "error_max_turns"),
        ("budget", "error_max_budget_usd"),
        ("error", "error_during_execution"),
        ("process_exited", "error_during_execution"),
        ("refusal", "success"),
    ],
)
def test_a_turn_that_fails_has_a_result_that_says_how(outcome: str, subtype: str) -> None:
    result = told(encoder(), STARTED, complete(outcome, is_error=True, error="why", api_error_status=500))[-1]
    assert (result["subtype"], result["is_error"], result["errors"]) == (subtype, True, ["why"])
    assert result["api_error_status"] == 500
    assert ("result" in result) is (subtype == "success")


def test_a_turn_that_was_interrupted_says_so_as_claude_code_does() -> None:
    said, result = told(encoder(), STARTED, complete("interrupted", errors=[]))[1:]
    assert said["message"]["content"] == [{"type": "text", "text": "[Request interrupted by user]"}]
    assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)


def test_costs_are_the_agents_own_total_or_the_sum_of_what_turns_cost() -> None:
    made = encoder()
    first, second = (told(made, complete(cost_usd=0.5))[-1] for _ in range(2))
    assert (first["total_cost_usd"], second["total_cost_usd"]) == (0.5, 1.0)
    third = told(made, complete(total_cost_usd=3.0, duration_ms=7))[-1]
    assert (third["total_cost_usd"], third["modelUsage"]["m"]["costUSD"], third["duration_ms"]) == (
        3.0,
        3.0,
        7,
    )


def test_a_session_that_tells_no_model_has_an_unknown_one() -> None:
    made = ClaudeLines(new_id=lambda: "i", now=lambda: 0, facts=SessionFacts())
    said, result = told(made, chunk("x"), complete(outcome=None))
    assert said["message"]["model"] == "<unknown>"
    assert "modelUsage" not in result
    assert result["subtype"] == "success"


def test_a_prompt_that_the_agent_never_had_has_a_result() -> None:
    [result] = encoder().failure("no agent")
    assert (result["is_error"], result["errors"]) == (True, ["no agent"])


OTHERS: list[tuple[ev.AgentEvent, JSON]] = [
    (ev.ApiRetry(attempt=1, status=529, error="overloaded"), {"subtype": "api_retry", "attempt": 1, "error_status": 529}),
    (ev.RateLimit(rate_limit_message="slow down"), {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}}),
    (
        ev.RateLimit(rate_limit_message="stop", status="rejected", resets_at=7, rate_limit_type="five_hour", utilization=1.0),
        {"rate_limit_info": {"status": "rejected", "resetsAt": 7, "rateLimitType": "five_hour", "utilization": 1.0}},
    ),
    (ev.CompactBoundary(pre_tokens=5), {"subtype": "compact_boundary", "compact_metadata": {"trigger": "auto", "pre_tokens": 5}}),
    (ev.AgentPlan(plan_content="1. look"), {"subtype": "plan", "plan": "1. look"}),
    (ev.Notice(kind="k", level="warning", text="look out"), {"subtype": "informational", "content": "look out", "level": "warning"}),
]  # fmt: skip


@pytest.mark.parametrize(("event", "line"), OTHERS)
def test_news_of_the_session_are_told_in_claude_codes_words(event: ev.AgentEvent, line: JSON) -> None:
    [made] = encoder().lines(event)
    assert {name: made[name] for name in line} == line


def test_what_claude_code_has_no_words_for_is_left_out() -> None:
    events = (ev.Notice(kind="k", level="info", text="t"), ev.ContextWindow(context_window_used=5))
    assert told(encoder(), *events) == []
