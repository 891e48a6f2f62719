"""What the journal in memory holds of all sessions together."""

import tracemalloc

from turnwire.journal.base import Entry, Gap, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.reading.tail import OVERHEAD
from turnwire.normalize.events.envelope import Cursor

KIB = 1 << 10


def entry(size: int) -> Entry:
    return Entry(b"x" * size)


async def held(journal: MemoryJournal) -> int:
    """Bytes that its logs take, counted anew."""
    logs = await journal.logs()
    return sum(log.size + OVERHEAD * (log.last + 1 - log.first) for log in logs)


async def test_all_logs_together_stay_below_the_limit_and_the_largest_gives() -> None:
    journal = MemoryJournal(all_bytes=100 * KIB)
    await journal.append("small", [entry(KIB)] * 5)
    for number in range(40):
        await journal.append(f"s{number % 4}", [entry(2 * KIB)] * 10)
        assert await held(journal) <= 100 * KIB
    assert [(log.first, log.last) for log in await journal.logs() if log.session == "small"] == [(1, 5)]
    assert await held(journal) > 80 * KIB


async def test_readers_are_told_of_what_went() -> None:
    journal = MemoryJournal(all_bytes=20 * KIB)
    await journal.append("large", [entry(KIB)] * 10)
    reader = Cursor(journal.epoch, 2)
    await journal.append("other", [entry(KIB)] * 10)
    page = await journal.read_after("large", reader)
    assert page.gap == Gap(3, page.envelopes[0].seq - 1)
    assert page.envelopes[-1].seq == page.last == 10
    assert journal.last("large") == 10


async def test_an_event_larger_than_the_limit_stays_until_another_comes() -> None:
    journal = MemoryJournal(all_bytes=20 * KIB)
    await journal.append("a", [entry(50 * KIB)])
    assert (await journal.read_after("a", Cursor("", 0))).envelopes[0].seq == 1
    await journal.append("b", [entry(KIB)])
    page = await journal.read_after("a", Cursor("", 0))
    assert (page.gap, page.envelopes) == (Gap(1, 1), ())
    assert await held(journal) <= 20 * KIB


async def test_the_count_is_right_after_retention_and_deletion() -> None:
    journal = MemoryJournal(Retention(max_bytes=30 * KIB, max_count=50), all_bytes=100 * KIB)
    for number in range(200):
        await journal.append(f"s{number % 7}", [entry(300 * (number % 5) + 1)] * 3)
        if number % 11 == 0:
            await journal.delete(f"s{number % 7}")
        await journal.retain()
        assert await held(journal) <= 100 * KIB
    for log in await journal.logs():
        await journal.delete(log.session)
    await journal.append("last", [entry(90 * KIB)])
    assert await held(journal) == 90 * KIB + OVERHEAD


async def test_small_events_take_no_more_memory_than_is_counted() -> None:
    journal = MemoryJournal(all_bytes=4 << 20)
    tracemalloc.start()
    try:
        for number in range(2000):
            await journal.append(
                f"s{number % 8}", [Entry(b"%d" % (number * 20 + index)) for index in range(20)]
            )
        current, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert current < 6 << 20
