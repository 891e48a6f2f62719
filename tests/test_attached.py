"""Servers of tests: none outlives the process that has started it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from live import gone

START = """
import sys
from pathlib import Path
from journals import RedisProcess
server = RedisProcess(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
input()
"""


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
@pytest.mark.parametrize("is_killed", [True, False])
@pytest.mark.long
async def test_no_redis_server_outlives_the_tests_that_have_started_it(is_killed: bool) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with TemporaryDirectory(prefix="redis-") as folder:
        command = [sys.executable, "-c", START, folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as tests:
            assert tests.stdout is not None
            server = int(tests.stdout.readline())
            if is_killed:
                tests.kill()
            # without an input it ends by an exception
        await gone([server])
        assert not (Path(folder) / "dump.rdb").exists()
