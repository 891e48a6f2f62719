"""Attacker: a disk or a memory module that changes what was written, while frontends read it."""

import asyncio
import random
import shutil
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from live import Frontend, running, scripted_setup
from turnwire.client import BEGINNING, Gap, connect
from turnwire.client.events import ProcessStatus
from turnwire.client.feed import Cursor as ClientCursor
from turnwire.client.frames import CaughtUp, EventFrame
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.sessions import SqliteSessions
from turnwire.normalize.events.envelope import Cursor
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


FLIPS = 120


async def kept(path: Path) -> tuple[str, dict[str, dict[int, bytes]], dict[str, int], set[str]]:
    """What a journal file tells: its epoch, its events by session and number, where logs end, and which sessions it lists."""
    journal = await SqliteJournal.open(path)
    try:
        events: dict[str, dict[int, bytes]] = {}
        ends: dict[str, int] = {}
        for log in await journal.logs():
            found = events[log.session] = {}
            ends[log.session] = journal.last(log.session)
            cursor = Cursor(journal.epoch, 0)
            while cursor.seq < ends[log.session]:
                page = await journal.read_after(log.session, cursor)
                found |= {envelope.seq: envelope.event for envelope in page.envelopes}
                if page.cursor.seq <= cursor.seq:
                    break
                cursor = page.cursor
        listed = {record.session for record in await (await SqliteSessions.open(journal)).list()}
        return journal.epoch, events, ends, listed
    finally:
        await journal.close()


async def test_a_flipped_bit_in_the_log_of_a_killed_turnwire_loses_and_alters_nothing_in_silence(
    tmp_path: Path,
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, served):
        for turn in range(8):
            other = await frontend.client.create(workspace=str(tmp_path), title=f"session {turn}")
            await Frontend(frontend.client, other).turn(f"words of another {turn}")
            await frontend.turn(f"one two three {turn}")
        await served.kill()
    state, killed = tmp_path / "state", tmp_path / "killed"
    shutil.copytree(state, killed)
    whole = await kept(state / "journal.sqlite3")
    wal = (killed / "journal.sqlite3-wal").read_bytes()
    chance = random.Random(28)
    told = same = 0
    for number in range(FLIPS):
        place = tmp_path / f"flipped-{number}"
        shutil.copytree(killed, place)
        flipped = bytearray(wal)
        flipped[chance.randrange(len(wal))] ^= 1 << chance.randrange(8)
        (place / "journal.sqlite3-wal").write_bytes(flipped)
        try:
            epoch, events, ends, listed = await kept(place / "journal.sqlite3")
        except JournalUnavailable:
            told += 1
        else:
            if epoch != whole[0]:
                told += 1
            else:
                same += 1
                assert (events, ends, listed) == whole[1:], number
        shutil.rmtree(place)
    # nearly every byte of the log is one of a frame that counts
    assert told > FLIPS * 0.9
    assert told + same == FLIPS


async def test_frontends_read_anew_what_lost_its_end(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.turn("one two three")
        epoch, session, seen = (await frontend.client.connected()).epoch, frontend.session, max(frontend.seqs)
        await served.kill()
    wal = tmp_path / "state" / "journal.sqlite3-wal"
    flipped = bytearray(wal.read_bytes())
    flipped[len(flipped) * 9 // 10] ^= 0x10
    wal.write_bytes(flipped)
    async with running(tmp_path, setup) as (_, served), connect(served.url) as client:
        assert (await client.connected()).epoch != epoch
        async with asyncio.timeout(DEADLINE):
            async for frame in client.follow(session, ClientCursor(epoch, seen)):
                if isinstance(frame, Gap):
                    assert frame.first == 1
                    break
                assert not isinstance(frame, EventFrame | CaughtUp)
    assert "the journal has lost commits" in (tmp_path / "turnwire.log").read_text()
