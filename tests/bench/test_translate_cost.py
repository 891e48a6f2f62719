"""What translating costs, counted in instructions, which no other load of the machine changes.

The measure is `turnwire translate` against orjson's loads and dumps of the same lines, each as a whole process under valgrind.
Two sizes are counted, so that the start of a process is no part of it. bench/bench_translate.py measures seconds.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.bench_translate import INPUTS, LIMIT, TRANSLATE, installed, written
from recordings import ROOT

TIMES_ORJSON = {"A": 1.62, "B": 2.24, "C": 5.05, "D": 18.43}
"""Instructions of a line by those of orjson, with CPython 3.11. Raise one only with the reason in the commit."""

MARGIN = 1.15
"""Other builds of Python take more or fewer instructions for the same code."""

LINES = 2_000
ORJSON = [sys.executable, str(ROOT / "bench" / "bench_translate.py"), "--peer", LIMIT]


def instructions(command: list[str], log: Path) -> int:
    """Count the instructions of a process."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    subprocess.run(
        [*valgrind, f"--log-file={log}", *command],
        cwd=ROOT,
        env={**installed(), "PYTHONHASHSEED": "0", "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (refs,) = (line for line in log.read_text().splitlines() if "I   refs:" in line)
    return int(refs.split()[-1].replace(",", ""))


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_a_line_takes_no_more_instructions_than_it_did(name: str, tmp_path: Path) -> None:
    lines, log = INPUTS[name](), tmp_path / "log"
    short, long = (written(tmp_path / f"{size}.jsonl", lines, size) for size in (1, LINES + len(lines)))
    # so that no run below compiles modules for the first time
    subprocess.run([*TRANSLATE, str(short)], cwd=ROOT, env=installed(), stdout=subprocess.DEVNULL, check=True)
    ours, limit = (
        instructions([*command, str(long)], log) - instructions([*command, str(short)], log)
        for command in (TRANSLATE, ORJSON)
    )
    assert round(ours / limit, 2) <= TIMES_ORJSON[name] * MARGIN
