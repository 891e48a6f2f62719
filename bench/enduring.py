"""What frontends have seen after very many disconnections or kills of the sidecar, and what very many sessions leave behind.

    python bench/enduring.py disconnections [1000]
    python bench/enduring.py kills [100] [--redis]
    python bench/enduring.py sessions [500]

The same as tests/faults/test_enduring.py, which is shorter. Ends with an error when a frontend saw anything else than the journal has, or
when something is left.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/")), str(ROOT / "clients" / "python")]

from enduring import Left, disconnected, killed, sessions_leave  # noqa: E402

USUAL = {"disconnections": 1000, "kills": 100, "sessions": 500}


def shown(left: Left) -> None:
    """Print what is held."""
    print(left, flush=True)


def grows(left: list[Left]) -> list[str]:
    """What is more at the end than before."""
    before, after = left[0], left[-1]
    names = ("descriptors", "tasks", "processes", "files")
    grown = [name for name in names if getattr(after, name) > getattr(before, name)]
    # the second half shows what a session leaves; the first, what fills up once
    half = left[len(left) // 2]
    return grown + [
        name for name in ("objects", "rss", "threads") if getattr(after, name) > getattr(half, name) * 1.05
    ]


def main() -> None:
    """Run one of them once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=USUAL)
    parser.add_argument("times", type=int, nargs="?")
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    times = given.times or USUAL[given.what]
    began = time.monotonic()
    with TemporaryDirectory(prefix="enduring-") as folder:
        if given.what == "sessions":
            left = asyncio.run(sessions_leave(Path(folder), times, tell=shown))
            failed = grows(left)
        else:
            if given.what == "kills":
                seeing = asyncio.run(killed(Path(folder), times, redis=given.redis, seed=given.seed))
            else:
                seeing = asyncio.run(disconnected(Path(folder), times, seed=given.seed))
            print(seeing)
            failed = seeing.differing + (["gaps"] if seeing.gaps else [])
    print(f"{time.monotonic() - began:.0f} s", f"FAILED {failed}" if failed else "all held")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
