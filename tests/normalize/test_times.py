"""Times as agents write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire.normalize.common.times import moment, span

ODD = [
    "",
    "never",
    "2026-99-01T00:00:00.000Z",
    "2026-01-01T00:00:00Z",
    "2025-W52-1T00:00:00.000Z",
    "2026-01-01 01:00:00.000+0500",
]


def usual(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@given(st.lists(st.one_of(st.integers(1_700_000_000, 1_800_000_000).map(usual), st.sampled_from(ODD))))
def test_the_first_and_the_last_time_are_those_of_all_times(timestamps: list[str]) -> None:
    known = [at for one in timestamps if (at := moment(one)) is not None]
    assert span(timestamps) == ((min(known), max(known)) if known else (None, None))


@pytest.mark.parametrize("wrong", ["0000-00-00T00:00:00.000Z", "9999-99-99T00:00:00.000Z"])
def test_a_text_that_only_looks_like_a_time_does_not_count(wrong: str) -> None:
    right = usual(1_750_000_000)
    assert span([right, wrong, right]) == (1_750_000_000, 1_750_000_000)
    assert span([wrong]) == (None, None)
