"""Prompts wait here for their turn, since agents of this family hear one at a time."""

import asyncio

import pytest

from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.prompts import Prompt, PromptQueue
from turnwire.normalize.vocabulary import Priority


def _prompt(name: str, priority: Priority = "next") -> Prompt:
    return Prompt(name, ({"type": "text", "text": name},), priority)


async def test_prompts_are_said_in_the_order_of_their_priority_and_then_their_age() -> None:
    queue = PromptQueue()
    waiting: list[tuple[str, Priority]] = [
        ("a", "next"),
        ("z", "later"),
        ("b", "next"),
        ("first", "now"),
        ("second", "now"),
    ]
    places = [queue.put(_prompt(name, priority)) for name, priority in waiting]
    assert places == [1, 2, 2, 1, 2]
    assert [(await queue.next()).uuid for _ in places] == ["first", "second", "a", "b", "z"]


async def test_a_prompt_that_waits_is_taken_back_and_one_that_was_said_is_not() -> None:
    queue = PromptQueue()
    queue.put(_prompt("a"))
    queue.put(_prompt("b"))
    assert (await queue.next()).uuid == "a"
    assert not queue.withdraw("a")
    assert queue.withdraw("b")
    assert not queue.withdraw("b")
    assert len(queue) == 0


async def test_who_waits_for_a_prompt_gets_the_next_one_that_comes() -> None:
    queue = PromptQueue()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        taken = tasks.create_task(queue.next())
        await asyncio.sleep(0)
        queue.put(_prompt("a"))
        assert (await taken).uuid == "a"


async def test_no_more_prompts_wait_than_are_allowed() -> None:
    queue = PromptQueue(limit=2)
    queue.put(_prompt("a"))
    queue.put(_prompt("b"))
    with pytest.raises(RequestFailed, match="2 prompts already wait"):
        queue.check_room()
    # one that was taken before comes back all the same
    assert queue.put(_prompt("c")) == 3
    assert [prompt.uuid for prompt in queue.clear()] == ["a", "b", "c"]


def test_the_first_prompt_is_taken_where_it_has_the_priority_that_is_wanted() -> None:
    queue = PromptQueue()
    assert queue.take("next") is None
    queue.put(Prompt("a", (), "later"))
    assert queue.take("next") is None
    queue.put(Prompt("b", (), "next"))
    taken = queue.take("next")
    assert taken is not None
    assert (taken.uuid, len(queue)) == ("b", 1)
