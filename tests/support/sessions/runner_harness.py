"""A runner in the test's own process, with agents that play lists of steps instead of CLIs."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from turnwire.adapter.family import Opener
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.inputs import Ended, Received, Sent, SessionInput
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.json_values import JsonObject
from turnwire.runner.claude_runs import GO_ON, claude_runs
from turnwire.runner.family import RunFamily
from turnwire.runner.log_file import RunnerLogFile
from turnwire.runner.output import Output
from turnwire.runner.server import Runner, RunnerOptions

JSON = dict[str, Any]
DEADLINE = 120.0
SESSION = "5e551011-0000-4000-8000-000000000000"

INIT = json.dumps({"type": "system", "subtype": "init", "session_id": SESSION, "model": "m"}).encode()
RESULT = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "ok"}).encode()


def said(text: str) -> bytes:
    """A line of an assistant."""
    message = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": text}], "model": "m"}
    return json.dumps({"type": "assistant", "message": message, "uuid": text, "session_id": SESSION}).encode()


def limited(resets_at: float, status: str = "rejected") -> bytes:
    """A rate limit."""
    limit = {"status": status, "resetsAt": resets_at, "rateLimitType": "five_hour"}
    return json.dumps({"type": "rate_limit_event", "rate_limit_info": limit, "session_id": SESSION}).encode()


class Hang:
    """A step that never ends."""


@dataclass(frozen=True)
class Fails:
    """A step: the CLI ends here, in this way."""

    ended: Ended


Step = bytes | Hang | Fails


@dataclass(frozen=True)
class Start:
    """What a run starts a CLI with."""

    model: str | None
    resume: str | None
    goes_on: bool


class ScriptedAgent:
    """A session that plays steps: bytes are lines that the CLI writes, each in a batch of its own."""

    def __init__(
        self, steps: Sequence[Step], start: Start, answers: dict[str, list[JsonObject]], core: Core
    ) -> None:
        self.start = start
        self.heard: list[bytes] = []
        self.closed = False
        self.stopped = False
        self.has_exited = False
        self.given = 0
        self.initialized: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self.initialized.set_result({})
        self._steps = iter(steps)
        self._answers = answers
        self._core = core
        self._told: list[InputWithEvents] = []
        self._stop = asyncio.Event()

    async def batches(self) -> AsyncIterator[list[InputWithEvents]]:
        ended = Ended("exited", 0)
        for step in self._steps:
            if isinstance(step, Hang) and not self._stop.is_set():
                await self._stop.wait()
            if self._stop.is_set():
                break
            if isinstance(step, Fails):
                ended = step.ended
                break
            assert isinstance(step, bytes)
            await asyncio.sleep(0)
            self.given += 1
            self._handle(Received(step, decode(step)))
            told, self._told = self._told, []
            yield told
        self._handle(Ended("stopped") if self._stop.is_set() else ended)
        yield self._told

    async def say(self, words: bytes) -> None:
        self.heard.append(words)
        self._handle(Sent(words, decode(words)))

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:  # noqa: ARG002 - answers at once
        answers = self._answers.get(str(request["subtype"]), [{}])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def close_input(self) -> None:
        self.closed = True

    async def stop(self, reason: str = "stopped") -> None:  # noqa: ARG002 - an AgentSession's
        self._stop.set()

    def _handle(self, happened: SessionInput) -> None:
        self._told.append(InputWithEvents(happened, self._core.handle(happened)))


@dataclass
class Agents:
    """Opens sessions with CLIs that play what `script` says."""

    script: Callable[[Start, int], Sequence[Step]]
    """What the agent plays that is the n-th of all (from 0)."""
    answers: dict[str, list[JsonObject]] = field(default_factory=dict)
    refuse: str | None = None
    started: list[ScriptedAgent] = field(default_factory=list)

    @asynccontextmanager
    async def open(
        self, options: SessionOptions, *, core: Core | None = None, **_: object
    ) -> AsyncIterator[ScriptedAgent]:
        if self.refuse is not None:
            raise ProgramNotFound(self.refuse)
        start = Start(options.command.model, options.command.resume, GO_ON in options.environment)
        assert core is not None
        agent = ScriptedAgent(self.script(start, len(self.started)), start, self.answers, core)
        self.started.append(agent)
        try:
            yield agent
        finally:
            agent.stopped = True

    def runs(self, **deadlines: Any) -> RunFamily:
        """The runs of these agents."""
        return claude_runs(("claude",), (), cast("Opener", self.open), None, **deadlines)


class Log(RunnerLogFile):
    """Remembers the counts."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[str] = []
        self.failures: list[Exception] = []

    def count(self, what: str) -> None:
        self.counts.append(what)

    def failed(self, run_id: str, error: Exception) -> None:  # noqa: ARG002 - one run each test
        self.failures.append(error)


def request(run_id: str, **params: object) -> bytes:
    """A run request that is good unless `params` make it bad."""
    message = {"type": "user", "message": {"role": "user", "content": "hi"}}
    whole = {"model": "m", "message": message, "rate_limit_max_retries": 0, **params}
    return json.dumps({"type": "run", "id": run_id, "params": whole}).encode() + b"\n"


def cancel(run_id: str) -> bytes:
    """A cancel request."""
    return json.dumps({"type": "cancel", "id": run_id}).encode() + b"\n"


class Caller:
    """The other side of a runner."""

    def __init__(self, runner: Runner, output_fd: int, notes_fd: int, log: Log) -> None:
        self.log = log
        self.runner = runner
        self._requests: asyncio.Queue[bytes] = asyncio.Queue()
        self._fds = (output_fd, notes_fd)
        self.lines: list[bytes] = []
        self.notes: list[bytes] = []

    def send(self, *lines: bytes) -> None:
        """Write requests."""
        self._requests.put_nowait(b"".join(lines))

    @property
    def waiting(self) -> int:
        """Requests that the runner has not taken yet."""
        return self._requests.qsize()

    def close(self) -> None:
        """End stdin."""
        self._requests.put_nowait(b"")

    async def chunks(self) -> AsyncIterator[bytes]:
        while chunk := await self._requests.get():
            yield chunk

    async def read(self) -> None:
        """Read both streams to their ends."""
        async with asyncio.timeout(DEADLINE):
            self.lines, self.notes = await asyncio.gather(
                *(asyncio.to_thread(_read_all, fd) for fd in self._fds)
            )

    def said(self) -> list[JSON]:
        return [json.loads(line) for line in self.lines]

    def diags(self) -> list[JSON]:
        return [json.loads(line) for line in self.notes]

    def ends(self) -> dict[str, JSON]:
        """The end of each run; fails when one has two."""
        ends = [line for line in self.said() if line["type"] == "end"]
        assert len({end["id"] for end in ends}) == len(ends), ends
        return {end["id"]: end for end in ends}

    def events(self, run_id: str) -> list[JSON]:
        return [line["event"] for line in self.said() if line["type"] == "event" and line["id"] == run_id]


def _read_all(fd: int) -> list[bytes]:
    with os.fdopen(fd, "rb") as file:
        return file.read().split(b"\n")[:-1]


@asynccontextmanager
async def serving(
    agents: Agents | RunFamily, options: RunnerOptions | None = None, now: float = 1000.0
) -> AsyncIterator[tuple[Caller, asyncio.Task[None]]]:
    """Serve while the context is open; its output is closed once `serve` returns."""
    (out_read, out_write), (note_read, note_write) = os.pipe(), os.pipe()
    output, notes, log = Output(out_write), Output(note_write), Log()
    family = agents if isinstance(agents, RunFamily) else agents.runs()
    runner = Runner(family, output, notes, log=log, options=options, now=lambda: now)
    caller = Caller(runner, out_read, note_read, log)

    async def serve() -> None:
        try:
            await runner.serve(caller.chunks())
        finally:
            await asyncio.gather(output.flush(), notes.flush(), return_exceptions=True)
            os.close(out_write)
            os.close(note_write)

    task = asyncio.create_task(serve())
    try:
        yield caller, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def served(
    agents: Agents | RunFamily, *lines: bytes, options: RunnerOptions | None = None, now: float = 1000.0
) -> Caller:
    """Send requests, end stdin, and return what the runner said."""
    async with asyncio.timeout(DEADLINE), serving(agents, options, now) as (caller, task):
        caller.send(*lines)
        caller.close()
        await caller.read()
        await task
    return caller
