"""An agent whose lines the journal has no room for, and what is told of that."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from host_harness import host_harness

from turnwire.journal.backlog import Backlog
from turnwire.journal.base import Entry, JournalUnavailable
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from waiting import until


class StandingJournal(MemoryJournal):
    """A journal whose disk stands still: its room is used up before it is known that nothing can be written."""

    def __init__(self) -> None:
        super().__init__()
        self.backlog = Backlog(1)
        self.waits = False

    @property
    def trouble(self) -> str | None:
        return None if self.backlog.trouble is None else str(self.backlog.trouble)

    @property
    def is_full(self) -> bool:
        return self.backlog.is_full

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:
        return self.backlog.watch(watcher)

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        self.waits = self.is_full
        await self.backlog.room(session)
        return await super().append(session, entries)


async def test_an_agent_is_told_to_be_paused_though_the_room_ran_out_before_it_was_known_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = StandingJournal()
    async with host_harness(tmp_path, monkeypatch, journal=journal) as harness:
        session = await harness.create()
        await harness.do("prompt", session, text="first")
        await harness.until(session, ev.Complete)
        journal.backlog.accept(1)
        await harness.do("prompt", session, text="second")
        await until(lambda: journal.waits)
        assert harness.host.sessions()[0].trouble is None
        journal.backlog.stuck(JournalUnavailable("no space left"))
        assert "is paused" in str(harness.host.sessions()[0].trouble)
        journal.backlog.commit(1, 1)
        await harness.until(session, ev.Complete, 2)
        assert harness.host.sessions()[0].trouble is None
