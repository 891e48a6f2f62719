"""What stands still for a while goes on as if nothing had been: an agent, the sidecar, a frontend, the whole machine."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from events_seen import Seen, digest

from live import Frontend, descendants, running, scripted_setup
from recordings import ROOT
from turnwire.client import connect
from turnwire.client.events import (
    AgentEvent,
    Complete,
    MessageChunk,
    Notice,
    PermissionRequest,
    ProcessStatus,
)
from turnwire.client.frames import EventFrame
from turnwire_process import Served
from waiting import until

pytestmark = pytest.mark.long

STREAMS = """
fallback:
  steps:
    - flood: 400
      rate: 200
      size: 20
"""
SLEEP_S = 3.0
"""How long something stands still."""
ANSWER_S = 6.0
"""How long a human has to answer."""


def signalled(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it has ended meanwhile, as git does
            os.kill(pid, number)


def agents(served: Served, *words: str) -> list[int]:
    """The processes of the agent: those below the sidecar that are no supervisors."""
    found = []
    for pid in descendants(served.process.pid):
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue  # it has ended meanwhile, as git does
        if any(word in arguments[:3] for word in words):
            found.append(pid)
    return found


def whole(frontend: Frontend) -> str:
    """The text of all chunks; each is there once, in order, where it is the text that was written."""
    assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
    return frontend.text()


def calls_for_help(events: Sequence[AgentEvent]) -> list[str]:
    """What was told of an agent that is silent, dead or failed."""
    told = [event.state for event in events if isinstance(event, ProcessStatus) if event.state != "started"]
    return told + [event.kind for event in events if isinstance(event, Notice)]


async def test_an_agent_that_stands_still_is_called_stalled_and_goes_on_where_it_was(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", STREAMS)
    async with running(tmp_path, setup, TURNWIRE_STALL_AFTER_S="1") as (frontend, served):
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        stopped = agents(served, "turnwire.scripted_agent")
        assert stopped
        signalled(stopped, signal.SIGSTOP)
        await frontend.until(ProcessStatus, lambda status: status.state == "stalled")
        assert frontend.client.known_sessions[0].state == "running"
        signalled(stopped, signal.SIGCONT)
        complete = await frontend.turn()
        assert complete.data.outcome == "completed"
        # a slow machine may have kept it silent for so long before, too
        told = calls_for_help(frontend.events)
        assert told == ["stalled", "resumed"] * (len(told) // 2)
        said = whole(frontend)
        second = await frontend.turn("again")
        assert second.data.outcome == "completed"
        assert whole(frontend) == said * 2


async def test_an_agent_that_stands_still_can_be_closed(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", STREAMS)
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        below = agents(served, "turnwire.scripted_agent")
        signalled(below, signal.SIGSTOP)
        await frontend.client.close_session(frontend.session)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "process_exited"
        await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


async def test_a_sidecar_that_stands_still_loses_nothing(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", STREAMS)
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.turn("first")
        said = whole(frontend)
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        served.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(SLEEP_S)  # the agent ends its turn meanwhile, or stands in a full pipe
        served.process.send_signal(signal.SIGCONT)
        complete = await frontend.turn()
        assert complete.data.outcome == "completed"
        assert whole(frontend) == said * 2
        assert calls_for_help(frontend.events) == []


async def test_a_machine_that_sleeps_loses_nothing_and_nobody_is_called_dead(tmp_path: Path) -> None:
    """Everything stands still and goes on in any order, in a turn, while a permission is asked for, and between turns."""
    script = f"{STREAMS}    - tool: Bash\n      input: {{command: make}}\n      permission: true\n      result: done\n"
    setup = scripted_setup(tmp_path, "2.1.330", script)
    variables = {"TURNWIRE_PERMISSION_TIMEOUT_S": str(ANSWER_S)}
    async with running(tmp_path, setup, **variables) as (frontend, served):

        async def sleep(seconds: float, wakes_first: str) -> None:
            below = descendants(served.process.pid)
            signalled([served.process.pid, *below], signal.SIGSTOP)
            await asyncio.sleep(seconds)
            order = [*below, served.process.pid] if wakes_first == "agent" else [served.process.pid, *below]
            signalled(order, signal.SIGCONT)

        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        await sleep(SLEEP_S, "sidecar")
        request = await frontend.until(PermissionRequest)
        await sleep(ANSWER_S + 1, "agent")
        await frontend.respond(request)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "completed"
        said = whole(frontend)
        await sleep(1, "agent")
        complete = await frontend.turn("again")
        assert complete.data.outcome == "completed"
        assert whole(frontend) == said * 2
        assert calls_for_help(frontend.events) == []


async def test_a_frontend_that_stands_still_has_all_when_it_goes_on(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", STREAMS.replace("400", "3000").replace("200", "0"))
    file = tmp_path / "seen"
    async with running(tmp_path, setup) as (frontend, served):
        helpers = os.pathsep.join(str(ROOT / part) for part in ("", "tests/support/faults", "clients/python"))
        program = str(ROOT / "tests" / "support" / "faults" / "following_frontend.py")
        standing = await asyncio.create_subprocess_exec(
            sys.executable,
            program,
            served.url,
            frontend.session,
            str(file),
            env={**os.environ, "PYTHONPATH": helpers},
        )
        try:
            await frontend.prompt("go")
            await until(lambda: file.exists() and file.stat().st_size)
            standing.send_signal(signal.SIGSTOP)
            await frontend.until(Complete)
            for _ in range(4):  # more than any buffer between the two holds
                assert (await frontend.turn("go on")).data.outcome == "completed"
            standing.send_signal(signal.SIGCONT)
            async with connect(served.url) as client:
                expected: Seen = []
                following = client.follow(frontend.session)
                while len(expected) < frontend.seqs[-1]:
                    received = await anext(following)
                    if isinstance(received, EventFrame):
                        expected.append((received.seq, digest(received)))
            await until(lambda: file.read_text().count("\n") >= len(expected))
        finally:
            standing.kill()
            await standing.wait()
    lines = [line.split() for line in file.read_text().splitlines()]
    assert [(int(seq), int(check)) for seq, check in lines] == expected
