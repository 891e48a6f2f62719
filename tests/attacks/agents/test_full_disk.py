"""Attacker: an agent that fills the disk, and goes on writing after it is full."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from live import AgentSetup, Frontend, running
from turnwire.client import CommandFailed
from turnwire.client.events import MessageChunk, ProcessStatus
from turnwire_process import DEADLINE, Served, environment

pytestmark = pytest.mark.long

LINES = 6000
SIZE = 20_000

AGENT = f"""
import json, sys
written = open("written", "w")
def say(message):
    sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        say({{"type": "control_response", "response": {{"subtype": "success", "request_id": message["request_id"], "response": {{}}}}}})
    elif message["type"] == "user":
        for number in range({LINES}):
            say({{"type": "assistant", "uuid": f"u{{number}}", "session_id": "c", "parent_tool_use_id": None, "message": {{
                "id": f"m{{number}}", "role": "assistant", "model": "m", "type": "message", "content": [
                    {{"type": "text", "text": f"line {{number}} " + "x" * {SIZE}}}]}}}})
            written.seek(0); written.write(str(number + 1)); written.flush()  # it only grows: never seen empty
        say({{"type": "result", "subtype": "success", "is_error": False, "session_id": "c", "num_turns": 1, "result": "done"}})
"""


@dataclass
class Disk:
    """A disk that is soon full, and can be made larger."""

    fill: Callable[[Served], None]
    free: Callable[[Served], None]


def on_tmpfs(folder: Path) -> Disk | None:
    """A small file system of its own, where one can be mounted."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", str(folder)]
    try:
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            return None
    except FileNotFoundError:
        return None

    def free(_: Served) -> None:
        subprocess.run(["mount", "-o", "remount,size=2g", str(folder)], check=True)

    return Disk(lambda _: None, free)


def by_limit() -> Disk:
    """No file of the sidecar's grows any more: works everywhere, as whoever."""

    def limit(served: Served, size: int) -> None:
        _, hard = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    return Disk(lambda served: limit(served, 8 << 20), lambda served: limit(served, resource.RLIM_INFINITY))


@asynccontextmanager
async def filling(folder: Path, *, limited: bool = False) -> AsyncIterator[tuple[Frontend, Served, Disk]]:
    """A session whose agent writes far more than the disk has room for, once it is prompted."""
    state = folder / "state"
    state.mkdir()
    mounted = None if limited else on_tmpfs(state)
    disk = mounted or by_limit()
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    setup = AgentSetup("flood", (sys.executable, str(agent)), environment(folder / "home"), str, real=False)
    try:
        async with running(folder, setup) as (frontend, served):
            disk.fill(served)
            yield frontend, served, disk
    finally:
        if mounted is not None:
            subprocess.run(["umount", "-l", str(state)], check=True)


def written(folder: Path) -> int:
    """How many lines the agent got rid of."""
    try:
        return int((folder / "project" / "written").read_text() or 0)
    except FileNotFoundError:
        return 0


async def paused(folder: Path, frontend: Frontend) -> int:
    """Wait until the agent is paused and frontends are told so; return how many lines it has got rid of then."""
    async with asyncio.timeout(DEADLINE):
        while "is paused" not in str(frontend.client.known_sessions[0].trouble):  # noqa: ASYNC110 - no event for it
            await asyncio.sleep(0.05)
        count = -1
        while count != (count := written(folder)):  # noqa: ASYNC110 - as above
            await asyncio.sleep(2)
    return count


@pytest.mark.parametrize("limited", [False, True], ids=["mounted, where it can be", "limited"])
async def test_an_agent_that_fills_the_disk_is_paused_and_loses_no_line(
    tmp_path: Path, limited: bool
) -> None:
    async with filling(tmp_path, limited=limited) as (frontend, served, disk):
        await frontend.prompt("go")
        count = await paused(tmp_path, frontend)
        assert 0 < count < LINES
        assert "the agent is paused" in (tmp_path / "turnwire.log").read_text()
        assert frontend.client.known_sessions[0].state == "running"
        with pytest.raises(CommandFailed) as refused:
            await frontend.prompt("more")
        assert refused.value.code == "journal_unavailable"
        disk.free(served)
        complete = await frontend.turn()
        assert complete.data.outcome == "completed"
        assert [chunk.text.split()[1] for chunk in frontend.seen(MessageChunk)] == [
            str(number) for number in range(LINES)
        ]
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
        assert "the agent goes on" in (tmp_path / "turnwire.log").read_text()


async def test_a_session_can_be_closed_while_the_disk_is_full_and_its_last_lines_come_when_there_is_room(
    tmp_path: Path,
) -> None:
    async with filling(tmp_path) as (frontend, served, disk):
        await frontend.prompt("go")
        count = await paused(tmp_path, frontend)
        async with asyncio.timeout(DEADLINE):
            await frontend.client.close_session(frontend.session)
        disk.free(served)
        await frontend.until(ProcessStatus, lambda event: event.state == "exited")
        numbers = [int(chunk.text.split()[1]) for chunk in frontend.seen(MessageChunk)]
        assert numbers == list(range(len(numbers)))
        # what was in the pipe when it was killed is there, too
        assert len(numbers) >= count
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
