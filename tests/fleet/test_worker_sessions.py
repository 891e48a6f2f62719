"""A worker's sessions over a real Redis: taken over with their logs, let go of, and whose they are told by their logs alone."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from host_harness import SOMEBODY, HostHarness, host_harness
from terminal_owner import TerminalOwner

from journals import RedisProcess
from recordings import ROOT
from turnwire.config.settings import Settings
from turnwire.fleet.errors import NameTaken
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.joining import working
from turnwire.fleet.log_ends import LogEnds
from turnwire.fleet.messages import WorkerSummary, decode
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.fleet.worker import Worker
from turnwire.fleet.worker_sessions import ClaimedRecords, WorkerSessions
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.journal.base import Entry, JournalUnavailable
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import NOBODY, Ownership
from turnwire.journal.sessions import MemorySessions, SessionRecord
from turnwire.normalize import events as ev
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        yield server
        server.kill()


class Machine:
    """A worker's machine, without its lease."""

    def __init__(self, here: HostHarness, journal: RedisJournal, sessions: WorkerSessions) -> None:
        self.here, self.journal, self.sessions = here, journal, sessions

    async def do(self, kind: str, **more: object) -> object:
        command = frames.commands.validate_python({"type": kind, "id": "1", **more})
        return await self.sessions.execute(command, SOMEBODY)


@asynccontextmanager
async def machine(
    name: str, folder: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> AsyncIterator[Machine]:
    journal = await RedisJournal.open(redis.url, owner=name)
    try:
        async with host_harness(folder, monkeypatch, journal=journal, **more) as here:
            yield Machine(here, journal, WorkerSessions(name, here.host, journal, pause_s=0.01))
    finally:
        await journal.close()


async def test_a_session_goes_on_at_another_worker_with_its_log_and_its_first_one_lets_go_of_it(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        machine("first", tmp_path, redis, monkeypatch) as first,
        machine("second", tmp_path, redis, monkeypatch) as second,
    ):
        changed = asyncio.Event()
        unwatch = first.sessions.watch_sessions(changed.set)
        answer = await first.do("session.create", workspace=str(tmp_path), agent="echo", prompt="hello")
        assert isinstance(answer, dict)
        session = answer["session"]
        assert changed.is_set()
        unwatch()
        assert [choice.agent for choice in first.sessions.agents()] == ["echo", "broken"]
        await first.here.until(session, ev.Complete)
        await first.sessions.journaled()
        assert (first.sessions.owns(session), second.sessions.owns(session)) == (True, False)
        record, fence = first.sessions.record(session), first.sessions.fence(session)
        assert record is not None
        assert second.sessions.record(session) is None
        for wrong, code in ((b"[]", "cannot_start"), (b"\xff", "cannot_start")):
            with pytest.raises(CommandRefused, match="cannot read the files") as refused:
                await second.sessions.adopt(session, wrong, "first", fence)
            assert refused.value.code == code
        assert not await second.sessions.adopt(session, record, "first", fence + 7), "it lives another life"
        assert await first.sessions.still_owns(session)
        assert await second.sessions.adopt(session, record, "first", fence)
        assert not await first.sessions.still_owns(session)
        assert await second.sessions.still_owns(session)
        # what the first one still says of it is refused, and costs no answer
        assert not await first.sessions.lost(session)
        await first.journal.append(session, [Entry(b"{}")])
        await first.sessions.journaled()
        assert await first.sessions.lost(session)
        asks, asked = first.journal.ownership, 0

        async def away_at_first(session: str) -> Ownership | None:
            nonlocal asked
            asked += 1
            if asked == 1:
                raise JournalUnavailable("Redis is away")
            return await asks(session)

        with monkeypatch.context() as patched:
            patched.setattr(first.journal, "ownership", away_at_first)
            assert await first.sessions.lost(session), "whose it is can be told once Redis is back"
        # what the session itself says next raises the refusal, which is not forgotten with that
        with suppress(JournalUnavailable):
            await first.journal.append(session, [Entry(b"{}")])
        assert await first.sessions.lost(session)
        await first.sessions.abandon(session)
        assert first.sessions.sessions() == []
        assert await first.here.store.list() == []
        (summary,) = second.sessions.sessions()
        assert (summary.session, summary.state) == (session, "exited")
        await second.do("prompt", session=session, text="once more")
        seen = await second.here.until(session, ev.Complete, 2)
        said = [event.text for event in seen if isinstance(event, ev.UserMessage)]
        assert said == ["hello", "once more"]


async def test_a_worker_that_begins_again_has_what_is_still_its_own_and_forgets_the_rest(
    tmp_path: Path, redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemorySessions()
    journal = await RedisJournal.open(redis.url, owner="w")
    other = await RedisJournal.open(redis.url, owner="other")
    hub = await RedisJournal.open(redis.url, reads_only=True)
    records = ClaimedRecords(store, journal)
    try:
        for name in ("own", "taken", "deleted"):
            await records.put(SessionRecord(session=name, created="c", workspace=str(tmp_path)))
            await journal.append(name, [Entry(b"{}")])
        await journal.flush()
        assert await other.claim("taken", await other.ownership("taken"))
        assert await hub.delete_from("deleted", Ownership("w", 1))
        assert await hub.ownership("deleted") == Ownership(NOBODY, 2)
        assert [record.session for record in await records.list()] == ["own"]
        assert [record.session for record in await store.list()] == ["own"]
        assert "another worker took the session in the meantime" in caplog.text
        assert "a session was deleted while this worker was away" in caplog.text
        assert await records.get("own") is not None
        await records.delete("own")
        assert await records.list() == []
        # what others have spoilt keeps no worker from its other sessions
        await records.put(SessionRecord(session="spoilt", created="c", workspace=str(tmp_path)))
        await journal._server._redis.set("turnwire:state:spoilt", "rubbish")
        await records.put(SessionRecord(session="fresh", created="d", workspace=str(tmp_path)))
        assert [record.session for record in await records.list()] == ["fresh"]
        assert await records.get("spoilt") is not None
    finally:
        for one in (journal, other, hub):
            await one.close()


async def test_an_answer_waits_until_the_journal_has_what_was_done(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with machine("w", tmp_path, redis, monkeypatch) as one:
        redis.kill()
        await one.journal.append("s", [Entry(b"{}")])
        with pytest.raises(JournalUnavailable):
            await one.journal.flush()
        waits = asyncio.create_task(one.sessions.journaled())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not waits.done()
        redis.start()
        async with asyncio.timeout(60):
            await waits


async def test_a_worker_says_what_it_has_room_for_and_is_there_until_its_sessions_have_ended(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_validate(
        {"redis_url": redis.url, "state_dir": tmp_path, "worker_labels": ["big"], "worker_group": "g"}
    )
    elsewhere = settings.model_copy(update={"state_dir": tmp_path / "elsewhere"})
    store = FleetStore(redis.url)
    async with machine("w", tmp_path, redis, monkeypatch) as one:
        async with working(settings, "w", one.here.host, one.journal) as member:
            member.begin()
            told = (await store.leases())["w"]
            assert told is not None
            about = decode(told.about, WorkerSummary)
            assert (about.name, about.labels, about.group, about.sessions) == ("w", ["big"], "g", 0)
            assert about.workspaces == [str(tmp_path)]
            assert [choice.agent for choice in about.agents] == ["echo", "broken"]
            with pytest.raises(NameTaken):
                async with working(elsewhere, "w", one.here.host, one.journal):
                    pass
        assert await store.leases() == {"w": None}
        redis.kill()
        with pytest.raises(JournalUnavailable, match="fleet's Redis cannot be used"):
            async with working(settings, "w", one.here.host, one.journal):
                pass
        redis.start()
    await store.close()


async def test_a_redis_that_was_put_back_is_noticed_by_a_worker_that_begins_again(
    tmp_path: Path, redis: RedisProcess
) -> None:
    journal = await RedisJournal.open(redis.url, owner="w")
    hub = await RedisJournal.open(redis.url, reads_only=True)
    store = MemorySessions()
    await store.put(SessionRecord(session="s", created="c"))
    try:
        await journal.append("s", [Entry(b"{}")] * 2)
        await journal.flush()
        assert LogEnds.of(tmp_path) == LogEnds()
        LogEnds().keep(Path("/dev/null"))
        before = journal.epoch
        for ends, is_new in (
            (LogEnds(before, {"s": 2, "gone": 9}), False),
            (LogEnds("another", {"s": 3}), False),
            (LogEnds(before, {"s": 3}), True),
        ):
            ends.keep(tmp_path)
            assert LogEnds.of(tmp_path) == ends
            await ClaimedRecords(store, journal, LogEnds.of(tmp_path)).list()
            assert (journal.epoch != before) is is_new
        await until(lambda: hub.epoch == journal.epoch)
        assert (await journal.ownership("s")) == Ownership("w", 4)
    finally:
        await hub.close()
        await journal.close()


async def test_a_session_is_taken_over_while_the_log_of_another_refuses_events(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        machine("first", tmp_path, redis, monkeypatch) as first,
        machine("second", tmp_path, redis, monkeypatch) as second,
    ):
        answer = await first.do("session.create", workspace=str(tmp_path), agent="echo", prompt="hello")
        assert isinstance(answer, dict)
        session = answer["session"]
        await first.here.until(session, ev.Complete)
        await first.sessions.journaled()
        record, fence = first.sessions.record(session), first.sessions.fence(session)
        assert record is not None
        assert await first.journal.claim("another")
        waits, flush, append = asyncio.Event(), second.journal._backlog.flush, second.journal._server.append

        async def noticed(*arguments: Any) -> None:
            waits.set()
            await flush(*arguments)

        async def late(*arguments: Any) -> Any:
            await waits.wait()
            return await append(*arguments)

        monkeypatch.setattr(second.journal._backlog, "flush", noticed)
        monkeypatch.setattr(second.journal._server, "append", late)
        claim = second.journal.claim

        async def claim_beside(*arguments: Any) -> bool:
            claimed = await claim(*arguments)
            await second.journal.append("another", [Entry(b"{}")])
            return claimed

        monkeypatch.setattr(second.journal, "claim", claim_beside)
        assert await second.sessions.adopt(session, record, "first", fence)
        assert second.journal.has_refused("another")
        assert second.sessions.owns(session)


async def test_a_session_that_was_claimed_and_could_not_be_taken_back_stays_in_the_list_and_goes_on(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_validate(
        {"redis_url": redis.url, "state_dir": tmp_path, "worker_group": "g", "fleet_lease_s": 30}
    )
    store = FleetStore(redis.url)
    workers: list[Worker] = []
    running = Worker.running

    def noted(worker: Worker) -> Any:
        workers.append(worker)
        return running(worker)

    monkeypatch.setattr(Worker, "running", noted)
    async with (
        machine("first", tmp_path, redis, monkeypatch) as first,
        machine("second", tmp_path, redis, monkeypatch) as second,
        working(settings, "first", first.here.host, first.journal) as member,
    ):
        member.begin()
        host = FleetHost(store, second.journal, Timing(lease_s=30, pause_s=0.02))
        async with host.running():
            answer = await host.execute(
                frames.SessionCreate(
                    type="session.create", id="1", workspace=str(tmp_path), agent="echo", prompt="hello"
                ),
                SOMEBODY,
            )
            assert isinstance(answer, dict)
            session = str(answer["session"])
            await first.here.until(session, ev.Complete)
            await until(lambda: [one.state for one in host.sessions()] == ["idle"])
            (worker,) = workers
            async with worker._showing:
                before = (await store.entries([session]))[session]
                assert before is not None
                assert before.record is not None
                assert await second.sessions.adopt(session, before.record, "first", before.fence)
                # Whose it is changes with the claim, in the directory, too.
                taken = (await store.entries([session]))[session]
                assert taken is not None
                assert (taken.worker, taken.fence) == ("second", before.fence + 1)
                await first.sessions.abandon(session)
                await second.sessions.abandon(session)
                with monkeypatch.context() as patched:

                    async def refused(_: object) -> None:
                        raise JournalUnavailable("another session's events are refused")

                    patched.setattr(first.here.host, "take_over", refused)
                    with pytest.raises(JournalUnavailable):
                        await first.sessions.adopt(session, before.record, "second", taken.fence)
            await worker._show_all()
            assert not first.sessions.owns(session)
            kept = (await store.entries([session]))[session]
            assert kept is not None
            assert (kept.worker, kept.fence, kept.record) == ("first", before.fence + 2, before.record)
            await host.execute(frames.Prompt(type="prompt", id="2", session=session, text="go on"), SOMEBODY)
            assert first.sessions.owns(session)
            await first.here.until(session, ev.Complete, 2)
            # Nobody else's word ends it, and `session.delete` does: for good.
            await store.remove(session, first.sessions.fence(session))
            assert (await store.entries([session]))[session] is not None
            await host.execute(frames.SessionDelete(type="session.delete", id="3", session=session), SOMEBODY)
            assert host.sessions() == []
            assert not await store.put(before)
            assert (await store.entries([session]))[session] is None
    await store.close()


async def moved(session: str, first: Machine, second: Machine) -> None:
    """Have the second one take a session from the first one, which lets go of it."""
    await first.sessions.journaled()
    record = first.sessions.record(session)
    assert record is not None
    assert await second.sessions.adopt(session, record, "first", first.sessions.fence(session))
    await first.sessions.abandon(session)
    assert first.sessions.sessions() == []


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")
async def test_a_session_that_another_worker_takes_keeps_its_sandbox_and_its_worktree(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    for words in (("init", "-q", project), ("-C", project, "commit", "-q", "--allow-empty", "-m", "First")):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True)
    # only the session asks for a sandbox
    readable = [str(ROOT), sys.prefix, str(tmp_path / "echo.yaml")]
    settings = {"worktrees": str(tmp_path / "trees"), "sandbox_readable": readable}
    async with (
        machine("first", tmp_path, redis, monkeypatch, settings=settings) as first,
        machine("second", tmp_path, redis, monkeypatch, settings=settings) as second,
    ):
        wanted = {
            "workspace": str(project),
            "agent": "echo",
            "sandbox": "files",
            "worktree": {"branch": "work"},
        }
        answer = await first.do("session.create", **wanted, prompt="hello")
        assert isinstance(answer, dict)
        session = answer["session"]
        await first.here.until(session, ev.Complete)
        (before,) = first.sessions.sessions()
        await moved(session, first, second)
        await second.do("prompt", session=session, text="once more")
        await second.here.until(session, ev.Complete, 2)
        (after,) = second.sessions.sessions()
        assert (after.sandbox, after.workspace, after.worktree) == (
            "files",
            before.workspace,
            before.worktree,
        )
        record = second.here.host.record(session)
        assert record is not None
        assert b"bwrap" in Path(f"/proc/{record.pid}/cmdline").read_bytes()
        status = await second.do("worktree.status", session=session)
        assert isinstance(status, dict)
        assert (status["branch"], status["uncommitted"]) == ("work", [])


async def test_prompts_that_waited_are_withdrawn_where_another_worker_takes_their_session(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "waits.yaml"
    script.write_text("turns: [{match: ^wait, steps: [{wait: 600}]}, {steps: [{text: 'echo: {prompt}'}]}]")
    agents = {"waits": [sys.executable, "-m", "turnwire.scripted_agent", str(script)]}
    async with (
        machine("first", tmp_path, redis, monkeypatch, agents=agents) as first,
        machine("second", tmp_path, redis, monkeypatch, agents=agents) as second,
    ):
        answer = await first.do("session.create", workspace=str(tmp_path), agent="waits", prompt="wait")
        assert isinstance(answer, dict)
        session = answer["session"]
        await first.here.until(session, ev.TurnStarted)
        waiting = await first.do("prompt", session=session, text="later")
        assert isinstance(waiting, dict)
        await first.here.until(session, ev.Queued)
        await moved(session, first, second)
        seen = await second.here.events(session)
        assert [one.prompt for one in seen if isinstance(one, ev.Withdrawn)] == [waiting["prompt"]]
        assert [one.data.outcome for one in seen if isinstance(one, ev.Complete)] == ["process_exited"]
        await second.do("prompt", session=session, text="after it")
        seen = await second.here.until(session, ev.Complete, 2)
        said = [one.text for one in seen if isinstance(one, ev.MessageChunk)]
        assert "".join(said) == "echo: after it"


async def test_a_session_in_a_terminal_is_led_by_frontends_where_another_worker_takes_it(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "claude"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m turnwire.scripted_agent {tmp_path}/echo.yaml "$@"\n'
    )
    program.chmod(0o755)
    agents, owner = {"claude": [str(program)]}, await TerminalOwner.started()
    async with (
        machine("first", tmp_path, redis, monkeypatch, agents=agents) as first,
        machine("second", tmp_path, redis, monkeypatch, agents=agents) as second,
    ):
        answer = await first.do("session.create", workspace=str(tmp_path), agent="claude", prompt="hello")
        assert isinstance(answer, dict)
        session = answer["session"]
        await first.here.until(session, ev.Complete)
        live = first.here.host._registry.sessions[session]
        try:
            ticket = await owner.ticket(await first.do("native.begin", session=session, host="box"))
            await first.do("native.begin", session=session, host="box", ticket=ticket, new=True)
            assert [one.in_terminal for one in first.sessions.sessions()] == ["box"]
            await moved(session, first, second)
            assert [(one.in_terminal, one.state) for one in second.sessions.sessions()] == [(None, "exited")]
        finally:
            await owner.kill()
        await until(lambda: live.in_terminal is None)
    assert [row for row in caplog.records if row.levelname == "ERROR"] == []
