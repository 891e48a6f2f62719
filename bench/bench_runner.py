"""What the runner costs for each line: many runs through one runner, against one run alone.

    python bench/bench_runner.py [LINES]

The same number of lines is shared among 1, 10, 50 and 200 runs at once. The agents are `cat`, so that the runner is what
is measured: its own CPU time, from /proc, with threads and system calls; the time of starting an agent is taken out by a
second, short series of the same runs. Wall time is that of the whole machine, agents and reader included.
"""

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
RUNS = (1, 10, 50, 200)
RECORDING = ROOT / "fixtures" / "2.1.330" / "partial-messages" / "stdout.jsonl"
RESULT = b'{"type":"result","subtype":"success","is_error":false,"result":"ok"}\n'
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """What a series took."""

    wall: float
    cpu: float
    lines: int
    size: int


def stream(lines: int) -> bytes:
    """Return what an agent says: stream events and messages of a recording over and over, then a result."""
    recorded = [
        line for line in RECORDING.read_bytes().splitlines(keepends=True) if b'"type":"result"' not in line
    ]
    whole = (recorded * (lines // len(recorded) + 1))[: lines - 1]
    return b"".join(whole) + RESULT


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def series(folder: Path, runs: int, lines: int, *options: str) -> Cost:
    """Make so many runs at once, each of so many lines, and wait for their ends."""
    said = folder / "said.jsonl"
    said.write_bytes(stream(lines))
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "TURNWIRE_AGENTS": json.dumps({"cat": ["/bin/sh", "-c", f"read line; exec cat {said}"]}),
    }
    command = [sys.executable, "-m", "turnwire", "runner", "--agent", "cat", *options]
    message = {"type": "user", "message": {"role": "user", "content": "go"}}
    params = {"model": "m", "message": message, "rate_limit_max_retries": 0}
    with Popen(command, env=env, cwd=folder, stdin=PIPE, stdout=PIPE) as runner:
        assert runner.stdin is not None
        assert runner.stdout is not None
        before, began = cpu_of(runner.pid), time.perf_counter()
        for number in range(runs):
            request = {"type": "run", "id": f"r{number}", "params": params}
            runner.stdin.write(json.dumps(request).encode() + b"\n")
        runner.stdin.flush()
        left, count, size = runs, 0, 0
        while left:
            chunk = runner.stdout.readline()
            count, size = count + 1, size + len(chunk)
            if chunk.startswith(b'{"type":"end"'):
                assert b'"status":"ok"' in chunk, chunk
                left -= 1
        cost = Cost(time.perf_counter() - began, cpu_of(runner.pid) - before, count - runs, size)
        runner.stdin.close()
    return cost


def table(total: int, *options: str) -> None:
    """Print one series for each number of runs."""
    print(f"{'runs':>6} {'lines':>9} {'CPU µs/line':>12} {'ratio':>7} {'wall µs/line':>13} {'MB/s':>7}")
    alone = 0.0
    for runs in RUNS:
        with TemporaryDirectory() as name:
            folder = Path(name)
            short = series(folder, runs, 2, *options)
            whole = series(folder, runs, total // runs, *options)
        cpu = (whole.cpu - short.cpu) / (whole.lines - short.lines) * 1e6
        wall = (whole.wall - short.wall) / (whole.lines - short.lines) * 1e6
        alone = alone or cpu
        rate = whole.size / max(whole.wall - short.wall, 1e-9) / 1e6
        print(
            f"{runs:6} {whole.lines:9,} {cpu:12.2f} {cpu / alone:7.2f} {wall:13.2f} {rate:7.0f}", flush=True
        )


def main() -> None:
    """Measure lines as they come, and as AgentEvents."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    print("lines as they come")
    table(total)
    print("\n--normalized (lines are those of the runner's output)")
    table(total // 4, "--normalized")


if __name__ == "__main__":
    main()
