"""Rules that deny against real shells: whatever runs `rm`, `deny rm *` has denied or asked about."""

import os
from pathlib import Path

import pytest
from shell_driver import PROCESSES
from shell_lines import Lines, ran
from shell_pieces import PiecedLines

from turnwire.adapter.permissions.patterns import finds

EXPLORES = "TURNWIRE_EXPLORE" in os.environ

FOUND = [
    line.replace("⏎", "\n").replace("⇥", "\t")
    for line in Path(__file__).with_name("lines_that_run_rm.txt").read_text().splitlines()
]
"""Lines of which bash or dash ran `rm` or `git push`."""


def slips(seed: int, count: int, shell: str) -> tuple[int, list[str]]:
    """Return how many of the lines ran it, and those of them that the rule let through."""
    made, pieced = Lines(seed), PiecedLines(seed, [line for line in FOUND if "push" not in line])
    lines = [made.line() if number % 2 else pieced.line() for number in range(count)]
    run = ran(lines, shell)
    return len(run), [lines[number] for number in sorted(run) if finds("rm *", lines[number]) == "no"]


@pytest.mark.parametrize("part", range(4))
def test_no_line_that_was_seen_to_run_it_slips_through(part: int) -> None:
    assert len(FOUND) > 900
    assert [
        line for line in FOUND[part::4] if finds("rm *", line) == "no" and finds("git push *", line) == "no"
    ] == []


def test_no_line_that_runs_it_slips_through() -> None:
    for shell in ("bash", "dash"):
        run, slipped = slips(7, 60, shell)
        assert run > 10
        assert slipped == []


def test_a_line_has_few_processes_and_leaves_none() -> None:
    many = (
        "i=100; while [ $i -lt 300 ]; do i=$((i+1)); "
        'setsid sh -c "LINE=$i rm x; kill -STOP \\$\\$" left-by-a-line & done'
    )
    run = ran([many, "LINE=#E rm x", "LINE= rm x", "rm x"], "dash")
    assert 3 in run
    assert 10 < len(run) < PROCESSES
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if _says(path, b"left-by-a-line")]


def _says(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:  # the process has ended
        return False


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120) if EXPLORES else (102, 103))
def test_no_line_of_thousands_slips_through(seed: int) -> None:
    """Bash reads the lines of each part, dash those of every fourth. With TURNWIRE_EXPLORE all twenty parts run whole."""
    shell = "dash" if seed % 4 == 3 else "bash"
    run, slipped = slips(seed, 5000 if EXPLORES else 3000, shell)
    assert run > 1000
    assert slipped == []
