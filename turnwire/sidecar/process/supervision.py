"""Supervise the tasks of a running sidecar: an error in one of them ends only that task and is logged.

All of them are in one task group. Only a start-up error may reach it, since an exception there cancels every
session and the hub. So each task is wrapped. When a session's task fails, the session ends and publishes the error itself
(turnwire/sessions/live.py). When a job of the sidecar fails, it is restarted after a growing pause.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
"""Seconds before a failed job is restarted: the first time and at most."""
GRACE_S = 3.0
"""Seconds that sessions' tasks have to end when the sidecar ends."""
SLICES = 10
"""In how many slices that time is waited for."""


class Supervisor:
    """Starts tasks in a task group, none of which can bring it down. `supervised` makes it."""

    def __init__(self, tasks: asyncio.TaskGroup, *, pause_s: float = FIRST_PAUSE_S) -> None:
        self._tasks = tasks
        self._pause_s = pause_s
        self._jobs: list[asyncio.Task[None]] = []
        self._sessions: set[asyncio.Task[None]] = set()

    def spawn(self, session: str, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start a session's task; an exception ends it with a line in the log."""
        task = self._tasks.create_task(_contained(session, work))
        self._sessions.add(task)
        task.add_done_callback(self._sessions.discard)
        return task

    def keep_up(self, name: str, job: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a job of the sidecar until the end. A job that fails is restarted."""
        self._jobs.append(self._tasks.create_task(kept_up(name, job, pause_s=self._pause_s), name=name))

    async def close(self, grace_s: float) -> None:
        """Let sessions' tasks end, for so many seconds, and cancel the rest, for example tasks that wait for a full disk.

        The seconds are counted in slices: while the machine is suspended no task can end.
        """
        late = set(self._sessions)
        for _ in range(SLICES):
            if not late:
                break
            _, late = await asyncio.wait(late, timeout=grace_s / SLICES)
        for task in late:
            task.cancel()
        for job in self._jobs:
            job.cancel()


@asynccontextmanager
async def supervised(
    *, grace_s: float = GRACE_S, pause_s: float = FIRST_PAUSE_S
) -> AsyncIterator[Supervisor]:
    """Yield a supervisor whose tasks are over when the context ends. An error of the context is raised unchanged."""
    failed: Exception | None = None
    async with asyncio.TaskGroup() as tasks:
        supervisor = Supervisor(tasks, pause_s=pause_s)
        try:
            yield supervisor
        except Exception as error:  # noqa: BLE001 - raised again below, outside of the group that would wrap it
            failed = error
        finally:
            await supervisor.close(grace_s)
    if failed is not None:
        raise failed


async def kept_up(
    name: str, job: Callable[[], Coroutine[None, None, None]], *, pause_s: float = FIRST_PAUSE_S
) -> None:
    """Run a job until it returns or is cancelled, again after each failure, pausing twice as long as the last time."""
    pause = pause_s
    while True:
        try:
            await job()
        except Exception:
            log.exception(
                "a task of the sidecar failed and is restarted", extra={"part": name, "pause_s": pause}
            )
        else:
            return
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_S)


async def _contained(session: str, work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("a task of a session failed and has ended", extra={"session": session})
