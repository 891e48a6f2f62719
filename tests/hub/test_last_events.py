"""At the end frontends have a while to take the last events; a machine that stands still meanwhile takes none of it from them."""

import time

import pytest
from hub_harness import StubHost

from turnwire.hub.hub import Hub
from turnwire.journal.memory import MemoryJournal


class Looks:
    """What the end sees each time it looks: how far the slowest frontend is behind."""

    def __init__(self, *, behind: int, stands_still_s: float = 0.0) -> None:
        self.behind, self.stands_still_s, self.count = behind, stands_still_s, 0

    def __call__(self, _: Hub) -> int:
        self.count += 1
        if self.count == 1:
            time.sleep(self.stands_still_s)
        return int(self.count <= self.behind)


async def delivered(monkeypatch: pytest.MonkeyPatch, looks: Looks, limit_s: float) -> int:
    monkeypatch.setattr(Hub, "lag", property(looks))
    await Hub(MemoryJournal(), StubHost(), version="0.0.0").delivered(limit_s)
    return looks.count


async def test_a_machine_that_stood_still_longer_than_the_limit_leaves_frontends_their_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await delivered(monkeypatch, Looks(behind=5, stands_still_s=0.3), 0.2) == 6


async def test_a_frontend_that_never_reads_is_not_waited_for_beyond_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 1 < await delivered(monkeypatch, Looks(behind=1000), 0.2) <= 21
