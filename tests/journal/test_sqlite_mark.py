"""What was committed is noted beside the journal: a file that has less begins another epoch."""

import logging
import shutil
from pathlib import Path

import pytest

from turnwire.journal.base import Entry
from turnwire.journal.sessions import SessionRecord
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.mark import Committed, Mark, noted_of
from turnwire.journal.sqlite.sessions import SqliteSessions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite3"


def mark_of(path: Path) -> Path:
    return path.with_name(path.name + "-mark")


async def life(path: Path, events: int = 0, records: int = 0) -> str:
    """Open it, write so much, close it, and return the epoch."""
    journal = await SqliteJournal.open(path)
    sessions = await SqliteSessions.open(journal)
    for number in range(records):
        await sessions.put(SessionRecord(session=f"r{number}", created="x", title=str(events)))
    for _ in range(events):
        await journal.append("s", [Entry(b"{}"), Entry(b"{}")])
    await journal.close()
    return journal.epoch


async def test_the_epoch_stays_as_long_as_nothing_is_lost(path: Path) -> None:
    first = await life(path, 3, 2)
    noted = noted_of(path)
    assert noted == Committed(first, 6, 2, 2)
    assert await life(path, 1) == first
    assert noted_of(path) == Committed(first, 8, 2, 2)


@pytest.mark.parametrize(("events", "records"), [(1, 0), (0, 1)])
async def test_a_file_that_lacks_what_was_noted_begins_another_epoch(
    path: Path, events: int, records: int, caplog: pytest.LogCaptureFixture
) -> None:
    first = await life(path, 3, 2)
    older = path.with_name("older")
    shutil.copy(path, older)
    await life(path, events, records)
    shutil.copy(older, path)
    with caplog.at_level(logging.ERROR):
        second = await life(path)
    assert second != first
    (said,) = [record for record in caplog.records if "has lost commits" in record.message]
    assert (said.events_lost, said.other_commits_lost) == (2 * events, records)  # type: ignore[attr-defined]
    # told once: from then on that is what there is
    assert await life(path) == second


async def test_a_missing_mark_claims_nothing_and_a_damaged_one_is_a_loss(path: Path) -> None:
    first = await life(path, 2)
    mark_of(path).unlink()
    assert await life(path) == first
    damaged = bytearray(mark_of(path).read_bytes())
    damaged[-3] ^= 1
    mark_of(path).write_bytes(damaged)
    assert await life(path) != first


async def test_the_mark_of_another_journal_claims_nothing(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "journal.sqlite3"
    await life(other, 9)
    first = await life(path, 1)
    shutil.copy(mark_of(other), mark_of(path))
    assert await life(path) == first


def test_records_that_are_fewer_after_as_many_commits_are_a_loss() -> None:
    noted = Committed("e", 4, 2, 2)
    assert Committed("e", 4, 2, 1).lacks(noted)
    assert not Committed("e", 5, 3, 1).lacks(noted)
    assert not Committed("f", 0, 0, 0).lacks(noted)


def test_a_mark_that_cannot_be_written_is_told_once_and_costs_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mark = Mark(tmp_path / "journal", syncs=True)
    mark.write(Committed("e" * 32, 1, 1, 1))
    mark.close()
    mark.write(Committed("e" * 32, 2, 2, 2))
    mark.write(Committed("e" * 32, 3, 3, 3))
    assert noted_of(tmp_path / "journal") == Committed("e" * 32, 1, 1, 1)
    assert len([record for record in caplog.records if "mark cannot be written" in record.message]) == 1
