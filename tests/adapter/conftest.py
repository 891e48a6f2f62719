"""Where sessions on the real CLI run."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import RealCliHarness
from scripted_messages_api import scripted_messages_api


@pytest.fixture(autouse=True)
def nothing_is_lost_in_the_event_loop(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Fail a test whose tasks or futures fail without anybody noticing."""
    yield
    if {"office", "stage", "setup"} & set(request.fixturenames):
        gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


@pytest.fixture
def office(tmp_path: Path) -> Iterator[RealCliHarness]:
    with scripted_messages_api() as api:
        yield RealCliHarness(tmp_path, api)
