"""Is a turn running, and is it silent?"""

import asyncio
from pathlib import Path

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.notices import SessionNotice
from turnwire.adapter.session.turns import TurnWatch as Watch
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.claude.blocks import TextBlock
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, StreamEvent, User, UserBody
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.stream import MessageStart, StartedMessage
from turnwire.protocol.claude.system import Init, Status
from waiting import clock_that_jumps, until

STREAMED = StreamEvent(event=MessageStart(message=StartedMessage(id="m")))
SAID = Assistant(message=AssistantBody(id="m", content=[TextBlock(text="hello")]))


class TurnWatch(Watch):
    """The watch of a session that is told what happens."""

    def __init__(self) -> None:
        self.core = SessionCore(ClaudeCore(), ClaudeWire(), State(PermissionSettings()))
        super().__init__(self.core)

    def prompted(self) -> None:
        self.core.handle(Sent(b"", User(message=UserBody(content="hi"))), 0)
        self.changed()

    def received(self, message: Message) -> None:
        self.core.handle(Received(b"", message), 0)
        self.changed()


async def test_a_turn_runs_from_a_prompt_or_a_line_of_its_own_to_its_result() -> None:
    turns = TurnWatch()
    seen = [turns.busy]
    turns.prompted()
    seen.append(turns.busy)
    for message in (Result(), Init(), Result(), STREAMED, Result(), SAID, Result()):
        turns.received(message)
        seen.append(turns.busy)
    assert seen == [False, True, False, True, False, True, False, True, False]


async def test_what_is_heard_of_background_subagents_is_no_turn() -> None:
    turns = TurnWatch()
    turns.received(Assistant(parent_tool_use_id="t1"))
    turns.received(Status())
    assert not turns.busy


async def test_the_end_of_a_turn_can_be_waited_for() -> None:
    turns = TurnWatch()
    assert await turns.over_within(0, turns.running)
    turns.prompted()
    assert not await turns.over_within(0.01, turns.running)
    waiting = asyncio.create_task(turns.over_within(20, turns.running))
    await asyncio.sleep(0)
    turns.received(Result())
    assert await waiting


async def test_a_turn_is_over_also_when_the_next_one_has_begun_in_the_same_chunk() -> None:
    turns = TurnWatch()
    turns.prompted()
    turn = turns.running
    waiting = asyncio.create_task(turns.over_within(20, turn))
    await asyncio.sleep(0)
    turns.received(Result())
    turns.received(Init())
    assert await waiting
    assert turns.busy
    assert await turns.over_within(0, turn), "however late it is asked about"
    assert not await turns.over_within(0.01, turns.running)


async def test_a_turn_is_over_also_when_the_next_one_has_begun_before_anybody_waits() -> None:
    turns = TurnWatch()
    turns.prompted()
    turn = turns.running
    turns.received(Result())
    turns.received(Init())
    assert await turns.over_within(0, turn)
    assert turns.busy


async def test_silence_is_told_once_and_anew_after_something_was_said() -> None:
    turns, told = TurnWatch(), list[float]()
    watch = asyncio.create_task(turns.watch(0.02, lambda: False, told.append))
    assert not told
    turns.prompted()
    await until(lambda: told)
    assert told[0] >= 0.02
    assert not await turns.over_within(0.1, turns.running)
    assert len(told) == 1
    turns.received(Status())
    await until(lambda: len(told) == 2)
    watch.cancel()


async def test_the_first_line_after_a_silence_that_was_told_ends_it() -> None:
    turns, notices = TurnWatch(), list[SessionNotice]()
    watch = asyncio.create_task(turns.report(0.02, lambda: False, notices.append))
    turns.prompted()
    turns.received(Status())
    assert notices == [], "nothing was told, so nothing is over"
    await until(lambda: notices)
    assert [notice.code for notice in notices] == ["stalled"]
    assert (notices[0].silent_ms or 0) >= 20
    turns.changed(heard=False)
    assert len(notices) == 1, "what we say is no sign of its life"
    turns.received(Status())
    assert notices[1].code == "spoke"
    turns.received(Status())
    assert [notice.code for notice in notices[:3]].count("spoke") == 1
    watch.cancel()


async def test_a_machine_that_stood_still_is_no_silence_of_the_agent() -> None:
    jump = clock_that_jumps()
    turns, told = TurnWatch(), list[float]()
    watch = asyncio.create_task(turns.watch(60, lambda: False, told.append))
    turns.prompted()
    for _ in range(3):
        await jump(0)
        await jump(3600)
        assert told == []
    watch.cancel()
    over = asyncio.create_task(turns.over_within(60, turns.running))
    await jump(0)
    await jump(3600)
    assert not over.done()
    over.cancel()


async def test_waiting_for_a_human_is_no_silence_and_does_not_count_as_one_afterwards() -> None:
    loop, turns, told, waits = asyncio.get_running_loop(), TurnWatch(), list[float](), True
    watch = asyncio.create_task(turns.watch(0.2, lambda: waits, told.append))
    turns.prompted()
    began = loop.time()
    assert not await turns.over_within(0.6, turns.running)
    assert told == []
    waits = False
    await until(lambda: told)
    assert told[0] < loop.time() - began - 0.3, "the time of waiting was not counted"
    watch.cancel()


async def test_the_time_before_a_prompt_is_no_silence_of_its_turn(tmp_path: Path) -> None:
    class Nowhere:
        def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None: ...
        def publish(self, batch: list[InputWithEvents]) -> None: ...

        def on_asked(self, request: AgentRequest | UnreadableRequest) -> None: ...
        def failed(self, error: Exception) -> None:
            raise error

    told = list[float]()
    async with asyncio.TaskGroup() as tasks:
        core = SessionCore(ClaudeCore(), ClaudeWire(), State(PermissionSettings()))
        executor = SessionExecutor(
            core, Nowhere(), tasks=tasks, workspace=tmp_path, environment={}, notify=lambda _: None
        )
        executor.turns._heard -= 1000
        watch = tasks.create_task(executor.turns.watch(600, lambda: False, told.append))
        executor.handle(Sent(b"", User(message=UserBody(content="hi"))))
        for _ in range(5):
            await asyncio.sleep(0)
        watch.cancel()
    assert executor.turns.busy
    assert told == []
