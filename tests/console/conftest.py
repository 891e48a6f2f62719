"""What the tests of the console share: a browser, and live sidecars with scripts written on the spot."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from agent_process import agent_command
from console_page import Sidecar, chromium
from turnwire_process import Served
from turnwire_process import preloaded_turnwire as turnwire


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests of a worker, which run in the loop it is driven from; a page has a context of its own."""
    async with chromium() as running:
        yield running


@pytest.fixture
def scripted(tmp_path: Path) -> Sidecar:
    """`turnwire run` on a script given as YAML: `async with scripted(STEPS) as served`."""

    def run(script: str, *options: str) -> AbstractAsyncContextManager[Served]:
        folder = tmp_path / "greeting"
        folder.mkdir()
        (folder / "script.yaml").write_text(script)
        return turnwire(folder, "run", *options, "--", *agent_command(folder / "script.yaml"))

    return run
