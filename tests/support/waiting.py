"""Wait for what another task, thread or process does, when it tells nobody; and let nobody do anything for a while."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return as soon as the condition holds; raises TimeoutError when it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.005)


def clock_that_jumps() -> Callable[[float], Awaitable[None]]:
    """Return what lets the loop's clock go on by so many seconds at once, as where the machine stands still meanwhile."""
    loop, jumped = asyncio.get_running_loop(), [0.0]
    clock = loop.time
    loop.time = lambda: clock() + sum(jumped)  # type: ignore[method-assign]

    async def jump(seconds: float) -> None:
        jumped.append(seconds)
        for _ in range(10):  # whoever waited for a moment in between is woken
            await asyncio.sleep(0)

    return jump
