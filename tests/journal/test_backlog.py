"""What was accepted and is not readable yet: who waits for it, and who is told."""

import asyncio

import pytest

from turnwire.journal.backlog import Backlog
from turnwire.journal.base import JournalUnavailable

FULL = JournalUnavailable("the disk is full")


async def waiting(backlog: Backlog) -> asyncio.Task[None]:
    """Begin to wait for all that was accepted."""
    task = asyncio.create_task(backlog.flush())
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def test_one_who_no_longer_waits_keeps_no_other_from_hearing() -> None:
    backlog = Backlog(1000)
    backlog.accept(10)
    (await waiting(backlog)).cancel()
    other = await waiting(backlog)
    backlog.commit(1, 10)
    await other
    backlog.accept(10)
    (await waiting(backlog)).cancel()
    other = await waiting(backlog)
    backlog.stuck(FULL)
    with pytest.raises(JournalUnavailable, match="full"):
        await other


async def test_who_fails_at_hearing_of_trouble_keeps_no_other_from_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    backlog, told = Backlog(1000), list[JournalUnavailable | None]()

    def failing() -> None:
        raise RuntimeError("broken on purpose")

    backlog.watch(failing)
    backlog.watch(lambda: told.append(backlog.trouble))
    backlog.accept(10)
    backlog.stuck(FULL)
    backlog.stuck(FULL)
    backlog.commit(1, 10)
    assert told == [FULL, None], "of the same trouble once"
    assert "an observer of the journal's trouble failed" in caplog.text


async def test_a_session_that_was_refused_and_is_forgiven_has_room_and_its_watchers_are_told_once() -> None:
    backlog, told = Backlog(100), list[str]()
    backlog.watch(lambda: told.append("told"))
    backlog.accept(10)
    backlog.refuse("s", 1, 10, FULL)
    assert backlog.refusal("s") is FULL
    backlog.forgive("s")
    backlog.forgive("s")
    assert backlog.refusal("s") is None
    assert told == ["told"] * 2
    async with asyncio.timeout(60):
        await backlog.room("s")


async def test_there_is_room_again_as_soon_as_enough_is_readable() -> None:
    backlog = Backlog(100)
    for _ in range(3):
        backlog.accept(60)
    assert backlog.is_full
    backlog.commit(1, 60)
    assert backlog.is_full
    backlog.commit(1, 60)
    assert not backlog.is_full


async def test_a_refused_batch_fails_those_who_wait_for_its_own_session_and_those_who_wait_for_all() -> None:
    backlog = Backlog(1000)
    backlog.accept(10)
    backlog.accept(10)
    waits = {name: asyncio.create_task(backlog.flush(name)) for name in ("own", "other", None)}
    await asyncio.sleep(0)
    backlog.refuse("own", 1, 10, FULL)
    await asyncio.sleep(0)
    assert {name for name, task in waits.items() if task.done()} == {"own", None}
    for name in ("own", None):
        with pytest.raises(JournalUnavailable, match="full"):
            await waits[name]
    last = asyncio.create_task(backlog.flush("late"))
    await asyncio.sleep(0)
    backlog.refuse("own", 1, 10, FULL)
    async with asyncio.timeout(60):
        await waits["other"]
        await last
