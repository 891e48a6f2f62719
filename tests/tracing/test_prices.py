"""What agents do not tell of cost is estimated by the prices of models, and marked so."""

import json
import subprocess
from pathlib import Path

import pytest
from kept_sessions import all_kept, kept

from real_cli import real_cli, real_cli_environment
from scripted_messages_api import scripted_messages_api
from turnwire.config.settings import Settings
from turnwire.history.history import History
from turnwire.history.show import spending, table
from turnwire.normalize.recordings.session_files import Answer, TokenCounts
from turnwire.recordings.filters.inspection import inspect
from turnwire.recordings.filters.report import draw
from turnwire.recordings.reading import read
from turnwire.recordings.session_file import format_of, survey_of
from turnwire.tracing.prices import PricesError, prices

TOOK = TokenCounts(100, 20, 7, 5)
"""What each answer of the scripted API takes."""


def test_answers_whose_cost_the_cli_tells_are_estimated_alike() -> None:
    estimated = 0
    for one in all_kept():
        for path in one.files if one.version == "2.1.330" else []:
            found = format_of(path)
            assert found is not None
            for answer in survey_of(path, found.files).outline().answers:
                if answer.cost_usd is not None:
                    took = TokenCounts(*answer[3:7], answer.cache_creation_1h_input_tokens)
                    assert prices().estimate(answer.model, took, answer.at) == pytest.approx(answer.cost_usd)
                    estimated += 1
    assert estimated > 20


@pytest.mark.long
@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-20250514", "claude-haiku-4-5-20251001", "claude-fable-5-2"]
)
def test_the_real_cli_counts_with_the_same_prices(model: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with scripted_messages_api() as api:
        done = subprocess.run(
            [real_cli(), "-p", "--model", model, "--output-format", "json", "hello"],
            cwd=tmp_path / "project",
            env=real_cli_environment(tmp_path / "home", api.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=True,
        )
    told = json.loads(done.stdout)["modelUsage"][model]
    assert told["outputTokens"] == TOOK.output_tokens
    assert prices().estimate(model, TOOK) == pytest.approx(told["costUSD"])


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4",
        "claude-sonnet-4-0",
        "claude-sonnet-4-20250514",
        "claude-sonnet-4@20250514",
        "claude-sonnet-4-20250514[1m]",
        "claude-sonnet-4-20250514-v1:0[1m]",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "us-gov.anthropic.claude-sonnet-4-20250514-v1:0",
        "bedrock/converse/global.anthropic.claude-sonnet-4-20250514-v1",
        "arn:aws:bedrock:eu-west-1:12:inference-profile/eu.anthropic.claude-sonnet-4-20250514-v1:0",
        "publishers/anthropic/models/claude-sonnet-4@20250514",
        "claude-sonnet-4@default",
        "claude-3-5-sonnet-v2@20241022",
        "openrouter/anthropic/claude-sonnet-4",
        "anthropic/claude-sonnet-4.5",
        "Claude-Sonnet-4-5-latest",
    ],
)
def test_a_model_is_known_by_each_of_its_names(name: str) -> None:
    assert prices().estimate(name, TokenCounts(1_000_000, 1_000_000)) == 18


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("models/gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("google/gemini-2.5-pro", "gemini-2.5-pro"),
        ("zai-org/GLM-4.6", "glm-4.6"),
        ("moonshotai.kimi-k2-thinking-251104", "kimi-k2-thinking"),
        ("vertex_ai/deepseek-ai/deepseek-v3.2-maas", "deepseek-v3.2"),
        ("deepseek-v4-flash-0731", "deepseek-v4-flash"),
        ("dashscope/qwen3-max-2026-01-23", "qwen3-max"),
        ("minimax/MiniMax-M2.5", "minimax-m2.5"),
        ("xai/grok-code-fast-1-0825", "grok-code-fast-1"),
        ("openai/gpt-5.2-2025-12-11", "gpt-5.2"),
    ],
)
def test_models_of_other_makers_are_known_by_their_names(name: str, same_as: str) -> None:
    assert prices().estimate(name, TOOK) == prices().estimate(same_as, TOOK)
    assert prices().estimate(name, TOOK)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "claude",
        "claude-sonnet-44",
        "scripted-1",
        "gpt-5.5-unheard-of",
        "[1m]",
        "x/",
        "deepseek-v9",
        "kimi-0905",
        "qwen/qwen3-coder:free",
        "glm-4.5-flash",
        "gpt-5-1000",
        "gemini-2.5",
        "-latest",
    ],
)
def test_of_a_model_that_is_not_known_nothing_is_guessed(name: str) -> None:
    assert prices().estimate(name, TOOK) is None


def test_the_day_the_hour_in_the_cache_and_the_length_of_a_prompt_count() -> None:
    def read_from_cache(day: float | None) -> float | None:
        return prices().estimate("claude-sonnet-5-5", TokenCounts(0, 0, 1_000_000), day)

    assert (read_from_cache(1_790_000_000), read_from_cache(1_792_000_000), read_from_cache(None)) == (
        0.2,
        0.1,
        0.1,
    )
    assert (
        prices().estimate("claude-opus-5", TokenCounts(0, 0, 0, 1_000_000, 400_000)) == 0.6 * 6.25 + 0.4 * 10
    )
    assert prices().estimate("claude-haiku-5-5", TokenCounts(90_000, 10, 10_000)) == pytest.approx(0.009105)
    assert prices().estimate("claude-haiku-5-5", TokenCounts(90_000, 10, 10_001)) == pytest.approx(0.04552505)


def test_a_prompt_has_the_rates_of_the_highest_size_that_it_passes() -> None:
    def sent(tokens: int) -> float | None:
        return prices().estimate("qwen3-coder-plus", TokenCounts(tokens, 0))

    assert [sent(tokens) for tokens in (32_000, 32_001, 200_000, 500_000)] == pytest.approx(
        [0.032, 0.0576018, 0.6, 3]
    )


def test_a_file_of_prices_comes_before_the_table(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(
        '{"models": {"claude-opus-5": [{"input": 1, "output": 2}], "mine": [{"input": 3, "output": 4}]}}'
    )
    assert (
        prices(file).estimate("claude-opus-5", TokenCounts(1_000_000, 1_000_000, 1_000_000, 1_000_000)) == 5
    )
    assert prices(file).estimate("mine-20260101", TokenCounts(1_000_000, 0)) == 3
    assert prices(file).estimate("gpt-5.4-mini", TokenCounts(1_000_000, 0)) == 0.75


def test_a_file_of_prices_comes_before_the_table_for_each_of_a_models_names(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"models": {"GPT-4o": [{"input": 1, "output": 2}]}}')
    assert prices().estimate("gpt-4o-2024-05-13", TokenCounts(1_000_000, 0)) == 5
    assert prices(file).estimate("gpt-4o-2024-05-13", TokenCounts(1_000_000, 0)) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be used"),
        ('{"models": {"x": [{"input": -1, "output": 2}]}}', "models"),
        ('{"models": {"x": [{"inputs": 1, "output": 2}]}}', "inputs"),
        ('{"models": ' + "[" * 100_000, "cannot be used"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_prices_that_is_none_is_refused_by_name(
    tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "prices.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(PricesError, match=said) as refused:
        prices(file)
    assert str(file) in str(refused.value)


def a_library(tmp_path: Path, *names: tuple[str, str], **options: object) -> History:
    folders = [kept(version, scenario).folder / "projects" for version, scenario in names]
    settings = {"history_dirs": folders, "state_dir": tmp_path / "state", **options}
    library = History(Settings.model_validate(settings))
    library.look()
    return library


def test_usage_and_lists_estimate_what_older_clis_do_not_tell(tmp_path: Path) -> None:
    one = kept("2.0.14", "compact")
    library = a_library(tmp_path, ("2.0.14", "compact"))
    (listed,) = library.index.newest(limit=9)
    (spent,) = library.index.usage([])
    expected = sum(
        prices().estimate(answer.model, TokenCounts(*answer[3:7])) or 0 for answer in _answers(one.file)
    )
    assert expected > 0
    assert (
        listed.cost_usd
        == listed.estimated_usd
        == spent.cost_usd
        == spent.estimated_usd
        == pytest.approx(expected)
    )
    assert listed.cost_is_whole
    assert spent.cost_is_whole
    assert ", estimated" in library.export(listed, "markdown", redact=False)
    library.close()


def test_what_the_cli_tells_is_no_estimate_and_what_nobody_knows_is_none(tmp_path: Path) -> None:
    library = a_library(tmp_path, ("2.1.330", "denied"))
    assert {one.estimated_usd for one in library.index.newest(limit=9)} == {0.0}
    library.close()
    mine = tmp_path / "prices.json"
    mine.write_text('{"models": {}}')
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    text = kept("2.0.14", "compact").file.read_text()
    (folder / "11111111-1111-1111-1111-111111111111.jsonl").write_text(text.replace("claude-", "unheard-of-"))
    settings = Settings.model_validate(
        {"history_dirs": [folder.parent], "state_dir": tmp_path / "s", "prices": mine}
    )
    library = History(settings)
    library.look()
    (listed,) = library.index.newest(limit=9)
    assert (listed.cost_usd, listed.estimated_usd, listed.cost_is_whole) == (None, 0.0, False)
    library.close()


def test_copies_of_a_conversation_are_estimated_once(tmp_path: Path) -> None:
    library = a_library(tmp_path, ("2.0.14", "resume-and-rewind"))
    (spent,) = library.index.usage([])
    listed = library.index.newest(limit=9)
    assert len(listed) > 1
    assert sum(one.cost_usd or 0 for one in listed) == pytest.approx(spent.cost_usd)
    library.close()


@pytest.mark.parametrize("version", ["1.0.120", "2.0.14", "2.1.101"])
def test_inspect_estimates_a_session_file_and_says_so(version: str) -> None:
    path = kept(version, "subagent").file
    report = inspect(read(path), prices)
    expected = sum(
        prices().estimate(answer.model, TokenCounts(*answer[3:7])) or 0 for answer in _answers(path)
    )
    assert report.cost_usd == report.estimated_usd == pytest.approx(expected)
    assert report.cost_is_whole


def test_inspect_estimates_nothing_that_the_cli_tells() -> None:
    report = inspect(read(kept("2.1.330", "subagent").file), prices)
    assert report.cost_usd
    assert report.estimated_usd == 0


def _answers(path: Path) -> list[Answer]:
    found = format_of(path)
    assert found is not None
    return survey_of(path, found.files).outline().answers


def test_a_model_without_a_price_has_an_unknown_price_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    file = folder / "11111111-1111-1111-1111-111111111111.jsonl"
    text = kept("2.0.14", "compact").file.read_text()
    file.write_text(text.replace("claude-", "unheard-of-"))
    library = History(Settings.model_validate({"history_dirs": [folder.parent], "state_dir": tmp_path / "s"}))
    library.look()
    spending(library.index.usage(["model"]), ["model"])
    said = [capsys.readouterr().out]
    table(library.index.newest(limit=9), (), 1)
    said.append(capsys.readouterr().out)
    library.close()
    draw(inspect(read(file), prices), file)
    head, _, rest = capsys.readouterr().out.partition("\n")
    said.append(head)
    assert [("unknown" in each, "$" in each) for each in said] == [(True, False)] * 3, said
    assert "price unknown" in head
    assert "price unknown" in rest
