"""Lines of an agent in batches: what follows is what follows of each line alone, in the same order."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from recordings import ROOT
from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.events import AgentEvent, ProcessStatus
from turnwire.normalize.inputs import Announced, Ended, Message, Received, Sent
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User, UserBody
from waiting import clock_that_jumps, until

SLICE = 7
UNASKED = PermissionSettings(auto_deny_as="runner", policy=None)

Step: TypeAlias = tuple[str, object]


class Told:
    """An output that notes what it is told, in order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.batches: list[int] = []

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        self.steps.append(("respond", (request.request_id, reply)))

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        self.steps.append(("asked", request.request_id))

    def publish(self, batch: list[InputWithEvents]) -> None:
        self.batches.append(len(batch))
        self.steps += [("happened", happened) for happened in batch]

    def failed(self, error: Exception) -> None:
        self.steps.append(("failed", str(error)))


@asynccontextmanager
async def executor_of(
    told: Told,
    tmp_path: Path,
    core: Core | None = None,
    settings: PermissionSettings = UNASKED,
) -> AsyncIterator[SessionExecutor]:
    async with asyncio.TaskGroup() as tasks:
        yield SessionExecutor(
            SessionCore(core or ClaudeCore(), ClaudeWire(), State(settings)),
            told,
            tasks=tasks,
            workspace=tmp_path,
            environment={},
            notify=lambda _: None,
        )


def received(*lines: bytes) -> list[Received]:
    return [Received(line, decode(line)) for line in lines]


def delta(text: str) -> bytes:
    return (
        b'{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"' + text.encode() + b'"}}}'
    )


ASKS = (
    b'{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash",'
    b'"input":{"command":"ls"},"tool_use_id":"t1"}}'
)


def recorded(name: str) -> list[Received]:
    path = ROOT / "fixtures" / "2.1.330" / name / "stdout.jsonl"
    return received(*(line for line in path.read_bytes().split(b"\n") if line))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(lambda: recorded("partial-messages"), id="partial messages"),
        pytest.param(lambda: recorded("perm-deny-interrupt"), id="a denial"),
        pytest.param(
            lambda: received(delta("a"), delta("b"), ASKS, b"no json", b"", ASKS, delta("c")), id="requests"
        ),
    ],
)
async def test_a_batch_gives_what_its_lines_give_one_by_one(
    lines: Callable[[], list[Received]], tmp_path: Path
) -> None:
    each, together, beside = Told(), Told(), list[Received]()
    async with executor_of(each, tmp_path) as executor:
        for one in lines():
            executor.handle(one)
        executor.handle(Ended("exited", 0))
    async with executor_of(together, tmp_path) as executor:
        whole = lines()
        for start in range(0, len(whole), SLICE):
            executor.receive(whole[start : start + SLICE], beside.append)
        executor.handle(Ended("exited", 0))
    assert together.steps == each.steps
    assert beside == lines()
    assert len(together.batches) < len(each.batches)


async def test_time_in_which_the_machine_stood_still_takes_nobody_s_time_to_answer(tmp_path: Path) -> None:
    told, jump = Told(), clock_that_jumps()

    def answered() -> bool:
        return any(kind == "respond" for kind, _ in told.steps)

    settings = PermissionSettings(answer_timeout=1.2, policy=None)
    async with executor_of(told, tmp_path, settings=settings) as executor:
        executor.receive(received(ASKS), lambda _: None)
        await jump(3600)
        assert not answered()
        await until(answered)
        executor.receive(received(ASKS.replace(b"r1", b"r2")), lambda _: None)
        executor.handle(Ended("exited", 0))
        assert not executor._timers, "what is void is waited for no more"


async def test_lines_from_which_only_events_follow_are_told_at_once_and_what_is_asked_right_away(
    tmp_path: Path,
) -> None:
    told = Told()
    answered_before = list[bool]()

    def beside(_: Received) -> None:
        answered_before.append(any(kind == "respond" for kind, _ in told.steps))

    async with executor_of(told, tmp_path) as executor:
        executor.receive(received(delta("a"), delta("b"), ASKS, delta("c"), delta("d")), beside)
    assert [kind for kind, _ in told.steps][:3] == ["happened"] * 3
    assert answered_before == [False, False, True, True, True]
    assert told.batches[-1] == 2


async def test_what_happens_beside_a_line_is_told_behind_it(tmp_path: Path) -> None:
    told = Told()
    announced = Announced(ProcessStatus(state="started"))
    async with executor_of(told, tmp_path) as executor:

        def beside(line: Received) -> None:
            if line.line == delta("b"):
                executor.handle(announced)

        lines = received(delta("a"), delta("b"), delta("c"))
        executor.receive(lines, beside)
    inputs = [step.input for _, step in told.steps if isinstance(step, InputWithEvents)]
    assert inputs == [lines[0], lines[1], announced, lines[2]]


class Breaks(ClaudeCore):
    """Cannot take a certain line."""

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        if line == delta("b"):
            raise ValueError("broken")
        return super().receive(message, line)


async def test_what_came_before_a_line_that_breaks_the_core_is_told_and_nothing_after_it(
    tmp_path: Path,
) -> None:
    told, beside = Told(), list[Received]()
    lines = received(delta("a"), delta("b"), delta("c"))
    async with executor_of(told, tmp_path, Breaks()) as executor:
        executor.receive(lines, beside.append)
        executor.receive(lines, beside.append)
    assert [kind for kind, _ in told.steps] == ["happened", "failed"]
    assert beside == [*lines, *lines]


async def test_a_turn_that_ends_and_one_that_begins_in_the_same_batch_are_both_seen(tmp_path: Path) -> None:
    told = Told()
    async with executor_of(told, tmp_path) as executor:
        executor.handle(Sent(b"", User(message=UserBody(content="hi"))))
        first = executor.turns.running
        over = asyncio.create_task(executor.turns.over(first))
        await asyncio.sleep(0)
        result = b'{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}'
        executor.receive(received(delta("a"), result, delta("b")), lambda _: None)
        await asyncio.wait_for(over, 60)
    assert first is not None
