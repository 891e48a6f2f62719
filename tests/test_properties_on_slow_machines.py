"""Properties do not fail because the machine is slow or the clone is fresh."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings import ROOT


def _slowly_made(value: int) -> int:
    """Take the time that text takes whose table of characters is still to be made, or that any value takes under load."""
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    return value


@pytest.mark.long
@settings(max_examples=10)
@given(st.integers().map(_slowly_made))
def test_a_property_whose_examples_are_made_slowly_holds(value: int) -> None:
    assert isinstance(value, int)


def test_no_property_sets_its_own_deadline_or_forgets_what_all_inherit() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    own = [
        path.name
        for path, source in sources.items()
        if re.search(
            r"settings\([^)]*deadline=|suppress_health_check=\[(?!\s*\*settings\(\)\.suppress_health_check)",
            source,
        )
    ]
    assert own == []
