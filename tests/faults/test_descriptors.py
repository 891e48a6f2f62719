"""No descriptor is left: who is there goes on, who wants more is refused or waits, and all is well when there are some again."""

import asyncio
import resource
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from enduring import ECHO, configure
from soaking import TOKEN

from live import Frontend, descendants
from turnwire.client import CommandFailed, connect
from turnwire_process import Served, turnwire
from waiting import until

pytestmark = pytest.mark.long


def limited(served: Served, most: int) -> None:
    """Let the sidecar have no descriptor beyond these numbers."""
    _, hard = resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (most, hard))


def descriptors(served: Served) -> set[int]:
    """The numbers that the sidecar has open."""
    return {int(each.name) for each in Path(f"/proc/{served.process.pid}/fd").iterdir()}


def lowest_free(served: Served) -> int:
    """The lowest number that is free: with it as the limit, nothing can be opened."""
    numbers = descriptors(served)
    return next(number for number in range(len(numbers) + 1) if number not in numbers)


async def come(served: Served, session: str) -> None:
    """A frontend that comes and sees all there is."""
    async with connect(served.base, TOKEN, timeout=60) as client:
        await Frontend(client, session).caught_up()


async def test_who_is_there_goes_on_and_others_come_in_when_there_are_some_again(tmp_path: Path) -> None:
    env = configure(tmp_path, ECHO)
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(turnwire(tmp_path, "serve", env=env, stdout_lines=1))
        client = await stack.enter_async_context(connect(served.base, TOKEN, timeout=60))
        session = await client.create(workspace=str(tmp_path / "work"))
        frontend = Frontend(client, session)
        assert (await frontend.turn("first")).data.outcome == "completed"
        limited(served, lowest_free(served))
        for _ in range(3):
            assert (await frontend.turn("none is left")).data.outcome == "completed"
        with pytest.raises(CommandFailed, match="Too many open files") as refused:
            await client.create(workspace=str(tmp_path / "work"))
        assert refused.value.code == "cannot_start"
        others = [asyncio.create_task(come(served, session)) for _ in range(5)]
        assert (await frontend.turn("others knock")).data.outcome == "completed"
        limited(served, 1024)
        await asyncio.gather(*others)
        new = await client.create(workspace=str(tmp_path / "work"))
        assert (await Frontend(client, new).turn("there are some again")).data.outcome == "completed"


async def test_a_session_that_fails_for_want_of_one_leaves_nothing_wherever_it_fails(tmp_path: Path) -> None:
    env = configure(tmp_path, ECHO)
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(turnwire(tmp_path, "serve", env=env, stdout_lines=1))
        client = await stack.enter_async_context(connect(served.base, TOKEN, timeout=60))

        refusals: list[str] = []

        async def create() -> bool:
            try:
                session = await client.create(workspace=str(tmp_path / "work"))
            except CommandFailed as refused:
                refusals.append(str(refused))
                return False
            complete = await Frontend(client, session).turn("hello")
            await client.delete_session(session)
            return complete.data.outcome == "completed"

        assert await create()
        await until(lambda: len(descendants(served.process.pid)) <= 1)
        before = len(descriptors(served))
        came = []
        for more in range(6, 20):
            limited(served, lowest_free(served) + more)
            came.append(await create())
            limited(served, 1024)
            await until(lambda: not client.known_sessions)
            await until(lambda: len(descriptors(served)) <= before)
            await until(lambda: len(descendants(served.process.pid)) <= 1)
        # there is one number below which none comes up, and above which all do
        assert came == sorted(came)
        assert not came[0]
        assert all("Too many open files" in refusal for refusal in refusals)
        assert came[-1]
