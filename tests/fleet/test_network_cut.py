"""A network that drops everything between a fleet and its Redis, in both directions or one, for longer than the kernel waits."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import cut_network
import pytest

CUT_S = 60.0 if "TURNWIRE_EXPLORE" in os.environ else 12.0
"""A cut that is shorter than the kernel waits has the kernel wait less: see `cut_network`."""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
async def test_hubs_and_workers_survive_a_network_that_was_cut_and_are_as_before(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        "unshare", "--map-root-user", "--net", "--mount", "--kill-child", sys.executable, cut_network.__file__, str(tmp_path), str(CUT_S),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, why = await process.communicate()
    assert process.returncode == 0, why.decode()
    found = json.loads(said)
    assert len(found) == 6
    for name, told in found.items():
        assert told["told"], name
        assert told["alive"], name
        assert told["ready"], name
        # One that spins takes all of a processor that it can have.
        assert max(told["busy while cut"], told["busy afterwards"]) < 0.25, (name, told)
