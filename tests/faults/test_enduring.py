"""Disconnections, kills and sessions in numbers that take some seconds; bench/enduring.py does the same in very large ones."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from enduring import disconnected, killed, sessions_leave

pytestmark = pytest.mark.long


async def test_frontends_that_are_cut_off_at_random_see_the_journal(tmp_path: Path) -> None:
    seeing = await disconnected(tmp_path, 60)
    assert (seeing.differing, seeing.gaps) == ([], 0)
    assert seeing.faults == 60
    assert seeing.events > 300


@pytest.mark.parametrize(
    "redis",
    [
        False,
        pytest.param(
            True,
            marks=pytest.mark.skipif(
                shutil.which("redis-server") is None, reason="redis-server is not installed"
            ),
        ),
    ],
    ids=["sqlite", "redis"],
)
async def test_frontends_of_a_sidecar_that_is_killed_at_random_see_the_journal(redis: bool) -> None:
    # a Redis on a socket wants a short path
    with TemporaryDirectory(prefix="killed-") as folder:
        seeing = await killed(Path(folder), 6, redis=redis)
    assert (seeing.differing, seeing.gaps) == ([], 0)
    assert seeing.faults == 6
    assert seeing.events > 300


async def test_sessions_that_were_opened_and_closed_leave_nothing(tmp_path: Path) -> None:
    before, *_, after = await sessions_leave(tmp_path, 15, every=15)
    assert after.tasks <= before.tasks
    assert after.descriptors <= before.descriptors
    assert after.processes <= before.processes
    assert after.files <= before.files
    # an object or two may be kept of anything; a session has hundreds
    assert after.objects < before.objects + 15 * 50
