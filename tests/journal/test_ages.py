"""Clocks that jump, and what may grow old by them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from turnwire.journal.ages import AgeClock, ClockState, Limits, kept, read
from turnwire.journal.base import Entry, Retention
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.timestamps import MICROSECONDS
from turnwire.normalize.events.envelope import Cursor
from turnwire.testing.journal_contract import FakeClock, Opener

DAY = 86_400.0
MONTH = 30 * DAY
LIMITS = Limits.for_retention(MONTH)


def micros(seconds: float) -> int:
    return int(seconds * MICROSECONDS)


def aged(clock: FakeClock, known: ClockState | None = None, boot: str = "b") -> AgeClock:
    return AgeClock(clock, clock.steady, LIMITS, boot=boot, known=known)


def test_time_that_both_clocks_saw_pass_counts() -> None:
    clock = FakeClock()
    ages = aged(clock)
    for _ in range(100):
        clock.advance(DAY)
        assert ages() == clock()


def test_a_clock_that_jumps_ahead_is_not_believed_until_it_was_watched_for_a_day() -> None:
    clock = FakeClock()
    ages, begin = aged(clock), FakeClock()()
    clock.jump(31 * DAY)
    assert ages() == begin
    for hour in range(1, 24):
        clock.advance(3600)
        assert ages() == begin + micros(hour * 3600)
    clock.advance(3600)
    assert ages() == clock()


def test_a_clock_that_jumps_again_is_watched_anew() -> None:
    clock = FakeClock()
    ages, begin = aged(clock), FakeClock()()
    clock.jump(31 * DAY)
    ages()
    for _ in range(5):
        clock.advance(0.9 * DAY)
        ages()
        clock.jump(31 * DAY)
        assert ages() <= begin + micros(5 * DAY)


def test_a_clock_that_goes_back_and_comes_again_takes_nothing() -> None:
    clock = FakeClock()
    ages = aged(clock)
    clock.jump(-400 * DAY)
    assert ages() == clock()
    clock.jump(400 * DAY)
    assert ages() < clock() - micros(399 * DAY)


def test_a_start_a_month_ahead_believes_the_boot_clock_of_the_same_run() -> None:
    clock = FakeClock()
    ages = aged(clock)
    ages()
    clock.advance(5 * DAY)
    clock.jump(31 * DAY)
    again = aged(clock, ages.witness)
    assert again() == clock() - micros(31 * DAY)


def test_time_while_the_machine_was_off_counts_up_to_a_weekend_at_once_and_beyond_after_a_day() -> None:
    clock = FakeClock()
    ages = aged(clock)
    ages()
    clock.jump(2.9 * DAY)
    assert aged(clock, ages.witness, boot="another")() == clock()
    clock.jump(40 * DAY)
    late = aged(clock, ages.witness, boot="another")
    assert late() == ages.witness.trusted
    # days are watched over several starts and runs
    witness = late.witness
    for run in range(4):
        late = aged(clock, witness, boot=f"run {run}")
        late()
        clock.advance(7 * 3600)
        late()
        witness = late.witness
    assert witness.trusted == clock()


@pytest.mark.parametrize("spoilt", [None, "", "{}", "[]", '{"trusted":"x"}', b"\xff"])
def test_a_witness_that_cannot_be_read_is_none(spoilt: str | bytes | None) -> None:
    assert read(spoilt) is None
    witness = ClockState(1, 2, 3, "b", 4)
    assert read(kept(witness)) == witness


# --- in the journals ---


async def seqs(journal: SqliteJournal) -> list[int]:
    return [e.seq for e in (await journal.read_after("a", Cursor("", 0))).envelopes]


def far_ahead(clock: FakeClock) -> None:
    clock.jump(31 * DAY)


def back_and_ahead(clock: FakeClock) -> None:
    clock.jump(-400 * DAY)
    clock.jump(431 * DAY)


@pytest.mark.parametrize("move", [far_ahead, back_and_ahead])
async def test_no_start_with_a_wrong_clock_takes_events_and_a_right_one_goes_on(
    tmp_path: Path, clock: FakeClock, move: Callable[[FakeClock], None]
) -> None:
    async def opened() -> SqliteJournal:
        return await SqliteJournal.open(
            tmp_path / "journal.db", Retention(max_age_s=MONTH), clock=clock, steady=clock.steady
        )

    journal = await opened()
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.close()
    move(clock)
    for _ in range(3):
        journal = await opened()
        await journal.retain()
        assert await seqs(journal) == [1, 2, 3]
        await journal.close()
    clock.jump(-31 * DAY)
    journal = await opened()
    await journal.append("a", [Entry(b"{}")])
    await journal.flush()
    clock.advance(MONTH + 1)
    await journal.retain()
    assert await seqs(journal) == []
    await journal.close()


async def test_a_journal_from_before_there_was_a_witness_goes_by_its_newest_event(
    tmp_path: Path, clock: FakeClock
) -> None:
    path, retention = tmp_path / "journal.db", Retention(max_age_s=MONTH)
    journal = await SqliteJournal.open(path, clock=clock, steady=clock.steady)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.writer.call(lambda connection: connection.execute("DELETE FROM meta WHERE name = 'ages'"))
    await journal.close()
    clock.advance(40 * DAY)
    journal = await SqliteJournal.open(path, retention, clock=clock, steady=clock.steady)
    assert await seqs(journal) == [1, 2, 3]
    clock.advance(DAY)
    await journal.retain()
    assert await seqs(journal) == []
    await journal.close()


async def test_no_backend_lets_a_jump_of_the_clock_take_events(opener: Opener, clock: FakeClock) -> None:
    journal = await opener(Retention(max_age_s=60), clock)
    await journal.append("a", [Entry(b"{}")] * 3)
    await journal.flush()
    clock.jump(1000)
    await journal.retain()
    await journal.append("a", [Entry(b"{}")])
    await journal.flush()
    await journal.retain()
    page = await journal.read_after("a", Cursor("", 0))
    assert [e.seq for e in page.envelopes] == [1, 2, 3, 4]
    await journal.close()
