"""The table of prices is made of published ones and our corrections."""

import json
import runpy
from typing import Any

import pytest

from recordings import ROOT
from turnwire.tracing.prices import prices

SCRIPT = runpy.run_path(str(ROOT / "release" / "prices.py"))
TABLE = json.loads((ROOT / "tracing" / "prices.json").read_text())
CORRECTIONS = json.loads((ROOT / "release" / "prices.json").read_text())


def published(maker: str = "openai", mode: str = "chat", **dollars: Any) -> dict[str, Any]:
    """A model as the published table has it; dollars are those of one token."""
    return {"litellm_provider": maker, "mode": mode, **dollars}


def both(sent: float = 1e-6, written: float = 4e-6) -> dict[str, Any]:
    return {"input_cost_per_token": sent, "output_cost_per_token": written}


def table_of(
    *tables: dict[str, Any], corrections: dict[str, Any] | None = None
) -> dict[str, list[dict[str, Any]]]:
    made: dict[str, list[dict[str, Any]]] = SCRIPT["table_of"](
        [(f"release {number}", table) for number, table in enumerate(tables)],
        {"sources": {}, "models": corrections or {}},
    )["models"]
    return made


def test_a_published_price_is_in_dollars_for_a_million_tokens_with_its_release() -> None:
    told = published(
        **both(), cache_read_input_token_cost=1e-7, cache_creation_input_token_cost_above_1hr=2e-6
    )
    expected = {"source": "release 0", "input": 1, "output": 4, "cache_read": 0.1, "cache_write_1h": 2}
    assert table_of({"gpt-9": told}) == {"gpt-9": [expected]}


@pytest.mark.parametrize(
    "told",
    [
        published(**both(0, 0)),
        published(**both(0)),
        published(input_cost_per_token=1e-6),
        published("reseller", **both()),
        published(mode="embedding", **both()),
        published("moonshot", **both()),
    ],
)
def test_what_has_no_price_or_is_no_chat_model_of_its_maker_is_left_out(told: dict[str, Any]) -> None:
    assert table_of({"gpt-9": told}) == {}


def test_a_zero_is_no_price_of_the_cache() -> None:
    (price,) = table_of({"gpt-9": published(**both(), cache_creation_input_token_cost=0)})["gpt-9"]
    assert "cache_write" not in price


def test_longer_prompts_have_the_kinds_of_shorter_ones() -> None:
    above: dict[str, Any] = {
        "input_cost_per_token_above_200k_tokens": 2e-6,
        "output_cost_per_token_above_200k_tokens": 6e-6,
    }
    steps = [
        {"range": [0, 32000], **both()},
        {"range": [32000, 64000], **both(2e-6)},
        {"range": [64000, 99000], **both(3e-6)},
    ]
    made = table_of(
        {
            "gpt-9": published(**both(), cache_read_input_token_cost=1e-7, **above),
            "qwen9": published("dashscope", tiered_pricing=steps),
        }
    )
    assert made["gpt-9"][0]["long"] == {"above": 200000, "input": 2, "output": 6, "cache_read": 0.1}
    assert [(one["above"], one["input"]) for one in made["qwen9"][0]["long"]] == [(32000, 2), (64000, 3)]


def test_names_with_a_day_stand_only_where_they_cost_something_else() -> None:
    made = table_of(
        {
            "openai/gpt-9": published(**both()),
            "gpt-9-2027-01-01": published(**both()),
            "gpt-9-2026-01-01": published(**both(5e-6)),
        }
    )
    assert {name: prices[0]["input"] for name, prices in made.items()} == {"gpt-9": 1, "gpt-9-2026-01-01": 5}


def test_a_model_that_is_published_with_days_alone_is_known_without_one_by_the_last() -> None:
    made = table_of(
        {"gpt-9-2026-01-01": published(**both(5e-6)), "gpt-9-2027-01-01": published(**both(7e-6))}
    )
    assert {name: prices[0]["input"] for name, prices in made.items()} == {"gpt-9": 7, "gpt-9-2026-01-01": 5}


def test_a_newer_release_and_a_correction_come_first() -> None:
    made = table_of(
        {"gpt-9": published(**both())},
        {
            "gpt-9": published(**both(5e-6)),
            "gpt-8": published(**both(3e-6)),
            "gpt-7-latest": published(**both()),
        },
        corrections={"gpt-7": [{"input": 2, "output": 2}]},
    )
    assert {name: prices[0]["input"] for name, prices in made.items()} == {"gpt-7": 2, "gpt-8": 3, "gpt-9": 1}


@pytest.mark.parametrize(
    "maker", ["claude", "gpt", "gemini", "glm", "kimi", "qwen", "deepseek", "minimax", "grok"]
)
def test_each_maker_has_models_with_prices(maker: str) -> None:
    assert sum(name.startswith(maker) for name in TABLE["models"]) >= 4


def test_the_table_is_what_the_script_writes_and_names_where_each_price_is_from() -> None:
    text = (ROOT / "tracing" / "prices.json").read_text()
    assert SCRIPT["written"](TABLE, TABLE["checked"]) == text
    assert len(text) < 50_000
    assert {f"litellm {release}" for release in SCRIPT["RELEASES"]} <= TABLE["sources"].keys()
    for name, known in TABLE["models"].items():
        assert {one["source"] for one in known} <= TABLE["sources"].keys()
        assert all(one["input"] and one["output"] for one in known)
        assert prices().price_of(name) is not None
    assert {name: TABLE["models"][name] for name in CORRECTIONS["models"]} == CORRECTIONS["models"]
