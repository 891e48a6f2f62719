"""Every task has an owner that ends it and logs its failure.

An `asyncio.TaskGroup` does this for tasks that fail together. This is for the others: tasks that one call starts and
another ends, and tasks whose failure must neither end their neighbours nor wrap the errors of the caller's block.
"""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

log = logging.getLogger(__name__)

AGAIN_S = 0.1
"""Seconds until a cancelled task is cancelled again: redis-py swallows a cancellation during a connect."""

Result = TypeVar("Result")


class TaskOwner:
    """Starts tasks, and ends the remaining ones when it is closed or its block ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def keep(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that nobody awaits. Its exception is logged under its name."""
        task = self._start(name, work)
        task.add_done_callback(_tell)
        return task

    def begin(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Start a task that the caller awaits, and that returns or raises to the caller."""
        task = self._start(name, work)
        task.add_done_callback(_hear)
        return task

    async def close(self) -> None:
        """Cancel the running tasks and wait until they end."""
        while left := [task for task in self._tasks if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=AGAIN_S)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _start(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error inside a group: a task group wraps errors, and callers want the error itself."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


async def set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set; False after so many seconds without."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def heed_cancellation() -> None:
    """Raise CancelledError if the running task was cancelled and its awaited call swallowed that.

    For tasks that retry after every error. Without it they would survive their cancellation, and a caller that cancels once, as
    `asyncio.run` does at its end, would wait forever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _tell(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a task failed", extra={"task": task.get_name()}, exc_info=error)


def _hear(task: asyncio.Task[Any]) -> None:
    """Mark the outcome as the caller's, so that a caller cancelled meanwhile causes no log line."""
    if not task.cancelled():
        task.exception()
