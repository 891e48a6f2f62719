"""The client layer in another dialect: what the agent has no word for is answered in its place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.claude.messages import User, UserBody
from turnwire.protocol.claude.requests import GetStatus, Initialize, Interrupt, SetModel
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects import JSON_RPC, MIRIAD, Dialect
from waiting import until


class Wire:
    """A transport: tests say what the agent writes and see what it is told."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self.told: list[bytes] = []

    async def read(self) -> bytes:
        return await self.chunks.get()

    async def write(self, line: bytes) -> None:
        self.told.append(line)

    def close_input(self) -> None:
        """Nothing follows."""


class Setup:
    def __init__(self, dialect: Dialect) -> None:
        self.wire = Wire()
        self.sent: list[Sent] = []
        self.heard: list[Received] = []
        self.client = ClaudeClient(
            self.wire, on_sent=self.sent.append, on_answered=self.heard.append, peer=dialect.host()
        )

    async def read(self) -> None:
        async for batch in self.client.batches():
            self.heard += batch


@asynccontextmanager
async def client(dialect: Dialect) -> AsyncIterator[Setup]:
    setup = Setup(dialect)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(setup.client.write_posted()), tasks.create_task(setup.read())]
        yield setup
        for task in running:
            task.cancel()


async def test_what_the_dialect_answers_is_sent_and_received_and_never_written() -> None:
    async with client(MIRIAD) as setup:
        assert await setup.client.request(Initialize(), 5) == {}
        with pytest.raises(RequestFailed, match="the miriad dialect has no set_model"):
            await setup.client.request(SetModel(model="x"), 5)
        assert await setup.client.request(Interrupt(), 5) == {}
        assert setup.wire.told == [b'{"type":"control","action":"interrupt"}\n']
        assert [sent.line[:25] for sent in setup.sent] == [b'{"type":"control_request"'] * 3
        assert [received.line[:26] for received in setup.heard] == [b'{"type":"control_response"'] * 3


async def test_a_line_that_says_two_things_is_received_once_as_it_came() -> None:
    async with client(MIRIAD) as setup:
        line = b'{"type":"system","subtype":"status","running":false,"queued_messages":0}'
        status = asyncio.create_task(setup.client.request(GetStatus(), 5))
        await until(lambda: setup.wire.told)
        setup.wire.chunks.put_nowait(line + b"\n")
        assert await status == {"running": False, "queued_messages": 0}
        assert [received.line == line for received in setup.heard] == [True, False]


async def test_envelopes_are_put_on_and_taken_off() -> None:
    async with client(JSON_RPC) as setup:
        await setup.client.send(User(message=UserBody(content="hi"), uuid="u"))
        assert setup.wire.told[0].startswith(b'{"jsonrpc":"2.0","id":1,"method":"run"')
        assert b'"uuid":"u"' in setup.sent[0].line
        setup.wire.chunks.put_nowait(b'{"jsonrpc":"2.0","id":1,"result":{"result":"ok"}}\n')
        await until(lambda: setup.heard)
        (received,) = setup.heard
        assert isinstance(received.message, Result)
        assert received.line.startswith(b'{"jsonrpc"')
