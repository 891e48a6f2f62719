"""Run the fuzzers and print a table: `PYTHONPATH=.:tests/support/recorded python -m tests.fuzz --seconds 60`."""

import argparse
import logging
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.fuzz.fuzzing import Campaign, fuzz, keep
from tests.fuzz.targets import TARGETS


def run(name: str, seed: int, inputs: int | None, seconds: float | None) -> tuple[int, Campaign]:
    """Feed one target, in a process of its own."""
    logging.disable()
    return seed, fuzz(TARGETS[name], seed, inputs=inputs, seconds=seconds)


def main() -> int:
    """Do it; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=f"which: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=float, help="of CPU, for each target and seed")
    parser.add_argument("--inputs", type=int, help="so many, for each target and seed")
    parser.add_argument("--seeds", type=int, default=1, help="so many runs of each target")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--keep",
        type=int,
        default=0,
        help="keep so many inputs that made something new happen, and all that failed",
    )
    options = parser.parse_args()
    if options.seconds is None and options.inputs is None:
        options.seconds = 10.0
    failed = 0
    sums: dict[str, Campaign] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        runs = [
            pool.submit(run, name, seed, options.inputs, options.seconds)
            for name in options.targets
            for seed in seeds
        ]
        for done in as_completed(runs):
            seed, campaign = done.result()
            name = campaign.target
            if options.keep:
                keep(campaign, grown=options.keep)
            total = sums.setdefault(name, Campaign(name))
            total.inputs += campaign.inputs
            total.size += campaign.size
            total.seconds += campaign.seconds
            total.slowest = max(total.slowest, campaign.slowest)
            for finding in campaign.findings:
                failed += 1
                print(f"{name}, seed {seed}: {finding.data[:2000]!r}\n{finding.why}", flush=True)
    print("| target | inputs | MB | CPU s | inputs/s | slowest ms/kB |\n|---|---|---|---|---|---|")
    for name, each in sums.items():
        rate = each.inputs / max(each.seconds, 1e-9)
        print(
            f"| {name} | {each.inputs:,} | {each.size / 1e6:.1f} | {each.seconds:.0f} | {rate:,.0f} | {each.slowest[0] * 1000:.1f} |"
        )
    print(f"{sum(each.inputs for each in sums.values()):,} inputs, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
