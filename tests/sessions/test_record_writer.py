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
