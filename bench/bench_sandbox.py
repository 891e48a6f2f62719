#!/usr/bin/env python
"""What a sandbox costs: starting an agent, and a turn of 100 commands, with and without it.

    python bench/bench_sandbox.py [ROUNDS]

Each round starts one agent at each level, in turns, so that all are of one machine. The agent is a small program that runs each
prompt's command 100 times with a shell. A start is the time until the agent has answered the greeting. Medians and the ratio to
no sandbox, of pairs of the same round.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from turnwire.adapter.families import open_session
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.sandbox.settings import LEVELS, SandboxSettings
from turnwire.normalize.events import Complete
from turnwire.normalize.vocabulary import SandboxLevel

CALLS = 100
PYTHON = os.path.realpath(sys.executable)
AGENT = """
import json, subprocess, sys

def say(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": message["request_id"], "response": {}})
    elif message["type"] == "user":
        say(type="system", subtype="init", session_id="s", model="m", tools=[])
        for number in range(int(sys.argv[1])):
            call = f"call-{number}"
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls /usr/bin"}}
            say(type="assistant", session_id="s", message={"id": f"m{number}", "role": "assistant", "model": "m", "content": [use]})
            done = subprocess.run("ls /usr/bin", shell=True, capture_output=True, text=True)
            result = {"type": "tool_result", "tool_use_id": call, "content": done.stdout, "is_error": False}
            told = {"stdout": done.stdout, "stderr": "", "interrupted": False, "isImage": False}
            say(type="user", session_id="s", message={"role": "user", "content": [result]}, tool_use_result=told)
        say(type="result", subtype="success", is_error=False, result="", session_id="s", num_turns=1)
"""


async def measure(folder: Path, level: SandboxLevel) -> tuple[float, float]:
    """Return the seconds of a start and of a turn; the agent's own files are those of Claude Code."""
    options = SessionOptions(
        workspace=folder / "work",
        executable=[PYTHON, "-I", "-S", "agent.py", str(CALLS)],
        environment={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        ask_version=False,
        sandbox=SandboxSettings(level=level, state=[".claude/", ".claude.json"]),
    )
    began = time.perf_counter()
    async with open_session(options) as session:
        await session.initialized
        started = time.perf_counter()
        await session.prompt("go")
        async for batch in session.batches():
            if any(isinstance(event, Complete) for happened in batch for event in happened.events):
                return started - began, time.perf_counter() - started
    raise RuntimeError("the agent ended before its turn did")


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    found: dict[SandboxLevel, list[tuple[float, float]]] = {level: [] for level in LEVELS}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "work").mkdir()
        Path(folder, "work", "agent.py").write_text(AGENT, encoding="utf-8")
        for _ in range(rounds):
            for level in LEVELS:
                found[level].append(asyncio.run(measure(Path(folder), level)))
    for level, times in found.items():
        for name, index in (("start", 0), (f"turn of {CALLS} calls", 1)):
            ratio = median(one[index] / off[index] for one, off in zip(times, found["off"], strict=True))
            print(f"{level:8} {name:18} {median(one[index] for one in times) * 1000:8.1f} ms  {ratio:5.2f}")


if __name__ == "__main__":
    main()
