#!/usr/bin/env python
"""What translating costs: lines per CPU second of `turnwire translate FILE > /dev/null`, as a whole process.

A is one recorded turn with partial messages, repeated; B all recordings of one version, C all of the Agent Client Protocol.
Peers in the same run: orjson loads + dumps, the limit of anything that reads and writes JSON in Python, and the official
SDK's parser (json.loads + parse_message), which gives no events. Peers are charged for their loop alone, turnwire for its
start, too. `--plot FILE` measures A at sizes from one turn on, and draws what a line costs.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.drawing import drawn

ROOT = Path(__file__).resolve().parents[1]
VERSION = "2.1.330"
LINES_A, LINES_B, LINES_C, LINES_MEMORY, ROUNDS = 200_000, 100_000, 100_000, 1_000_000, 5
SIZES = (39, 390, 3_900, 39_000, 390_000)
"""Lines of the plot: whole turns of A."""
TRANSLATE = [sys.executable, "-m", "turnwire", "translate"]
FLOOR = 0.30
"""Of the limit, on A and B; lines of ACP agents go mostly through a generic parser, and have none."""


def lines_of(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n") if line]


def one_turn() -> list[bytes]:
    lines = lines_of(ROOT / "fixtures" / VERSION / "partial-messages" / "stdout.jsonl")
    end = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return lines[: end + 1]


def all_recordings() -> list[bytes]:
    paths = sorted((ROOT / "fixtures" / VERSION).glob("*/stdout.jsonl"))
    return [line for path in paths for line in lines_of(path)]


def all_acp_recordings() -> list[bytes]:
    paths = sorted((ROOT / "fixtures" / "acp").glob("*/*/stdout.jsonl"))
    return [line for path in paths for line in lines_of(path)]


def installed() -> dict[str, str]:
    """An environment in which modules are compiled once, as where turnwire is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cpu_of(command: list[str]) -> float:
    """CPU seconds of a whole process whose stdout nobody reads."""
    with Path(os.devnull).open("wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, cwd=ROOT, env=installed())
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def orjson_loop() -> Callable[[bytes], object]:
    import orjson  # noqa: PLC0415 - a peer's process imports that peer alone

    def loop(line: bytes) -> object:
        try:
            return orjson.dumps(orjson.loads(line))
        except ValueError:  # it refuses lone surrogates
            return None

    return loop


def sdk_loop() -> Callable[[bytes], object]:
    import json  # noqa: PLC0415 - as above

    from claude_agent_sdk._errors import MessageParseError  # noqa: PLC0415 - as above
    from claude_agent_sdk._internal.message_parser import parse_message  # noqa: PLC0415 - as above

    def loop(line: bytes) -> object:
        value = json.loads(line)
        if value.get("type") in ("control_request", "control_response", "control_cancel_request"):
            return value  # its transport takes these out before the parser
        try:
            return parse_message(value)
        except MessageParseError:
            return None

    return loop


LIMIT, SDK, OURS = "orjson loads + dumps", "claude-agent-sdk parser", "turnwire translate"
PEERS = {LIMIT: orjson_loop, SDK: sdk_loop}


def peer(name: str, file: str) -> None:
    """Run one peer's loop over a file and print its CPU seconds."""
    loop = PEERS[name]()
    with Path(file).open("rb") as lines:
        started = time.process_time()
        for line in lines:
            loop(line)
        print(time.process_time() - started)


def cpu_of_peer(name: str, file: Path) -> float:
    return float(subprocess.check_output([sys.executable, __file__, "--peer", name, file], text=True))


def written(file: Path, lines: list[bytes], count: int) -> Path:
    """Write so many lines, from the first on again where there are not enough."""
    with file.open("wb") as out:
        out.writelines(line + b"\n" for line in islice(cycle(lines), count))
    return file


def plot(folder: Path, to: Path) -> None:
    """Draw the CPU time of a line over the size of the input, best of five rounds each."""
    cost: dict[str, list[tuple[int, float]]] = {name: [] for name in (OURS, SDK, LIMIT)}
    for size in SIZES:
        file = written(folder / f"{size}.jsonl", one_turn(), size)
        best = dict.fromkeys(cost, math.inf)
        for _ in range(ROUNDS):
            for name in PEERS:
                best[name] = min(best[name], cpu_of_peer(name, file))
            best[OURS] = min(best[OURS], cpu_of([*TRANSLATE, str(file)]))
        for name, spent in best.items():
            cost[name].append((size, spent / size * 1e6))
    to.write_text(drawn(cost), encoding="utf-8")
    for name, points in cost.items():
        print(f"{name:28}" + "".join(f"{size:>9,}: {value:>9,.2f}" for size, value in points))


def table(folder: Path) -> bool:
    """Print the table; tell whether the floor holds."""
    holds = True
    print(" " * 28 + "".join(f"{name + ' lines/s':>12}{'of limit':>10}" for name in "ABC"))
    inputs = [
        (written(folder / "A.jsonl", one_turn(), LINES_A), LINES_A),
        (written(folder / "B.jsonl", all_recordings(), LINES_B), LINES_B),
        (written(folder / "C.jsonl", all_acp_recordings(), LINES_C), LINES_C),
    ]
    seconds = {name: [math.inf] * len(inputs) for name in (*PEERS, OURS)}
    for _ in range(ROUNDS):  # in turns, and the best counts: other processes take their share of the caches
        for place, (file, _) in enumerate(inputs):
            for name in PEERS:
                seconds[name][place] = min(seconds[name][place], cpu_of_peer(name, file))
            whole = cpu_of([*TRANSLATE, str(file)])
            seconds[OURS][place] = min(seconds[OURS][place], whole)
    limit = seconds[LIMIT]
    for name, spent in seconds.items():
        cells = [
            f"{count / cpu:>12,.0f}{best / cpu:>10.2f}"
            for (_, count), cpu, best in zip(inputs, spent, limit, strict=True)
        ]
        print(f"{name:28}{''.join(cells)}")
        if name == OURS:
            holds = all(best / cpu >= FLOOR for cpu, best in zip(spent[:2], limit[:2], strict=True))
    return holds


def resident(pid: int) -> int:
    """Resident memory in KiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def memory() -> None:
    """Print the memory of the filter after a tenth of the lines, and after all of them."""
    turn = b"".join(line + b"\n" for line in one_turn())
    per_write = 100
    writes = LINES_MEMORY // (len(one_turn()) * per_write)
    with subprocess.Popen(
        TRANSLATE, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT, env=installed()
    ) as process:
        assert process.stdin is not None
        for number in range(writes):
            process.stdin.write(turn * per_write)
            if number == writes // 10:
                early = resident(process.pid)
        late = resident(process.pid)
        process.stdin.close()
    print(
        f"memory: {early / 1024:.1f} MiB after a tenth of {LINES_MEMORY:,} lines, {late / 1024:.1f} MiB after all"
    )


def main() -> None:
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2], sys.argv[3])
        return
    with tempfile.TemporaryDirectory() as folder:
        cpu_of([*TRANSLATE, os.devnull])  # compiles what it imports
        if sys.argv[1:2] == ["--plot"]:
            plot(Path(folder), Path(sys.argv[2]))
            return
        holds = table(Path(folder))
    memory()
    if not holds:
        raise SystemExit(f"below the floor of {FLOOR:.2f}")


if __name__ == "__main__":
    main()
