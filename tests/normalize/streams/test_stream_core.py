"""The core of all wires of JSON objects, by a reader whose lines name what was observed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from turnwire.normalize.core import Core
from turnwire.normalize.events import Notice, RateLimit, to_json
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from turnwire.normalize.payloads.work import Choice, Question, TodoItem
from turnwire.normalize.streams import observations as seen
from turnwire.normalize.streams.core import StreamCore
from turnwire.normalize.streams.family import stream_family
from turnwire.normalize.streams.observations import Observation
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.json_wire import JsonLine, any_of
from turnwire.protocol.malformed import Malformed

Told = list[dict[str, Any]]


class Scripted(OneWay):
    """Gives what a test has put behind a number."""

    behind: list[Observation]
    at_end: Sequence[Observation] = ()

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        number = value.get("n")
        if number is None:
            return None
        return [] if number < 0 else [self.behind[number]]

    def ended(self, end: Ended) -> Sequence[Observation]:
        return [*super().ended(end), *self.at_end]


class Both(Scripted):
    """Says the same of what was sent."""

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        return [*super().sent(value), *(self.received(value) or ())]


def line(value: Json) -> JsonLine:
    return JsonLine("scripted", value)


class Play:
    """One session."""

    def __init__(self, *at_end: Observation, **given: Any) -> None:
        self.behind: list[Observation] = []
        reader = type("Reader", (Both,), {"behind": self.behind, "at_end": at_end})
        self.core = StreamCore(reader, **given)
        self.newest = line({})

    def put(self, *things: Observation | SessionInput) -> Told:
        events: Told = []
        for one in things:
            happened = one if isinstance(one, SessionInput) else self.as_line(one)
            events += [json.loads(to_json(event)) for event in self.core.handle(happened)]
        return events

    def as_line(self, one: Observation) -> Received:
        self.behind.append(one)
        self.newest = line({"n": len(self.behind) - 1})
        return Received(b"{}", self.newest)


def types(events: Told) -> list[str]:
    return [event["type"] for event in events]


def test_a_turn_with_all_that_is_in_one() -> None:
    play = Play()
    events = play.put(
        seen.SessionStarted(id="s", model="m", cwd="/w", mode="ask"),
        seen.Prompt("Go on.", "p1"),
        seen.TextPiece("Let me ", "a"),
        seen.TextPiece("see.", "a"),
        seen.TextWhole("Let me see.", "a"),
        seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "ls"}, work_dir="/w"),
        seen.ToolOutput("c", "one\n"),
        seen.ToolEnded(id="c", output="one\ntwo\n", exit_code=0),
        seen.Usage(of="call", sent=3, received=2),
        seen.Usage(of="call", sent=4, received=1, cache_read=2, cost_usd=0.5),
        seen.ContextUsed(used=10, size=100),
        seen.TurnEnded(stop_reason="stop", num_turns=2),
    )
    assert types(events) == [
        "session_status",
        "session_info",
        "session_mode",
        "turn_started",
        "user_message",
        "message_chunk",
        "message_chunk",
        "tool_call",
        "tool_update",
        "tool_update",
        "context_window",
        "complete",
    ]
    assert events[9]["normalized"]["shell_exec"] == {
        "command": "ls",
        "work_dir": "/w",
        "output": {"exit_code": 0, "stdout": "one\ntwo\n"},
    }
    data = events[-1]["data"]
    assert (data["input_tokens"], data["output_tokens"], data["cache_read_input_tokens"]) == (7, 3, 2)
    assert (data["cost_usd"], data["prompts"], data["stop_reason"]) == (0.5, ["p1"], "stop")
    stats = play.core.stats
    assert (stats.published, stats.counted) == (9, 3)


def test_ids_that_another_process_uses_again_are_new() -> None:
    play = Play()
    told = [
        play.put(
            seen.TurnStarted(),
            seen.TextWhole(f"said {turn}", "item_0"),
            seen.ToolCalled(id="item_1", name="shell", kind="execute", arguments={"command": "ls"}),
            seen.PermissionAsked(id="p", call=seen.ToolCalled(id="item_1", name="shell"), options=[]),
            seen.QuestionAsked(id="q", message="Which?", call_id="item_1"),
            seen.ToolOutput("item_1", f"out {turn}\n"),
            seen.ToolEnded(id="item_1", exit_code=0),
            seen.TextPiece("More", "item_2"),
            seen.Retracted(ids=("item_2",)),
            seen.TurnEnded(),
            Ended("exited", exit_code=0),
        )
        for turn in (1, 2)
    ]
    for field, ids in (
        ("message_id", [{"item_0", "item_2"}, {"item_0#turn-2.2", "item_2#turn-2.2"}]),
        ("tool_call_id", [{"item_1"}, {"item_1#turn-2.2"}]),
    ):
        assert [{event[field] for event in events if event.get(field)} for events in told] == ids
    assert [one["message_ids"] for events in told for one in events if one["type"] == "retraction"] == [
        ["item_2"],
        ["item_2#turn-2.2"],
    ]


def test_a_call_of_one_turn_with_the_id_of_one_that_has_ended() -> None:
    play = Play()
    first = seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "ls"})
    play.put(first, seen.ToolEnded(id="c"))
    assert play.put(first, seen.ToolEnded(id="c")) == []
    again = seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "pwd"})
    assert [one["tool_call_id"] for one in play.put(again, seen.ToolEnded(id="c"))] == ["c#turn-1.2"] * 2


def test_texts_are_told_once_however_they_come() -> None:
    play = Play()
    told = play.put(
        seen.TextWhole("whole", "a"),
        seen.TextWhole("whole", "a"),
        seen.TextPiece("", "b"),
        seen.TextPiece("half", "b"),
        seen.TextWhole("half and rest", "b"),
        seen.TextPiece("wrong", "c"),
        seen.TextWhole("right", "c"),
        seen.TextWhole("unnamed"),
        seen.TextWhole("unnamed"),
        seen.TextPiece("why", "c", is_thought=True),
        seen.TextPiece("piece"),
    )
    words = [
        (one.get("text") or one.get("reasoning_text"), one.get("replace"))
        for one in told
        if one["type"] in ("message_chunk", "reasoning")
    ]
    assert words == [
        ("whole", None),
        ("half", None),
        (" and rest", None),
        ("wrong", None),
        ("right", True),
        ("unnamed", None),
        ("unnamed", None),
        ("why", None),
        ("piece", None),
    ]
    assert len({one["message_id"] for one in told if one["type"] == "message_chunk"}) == 6


def test_half_an_answer_can_be_taken_back() -> None:
    (event,) = Play().put(seen.Retracted(("a",)))
    assert event == {"type": "retraction", "message_ids": ["a"]}


@pytest.mark.parametrize(
    ("ended", "status", "reason", "error"),
    [
        (seen.ToolEnded(id="c", output="no", status="failed"), "error", "failed", "no"),
        (seen.ToolEnded(id="c", error="why", status="failed"), "error", "failed", "why"),
        (seen.ToolEnded(id="c", error="why", output="x", status="denied"), "error", "denied", "why"),
        (
            seen.ToolEnded(id="c", status="interrupted"),
            "error",
            "interrupted",
            "The turn was interrupted before the tool answered.",
        ),
        (seen.ToolEnded(id="c", stdout="o", stderr="e", exit_code=3), "error", "failed", None),
        (seen.ToolEnded(id="c", error="not that bad"), "complete", None, None),
    ],
)
def test_a_call_ends_as_it_is_told(
    ended: seen.ToolEnded, status: str, reason: str | None, error: str | None
) -> None:
    called = seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "ls"})
    event = Play().put(called, ended)[-1]
    assert (event["tool_status"], event.get("reason")) == (status, reason)
    if error is not None:
        assert event["error"] == error


def test_standard_error_is_kept_apart_where_it_is_told_apart() -> None:
    called = seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "ls"})
    event = Play().put(called, seen.ToolEnded(id="c", stdout="o", stderr="e", exit_code=3))[-1]
    assert event["normalized"]["shell_exec"]["output"] == {"exit_code": 3, "stdout": "o", "stderr": "e"}


def test_a_call_nobody_heard_begin_begins_with_its_end_and_ends_once() -> None:
    play = Play()
    told = play.put(
        seen.ToolOutput("c", "lost"),
        seen.ToolEnded(id="c", name="look", output="x"),
        seen.ToolEnded(id="c", output="x"),
        seen.ToolEnded(id="d"),
    )
    assert [(one["type"], one.get("tool_name")) for one in told if one["type"].startswith("tool")] == [
        ("tool_call", "look"),
        ("tool_update", "look"),
        ("tool_call", "tool"),
        ("tool_update", "tool"),
    ]


def test_output_may_be_told_whole_each_time() -> None:
    play = Play()
    play.put(seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "ls"}))
    told = play.put(seen.ToolOutput("c", "a", is_all=True), seen.ToolOutput("c", "ab", is_all=True))
    assert [one["normalized"]["shell_exec"]["output"]["stdout"] for one in told] == ["a", "ab"]


def test_changes_are_diffs_or_texts() -> None:
    changes = [
        seen.Change(path="a", diff="@@ -3,1 +3,1 @@\n-x\n+y\n"),
        seen.Change(path="b", kind="create", new="z\n"),
        seen.Change(path="c", kind="delete", old="q\n"),
    ]
    called = seen.ToolCalled(id="c", name="patch", kind="edit", changes=changes)
    call = Play().put(called)[-1]
    made = call["normalized"]["modify_file"]["mutations"]
    assert [(one["type"], one["diff"].splitlines()[2]) for one in made] == [
        ("edit", "@@ -3,1 +3,1 @@"),
        ("create", "@@ -0,0 +1,1 @@"),
        ("delete", "@@ -1,1 +0,0 @@"),
    ]
    ended = Play().put(called, seen.ToolEnded(id="c", changes=changes[:1]))[-1]
    assert ended["normalized"]["modify_file"]["output"] == {
        "applied": True,
        "added_lines": 1,
        "removed_lines": 1,
    }


def test_tools_of_servers_and_of_subagents() -> None:
    called = seen.ToolCalled(id="c", name="calc.add", mcp=("calc", "add"), arguments={"a": 1}, parent="t")
    call = Play().put(called)[-1]
    assert call["normalized"]["mcp_tool"] == {"server": "calc", "tool": "add", "input": {"a": 1}}
    assert (call["tool_name"], call["parent_tool_call_id"]) == ("calc.add", "t")


OPTIONS = [PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
LEAVE = seen.PermissionAsked(
    id="1",
    call=seen.ToolCalled(id="c", name="shell", kind="execute", arguments={"command": "rm x"}),
    options=OPTIONS,
    reason="outside",
)


def test_leave_is_asked_and_answered() -> None:
    play = Play()
    asked = play.put(LEAVE)[-1]
    assert (asked["type"], asked["permission_title"], asked["reason"]) == (
        "permission_request",
        "rm x",
        "outside",
    )
    assert play.core.pending == (asked["pending_id"],)
    ((name, one),) = play.core.asked_by(play.newest)
    assert (name, one) == (asked["pending_id"], LEAVE)
    assert play.core.asked_by(line({})) == []
    (resolved,) = play.put(seen.Answered(id="1", behavior="allow", option_id="yes"))
    assert play.core.asked_by(play.newest) == []
    assert (resolved["behavior"], resolved["option_id"]) == ("allow", "yes")
    assert play.put(seen.Answered(id="1", behavior="allow")) == []
    assert play.put(seen.ToolEnded(id="c", output="", exit_code=0))[-1]["tool_status"] == "complete"
    assert play.put(LEAVE) == []  # of a call that has ended


@pytest.mark.parametrize(
    ("answer", "told"),
    [("deny", "permission_resolved"), ("cancelled", "permission_cancelled")],
)
def test_what_is_refused_is_denied(answer: Any, told: str) -> None:
    play = Play()
    play.put(LEAVE)
    assert types(play.put(seen.Answered(id="1", behavior=answer))) == [told]
    assert play.put(seen.ToolEnded(id="c", status="failed", output="no"))[-1]["reason"] == "denied"


def test_a_question_nobody_was_heard_to_answer_is_settled_by_its_call() -> None:
    play = Play()
    play.put(LEAVE)
    told = play.put(seen.ToolEnded(id="c", output="", exit_code=0))
    assert [(one["type"], one.get("behavior")) for one in told] == [
        ("permission_resolved", "allow"),
        ("tool_update", None),
    ]


def test_who_decides_is_told_once() -> None:
    play = Play()
    name = play.put(LEAVE)[-1]["pending_id"]
    assert play.put(Decision("nobody's", "allow", "x", 1), Decision(name, "pass", "x", 1)) == []
    assert [one["by"] for one in play.put(Decision(name, "deny", "x", 1))] == ["x"]
    assert play.core.pending == ()
    assert play.put(Decision(name, "allow", "x", 1), seen.Answered(id="1", behavior="deny")) == []
    told = play.put(seen.ToolEnded(id="c", status="failed"))
    assert types(told) == ["tool_update"]


def test_a_decision_may_stand_before_its_request() -> None:
    play = Play()
    play.put(seen.TurnStarted())
    assert play.put(Decision("turn-1/1", "allow", "rule:1", 0, unasked=True)) == []
    told = play.put(LEAVE)
    assert (told[-1]["type"], told[-1]["unasked"]) == ("permission_resolved", True)


def test_a_decided_request_is_not_settled_again() -> None:
    play = Play()
    name = play.put(LEAVE)[-1]["pending_id"]
    play.put(Decision(name, "allow", "x", 1))
    assert types(play.put(seen.ToolEnded(id="c", output="", exit_code=0))) == ["tool_update"]


def test_questions_are_asked_and_a_request_of_the_same_id_takes_the_place_of_one() -> None:
    play = Play()
    questions = [Question(question="Which?", options=[Choice(label="a")], multi_select=False)]
    first = play.put(seen.QuestionAsked(id="q", questions=questions))[-1]
    assert first["kind"] == "ask_user"
    gone, second = play.put(seen.QuestionAsked(id="q", message="Name?", schema={"type": "string"}))
    assert (gone["type"], gone["reason"]) == ("permission_cancelled", "cancelled")
    assert (second["kind"], second["pending_id"]) == ("elicitation", first["pending_id"] + "#2")
    (resolved,) = play.put(seen.Answered(id="q", behavior="answer", message="a"))
    assert (resolved["behavior"], resolved["message"]) == ("answer", "a")


def test_what_waits_is_void_with_its_turn() -> None:
    for outcome, reason in (("completed", "turn_ended"), ("interrupted", "interrupted")):
        play = Play()
        play.put(seen.QuestionAsked(id="q", message="?"))
        told = play.put(seen.TurnEnded(outcome=outcome))  # type: ignore[arg-type]
        assert next((one["type"], one.get("reason")) for one in told) == ("permission_cancelled", reason)


def test_plans_are_lists_or_words() -> None:
    items = [TodoItem(description="a", status="completed"), TodoItem(description="b", status="later")]
    play = Play()
    play.put(seen.TurnStarted())
    told = play.put(seen.PlanShown(items=items), seen.PlanShown(text="Do it.", id="p"))
    assert [one["plan_content"] for one in told] == ["- [x] a\n- [ ] b", "Do it."]


def test_figures_of_turns_and_of_the_conversation() -> None:
    def tokens(play: Play, *figures: seen.Usage) -> tuple[Any, Any]:
        data = play.put(seen.TurnStarted(), *figures, seen.TurnEnded())[-1]["data"]
        return data.get("input_tokens"), data.get("total_input_tokens")

    play = Play()
    thread = seen.Usage(of="thread", sent=100, received=10, cost_usd=1.0)
    assert tokens(play, thread) == (100, 100)
    more = seen.Usage(of="thread", sent=150, received=20, cache_read=5, cache_written=1, cost_usd=1.5)
    assert tokens(play, more) == (50, 150)
    assert tokens(play) == (None, 150)
    assert tokens(play, seen.Usage(of="turn", sent=7)) == (7, 150)
    assert tokens(play, seen.Usage(of="thread", sent=20)) == (20, 20)  # it began anew
    assert tokens(play, seen.Usage(of="call", sent=-1)) == (None, 20)
    assert tokens(play, seen.Usage(of="call", sent=1, cost_usd=0.1), seen.Usage(of="call", sent=2)) == (3, 20)
    assert tokens(Play(resumed=True), thread) == (None, 100)


def test_a_failure_is_told_and_is_why_the_turn_failed() -> None:
    play = Play()
    play.put(seen.TurnStarted())
    told = play.put(
        seen.Retry(message="429", status=429, attempt=1, most=3),
        seen.Failure(message="no more", status=429, code="rate_limit"),
        seen.TurnEnded(outcome="error"),
    )
    assert types(told) == ["api_retry", "error", "complete"]
    assert told[-1]["error"] == "no more"
    assert told[-1]["data"]["api_error_status"] == 429
    assert types(play.put(seen.Failure(message="outside"))) == ["error"]


def test_a_turn_that_fails_says_why_where_it_knows() -> None:
    play = Play()
    play.put(seen.TurnStarted(), seen.Failure(message="first"))
    complete, error = play.put(
        seen.TurnEnded(outcome="error", message="then", status=500, code="server_error")
    )
    assert (complete["error"], error["error"], error["code"], error["status"]) == (
        "then",
        "then",
        "server_error",
        500,
    )
    play.put(seen.TurnStarted())
    complete, error = play.put(seen.TurnEnded(outcome="max_turns"))
    assert (complete["data"]["outcome"], error["code"]) == ("max_turns", "max_turns")
    play.put(seen.TurnStarted(), seen.Failure(message="mended"))
    assert "error" not in play.put(seen.TurnEnded())[-1]


def test_a_turn_that_is_open_ends_where_another_begins() -> None:
    play = Play(first_turn=3)
    told = play.put(
        seen.TurnStarted(),
        seen.ToolCalled(id="c", name="look"),
        seen.TurnStarted(origin="autonomous"),
        seen.Prompt("And this", "p"),
        seen.TurnEnded(),
        seen.TurnEnded(),
    )
    assert [one["operation_id"] for one in told if one["type"] == "turn_started"] == ["turn-3", "turn-4"]
    ends = [one["data"] for one in told if one["type"] == "complete"]
    assert [data["outcome"] for data in ends] == ["process_exited", "completed"]
    assert ends[1]["prompts"] == ["p"]
    assert play.core.turns == 4


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (Ended("exited", signal="SIGINT"), "interrupted"),
        (Ended("stopped", signal="SIGTERM"), "process_exited"),
        (Ended("exited", exit_code=1), "process_exited"),
        (Ended("hung"), "hung"),
        (Ended("end_of_input"), "process_exited"),
    ],
)
def test_a_process_that_ends_ends_what_is_open(end: Ended, outcome: str) -> None:
    play = Play()
    play.put(seen.Prompt("x"), seen.ToolCalled(id="c", name="look"), seen.QuestionAsked(id="q", message="?"))
    told = play.put(end)
    assert types(told)[:3] == ["tool_update", "permission_cancelled", "complete"]
    assert told[2]["data"]["outcome"] == outcome
    assert told[-1]["type"] == "process_status"
    assert not play.core.busy


def test_a_reader_may_know_better_how_it_ended() -> None:
    play = Play(seen.TurnEnded())
    assert types(play.put(Ended("end_of_input"))) == ["process_status"]
    play.put(seen.TurnStarted())
    assert play.put(Ended("end_of_input"))[0]["data"]["outcome"] == "completed"


def test_another_process_goes_on_with_the_conversation() -> None:
    play = Play()
    first = play.put(
        seen.SessionStarted(id="s", model="m"), seen.TextPiece("a", "i"), Ended("exited", exit_code=0)
    )
    again = play.put(seen.SessionStarted(id="s", model="m"), seen.TextWhole("a", "i"))
    assert first[0]["data"]["session_status"] == "new"
    assert next(one.get("data") for one in again) == {"session_status": "resumed", "init": True}
    assert types(again) == ["session_status", "turn_started", "message_chunk"]


def test_a_conversation_is_told_once_also_where_its_name_comes_late() -> None:
    play = Play()
    told = play.put(
        seen.TurnStarted(),
        seen.SessionStarted(model="m"),
        seen.SessionStarted(id="s", resumed=True),
        seen.SessionStarted(mode="m"),
        seen.SessionStarted(mode="m"),
    )
    assert types(told) == [
        "session_status",
        "turn_started",
        "session_info",
        "session_status",
        "session_info",
        "session_mode",
    ]


def test_what_has_no_place_of_its_own() -> None:
    told = Play().put(
        seen.Noticed(kind="k", text="t", level="warning", details={"a": 1}),
        seen.Noticed(kind="k", text="t"),
        seen.Event(lambda here: RateLimit(**here, rate_limit_message="slow")),
        seen.ContextUsed(used=1, size=0),
    )
    assert types(told) == ["notice", "notice", "rate_limit"]


def test_lines_that_tell_nothing_and_lines_that_nobody_knows() -> None:
    core: Core = Play().core
    (unknown,) = core.receive(line({"method": "x/y"}))
    (typeless,) = core.receive(line({}), b"{}")
    (foreign,) = core.receive(Malformed("", "", ""), b"") or core.receive(
        Announced(Notice(kind="k", level="info", text="t"))
    )
    assert [json.loads(to_json(one)).get("message_type") for one in (unknown, typeless)] == ["x/y", ""]
    assert foreign.type == "malformed"
    assert core.receive(line({"n": -1})) == []
    assert core.receive(Malformed("", "blank line"), b"") == []
    (bad,) = core.receive(Malformed("oops", "no JSON"))
    assert json.loads(to_json(bad))["size"] == 4
    assert (
        json.loads(to_json(core.receive(Notice(kind="k", level="info", text="t"), b"x")[0]))["type"]
        == "unknown"
    )
    stats = core.stats
    assert (stats.unknown, stats.malformed, stats.counted, stats.blank) == (3, 2, 1, 1)


def test_what_was_sent_is_read_and_what_is_announced_is_passed_on() -> None:
    play = Play()
    play.behind.append(seen.Prompt("hi"))
    told = play.put(
        Sent(b"{}", line({"n": 0})),
        Sent(b"oops", Malformed("oops", "no JSON")),
        Announced(Notice(kind="k", level="info", text="t")),
    )
    assert types(told) == ["session_status", "turn_started", "user_message", "notice"]


def test_a_family_is_a_reader_and_the_shapes_of_its_lines() -> None:
    family = stream_family(
        name="scripted",
        title="Scripted",
        reader="turnwire.normalize.gemini.reader:GeminiReader",
        claims=any_of(),
    )
    assert not family.claims({})
    assert family.core(first_turn=2).turns == 1
    ((_, message),) = family.wire().heard([b"{}"])
    assert message == JsonLine("scripted", {})
    assert [*family.model_calls()[JsonLine](message)]


def test_a_prompt_that_was_told_as_text_is_told_once_and_begins_the_one_turn() -> None:
    core = StreamCore(Scripted)
    Scripted.behind = [seen.TurnStarted(), seen.Prompt("Hi."), seen.Prompt("More."), seen.TurnEnded()]
    told: list[SessionInput] = [Sent(b"", JsonLine("x", {"turnwire/prompt": " Hi.\n", "id": "u"}))]
    lines = [Received(b"", JsonLine("x", {"n": number})) for number in (0, 1, 1, 2, 3, 0)]
    events = [json.loads(to_json(event)) for item in told + list(lines) for event in core.handle(item)]
    said = [(one["text"], one.get("uuid")) for one in events if one["type"] == "user_message"]
    # what it says a second time is another prompt
    assert said == [(" Hi.\n", "u"), ("Hi.", None), ("More.", None)]
    begun = [one.get("prompts") for one in events if one["type"] == "turn_started"]
    assert begun == [["u"], None]


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_turn_that_turnwire_breaks_off_by_a_signal_is_interrupted(interrupted: bool) -> None:
    core = StreamCore(Scripted)
    inputs: list[SessionInput] = [Sent(b"", JsonLine("x", {"turnwire/prompt": "Hi."}))]
    if interrupted:
        inputs.append(Sent(b"", JsonLine("x", {"turnwire/interrupt": True})))
    inputs.append(Ended("exited", exit_code=1))
    events = [json.loads(to_json(event)) for item in inputs for event in core.handle(item)]
    (end,) = [one for one in events if one["type"] == "complete"]
    assert end["data"]["outcome"] == ("interrupted" if interrupted else "process_exited")
