"""What others do to the journal of a running turnwire: they hold its lock, cut its file, and take it away."""

import sqlite3
from pathlib import Path

import pytest
from enduring import ECHO, FLOOD, configure
from soaking import TOKEN

from live import Frontend
from turnwire.client import CommandFailed, connect
from turnwire.client.events import Complete, MessageChunk
from turnwire_process import turnwire
from waiting import until

pytestmark = pytest.mark.long


async def test_a_journal_that_another_program_has_locked_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    env = configure(tmp_path, FLOOD)
    async with (
        turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served,
        connect(served.base, TOKEN, timeout=60) as client,
    ):
        session = await client.create(workspace=str(tmp_path / "work"))
        frontend = Frontend(client, session)
        await frontend.turn("first")
        said = frontend.text()
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        other = sqlite3.connect(tmp_path / "state" / "journal.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            await until(lambda: "locked by another program" in str(client.known_sessions[0].trouble))
            with pytest.raises(CommandFailed, match="locked by another program") as refused:
                await frontend.prompt("more")
            assert refused.value.code == "journal_unavailable"
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert (await frontend.until(Complete)).data.outcome == "completed"
        assert frontend.text() == said * 2
        await until(lambda: client.known_sessions[0].trouble is None)
        await frontend.turn("again")
        assert frontend.text() == said * 3
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))


async def test_a_journal_that_is_taken_away_is_told_and_nothing_is_lost_when_it_is_back(
    tmp_path: Path,
) -> None:
    env = configure(tmp_path, FLOOD)
    file, elsewhere = tmp_path / "state" / "journal.sqlite3", tmp_path / "elsewhere"
    async with (
        turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served,
        connect(served.base, TOKEN, timeout=60) as client,
    ):
        session = await client.create(workspace=str(tmp_path / "work"))
        frontend = Frontend(client, session)
        await frontend.prompt("go")
        await frontend.until(MessageChunk)
        file.rename(elsewhere)
        await until(lambda: "is gone" in str(client.known_sessions[0].trouble))
        with pytest.raises(CommandFailed, match="is gone") as refused:
            await frontend.prompt("more")
        assert refused.value.code == "journal_unavailable"
        elsewhere.rename(file)
        assert (await frontend.until(Complete)).data.outcome == "completed"
        await until(lambda: client.known_sessions[0].trouble is None)
        await frontend.turn("again")
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))


async def test_a_young_journal_that_was_cut_while_it_ran_is_whole_at_the_next_start(tmp_path: Path) -> None:
    """What the write-ahead log still has mends the file; where it has not, the next start refuses the file (test_sqlite_file.py)."""
    env = configure(tmp_path, ECHO)
    file = tmp_path / "state" / "journal.sqlite3"
    async with turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served:
        async with connect(served.base, TOKEN, timeout=60) as client:
            session = await client.create(workspace=str(tmp_path / "work"))
            frontend = Frontend(client, session)
            await frontend.turn("first")
            with file.open("r+b") as opened:
                opened.truncate(5000)
            await frontend.turn("second")
            assert frontend.text() == "You said: firstYou said: second"
        await served.kill()
    async with (
        turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served,
        connect(served.base, TOKEN, timeout=60) as client,
    ):
        again = await Frontend(client, session).caught_up()
        assert again.text() == frontend.text()
