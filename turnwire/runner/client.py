"""Many runs over one runner process, each an async iterator.

    async with RunnerClient(["turnwire", "runner"]) as runner:
        async for event in await runner.run(model="…", message={…}, rate_limit_max_retries=1):
            ...

A runner that dies ends its runs with RunError, and the next run starts another. Events wait in memory for whoever
iterates; when all together are too many, the runner is no longer read, and slows down. An iterator that is left lets
its run go on, but nothing waits for it any more.
"""

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import msgspec

from turnwire._runtime.task_owner import TaskOwner
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.framing import LineFramer
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.parsing import generic
from turnwire.runner.runner_lines import (
    Diag,
    End,
    Event,
    Fatal,
    Status,
    cancel_line,
    read_note,
    read_output,
    run_line,
)

log = logging.getLogger(__name__)

AHEAD = 64 * 1024 * 1024
"""Bytes of events that may wait for their iterators before the runner is no longer read."""

CHUNK = 1 << 18
STOP_DEADLINE = 10.0
"""Seconds that a runner has to end after its stdin was closed, before it is killed."""


class RunError(TurnwireError):
    """A run ended with an error; the text is the runner's."""


class ClientRun:
    """One run; iterate it once. If the iterator is left early, the run continues; `cancel` stops it."""

    def __init__(self, run_id: str, process: "_RunnerProcess") -> None:
        self.id = run_id
        self.status: Status | None = None
        """How it ended; None while it runs."""
        self.error: str | None = None
        """Why, when it ended with an error."""
        self.notes: list[Diag] = []
        """The runner's notes about it."""
        self._process = process
        self._waiting: deque[bytes] = deque()
        self._filled = asyncio.Event()
        self._is_iterated = False
        self.is_left = False
        """True once its events are no longer wanted."""

    @property
    def waits(self) -> int:
        """Bytes of events that wait to be iterated."""
        return sum(map(len, self._waiting))

    async def __aiter__(self) -> AsyncIterator[JsonObject]:
        """Yield the events until the end; a cancelled run just ends. Raises RunError, and RuntimeError the second time."""
        if self._is_iterated:
            raise RuntimeError("a run can be iterated only once; start another run")
        self._is_iterated = True
        try:
            while True:
                while self._waiting:
                    event = self._waiting.popleft()
                    self._process.taken(len(event))
                    yield _loaded(event)
                if self.status is not None:
                    break
                self._filled.clear()
                await self._filled.wait()
        finally:
            self.is_left = True
            self._process.taken(self.waits)
            self._waiting.clear()
        if self.status == "error":
            raise RunError(self.error or "error")

    async def cancel(self) -> None:
        """Stop the run. Its end still arrives."""
        if self.status is None:
            await self._process.write(cancel_line(self.id))

    def on_event(self, event: bytes) -> None:
        """Handle an event of the runner."""
        self._waiting.append(event)
        self._filled.set()

    def end(self, status: Status, error: str | None) -> None:
        """Handle the end."""
        self.status, self.error = status, error
        self._filled.set()


class _RunnerProcess:
    """A runner as long as it lives."""

    def __init__(
        self, process: asyncio.subprocess.Process, on_note: Callable[[Diag | Fatal], None], ahead: int
    ) -> None:
        self.process = process
        self._ahead = ahead
        self.runs: dict[str, ClientRun] = {}
        self._on_note = on_note
        self._last_words = ""
        self._held = 0
        self._room = asyncio.Event()
        self._room.set()
        self._tasks = TaskOwner()
        self._ending = self._tasks.begin("a runner's output", self._end())

    @property
    def is_alive(self) -> bool:
        return not self._ending.done() and self.process.returncode is None

    def taken(self, size: int) -> None:
        self._held -= size
        if self._held <= self._ahead:
            self._room.set()

    async def write(self, line: bytes) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(line)
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has died, which ends its runs

    async def close(self, deadline: float = STOP_DEADLINE) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._held = -(1 << 62)  # nobody iterates any more: read on, so that it can end
        self._room.set()
        try:
            async with asyncio.timeout(deadline):
                await asyncio.shield(self._ending)
        except TimeoutError:
            if self.process.returncode is None:
                self.process.kill()
            await self._ending

    async def _read_output(self) -> None:
        stdout, framer = self.process.stdout, LineFramer()
        assert stdout is not None
        while chunk := await stdout.read(CHUNK):
            for line in framer.feed(chunk):
                if isinstance(line, bytes):
                    self._take(line)
            await self._room.wait()

    def _take(self, line: bytes) -> None:
        try:
            message = read_output(line)
        except msgspec.DecodeError:
            return  # a foreign line belongs to none of our runs
        run = self.runs.get(message.id)
        if run is None:
            return
        match message:
            case Event() if run.is_left:
                pass
            case Event(event=event):
                self._held += len(bytes(event))
                if self._held > self._ahead:
                    self._room.clear()
                run.on_event(bytes(event))
            case End(status=status, error=error):
                del self.runs[message.id]
                run.end(status, error)

    async def _read_notes(self) -> None:
        stderr, framer = self.process.stderr, LineFramer()
        assert stderr is not None
        while chunk := await stderr.read(CHUNK):
            for line in framer.feed(chunk):
                if isinstance(line, bytes):
                    self._note(line)

    def _note(self, line: bytes) -> None:
        try:
            note = read_note(line)
        except msgspec.DecodeError:
            self._last_words = line.decode("utf-8", "replace")
            return
        if isinstance(note, Fatal):
            self._last_words = note.message
        elif note.id in self.runs:
            self.runs[note.id].notes.append(note)
        self._on_note(note)

    async def _end(self) -> None:
        try:
            async with asyncio.TaskGroup() as readers:
                readers.create_task(self._read_output())
                readers.create_task(self._read_notes())
        except* Exception as failed:
            # What it says is heard no more, so nothing of it may be waited for.
            log.exception("the runner's last output could not be read")
            self._last_words = f"reading what it says failed: {failed.exceptions[0]!r}"
            if self.process.returncode is None:
                self.process.kill()
        code = await self.process.wait()
        error = f"the runner has ended (exit {code}){f': {self._last_words}' if self._last_words else ''}"
        for run in self.runs.values():
            run.end("error", error)
        self.runs.clear()


class RunnerClient:
    """Starts a runner when one is needed, and speaks to it."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        on_note: Callable[[Diag | Fatal], None] = lambda _: None,
        ahead: int = AHEAD,
    ) -> None:
        """Make a client of the runner that `argv` starts; `ahead` bytes of events may wait for their iterators."""
        self._ahead = ahead
        self._argv = tuple(argv)
        self._env = env
        self._cwd = cwd
        self._on_note = on_note
        self._ids = itertools.count(1)
        self._process: _RunnerProcess | None = None
        self._starting = asyncio.Lock()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The runner's process id; None while there is none."""
        return self._process.process.pid if self._process is not None and self._process.is_alive else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the runner's stdin. It finishes its runs, or is killed after a while; after an error at once."""
        self._is_closed = True
        if self._process is not None:
            await self._process.close(0.0 if kind is not None else STOP_DEADLINE)

    async def run(self, **params: object) -> ClientRun:
        """Start a run with these params (turnwire.runner.runner_lines.RunParams).

        Raises OSError when no runner can be started, TypeError for a value that is none of JSON, and RunError once the context was left.
        """
        run_id = str(next(self._ids))
        line = run_line(run_id, params)
        process = await self._alive()
        run = process.runs[run_id] = ClientRun(run_id, process)
        await process.write(line)
        return run

    async def _alive(self) -> _RunnerProcess:
        async with self._starting:
            if self._is_closed:  # nobody would end another runner
                raise RunError("the client was closed: make another one for more runs")
            if self._process is None or not self._process.is_alive:
                if self._process is not None:
                    await self._process.close()
                self._process = _RunnerProcess(
                    await asyncio.create_subprocess_exec(
                        *self._argv,
                        cwd=self._cwd,
                        env=dict(self._env) if self._env is not None else None,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=asyncio.subprocess.PIPE,
                    ),
                    self._on_note,
                    self._ahead,
                )
            return self._process


def _loaded(event: bytes) -> JsonObject:
    try:
        value = msgspec.json.decode(event)
    except ValueError:
        value = generic.load(event)
    return value if isinstance(value, dict) else {"value": value}
