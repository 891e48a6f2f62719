"""The runner: requests in, one task per run, one end for each.

Reading never waits for a run, so a cancel arrives while every run waits for a slow reader. Three bounds hold: running
runs, known runs, and the bytes of ends that wait to be written before any more requests are
read.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, assert_never

from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.runner.family import RunFailed, RunFamily, Streams
from turnwire.runner.log_file import RunnerLogFile
from turnwire.runner.output import Output, OutputLost
from turnwire.runner.runner_lines import Cancel, Dropped, Refused, Run, Status, end_line, read_request

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of one request."""

UNWRITTEN = 16 * 1024 * 1024
"""Bytes that may wait to be written before requests are no longer read: a caller that asks and never reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """How the runner behaves."""

    at_end: Literal["drain", "cancel"] = "drain"
    """What happens to running runs at the end of stdin."""
    normalized: bool = False
    """Events are AgentEvents instead of the CLI's lines."""
    max_running: int = 256
    """CLIs at a time; further runs wait for their turn."""
    max_runs: int = 4096
    """Runs that are accepted at a time; more are refused."""


class Runner:
    """Serves one caller."""

    def __init__(
        self,
        family: RunFamily,
        output: Output,
        notes: Output,
        *,
        log: RunnerLogFile,
        options: RunnerOptions | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._family = family
        self._streams = Streams(output, notes, now)
        self._log = log
        self._options = options or RunnerOptions()
        self._slots = asyncio.Semaphore(self._options.max_running)
        self._runs: dict[str, asyncio.Task[str | None]] = {}
        self._resumed: dict[str, str] = {}
        """The conversations that runs go on with, and which run each."""
        self._cancelled: set[str] = set()

    async def serve(self, chunks: AsyncIterator[bytes]) -> None:
        """Serve until the input ends and every run has; raises OutputLost when the reader is gone.

        When it is cancelled, every run is, and each gets its end.
        """
        output = self._streams.output
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(output.lost())
                async with asyncio.TaskGroup() as runs:
                    await self._read(chunks, runs)
                await output.flush()
                watch.cancel()
        except* OutputLost as lost:
            raise lost.exceptions[0] from None

    async def _read(self, chunks: AsyncIterator[bytes], runs: asyncio.TaskGroup) -> None:
        framer = LineFramer(LINE_LIMIT)
        async for chunk in chunks:
            for lines in framer.slices(chunk):
                for line in lines:
                    self._take(line, runs)
                await asyncio.sleep(0)
            await self._streams.output.below(UNWRITTEN)
        last = framer.close()
        if last is not None:
            self._take(last, runs)
        if self._options.at_end == "cancel":
            for run_id in list(self._runs):
                self._cancel(run_id)

    def _take(self, line: bytes | OversizeLine, runs: asyncio.TaskGroup) -> None:
        if line == b"":
            return
        match request := read_request(line, self._family.params):
            case Run(run_id):
                if run_id in self._runs:
                    self._end(run_id, "error", "duplicate-id")
                elif len(self._runs) >= self._options.max_runs:
                    self._end(run_id, "error", f"overloaded: {len(self._runs)} runs are not done yet")
                elif (resumed := request.params.resume) in self._resumed:
                    other = self._resumed[resumed or ""]
                    self._end(
                        run_id,
                        "error",
                        f"conversation-in-use: the run {other} goes on with {resumed}; wait for its end",
                    )
                else:
                    if resumed is not None:
                        self._resumed[resumed] = run_id
                    task = self._runs[run_id] = runs.create_task(self._perform(request))
                    task.add_done_callback(partial(self._done, run_id))
            case Cancel(run_id):
                self._cancel(run_id)
            case Refused(run_id, error):
                self._end(run_id, "error", error)
            case Dropped(reason):
                self._log.count(reason)
            case _ as never:
                assert_never(never)

    def _cancel(self, run_id: str) -> None:
        task = self._runs.get(run_id)
        if task is None:
            self._log.count("cancel without a run")  # it crossed the end, which the caller gets anyway
        elif run_id not in self._cancelled:
            self._cancelled.add(run_id)
            task.cancel()

    async def _perform(self, run: Run) -> str | None:
        """Perform a run and return its error."""
        try:
            async with self._slots:
                await self._family.perform(run, self._streams, self._options.normalized)
        except RunFailed as failed:
            return str(failed)
        except OutputLost:
            pass  # there is nobody to be told anything
        except Exception as defect:  # noqa: BLE001 - a defect of ours ends its run, and no other
            self._log.failed(run.id, defect)
            return f"internal error: {type(defect).__name__}; the runner's log says where"
        return None

    def _done(self, run_id: str, task: asyncio.Task[str | None]) -> None:
        # a callback of the task, since one that is cancelled before it began runs no code of its own
        del self._runs[run_id]
        self._resumed = {name: run for name, run in self._resumed.items() if run != run_id}
        self._cancelled.discard(run_id)
        if task.cancelled():
            self._end(run_id, "cancelled")
        elif (error := task.result()) is not None:
            self._end(run_id, "error", error)
        else:
            self._end(run_id, "ok")

    def _end(self, run_id: str, status: Status, error: str | None = None) -> None:
        self._streams.output.add(end_line(run_id, status, error))
