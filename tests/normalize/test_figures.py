"""Costs, context windows, UUIDs and sizes."""

from typing import Any

import pytest

from tests.normalize.lines import (
    JsonObject,
    Talk,
    assistant,
    init,
    message_start,
    result,
    stream,
    text,
    thinking,
    tool_result,
    tool_use,
    user,
)
from turnwire.normalize.claude.context import plain_name
from turnwire.normalize.claude.turns.uuids import numbers
from turnwire.normalize.events import Complete, ContextWindow, MessageChunk, Notice, ToolUpdate, to_json
from turnwire.normalize.events.limits import TEXT_LIMIT, cut, cut_text, pieces
from turnwire.normalize.payloads import GenericPayload, McpToolPayload
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import Generic, McpTool


def data(talk: Talk) -> JsonObject:
    told: JsonObject = talk.last("complete")["data"]
    return told


def turn(talk: Talk, number: int, **figures: Any) -> JsonObject:
    talk.hears(init(), result("x", uuid=f"r{number}", **figures))
    return data(talk)


def model_usage(cost: float, tokens: int = 0, window: int | None = None) -> JsonObject:
    return {"inputTokens": tokens, "outputTokens": 1, "costUSD": cost, "contextWindow": window}


# Costs


def test_a_turn_costs_the_difference_of_the_totals() -> None:
    talk = Talk()
    usage = {
        "input_tokens": 4,
        "output_tokens": 15,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 2,
    }
    told = turn(talk, 1, total_cost_usd=0.003716, usage=usage, modelUsage={"m": model_usage(0.003716, 4)})
    assert told.items() >= {"cost_usd": 0.003716, "total_cost_usd": 0.003716, "input_tokens": 4}.items()
    assert (
        told.items() >= {"output_tokens": 15, "cache_read_input_tokens": 7, "total_input_tokens": 4}.items()
    )
    told = turn(talk, 2, total_cost_usd=0.007432)
    assert told.items() >= {"cost_usd": 0.003716, "total_cost_usd": 0.007432}.items()


def test_a_total_that_begins_anew_is_the_turns_own() -> None:
    talk = Talk()
    turn(talk, 1, total_cost_usd=0.5)
    assert turn(talk, 2, total_cost_usd=0.25)["cost_usd"] == 0.25


def test_another_session_behind_the_first_has_a_total_of_its_own() -> None:
    talk = Talk()
    turn(talk, 1, **counted(0.25, 400, 400))
    other = {"session_id": "other"}
    talk.hears({**init(), **other}, {**result("x", uuid="r2", **counted(0.75, 900, 900)), **other})
    assert data(talk)["cost_usd"] == 0.75
    talk.hears({**init(), **other}, {**result("x", uuid="r3", **counted(1.0, 950, 50)), **other})
    assert data(talk)["cost_usd"] == 0.25
    # /clear of 2.1.160 gives the session another name, and its process counts on
    cleared = {"session_id": "cleared"}
    talk.hears({**init(), **cleared}, {**result("x", uuid="r4", **counted(1.5, 1000, 50)), **cleared})
    assert data(talk)["cost_usd"] == 0.5
    # a CLI that tells no tokens of its models
    plain = {"session_id": "plain"}
    talk.hears({**init(), **plain}, {**result("x", uuid="r5", total_cost_usd=2.0), **plain})
    assert data(talk)["cost_usd"] == 2.0


def test_what_the_cli_says_of_the_turn_itself_goes_before_the_difference() -> None:
    told = turn(
        Talk(),
        1,
        total_cost_usd=0.5,
        model_usage_since_last_result={"a": model_usage(0.1), "b": model_usage(0.2)},
    )
    assert told["cost_usd"] == 0.3


def counted(cost: float, tokens: int, own: int = 4) -> JsonObject:
    """A result's figures: the process's cost and tokens, and the tokens of the turn."""
    return {
        "total_cost_usd": cost,
        "usage": {"input_tokens": own, "output_tokens": 1},
        "modelUsage": {"m": {"inputTokens": tokens, "outputTokens": tokens // 4, "costUSD": cost}},
    }


@pytest.mark.parametrize(
    ("version", "first", "share"),
    [
        ("2.1.101", counted(0.25, 4), 0.25),
        # a helper model, not a past: these versions count from zero
        ("2.0.14", counted(0.25, 900), 0.25),
        ("2.1.276", counted(0.75, 900), 0.75),
        ("2.1.277", counted(0.75, 404), 0.25),
        # the process before was killed, and left nothing
        ("2.1.277", counted(0.25, 4), 0.25),
        # less than the past and a turn: whose it is cannot be told
        ("2.1.277", counted(0.75, 300), None),
    ],
)
def test_a_resumed_process_begins_with_its_past_or_without_it(
    version: str, first: JsonObject, share: float | None
) -> None:
    talk = Talk()
    talk.hears(init(version), result("x", **counted(0.5, 400, 400)))
    assert data(talk)["cost_usd"] == 0.5
    talk.ends()
    talk.hears(init(version))
    talk.hears(result("x", uuid="r2", **first))
    assert data(talk).get("cost_usd") == share
    talk.hears(result("x", uuid="r3", **counted(first["total_cost_usd"] + 0.125, 950)))
    assert data(talk)["cost_usd"] == 0.125


def test_a_resume_that_fails_costs_nothing_and_forgets_nothing() -> None:
    talk = Talk()
    talk.hears(init("2.1.280"), result("x", **counted(0.5, 400, 400)))
    talk.ends()
    failed = result(None, "error_during_execution", uuid="r2", is_error=True, total_cost_usd=0, modelUsage={})
    talk.hears(failed)
    assert data(talk)["cost_usd"] == 0
    talk.ends()
    talk.hears(init("2.1.280"), result("x", uuid="r3", **counted(0.75, 404)))
    assert data(talk)["cost_usd"] == 0.25


def test_after_a_clear_the_shares_still_add_up() -> None:
    talk = Talk()
    for number, total in enumerate((0.25, 0.5, 0, 0.125, 0.375)):
        turn(talk, number, total_cost_usd=total)
    shares = [event.data.cost_usd for event in talk.events if isinstance(event, Complete)]
    assert shares == [0.25, 0.25, 0, 0.125, 0.25]


def test_the_first_turn_of_a_resumed_session_has_no_share_that_could_be_told() -> None:
    talk = Talk(resumed=True)
    past = {"usage": {"input_tokens": 4, "output_tokens": 1}, "modelUsage": {"m": model_usage(0.5, 900)}}
    assert "cost_usd" not in turn(talk, 1, total_cost_usd=0.5, **past)
    assert turn(talk, 2, total_cost_usd=0.75, **past)["cost_usd"] == 0.25
    own = {"usage": {"input_tokens": 4, "output_tokens": 1}, "modelUsage": {"m": model_usage(0.5, 4)}}
    assert turn(Talk(resumed=True), 1, total_cost_usd=0.5, **own)["cost_usd"] == 0.5
    assert turn(Talk(resumed=True), 1, total_cost_usd=0.5)["cost_usd"] == 0.5


def test_spec_3_counts_its_costs_by_turn_and_its_tokens_in_total() -> None:
    talk = Talk()
    told = turn(talk, 1, cost_usd=0.25, total_input_tokens=100, total_output_tokens=10)
    assert told.items() >= {"cost_usd": 0.25, "total_cost_usd": 0.25, "input_tokens": 100}.items()
    told = turn(talk, 2, cost_usd=0.5, total_input_tokens=150, total_output_tokens=30)
    assert (
        told.items()
        >= {"cost_usd": 0.5, "total_cost_usd": 0.75, "input_tokens": 50, "output_tokens": 20}.items()
    )
    assert told["total_input_tokens"] == 150


def test_a_result_without_figures_has_none() -> None:
    told = turn(Talk(), 1)
    assert told.keys().isdisjoint({"cost_usd", "total_cost_usd", "input_tokens", "duration_ms"})
    assert turn(Talk(), 1, duration_ms=12.7)["duration_ms"] == 13


# Context


def used(talk: Talk, **fields: object) -> list[int]:
    return [event.context_window_used for event in talk.events if isinstance(event, ContextWindow)]


def test_the_context_is_the_last_answer_of_the_main_thread() -> None:
    talk = Talk()
    usage = {
        "input_tokens": 4,
        "output_tokens": 1,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 110,
    }
    model = "claude-sonnet-4-6"
    talk.hears(init(model=model), assistant(text("A"), usage=usage, model=model))
    talk.hears(assistant(tool_use("t", "Task"), usage=usage, model=model))
    assert talk.last("context_window") == {
        "type": "context_window",
        "session_id": "s",
        "operation_id": "turn-1",
        "context_window_size": 200000,
        "context_window_used": 1115,
        "context_window_remaining": 198885,
        "context_efficiency": 0.5575,
        "model": "claude-sonnet-4-6",
    }
    talk.hears(assistant(text("Sub"), parent="t", usage={"input_tokens": 9_999}, model="claude-haiku-4-5"))
    talk.hears(assistant(text("Error"), id="x", model="<synthetic>", usage={"input_tokens": 0}))
    assert used(talk) == [1115]


def test_the_end_of_a_streamed_message_has_its_final_usage() -> None:
    talk = Talk()
    start = {"input_tokens": 4, "cache_read_input_tokens": 1000, "output_tokens": 1}
    talk.hears(init(), message_start(usage=start), assistant(text("A"), usage=start))
    assert used(talk) == []
    talk.hears(stream({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 50}}))
    assert used(talk) == [1054]
    talk.hears(stream({"type": "message_delta", "delta": {}, "usage": {**start, "output_tokens": 60}}))
    assert used(talk) == [1054, 1064]
    talk.hears(stream({"type": "message_delta", "delta": {}}))
    assert used(talk) == [1054, 1064]


def test_usage_of_a_message_that_broke_off_is_told_with_the_result() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), assistant(text("A"), usage={"input_tokens": 5}), result("A"))
    assert used(talk) == [5]


def test_the_window_is_that_of_the_main_model() -> None:
    talk = Talk()
    talk.hears(
        init(model="claude-sonnet-4-5"),
        assistant(text("A"), usage={"input_tokens": 5}, model="claude-sonnet-4-5"),
    )
    windows = {
        "claude-3-5-haiku-20241022": model_usage(0, 0, 200000),
        "claude-sonnet-4-5-20250929": model_usage(0, 0, 1000000),
    }
    talk.hears(result("A", modelUsage=windows))
    assert talk.last("context_window")["context_window_size"] == 1_000_000
    talk.hears(init(model="claude-sonnet-4-5"), result("B", uuid="r2", modelUsage=windows))
    assert len(used(talk)) == 2


@pytest.mark.parametrize(("length", "size"), [(5, 1_000_000), (1000, None)])
def test_a_model_is_known_without_its_date_unless_its_name_is_none(length: int, size: int | None) -> None:
    talk = Talk()
    name = "m" * length
    talk.hears(init(model=name), assistant(text("A"), usage={"input_tokens": 5}, model=name))
    windows = {f"{name}-20250929": model_usage(0, 0, 1_000_000), "other": model_usage(0, 0, 100_000)}
    talk.hears(result("A", modelUsage=windows))
    assert talk.last("context_window").get("context_window_size") == size


def window(talk: Talk) -> tuple[object, ...]:
    told = talk.last("context_window")
    names = ("context_window_used", "context_window_size", "context_window_remaining", "context_efficiency")
    return tuple(told.get(name) for name in names)


@pytest.mark.parametrize("size", [0, -1, None])
def test_a_window_of_nothing_is_no_window(size: int | None) -> None:
    talk = Talk()
    talk.hears(init(model="m"), assistant(text("A"), usage={"input_tokens": 300_000}, model="m"))
    assert window(talk) == (300_000, None, None, None)
    talk.hears(result("A", modelUsage={"m": model_usage(0, 0, size)}))
    assert window(talk) == (300_000, None, None, None)
    talk.hears(result("B", uuid="r2", modelUsage={"m": model_usage(0, 0, 600_000)}))
    assert window(talk) == (300_000, 600_000, 300_000, 50.0)


def test_a_window_that_an_answer_outgrows_is_not_known_until_a_result_tells_it() -> None:
    talk = Talk()
    model = "claude-sonnet-4-5"
    talk.hears(init(model=model), assistant(text("A"), usage={"input_tokens": 150_000}, model=model))
    assert window(talk) == (150_000, 200_000, 50_000, 75.0)
    talk.hears(assistant(text("B"), id="m2", usage={"input_tokens": 591_976}, model=model))
    assert window(talk) == (591_976, None, None, None)
    talk.hears(assistant(text("C"), id="m3", usage={"input_tokens": 100_000}, model=model))
    assert window(talk) == (100_000, None, None, None)
    talk.hears(result("C", modelUsage={model: model_usage(0, 0, 1_000_000)}))
    assert window(talk) == (100_000, 1_000_000, 900_000, 10.0)


def test_a_window_told_by_a_file_s_largest_answer_is_never_smaller() -> None:
    talk = Talk()
    model = "claude-sonnet-4-5"
    talk.hears(init(model=model, largest_context=591_976))
    talk.hears(assistant(text("A"), usage={"input_tokens": 150_000}, model=model))
    assert window(talk) == (150_000, None, None, None)


def test_spec_3_spells_windows_in_its_own_way() -> None:
    talk = Talk()
    talk.hears(assistant(text("A"), usage={"input_tokens": 5}, model="claude-sonnet-4-5"))
    talk.hears(result("A", model_usage={"claude-sonnet-4-5": {"context_window": 500_000}}))
    assert talk.last("context_window")["context_window_size"] == 500_000


def test_a_single_window_serves_while_the_model_is_not_known() -> None:
    talk = Talk()
    line = assistant(text("A"), usage={"input_tokens": 5}, model="")
    talk.hears(line, result("A", modelUsage={"m": model_usage(0, 0, 400_000)}))
    assert talk.last("context_window")["context_window_size"] == 400_000


def test_a_model_asked_for_with_a_long_context_has_one() -> None:
    talk = Talk()
    talk.hears(
        init(model="claude-sonnet-4-5[1m]"),
        assistant(text("A"), usage={"input_tokens": 5}, model="claude-sonnet-4-5"),
    )
    told = talk.last("context_window")
    assert (told["context_window_size"], told["model"]) == (1_000_000, "claude-sonnet-4-5[1m]")


def test_a_model_that_is_known_for_its_long_context_has_one_before_the_first_result() -> None:
    talk = Talk()
    talk.hears(
        init(), message_start(usage={"input_tokens": 5}), assistant(text("A"), usage={"input_tokens": 5})
    )
    talk.hears(assistant(text("B"), id="m2", usage={"input_tokens": 7}))
    assert talk.last("context_window")["context_window_size"] == 1_000_000
    talk.hears(result("B", modelUsage={"claude-opus-5-5": model_usage(0, 0, 300_000)}))
    assert talk.last("context_window")["context_window_size"] == 300_000


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("anthropic/claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("Claude-X", "claude-x"),
    ],
)
def test_names_of_models_are_compared_without_provider_date_and_variant(name: str, plain: str) -> None:
    assert plain_name(name) == plain


# UUIDs


def test_what_the_model_said_counts_with_the_result() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t"), uuid="a1"), user(tool_result("t"), uuid="u1"))
    talk.hears(assistant(text("Done"), uuid="a2"), assistant(text("Sub"), uuid="n1", parent="t"))
    talk.hears(user(tool_result("n"), uuid="n2", parent="t"), result("Done"))
    assert talk.last("complete")["last_message_uuid"] == data(talk)["last_message_uuid"] == "a2"
    assert data(talk)["resume_token"] == "a2"


def test_what_the_model_said_last_does_not_count_without_a_result() -> None:
    talk = Talk()
    talk.hears(
        init(),
        assistant(tool_use("t"), uuid="a1"),
        user(tool_result("t"), uuid="u1"),
        assistant(text("x"), uuid="a2"),
    )
    talk.ends()
    assert data(talk)["last_message_uuid"] == "u1"
    assert "resume_token" not in data(talk)


def test_the_order_of_lines_decides_what_is_last() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("Here"), uuid="a1"), assistant(tool_use("t"), uuid="a2"))
    talk.hears(user(tool_result("t"), uuid="u1"), result("x"))
    assert data(talk).items() >= {"last_message_uuid": "u1", "resume_token": "a1"}.items()


def test_the_token_is_a_text_of_the_model_that_was_not_cut_off() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("Good"), uuid="a1"), result("Good"))
    talk.hears(init(), assistant(thinking("Hm"), uuid="a2"), result("", uuid="r2"))
    talk.hears(
        init(),
        assistant(text("Cut"), uuid="a3", aborted=True),
        result(None, "error_during_execution", uuid="r3"),
    )
    talk.hears(
        init(), assistant(text("API Error"), uuid="a4", model="<synthetic>"), result("API Error", uuid="r4")
    )
    assert data(talk).items() >= {"last_message_uuid": "a4", "resume_token": "a1"}.items()


@pytest.mark.parametrize(
    ("version", "token"),
    [
        (None, None),
        ("2.0.14", "m1"),
        ("2.0.75", "m1"),
        ("2.0.76", "a1"),
        ("2.1.220", "a1"),
        ("3.0.0-beta.1", "a1"),
    ],
)
def test_the_token_is_what_the_version_takes(version: str | None, token: str | None) -> None:
    talk = Talk()
    talk.hears(init(version), assistant(text("x"), uuid="a1", id="m1"), result("x"))
    assert data(talk).get("resume_token") == token
    assert data(talk)["last_message_uuid"] == "a1"


def test_a_cli_that_says_no_version_but_lists_subagents_takes_the_api_s_message_id() -> None:
    talk = Talk()
    talk.hears({**init(None), "agents": ["general-purpose"]})
    talk.hears(assistant(text("x"), uuid="a1", id="m1"), result("x"))
    assert data(talk)["resume_token"] == "m1"


def test_an_agent_that_does_not_say_its_version_is_taken_for_a_new_one() -> None:
    talk = Talk()
    talk.hears(
        assistant(text("x"), uuid="a1"),
        user("without", uuid=None),
        assistant(text("y"), uuid=None),
        result("x"),
    )
    assert data(talk)["last_message_uuid"] == "a1"


def test_versions_are_compared_by_their_numbers() -> None:
    assert numbers("2.1.330 (Claude Code)") == (2, 1, 330)
    assert numbers("nonsense") == ()


# Sizes


def test_a_text_is_split_only_when_it_is_too_long() -> None:
    assert pieces("") == []
    assert pieces("short") == ["short"]
    long = "🎉" * (TEXT_LIMIT // 4 + 1)
    assert [len(piece.encode()) for piece in pieces(long)] == [TEXT_LIMIT, 4]


def test_a_field_is_cut_between_characters() -> None:
    assert cut_text("aäb", 2) == "a"
    assert cut_text("aäb", 3) == "aä"


def test_an_event_that_was_cut_says_where_and_how_much() -> None:
    body = Generic(name="x", input={"short": "s", "deep": [{"long": "ä" * 10}]}, output=["o" * 30, 7])
    event = ToolUpdate(
        tool_call_id="t", tool_status="complete", normalized=GenericPayload(generic=body), error="e" * 21
    )
    shorter = cut(event, 16)
    assert isinstance(shorter, ToolUpdate)
    assert shorter.truncated == {
        "normalized.generic.input.deep.0.long": 20,
        "normalized.generic.output.0": 30,
        "error": 21,
    }
    assert isinstance(shorter.normalized, GenericPayload)
    assert shorter.normalized.generic.input == {"short": "s", "deep": [{"long": "ä" * 8}]}
    assert event.truncated is None
    assert event.error == "e" * 21


def test_parts_of_results_are_cut_one_by_one() -> None:
    tool = McpTool(server="s", tool="t", input={}, output=[ContentPart(type="text", text="x" * 20)])
    event = ToolUpdate(tool_call_id="t", tool_status="complete", normalized=McpToolPayload(mcp_tool=tool))
    shorter = cut(event, 16)
    assert shorter.truncated == {"normalized.mcp_tool.output.0.text": 20}
    assert b'"text":"xxxxxxxxxxxxxxxx"' in to_json(shorter)


def test_an_event_that_fits_stays_as_it_is() -> None:
    event = Notice(kind="k", level="info", text="ä" * 10, details={"list": [1, "two"]})
    assert cut(event, 20) is event
    assert cut(event, 1000) is event


def test_the_agents_own_words_are_never_cut() -> None:
    event = MessageChunk(text="x" * 100)
    assert cut(event, 10) is event
