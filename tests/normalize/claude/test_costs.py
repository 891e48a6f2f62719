"""Tokens of a turn: its own, and those of everything that its cost is for."""

from typing import Any

import pytest

from recordings import Recording, recording, recordings
from tests.normalize.lines import Talk, assistant, init, result, text, tool_use, user
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.results import Result
from turnwire.recordings.reading import read

Sums = dict[str, Any]


def used(sent: int, written: int, read: int = 0, kept: int = 0) -> Sums:
    return {
        "inputTokens": sent,
        "outputTokens": written,
        "cacheReadInputTokens": read,
        "cacheCreationInputTokens": kept,
    }


def own(sent: int, written: int) -> Sums:
    return {"input_tokens": sent, "output_tokens": written}


class Turns:
    """Turns of one process, with what its models have used."""

    def __init__(self, version: str, *, resumed: bool = False) -> None:
        self.talk = Talk(resumed=resumed)
        self._version = version
        self._count = 0

    def __call__(self, usage: Sums, models: Sums, **more: Any) -> Sums | None:
        self._count += 1
        uuid = f"r{self._count}"
        self.talk.hears(
            init(self._version), assistant(text("a"), id=f"m{self._count}"),
            result("a", uuid=uuid, usage=usage, modelUsage=models, total_cost_usd=0.1 * self._count, **more),
        )  # fmt: skip
        found: Sums | None = self.talk.last("complete")["data"].get("all_tokens")
        return found


def test_a_turns_tokens_hold_those_of_its_subagents() -> None:
    turn = Turns("2.1.101")
    assert turn(own(300, 60), {"opus": used(300, 60), "haiku": used(200, 40)}) == {
        "input_tokens": 500, "output_tokens": 100, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
    }  # fmt: skip
    # the same again by itself: nothing to be told apart
    assert turn(own(10, 5), {"opus": used(310, 65), "haiku": used(200, 40)}) is None
    # a compaction: a turn that used nothing itself
    assert turn(own(0, 0), {"opus": used(1310, 165), "haiku": used(200, 40)}) == {
        "input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
    }  # fmt: skip


def test_a_result_that_names_no_models_keeps_what_they_had_used() -> None:
    """2.0.14's `/compact`: its total grows, its modelUsage is empty; the next turn's has both."""
    turn = Turns("2.0.14")
    turn(own(300, 60), {"opus": used(300, 60)})
    assert turn(own(0, 0), {}) is None
    assert turn(own(100, 20), {"opus": used(500, 100)}) == {
        "input_tokens": 200, "output_tokens": 40, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
    }  # fmt: skip


def test_a_total_that_began_anew_counts_from_nothing() -> None:
    turn = Turns("2.1.330")
    turn(own(300, 60), {"opus": used(300, 60)})
    assert turn(own(10, 5), {"opus": used(30, 15)}) == {
        "input_tokens": 30, "output_tokens": 15, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
    }  # fmt: skip


def test_what_the_result_says_of_the_turn_itself_counts_first() -> None:
    turn = Turns("2.1.330")
    since = {"opus": used(20, 8, 3, 1)}
    assert turn(own(10, 5), {"opus": used(900, 90)}, model_usage_since_last_result=since) == {
        "input_tokens": 20, "output_tokens": 8, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 1,
    }  # fmt: skip


def test_of_a_resumed_process_that_counts_its_past_nothing_is_guessed() -> None:
    assert Turns("2.1.300", resumed=True)(own(10, 5), {"opus": used(900, 90)}) is None
    # an older one counts from nothing
    assert Turns("2.1.101", resumed=True)(own(10, 5), {"opus": used(20, 9)}) is not None


@pytest.mark.parametrize(
    "made",
    [
        each
        for each in recordings(version="2.1.330")
        if "resume" not in str(each) and "slash-local" not in str(each)
    ],
    ids=str,
)
def test_the_turns_of_a_recording_have_the_tokens_that_its_models_have_used(made: Recording) -> None:
    core, inputs = ClaudeCore(), [timed.input for timed in read(made.folder)]
    turns = [
        event.data.all_tokens or event.data
        for item in inputs
        for event in core.handle(item)
        if isinstance(event, ev.Complete)
    ]
    totals = [
        item.message.model_usage_camel
        for item in inputs
        if isinstance(item, Received) and isinstance(item.message, Result)
    ]
    if not totals or not totals[-1]:
        return
    assert sum(one.output_tokens or 0 for one in turns) == sum(
        one.output_tokens for one in totals[-1].values()
    )
    assert sum(one.input_tokens or 0 for one in turns) == sum(one.input_tokens for one in totals[-1].values())


def test_a_compaction_took_tokens() -> None:
    core = ClaudeCore()
    data = [
        event.data
        for timed in read(recording("2.1.330", "slash-compact").folder)
        for event in core.handle(timed.input)
        if isinstance(event, ev.Complete)
    ]
    assert any(one.all_tokens is not None and (one.all_tokens.output_tokens or 0) > 0 for one in data)


def test_a_turn_without_a_result_tells_the_tokens_of_its_lines_each_message_once() -> None:
    talk = Talk()
    talk.hears(
        init(),
        assistant(text("a"), id="x1", usage={"input_tokens": 30, "output_tokens": 1}),
        assistant(tool_use("t1", "Task"), id="x1", usage={"input_tokens": 30, "output_tokens": 8}),
        assistant(text("b"), id="x2", parent="t1", usage={"input_tokens": 500, "output_tokens": 9}),
        assistant(text("No."), id="x3", model="<synthetic>", usage={"input_tokens": 7, "output_tokens": 7}),
    )
    talk.ends()
    data = talk.last("complete")["data"]
    assert (data["input_tokens"], data["output_tokens"], data.get("cost_usd")) == (30, 8, None)
    assert (data["all_tokens"]["input_tokens"], data["all_tokens"]["output_tokens"]) == (530, 17)


def test_a_streamed_message_that_the_process_did_not_survive_has_the_tokens_of_its_stream() -> None:
    def stream(event: Sums, parent: str | None = None) -> Sums:
        return {"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": parent}

    def start(name: str, usage: Sums) -> Sums:
        return {"type": "message_start", "message": {"id": name, "model": "claude-opus-5-5", "usage": usage}}

    talk = Talk()
    talk.hears(
        init(),
        assistant(tool_use("t9", "Task"), id="y0"),
        stream(start("y1", {"input_tokens": 40, "output_tokens": 1, "cache_read_input_tokens": 6})),
        stream(
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 21}}
        ),
        stream(start("y2", {"input_tokens": 3, "output_tokens": 2}), "t9"),
    )
    talk.ends()
    data = talk.last("complete")["data"]
    assert (data["input_tokens"], data["output_tokens"], data["cache_read_input_tokens"]) == (40, 21, 6)
    assert data["all_tokens"]["input_tokens"] == 43


def test_a_turn_whose_lines_have_no_tokens_tells_none() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("a"), usage={"input_tokens": 0, "output_tokens": 0}))
    talk.ends()
    assert "input_tokens" not in talk.last("complete")["data"]


def test_the_next_totals_of_a_process_are_told_without_the_tokens_of_a_turn_that_had_no_result() -> None:
    talk = Talk()
    talk.says(user("go", uuid="p1"))
    talk.hears(
        init("2.1.101"),
        assistant(text("a"), id="z1", usage={"input_tokens": 30, "output_tokens": 4}),
        init("2.1.101"),
    )
    first = talk.last("complete")["data"]
    assert (first["input_tokens"], first["tokens_of"], first.get("cost_usd")) == (30, "lines", None)
    talk.hears(
        assistant(text("b"), id="z2", usage={"input_tokens": 50, "output_tokens": 6}),
        result("b", usage=own(50, 6), modelUsage={"opus": used(80, 10)}, total_cost_usd=0.3),
    )
    second = talk.last("complete")["data"]
    assert (second["input_tokens"], second["cost_usd"], second.get("all_tokens")) == (50, 0.3, None)


def test_totals_that_do_not_have_the_tokens_of_a_turn_without_a_result_are_told_whole() -> None:
    talk = Talk()
    talk.says(user("go", uuid="p1"))
    talk.hears(
        init("2.1.101"),
        assistant(text("a"), id="z1", usage={"input_tokens": 300, "output_tokens": 4}),
        init("2.1.101"),
        assistant(text("b"), id="z2", usage={"input_tokens": 50, "output_tokens": 6}),
        result("b", usage=own(50, 6), modelUsage={"opus": used(60, 10)}, total_cost_usd=0.3),
    )
    assert talk.last("complete")["data"]["all_tokens"]["input_tokens"] == 60


def test_a_total_that_is_a_float_less_than_before_costs_nothing_more() -> None:
    talk = Talk()
    usage = own(1, 1)
    talk.hears(init("2.0.14"), assistant(text("a")), result("a", usage=usage, total_cost_usd=0.1 + 0.2))
    talk.hears(
        init("2.0.14"), assistant(text("b"), id="m2"), result("b", uuid="r2", usage=usage, total_cost_usd=0.3)
    )
    assert talk.last("complete")["data"]["cost_usd"] == 0.0
