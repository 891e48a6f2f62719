"""Tasks that fail, beside others that must not notice."""

import asyncio
import time

import pytest

from turnwire.sidecar.process.supervision import kept_up, supervised


async def fail(what: str = "broken") -> None:
    await asyncio.sleep(0)
    raise KeyError(what)


async def test_a_session_that_fails_ends_alone_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    goes_on = asyncio.Event()
    async with asyncio.timeout(30), supervised() as supervisor:
        bad = supervisor.spawn("s-bad", fail())
        good = supervisor.spawn("s-good", _set_when(goes_on))
        await asyncio.wait([bad])
        assert not good.done()
        goes_on.set()
        await good
    (record,) = [one for one in caplog.records if one.name.startswith("turnwire.")]
    assert record.session == "s-bad"  # type: ignore[attr-defined]  # a field of ours
    assert "KeyError: 'broken'" in caplog.text


async def _set_when(event: asyncio.Event) -> None:
    await event.wait()


async def test_even_a_group_of_exceptions_is_contained() -> None:
    async def fail_in_a_group() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail("one"))
            tasks.create_task(fail("two"))

    async with asyncio.timeout(30), supervised() as supervisor:
        await supervisor.spawn("s-bad", fail_in_a_group())


async def test_a_job_of_the_house_begins_again_after_each_failure() -> None:
    begun, enough = 0, asyncio.Event()

    async def job() -> None:
        nonlocal begun
        begun += 1
        if begun == 4:
            enough.set()
            await asyncio.Event().wait()
        await fail()

    async with asyncio.timeout(30), supervised(pause_s=0.001) as supervisor:
        supervisor.keep_up("job", job)
        await enough.wait()
    assert begun == 4


async def test_a_job_that_returns_is_not_begun_again() -> None:
    begun = 0

    async def job() -> None:
        nonlocal begun
        begun += 1

    await kept_up("job", job)
    assert begun == 1


async def test_who_waits_for_ever_is_stopped_in_the_end() -> None:
    ended: list[str] = []

    async def wait_for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stopped")

    async with asyncio.timeout(60), supervised(grace_s=0.05) as supervisor:
        supervisor.spawn("s-1", wait_for_ever())
        await asyncio.sleep(0)
    assert ended == ["stopped"]


async def test_who_ends_by_itself_is_waited_for() -> None:
    ended: list[str] = []

    async def end_soon() -> None:
        await asyncio.sleep(0.05)
        ended.append("ended")

    async with asyncio.timeout(120), supervised(grace_s=60) as supervisor:
        supervisor.spawn("s-1", end_soon())
    assert ended == ["ended"]


async def test_a_machine_that_stood_still_longer_than_the_grace_leaves_tasks_their_time() -> None:
    ended: list[str] = []

    async def end_after_the_machine_stood_still() -> None:
        time.sleep(0.2)  # nobody gets on meanwhile
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append("ended")

    async with asyncio.timeout(60), supervised(grace_s=0.1) as supervisor:
        supervisor.spawn("s-1", end_after_the_machine_stood_still())
    assert ended == ["ended"]


async def test_an_error_of_who_starts_it_all_comes_out_as_it_is() -> None:
    async def house() -> None:
        async with supervised(grace_s=0.01) as supervisor:
            supervisor.spawn("s-1", _set_when(asyncio.Event()))
            await fail()

    with pytest.raises(KeyError, match="broken"):
        await house()
