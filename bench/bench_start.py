#!/usr/bin/env python
"""What a start costs: CPU time, user and system, modules compiled.

    python bench/bench_start.py [ROUNDS] [--against CHECKOUT]

`run` is measured until its URL is printed, without what it has started; the others to their end, with what they have
started (`stdio` after one turn). The agent is a shell script, which takes next to nothing. Python and what a server of a few lines
would import are started in turns with each, so that the columns of a round are of one machine; medians. `--against`
measures another checkout of turnwire in the same turns.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
RECORDING = ROOT / "fixtures" / "2.1.330" / "partial-messages" / "stdout.jsonl"
TARGETS = {
    "translate": None,
    "run": 0.4,
    "stdio": 0.25,
    "inspect": 0.3,
    "doctor": 0.25,
    "schema": 0.3,
}
"""Seconds of a quiet machine."""
PROMPT = b'{"type":"user","message":{"role":"user","content":"Go."}}\n'
AGENT = """#!/bin/sh
while read -r line; do
  case "$line" in
    *'"initialize"'*)
      echo '{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1","response":{}}}' ;;
    *'"type":"user"'*) cat "$0.turn" ;;
  esac
done
"""


class Start:
    """Commands of one checkout, in a folder of their own."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.agent = folder / "agent"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)
        self.agent.with_name("agent.turn").write_bytes(RECORDING.read_bytes())
        (folder / "turnwire.toml").write_text(f'[agents]\nquiet = ["{self.agent}"]\n')
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(checkout)}

    def started(self, *command: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def whole(self, *command: str, said: bytes = b"", mark: bytes = b"") -> float:
        """Seconds of a process and of all it starts, from its start to its end; stdin ends after a line with the mark."""
        process = self.started(*command)
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(said)
            process.stdin.flush()
            if not mark:
                process.stdin.close()
            for line in process.stdout:
                if mark in line and not process.stdin.closed:
                    process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def until(self, mark: bytes, *command: str) -> float:
        """Seconds of a process until it prints a line with this mark; what it has started is not counted."""
        process = self.started(*command)
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                if mark in line:
                    break
            else:
                raise SystemExit(f"{command} ended before it said {mark!r}")
            spent = cpu(process.pid)
            process.terminate()
        return spent

    def turnwire(self, *arguments: str) -> float:
        return self.whole("-m", "turnwire", *arguments)

    def run(self) -> float:
        arguments = ("-m", "turnwire", "run", "--config", "turnwire.toml", "--agent", "quiet", "--port", "0")
        return self.until(b"token=", *arguments)

    def stdio(self) -> float:
        arguments = ("-m", "turnwire", "stdio", "--config", "turnwire.toml", "--agent", "quiet")
        return self.whole(*arguments, said=PROMPT, mark=b'"type":"result"')

    def commands(self) -> dict[str, Callable[[], float]]:
        return {
            "translate": lambda: self.turnwire("translate", str(RECORDING)),
            "run": self.run,
            "stdio": self.stdio,
            "inspect": lambda: self.turnwire("inspect", str(RECORDING), "--json"),
            "doctor": lambda: self.turnwire(
                "doctor", "--json", "--config", "turnwire.toml", "--agent", "quiet"
            ),
            "schema": lambda: self.turnwire("schema", "events"),
        }


def cpu(pid: int) -> float:
    """Seconds of CPU time that the threads of a process have used."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


@contextmanager
def checkouts(other: Path | None) -> Iterator[list[Start]]:
    with tempfile.TemporaryDirectory() as folder:
        yield [
            Start(Path(folder) / str(number), checkout)
            for number, checkout in enumerate([ROOT] if other is None else [ROOT, other])
        ]


def measure(rounds: int, other: Path | None) -> None:
    with checkouts(other) as starts:
        print(f"{'':12}{'CPU s':>8}{'target':>8}{'python':>8}{'imports':>9}{'to imports':>12}", end="")
        print("" if other is None else f"{'before':>9}{'now/before':>12}")
        for name in TARGETS:
            row(name, rounds, starts)


def row(name: str, rounds: int, starts: list[Start]) -> None:
    here = starts[0]
    commands = [start.commands()[name] for start in starts]
    for command in commands:
        command()  # compiles what it imports, and makes what is made once
    spent = [
        (
            here.whole("-c", "pass"),
            here.whole("-c", "import asyncio, msgspec, websockets.asyncio.server"),
            *(command() for command in commands),
        )
        for _ in range(rounds)
    ]
    python, imports, ours, *before = (median(column) for column in zip(*spent, strict=True))
    ratio = median(one[2] / one[1] for one in spent)
    target = TARGETS[name]
    print(f"{name:12}{ours:>8.3f}{target or '':>8}{python:>8.3f}{imports:>9.3f}{ratio:>12.2f}", end="")
    if before:
        print(f"{before[0]:>9.3f}{median(one[2] / one[3] for one in spent):>12.2f}", end="")
    print(flush=True)


def main() -> None:
    arguments = sys.argv[1:]
    other = None
    if "--against" in arguments:
        place = arguments.index("--against")
        other = Path(arguments[place + 1]).resolve()
        del arguments[place : place + 2]
    measure(int(arguments[0]) if arguments else 11, other)


if __name__ == "__main__":
    main()
