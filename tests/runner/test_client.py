"""The client of a runner, when what it hears cannot be taken in."""

import asyncio
import sys

import pytest

from runner.client import RunError, RunnerClient
from runner.wire import Diag, Fatal

NOTES_AND_WAITS = """
import sys
run = __import__("json").loads(sys.stdin.readline())["id"]
print('{"type":"diag","id":"%s","level":"warn","message":"a note"}' % run, file=sys.stderr, flush=True)
sys.stdin.read()
"""


async def test_a_run_ends_when_its_callers_own_function_fails_at_a_note() -> None:
    def on_note(note: Diag | Fatal) -> None:
        raise ValueError("the caller's own defect")

    argv = [sys.executable, "-c", NOTES_AND_WAITS]
    async with asyncio.timeout(60), RunnerClient(argv, on_note=on_note) as client:
        run = await client.run(model="m", message="hello")
        with pytest.raises(RunError, match=r"the caller's own defect"):
            async for _ in run:
                pass
