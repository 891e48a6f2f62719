"""A sidecar under random use and random faults for a few seconds; bench/soak.py does the same for half an hour."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from soaking import Size, Soak

pytestmark = pytest.mark.long


async def test_no_frontend_misses_anything_and_nothing_is_left() -> None:
    size = Size(
        seconds=6,
        sessions=4,
        session_s=(1.5, 3),
        step_s=(0, 0.3),
        stalls_s=(0.1, 2),
        sample_every_s=2,
        tries=frozenset({"connection cut", "agent killed"}),
        compares=9,
    )
    with TemporaryDirectory(prefix="soak-") as folder:
        outcome = await Soak(Path(folder), size, seed=1).run()
    assert (outcome.differing, outcome.gaps, outcome.left) == ([], 0, [])
    assert outcome.compared > 2 * size.sessions
    assert outcome.faults["connection cut"], "otherwise nothing was tried"
    assert outcome.faults["agent killed"], "otherwise nothing was tried"
    before, rest = outcome.before, outcome.rest
    assert before is not None
    assert rest is not None
    assert rest.tasks <= before.tasks
    assert rest.descriptors <= before.descriptors
    assert rest.processes <= before.processes
