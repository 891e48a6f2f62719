"""What every journal does, whatever it keeps its logs in: subclass `JournalContract` with a way to open yours.

class TestMyJournal(JournalContract):
@pytest.fixture
def opener(self, tmp_path: Path) -> MyOpener:
return MyOpener(tmp_path)
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import pytest
import pytest_asyncio

from turnwire.journal.base import KEEP_ALL, Entry, Gap, Journal, Page, Retention
from turnwire.journal.timestamps import MICROSECONDS
from turnwire.normalize.events.envelope import Cursor, Envelope

BEGINNING = Cursor("", 0)


def event(number: int, padding: int = 0) -> bytes:
    """Return an event that says its number, as it is kept."""
    return json.dumps({"type": "notice", "n": number, "text": "x" * padding}, separators=(",", ":")).encode()


def entries(first: int, last: int, padding: int = 0) -> list[Entry]:
    """Return entries of consecutive events, to be appended."""
    return [Entry(event(n, padding)) for n in range(first, last + 1)]


async def fill(journal: Journal, session: str, last: int, padding: int = 0) -> None:
    """Append what is missing up to a number, and wait until it can be read."""
    await journal.append(session, entries(journal.last(session) + 1, last, padding))
    await journal.flush(session)


async def read_all(journal: Journal, session: str, cursor: Cursor, *, count: int = 512) -> list[Page]:
    """Return the pages after a cursor, to the end of the log."""
    pages = [await journal.read_after(session, cursor, count=count)]
    while pages[-1].cursor.seq < pages[-1].last:
        pages.append(await journal.read_after(session, pages[-1].cursor, count=count))
    return pages


def seqs(envelopes: Sequence[Envelope]) -> list[int]:
    """Return the numbers of events."""
    return [envelope.seq for envelope in envelopes]


class FakeClock:
    """A clock that moves when told to: microseconds since the epoch when called, and a boot clock beside it."""

    def __init__(self) -> None:
        self.micros = 1_800_000_000 * MICROSECONDS
        self._steady = 1_000 * MICROSECONDS

    def __call__(self) -> int:
        return self.micros

    def advance(self, seconds: float) -> None:
        self.micros += int(seconds * MICROSECONDS)
        self._steady += max(0, int(seconds * MICROSECONDS))

    def jump(self, seconds: float) -> None:
        """Set the wall clock, without any time passing."""
        self.micros += int(seconds * MICROSECONDS)

    def steady(self) -> int:
        """The boot clock."""
        return self._steady


class Opener(Protocol):
    """Opens the backend's journal; a durable one is the same one each time, once the last was closed."""

    durable: bool

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal: ...


class Progress:
    """A watcher that can be waited for."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self._news = asyncio.Event()

    def __call__(self, session: str, last: int) -> None:
        self.seen.append((session, last))
        self._news.set()

    async def reaches(self, session: str, last: int) -> None:
        async with asyncio.timeout(60):
            while (session, last) not in self.seen:
                self._news.clear()
                await self._news.wait()


@pytest.mark.asyncio
class JournalContract:
    """Logs of numbered events: appended in order, read after a cursor, kept as long as the retention says."""

    @pytest.fixture
    def opener(self) -> Opener:
        """Give what opens the backend; each test has a store of its own."""
        raise NotImplementedError("opener: override this fixture with what opens the journal")

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest_asyncio.fixture
    async def journal(self, opener: Opener, clock: FakeClock) -> AsyncIterator[Journal]:
        """An empty journal that keeps all."""
        journal = await opener(clock=clock)
        yield journal
        await journal.close()

    # --- whether it can be written ---

    async def test_a_journal_that_can_be_written_says_so_and_holds_no_more_events_for_it(
        self,
        journal: Journal,
    ) -> None:
        told: list[str | None] = []
        unwatch = journal.watch_trouble(lambda: told.append(journal.trouble))
        await fill(journal, "a", 3)
        await journal.check()
        await journal.check()
        unwatch()
        unwatch()
        assert (journal.trouble, told) == (None, [])
        assert [log.session for log in await journal.logs()] == ["a"]
        assert journal.last("a") == 3

    # --- appending ---

    async def test_numbers_are_contiguous_from_one_within_each_session(self, journal: Journal) -> None:
        assert await journal.append("a", entries(1, 3)) == 3
        assert await journal.append("b", entries(1, 1)) == 1
        assert await journal.append("a", entries(4, 5)) == 5
        await journal.flush()
        page = await journal.read_after("a", BEGINNING)
        assert seqs(page.envelopes) == [1, 2, 3, 4, 5]
        assert [e.event for e in page.envelopes] == [event(n) for n in range(1, 6)]
        assert {e.session for e in page.envelopes} == {"a"}
        assert (journal.last("a"), journal.last("b"), journal.last("never")) == (5, 1, 0)

    async def test_appending_nothing_changes_nothing(self, journal: Journal) -> None:
        assert await journal.append("a", []) == 0
        await fill(journal, "a", 2)
        assert await journal.append("a", []) == 2

    async def test_an_envelope_carries_the_time_of_its_acceptance(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        await journal.append("a", entries(1, 1))
        clock.advance(0.25)
        await journal.append("a", entries(2, 2))
        await journal.flush()
        page = await journal.read_after("a", BEGINNING)
        assert [e.ts for e in page.envelopes] == [
            "2027-01-15T08:00:00.000000Z",
            "2027-01-15T08:00:00.250000Z",
        ]

    async def test_times_never_go_back_when_the_clock_does(self, journal: Journal, clock: FakeClock) -> None:
        await journal.append("a", entries(1, 1))
        clock.advance(-3600)
        await journal.append("a", entries(2, 2))
        await journal.flush()
        page = await journal.read_after("a", BEGINNING)
        assert [e.ts for e in page.envelopes] == ["2027-01-15T08:00:00.000000Z"] * 2

    async def test_any_name_and_any_bytes_are_kept_as_they_are(self, journal: Journal) -> None:
        session = 'Zürich/../"\\ \n*?[a]\u2028'
        whole = '{"type":"notice","text":"\u2028 \\ud800 é"}'.encode()
        await journal.append(session, [Entry(whole)])
        await journal.flush()
        (envelope,) = (await journal.read_after(session, BEGINNING)).envelopes
        assert envelope.event == whole
        assert json.loads(envelope.frame)["session"] == session
        assert [log.session for log in await journal.logs()] == [session]

    async def test_many_sessions_interleaved_do_not_mix(self, journal: Journal) -> None:
        for number in range(1, 21):
            for session in range(30):
                await journal.append(f"s{session}", [Entry(event(number * 1000 + session))])
        await journal.flush()
        for session in range(30):
            page = await journal.read_after(f"s{session}", BEGINNING)
            assert [e.event for e in page.envelopes] == [event(n * 1000 + session) for n in range(1, 21)]

    async def test_concurrent_appends_to_one_log_keep_each_batch_together(self, journal: Journal) -> None:
        async with asyncio.TaskGroup() as tasks:
            for batch in range(40):
                tasks.create_task(journal.append("a", entries(batch * 100, batch * 100 + 4)))
        await journal.flush()
        page = await journal.read_after("a", BEGINNING)
        numbers = [json.loads(e.event)["n"] for e in page.envelopes]
        assert seqs(page.envelopes) == list(range(1, 201))
        assert [numbers[i : i + 5] for i in range(0, 200, 5)] == [
            list(range(n, n + 5)) for n in sorted(set(numbers), key=numbers.index) if n % 100 == 0
        ]

    # --- reading ---

    @pytest.mark.parametrize("after", range(8))
    async def test_reading_after_a_cursor_gives_exactly_what_follows(
        self, journal: Journal, after: int
    ) -> None:
        await fill(journal, "a", 7)
        page = await journal.read_after("a", Cursor(journal.epoch, after))
        assert page.gap is None
        assert seqs(page.envelopes) == list(range(after + 1, 8))
        assert page.cursor == Cursor(journal.epoch, 7)
        assert page.last == 7

    async def test_a_session_nobody_knows_is_empty(self, journal: Journal) -> None:
        page = await journal.read_after("never", BEGINNING)
        assert page == Page(None, page.envelopes, Cursor(journal.epoch, 0), 0)
        assert not page.envelopes

    async def test_a_page_holds_at_most_as_many_as_asked_for(self, journal: Journal) -> None:
        await fill(journal, "a", 100)
        pages = await read_all(journal, "a", BEGINNING, count=7)
        assert [len(page.envelopes) for page in pages] == [7] * 14 + [2]
        assert [seq for page in pages for seq in seqs(page.envelopes)] == list(range(1, 101))
        assert {page.last for page in pages} == {100}

    async def test_a_page_stays_within_its_size_but_never_stands_still(self, journal: Journal) -> None:
        await fill(journal, "a", 10, padding=1000)
        page = await journal.read_after("a", BEGINNING, size=3500)
        assert seqs(page.envelopes) == [1, 2, 3]
        page = await journal.read_after("a", page.cursor, size=1)
        assert seqs(page.envelopes) == [4]

    async def test_big_entries_come_back_whole(self, journal: Journal) -> None:
        big = event(1, 5_000_000)
        await journal.append("a", [Entry(big), Entry(event(2))])
        await journal.flush()
        pages = await read_all(journal, "a", BEGINNING)
        assert [e.event for page in pages for e in page.envelopes] == [big, event(2)]

    # --- cursors of another life ---

    async def test_a_cursor_of_another_epoch_starts_over_after_a_gap(self, journal: Journal) -> None:
        await fill(journal, "a", 5)
        page = await journal.read_after("a", Cursor("another", 3))
        assert page.gap == Gap(1, 3)
        assert seqs(page.envelopes) == [1, 2, 3, 4, 5]
        assert page.cursor.epoch == journal.epoch

    async def test_a_cursor_beyond_the_log_starts_over_after_a_gap(self, journal: Journal) -> None:
        await fill(journal, "a", 5)
        page = await journal.read_after("a", Cursor(journal.epoch, 9))
        assert page.gap == Gap(1, 9)
        assert seqs(page.envelopes) == [1, 2, 3, 4, 5]

    async def test_a_cursor_without_epoch_is_foreign_unless_it_means_the_beginning(
        self, journal: Journal
    ) -> None:
        await fill(journal, "a", 2)
        assert (await journal.read_after("a", Cursor("", 1))).gap == Gap(1, 1)
        assert (await journal.read_after("a", BEGINNING)).gap is None
        assert (await journal.read_after("a", Cursor("another", 0))).gap is None

    async def test_a_foreign_cursor_of_an_empty_log_is_told_so_once(self, journal: Journal) -> None:
        page = await journal.read_after("a", Cursor("another", 4))
        assert (page.gap, page.cursor) == (Gap(1, 4), Cursor(journal.epoch, 0))
        assert (await journal.read_after("a", page.cursor)).gap is None

    # --- retention ---

    async def test_retention_by_count_leaves_a_gap_that_says_so(self, opener: Opener) -> None:
        journal = await opener(Retention(max_count=10))
        await fill(journal, "a", 25)
        page = await journal.read_after("a", BEGINNING)
        assert page.gap == Gap(1, 15)
        assert seqs(page.envelopes) == list(range(16, 26))
        assert (await journal.read_after("a", Cursor(journal.epoch, 12))).gap == Gap(13, 15)
        assert (await journal.read_after("a", Cursor(journal.epoch, 15))).gap is None
        assert (await journal.read_after("a", Cursor(journal.epoch, 20))).gap is None
        (log,) = await journal.logs()
        assert (log.first, log.last) == (16, 25)
        await journal.close()

    async def test_retention_by_count_never_keeps_more_and_seldom_much_less(self, opener: Opener) -> None:
        journal = await opener(Retention(max_count=100))
        for last in range(7, 700, 7):
            await fill(journal, "a", last)
            (log,) = await journal.logs()
            assert min(last, 94) <= log.last - log.first + 1 <= 100
        await journal.close()

    async def test_retention_by_bytes_counts_what_is_kept_beside(self, opener: Opener) -> None:
        journal = await opener(Retention(max_bytes=10_000))
        await journal.append("a", [Entry(event(1), whole=event(1, 6_000), raw=b"r" * 3_500)])
        await journal.flush()
        assert await journal.whole("a", 1) is not None
        await journal.append("a", [Entry(event(2, 1000))])
        await journal.flush()
        assert (await journal.read_after("a", BEGINNING)).gap == Gap(1, 1)
        assert await journal.whole("a", 1) is None
        (log,) = await journal.logs()
        assert log.size == len(event(2, 1000))
        await journal.close()

    async def test_the_newest_event_stays_however_big(self, opener: Opener) -> None:
        journal = await opener(Retention(max_bytes=100))
        await journal.append("a", entries(1, 3, padding=500))
        await journal.flush()
        assert seqs((await journal.read_after("a", BEGINNING)).envelopes) == [3]
        await journal.close()

    async def test_retention_by_age_empties_even_idle_logs(self, opener: Opener, clock: FakeClock) -> None:
        journal = await opener(Retention(max_age_s=60), clock)
        await fill(journal, "a", 3)
        clock.advance(30)
        await fill(journal, "a", 5)
        await fill(journal, "b", 1)
        clock.advance(31)
        await journal.retain()
        assert (await journal.read_after("a", BEGINNING)).gap == Gap(1, 3)
        clock.advance(30)
        await journal.retain()
        page = await journal.read_after("a", BEGINNING)
        assert (page.gap, list(page.envelopes), page.cursor.seq, page.last) == (Gap(1, 5), [], 5, 5)
        assert await journal.append("a", entries(6, 6)) == 6
        await journal.flush()
        assert seqs((await journal.read_after("a", page.cursor)).envelopes) == [6]
        await journal.close()

    async def test_a_gap_and_a_page_together_account_for_every_number(self, opener: Opener) -> None:
        journal = await opener(Retention(max_count=30))
        cursor, accounted = BEGINNING, 0
        for last in range(11, 400, 11):
            await fill(journal, "a", last)
            if last % 5:
                continue
            for page in await read_all(journal, "a", cursor, count=9):
                if page.gap:
                    assert page.gap.first == accounted + 1
                    accounted = page.gap.last
                assert seqs(page.envelopes) == list(range(accounted + 1, accounted + 1 + len(page.envelopes)))
                accounted += len(page.envelopes)
                cursor = page.cursor
            assert accounted == last
        await journal.close()

    # --- whole and raw ---

    async def test_what_was_cut_is_kept_beside_the_event(self, journal: Journal) -> None:
        await journal.append(
            "a",
            [Entry(event(1), whole=b'{"whole":1}', raw=b"line"), Entry(event(2)), Entry(event(3), raw=b"r")],
        )
        await journal.flush()
        first, second, third = [await journal.whole("a", seq) for seq in (1, 2, 3)]
        assert first is not None
        assert (first.event, first.raw) == (b'{"whole":1}', b"line")
        assert second is not None
        assert (second.event, second.raw) == (event(2), None)
        assert third is not None
        assert (third.event, third.raw) == (event(3), b"r")
        assert [await journal.whole("a", seq) for seq in (0, 4)] == [None, None]
        assert await journal.whole("never", 1) is None

    # --- watching ---

    async def test_watchers_hear_of_what_can_be_read(self, journal: Journal) -> None:
        progress = Progress()
        readable: list[bool] = []

        def check(session: str, last: int) -> None:
            readable.append(journal.last(session) >= last)

        unwatch, _ = journal.watch(progress), journal.watch(check)
        await journal.append("a", entries(1, 3))
        await journal.append("b", entries(1, 1))
        await progress.reaches("a", 3)
        await progress.reaches("b", 1)
        assert readable
        assert all(readable)
        unwatch()
        unwatch()
        before = len(progress.seen)
        await fill(journal, "a", 4)
        assert len(progress.seen) == before

    async def test_a_follower_misses_nothing_while_others_append(self, journal: Journal) -> None:
        # one each: a follower that clears a shared one takes the last news from the others
        told = [asyncio.Event() for _ in range(5)]

        def announced(session: str, last: int) -> None:  # noqa: ARG001 - whatever is new
            for news in told:
                news.set()

        journal.watch(announced)

        async def follow(news: asyncio.Event) -> list[int]:
            cursor, got = BEGINNING, list[int]()
            while len(got) < 500:
                news.clear()
                page = await journal.read_after("a", cursor, count=17)
                assert page.gap is None
                got += seqs(page.envelopes)
                cursor = page.cursor
                if cursor.seq == page.last and len(got) < 500:
                    await news.wait()
            return got

        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            followers = [tasks.create_task(follow(news)) for news in told]
            for first in range(1, 500, 4):
                await journal.append("a", entries(first, first + 3))
                await asyncio.sleep(0)
        assert [f.result() for f in followers] == [list(range(1, 501))] * 5

    # --- deleting, listing ---

    async def test_a_deleted_log_is_gone_but_its_numbers_are_not_given_again(self, journal: Journal) -> None:
        await fill(journal, "a", 5)
        await journal.append("b", [Entry(event(1), raw=b"r")])
        await journal.flush()
        await journal.delete("a")
        await journal.delete("never")
        assert [log.session for log in await journal.logs()] == ["b"]
        page = await journal.read_after("a", Cursor(journal.epoch, 2))
        assert (page.gap, list(page.envelopes), page.cursor.seq) == (Gap(3, 5), [], 5)
        assert await journal.whole("a", 1) is None
        await fill(journal, "a", 6)
        assert seqs((await journal.read_after("a", page.cursor)).envelopes) == [6]
        assert sorted(log.session for log in await journal.logs()) == ["a", "b"]

    async def test_deleting_takes_what_was_accepted_before_it(self, journal: Journal) -> None:
        await journal.append("a", entries(1, 3))
        await journal.delete("a")
        await journal.append("a", entries(4, 4))
        await journal.flush()
        page = await journal.read_after("a", BEGINNING)
        assert (page.gap, seqs(page.envelopes)) == (Gap(1, 3), [4])

    async def test_logs_are_listed_with_their_bounds_and_sizes(self, journal: Journal) -> None:
        await journal.append("a", [Entry(b"12345", whole=b"1234567", raw=b"123")])
        await fill(journal, "b", 3)
        assert sorted((log.session, log.first, log.last, log.size) for log in await journal.logs()) == [
            ("a", 1, 1, 15),
            ("b", 1, 3, 3 * len(event(1))),
        ]

    async def test_all_is_well_and_said_so(self, journal: Journal) -> None:
        await fill(journal, "a", 1)
        assert journal.trouble is None

    # --- closing and opening again ---

    async def test_another_instance_in_memory_is_another_life_and_a_durable_one_is_not(
        self, opener: Opener
    ) -> None:
        first = await opener()
        await fill(first, "a", 4)
        await first.append("a", [Entry(event(5), whole=event(5, 9), raw=b"raw")])
        await first.close()
        second = await opener()
        assert (second.epoch == first.epoch) is opener.durable
        page = await second.read_after("a", Cursor(first.epoch, 3))
        if opener.durable:
            assert (page.gap, seqs(page.envelopes)) == (None, [4, 5])
            kept = await second.whole("a", 5)
            assert kept is not None
            assert (kept.event, kept.raw) == (event(5, 9), b"raw")
            assert await second.append("a", entries(6, 6)) == 6
        else:
            assert (page.gap, seqs(page.envelopes)) == (Gap(1, 3), [])
        await second.close()

    async def test_closing_makes_readable_what_was_accepted_and_closing_again_is_harmless(
        self, opener: Opener
    ) -> None:
        journal = await opener()
        await journal.append("a", entries(1, 300))
        await journal.close()
        assert journal.last("a") == 300
        await journal.close()
