"""Commands between hubs and workers over a real Redis: one effect each, whoever ends in between."""

import asyncio
import shutil
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
import redis.asyncio as redis_library
from acp.exceptions import RequestError
from doors import said_at_doors
from fleets import ANN, CALM, QUICK, Fleet, Sessions, at_last, code, create, key, prompt, session_of
from hub_harness import hub_harness
from redis_topologies import cluster

from acp_editor import editing
from journals import RedisProcess
from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import connect
from turnwire.fleet.errors import NameTaken
from turnwire.fleet.fleet_host import IN_FLIGHT
from turnwire.fleet.invitations import FleetInvitations
from turnwire.fleet.joining import place_of
from turnwire.fleet.logins import FleetLogins
from turnwire.fleet.messages import Answer, WorkerCommand, decode, encode
from turnwire.fleet.store import DirectoryEntry, FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import Principal, Scope
from turnwire.hub.server.cookies import LoggedOut
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.ages import steadily
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.server import NOBODY, Ownership
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        server.start()
        yield server
        server.kill()


@pytest.fixture
def fleet(redis: RedisProcess) -> Fleet:
    return Fleet(redis.url, CALM)


@pytest.fixture
def quick(redis: RedisProcess) -> Fleet:
    return Fleet(redis.url, QUICK)


async def test_any_hub_lists_and_reaches_a_session_that_another_has_begun(fleet: Fleet) -> None:
    sessions = Sessions("s")
    async with fleet.worker(sessions), fleet.hub() as one, fleet.hub() as two:
        assert await session_of(one) == "s0"
        assert [(each.session, each.worker, each.last_seq) for each in one.sessions()] == [("s0", "w", 42)]
        await until(two.sessions)
        assert await two.execute(prompt("s0", "hello"), ANN) == {"by": "ann"}
        assert await code(two, prompt("s0", "fail")) == "not_running"
        assert await code(two, prompt("s1", "hello")) == "unknown_session"
        assert await code(two, frames.Interrupt(type="interrupt", id="1", session="s0")) == "internal"
        assert await code(two, frames.PushKey(type="push.key", id="1")) == "no_push"
        assert await code(two, create(worker="other")) == "no_worker"
        assert sessions.said == [("s0", "hello"), ("s0", "fail")]


async def test_a_command_that_is_sent_again_with_its_uuid_is_done_once_and_gets_its_first_reply(
    fleet: Fleet,
) -> None:
    sessions, again = Sessions("s"), str(uuid.uuid4())
    async with fleet.worker(sessions), fleet.hub() as one, fleet.hub() as two:
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        assert await one.execute(create(first), ANN) == await two.execute(create(first), ANN)
        assert list(sessions.there) == ["s0"]
        sessions.may_answer.clear()
        both = asyncio.gather(
            one.execute(prompt("s0", "hello", again), ANN), two.execute(prompt("s0", "hello", again), ANN)
        )
        await until(lambda: sessions.said)
        sessions.may_answer.set()
        assert list(await both) == [{"by": "ann"}] * 2
        assert await two.execute(prompt("s0", "hello", again), Frontend("eve", "control")) == {"by": "ann"}
        assert await code(one, prompt("s0", "something else", again)) == "invalid_params"
        assert await code(one, prompt("s0", "fail", second)) == "not_running"
        assert await code(two, prompt("s0", "fail", second)) == "not_running"
        assert sessions.said == [("s0", "hello"), ("s0", "fail")]


async def test_the_conversations_of_all_workers_are_one_library_and_each_is_gone_on_with_where_it_is(
    fleet: Fleet,
) -> None:
    one, two = Sessions("a"), Sessions("b")
    one.kept, two.kept = {"old": "1.0", "both": "3.0"}, {"new": "5.0", "both": "3.0"}
    async with fleet.worker(one, "one"), fleet.worker(two, "two"), fleet.hub() as hub:
        result = await hub.execute(frames.LibraryList(type="library.list", id="1", limit=2), ANN)
        assert result == {
            "conversations": [
                {"id": "new", "cursor": "5.0:new", "running": False, "worker": "two"},
                {"id": "both", "cursor": "3.0:both", "running": False, "worker": "one"},
            ],
            "next": "3.0:both",
            "complete": True,
            "missing": [],
        }
        await hub.execute(
            frames.LibraryRename(type="library.rename", id="1", conversation="new", title="so"), ANN
        )
        assert (one.said, two.said) == ([], [("new", "so")])
        assert await session_of(hub, resume="old") == "a0"
        assert await session_of(hub, resume="both", worker="two") == "b0"
        assert await code(hub, create(resume="none")) == "unknown_conversation"
        assert await code(hub, frames.LibraryList(type="library.list", id="1", worker="x")) == "no_worker"
        assert await code(hub, frames.LibrarySearch(type="library.search", id="1", text="x")) == "internal"


async def test_a_worker_that_does_not_tell_its_conversations_in_time_is_named(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, Timing(lease_s=30, pause_s=0.02, ask_s=0.5))
    slow, quick = Sessions("a"), Sessions("b")
    slow.may_answer.clear()
    quick.kept = {"one": "1.0"}
    async with fleet.worker(slow, "slow"), fleet.worker(quick, "quick"), fleet.hub() as hub:
        # Again where this machine stood still, and the quick one was not quick enough.
        while True:
            result = await at_last(hub, frames.LibraryList(type="library.list", id="1"))
            assert isinstance(result, dict)
            assert result["complete"] is False
            if result["missing"] == ["slow"]:
                break
        assert await at_last(hub, create(resume="one")) == {"session": "b0"}
        assert await code(hub, create(resume="other")) == "unreachable", "the slow one may have it"
        slow.may_answer.set()
        while (told := await code(hub, create(resume="other"))) == "unreachable":
            pass
        assert told == "unknown_conversation"


async def test_what_was_refused_before_it_began_may_be_done_when_it_is_sent_again(fleet: Fleet) -> None:
    sessions, command = Sessions("s"), str(uuid.uuid4())
    async with fleet.worker(sessions), fleet.hub() as hub:
        await session_of(hub)
        assert await code(hub, prompt("s0", "later", command)) == "journal_unavailable"
        assert await hub.execute(prompt("s0", "later", command), ANN) == {"by": "ann"}


async def test_what_a_worker_had_begun_when_it_ended_is_not_done_again_by_its_next_life(fleet: Fleet) -> None:
    sessions, command = Sessions("s"), str(uuid.uuid4())
    sessions.there["s0"] = 1
    sessions.may_answer.clear()
    async with fleet.hub() as hub:
        async with AsyncExitStack() as life:
            await life.enter_async_context(fleet.worker(sessions))
            await until(hub.sessions)
            asked = asyncio.create_task(code(hub, prompt("s0", "hello", command)))
            await until(lambda: sessions.said)
        async with fleet.worker(sessions):
            assert await asked == "unreachable"
            assert await code(hub, prompt("s0", "hello", command)) == "unreachable"
    assert sessions.said == [("s0", "hello")]


async def test_commands_to_a_worker_that_is_gone_are_refused_and_never_done_later(quick: Fleet) -> None:
    sessions = Sessions("s")
    sessions.there["s0"] = 1
    async with quick.hub() as hub:
        async with quick.worker(sessions):
            await until(hub.sessions)
        # It has no lease any more, which the hub does not know yet.
        assert await code(hub, prompt("s0", "too early")) == "unreachable"
        await until(lambda: hub.sessions()[0].state == "unreachable")
        assert await code(hub, prompt("s0", "too late")) == "unreachable"
        assert await code(hub, create()) == "no_worker"
        async with quick.worker(sessions):
            await until(lambda: hub.sessions()[0].state == "idle")
            assert await at_last(hub, prompt("s0", "in time")) == {"by": "ann"}
    assert sessions.said == [("s0", "in time")]


def delete(session: str, command_id: str = "1") -> frames.SessionDelete:
    return frames.SessionDelete(type="session.delete", id=command_id, session=session)


async def test_a_command_that_waited_while_the_worker_s_machine_was_suspended_is_not_done(
    redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, sessions = Fleet(redis.url, Timing(lease_s=600, beats=2, pause_s=0.02)), Sessions("s")
    sessions.there = {"s0": 1}
    async with fleet.worker(sessions) as worker:
        registered = worker.renewed_at
        async with fleet.hub() as hub:
            await until(lambda: hub.sessions() and worker.renewed_at > registered)
            assert await hub.execute(prompt("s0", "before"), ANN) == {"by": "ann"}
            # The loop's clock stands still meanwhile, and the lease is not renewed yet.
            monkeypatch.setattr("turnwire.fleet.worker.steadily", lambda: steadily() + 3600 * 10**6)
            assert await code(hub, prompt("s0", "an hour ago")) == "unreachable"
    assert sessions.said == [("s0", "before")]


async def test_a_session_whose_worker_is_gone_is_deleted_at_any_hub_and_its_worker_does_not_bring_it_back(
    quick: Fleet,
) -> None:
    former, command = Sessions("a"), str(uuid.uuid4())
    former.there |= {"a0": 1, "a1": 1}
    quick.owners |= {name: Ownership("former", 1) for name in former.there}
    async with quick.hub() as one, quick.hub() as two:
        async with quick.worker(former, "former"):
            await until(lambda: len(one.sessions()) == 2)
        # It has no lease any more, which the hub finds out when it asks it; a live worker's session is that worker's to delete.
        await until(lambda: one.sessions()[0].state == "unreachable")
        assert await one.execute(delete("a0", command), ANN) is None
        assert [each.session for each in one.sessions()] == ["a1"]
        await until(lambda: [each.session for each in two.sessions()] == ["a1"])
        assert await two.execute(delete("a0", command), ANN) is None, "its first reply"
        assert await code(two, delete("a0")) == "unknown_session"
        assert await code(one, prompt("a0", "hello")) == "unknown_session"
        # it was only cut off, and knows nothing of all that
        async with quick.worker(former, "former"):
            await until(lambda: list(former.there) == ["a1"])
            await until(lambda: [each.state for each in two.sessions()] == ["idle"])
            again = str(uuid.uuid4())
            assert await at_last(two, delete("a1", again)) is None
            await until(lambda: not one.sessions())
            assert await one.execute(delete("a1", again), ANN) is None, "its first reply"
    assert former.there == {}


async def test_a_prompt_has_another_worker_of_the_group_take_a_session_and_its_owner_lets_go_of_it(
    quick: Fleet,
) -> None:
    former, heir, stranger = Sessions("a"), Sessions("b"), Sessions("c")
    former.there["a0"] = 1
    quick.owners["a0"] = Ownership("former", 1)
    async with quick.worker(heir, "heir", group="g"), quick.worker(stranger, "x"), quick.hub() as hub:
        async with quick.worker(former, "former", group="g"):
            await until(hub.sessions)
        await until(lambda: hub.sessions()[0].state == "unreachable")
        interrupt = frames.Interrupt(type="interrupt", id="1", session="a0")
        assert await code(hub, interrupt) == "unreachable", "nothing of it is running anywhere"
        assert await at_last(hub, prompt("a0", "go on")) == {"by": "ann"}
        assert (heir.there, heir.said) == ({"a0": 2}, [("a0", "go on")])
        await until(lambda: hub.sessions()[0].worker == "heir")
        async with quick.worker(former, "former", group="g"):
            await until(lambda: not former.there)
            assert await at_last(hub, prompt("a0", "more")) == {"by": "ann"}
    assert stranger.there == {}
    assert heir.said == [("a0", "go on"), ("a0", "more")]


async def test_a_session_that_a_worker_took_and_had_not_told_of_when_it_ended_is_found_by_its_log(
    fleet: Fleet,
) -> None:
    former, heir = Sessions("a"), Sessions("b")
    former.there["a0"] = 1
    async with fleet.worker(former, "former", group="g"), fleet.hub() as hub:
        await until(hub.sessions)
        # The heir had claimed the log and ended; the former worker came back and found that.
        fleet.owners["a0"] = Ownership("heir", 2)
        former.there.clear()
        async with fleet.worker(heir, "heir", group="g"):
            await until(lambda: [one.worker for one in hub.workers()] == ["former", "heir"])
            both = [hub.execute(prompt("a0", text), ANN) for text in ("one", "two")]
            assert await asyncio.gather(*both) == [{"by": "ann"}] * 2
    assert heir.adopted == 1
    assert sorted(heir.said) == [("a0", "one"), ("a0", "two")]


async def test_a_prompt_to_a_worker_whose_session_was_taken_by_force_is_done_by_its_owner(
    fleet: Fleet,
) -> None:
    former, heir = Sessions("a"), Sessions("b")
    former.there = {"a0": 1, "a1": 1}
    async with fleet.worker(former, "former"), fleet.worker(heir, "heir"), fleet.hub() as hub:
        await until(lambda: len(hub.workers()) == len(hub.sessions()) == 2)
        former.may_answer.clear()
        asked = asyncio.create_task(hub.execute(prompt("a0", "while it is taken"), ANN))
        await until(lambda: former.said)
        for session in ("a0", "a1"):
            former.refused.add(session)
            heir.there[session] = 2
            fleet.owners[session] = Ownership("heir", 2)
        former.may_answer.set()
        assert await asked == {"by": "ann"}
        assert await hub.execute(prompt("a1", "after that"), ANN) == {"by": "ann"}
    assert former.said == [("a0", "while it is taken")]
    assert heir.said == [("a0", "while it is taken"), ("a1", "after that")]


async def test_two_workers_of_one_name_are_refused_unless_the_second_is_the_first_s_next_life(
    fleet: Fleet,
) -> None:
    async with fleet.worker(Sessions("a")):
        with pytest.raises(NameTaken, match="is already running"):
            async with fleet.worker(Sessions("b"), place="elsewhere"):
                pass
        async with fleet.worker(Sessions("c")):
            pass


async def test_a_copied_state_directory_moves_the_lease_once_and_the_former_worker_never_takes_it_back(
    redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    often = Fleet(redis.url, Timing(lease_s=30, beats=3000, pause_s=0.01))
    async with often.worker(Sessions("a")), redis_library.Redis.from_url(redis.url) as client:
        first = await client.hget(key("w", "lease"), "instance")
        async with often.worker(Sessions("b")):
            second = await client.hget(key("w", "lease"), "instance")
            assert second != first
            await until(lambda: "Was its state directory copied?" in caplog.text)
            for _ in range(20):
                assert await client.hget(key("w", "lease"), "instance") == second
                await asyncio.sleep(0.01)
    assert caplog.text.count("Was its state directory copied?") == 1


def test_a_state_directory_keeps_its_id_and_another_has_another(tmp_path: Path) -> None:
    first = place_of(tmp_path / "one")
    assert len(first) == 32
    assert place_of(tmp_path / "one") == first
    assert place_of(tmp_path / "two") != first
    assert (tmp_path / "one" / "worker-id").stat().st_mode & 0o777 == 0o600


async def test_redis_that_is_killed_and_comes_back_costs_no_command_that_waits(
    fleet: Fleet, redis: RedisProcess
) -> None:
    sessions = Sessions("s")
    sessions.there["s0"] = 1
    async with fleet.worker(sessions), fleet.hub() as hub:
        await until(hub.sessions)
        sessions.may_answer.clear()
        asked = asyncio.create_task(hub.execute(prompt("s0", "hello"), ANN))
        await until(lambda: sessions.said)
        redis.kill()
        sessions.may_answer.set()
        await until(lambda: hub.trouble is not None)
        assert await code(hub, prompt("s0", "nobody hears this")) == "journal_unavailable"
        assert await code(hub, frames.LibraryList(type="library.list", id="1")) == "journal_unavailable"
        sessions.there["s1"] = 1
        sessions.changed()
        redis.start()
        assert await asked == {"by": "ann"}
        await until(lambda: hub.trouble is None)
        assert await hub.execute(prompt("s0", "again"), ANN) == {"by": "ann"}
        await until(lambda: [one.session for one in hub.sessions()] == ["s0", "s1"])
    assert sessions.said == [("s0", "hello"), ("s0", "again")]


async def test_a_redis_that_is_full_is_said_to_be_and_the_fleet_goes_on_once_it_has_room(
    fleet: Fleet,
) -> None:
    sessions = Sessions("s")
    sessions.there["s0"] = 1
    async with redis_library.Redis.from_url(fleet.url) as client, fleet.worker(sessions), fleet.hub() as hub:
        await until(hub.sessions)
        sessions.may_answer.clear()
        asked = asyncio.create_task(hub.execute(prompt("s0", "hello"), ANN))
        await until(lambda: sessions.said)
        await client.config_set("maxmemory", 1)
        sessions.may_answer.set()
        with pytest.raises(CommandRefused, match="maxmemory") as refused:
            await hub.execute(prompt("s0", "more"), ANN)
        assert refused.value.code == "journal_unavailable"
        await client.config_set("maxmemory", 0)
        assert await asked == {"by": "ann"}, "its answer has waited for room"
        assert await hub.execute(prompt("s0", "again"), ANN) == {"by": "ann"}
    assert sessions.said == [("s0", "hello"), ("s0", "again")]


async def test_what_others_put_into_the_fleet_s_keys_disturbs_nobody(fleet: Fleet) -> None:
    sessions, command = Sessions("s"), str(uuid.uuid4())
    client = redis_library.Redis.from_url(fleet.url)
    try:
        await client.sadd("turnwire:fleet:workers", "x", b"\xff")
        await client.hset(key("x", "lease"), "about", "{}")
        await client.sadd("turnwire:fleet:sessions", "broken", "gone")
        await client.hset(key("broken", "entry"), mapping={"worker": "w", "fence": "1", "summary": "[]"})
        async with fleet.worker(sessions), fleet.hub() as hub:
            for name, value in (("o", b"[]"), ("o", b"\xff"), ("other", b"1")):
                await client.xadd(key("w", "orders"), {name: value})
            await client.set(key(command, "outcome"), "no outcome")
            await client.xadd("turnwire:fleet:changes", {"s": b"\xff", "x": "y"})
            await client.xadd("turnwire:fleet:changes", {"s": "broken"})
            assert await session_of(hub) == "s0"
            assert await code(hub, prompt("s0", "hello", command)) == "unreachable"
            assert await hub.execute(prompt("s0", "hello"), ANN) == {"by": "ann"}
            assert [one.session for one in hub.sessions()] == ["s0"]
            assert [one.worker for one in hub.workers()] == ["w"]
            async with asyncio.timeout(60):  # a command leaves the stream once its answer is on its way
                while await client.xlen(key("w", "orders")):  # noqa: ASYNC110 - nobody is told
                    await asyncio.sleep(0.005)
    finally:
        await client.aclose()


async def test_an_answer_is_not_told_to_who_speaks_for_somebody_else(fleet: Fleet) -> None:
    sessions, command = Sessions("s"), str(uuid.uuid4())
    async with fleet.worker(sessions), fleet.hub() as hub:
        await session_of(hub)
        assert await hub.execute(prompt("s0", "hello", command), ANN) == {"by": "ann"}
        with pytest.raises(CommandRefused, match="another command had this id"):
            await hub.execute(prompt("s0", "hello", command), Frontend("user:eve", "control", user="eve"))


async def test_who_logs_out_at_one_hub_is_out_at_all_also_at_those_that_begin_later(fleet: Fleet) -> None:
    over: list[dict[str, int]] = []
    async with fleet.hub() as one, fleet.hub() as two, TaskOwner() as tasks:
        store = FleetStore(fleet.url)
        try:
            mine = FleetLogins(store, one, tasks)
            mine.watch(lambda logins: None if not logins else pytest.fail("it knows its own"))
            FleetLogins(store, two, tasks).watch(lambda logins: over.append(dict(logins)))
            mine.log_out(LoggedOut({"a-login": 1_800_000_000}))
            await until(lambda: {"a-login": 1_800_000_000} in over)
            async with fleet.hub() as late:
                FleetLogins(store, late, tasks).watch(lambda logins: over.append(dict(logins)))
                assert over[-1] == {"a-login": 1_800_000_000}
        finally:
            await store.close()


async def test_a_read_of_a_fleet_in_which_nothing_happens_is_over_before_its_server_counts_as_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = FleetStore("redis://127.0.0.1:1?socket_timeout=3")
    waits: list[int | None] = []

    async def nothing_new(*_: object, block: int | None, **__: object) -> None:
        waits.append(block)

    for name in ("xread", "xreadgroup"):
        monkeypatch.setattr(store._redis, name, nothing_new)
    await store.next_commands("one", 60_000, 1)
    await store.replies("a-hub", "0-0", 60_000)
    await store.changes("0-0", 60_000)
    await store.left("one", "0", 1)
    assert waits == [1500, 1500, 1500, None]
    await store.close()


async def test_a_logout_while_redis_is_away_is_told_at_the_other_hubs_once_it_is_back(
    fleet: Fleet, redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    over: list[dict[str, int]] = []
    async with fleet.hub() as one, fleet.hub() as two, TaskOwner() as tasks:
        store = FleetStore(fleet.url)
        try:
            FleetLogins(store, two, tasks).watch(lambda logins: over.append(dict(logins)))
            mine = FleetLogins(store, one, tasks, pause_s=0.01)
            redis.kill()
            mine.log_out(LoggedOut({"a-login": 1_800_000_000}))
            await until(lambda: "a logout has not reached the other hubs yet" in caplog.text)
            redis.start()
            await until(lambda: {"a-login": 1_800_000_000} in over)
        finally:
            await store.close()


async def test_a_code_that_one_hub_gave_logs_in_at_any_hub_once_and_for_a_while(
    fleet: Fleet, redis: RedisProcess
) -> None:
    bob = Principal("control", "bob", Scope(own=True, folders=("/code",)), "an-id", 1_900_000_000.5)
    one, two = FleetStore(fleet.url), FleetStore(fleet.url)
    client = redis_library.Redis.from_url(fleet.url)
    try:
        here, there = FleetInvitations(one), FleetInvitations(two)
        code = await here.give(bob)
        (kept,) = [name async for name in client.scan_iter("*invitation*")]
        assert code not in f"{kept!r} {await client.get(kept)!r}", "who reads there cannot use it"
        assert await there.redeem(code[:-1]) is None
        both = await asyncio.gather(*(each.redeem(code) for each in (here, there, here, there)))
        assert [whose for whose in both if whose is not None] == [bob]
        over = await FleetInvitations(one, life_s=0.001).give(bob)
        async with asyncio.timeout(60):
            while await client.keys("*invitation*"):  # noqa: ASYNC110 - its end is Redis's clock's
                await asyncio.sleep(0.005)
        assert await there.redeem(over) is None
        spoilt = await here.give(Principal("view"))
        (kept,) = [name async for name in client.scan_iter("*invitation*")]
        await client.set(
            kept, '{"role": "control", "name": "../x", "sessions": [], "id": null, "expires": null}'
        )
        assert await there.redeem(spoilt) is None
        redis.kill()
        for asked in (here.give(bob), there.redeem(spoilt)):
            with pytest.raises(CommandRefused, match="Redis cannot be used"):
                await asked
        assert await there.redeem("a token, which is nobody's invitation") is None, "and asks nobody"
    finally:
        await client.aclose()
        await one.close()
        await two.close()


async def test_a_hub_shows_what_all_workers_have_and_refuses_what_is_one_machine_s(fleet: Fleet) -> None:
    one, two, told = Sessions("a"), Sessions("b"), asyncio.Event()
    async with (
        fleet.worker(one, "one", agents=("claude",)),
        fleet.worker(two, "two", agents=("codex", "claude")),
        fleet.hub() as hub,
    ):
        assert [choice.title for choice in hub.agents()] == ["claude of one", "codex of two"]
        assert len(hub.tag) == 8
        unwatch = hub.watch_sessions(told.set)
        assert await session_of(hub, agent="codex") == "b0"
        async with asyncio.timeout(60):
            await told.wait()
        unwatch()
        listed = await hub.execute(frames.SessionList(type="session.list", id="1"), ANN)
        assert isinstance(listed, list)
        assert [row["session"] for row in listed if isinstance(row, dict)] == ["b0"]
        invite = frames.AccessInvite(type="access.invite", id="1")
        assert await code(hub, invite) == "not_supported"
        assert await code(hub, frames.WorktreeList(type="worktree.list", id="1")) == "not_supported"
        assert await code(hub, frames.Hello(type="hello", id="1")) == "invalid_params"
        # an id as long as a UUID that is none: each is a command of its own
        for _ in range(2):
            assert await hub.execute(prompt("b0", "so", "x" * 36), ANN) == {"by": "ann"}
    assert two.said == [("b0", "so")] * 2


async def test_a_session_that_a_worker_has_no_room_for_is_begun_by_the_next_one(fleet: Fleet) -> None:
    one, two = Sessions("a"), Sessions("b")
    one.refuses = CommandRefused("limit_sessions", "full")
    async with fleet.worker(one, "one"), fleet.worker(two, "two"), fleet.hub() as hub:
        assert await session_of(hub) == "b0"
        two.refuses = CommandRefused("limit_processes", "full, too")
        assert await code(hub, create()) == "limit_processes"
        two.refuses = CommandRefused("invalid_params", "whoever is asked")
        assert await code(hub, create()) == "invalid_params"
    assert (one.there, two.there) == ({}, {"b0": 1})


async def test_what_is_begun_out_of_another_session_is_known_at_once_and_a_session_is_exported_where_it_is(
    fleet: Fleet,
) -> None:
    one, two, again = Sessions("a"), Sessions("b"), str(uuid.uuid4())
    one.kept, two.kept = {}, {"old": "1.0"}
    async with fleet.worker(one, "one"), fleet.worker(two, "two"), fleet.hub() as hub:
        opened = frames.LibraryOpen(type="library.open", id=again, conversation="old")
        for _ in range(2):
            assert await hub.execute(opened, ANN) == {"session": "b0"}
            assert [each.session for each in hub.sessions()] == ["b0"]
        fork = frames.SessionFork(type="session.fork", id="1", session="b0")
        assert await hub.execute(fork, ANN) == {"session": "b1"}
        assert [each.session for each in hub.sessions()] == ["b0", "b1"]
        export = frames.LibraryExport(type="library.export", id="1", conversation="live:b1")
        assert await hub.execute(export, ANN) == {"name": "live:b1", "content": "b"}
        kept = frames.LibraryExport(type="library.export", id="1", conversation="old")
        assert await hub.execute(kept, ANN) == {"name": "old", "content": "b"}
        assert await hub.execute(delete("b0"), ANN) is None
        assert [each.session for each in hub.sessions()] == ["b1"]


async def test_an_answer_that_never_comes_is_given_up_and_too_many_that_wait_are_refused(
    redis: RedisProcess,
) -> None:
    fleet, sessions = Fleet(redis.url, Timing(lease_s=30, pause_s=0.02, done_s=0.05)), Sessions("s")
    sessions.there["s0"] = 1
    sessions.may_answer.clear()
    async with fleet.worker(sessions), fleet.hub() as hub:
        await until(hub.sessions)
        assert await code(hub, prompt("s0", "hello")) == "timeout"
        assert await code(hub, frames.LibraryList(type="library.list", id="1")) == "unreachable"
        hub._in_flight = IN_FLIGHT
        assert await code(hub, prompt("s0", "hello")) == "rate_limited"
        assert await code(hub, frames.LibraryList(type="library.list", id="1")) == "rate_limited"
        sessions.may_answer.set()


def entry(session: str, worker: str, fence: int = 1, group: str | None = None) -> DirectoryEntry:
    shown = encode(SessionSummary(session=session, state="idle", last_seq=0, pending=0, worker=worker))
    return DirectoryEntry(session, worker, fence, shown, group, None if group is None else session.encode())


async def test_a_session_whose_worker_is_gone_goes_on_where_somebody_can_take_it_and_nowhere_else(
    fleet: Fleet,
) -> None:
    heir, store = Sessions("h"), FleetStore(fleet.url)
    for one in (
        entry("alone", "former"), entry("lost", "former"), entry("taken", "former", group="g"),
        entry("far", "former", group="elsewhere"), entry("moved", "heir"),
    ):  # fmt: skip
        assert await store.put(one)
        fleet.owners[one.session] = Ownership("former", 1)
    fleet.owners["lost"], fleet.owners["moved"] = Ownership(NOBODY, 2), Ownership("heir", 1)
    async with fleet.worker(heir, "heir", group="g"), fleet.hub() as hub:
        assert {each.state for each in hub.sessions() if each.session != "moved"} == {"unreachable"}
        for session, why in (
            ("alone", "goes on when that worker is back"),
            ("far", "no other worker of the group 'elsewhere'"),
            ("lost", "there is no session"),
            ("moved", "no worker at present"),
        ):
            with pytest.raises(CommandRefused, match=why):
                await hub.execute(prompt(session, "go on"), ANN)
        interrupt = frames.Interrupt(type="interrupt", id="1", session="taken")
        with pytest.raises(CommandRefused, match="another worker of its group takes it"):
            await hub.execute(interrupt, ANN)
        heir.refuses = JournalUnavailable("no room there")
        assert await code(hub, prompt("taken", "go on")) == "journal_unavailable"
        heir.refuses = None
        assert await hub.execute(prompt("taken", "go on"), ANN) == {"by": "ann"}
    await store.close()
    assert heir.said == [("taken", "go on")]


async def test_a_worker_whose_lease_had_lapsed_lets_go_of_what_others_have_taken_and_of_nothing_else(
    fleet: Fleet,
) -> None:
    sessions = Sessions("s")
    sessions.there |= {"s0": 1, "s1": 1, "s2": 1}
    async with (
        redis_library.Redis.from_url(fleet.url) as client,
        fleet.worker(sessions) as worker,
        fleet.hub() as hub,
    ):
        await until(lambda: len(hub.sessions()) == 3)
        sessions.taken = {"s0"}
        await client.delete(key("w", "lease"))
        await worker.register()
        assert list(sessions.there) == ["s1", "s2"]
        # another of its name: this one has nothing any more that is not still its own
        sessions.taken |= {"s1"}
        await client.hset(key("w", "lease"), mapping={"instance": "another", "place": "elsewhere"})
        with pytest.raises(NameTaken):
            await worker.register()
        assert list(sessions.there) == ["s2"]
        # what a later owner has told of the session stays, and this one lets go of it
        store = FleetStore(fleet.url)
        assert await store.put(entry("s3", "other", fence=9))
        await store.close()
        sessions.there["s3"] = 1
        sessions.changed()
        await until(lambda: "s3" not in sessions.there)
        await until(lambda: [one.worker for one in hub.sessions() if one.session == "s3"] == ["other"])


async def test_a_worker_that_leaves_gives_its_name_back_at_once_and_ends_also_where_redis_is_away(
    fleet: Fleet, redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    one = Sessions("a")
    one.there["a0"] = 1
    async with fleet.worker(one) as worker, fleet.hub() as hub:
        await until(hub.sessions)
        assert await hub.execute(prompt("a0", "hello"), ANN) == {"by": "ann"}
        await worker.leave()
        async with fleet.worker(Sessions("b"), place="elsewhere") as other:
            redis.kill()
            await other.leave()
            assert "the fleet could not be informed that this worker ends" in caplog.text
            redis.start()


async def test_a_redis_that_has_lost_the_fleet_is_told_of_it_again(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions("s")
    sessions.there["s0"] = 1
    async with (
        redis_library.Redis.from_url(fleet.url) as client,
        fleet.worker(sessions) as worker,
        fleet.hub() as hub,
    ):
        await until(hub.sessions)
        await client.flushall()
        await worker.register()
        await until(lambda: "reads the directory again" in caplog.text)
        await until(hub.sessions)
        assert await at_last(hub, prompt("s0", "hello")) == {"by": "ann"}


async def test_a_bug_in_a_part_of_a_worker_or_a_hub_is_logged_and_the_part_begins_again(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions("s")
    async with fleet.worker(sessions), fleet.hub() as hub:
        sessions.broken = True
        sessions.changed()
        await until(lambda: "a task of the fleet's worker failed and is restarted" in caplog.text)
        sessions.broken = False
        assert await session_of(hub) == "s0"

        def failing() -> None:
            if "a task of the hub's directory failed" not in caplog.text:
                raise RuntimeError("broken on purpose")

        hub.watch_sessions(failing)
        sessions.there["s1"] = 1
        sessions.changed()
        await until(lambda: "a task of the hub's directory failed and is restarted" in caplog.text)
        sessions.there["s2"] = 1
        sessions.changed()
        await until(lambda: len(hub.sessions()) == 3)


async def test_commands_and_answers_of_another_release_cost_nothing_but_themselves(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    sessions, store = Sessions("s"), FleetStore(fleet.url)
    async with fleet.worker(sessions), fleet.hub() as hub:
        await session_of(hub)
        new = WorkerCommand(
            id="o", hub="h", command=msgspec.Raw(b'{"type":"session.paint","id":"1"}'), frontend=ANN
        )
        await store.send("w", encode(new))
        async with asyncio.timeout(60):
            _, ((order, answer),) = await store.replies("h", "0-0", 60_000)
        assert order == "o"
        error = decode(answer, Answer).error
        assert error is not None
        assert error.code == "unknown_command"
        await store.answer(hub._name, "nobody's", b"[]", 60_000)
        await store.answer(hub._name, "nobody's", encode(Answer()), 60_000)
        await until(lambda: "an answer of a worker cannot be read" in caplog.text)
        assert await hub.execute(prompt("s0", "hello"), ANN) == {"by": "ann"}
    await store.close()


async def test_a_hub_that_has_missed_changes_reads_the_directory_anew(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    sessions, changes = Sessions("s"), "turnwire:fleet:changes"
    async with redis_library.Redis.from_url(fleet.url) as client, fleet.worker(sessions), fleet.hub() as hub:
        await session_of(hub)
        await until(lambda: hub._directory._place != "0-0")
        # as where more happened than is kept: what this hub has read last is gone, and what came of the session with it
        await client.srem("turnwire:fleet:sessions", "s0")
        await client.delete(key("s0", "entry"))
        await client.xtrim(changes, maxlen=0)
        await client.xadd(changes, {"x": "y"})
        await until(lambda: not hub.sessions())
    assert "too far behind the fleet's changes" in caplog.text


async def test_a_redis_that_is_spoken_to_in_the_third_version_of_its_protocol_is_the_same(
    redis: RedisProcess,
) -> None:
    fleet, sessions = Fleet(f"{redis.url}?protocol=3", CALM), Sessions("s")
    async with fleet.worker(sessions), fleet.hub() as one, fleet.hub() as two:
        assert await session_of(one) == "s0"
        await until(two.sessions)
        assert await two.execute(prompt("s0", "hello"), ANN) == {"by": "ann"}


async def test_only_so_many_logins_that_are_over_are_remembered_the_newest_ones(fleet: Fleet) -> None:
    store = FleetStore(fleet.url)
    await store.log_out({"one": 1, "two": 2}, 2)
    await store.log_out({"three": 3}, 2)
    assert await store.logins() == {"two": 2, "three": 3}
    await store.close()


@pytest.mark.long
async def test_commands_go_through_a_cluster(tmp_path: Path) -> None:
    sessions = Sessions("s")
    async with cluster(tmp_path) as nodes:
        fleet = Fleet(f"redis+cluster://127.0.0.1:{nodes[0].port}", CALM)
        async with fleet.worker(sessions), fleet.hub() as one, fleet.hub() as two:
            for number in range(5):
                assert await session_of(one, worker="w") == f"s{number}"
            await until(lambda: len(two.sessions()) == 5)
            for number in range(5):
                assert await two.execute(prompt(f"s{number}", "hello"), ANN) == {"by": "ann"}
        assert len(sessions.said) == 5


async def test_a_principal_begins_sessions_on_its_own_workers_alone_whatever_it_wishes_for(
    fleet: Fleet,
) -> None:
    anns, bobs, shared = Sessions("a"), Sessions("b"), Sessions("c")
    scope = Scope.parse(["own", "worker:{user}"]).of("ann")
    ann = Frontend("user:ann", "control", "ann", scope)
    anns.there |= {f"x{number}": 1 for number in range(5)}
    anns.kept, bobs.kept = {"mine": "1"}, {"his": "2"}
    async with (
        fleet.worker(anns, "one", labels=["ann"], group="g"),
        fleet.worker(bobs, "two", place="there", labels=["bob"], group="g"),
        fleet.worker(shared, "three", place="elsewhere"),
        fleet.hub() as hub,
    ):
        await until(lambda: len(hub.workers()) == 3)
        for wish in ("two", "bob", "three"):
            for command in (
                create(worker=wish),
                create(worker=wish, resume="his"),
                frames.LibraryList(type="library.list", id="1", worker=wish),
                frames.LibraryOpen(type="library.open", id="1", conversation="his", worker=wish),
            ):
                with pytest.raises(CommandRefused, match="no running worker") as refused:
                    await hub.execute(command, ann)
                assert refused.value.code == "no_worker"
        # The others have more room.
        begun = await hub.execute(create(), ann)
        assert isinstance(begun, dict)
        session = str(begun["session"])
        assert session in anns.there
        for other in ("two", None):
            move = frames.SessionMove(type="session.move", id="1", session=session, worker=other)
            with pytest.raises(CommandRefused, match="no other worker of the group"):
                await hub.execute(move, ann)
        resumed = await hub.execute(create(resume="his"), ann)
        assert isinstance(resumed, dict)
        assert resumed["session"] in anns.there, "of all workers it has been asked alone"
        nobody = Frontend("user:eve", "control", "eve", Scope.parse(["own", "worker:{user}"]).of("eve"))
        with pytest.raises(CommandRefused, match="on eve alone, and no such worker runs"):
            await hub.execute(create(), nobody)
    assert (bobs.there, shared.there) == ({}, {})


async def test_a_session_whose_worker_is_gone_goes_on_on_no_worker_that_is_another_s(quick: Fleet) -> None:
    former, bobs = Sessions("a"), Sessions("b")
    former.there["a0"] = 1
    quick.owners["a0"] = Ownership("former", 1)
    ann = Frontend("user:ann", "control", "ann", Scope.parse(["own", "worker:ann"]))
    async with quick.worker(bobs, "two", labels=["bob"], group="g"), quick.hub() as hub:
        async with quick.worker(former, "former", labels=["ann"], group="g"):
            await until(hub.sessions)
        await until(lambda: hub.sessions()[0].state == "unreachable")
        with pytest.raises(CommandRefused, match="no other worker of the group 'g' has room"):
            await hub.execute(prompt("a0", "go on"), ann)
    assert bobs.adopted == 0


async def test_each_door_prompts_a_session_of_a_worker_at_the_hub_of_a_fleet(quick: Fleet) -> None:
    sessions = Sessions("s")
    sessions.there["s0"] = 1
    async with (
        quick.hub() as hub,
        hub_harness(host=hub) as harness,  # type: ignore[arg-type]  # a host as another
        connect(harness.url) as client,
        editing(client) as editor,
    ):
        async with quick.worker(sessions, "w"):
            await until(hub.sessions)
            await editor.load("s0")
            with pytest.raises(RequestError, match="as asked"):
                await editor.prompt("s0", "fail")
            assert sessions.said == [("s0", "fail")]
            for door, words in (await said_at_doors(harness, "s0", "refuse")).items():
                assert "as asked" in words, door
            assert sessions.said == [("s0", "fail"), *[("s0", "refuse")] * 3]
        await until(lambda: [one.state for one in hub.sessions()] == ["unreachable"])
        with pytest.raises(RequestError, match="has not been heard of"):
            await editor.prompt("s0", "go on")
        for door, words in (await said_at_doors(harness, "s0", "go on")).items():
            assert "has not been heard of" in words, door
    assert len(sessions.said) == 4
