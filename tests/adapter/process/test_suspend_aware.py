"""Deadlines of the loop, where the machine stood still for a while."""

import asyncio

import pytest

from turnwire.adapter.process import suspend_aware
from waiting import until


def with_jumps(jumped: list[float]) -> None:
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + sum(jumped)  # type: ignore[method-assign]


async def test_what_comes_right_after_a_machine_stood_still_is_in_time() -> None:
    jumps: list[float] = []
    with_jumps(jumps)
    came = asyncio.Event()

    async def comes() -> None:
        jumps.append(3600)
        for _ in range(20):  # it takes its turns, as one that has to read, think and write does
            await asyncio.sleep(0)
        came.set()

    coming = asyncio.create_task(comes())
    async with suspend_aware.timeout(60):
        await came.wait()
    await coming


async def test_what_never_comes_is_given_up_and_what_came_is_not_disturbed() -> None:
    with pytest.raises(TimeoutError):
        async with suspend_aware.timeout(0.01):
            await asyncio.Event().wait()
    async with suspend_aware.timeout(0.01):
        pass
    await asyncio.sleep(0.02)


async def test_a_call_that_was_taken_back_is_not_made() -> None:
    called: list[int] = []
    suspend_aware.call_later(0.01, lambda: called.append(1))
    take_back = suspend_aware.call_later(0.005, lambda: called.append(2))
    take_back()
    await until(lambda: called)
    assert called == [1]
