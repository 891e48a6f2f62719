"""A real sidecar (SQLite journal) under random use and random faults: does it lose anything, does it hold more and more?

    python bench/soak.py [--seconds 1800] [--sessions 5] [--seed 1]

The same as tests/faults/test_soak.py, which is shorter. A line every 30 s says what the sidecar holds. Ends with an error when a frontend
saw anything else than the journal has, when something is left behind, or when memory, descriptors or tasks grow from the first
third to the last.
"""

import argparse
import asyncio
import sys
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/")), str(ROOT / "clients" / "python")]

from soaking import Outcome, Size, Soak  # noqa: E402

MAY_GROW = {"rss": (1.10, 4e6), "descriptors": (1.10, 5), "tasks": (1.10, 10), "threads": (1.10, 2)}
"""From the first third to the last: by this factor and so many more."""


def say(line: str) -> None:
    """Print at once, also into a file."""
    print(line, flush=True)


def main() -> None:
    """Run it once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=Size.seconds)
    parser.add_argument("--sessions", type=int, default=Size.sessions)
    parser.add_argument("--sample-every", type=float, default=Size.sample_every_s)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    size = Size(seconds=given.seconds, sessions=given.sessions, sample_every_s=given.sample_every)
    with TemporaryDirectory(prefix="soak-") as folder:
        outcome: Outcome = asyncio.run(Soak(Path(folder), size, given.seed, say).run())
    for each in fields(outcome):
        if each.name not in {"samples", "before", "rest"}:
            say(f"{each.name}: {getattr(outcome, each.name)}")
    grown = []
    for name, (factor, more) in MAY_GROW.items():
        first, last = outcome.drift(name)
        say(f"{name}: {first:.0f} in the first third, {last:.0f} in the last")
        if last > first * factor + more:
            grown.append(name)
    if outcome.differing or outcome.gaps or outcome.left or grown:
        say(f"FAILED {grown}")
        raise SystemExit(1)
    say("all held")


if __name__ == "__main__":
    main()
