"""asyncio.timeout that ignores time while the machine is suspended (adapter/process/suspend_aware_timer.py)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from turnwire.adapter.process.suspend_aware_timer import SuspendAwareTimer


def call_later(seconds: float, do: Callable[[], None]) -> Callable[[], None]:
    """Call a function after so many seconds; returns what takes that back."""
    loop = asyncio.get_running_loop()
    waiting = SuspendAwareTimer(seconds, loop.time())
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal timer
        if pause := waiting.pause(loop.time()):
            timer = loop.call_later(pause, look)
        else:
            do()

    def take_back() -> None:
        timer.cancel()

    timer = loop.call_later(waiting.pause(loop.time()), look)
    return take_back


@asynccontextmanager
async def timeout(seconds: float | None) -> AsyncIterator[None]:
    """Cancel what runs within after so many seconds; raises TimeoutError then. None is for as long as it takes."""
    if seconds is None:
        yield
        return
    async with asyncio.timeout(None) as limit:
        cancel = call_later(seconds, lambda: limit.reschedule(asyncio.get_running_loop().time()))
        try:
            yield
        finally:
            cancel()


async def within(seconds: float, awaited: Awaitable[object]) -> bool:
    """Wait for something, for so many seconds at most, and tell whether it came."""
    try:
        async with timeout(seconds):
            await awaited
    except TimeoutError:
        return False
    return True
