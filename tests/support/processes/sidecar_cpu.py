"""CPU time of a whole `turnwire run` while it does turns of the scripted agent, one frontend following."""

import asyncio
import json
import os
import sys
from pathlib import Path

from turnwire.client import BEGINNING, connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import environment, turnwire

STEPS: list[dict[str, object]] = [
    {"thinking": "First I look at what is there. " * 8},
    {"text": "I read the file, and then the tests that go with it. " * 20, "chunk": 20},
    {
        "tool": "Read",
        "input": {"file_path": "/project/main.py"},
        "result": "     1\tdef main() -> None:\n" * 60,
    },
    {"tool": "Bash", "input": {"command": "pytest -q", "description": "Run"}, "result": "..........\n" * 60},
    {"text": "All of them pass; there is nothing left to be done here. " * 20, "chunk": 20},
]
SCRIPT = {"version": "2.1.330", "fallback": {"steps": STEPS}}
WARM_UP, TURNS = 3, 60
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """CPU seconds of a process in all its threads, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def settled(pid: int) -> float:
    """CPU seconds of a process once it has nothing more to do."""
    before = -1.0
    while (now := cpu_of(pid)) != before:
        before = now
        await asyncio.sleep(0.5)
    return now


def configure(folder: Path) -> None:
    """Write the agent's script, and the configuration that names it."""
    folder.mkdir(parents=True)
    (folder / "script.yaml").write_text(json.dumps(SCRIPT))
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(folder / "script.yaml")]
    (folder / "turnwire.toml").write_text(f"[agents]\nbench = {json.dumps(argv)}\n")


async def us_per_line(folder: Path, **variables: str) -> float:
    """Microseconds of CPU for each line that the agent wrote."""
    configure(folder)
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH", **variables)
    run = turnwire(folder, "run", "--agent", "bench", env=env)
    async with run as served, connect(served.url) as client:
        (session,) = [summary.session for summary in await client.sessions()]
        following = client.follow(session, BEGINNING)
        begin = lines = 0.0
        for number in range(WARM_UP + TURNS):
            if number == WARM_UP:
                begin, lines = await settled(served.process.pid), await scraped(served.base, served.token)
            await client.prompt(session, "go on")
            async for frame in following:
                if isinstance(frame, EventFrame) and isinstance(frame.event, ev.Complete):
                    break
        spent = await settled(served.process.pid) - begin
        return spent / (await scraped(served.base, served.token) - lines) * 1e6


async def scraped(base: str, token: str) -> float:
    """How many lines the sidecar has read."""
    address = base.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*address.split(":"))
    writer.write(
        f"GET /metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    text = (await reader.read()).decode()
    writer.close()
    return next(
        float(line.split()[1]) for line in text.splitlines() if line.startswith("turnwire_lines_total")
    )
