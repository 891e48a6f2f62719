"""Every task has an owner that ends it and logs its failure.

An `asyncio.TaskGroup` does this for tasks that stand or fall together. This is for the others: what is opened in one call and
closed in another, and what must neither end its neighbours when it fails nor wrap what the caller's own block raises.
"""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

log = logging.getLogger(__name__)

AGAIN_S = 0.1
"""How long a task that was cancelled has until it is cancelled again: redis-py swallows a cancellation that comes while it connects."""

Result = TypeVar("Result")


class TaskOwner:
    """Starts tasks, and ends those that are left when it is closed, or its block is left."""

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
        """Cancel what still runs, until it is over."""
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


def heed_cancellation() -> None:
    """Raise CancelledError where the running task was cancelled, and what it awaited swallowed that.

    For tasks that try again whatever fails: without it they would outlive their cancellation, and who cancels once, as
    `asyncio.run` does at its end, would wait for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _tell(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a task failed", extra={"task": task.get_name()}, exc_info=error)


def _hear(task: asyncio.Task[Any]) -> None:
    """Note that the outcome is the caller's: one that was cancelled meanwhile does not ask for it."""
    if not task.cancelled():
        task.exception()
