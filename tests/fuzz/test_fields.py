"""Each field of each recorded line missing, null, of another type, empty, negative or huge: everything goes on."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.field_cases import MISSING, WRONG, Field, Observers, fields

EXPLORES = "TURNWIRE_EXPLORE" in os.environ
CASES = 20_000 if EXPLORES else 1_200
"""Pairs of a field and a wrong value, of which there are many more. Each run with TURNWIRE_EXPLORE tries others."""
SEED = None if EXPLORES else 20261129
TOGETHER = 100
"""Sessions between two looks at the index and the metrics."""

NUMBERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "total_cost_usd",
    "costUSD",
    "inputTokens",
    "duration_ms",
)


@pytest.fixture
def observers(tmp_path: Path) -> Iterator[Observers]:
    made = Observers(tmp_path / "index.sqlite3")
    yield made
    made.close()


def tried(observers: Observers, field: Field, value: object) -> None:
    try:
        observers.follow(field, field.with_value(value))
    except Exception as error:
        what = "missing" if value is MISSING else repr(value)
        error.add_note(f"{field.wire}: {field.place} is {what} in {field.rows[field.row][1][:300]!r}")
        raise


@pytest.mark.long
def test_no_wrong_field_ends_a_session_or_an_observer(observers: Observers) -> None:
    cases = [(field, value) for field in fields() for value in WRONG]
    for number, (field, value) in enumerate(random.Random(SEED).sample(cases, CASES)):
        tried(observers, field, value)
        if number % TOGETHER == 0:
            observers.answer()
    observers.answer()


def test_no_wrong_number_of_a_result_ends_an_observer(observers: Observers) -> None:
    made = fields("2.1.330/plain-text")
    found = [one for one in made if one.place[-1] in NUMBERS and b'"type":"result"' in one.rows[one.row][1]]
    assert len(found) > 4
    for field in found[:8]:
        for value in WRONG:
            tried(observers, field, value)
    observers.answer()
