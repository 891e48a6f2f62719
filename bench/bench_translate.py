#!/usr/bin/env python
"""What translating costs: lines per CPU second of `turnwire translate FILE > /dev/null`, as a whole process.

A is one recorded turn with partial messages, B all recordings of one version, C all of the Agent Client Protocol, D all of
`codex exec`. Each is repeated, and every repetition is a conversation of its own: turnwire drops lines that it has seen.
Peers in the same run: orjson loads + dumps, the limit of anything that reads and writes JSON in Python, and the official
SDK's parser (json.loads + parse_message), which gives no events. Peers are charged for their loop alone, turnwire for its
start, too. `--plot FILE` measures A at sizes from one turn on, and draws what a line costs.
"""

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.drawing import drawn

ROOT = Path(__file__).resolve().parents[1]
VERSION = "2.1.330"
LINES = {"A": 200_000, "B": 100_000, "C": 100_000, "D": 100_000}
LINES_MEMORY, ROUNDS = 1_000_000, 5
SIZES = (39, 390, 3_900, 39_000, 390_000)
"""Lines of the plot: whole turns of A."""
TRANSLATE = [sys.executable, "-m", "turnwire", "translate"]
FLOORS = {"A": 0.35, "B": 0.25, "C": 0.08, "D": 0.02}
"""Of the limit, on a quiet machine or a busy one. tests/bench/test_translate_cost.py counts instructions, more closely."""


IDS = re.compile(
    rb"\b(?:([0-9a-f]{8})(?=(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)|((?:msg|toolu|call|rs|fc|ses|session)_)(?=\d))"
)
"""What is changed of an id: the first eight digits of a UUID, or the place behind the prefix of another one."""


def lines_of(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n") if line]


def one_turn() -> list[bytes]:
    lines = lines_of(ROOT / "fixtures" / VERSION / "partial-messages" / "stdout.jsonl")
    end = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return lines[: end + 1]


def recordings_under(*folders: str) -> list[bytes]:
    paths = sorted(
        path for folder in folders for path in (ROOT / "fixtures").glob(f"{folder}/*/stdout.jsonl")
    )
    return [line for path in paths for line in lines_of(path)]


INPUTS: dict[str, Callable[[], list[bytes]]] = {
    "A": one_turn,
    "B": lambda: recordings_under(VERSION),
    "C": lambda: recordings_under("acp/*"),
    "D": lambda: recordings_under("native/codex-exec-*"),
}


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


def conversation(lines: list[bytes], number: int) -> bytes:
    """Return lines with ids of their own: `number` makes them others, and 0 leaves them."""

    def other(found: re.Match[bytes]) -> bytes:
        digits, prefix = found.groups()
        return b"%08x" % (int(digits, 16) ^ number) if digits else b"%s%d" % (prefix, number)

    text = b"".join(line + b"\n" for line in lines)
    return IDS.sub(other, text) if number else text


def written(file: Path, lines: list[bytes], count: int) -> Path:
    """Write about so many lines, in whole conversations."""
    with file.open("wb") as out:
        for number in range(conversations(lines, count)):
            out.write(conversation(lines, number))
    return file


def conversations(lines: list[bytes], count: int) -> int:
    return max(count // len(lines), 1)


def events_of(file: Path) -> int:
    """Return how many events turnwire makes of a file."""
    done = subprocess.run([*TRANSLATE, file], cwd=ROOT, env=installed(), check=True, capture_output=True)
    return done.stdout.count(b"\n")


def check(folder: Path, name: str, lines: list[bytes], count: int, file: Path) -> None:
    """Raise where a repetition gives fewer events than the second one: its lines would be dropped, not translated."""
    first, second = (
        events_of(written(folder / f"{name}-{size}", lines, size * len(lines))) for size in (1, 2)
    )
    expected = first + (conversations(lines, count) - 1) * (second - first)
    found = events_of(file)
    if found < expected or 2 * (second - first) < first:
        raise SystemExit(f"{name}: {found:,} events instead of {expected:,}: lines were dropped")


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
    """Print the table; tell whether the floors hold."""
    inputs: dict[str, tuple[Path, int]] = {}
    for name, source in INPUTS.items():
        lines = source()
        file = written(folder / f"{name}.jsonl", lines, LINES[name])
        check(folder, name, lines, LINES[name], file)
        inputs[name] = file, conversations(lines, LINES[name]) * len(lines)
    print(" " * 28 + "".join(f"{name + ' lines/s':>12}{'of limit':>10}" for name in inputs))
    seconds = {name: dict.fromkeys(inputs, math.inf) for name in (*PEERS, OURS)}
    for _ in range(ROUNDS):  # in turns, and the best counts: other processes take their share of the caches
        for place, (file, _) in inputs.items():
            for name in PEERS:
                seconds[name][place] = min(seconds[name][place], cpu_of_peer(name, file))
            seconds[OURS][place] = min(seconds[OURS][place], cpu_of([*TRANSLATE, str(file)]))
    limit = seconds[LIMIT]
    for name, spent in seconds.items():
        cells = [
            f"{count / spent[place]:>12,.0f}{limit[place] / spent[place]:>10.2f}"
            for place, (_, count) in inputs.items()
        ]
        print(f"{name:28}{''.join(cells)}")
    return all(limit[name] / seconds[OURS][name] >= floor for name, floor in FLOORS.items())


def resident(pid: int) -> int:
    """Resident memory in KiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def memory() -> None:
    """Print the memory of the filter after a tenth of the lines, and after all of them."""
    turn = one_turn()
    turns = LINES_MEMORY // len(turn)
    with subprocess.Popen(
        TRANSLATE, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT, env=installed()
    ) as process:
        assert process.stdin is not None
        for number in range(turns):
            process.stdin.write(conversation(turn, number))
            if number == turns // 10:
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
        raise SystemExit(f"below the floors: {FLOORS}")


if __name__ == "__main__":
    main()
