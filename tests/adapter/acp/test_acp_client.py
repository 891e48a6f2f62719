"""JSON-RPC with an agent over a transport that a test holds in its hands."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import pytest

from turnwire.adapter.acp.client import AcpClient, AgentError
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestTimeout
from turnwire.adapter.session.lines import MAX_POSTED
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.acp.messages import Batch, Notification, Request, Response
from turnwire.protocol.malformed import Malformed
from waiting import clock_that_jumps, until


class Wire:
    """A transport: tests say what the agent writes and see what it is told."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self.told: list[dict[str, Any]] = []
        self.gone = False
        self.blocked: asyncio.Event | None = None

    def says(self, *messages: object) -> None:
        lines = (json.dumps(message).encode() + b"\n" for message in messages)
        self.chunks.put_nowait(b"".join(lines))

    async def read(self) -> bytes:
        return await self.chunks.get()

    async def write(self, line: bytes) -> None:
        if self.blocked is not None:
            await self.blocked.wait()
        if self.gone:
            raise ProcessGone("it has gone")
        assert line.endswith(b"\n")
        self.told.append(json.loads(line))

    def close_input(self) -> None:
        self.gone = True


class Setup:
    """A client whose writer and reader run."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.sent: list[Sent] = []
        self.received: deque[Received] = deque()
        self.client = AcpClient(self.wire, on_sent=self.sent.append, line_limit=1000)

    async def read(self) -> None:
        async for batch in self.client.batches():
            self.received.extend(batch)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    made = Setup()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        writer = tasks.create_task(made.client.lines.write_posted())
        reader = tasks.create_task(made.read())
        yield made
        made.wire.chunks.put_nowait(b"")
        await reader
        writer.cancel()


async def test_an_answer_goes_to_the_request_whose_number_it_has(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(setup.client.request("a", {"x": 1}, 60))
        second = tasks.create_task(setup.client.request("b", {}, 60))
        await until(lambda: len(setup.wire.told) == 2)
        assert setup.wire.told[0] == {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"x": 1}}
        setup.wire.says(
            {"jsonrpc": "2.0", "id": 2, "result": "two"}, {"jsonrpc": "2.0", "id": 1, "result": {"n": 1}}
        )
    assert (first.result(), second.result()) == ({"n": 1}, "two")
    assert [item.message for item in setup.sent] == [Request(1, "a", {"x": 1}), Request(2, "b", {})]
    assert setup.sent[0].line == b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}'


async def test_answers_that_were_left_in_one_line_are_answers_each(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(setup.client.request("a", {}, 60))
        second = tasks.create_task(setup.client.request("b", {}, 60))
        await until(lambda: len(setup.wire.told) == 2)
        setup.wire.chunks.put_nowait(
            b'{"jsonrpc":"2.0","id":2,"result":"two"}{"jsonrpc":"2.0","id":1,"result":1}\n'
        )
    assert (first.result(), second.result()) == (1, "two")


async def test_a_request_is_given_up_by_no_machine_that_stood_still(setup: Setup) -> None:
    jump = clock_that_jumps()
    asked = asyncio.create_task(setup.client.request("a", {}, 10))
    await until(lambda: setup.wire.told)
    await jump(20)
    setup.wire.says({"jsonrpc": "2.0", "id": 1, "result": "late"})
    assert await asked == "late"


async def test_an_error_says_which_request_was_refused_and_keeps_its_code(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_refused(setup))
        await until(lambda: setup.wire.told)
        setup.wire.says({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "Log in"}})
    assert str(asked.result()) == "the agent refuses session/new: Log in (-32000)"
    assert (asked.result().code, asked.result().text) == (-32000, "Log in")


async def _refused(setup: Setup) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await setup.client.request("session/new", {}, 60)
    return caught.value


async def test_an_agent_that_does_not_answer_costs_its_deadline_and_its_late_answer_is_ignored(
    setup: Setup,
) -> None:
    with pytest.raises(RequestTimeout, match=r"did not answer slow within 0\.01 s"):
        await setup.client.request("slow", {}, 0.01)
    setup.wire.says({"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": "x", "result": {}})
    await until(lambda: len(setup.received) == 2)


async def test_a_second_answer_is_ignored(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(setup.client.request("a", {}, 60))
        await until(lambda: setup.wire.told)
        answer = {"jsonrpc": "2.0", "id": 1, "result": 1}
        setup.wire.says(answer, {**answer, "result": 2})
    await until(lambda: len(setup.received) == 2)
    assert asked.result() == 1


async def test_answers_in_a_batch_count(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(setup.client.request("a", {}, 60))
        await until(lambda: setup.wire.told)
        setup.wire.says([{"jsonrpc": "2.0", "id": 1, "result": 1}, {"jsonrpc": "2.0", "method": "m"}])
    assert asked.result() == 1
    assert [type(item.message) for item in setup.received] == [Batch]


async def test_requests_and_notifications_of_the_agent_are_received_and_answered_under_its_own_id(
    setup: Setup,
) -> None:
    setup.wire.says(
        {"id": "q-1", "method": "fs/read_text_file", "params": {}}, {"method": "note", "params": {}}
    )
    await until(lambda: len(setup.received) == 2)
    assert [type(item.message) for item in setup.received] == [Request, Notification]
    await setup.client.respond("q-1", {"content": "x"})
    await setup.client.refuse(7, -32601, "no")
    await setup.client.notify("session/cancel", {"sessionId": "s"})
    assert setup.wire.told == [
        {"jsonrpc": "2.0", "id": "q-1", "result": {"content": "x"}},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "no"}},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}},
    ]
    assert isinstance(setup.sent[0].message, Response)


async def test_garbage_and_long_lines_are_received_as_malformed_and_the_stream_goes_on(setup: Setup) -> None:
    setup.wire.chunks.put_nowait(b"no json\n" + b"x" * 2000 + b"\n\n\n\n")
    setup.wire.says({"method": "note"})
    await until(lambda: len(setup.received) == 4)
    assert [type(item.message) for item in setup.received] == [Malformed, Malformed, Malformed, Notification]
    assert setup.client.lines.blank == 2


async def test_when_the_agent_is_gone_what_waits_and_what_is_asked_later_fails(setup: Setup) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_gone(setup))
        await until(lambda: setup.wire.told)
        setup.client.give_up(ProcessGone("it has exited"))
    assert asked.result() == "it has exited"
    assert await _gone(setup) == "it has exited"


async def _gone(setup: Setup) -> str:
    with pytest.raises(ProcessGone) as caught:
        await setup.client.request("a", {}, None)
    return str(caught.value)


async def test_an_agent_that_takes_no_answers_is_read_no_further_until_it_does(setup: Setup) -> None:
    setup.wire.blocked = asyncio.Event()
    for number in range(MAX_POSTED):
        setup.client.respond(number, {})
    setup.wire.says({"method": "first"})
    setup.wire.says({"method": "second"})
    await until(lambda: len(setup.received) == 1)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(setup.received) == 1
    setup.wire.blocked.set()
    await until(lambda: len(setup.received) == 2)
