"""What an operator does with a fleet: `turnwire fleet`, over a real Redis."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from fleets import CALM, Fleet, Sessions, create, prompt, session_of
from redis.asyncio import Redis
from typer.testing import CliRunner, Result

from journals import RedisProcess
from turnwire.config.settings import Quota
from turnwire.fleet.errors import OperationRefused
from turnwire.fleet.operating import Operator
from turnwire.fleet.spending import FleetSpending
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.results import FleetListing
from turnwire.journal.base import Entry, JournalUnavailable
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import Ownership
from turnwire.normalize.events.envelope import Cursor
from turnwire.sidecar.cli.commands import application
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        server.start()
        yield server
        server.kill()


async def said(redis: RedisProcess, *words: str, env: dict[str, str] | None = None) -> Result:
    """Run `turnwire fleet` beside the fleet's own loop."""
    call = ["fleet", *words, "--journal", redis.url]
    return await asyncio.to_thread(lambda: CliRunner().invoke(application("fleet"), call, env=env))


async def test_workers_are_listed_with_what_an_operator_asks_and_led_by_name(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, Timing(lease_s=CALM.lease_s, beats=300, pause_s=0.01))
    sessions = Sessions("a")
    sessions.there = {"a0": 1, "a1": 1}
    async with fleet.worker(sessions, "w", group="g") as worker, fleet.hub() as hub:
        await until(lambda: len(hub.sessions()) == 2)
        listed = await said(redis, "list")
        assert listed.exit_code == 0, listed.output
        first, head, row = listed.output.splitlines()
        assert "epoch none yet" in first
        assert head.split()[:4] == ["WORKER", "STATE", "LEASE", "SESSIONS"]
        assert row.split()[:2] == ["w", "serving"]
        assert "2/9" in row
        assert (await said(redis, "cordon", "w")).exit_code == 0
        await until(lambda: hub.workers() == [])
        (told,) = json.loads((await said(redis, "list", "--json")).output)["workers"]
        assert (told["state"], told["wish"], told["sessions"], told["orders"]) == ("cordoned", "cordon", 2, 0)
        assert 0 < told["lease_left_s"] <= CALM.lease_s / 2
        assert (await said(redis, "uncordon", "w")).exit_code == 0
        await until(hub.workers)
        refused = await said(redis, "drain", "other")
        assert refused.exit_code == 1
        assert "There is no running worker 'other'. Running: w." in refused.output
        assert "is there or has 2 sessions" in (await said(redis, "forget", "w")).output
        late = await said(redis, "drain", "w", "--wait", "0.1")
        assert "has not ended in 0.1 s" in late.output
        async with asyncio.timeout(60):
            await worker.wished()
    assert CliRunner().invoke(application("fleet"), ["fleet", "list", "--journal", "sqlite"]).exit_code == 2


async def test_a_hub_names_workers_whose_old_events_it_cannot_read(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, CALM)
    async with (
        fleet.worker(Sessions("a"), "w", archive="of w"),
        fleet.worker(Sessions("b"), "x"),
        fleet.hub() as hub,
    ):
        (said,) = hub.apart("another")
        assert "worker 'w'" in said
        assert hub.apart("of w") == []


async def test_an_admin_lists_and_leads_workers_at_a_hub_and_takes_sessions(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, Timing(lease_s=CALM.lease_s, beats=300, pause_s=0.01))
    former, heir = Sessions("a"), Sessions("b")
    former.there = {"a0": 1}
    journal = await RedisJournal.open(redis.url, owner="former")
    operator = Operator(redis.url)
    ops = Frontend("user:ops", "control", user="ops")
    try:
        await journal.append("a0", [Entry(b'{"type":"notice"}')])
        await journal.flush()
        async with (
            fleet.worker(former, "former", group="g") as worker,
            fleet.worker(heir, "heir", group="g"),
            fleet.hub(operator=operator) as hub,
        ):
            listing: Any = await hub.execute(frames.FleetList(type="fleet.list", id="1"), ops)
            assert [(one["worker"], one["state"], one["orders"]) for one in listing["workers"]] == [
                ("former", "serving", 0), ("heir", "serving", 0),
            ]  # fmt: skip
            assert msgspec.convert(listing, FleetListing).workers[0].lease_left_s > 0

            async def lead(action: str, name: str = "former") -> None:
                command = frames.FleetLead.model_validate(
                    {"type": "fleet.lead", "id": "1", "worker": name, "action": action}
                )
                assert await hub.execute(command, ops) is None

            await lead("cordon")
            await until(lambda: [one.worker for one in hub.workers()] == ["heir"])
            await lead("uncordon")
            await until(lambda: len(hub.workers()) == 2)
            with pytest.raises(CommandRefused, match="no running worker 'x'"):
                await lead("drain", "x")
            take = frames.FleetTake(type="fleet.take", id="1", session="none", worker="heir")
            with pytest.raises(CommandRefused, match="no session 'none'"):
                await hub.execute(take, ops)
            await lead("drain")
            async with asyncio.timeout(60):
                await worker.wished()
        async with fleet.hub() as without:
            with pytest.raises(CommandRefused, match="is about one machine"):
                await without.execute(frames.FleetList(type="fleet.list", id="1"), ops)
    finally:
        await operator.close()
        await journal.close()


async def test_hubs_and_workers_of_an_older_release_are_refused_in_words(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, CALM)
    async with fleet.hub():
        pass
    async with Redis.from_url(redis.url) as client:
        assert await client.get("turnwire:fleet:schema") == b"1"
        await client.set("turnwire:fleet:schema", 2)
    with pytest.raises(
        JournalUnavailable, match=r"newer turnwire \(schema '2'; this one, .*, knows 1\)\. Upgrade"
    ):
        async with fleet.hub():
            pass
    with pytest.raises(JournalUnavailable, match="newer turnwire"):
        async with fleet.worker(Sessions("a")):
            pass


async def test_a_session_is_taken_by_force_from_a_worker_that_lives(redis: RedisProcess) -> None:
    fleet = Fleet(redis.url, Timing(lease_s=CALM.lease_s, beats=300, pause_s=0.01))
    former, heir, stranger = Sessions("a"), Sessions("b"), Sessions("c")
    journal = await RedisJournal.open(redis.url, owner="former")
    await journal.append("a0", [Entry(b'{"type":"notice"}')])
    await journal.flush()
    former.there = {"a0": 1}
    operator = Operator(redis.url)
    try:
        async with (
            fleet.worker(former, "former", group="g"),
            fleet.worker(heir, "heir", group="g"),
            fleet.worker(stranger, "x"),
            fleet.hub() as hub,
        ):
            await until(lambda: len(hub.sessions()) == 1)
            with pytest.raises(OperationRefused, match="does not see the files"):
                await operator.take("a0", "x", 1)
            with pytest.raises(OperationRefused, match="no session 'a9'"):
                await operator.take("a9", "heir", 1)
            with pytest.raises(OperationRefused, match="has not taken"):
                # these sessions are no log's, so the claim shows nowhere
                await operator.take("a0", "heir", 0.3)
            assert heir.there == {"a0": 2}
            with pytest.raises(OperationRefused, match="nothing to take"):
                await operator.take("a0", "former", 1)
    finally:
        await operator.close()
        await journal.close()


async def test_what_an_operator_waits_for_ends_in_time_where_a_call_loses_its_cancellation(
    redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, operator = Fleet(redis.url, CALM), Operator(redis.url)
    journal = await RedisJournal.open(redis.url, owner="former")
    await journal.append("a0", [Entry(b'{"type":"notice"}')])
    await journal.flush()
    former = Sessions("a")
    former.there = {"a0": 1}
    status = operator.status
    is_deaf = False

    async def deaf(*_: object) -> bool:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return False

    async def late() -> FleetListing:
        if is_deaf:
            await deaf()
        return await status()

    monkeypatch.setattr(operator, "_is_taken", deaf)
    monkeypatch.setattr(operator, "status", late)
    try:
        async with (
            fleet.worker(former, "former", group="g"),
            fleet.worker(Sessions("b"), "heir", group="g"),
            fleet.hub() as hub,
        ):
            await until(lambda: len(hub.sessions()) == 1)
            with pytest.raises(OperationRefused, match="has not taken"):
                await operator.take("a0", "heir", 0.1)
            is_deaf = True
            with pytest.raises(OperationRefused, match="has not ended"):
                await operator.until_gone("heir", 0.1)
    finally:
        await operator.close()
        await journal.close()


class Claiming(Sessions):
    """Sessions whose logs are in Redis, with the claim of a worker on each."""

    def __init__(self, prefix: str, name: str, journal: RedisJournal) -> None:
        super().__init__(prefix)
        self._name, self._journal = name, journal

    def fence(self, session: str) -> int:
        return self._journal.fence(session)

    async def adopt(self, session: str, record: bytes, worker: str, fence: int) -> bool:
        if not await self._journal.claim(session, Ownership(worker, fence)):
            return False
        return await super().adopt(session, record, worker, fence)

    async def still_owns(self, session: str) -> bool:
        return await self._journal.ownership(session) == Ownership(self._name, self.fence(session))


async def test_a_session_that_was_taken_from_an_idle_worker_is_let_go_and_can_be_taken_back(
    redis: RedisProcess,
) -> None:
    fleet = Fleet(redis.url, Timing(lease_s=CALM.lease_s, beats=300, pause_s=0.01))
    operator = Operator(redis.url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(operator.close)
        workers: dict[str, Claiming] = {}
        for name in ("former", "heir"):
            journal = await RedisJournal.open(redis.url, owner=name)
            stack.push_async_callback(journal.close)
            workers[name] = Claiming(name, name, journal)
            if name == "former":
                await journal.append("a0", [Entry(b'{"type":"notice"}')])
                await journal.flush()
                workers[name].there = {"a0": 1}
            await stack.enter_async_context(fleet.worker(workers[name], name, group="g"))
        hub = await stack.enter_async_context(fleet.hub())
        await until(lambda: len(hub.sessions()) == 1)

        def let_go(name: str) -> bool:
            return not workers[name].there

        def listed(name: str) -> bool:
            return [one.worker for one in hub.sessions()] == [name]

        for owner, other in (("heir", "former"), ("former", "heir")) * 2:
            await operator.take("a0", owner, 60)
            # the idle one writes nothing by which it would notice
            await until(partial(let_go, other))
            assert set(workers[owner].there) == {"a0"}
            await until(partial(listed, owner))


async def test_after_a_restore_all_readers_start_again_in_a_new_epoch(redis: RedisProcess) -> None:
    writer = await RedisJournal.open(redis.url)
    hub = await RedisJournal.open(redis.url, reads_only=True)
    try:
        await writer.append("s", [Entry(b'{"type":"notice","text":"%d"}' % number) for number in range(3)])
        await writer.flush()
        await until(lambda: hub.last("s") == 3)
        before = Cursor(hub.epoch, 3)
        restored = await said(redis, "restore")
        assert restored.exit_code == 0, restored.output
        await until(lambda: hub.epoch != before.epoch)
        assert hub.epoch in restored.output
        page = await hub.read_after("s", before)
        assert page.gap is not None
        assert [one.seq for one in page.envelopes] == [1, 2, 3]
    finally:
        await hub.close()
        await writer.close()


async def test_fleets_with_other_prefixes_share_a_redis_and_see_nothing_of_each_other(
    redis: RedisProcess,
) -> None:
    red, blue = (Fleet(redis.url, CALM, prefix) for prefix in ("red:", "blue:"))
    async with red.worker(Sessions("r")), blue.worker(Sessions("b")), red.hub() as reds, blue.hub() as blues:
        await session_of(reds)
        await until(lambda: [one.session for one in reds.sessions()] == ["r0"])
        assert await session_of(blues) == "b0"
        await until(lambda: [one.session for one in blues.sessions()] == ["b0"])
        assert [one.session for one in reds.sessions()] == ["r0"]
    told = await said(redis, "list", "--json", env={"TURNWIRE_REDIS_PREFIX": "red:"})
    assert [one["worker"] for one in json.loads(told.output)["workers"]] == ["w"]
    async with Redis.from_url(redis.url) as client:
        keys: list[Any] = await client.keys("*")
        assert {key.partition(b":")[0] for key in keys} == {b"red", b"blue"}


async def test_commands_at_two_hubs_at_the_same_time_count_each_other(redis: RedisProcess) -> None:
    fleet, sessions = Fleet(redis.url, CALM), Sessions("a")
    sessions.owner = "ann"
    ann = Frontend("user:ann", "control", user="ann")
    quotas = {"ann": Quota(sessions=1)}
    async with fleet.worker(sessions), fleet.hub(quotas) as one, fleet.hub(quotas) as two:
        answers = await asyncio.gather(
            *(hub.execute(create(), ann) for hub in (one, two) * 5), return_exceptions=True
        )
        begun = [answer for answer in answers if isinstance(answer, dict)]
        refused = [answer for answer in answers if isinstance(answer, CommandRefused)]
        assert (len(begun), len(refused)) == (1, 9)
        assert {answer.code for answer in refused} == {"limit_principal"}
        for answer in refused:
            assert re.match(r"the principal 'ann' has used \d+ of its 1 sessions", answer.message)
        assert len(sessions.there) == 1
        # What was deleted is free at once, at any hub.
        await until(lambda: [one.session for one in two.sessions()] == ["a0"])
        await two.execute(frames.SessionDelete(type="session.delete", id="1", session="a0"), ann)
        await until(lambda: one.sessions() == [])
        assert isinstance(await one.execute(create(), ann), dict)
    redis.kill()
    store = FleetStore(redis.url)
    spending = FleetSpending(store)
    with pytest.raises(JournalUnavailable):
        await spending.reserve("ann", "x", 1)
    await spending.settle("ann", "x", None, 1)
    own = FleetSpending(store, is_hub=False)
    assert await own.reserve("ann", "x", 1) == {"x"}
    await own.settle("ann", "x", None, 1)
    assert await own.reserve("ann", "y", 1) == {"y"}
    await store.close()
    redis.start()


async def test_a_quota_counts_what_all_workers_have_and_what_was_spent_at_any(redis: RedisProcess) -> None:
    fleet, one, two = Fleet(redis.url, CALM), Sessions("a"), Sessions("b")
    one.there, two.there = {"a0": 1}, {"b0": 1}
    one.owner = two.owner = "ann"
    ann = Frontend("user:ann", "control", user="ann")
    quotas = {"ann": Quota(sessions=2, dollars_a_day=3), "*": Quota(bytes=1000)}
    store = FleetStore(redis.url)
    spending = FleetSpending(store)
    try:
        async with fleet.worker(one, "one"), fleet.worker(two, "two"), fleet.hub(quotas) as hub:
            await until(lambda: len(hub.sessions()) == 2)
            with pytest.raises(CommandRefused, match="'ann' has used 2 of its 2 sessions"):
                await hub.execute(create(), ann)
            assert await hub.execute(prompt("a0", "hi"), ann) == {"by": "user:ann"}
            await spending.add("ann", 1.25)
            await spending.add("ann", 1.75)
            with pytest.raises(CommandRefused, match="'ann' has used 3 of its 3 dollars today"):
                await hub.execute(prompt("b0", "hi"), ann)
            one.owner = "ben"
            one.changed()
            await until(lambda: any(one.owner == "ben" for one in hub.sessions()))
            with pytest.raises(CommandRefused, match="'ben' has used 1000 of its 1000 bytes"):
                await hub.execute(prompt("a0", "hi", "2"), ann)
        redis.kill()
        await spending.add("ann", 1)
        with pytest.raises(JournalUnavailable):
            await spending.today("ann")
        redis.start()
        await spending.add("ann", 1)
        assert await spending.today("ann") == 5, "what could not be told is told with the next turn"
    finally:
        await store.close()
