"""The directory of a hub, beside a store whose answers come late."""

import asyncio
from collections.abc import Sequence

import msgspec

from turnwire.fleet.directory import Directory
from turnwire.fleet.store import DirectoryChanges, DirectoryEntry, FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.wire.frames_out import SessionSummary

SUMMARY = msgspec.json.encode(SessionSummary(session="s1", state="idle", last_seq=0, pending=0))


class LateStore(FleetStore):
    """Answers the first question about entries only when it is told to, with what was there when it was asked."""

    def __init__(self) -> None:
        self.there: DirectoryEntry | None = DirectoryEntry("s1", "build-1", 1, SUMMARY, None, None)
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def entries(self, names: Sequence[str] | None = None) -> dict[str, DirectoryEntry | None]:  # noqa: ARG002
        found = self.there
        if not self.asked.is_set():
            self.asked.set()
            await self.may_answer.wait()
        return {"s1": found}

    async def changes(self, place: str, block_ms: int) -> tuple[str, DirectoryChanges]:  # noqa: ARG002
        if self.asked.is_set():
            await asyncio.Event().wait()
        return "1-0", DirectoryChanges(frozenset({"s1"}))


async def test_a_late_answer_does_not_bring_a_deleted_session_back() -> None:
    store = LateStore()
    directory = Directory(store, Timing())
    following = asyncio.create_task(directory.follow())
    await store.asked.wait()
    store.there = None
    refreshing = asyncio.create_task(directory.refresh("s1"))
    await asyncio.sleep(0)
    store.may_answer.set()
    assert await refreshing is None
    await asyncio.sleep(0)
    assert directory.sessions == {}
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
