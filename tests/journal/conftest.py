"""One suite, every backend."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journal.base import Journal
from journals import FakeClock, MemoryOpener, Opener, SqliteOpener


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return MemoryOpener() if request.param == "memory" else SqliteOpener(tmp_path / "journal.db")


@pytest.fixture
async def journal(opener: Opener, clock: FakeClock) -> AsyncIterator[Journal]:
    journal = await opener(clock=clock)
    yield journal
    await journal.close()
