"""Every task has an owner, who ends it and hears of its failure."""

import ast
import asyncio
import logging
import subprocess
from pathlib import Path

import pytest

from turnwire._runtime.task_owner import TaskOwner, heed_cancellation

ROOT = Path(__file__).parents[2]

STARTERS = {"create_task", "ensure_future"}

OWNERS = {
    "turnwire/frontends/terminal/app.py": "Textual runs the application, whose `on_unmount` cancels its tasks and waits for them",
    "turnwire/_runtime/task_owner.py": "the owner itself",
    "clients/python/turnwire_client/client.py": "a distribution of its own, whose `connect` ends its tasks; a group would wrap what its caller raises",
}
"""Files that may start a task by the loop's own means, and why."""


async def for_ever() -> None:
    await asyncio.Event().wait()


async def fails() -> None:
    raise ValueError("a defect")


async def test_what_still_runs_is_over_when_the_block_is_left() -> None:
    async with TaskOwner() as tasks:
        kept, begun = tasks.keep("kept", for_ever()), tasks.begin("begun", for_ever())
        await asyncio.sleep(0)
        assert len(tasks) == 2
    assert kept.cancelled()
    assert begun.cancelled()
    await asyncio.sleep(0)
    assert len(tasks) == 0


async def test_a_failure_that_nobody_awaits_is_told_and_ends_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with TaskOwner() as tasks:
        other = tasks.keep("other", for_ever())
        task = tasks.keep("the one", fails())
        await asyncio.wait([task])
        assert not other.done()
    (record,) = caplog.records
    assert (record.message, record.levelno) == ("a task failed", logging.ERROR)
    assert record.__dict__["task"] == "the one"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)


async def test_the_outcome_of_what_was_begun_is_its_callers(caplog: pytest.LogCaptureFixture) -> None:
    async with TaskOwner() as tasks:
        with pytest.raises(ValueError, match="a defect"):
            await tasks.begin("awaited", fails())
        await asyncio.wait([tasks.begin("not asked for", fails())])
    assert caplog.records == []


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    async def failing() -> None:
        async with TaskOwner() as tasks:
            tasks.keep("kept", for_ever())
            raise KeyError("the caller's own")

    with pytest.raises(KeyError):
        await failing()


async def test_a_cancellation_that_is_swallowed_comes_again() -> None:
    heard = 0

    async def deaf() -> None:
        nonlocal heard
        while heard < 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                heard += 1

    async with TaskOwner() as tasks:
        tasks.keep("deaf", deaf())
        await asyncio.sleep(0)
    assert heard == 3


async def test_a_task_that_tries_for_ever_heeds_one_cancellation_that_what_it_tries_has_swallowed() -> None:
    tried = asyncio.Event()

    async def connecting() -> None:
        try:
            tried.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OSError("the connection cannot be made") from None

    async def tries_for_ever() -> None:
        while True:
            heed_cancellation()
            try:
                await connecting()
            except OSError:
                tried.clear()

    async with TaskOwner() as tasks:
        task = tasks.keep("tries", tries_for_ever())
        await tried.wait()
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    heed_cancellation()  # who was not cancelled goes on


async def test_a_task_may_start_another_while_its_owner_closes() -> None:
    async with TaskOwner() as tasks:

        async def starts_another() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                tasks.keep("another", for_ever())

        tasks.keep("first", starts_another())
        await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


def is_bare(node: ast.AST) -> bool:
    """Tell whether a call starts a task by the loop's own means, which no group and no owner knows of."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in STARTERS
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in STARTERS
        and ("loop" in (of := ast.unparse(node.func.value)) or of == "asyncio")
    )


def test_no_task_is_without_an_owner() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    house = [
        name
        for name in listed.stdout.split()
        if not name.startswith(("tests/", "bench/", "docs/", "fixtures/"))
    ]
    bare = [
        f"{name}:{node.lineno}"
        for name in house
        for node in ast.walk(ast.parse((ROOT / name).read_text()))
        if is_bare(node) and name not in OWNERS and isinstance(node, ast.Call)
    ]
    assert bare == [], "start it in a TaskGroup, or by a turnwire._runtime.task_owner.TaskOwner"


@pytest.mark.parametrize(
    "text",
    [
        "asyncio.create_task(x())",
        "asyncio.ensure_future(x())",
        "loop.create_task(x())",
        "asyncio.get_running_loop().create_task(x())",
    ],
)
def test_a_bare_task_is_seen(text: str) -> None:
    assert any(map(is_bare, ast.walk(ast.parse(text))))


@pytest.mark.parametrize(
    "text", ["tasks.create_task(x())", "self._tasks.create_task(x())", "owner.keep('x', x())"]
)
def test_a_task_of_a_group_is_none(text: str) -> None:
    assert not any(map(is_bare, ast.walk(ast.parse(text))))
