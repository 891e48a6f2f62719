"""Room for what is large: who waits for it, and who is cut to make it."""

import asyncio
from dataclasses import dataclass

import pytest

from turnwire.hub.server.unread import SMALL, UnreadBudget

LARGE = 4 * SMALL


@dataclass(eq=False)
class Peer:
    unread: int = 0
    stuck: float = 0
    closed: bool = False
    dropped: str = ""

    def stuck_s(self, now: float) -> float:
        assert now
        return self.stuck

    def drop(self, reason: str) -> None:
        self.dropped, self.closed = reason, True


def holding(unread: UnreadBudget, *peers: Peer) -> None:
    for peer in peers:
        unread.stalls(peer)


def test_what_is_small_needs_no_room_and_what_is_larger_than_all_room_may_be_alone() -> None:
    unread = UnreadBudget(LARGE, 10)
    assert unread.has_room(10 * LARGE)
    holding(unread, Peer(LARGE))
    assert unread.total == LARGE
    assert unread.has_room(SMALL)
    assert not unread.has_room(SMALL + 1)


async def test_who_waits_goes_on_once_another_has_read() -> None:
    unread, slow = UnreadBudget(LARGE, 3600), Peer(LARGE)
    holding(unread, slow)
    waiting = asyncio.create_task(unread.room(LARGE, Peer()))
    await asyncio.sleep(0)
    assert not waiting.done()
    unread.flows(slow)
    async with asyncio.timeout(30):
        assert await waiting
    assert not slow.dropped


async def test_those_who_read_nothing_are_cut_the_largest_first_and_no_more_than_needed() -> None:
    unread = UnreadBudget(3 * LARGE, 10)
    small, large, slow = Peer(SMALL, stuck=60), Peer(2 * LARGE, stuck=10), Peer(2 * SMALL, stuck=9)
    holding(unread, small, large, slow)
    assert await unread.room(2 * LARGE, Peer())
    assert [one.dropped for one in (small, large, slow)] == ["", "unread", ""]


async def test_whose_connection_is_closed_waits_no_more() -> None:
    unread, slow, leaving = UnreadBudget(LARGE, 3600), Peer(LARGE), Peer()
    holding(unread, slow)
    waiting = asyncio.create_task(unread.room(LARGE, leaving))
    await asyncio.sleep(0)
    leaving.closed = True
    unread.flows(leaving)
    async with asyncio.timeout(30):
        assert not await waiting


@pytest.mark.parametrize("stuck", [0.0, 9.9])
async def test_who_reads_however_slowly_is_not_cut(stuck: float) -> None:
    unread, slow = UnreadBudget(LARGE, 10), Peer(LARGE, stuck=stuck)
    holding(unread, slow)
    waiting = asyncio.create_task(unread.room(LARGE, Peer()))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert not slow.dropped
    waiting.cancel()
