"""A fleet under kills: nothing that a frontend saw is lost or comes twice, and no prompt has two effects."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fleet_storm import Size, Storm

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]


SIZE = Size(sessions=6, frontends=30, seconds=8, between_s=(0.5, 1.5), prompts_every_s=1.0)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(SIZE, id="one server"),
        pytest.param(replace(SIZE, topology="cluster", redis_kills=0.4), id="a cluster of three nodes"),
        pytest.param(replace(SIZE, topology="sentinel", redis_kills=0.1), id="a primary that fails over"),
    ],
)
async def test_hubs_workers_and_redis_may_be_killed_at_any_time(size: Size) -> None:
    with TemporaryDirectory(prefix="storm-") as folder:
        outcome = await Storm(Path(folder), size, seed=1).run()
    assert (outcome.twice, outcome.lost, outcome.differing, outcome.orphans) == ([], [], [], [])
    assert outcome.unfinished == []
    assert outcome.restored == []
    assert outcome.brought_back == []
    assert "is already running" in outcome.twin
    assert "cannot_start" not in outcome.answers, (
        "what a worker that ends does not begin is begun elsewhere or later"
    )
    assert outcome.gaps == 0
    assert outcome.archived > 0, "otherwise no frontend has read a file"
    assert "internal" not in outcome.answers, "whatever failed, it was Redis or a worker that was away"
    assert outcome.answers["ok"] >= size.sessions
    assert outcome.kills.keys() == {"redis", "hub", "worker", "drain"}, "otherwise nothing was tried"
