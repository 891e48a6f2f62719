"""Where a sidecar keeps what must outlive it: the configured journal, and the session records.

Records stay in the sidecar's own file, also when the journal is in Redis: they name processes of this machine.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from turnwire.journal.base import Journal, JournalUnavailable, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sessions import MemorySessions, SessionStore
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.sessions import SqliteSessions
from turnwire.sidecar.config.settings import Settings
from turnwire.sidecar.config.state_directory import journal_file

MEMORY_BYTES = 64 << 20
"""Bytes of each log that are kept in memory, where the settings do not name another limit."""


@asynccontextmanager
async def open_journal(settings: Settings) -> AsyncIterator[tuple[Journal, SessionStore]]:
    """Open the configured journal and the session store beside it; raises JournalUnavailable."""
    days = settings.retain_days
    retention = Retention(
        max_age_s=None if days is None else days * 86400,
        max_count=settings.retain_events,
        max_bytes=settings.retain_bytes,
    )
    async with AsyncExitStack() as stack:
        if settings.journal == "memory":
            if "retain_bytes" not in settings.model_fields_set:
                retention = replace(retention, max_bytes=MEMORY_BYTES)
            yield MemoryJournal(retention, all_bytes=settings.memory_bytes), MemorySessions()
            return
        file = await SqliteJournal.open(journal_file(settings), retention, durability=settings.durability)
        stack.push_async_callback(file.close)
        journal: Journal = file
        if settings.journal == "redis":
            journal = await _open_redis(settings, retention)
            stack.push_async_callback(journal.close)
        yield journal, await SqliteSessions.open(file)


async def _open_redis(settings: Settings, retention: Retention) -> Journal:
    try:
        from turnwire.journal.redis.journal import RedisJournal  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise JournalUnavailable(
            "The journal in Redis needs the extra `redis`: pip install 'turnwire[redis]'."
        ) from error
    return await RedisJournal.open(
        settings.redis_url, retention, owner=settings.worker, replicas=settings.redis_replicas
    )
