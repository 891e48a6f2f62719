"""Wait for what another task, thread or process does, when it tells nobody."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return as soon as the condition holds; raises TimeoutError when it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.005)
