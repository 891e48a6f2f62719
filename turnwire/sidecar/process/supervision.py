"""Supervise the tasks of a running sidecar: an error in one of them ends only that task and is logged.

Above all stands one task group. Nothing but a start-up error may reach it, since an exception there cancels everything in
it: every session, and the hub. So each task in it is wrapped. When a session's task fails, the session ends and says so itself (turnwire/sessions/live.py). When a job of the sidecar fails, it is restarted, a little later each time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
"""How long a job that failed is left alone, the first time and at most."""
GRACE_S = 3.0
"""How long the tasks of sessions have to come to their end when all is over."""
SLICES = 10
"""In how many slices that time is waited for."""


class Supervisor:
    """Starts tasks in a task group, none of which can bring it down; made by `supervised`."""

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
        """Run a job of the house until all is over; one that fails is begun again."""
        self._jobs.append(self._tasks.create_task(kept_up(name, job, pause_s=self._pause_s), name=name))

    async def close(self, grace_s: float) -> None:
        """Let sessions' tasks end, for so many seconds, and stop the rest: such as who waits for a disk that is full.

        The seconds are counted in slices: while the machine stands still no task can come to its end.
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
    """A supervisor whose tasks are over when the context is left; an error of the context comes out as it is."""
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
