"""Commands of the npm workspace: what `make` runs there, for tests to run."""

import asyncio
from pathlib import Path

from recordings import ROOT


async def run(*command: str | Path, seconds: float = 120) -> str:
    """Run a command in the workspace and return what it printed; fails with its complaints, and when it takes too long."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(seconds):
        printed, complaints = await process.communicate()
    assert process.returncode == 0, (printed + complaints).decode()
    return printed.decode()
