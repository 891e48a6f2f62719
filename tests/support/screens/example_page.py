"""The example pages: built with vite and served by their own serve.py."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from npm_workspace import run
from recordings import ROOT
from turnwire_process import DEADLINE


async def build_page(example: str, folder: Path) -> Path:
    """Build examples/EXAMPLE into a new folder inside `folder` and return that."""
    built = folder / "page"
    await run(
        *("npx", "vite", "build", f"examples/{example}", "--outDir", built),
        *("--logLevel", "error", "--base", "./"),
    )
    return built


@asynccontextmanager
async def page_served(example: str, hub: str, built: Path) -> AsyncIterator[str]:
    """Serve a built page over the hub's URL. Yields the page's URL; the server ends with the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "examples" / example / "serve.py"), hub, str(built)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE):
            url = (await process.stdout.readline()).decode().strip()
        yield url
    finally:
        process.kill()
        await process.wait()
