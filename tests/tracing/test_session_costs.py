"""What a session file's answers have cost: by the prices that the CLI counted with, and one figure wherever it is shown."""

import json
from pathlib import Path

import pytest
from kept_sessions import Kept, all_kept, kept

from turnwire.history.index import Index
from turnwire.normalize.recordings.session_files import Answer, ConversationSummary
from turnwire.recordings.filters.inspection import Report, bill_session, inspect
from turnwire.recordings.reading import read
from turnwire.recordings.session_file import format_of, survey_of
from turnwire.tracing.prices import prices

OPUS = "claude-opus-5-5"  # 4, 20, 0.2, 5 and 8 dollars for a million tokens
TIME = "2026-11-02T03:04:05.678Z"

Kinds = tuple[int, int, int, int, int]
"""Tokens sent, written, read from the cache, written to the cache, and of these for an hour."""

READS: Kinds = (10_000, 1_000, 2_000_000, 50_000, 40_000)
"""0.04 + 0.02 + 0.4 + 0.05 + 0.32 dollars of Opus."""
WRITES: Kinds = (50_000, 10_000, 0, 0, 0)
"""0.2 + 0.2 dollars."""


def answer(name: str, took: Kinds, model: str = OPUS, **more: object) -> str:
    sent, written, cache_read, created, hour = took
    usage = {
        "input_tokens": sent,
        "output_tokens": written,
        "cache_read_input_tokens": cache_read,
        "cache_creation_input_tokens": created,
        "cache_creation": {"ephemeral_1h_input_tokens": hour},
    }
    message = {
        "id": name,
        "model": model,
        "role": "assistant",
        "content": [{"type": "text", "text": name}],
        "usage": usage,
    }
    line = {"type": "assistant", "uuid": name, "parentUuid": "p", "sessionId": "s", "timestamp": TIME}
    return json.dumps({**line, "message": message, **more})


def counted(dollars: float, took: Kinds, model: str = OPUS, searches: int = 0) -> str:
    """What the CLI notes of its totals."""
    sent, written, cache_read, created, hour = took
    used = {
        "inputTokens": sent,
        "outputTokens": written,
        "cacheReadInputTokens": cache_read,
        "cacheCreationInputTokens": created,
        "cacheCreationEphemeral1hInputTokens": hour,
        "webSearchRequests": searches,
        "costUSD": dollars,
    }
    return json.dumps(
        {"type": "cost-state", "sessionId": "s", "totalCostUSD": dollars, "modelUsage": {model: used}}
    )


def both(one: Kinds, other: Kinds) -> Kinds:
    a, b, c, d, e = (first + second for first, second in zip(one, other, strict=True))
    return a, b, c, d, e


def file(folder: Path, *lines: str) -> Path:
    prompt = {
        "type": "user", "uuid": "p", "parentUuid": None, "sessionId": "s", "timestamp": TIME,
        "message": {"role": "user", "content": "go"},
    }  # fmt: skip
    path = folder / "projects" / "-w" / "5e551011-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{line}\n" for line in (json.dumps(prompt), *lines)))
    return path


def outline(path: Path) -> ConversationSummary:
    found = format_of(path)
    assert found is not None
    return survey_of(path, found.files).outline()


def costs(answers: list[Answer]) -> list[float | None]:
    return [one.cost_usd for one in answers]


def report(path: Path) -> Report:
    told = inspect(read(path), lambda: prices(None))
    bill_session(told, outline(path), lambda: prices(None))
    return told


def figures(path: Path) -> list[tuple[float, float, bool]]:
    """What `sessions`, `usage` and `inspect` say of a conversation."""
    index = Index(None, prices(None))
    assert index.look([path.parents[1]]).failed == []
    (listed,), (used,), told = index.newest(limit=9), index.usage(()), report(path)
    index.close()
    found = (listed, used, told)
    return [(round(one.cost_usd or 0, 6), round(one.estimated_usd, 6), one.cost_is_whole) for one in found]


def test_answers_cost_what_the_model_s_prices_make_of_them(tmp_path: Path) -> None:
    path = file(
        tmp_path, answer("a", READS), answer("b", WRITES), counted(1.23, both(READS, WRITES), f"{OPUS}[1m]")
    )
    assert costs(outline(path).answers) == pytest.approx([0.83, 0.4])
    assert not any(one.is_share for one in outline(path).answers)
    assert figures(path) == [(1.23, 0.0, True)] * 3


def test_what_helpers_and_searches_cost_is_no_answer_s(tmp_path: Path) -> None:
    helper: Kinds = (1_000, 100, 0, 0, 0)
    path = file(tmp_path, answer("a", READS), counted(0.866, both(READS, helper), searches=3))
    told = outline(path)
    assert costs(told.answers) == pytest.approx([0.83])
    assert told.other_cost_usd == pytest.approx(0.036)
    assert figures(path) == [(0.866, 0.0, True)] * 3
    assert report(path).other_usd == pytest.approx(0.036)


def test_a_price_for_long_prompts_counts_for_the_answers_that_are_long(tmp_path: Path) -> None:
    haiku, long, short = "claude-haiku-5-5", (200_000, 0, 0, 0, 0), (90_000, 0, 0, 0, 0)
    path = file(
        tmp_path,
        answer("a", long, haiku),
        answer("b", short, haiku),
        counted(0.109, both(long, short), haiku),
    )
    assert costs(outline(path).answers) == pytest.approx([0.1, 0.009])
    assert figures(path) == [(0.109, 0.0, True)] * 3


@pytest.mark.parametrize(("model", "told"), [("a-gateway-s-own", 2.0), (OPUS, 2.46)])
def test_answers_of_unknown_prices_share_what_they_have_cost_together(
    model: str, told: float, tmp_path: Path
) -> None:
    path = file(
        tmp_path,
        answer("a", (1_000, 100, 5_000, 2_000, 800), model),
        answer("b", (1_000, 100, 5_000, 2_000, 800), model),
        counted(told, (2_000, 200, 10_000, 4_000, 1_600), model),
    )
    answers = outline(path).answers
    assert costs(answers) == pytest.approx([told / 2, told / 2])
    assert all(one.is_share for one in answers)
    sessions, usage, inspected = figures(path)
    assert sessions == inspected == (told, 0.0, True)  # the CLI tells the sum
    assert usage == (told, told, True)  # a day's, a model's part of it is an estimate


def test_what_the_cli_has_not_counted_yet_is_an_estimate(tmp_path: Path) -> None:
    path = file(tmp_path, answer("a", READS), counted(0.83, READS), answer("b", WRITES))
    assert costs(outline(path).answers) == [pytest.approx(0.83), None]
    assert figures(path) == [(1.23, 0.4, True)] * 3


def test_what_no_price_is_known_of_is_missing_in_all_figures(tmp_path: Path) -> None:
    path = file(tmp_path, answer("a", READS), counted(0.83, READS), answer("b", WRITES, "a-gateway-s-own"))
    assert figures(path) == [(0.83, 0.0, False)] * 3


def test_totals_of_no_tokens_and_no_dollars_tell_no_cost_of_an_answer(tmp_path: Path) -> None:
    none: Kinds = (0, 0, 0, 0, 0)
    path = file(
        tmp_path,
        answer("a", WRITES, "one"), answer("b", WRITES, "other"),
        counted(0.5, none, "one"), counted(-1, WRITES, "other"),
    )  # fmt: skip
    assert costs(outline(path).answers) == [None, None]


def test_a_fork_costs_what_was_asked_for_in_it_and_not_at_its_origin_s_mixture(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        answer("a", READS, requestSessionId="the-origin"),
        answer("b", WRITES),
        counted(1.23, both(READS, WRITES)),
    )
    told = outline(path)
    assert told.cost_usd == pytest.approx(0.4)
    assert told.other_cost_usd == 0
    sessions, _, inspected = figures(path)  # `usage` counts a copy whose original is gone
    assert sessions == inspected == (0.4, 0.0, True)


def test_a_fork_s_share_of_what_its_origin_cost_too_is_an_estimate(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        answer("a", WRITES, requestSessionId="the-origin"),
        answer("b", WRITES),
        counted(3.0, both(WRITES, WRITES)),
    )
    sessions, _, inspected = figures(path)
    assert sessions == inspected == (1.5, 1.5, True)


SEEN = [one for one in all_kept() if one.version == "2.1.330" and len(one.files) == 1]


@pytest.mark.parametrize("one", SEEN, ids=str)
def test_sessions_usage_and_inspect_say_the_same_of_a_real_session(one: Kept) -> None:
    sessions, usage, inspected = figures(one.file)
    assert sessions == usage == inspected


@pytest.mark.parametrize(
    "scenario", ["compact", "subagent", "background", "files-and-shell", "queued-during-tool"]
)
def test_live_events_say_it_too(scenario: str) -> None:
    one = kept("2.1.330", scenario)
    live = inspect(read(one.folder), lambda: prices(None))
    assert figures(one.file) == [(round(live.cost_usd or 0, 6), 0.0, True)] * 3


def test_a_conversation_that_was_rewound_costs_all_of_its_ways_and_its_fork_what_is_new() -> None:
    one = kept("2.1.330", "resume-and-rewind")
    found = sorted((report(path) for path in one.files), key=lambda told: told.cost_usd or 0)
    assert [round(told.cost_usd or 0, 7) for told in found] == [0.0008264, 0.0033056]
    assert [round(told.other_usd, 7) for told in found] == [0.0, 0.0016528]
    live = inspect(read(one.folder), lambda: prices(None))
    assert sum(told.cost_usd or 0 for told in found) == pytest.approx(live.cost_usd)
