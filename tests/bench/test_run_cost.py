"""What a line of a run takes, counted: from the chunk that an agent wrote to the bytes that the runner writes.

As in tests/bench/test_translate_cost.py: seconds are for `python bench/bench_runner.py`, and what is counted here may grow by a
seventh before somebody has to say why.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import cast

import pytest
from runner_harness import RESULT, request

from recordings import ROOT
from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.family import Opener
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.process.transport import Transport
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.normalize.core import Core
from turnwire.normalize.inputs import Ended
from turnwire.protocol.json_values import JsonObject
from turnwire.runner.claude_runs import claude_runs
from turnwire.runner.family import Streams
from turnwire.runner.output import Output
from turnwire.runner.runner_lines import ClaudeParams, Run, read_request

PER_LINE = {"as they come": 20.9, "normalized": 36.4}
"""Calls a line: of Python's functions and of C's, with CPython 3.11."""

MARGIN = 1.15
LINES = 8000
CHUNK = 1 << 16


@cache
def chunks() -> list[bytes]:
    """What an agent writes: pieces of a stream and messages of a recording over and over, then a result."""
    path = ROOT / "fixtures" / "2.1.330" / "partial-messages" / "stdout.jsonl"
    recorded = [line for line in path.read_bytes().splitlines() if b'"type":"result"' not in line]
    lines = (recorded * (LINES // len(recorded) + 1))[: LINES - 1]
    said = b"".join(line + b"\n" for line in (*lines, RESULT))
    return [said[start : start + CHUNK] for start in range(0, len(said), CHUNK)]


class Played:
    """A process that writes chunks."""

    def __init__(self, said: list[bytes]) -> None:
        self._said = iter(said)

    async def read(self) -> bytes:
        return next(self._said, b"")


class Written:
    """An output of the runner."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def add(self, lines: bytes) -> None:
        self.lines.append(lines)

    async def put(self, lines: bytes) -> None:
        self.lines.append(lines)


class ToInbox:
    """A session's output, with nobody to respond to."""

    def __init__(self, inbox: Inbox) -> None:
        self.publish = inbox.put
        self.failed = inbox.fail

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None: ...
    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None: ...


class Agent:
    """A session without a process."""

    def __init__(self, inbox: Inbox) -> None:
        self.batches = inbox.batches
        self.has_exited = False
        self.initialized: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self.initialized.set_result({})

    async def say(self, words: bytes) -> None: ...
    async def stop(self) -> None: ...
    def close_input(self) -> None: ...


@asynccontextmanager
async def opened(options: SessionOptions, *, core: Core, **_: object) -> AsyncIterator[Agent]:
    """Make what adapter/claude/opening.py makes, of chunks."""
    client = ClaudeClient(cast(Transport, Played(chunks())), on_sent=lambda _: None)
    inbox = Inbox(options.ahead)
    async with asyncio.TaskGroup() as tasks:
        executor = SessionExecutor(
            SessionCore(core, ClaudeWire(), State(PermissionSettings(auto_deny_as="runner"))),
            ToInbox(inbox),
            tasks=tasks,
            workspace=Path(),
            environment={},
            notify=lambda _: None,
        )

        async def read() -> None:
            async for batch in client.batches():
                executor.receive(batch, lambda _: None)
                await inbox.room()
            executor.handle(Ended("exited", 0))

        tasks.create_task(read())
        yield Agent(inbox)


async def perform(*, normalized: bool) -> bytes:
    run = read_request(request("a"), ClaudeParams)
    assert isinstance(run, Run)
    output = Written()
    streams = Streams(cast(Output, output), cast(Output, Written()), lambda: 0.0)
    await claude_runs(("claude",), (), cast(Opener, opened), None).perform(run, streams, normalized)
    return b"".join(output.lines)


@pytest.mark.parametrize("mode", PER_LINE)
def test_a_line_of_a_run_takes_no_more_calls_than_it_did(mode: str) -> None:
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    written = asyncio.run(perform(normalized=mode == "normalized"))  # imports, too
    if mode == "as they come":
        said = b"".join(chunks()).splitlines()
        assert written.splitlines() == [b'{"type":"event","id":"a","event":' + line + b"}" for line in said]
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        asyncio.run(perform(normalized=mode == "normalized"))
    finally:
        sys.setprofile(before)
    each = count / LINES
    assert each <= PER_LINE[mode] * MARGIN, f"{each:.1f} calls a line; bench/bench_runner.py tells the cost"
