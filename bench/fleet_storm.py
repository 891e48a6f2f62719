"""The fleet's test at full size: random kill -9 of hubs, workers and Redis, and what every frontend saw of it.

    python bench/fleet_storm.py [--seed 1] [--seconds 120] [--sessions 40] [--frontends 200] [--topology cluster]

The same as tests/fleet/test_storm.py, which is shorter. Ends with an error when something was lost, came twice or stayed behind.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/")), str(ROOT / "clients" / "python")]

from fleet_storm import Outcome, Size, Storm  # noqa: E402


def main() -> None:
    """Run it once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    for name in ("seconds", "sessions", "frontends", "hubs", "workers"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Size, name))
    parser.add_argument(
        "--topology",
        choices=["one", "cluster", "sentinel"],
        default="one",
        help="one Redis, a cluster of three nodes, or a primary with a replica and a sentinel",
    )
    given = vars(parser.parse_args())
    seed = given.pop("seed")
    began = time.monotonic()
    with TemporaryDirectory(prefix="storm-") as folder:
        outcome: Outcome = asyncio.run(Storm(Path(folder), Size(**given), seed).run())
    print(f"{time.monotonic() - began:.0f} s")
    for each in fields(outcome):
        value = getattr(outcome, each.name)
        print(f"{each.name}: {dict(value) if isinstance(value, Counter) else value}")
    if (
        outcome.twice
        or outcome.lost
        or outcome.differing
        or outcome.orphans
        or outcome.gaps
        or outcome.unfinished
        or outcome.restored
        or outcome.brought_back
        or outcome.answers["internal"]
    ):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
