"""Workers that end in order: turns end, sessions go to other workers of the group, and no prompt is begun in vain."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fleets import ANN, CALM, Fleet, Sessions, code, create, prompt, session_of
from pydantic import JsonValue

from journals import RedisProcess
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.fleet.worker import Worker
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.journal.redis.server import Ownership
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

LONG = 60.0


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        yield Fleet(server.url, Timing(lease_s=CALM.lease_s, beats=300, pause_s=0.01))
        server.kill()


@asynccontextmanager
async def pair(fleet: Fleet) -> AsyncIterator[tuple[Sessions, Sessions, Worker, FleetHost]]:
    """Two workers of one group, the first with the sessions a0 and a1, and a hub that knows both."""
    former, heir = Sessions("a"), Sessions("b")
    heir.former = former
    former.there = {"a0": 1, "a1": 1}
    async with (
        fleet.worker(former, "former", group="g") as worker,
        fleet.worker(heir, "heir", group="g"),
        fleet.hub() as hub,
    ):
        await until(lambda: len(hub.workers()) == len(hub.sessions()) == 2)
        yield former, heir, worker, hub


async def test_a_worker_that_is_drained_hands_its_sessions_over_and_prompts_are_served_elsewhere(
    fleet: Fleet,
) -> None:
    async with pair(fleet) as (former, heir, worker, hub):
        await worker.drain(LONG)
        assert (former.there, heir.there) == ({}, {"a0": 2, "a1": 2})
        assert former.closed == ["a0", "a1"], "an agent ends before another worker has its session"
        await until(lambda: {one.worker for one in hub.sessions()} == {"heir"})
        fleet.owners |= {"a0": Ownership("heir", 2)}
        assert await hub.execute(prompt("a0", "go on"), ANN) == {"by": "ann"}
        assert (former.said, heir.said) == ([], [("a0", "go on")])
        await until(lambda: [one.worker for one in hub.workers()] == ["heir"])
        assert (await session_of(hub)).startswith("b")
        assert await code(hub, create(worker="former")) == "no_worker"


async def test_an_open_turn_ends_before_its_session_goes_and_prompts_meanwhile_are_unreachable(
    fleet: Fleet,
) -> None:
    async with pair(fleet) as (former, heir, worker, hub):
        former.open = {"a1"}
        async with asyncio.TaskGroup() as tasks:
            draining = tasks.create_task(worker.drain(LONG))
            await until(lambda: heir.there == {"a0": 2})
            assert await code(hub, prompt("a1", "one more")) == "unreachable"
            assert former.said == []
            assert not draining.done()
            former.open.clear()
            former.changed()
        assert heir.there == {"a0": 2, "a1": 2}


async def test_a_turn_that_does_not_end_holds_the_drain_up_for_its_time_and_no_longer(fleet: Fleet) -> None:
    async with pair(fleet) as (former, heir, worker, _):
        former.open = {"a1"}
        await worker.drain(0.5)
        assert (former.there, heir.there) == ({"a1": 1}, {"a0": 2})


async def test_a_session_that_is_taken_from_a_silent_agent_holds_the_drain_up_no_more(fleet: Fleet) -> None:
    async with pair(fleet) as (former, heir, worker, _):
        former.open = {"a1"}
        async with asyncio.timeout(LONG), asyncio.TaskGroup() as tasks:
            draining = tasks.create_task(worker.drain(10 * LONG))
            await until(lambda: heir.there == {"a0": 2})
            assert not draining.done()
            former.taken.add("a1")
        assert former.there == {}
        assert former.closed == ["a0"]


async def test_commands_that_wait_at_a_worker_are_done_after_it_was_cordoned(fleet: Fleet) -> None:
    store = FleetStore(fleet.url)
    async with pair(fleet) as (former, heir, _, hub):
        former.may_answer.clear()
        async with asyncio.TaskGroup() as tasks:
            waiting = [tasks.create_task(hub.execute(prompt("a0", f"{one}"), ANN)) for one in range(3)]
            await until(lambda: former.said)
            await store.wish("former", "cordon")
            await until(lambda: [one.worker for one in hub.workers()] == ["heir"])
            assert await code(hub, create(worker="former")) == "no_worker"
            assert (await session_of(hub)).startswith("b")
            assert not any(one.done() for one in waiting)
            former.may_answer.set()
        assert [one.result() for one in waiting] == [{"by": "ann"}] * 3
        assert sorted(former.said) == [("a0", "0"), ("a0", "1"), ("a0", "2")]
        assert heir.said == []
    await store.close()


async def test_two_drains_at_once_end_lose_no_session_and_begin_no_prompt(fleet: Fleet) -> None:
    one, two = Sessions("a"), Sessions("b")
    one.former, two.former = two, one
    one.there, two.there = {"a0": 1}, {"b0": 1}
    async with (
        fleet.worker(one, "former", group="g") as first,
        fleet.worker(two, "heir", group="g") as second,
        fleet.hub() as hub,
    ):
        await until(lambda: len(hub.workers()) == len(hub.sessions()) == 2)
        async with asyncio.timeout(LONG):
            await asyncio.gather(first.drain(LONG), second.drain(LONG))
        assert sorted([*one.there, *two.there]) == ["a0", "b0"]
        fleet.owners |= {name: Ownership("former", fence) for name, fence in one.there.items()}
        fleet.owners |= {name: Ownership("heir", fence) for name, fence in two.there.items()}
        for session in ("a0", "b0"):
            assert await code(hub, prompt(session, "one more")) == "unreachable"
        await until(lambda: hub.workers() == [])
        assert await code(hub, create()) == "no_worker"
        assert one.said == two.said == []


async def test_a_drain_ends_where_a_call_loses_its_cancellation(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deaf() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)

    async with pair(fleet) as (former, heir, worker, _):
        former.open = {"a1"}
        monkeypatch.setattr(former, "journaled", deaf)
        async with asyncio.timeout(LONG):
            await worker.drain(0.2)
        assert "a1" not in heir.there


async def test_an_operator_cordons_a_worker_and_has_it_drained(fleet: Fleet) -> None:
    store = FleetStore(fleet.url)
    async with pair(fleet) as (former, heir, worker, hub):
        await store.wish("heir", "cordon")
        await until(lambda: [one.worker for one in hub.workers()] == ["former"])
        assert (await session_of(hub)).startswith("a")
        assert await code(hub, create(worker="heir")) == "no_worker"
        await store.wish("former", "cordon")
        await until(lambda: hub.workers() == [])
        assert await code(hub, create()) == "no_worker"
        assert await hub.execute(prompt("a0", "as before"), ANN) == {"by": "ann"}
        await store.wish("heir", None)
        await until(lambda: [one.worker for one in hub.workers()] == ["heir"])
        await store.wish("former", "drain")
        async with asyncio.timeout(LONG):
            await worker.wished()
        await worker.drain(LONG)
        await worker.leave()
        assert former.there == {}
        assert set(heir.there) == {"a0", "a1", "a2"}
        async with fleet.worker(Sessions("c"), "former", group="g"):
            await until(lambda: "former" in hub._directory.workers)
            assert [one.worker for one in hub.workers()] == ["heir"], (
                "it stays cordoned until it is let in again"
            )
    await store.close()


async def test_a_session_is_moved_on_request_and_not_while_its_turn_is_open(fleet: Fleet) -> None:
    async with pair(fleet) as (former, heir, _, hub):
        former.open = {"a0"}
        move = frames.SessionMove(type="session.move", id="1", session="a0")
        assert await code(hub, move) == "running"
        former.open.clear()
        assert await code(hub, move.model_copy(update={"worker": "nowhere"})) == "no_worker"
        assert await hub.execute(move.model_copy(update={"worker": "heir"}), ANN) == {"worker": "heir"}
        assert (former.there, heir.there) == ({"a1": 1}, {"a0": 2})
        assert [one.worker for one in hub.sessions() if one.session == "a0"] == ["heir"]


@pytest.mark.parametrize("by", ["a worker", "a hub"])
async def test_what_an_operator_wants_of_a_worker_counts_before_the_worker_has_heard_it(
    fleet: Fleet, by: str
) -> None:
    slow = Fleet(fleet.url, Timing(lease_s=600, beats=2, pause_s=0.01))
    store = FleetStore(fleet.url)
    async with pair(slow) as (_, heir, _, hub):
        move = frames.SessionMove(type="session.move", id="1", session="a0", worker="heir")
        for wish in ("cordon", "drain"):
            await store.wish("heir", wish)
            if by == "a hub":
                await until(lambda: [one.worker for one in hub.workers()] == ["former"])
            else:
                assert await code(hub, move) == "no_worker"
            await store.wish("heir", None)
            if by == "a hub":
                await until(lambda: [one.worker for one in hub.workers()] == ["former", "heir"])
        if by == "a worker":
            assert await hub.execute(move, ANN) == {"worker": "heir"}
            assert heir.there == {"a0": 2}
    await store.close()


async def test_a_prompt_whose_session_is_taken_before_it_is_done_is_done_by_the_new_owner(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(fleet) as (former, heir, _, hub):

        async def taken(command: frames.AnyCommand, _: Frontend) -> JsonValue:
            assert isinstance(command, frames.Prompt)
            former.taken.add(command.session)
            await former.abandon(command.session)
            heir.there[command.session] = 2
            fleet.owners[command.session] = Ownership("heir", 2)
            heir.changed()
            raise CommandRefused("unknown_session", "there is none", "session")

        monkeypatch.setattr(former, "execute", taken)
        assert await hub.execute(prompt("a0", "go on"), ANN) == {"by": "ann"}
        assert (former.said, heir.said) == ([], [("a0", "go on")])


async def test_a_session_of_which_a_worker_knows_nothing_more_is_said_to_be_unknown(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(fleet) as (former, _, _, hub):

        async def refused(_: frames.AnyCommand, __: Frontend) -> JsonValue:
            raise CommandRefused("unknown_session", "there is none", "session")

        monkeypatch.setattr(former, "execute", refused)
        assert await code(hub, prompt("a0", "go on")) == "unknown_session"
