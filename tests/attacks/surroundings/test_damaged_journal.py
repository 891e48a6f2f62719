"""Attacker: a disk or a memory module that changes what was written, while frontends read it."""

import asyncio
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from live import Frontend, running, scripted_setup
from turnwire_client import BEGINNING, Gap, connect
from turnwire_client.events import ProcessStatus
from turnwire_client.frames import CaughtUp, EventFrame
from turnwire_process import DEADLINE, Served

pytestmark = pytest.mark.long

ECHO = """
fallback:
  steps:
    - text: "echo: {prompt}"
"""


def metrics(served: Served) -> str:
    request = urllib.request.Request(
        f"{served.base}/metrics", headers={"Authorization": f"Bearer {served.token}"}
    )
    with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
        return str(answer.read().decode())


async def followed(url: str, *sessions: str) -> tuple[dict[str, list[int]], list[tuple[str, int, int]]]:
    """Follow sessions over one connection until all have caught up; return the numbers they gave, and their gaps."""
    got: dict[str, list[int]] = {session: [] for session in sessions}
    gaps: list[tuple[str, int, int]] = []
    async with connect(url) as client, asyncio.timeout(DEADLINE):
        for session in sessions:
            async for frame in client.follow(session, BEGINNING):
                match frame:
                    case EventFrame():
                        got[session].append(frame.seq)
                    case Gap():
                        gaps.append((session, frame.first, frame.last))
                    case CaughtUp():
                        break
                    case _:
                        pass
    return got, gaps


async def test_flipped_bits_cost_a_gap_and_neither_the_connection_nor_another_session(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.turn("one two three")
        other = await frontend.client.create(workspace=str(tmp_path))
        await Frontend(frontend.client, other).turn("four five six")
        await frontend.client.close_session(other)
        await frontend.client.close_session(frontend.session)
        await frontend.until(ProcessStatus, lambda event: event.state == "exited")
        last = max(frontend.seqs)
    path = tmp_path / "state" / "journal.sqlite3"
    with closing(sqlite3.connect(path)) as connection, connection:
        ((key, event),) = connection.execute(
            "SELECT key, event FROM event WHERE instr(event, CAST('echo: one' AS BLOB)) ORDER BY key LIMIT 1"
        ).fetchall()
        flipped = bytearray(event)
        flipped[flipped.index(b"echo: one")] ^= 0x80  # no UTF-8
        connection.execute("UPDATE event SET event = ? WHERE key = ?", (bytes(flipped), key))
    async with running(tmp_path, setup) as (_, served):
        got, gaps = await followed(served.url, frontend.session, other)
        assert len(gaps) == 1
        session, first, end = gaps[0]
        assert (session, first) == (frontend.session, end)
        assert got[session] == [seq for seq in range(1, last + 1) if seq != first]
        assert got[other] == list(range(1, len(got[other]) + 1))
        assert "turnwire_journal_damaged_total 1.0" in metrics(served)
    assert "events are damaged in the journal" in (tmp_path / "turnwire.log").read_text()
