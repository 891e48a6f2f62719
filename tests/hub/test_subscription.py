"""Delivery by cursor, against a log and sinks that are slow, stalled and cut at will."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hub_harness import SESSION, chunk
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwire.hub.delivery.batch import Batch
from turnwire.hub.delivery.feed import Feeds
from turnwire.hub.delivery.pages import PAGE_COUNT, Pages
from turnwire.hub.delivery.subscription import LAG_COUNT, FrontendReader, SinkClosed
from turnwire.hub.wire.frames_out import CaughtUp, GapFrame, Lag, OutFrame
from turnwire.journal.base import Page, Retention, WholeEntry
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events.envelope import Cursor
from waiting import until


class SlowLog:
    """A journal whose reads take some turns of the event loop, so that a page is old when it arrives."""

    def __init__(self, journal: MemoryJournal, turns: int, seed: int = 0) -> None:
        self.journal = journal
        self.turns = turns
        self.random = random.Random(seed)
        self.reads = 0

    @property
    def epoch(self) -> str:
        return self.journal.epoch

    def last(self, session: str) -> int:
        return self.journal.last(session)

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        self.reads += 1
        await settle(self.random.randint(0, self.turns))
        page = await self.journal.read_after(session, cursor, count=min(count, 7), size=size)
        await settle(self.random.randint(0, self.turns))
        return page

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        return await self.journal.whole(session, seq)

    def watch(self, watcher: Callable[[str, int], None]) -> Callable[[], None]:
        return self.journal.watch(watcher)


class ForgetfulLog(SlowLog):
    """A log whose server loses what was read, and numbers again."""

    def __init__(self, journal: MemoryJournal, turns: int, seed: int = 0) -> None:
        super().__init__(journal, turns, seed)
        self.watchers: list[Callable[[str, int], None]] = []

    def watch(self, watcher: Callable[[str, int], None]) -> Callable[[], None]:
        self.watchers.append(watcher)
        self.journal.watch(watcher)
        return lambda: None

    def lose(self, journal: MemoryJournal) -> None:
        """Have another log from now on."""
        self.journal = journal
        for watcher in self.watchers:
            journal.watch(watcher)
            watcher(SESSION, journal.last(SESSION))


class CountingLog(SlowLog):
    """Gives pages as large as they are asked for."""

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        self.reads += 1
        await settle(self.turns)
        return await self.journal.read_after(session, cursor, count=count, size=size)


ENDLESS = 1 << 60


@dataclass
class MemorySink:
    """Takes frames while it is open."""

    seen: list[int] = field(default_factory=list)
    told: list[OutFrame] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    overrun: int = 0

    def __post_init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self.closed = False

    @property
    def writable(self) -> bool:
        return self._open.is_set()

    def stall(self) -> None:
        self._open.clear()

    def go(self) -> None:
        self._open.set()

    def has_room(self, size: int) -> bool:
        return size < ENDLESS

    async def room(self, size: int) -> bool:
        raise AssertionError(f"there is room for {size} bytes")

    async def drained(self) -> None:
        await self._open.wait()
        if self.closed:
            raise SinkClosed

    def deliver(self, batch: Batch) -> None:
        # One page that was being read when the sink stalled may still come.
        self.overrun = 0 if self.writable else self.overrun + 1
        assert self.overrun <= 1
        self.batches.append(batch)
        self.seen += [envelope.seq for envelope in batch.envelopes]

    def send_frame(self, frame: OutFrame) -> None:
        self.told.append(frame)


async def settle(turns: int = 400) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


@dataclass
class Frontend:
    """A client that comes and goes, and remembers what it saw."""

    log: SlowLog
    feeds: Feeds
    pages: Pages
    seen: list[int] = field(default_factory=list)
    sink: MemorySink | None = None
    reader: FrontendReader | None = None
    task: asyncio.Task[None] | None = None
    subscribed: bool = False

    def connect(self) -> None:
        if self.sink is None:
            self.sink = MemorySink(self.seen)
            self.reader = FrontendReader(self.pages, self.feeds, self.sink)
            self.task = asyncio.create_task(self.reader.run())
            self.subscribe()

    def subscribe(self) -> None:
        if self.reader is not None:
            seq = self.seen[-1] if self.seen else 0
            self.reader.subscribe(SESSION, Cursor(self.log.epoch, seq))
            self.subscribed = True

    def unsubscribe(self) -> None:
        if self.reader is not None:
            self.reader.unsubscribe(SESSION)
            self.subscribed = False

    def disconnect(self) -> None:
        if self.reader is not None and self.task is not None:
            self.reader.close()
            self.task.cancel()
            self.sink = self.reader = self.task = None


Step = tuple[str, int]
WHAT = [
    "append",
    "append",
    "turns",
    "turns",
    "connect",
    "disconnect",
    "stall",
    "go",
    "unsubscribe",
    "subscribe",
]
steps = st.lists(st.tuples(st.sampled_from(WHAT), st.integers(0, 12)), min_size=20, max_size=80)


meanwhile = given(script=steps, turns=st.integers(0, 8), seed=st.integers(0, 1000))


@settings(max_examples=60)
@meanwhile
def test_every_frontend_ends_with_exactly_the_logs_sequence_whatever_happens_meanwhile(
    script: list[Step], turns: int, seed: int
) -> None:
    asyncio.run(_play(script, turns, seed))


@pytest.mark.long
@settings(max_examples=400)
@meanwhile
def test_it_holds_for_many_more(script: list[Step], turns: int, seed: int) -> None:
    asyncio.run(_play(script, turns, seed))


async def _play(script: list[Step], turns: int, seed: int) -> None:
    journal = MemoryJournal()
    async with Feeds(log := SlowLog(journal, turns, seed)) as feeds:
        pages = Pages(log)
        frontends = [Frontend(log, feeds, pages) for _ in range(3)]
        for what, number in script:
            frontend = frontends[number % 3]
            match what:
                case "append":
                    await journal.append(SESSION, [chunk("x")] * number)
                case "turns":
                    await settle(number)
                case "connect":
                    frontend.connect()
                case "disconnect":
                    frontend.disconnect()
                case "subscribe":
                    frontend.subscribe()
                case "unsubscribe":
                    frontend.unsubscribe()
                case "stall" if frontend.sink is not None:
                    frontend.sink.stall()
                case "go" if frontend.sink is not None:
                    frontend.sink.go()
        for frontend in frontends:
            if frontend.sink is None:
                frontend.connect()
            elif not frontend.subscribed:
                frontend.subscribe()
            assert frontend.sink is not None
            frontend.sink.go()
        await settle(100 + journal.last(SESSION) * (turns + 2))
        expected = list(range(1, journal.last(SESSION) + 1))
        for frontend in frontends:
            assert frontend.seen == expected
            frontend.disconnect()


async def test_a_frontend_that_subscribes_is_told_once_that_it_caught_up_and_is_then_live() -> None:
    journal = MemoryJournal()
    await journal.append(SESSION, [chunk("a"), chunk("b")])
    async with Feeds(journal) as feeds:
        frontend = Frontend(log := SlowLog(journal, 1), feeds, Pages(log))
        frontend.connect()
        await settle()
        assert frontend.sink is not None
        assert frontend.sink.told == [CaughtUp(session=SESSION, seq=2)]
        await journal.append(SESSION, [chunk("c")])
        await settle()
        assert frontend.seen == [1, 2, 3]
        assert frontend.sink.told == [CaughtUp(session=SESSION, seq=2)]
        frontend.disconnect()


async def test_live_frontends_share_one_read_and_one_batch() -> None:
    journal = MemoryJournal()
    async with Feeds(log := SlowLog(journal, 0)) as feeds:
        frontends = [Frontend(log, feeds, Pages(log)) for _ in range(10)]
        for frontend in frontends:
            frontend.connect()
        await settle()
        before = log.reads
        await journal.append(SESSION, [chunk("a")])
        await settle()
        assert log.reads == before + 1
        sinks = [frontend.sink for frontend in frontends]
        assert len({id(sink.batches[0]) for sink in sinks if sink is not None}) == 1
        for frontend in frontends:
            frontend.disconnect()


async def test_a_stalled_frontend_is_told_how_far_behind_it_is_and_that_it_caught_up_again() -> None:
    journal = MemoryJournal()
    async with Feeds(journal) as feeds:
        frontend = Frontend(log := SlowLog(journal, 0), feeds, Pages(log))
        frontend.connect()
        await settle()
        assert frontend.sink is not None
        frontend.sink.stall()
        await journal.append(SESSION, [chunk("x")] * (LAG_COUNT + 1))
        await settle()
        assert frontend.seen == []
        frontend.sink.go()
        await settle(4000)
        assert frontend.sink.told == [
            CaughtUp(session=SESSION, seq=0),
            Lag(session=SESSION, behind=LAG_COUNT + 1),
            CaughtUp(session=SESSION, seq=LAG_COUNT + 1),
        ]
        assert frontend.seen == list(range(1, LAG_COUNT + 2))
        frontend.disconnect()


async def test_what_retention_took_is_told_as_a_gap_before_what_is_left() -> None:
    journal = MemoryJournal(Retention(max_count=16))
    await journal.append(SESSION, [chunk("x")] * 100)
    async with Feeds(journal) as feeds:
        frontend = Frontend(log := SlowLog(journal, 0), feeds, Pages(log))
        frontend.connect()
        await settle()
        assert frontend.sink is not None
        first = frontend.seen[0]
        assert frontend.sink.told[0] == GapFrame(
            session=SESSION, first=1, last=first - 1, epoch=journal.epoch
        )
        assert frontend.seen == list(range(first, 101))
        frontend.disconnect()


async def test_a_cursor_of_another_life_of_the_log_is_told_so_and_starts_anew() -> None:
    journal = MemoryJournal()
    await journal.append(SESSION, [chunk("x")] * 3)
    async with Feeds(journal) as feeds:
        sink = MemorySink()
        reader = FrontendReader(Pages(journal), feeds, sink)
        task = asyncio.create_task(reader.run())
        reader.subscribe(SESSION, Cursor("another", 50))
        await settle()
        gap = sink.told[0]
        assert isinstance(gap, GapFrame)
        assert (gap.first, gap.last, gap.epoch) == (1, 50, journal.epoch)
        assert sink.seen == [1, 2, 3]
        reader.close()
        task.cancel()


async def test_many_sessions_of_one_frontend_take_turns() -> None:
    journal = MemoryJournal()
    sessions = [f"s{number}" for number in range(5)]
    for session in sessions:
        await journal.append(session, [chunk("x")] * 21)
    async with Feeds(log := SlowLog(journal, 0)) as feeds:
        sink = MemorySink()
        reader = FrontendReader(Pages(log), feeds, sink)
        for session in sessions:
            reader.subscribe(session, Cursor("", 0))
        task = asyncio.create_task(reader.run())
        await settle()
        assert [batch.envelopes[0].session for batch in sink.batches[:5]] == sessions
        assert sorted(sink.seen) == sorted(list(range(1, 22)) * 5)
        reader.close()
        task.cancel()


async def test_frontends_that_come_back_together_share_the_reading_and_the_encoding() -> None:
    journal = MemoryJournal()
    await journal.append(SESSION, [chunk("x")] * 3 * PAGE_COUNT)
    async with Feeds(journal) as feeds:
        counting = CountingLog(journal, 3)
        pages = Pages(counting)
        frontends = [Frontend(counting, feeds, pages, list(range(1, start))) for start in (1, 1, 1, 300, 700)]
        for frontend in frontends:
            frontend.connect()
        await settle(1000)
        assert all(frontend.seen == list(range(1, 3 * PAGE_COUNT + 1)) for frontend in frontends)
        # Three pages from the beginning, and one from each of the other places to the next end of a page.
        assert counting.reads <= 5
        sinks = [frontend.sink for frontend in frontends]
        assert len({id(sink.batches[-1]) for sink in sinks if sink is not None}) == 1
        for frontend in frontends:
            frontend.disconnect()


async def test_a_page_is_read_by_another_when_its_first_reader_leaves_meanwhile() -> None:
    journal = MemoryJournal()
    await journal.append(SESSION, [chunk("x")] * 5)
    pages = Pages(CountingLog(journal, 20))
    first = asyncio.create_task(pages.after(SESSION, Cursor("", 0)))
    second = asyncio.create_task(pages.after(SESSION, Cursor("", 0)))
    await settle(3)
    first.cancel()
    async with asyncio.timeout(60):
        assert (await second).cursor.seq == 5
    await journal.append(SESSION, [chunk("y")])
    assert (await pages.after(SESSION, Cursor("", 0))).cursor.seq == 6


class BrokenLog(SlowLog):
    """Cannot be read for a while."""

    broken = False

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        if self.broken:
            raise OSError("the disk is gone")
        return await super().read_after(session, cursor, count=count, size=size)


def told(sink: MemorySink, kind: type[OutFrame], count: int) -> bool:
    return sum(isinstance(frame, kind) for frame in sink.told) >= count


async def test_readers_of_a_log_that_cannot_be_read_are_told_why_and_go_on_and_one_line_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal = MemoryJournal()
    async with Feeds(log := BrokenLog(journal, 0)) as feeds:
        pages = Pages(log)
        sinks = [MemorySink() for _ in range(3)]
        readers = [FrontendReader(pages, feeds, sink) for sink in sinks]
        tasks = [asyncio.create_task(reader.run()) for reader in readers]
        for reader in readers:
            reader.subscribe(SESSION, Cursor("", 0))
        await settle()
        log.broken = True
        await journal.append(SESSION, [chunk("a")])
        async with asyncio.timeout(60):
            for sink in sinks:
                await until(partial(told, sink, Lag, 1))
            log.broken = False
            for sink in sinks:
                # told that it caught up when it began, and once more after the fault
                await until(partial(told, sink, CaughtUp, 2))
        for sink in sinks:
            (fault,) = [frame for frame in sink.told if isinstance(frame, Lag)]
            assert fault.behind == 1
            assert fault.error is not None
            assert (fault.error.code, fault.error.message) == ("journal_unavailable", "the disk is gone")
            assert sink.seen == [1]
        (line,) = [one for one in caplog.records if one.name.startswith("turnwire.hub.delivery.pages")]
        assert "cannot be read" in line.message
        for reader, task in zip(readers, tasks, strict=True):
            reader.close()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("count", [0, 2, 5, 9])
async def test_whoever_is_up_to_date_begins_anew_with_a_log_that_has_another_life(count: int) -> None:
    """However long the log is by then: numbers that are the same are not the same events."""
    log = ForgetfulLog(MemoryJournal(), 3)
    await log.journal.append(SESSION, [chunk("lost")] * 5)
    async with Feeds(log) as feeds:
        pages = Pages(log)
        frontends = [Frontend(log, feeds, pages) for _ in range(3)]
        for frontend in frontends:
            frontend.connect()
        await settle()
        assert [frontend.seen for frontend in frontends] == [[1, 2, 3, 4, 5]] * 3
        other = MemoryJournal()
        if count:
            await other.append(SESSION, [chunk("new")] * count)
        log.lose(other)
        await settle()
        await other.append(SESSION, [chunk("more")])
        await settle()
        for frontend in frontends:
            assert frontend.seen == [1, 2, 3, 4, 5, *range(1, count + 2)]
            assert frontend.sink is not None
            gaps = [frame for frame in frontend.sink.told if isinstance(frame, GapFrame)]
            assert [(gap.first, gap.epoch) for gap in gaps] == [(1, other.epoch)]
            frontend.disconnect()
