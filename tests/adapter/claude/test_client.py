"""The client layer over a transport that a test holds in its hands."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

import pytest

from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.lines import MAX_POSTED
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.claude.control import ControlResponse
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError
from turnwire.protocol.claude.messages import Unknown, User, UserBody
from turnwire.protocol.claude.notices import KeepAlive
from turnwire.protocol.claude.requests import Interrupt, SetPermissionMode
from turnwire.protocol.framing import SLICE_LINES
from turnwire.protocol.malformed import Malformed
from waiting import clock_that_jumps, until


class Wire:
    """A transport: tests say what the CLI writes and see what it is told."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue()
        for chunk in chunks:
            self.chunks.put_nowait(chunk)
        self.told: list[bytes] = []
        self.gone = False
        self.blocked: asyncio.Event | None = None

    async def read(self) -> bytes:
        return await self.chunks.get()

    async def write(self, line: bytes) -> None:
        if self.blocked is not None:
            await self.blocked.wait()
        if self.gone:
            raise ProcessGone("it has gone")
        self.told.append(line)

    def close_input(self) -> None:
        self.gone = True


class Setup:
    """A client whose writer and reader run."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.sent: list[Sent] = []
        self.received: deque[Received] = deque()
        self.client = ClaudeClient(wire, on_sent=self.sent.append, line_limit=1000)

    async def read(self) -> None:
        async for batch in self.client.batches():
            self.received.extend(batch)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    made = Setup(Wire())
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        writer = tasks.create_task(made.client.write_posted())
        reader = tasks.create_task(made.read())
        yield made
        made.wire.chunks.put_nowait(b"")
        await reader
        writer.cancel()


def prompt(text: str) -> User:
    return User(message=UserBody(content=text))


async def batches(*chunks: bytes) -> list[list[Received]]:
    client = ClaudeClient(Wire(*chunks, b""), on_sent=lambda _: None, line_limit=1000)
    return [batch async for batch in client.batches()]


async def test_each_chunk_gives_one_batch_with_the_lines_it_completes() -> None:
    found = await batches(b'{"type":"a"}\n{"type":"b"}\n{"ty', b'pe":"c"}\n', b"")
    assert [[one.line for one in batch] for batch in found] == [
        [b'{"type":"a"}', b'{"type":"b"}'],
        [b'{"type":"c"}'],
    ]
    assert all(isinstance(one.message, Unknown) for batch in found for one in batch)


async def test_no_line_is_lost_be_it_blank_broken_too_long_or_without_a_newline() -> None:
    found = [
        one for batch in await batches(b"\n{nonsense\n" + b"x" * 2000 + b'\n{"type":"z"}') for one in batch
    ]
    assert [type(one.message) for one in found] == [Malformed, Malformed, Malformed, Unknown]
    assert found[-1].line == b'{"type":"z"}'


async def test_messages_that_two_writers_left_in_one_line_are_received_each() -> None:
    (found,) = await batches(b'{"type":"a"}{"type":"keep_alive"} {"type":"b"}{"type"\n')
    assert [one.line for one in found] == [
        b'{"type":"a"}',
        b'{"type":"keep_alive"}',
        b'{"type":"b"}',
        b'{"type"',
    ]
    assert [type(one.message) for one in found] == [Unknown, KeepAlive, Unknown, Malformed]


async def test_a_request_gets_its_answer_among_other_lines(setup: Setup) -> None:
    asked = asyncio.create_task(setup.client.request(Interrupt(), 5))
    await until(lambda: setup.wire.told)
    request = decode(setup.wire.told[0])
    setup.wire.chunks.put_nowait(
        b'{"type":"keep_alive"}\n{"type":"control_response","response":{"subtype":"success","request_id":"'
        + request.request_id.encode()  # type: ignore[union-attr]
        + b'","response":{"still_queued":[]}}}\n'
    )
    assert await asked == {"still_queued": []}
    assert [type(one.message) for one in setup.received] == [KeepAlive, ControlResponse]


async def test_an_error_is_raised_with_the_words_of_the_cli(setup: Setup) -> None:
    asked = asyncio.create_task(setup.client.request(SetPermissionMode(mode="x"), 5))
    await until(lambda: setup.wire.told)
    setup.wire.chunks.put_nowait(
        b'{"type":"control_response","response":{"subtype":"error","request_id":"turnwire_1","error":"no x"}}\n'
    )
    with pytest.raises(RequestFailed, match=r"^no x$"):
        await asked


async def test_of_two_answers_the_first_counts_and_the_second_is_ignored(setup: Setup) -> None:
    asked = asyncio.create_task(setup.client.request(SetPermissionMode(mode="plan"), 5))
    await until(lambda: setup.wire.told)
    head = b'{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1"'
    setup.wire.chunks.put_nowait(head + b',"response":{"mode":"plan"}}}\n' + head + b"}}\n")
    assert await asked == {"mode": "plan"}
    await until(lambda: len(setup.received) == 2)


async def test_an_echo_of_our_own_answer_is_received_like_any_line(setup: Setup) -> None:
    setup.wire.chunks.put_nowait(
        b'{"type":"control_response","response":{"subtype":"success","request_id":"theirs"}}\n'
    )
    await until(lambda: setup.received)


async def test_a_request_that_is_never_answered_ends_at_its_deadline(setup: Setup) -> None:
    with pytest.raises(RequestTimeout, match=r"did not answer interrupt within 0\.01 s"):
        await setup.client.request(Interrupt(), 0.01)
    setup.wire.chunks.put_nowait(
        b'{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1"}}\n'
    )
    await until(lambda: setup.received)


async def test_a_request_is_given_up_by_no_machine_that_stood_still(setup: Setup) -> None:
    jump = clock_that_jumps()
    asked = asyncio.create_task(setup.client.request(Interrupt(), 10))
    await until(lambda: setup.wire.told)
    await jump(20)
    setup.wire.chunks.put_nowait(
        b'{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1"}}\n'
    )
    assert await asked == {}


async def test_lines_are_whole_in_order_and_told_as_sent_before_they_are_written(setup: Setup) -> None:
    await asyncio.gather(*(setup.client.send(prompt(f"prompt {n}")) for n in range(20)))
    assert [decode(line).message.content for line in setup.wire.told] == [f"prompt {n}" for n in range(20)]  # type: ignore[union-attr]
    assert [sent.line + b"\n" for sent in setup.sent] == setup.wire.told
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in setup.wire.told)


async def test_what_would_kill_a_cli_is_not_written(setup: Setup) -> None:
    for deadly in (KeepAlive(), User(message=UserBody(role="system", content="x")), Unknown({"type": "x"})):
        with pytest.raises(EncodeError):
            setup.client.post(deadly)
    assert setup.sent == []


async def test_when_the_cli_has_gone_everything_that_waits_is_told(setup: Setup) -> None:
    asked = asyncio.create_task(setup.client.request(Interrupt(), 5))
    await until(lambda: setup.wire.told)
    setup.client.give_up(ProcessGone("it has gone"))
    with pytest.raises(ProcessGone):
        await asked
    with pytest.raises(ProcessGone):
        await setup.client.send(prompt("late"))


async def test_a_write_that_fails_fails_the_one_who_asked_for_it(setup: Setup) -> None:
    setup.wire.gone = True
    with pytest.raises(ProcessGone):
        await setup.client.send(prompt("x"))


async def test_a_cli_that_reads_nothing_stops_being_read_instead_of_filling_memory(setup: Setup) -> None:
    setup.wire.blocked = asyncio.Event()
    for number in range(MAX_POSTED):
        setup.client.post(prompt(str(number)))
    setup.wire.chunks.put_nowait(b'{"type":"a"}\n')
    setup.wire.chunks.put_nowait(b'{"type":"b"}\n')
    await until(lambda: setup.received)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(setup.received) == 1
    setup.wire.blocked.set()
    await until(lambda: len(setup.received) == 2)


async def test_words_and_the_end_of_the_cli_in_one_tick_fail_the_words_and_nothing_else() -> None:
    """The writer wakes up to what was posted and finds it given up meanwhile."""
    client = ClaudeClient(Wire(), on_sent=lambda _: None)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        writer = tasks.create_task(client.write_posted())
        await asyncio.sleep(0)
        said = client.post(prompt("in the last moment"))
        client.give_up(ProcessGone("it has exited"))
        with pytest.raises(ProcessGone, match="it has exited"):
            await said
        await writer


async def test_the_end_of_the_cli_while_a_line_is_written_fails_what_waits_and_nothing_else() -> None:
    wire = Wire()
    wire.blocked = asyncio.Event()
    client = ClaudeClient(wire, on_sent=lambda _: None)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        writer = tasks.create_task(client.write_posted())
        first, second = client.post(prompt("written")), client.post(prompt("behind it"))
        await asyncio.sleep(0)
        client.give_up(ProcessGone("it has exited"))
        wire.blocked.set()
        for said in (first, second):
            with pytest.raises(ProcessGone):
                await said
        await writer


async def test_others_go_on_between_slices_of_what_comes_in_one_piece() -> None:
    lines = 20 * SLICE_LINES
    client = ClaudeClient(Wire(b"{}\n" * lines, b""), on_sent=lambda _: None)
    passes = 0

    async def other() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(other())
        sizes = [len(batch) async for batch in client.batches()]
        task.cancel()
    assert sum(sizes) == lines
    assert max(sizes) <= SLICE_LINES
    assert passes >= 20


async def test_of_blank_lines_in_a_row_one_is_told_and_the_others_are_counted() -> None:
    wire = Wire(b"{}\n\n{}\n\n\n", b"\n\r\n{}\n" + b"\n" * 100_000, b"")
    client = ClaudeClient(wire, on_sent=lambda _: None)
    told = [received.line async for batch in client.batches() for received in batch]
    assert told == [b"{}", b"", b"{}", b"", b"{}", b""]
    assert client.lines.blank == 100_002
