"""Session records are written soon and surely, also when the store cannot write for a while."""

import asyncio
from dataclasses import replace

from turnwire.journal.base import JournalUnavailable
from turnwire.journal.sessions import MemorySessions, SessionRecord
from turnwire.sessions.records.writer import RecordWriter

RECORD = SessionRecord(session="s", created="2026-01-02T03:04:05.678901Z")


class FailingSessions(MemorySessions):
    """A store whose first puts fail."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures
        self.written = asyncio.Event()

    async def put(self, record: SessionRecord) -> None:
        if self.failures:
            self.failures -= 1
            raise JournalUnavailable("no space left")
        await super().put(record)
        self.written.set()


async def test_the_newest_record_is_written_once_the_store_can_again() -> None:
    store = FailingSessions(3)
    writer = RecordWriter(store, retry=0.001)
    writer.save(RECORD)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(writer.run())
        writer.save(replace(RECORD, state="idle"))
        await store.written.wait()
        running.cancel()
    assert await store.list() == [replace(RECORD, state="idle")]


async def test_a_record_saved_while_an_older_one_is_written_is_written_too() -> None:
    writer: RecordWriter

    class Sessions(MemorySessions):
        async def put(self, record: SessionRecord) -> None:
            if record.state == "starting":
                writer.save(replace(record, state="idle"))
            await super().put(record)

    store = Sessions()
    writer = RecordWriter(store)
    writer.save(RECORD)
    await writer.flush()
    await writer.flush()
    assert await store.list() == [replace(RECORD, state="idle")]


class BlockingSessions(MemorySessions):
    """A store whose puts and deletions wait until they are let go, as a database under load does."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[asyncio.Event] = []
        self.more = asyncio.Event()

    async def _wait(self) -> None:
        gate = asyncio.Event()
        self.waiting.append(gate)
        self.more.set()
        await gate.wait()

    async def put(self, record: SessionRecord) -> None:
        await self._wait()
        await super().put(record)

    async def delete(self, session: str) -> None:
        await self._wait()
        await super().delete(session)

    async def let_go(self) -> None:
        """Let the newest of those that wait go, until none waits any more."""
        while True:
            self.more.clear()
            for _ in range(5):
                await asyncio.sleep(0)
            if not self.waiting:
                return
            self.waiting.pop().set()


async def test_a_record_that_is_kept_is_not_overwritten_by_an_older_one() -> None:
    store = BlockingSessions()
    writer = RecordWriter(store)
    writer.save(replace(RECORD, session="first"))
    writer.save(RECORD)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.flush())
        await store.more.wait()
        # the flush has looked at what is unwritten, and is at the first session's record
        newest = replace(RECORD, state="idle")
        tasks.create_task(writer.keep(newest))
        await store.let_go()
    assert newest in await store.list()


async def test_two_writes_of_a_record_are_not_side_by_side() -> None:
    store = BlockingSessions()
    writer = RecordWriter(store)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.keep(RECORD))
        await store.more.wait()
        newest = replace(RECORD, state="idle")
        tasks.create_task(writer.keep(newest))
        await store.let_go()
    assert await store.list() == [newest]


async def test_a_session_that_is_forgotten_while_its_record_is_written_stays_forgotten() -> None:
    store = BlockingSessions()
    writer = RecordWriter(store)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.keep(RECORD))
        await store.more.wait()
        tasks.create_task(writer.forget("s"))
        await store.let_go()
    assert await store.list() == []
