"""Where sessions on the real CLI run."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_harness import RealCliHarness

from scripted_messages_api import scripted_messages_api


@pytest.fixture(autouse=True)
def nothing_is_lost_in_the_event_loop(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Fail a test whose tasks or futures fail without anybody noticing."""
    yield
    if {"cli_harness", "stage", "setup"} & set(request.fixturenames):
        gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


@pytest.fixture
def cli_harness(tmp_path: Path) -> Iterator[RealCliHarness]:
    with scripted_messages_api() as api:
        yield RealCliHarness(tmp_path, api)
