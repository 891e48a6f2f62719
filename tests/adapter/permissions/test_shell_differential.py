"""Rules that deny against real shells: whatever runs `rm`, `deny rm *` has denied or asked about."""

from pathlib import Path

import pytest
from shell_lines import Lines, ran

from turnwire.adapter.permissions.patterns import finds


def slips(seed: int, count: int, shell: str, folder: Path) -> tuple[int, list[str]]:
    """Return how many of the lines ran it, and those of them that the rule let through."""
    made = Lines(seed)
    lines = [made.line() for _ in range(count)]
    run = ran(lines, shell, folder / shell)
    return len(run), [lines[number] for number in sorted(run) if finds("rm *", lines[number]) == "no"]


def test_no_line_that_runs_it_slips_through(tmp_path: Path) -> None:
    for shell in ("bash", "dash"):
        run, slipped = slips(7, 60, shell, tmp_path)
        assert run > 10
        assert slipped == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_no_line_of_a_hundred_thousand_slips_through(seed: int, tmp_path: Path) -> None:
    """Each of twenty parts has 5,000 lines, for bash, and for dash every fourth."""
    shell = "dash" if seed % 4 == 3 else "bash"
    run, slipped = slips(seed, 5000, shell, tmp_path)
    assert run > 1000
    assert slipped == []
