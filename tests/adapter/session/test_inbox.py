"""What waits for the consumer: bounded, in order, and given a part at a time."""

import asyncio

import pytest

from turnwire.adapter.session.inbox import BATCH, BATCH_BYTES, EACH, Inbox
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Decision, Ended, Received
from turnwire.protocol.claude.messages import Unknown

CAPACITY = 8 * 1024 * 1024


def received(number: int, size: int = 0) -> Received:
    return Received(b"%d" % number + b" " * size, Unknown({}))


async def test_what_waits_is_given_in_order_a_part_at_a_time_and_others_go_on_between() -> None:
    inbox = Inbox(CAPACITY)
    items = [received(number) for number in range(10 * BATCH)]
    for item in items:
        inbox.put([InputWithEvents(item, ())])
    inbox.put([InputWithEvents(Ended("exited"), ())])
    passes = 0

    async def other() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(other())
        batches = [batch async for batch in inbox.batches()]
        task.cancel()
    assert [told.input for batch in batches for told in batch] == [*items, Ended("exited")]
    assert [len(batch) for batch in batches] == [BATCH] * 10 + [1]
    assert passes >= 10


async def test_large_lines_are_given_one_after_the_other() -> None:
    inbox = Inbox(CAPACITY)
    for number in range(3):
        inbox.put([InputWithEvents(received(number, BATCH_BYTES), ())])
    inbox.put([InputWithEvents(Ended("exited"), ())])
    assert [len(batch) async for batch in inbox.batches()] == [1, 1, 1, 1]


async def test_what_is_put_at_once_is_given_in_parts_as_well() -> None:
    inbox = Inbox(CAPACITY)
    many = [InputWithEvents(received(number), ()) for number in range(10 * BATCH)]
    large = [InputWithEvents(received(number, BATCH_BYTES // 3), ()) for number in range(10)]
    end = [InputWithEvents(Ended("exited"), ())]
    for one in (many, large, end):
        inbox.put([*one])
    batches = [batch async for batch in inbox.batches()]
    assert [told for batch in batches for told in batch] == [*many, *large, *end]
    assert max(len(batch) for batch in batches) <= BATCH
    assert all(sum(told in large for told in batch) <= 2 for batch in batches)


async def test_short_lines_fill_it_as_well_and_room_comes_as_they_are_taken() -> None:
    inbox = Inbox(capacity=10 * EACH)
    for number in range(100):
        inbox.put([InputWithEvents(received(number), ())])
    waiting = asyncio.create_task(inbox.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.put([InputWithEvents(Decision("r", "allow", "me", 0), ())])
    async for batch in inbox.batches():
        assert len(batch) == 101
        break
    await waiting


async def test_what_failed_is_raised_behind_all_that_waits() -> None:
    inbox = Inbox(CAPACITY)
    inbox.put([InputWithEvents(received(1), ())])
    inbox.fail(ValueError("broken"))
    batches = inbox.batches()
    assert len(await anext(batches)) == 1
    with pytest.raises(ValueError, match="broken"):
        await anext(batches)
