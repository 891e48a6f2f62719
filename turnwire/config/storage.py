"""Open the configured journal and the session records.

Records stay in the sidecar's own file even if events are on a server, because they refer to processes of this machine.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from turnwire.config.settings import Settings
from turnwire.config.state_directory import journal_file, journal_options
from turnwire.journal.base import Journal, Retention
from turnwire.journal.sessions import MemorySessions, SessionStore
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.sessions import SqliteSessions

MEMORY_BYTES = 64 << 20
"""Maximum bytes of each log in memory, unless configured."""


def retention(settings: Settings) -> Retention:
    """Return the limits of each log."""
    days = settings.retain_days
    kept = Retention(
        max_age_s=None if days is None else days * 86400,
        max_count=settings.retain_events,
        max_bytes=settings.retain_bytes,
    )
    if settings.journal_kind.durable or "retain_bytes" in settings.model_fields_set:
        return kept
    return replace(kept, max_bytes=MEMORY_BYTES)


@asynccontextmanager
async def open_journal(settings: Settings) -> AsyncIterator[tuple[Journal, SessionStore]]:
    """Open the configured journal and its session store; raises JournalUnavailable."""
    kind, limits = settings.journal_kind, retention(settings)
    async with AsyncExitStack() as stack:
        journal = await kind.open(journal_options(settings), limits)
        stack.push_async_callback(journal.close)
        if not kind.durable:
            yield journal, MemorySessions()
            return
        if isinstance(journal, SqliteJournal):
            file = journal
        else:
            file = await SqliteJournal.open(journal_file(settings), limits, durability=settings.durability)
            stack.push_async_callback(file.close)
        yield journal, await SqliteSessions.open(file)
