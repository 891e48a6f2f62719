"""What happens to live sessions when many want something at once, and when what is around them fails."""

import asyncio
import json
import os
import shlex
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from host_harness import FailingJournal, HostHarness, host_harness

from recordings import ROOT
from turnwire.adapter.claude.session import ClaudeSession
from turnwire.adapter.process.identity import ProcessIdentity, start_time
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import Scope
from turnwire.hub.wire import frames
from turnwire.journal.base import Entry, Journal, JournalUnavailable, Page
from turnwire.journal.sessions import MemorySessions, SessionRecord
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.inputs import SessionInput
from turnwire.sessions.records.options import RecordOptions
from turnwire.sessions.records.writer import RecordWriter
from turnwire.sessions.workspaces import workspace_of
from waiting import until


async def test_of_two_who_resume_at_once_one_is_told_that_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        session = await here.create()
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)
        await here.do("session.close", session)
        done = await asyncio.gather(
            *(here.do("session.resume", session) for _ in range(5)), return_exceptions=True
        )
        refused = [error.code for error in done if isinstance(error, CommandRefused)]
        assert refused == ["running"] * 4
        await here.do("prompt", session, text="once more")
        seen = await here.until(session, ev.Complete, 2)
        started = [
            event for event in seen if isinstance(event, ev.ProcessStatus) and event.state == "started"
        ]
        assert len(started) == 2


async def test_prompts_that_wake_a_session_at_once_start_one_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        session = await here.create()
        await here.do("session.close", session)
        await asyncio.gather(*(here.do("prompt", session, text=f"number {n}") for n in range(5)))
        seen = await here.until(session, ev.Complete)
        pids = [event.pid for event in seen if isinstance(event, ev.ProcessStatus) and event.pid]
        assert len(pids) == 2


async def test_a_session_that_is_deleted_cannot_be_resumed_by_who_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        session = await here.create()
        deleted, resumed, closed = await asyncio.gather(
            here.do("session.delete", session),
            here.do("session.resume", session, at="m"),
            here.do("session.close", session),
            return_exceptions=True,
        )
        assert deleted is None
        assert [error.code for error in (resumed, closed) if isinstance(error, CommandRefused)] == [
            "unknown_session"
        ] * 2
        assert here.states() == []
        assert await here.store.list() == []
        assert not await here.events(session)


async def test_stopping_waits_for_what_starts_and_lets_nothing_start_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        creating = asyncio.create_task(here.create())
        await until(here.states)
        async with asyncio.timeout(60):
            await here.host.stop()
        session = await creating
        assert here.states() == ["exited"]
        with pytest.raises(CommandRefused, match="stopping"):
            await here.do("prompt", session, text="too late")
        with pytest.raises(CommandRefused, match="stopping"):
            await here.create()
    (record,) = await here.store.list()
    assert (record.state, record.process) == ("exited", None)


async def test_a_session_that_cannot_start_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def audit(session: str) -> None:
        raise OSError(28, "No space left on device")

    async with host_harness(tmp_path, monkeypatch, audit=audit) as here:
        with pytest.raises(CommandRefused, match="No space left") as refused:
            await here.create()
        assert refused.value.code == "cannot_start"
        assert here.states() == []
        assert await here.store.list() == []


async def test_a_cli_that_ends_at_once_leaves_a_session_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        session = await here.create("broken")
        seen = await here.until(session, ev.ProcessStatus, 2)
        (exited,) = [
            event for event in seen if isinstance(event, ev.ProcessStatus) and event.state == "exited"
        ]
        assert exited.exit_code == 127
        assert "cannot run" in (exited.stderr_tail or "")


async def test_the_process_is_on_record_before_its_first_event_and_counts_among_those_that_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, settings={"max_processes": 1}) as here:
        await here.create()
        (record,) = await here.store.list()
        assert record.process is not None
        identity = ProcessIdentity.from_text(record.process)
        assert start_time(identity.pid) == identity.start_time
        code, said = await refusal(here.create())
        assert code == "limit_processes"
        assert "raise max_processes" in said
        assert [one.session for one in here.host.sessions()] == [record.session]


async def test_what_looks_on_and_fails_is_left_out_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[SessionInput] = []

    def failing(item: SessionInput, events: Sequence[AgentEvent]) -> None:
        seen.append(item)
        raise ValueError("a bug of the tracer")

    async with host_harness(tmp_path, monkeypatch, observers=lambda session, agent: [failing]) as here:
        session = await here.create()
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)
    assert len(seen) == 1
    assert [line.levelname for line in caplog.records if line.name.startswith("turnwire.")] == ["ERROR"]


async def test_a_log_that_could_not_be_written_to_its_end_is_closed_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = FailingJournal()
    async with host_harness(tmp_path, monkeypatch, journal=journal) as here:
        session = await here.create()
        await here.do("prompt", session, text="first")
        await here.until(session, ev.TurnStarted)
        journal.full = True
        await until(lambda: here.states() == ["exited"])
        journal.full = False
        await here.do("prompt", session, text="second")
        seen = await here.until(session, ev.ProcessStatus, 3)
        seen = await here.until(session, ev.Complete, 2)
    turns = [event.operation_id for event in seen if isinstance(event, ev.TurnStarted)]
    assert turns == [event.operation_id for event in seen if isinstance(event, ev.Complete)]
    assert turns == ["turn-1", "turn-2"]
    assert json.dumps([event.type for event in seen]).count("process_status") == 3


async def test_a_session_is_closed_when_its_last_event_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, gate = await SqliteJournal.open(tmp_path / "journal.sqlite3"), threading.Event()
    async with host_harness(tmp_path, monkeypatch, journal=journal) as here:
        session = await here.create()
        await here.until(session, ev.ProcessStatus)
        held = asyncio.create_task(journal.writer.call(lambda _: gate.wait(60)))
        closing = asyncio.create_task(here.do("session.close", session))
        await until(lambda: here.states() == ["exited"])
        for _ in range(100):
            await asyncio.sleep(0)
        assert not closing.done()
        gate.set()
        await closing
        last = (await here.events(session))[-1]
        assert isinstance(last, ev.ProcessStatus)
        assert last.state == "exited"
        assert await held
    await journal.close()


# --- what goes wrong in one session ---


class Broken:
    """Something of one session's that fails when told to."""

    def __init__(self) -> None:
        self.now = False

    def __call__(self, *_: object, **__: object) -> None:
        if self.now:
            raise RuntimeError("broken on purpose")


async def failed_alone(here: HostHarness, bad: str, good: str) -> str:
    """Wait until one session has failed; the other must go on as if nothing was. Return what was told."""
    ended = await here.until(bad, ev.ProcessStatus, count=2)
    status = [event for event in ended if isinstance(event, ev.ProcessStatus)][-1]
    assert status.state == "exited"
    (complete,) = [event for event in ended if isinstance(event, ev.Complete)][-1:]
    assert complete.data.is_error
    assert complete.error == status.reason
    await until(lambda: here.states().count("exited") == 1, 60)
    known = {summary.session: summary for summary in here.host.sessions()}
    assert known[bad].trouble == status.reason
    assert known[good].trouble is None
    await here.do("prompt", good, text="still here")
    await here.until(good, ev.Complete, count=2)
    assert status.reason is not None
    return status.reason


@pytest.mark.long
@pytest.mark.parametrize("what", ["core", "journal", "state", "adapter"])
async def test_whatever_fails_in_a_session_ends_it_with_an_event_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        bad, good = await here.create(), await here.create()
        for session in (bad, good):
            await here.do("prompt", session, text="hello")
            await here.until(session, ev.Complete)
        live, broken = here.host._registry.sessions[bad], Broken()
        match what:
            case "core":
                monkeypatch.setattr(live._pipeline.core, "handle", broken)
            case "state":
                monkeypatch.setattr(live._pipeline, "_state", broken)
            case "adapter":
                assert isinstance(live._cli, ClaudeSession)
                monkeypatch.setattr(live._cli._turns, "changed", broken)
            case _:
                append = here.services.journal.append

                async def refuse_one(session: str, entries: Sequence[Entry]) -> int:
                    if session == bad and broken.now and len(entries) > 0:
                        broken.now = False
                        raise JournalUnavailable("broken on purpose")
                    return await append(session, entries)

                monkeypatch.setattr(here.services.journal, "append", refuse_one)
        # a turn is open when it happens
        await here.services.journal.append(
            bad, [Entry(to_json(ev.TurnStarted(operation_id="turn-2", origin="user", prompts=[])))]
        )
        broken.now = True
        await here.do("prompt", bad, text="into the open")
        assert "broken on purpose" in await failed_alone(here, bad, good)
        # and it can go on
        monkeypatch.undo()
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        await here.do("prompt", bad, text="once more")
        await here.until(bad, ev.Complete, count=3)


async def test_an_observer_that_fails_is_left_out_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken()
    broken.now = True
    async with host_harness(tmp_path, monkeypatch, observers=lambda session, agent: [broken]) as here:
        session = await here.create()
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)


async def test_a_session_of_an_earlier_life_that_cannot_be_read_keeps_no_other_from_being_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        for session in ("s-bad", "s-good"):
            await here.store.put(SessionRecord(session=session, created="c", state="running"))
        monkeypatch.setattr(
            here.services.journal,
            "read_after",
            _unreadable(here.services.journal, "s-bad", ValueError("rubbish")),
        )
        await here.host.restore()
        assert {summary.session for summary in here.host.sessions()} == {"s-bad", "s-good"}
        assert here.host._registry.sessions["s-good"].record.state == "exited"
        # its log is closed by its next start
        assert here.host._registry.sessions["s-bad"].record.state == "running"


def _unreadable(journal: Journal, bad: str, why: Exception) -> Callable[..., Awaitable[Page]]:
    read_after = journal.read_after

    async def read(session: str, cursor: Cursor, **limits: int) -> Page:
        if session == bad:
            raise why
        return await read_after(session, cursor, **limits)

    return read


async def test_a_workspace_whose_path_is_no_utf8_is_refused_and_nothing_else_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(real)  # noqa: PTH102 - a name as bytes
    (tmp_path / "link").symlink_to(os.fsdecode(real))
    async with host_harness(tmp_path, monkeypatch) as here:
        good = await here.create()
        with pytest.raises(CommandRefused, match=r"is not UTF-8.*rename it") as refused:
            await here.create(workspace=str(tmp_path / "link"))
        assert refused.value.field == "workspace"
        with pytest.raises(CommandRefused, match=r"is not UTF-8.*rename it"):
            workspace_of(os.fsdecode(real))
        assert len(here.host.sessions()) == 1
        await here.do("prompt", good, text="hello")
        await here.until(good, ev.Complete)


async def test_a_record_that_cannot_be_written_keeps_no_other_from_being_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Store(MemorySessions):
        async def put(self, record: SessionRecord) -> None:
            if record.session == "s-bad":
                raise UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed")
            await super().put(record)

    store = Store()
    writer = RecordWriter(store)
    writer.save(SessionRecord(session="s-bad", created="c"))
    writer.save(SessionRecord(session="s-good", created="c"))
    await writer.flush()
    assert [record.session for record in await store.list()] == ["s-good"]
    assert "a session's record cannot be written" in caplog.text


# --- what cannot be done, and is said ---


def refusing(folder: Path) -> list[str]:
    """An agent that goes back to no message, and ends as the CLI does that is asked for one that it does not know."""
    program = folder / "refusing"
    echo = (
        f"{shlex.quote(sys.executable)} -m turnwire.scripted_agent {shlex.quote(str(folder / 'echo.yaml'))}"
    )
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--resume-session-at*) echo "No message found" >&2; exit 1;; esac\n'
        f'exec {echo} "$@"\n'
    )
    program.chmod(0o755)
    return [str(program)]


async def refusal(asked: Awaitable[object]) -> tuple[str, str]:
    with pytest.raises(CommandRefused) as refused:
        await asked
    return refused.value.code, refused.value.message


async def test_a_session_whose_agent_does_not_go_back_runs_on_from_where_it_was_and_no_fork_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, agents={"refusing": refusing(tmp_path)}) as here:
        session = await here.create("refusing")
        await here.do("prompt", session, text="hello")
        seen = await here.until(session, ev.Complete)
        (complete,) = [event for event in seen if isinstance(event, ev.Complete)]
        before = here.host.record(session)
        for kind in ("session.resume", "session.fork"):
            code, said = await refusal(here.do(kind, session, at=complete.data.resume_token))
            assert code == "refused_by_cli"
            assert "refusing ended at once, with exit code 1 and the words 'No message found'" in said
        assert len(here.host.sessions()) == len(await here.store.list()) == 1
        after = here.host.record(session)
        assert before is not None
        assert after is not None
        assert after.cli_session_id == before.cli_session_id
        assert after.resume_token == before.resume_token
        assert not [event for event in await here.events(session) if isinstance(event, ev.Cut)]
        await here.do("prompt", session, text="still here")
        await here.until(session, ev.Complete, 2)


async def test_what_a_session_has_nothing_for_is_refused_and_starts_no_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, settings={"max_sessions": 4}) as here:
        for name, more in (
            ("s-said", {"agent": "echo", "cli_session_id": "c"}),
            ("s-new", {"agent": "echo"}),
            ("s-gone", {"agent": "nobody has it", "cli_session_id": "c"}),
            ("s-lost", {"agent": "echo", "last_prompt": "look", "options": {"attached": 1}}),
        ):
            record = {"created": "c", "state": "exited", "workspace": str(tmp_path), **more}
            await here.store.put(SessionRecord(session=name, **record))  # type: ignore[arg-type]  # its fields
        await here.host.restore()
        for asked, code in (
            (here.do("session.fork", "s-new"), "nothing_to_resume"),
            (here.do("session.retry", "s-new"), "nothing_to_retry"),
            (here.do("session.retry", "s-lost"), "nothing_to_retry"),
            (here.do("interrupt", "s-new"), "not_running"),
            (here.do("session.resume", "s-gone"), "cannot_start"),
            (here.create(), "limit_sessions"),
            (here.do("session.fork", "s-said"), "limit_sessions"),
            (here.execute("push.key"), "no_push"),
            (here.execute("access.invite"), "invalid_params"),
        ):
            assert (await refusal(asked))[0] == code
        listed = await here.execute("session.list")
        assert isinstance(listed, list)
        assert {row["session"] for row in listed} == {"s-new", "s-gone", "s-lost", "s-said"}
        assert here.host.workspaces() == [tmp_path]
        assert here.host.record("s-none") is None
        assert here.host.processes == 0


async def test_a_session_whose_events_cannot_be_taken_away_can_be_deleted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = FailingJournal()
    async with host_harness(tmp_path, monkeypatch, journal=journal) as here:
        session = await here.create()
        await here.do("session.close", session)
        journal.full = True
        assert (await refusal(here.do("session.delete", session)))[0] == "journal_unavailable"
        assert [one.session for one in here.host.sessions()] == [session]
        assert [record.session for record in await here.store.list()] == [session]
        journal.full = False
        await here.do("session.delete", session)
        assert (list(here.host.sessions()), await here.store.list()) == ([], [])
        assert await here.events(session) == []


async def test_a_log_that_cannot_be_read_refuses_what_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        record = SessionRecord(
            session="s",
            created="c",
            agent="echo",
            cli_session_id="c",
            state="exited",
            workspace=str(tmp_path),
        )
        await here.store.put(record)
        await here.host.restore()
        gone = JournalUnavailable("the disk is gone")
        monkeypatch.setattr(
            here.services.journal, "read_after", _unreadable(here.services.journal, "s", gone)
        )
        assert await refusal(here.do("session.fork", "s")) == ("journal_unavailable", "the disk is gone")


async def test_folders_for_a_new_session_are_those_below_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "Blue", root / "amber" / "deep", root / ".hidden", outside):
        folder.mkdir(parents=True)
    (root / "a file").touch()
    (root / "away").symlink_to(outside)
    (root / "\udcff").mkdir()
    async with host_harness(tmp_path, monkeypatch, settings={"frontend_workspaces": [str(root)]}) as here:
        empty = {"path": None, "parent": None, "complete": True}
        assert await here.execute("workspace.folders") == {**empty, "folders": [str(root)]}
        listed = await here.execute("workspace.folders", path=str(root))
        assert listed == {**empty, "path": str(root), "folders": [str(root / "amber"), str(root / "Blue")]}
        below = await here.execute("workspace.folders", path=str(root / "amber"))
        assert below == {
            "path": str(root / "amber"),
            "parent": str(root),
            "folders": [str(root / "amber" / "deep")],
            "complete": True,
        }
        for number in range(501):
            (root / "Blue" / f"{number:03}").mkdir()
        many = await here.execute("workspace.folders", path=str(root / "Blue"))
        assert isinstance(many, dict)
        assert (len(many["folders"]), many["complete"]) == (500, False)
        for wrong in (outside, root / "away", tmp_path):
            assert (await refusal(here.execute("workspace.folders", path=str(wrong))))[0] == "not_allowed"
        assert (await refusal(here.execute("workspace.folders", path=str(root / "none"))))[
            0
        ] == "invalid_params"
        (root / "shut").mkdir(mode=0)
        monkeypatch.setattr("os.scandir", _denied)
        assert (await refusal(here.execute("workspace.folders", path=str(root / "shut"))))[
            0
        ] == "invalid_params"


async def test_a_principal_begins_sessions_in_its_own_folders_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "home"
    for name in ("ann/work", "bob"):
        (root / name).mkdir(parents=True)
    (root / "ann" / "away").symlink_to(root / "bob")
    ann = Frontend("user:ann", "control", "ann", Scope.parse(["own", f"in:{root}/{{user}}"]).of("ann"))
    lead = Frontend("user:lead", "control", "lead", Scope(all=True))
    settings = {"frontend_workspaces": [str(root)], "frontend_options": ["add_dirs"]}
    async with host_harness(tmp_path, monkeypatch, settings=settings) as here:

        async def do(frontend: Frontend, kind: str, **more: object) -> Any:
            return await here.host.execute(
                frames.commands.validate_python({"type": kind, "id": "1", **more}), frontend
            )

        own, work = str(root / "ann"), str(root / "ann" / "work")
        for wrong in (root, root / "bob", root / "ann" / "away", root / "ann" / ".." / "bob", tmp_path):
            code, message = await refusal(do(ann, "session.create", agent="echo", workspace=str(wrong)))
            assert code == "not_allowed", wrong
            assert own in message
            assert (await refusal(do(ann, "workspace.folders", path=str(wrong))))[0] == "not_allowed"
        added = {"add_dirs": [str(root / "bob")]}
        wanted = do(ann, "session.create", agent="echo", workspace=own, options=added)
        assert (await refusal(wanted))[0] == "not_allowed"
        assert (await do(ann, "workspace.folders"))["folders"] == [own]
        listed = await do(ann, "workspace.folders", path=own)
        assert (listed["folders"], listed["parent"]) == ([work], None)
        begun = await do(ann, "session.create", agent="echo", workspace=work, prompt="hello")
        await here.until(begun["session"], ev.Complete)
        assert (await do(lead, "workspace.folders"))["folders"] == [str(root)]
        # What she may see is another matter than where she may begin something.
        bobs = await do(lead, "session.create", agent="echo", workspace=str(root / "bob"), prompt="hello")
        await here.until(bobs["session"], ev.Complete)
        both = Frontend("user:ann", "control", "ann", Scope.parse(["all", f"in:{own}"]))
        for session, refused in ((bobs, True), (begun, False)):
            forking = do(both, "session.fork", session=session["session"])
            if refused:
                assert (await refusal(forking))[0] == "not_allowed"
            else:
                await forking
        # A scope of workers is none of a sidecar that is no worker.
        elsewhere = Frontend("user:ann", "control", "ann", Scope.parse(["own", "worker:ann"]))
        assert (await refusal(do(elsewhere, "session.create", agent="echo", workspace=work)))[
            0
        ] == "not_allowed"


def _denied(_: object) -> None:
    raise PermissionError(13, "Permission denied")


async def test_a_session_that_the_operator_takes_up_may_work_where_frontends_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    async with host_harness(tmp_path, monkeypatch, settings={"frontend_workspaces": []}) as here:
        record = SessionRecord(
            session="s", created="c", agent="echo", state="exited", workspace=str(elsewhere)
        )
        await here.store.put(record)
        await here.host.restore()
        assert (await refusal(here.do("workspace.files", "s", text="file")))[0] == "not_allowed"
        here.host.claim("s", {"tools": {"command": "serve-tools"}})
        assert await here.do("workspace.files", "s", text="file") == {"files": ["file"], "complete": True}
        monkeypatch.setenv("HOME", str(elsewhere))
        (elsewhere / ".netrc").write_text("machine example.org password hunter2")
        assert await here.do("workspace.list", "s") == {
            "entries": [{"name": "file", "kind": "file", "size": 0}],
            "complete": True,
        }
        nothing = {"media_type": None, "base64": None, "cut": False}
        assert await here.do("workspace.read", "s", path="file") == {"size": 0, "text": "", **nothing}
        for path in (".netrc", "../record", "none"):
            assert (await refusal(here.do("workspace.read", "s", path=path)))[0] == "unknown_file"
        known = here.host.record("s")
        assert known is not None
        assert RecordOptions.from_record(known).mcp_servers == {"tools": {"command": "serve-tools"}}
        here.host.claim("s")
        assert here.host.record("s") == known


async def test_what_waits_when_turnwire_fails_in_a_session_is_withdrawn_and_its_turn_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as here:
        session, broken = await here.create(), Broken()
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)
        live = here.host._registry.sessions[session]
        monkeypatch.setattr(live._pipeline, "_state", broken)
        for event in (
            ev.TurnStarted(operation_id="turn-2", origin="user", prompts=[]),
            ev.Queued(prompt="waits"),
        ):
            await here.services.journal.append(session, [Entry(to_json(event))])
        broken.now = True
        await here.do("prompt", session, text="into the open")
        seen = await here.until(session, ev.ProcessStatus, 2)
        await until(lambda: here.states() == ["exited"])
        status = [event for event in seen if isinstance(event, ev.ProcessStatus)][-1]
        assert "broken on purpose" in (status.reason or "")
        assert [event.prompt for event in seen if isinstance(event, ev.Withdrawn)] == ["waits"]
        (summary,) = here.host.sessions()
        assert summary.trouble == status.reason


async def test_a_silent_agent_is_told_of_and_that_it_speaks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "silent.yaml"
    script.write_text("fallback: {steps: [{wait: 600}, {text: 'never'}]}")
    silent = {"silent": [sys.executable, "-m", "turnwire.scripted_agent", str(script)]}
    async with host_harness(tmp_path, monkeypatch, agents=silent, settings={"stall_after_s": 0.05}) as here:
        session = await here.create("silent")
        await here.do("prompt", session, text="hello")
        told = await here.until(session, ev.ProcessStatus, 2)
        stalled = [event for event in told if isinstance(event, ev.ProcessStatus)][-1]
        assert stalled.state == "stalled"
        assert stalled.reason
        assert (stalled.silent_ms or 0) >= 50
        await here.do("interrupt", session)
        await here.until(session, ev.Complete)
        seen = await here.until(session, ev.ProcessStatus, 3)
        states = [event.state for event in seen if isinstance(event, ev.ProcessStatus)]
        assert states[:3] == ["started", "stalled", "resumed"]


async def test_a_prompt_right_after_the_turn_of_a_one_shot_agent_goes_to_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = tmp_path / "lingers.py"
    agent.write_text(
        "import json, sys, time\n"
        "print(json.dumps({'type': 'thread.started', 'thread_id': 't'}), flush=True)\n"
        "words = sys.stdin.read()\n"
        "print(json.dumps({'type': 'item.completed', 'item': {'id': 'i', 'type': 'agent_message', 'text': words}}), flush=True)\n"
        "print(json.dumps({'type': 'turn.completed', 'usage': {}}), flush=True)\n"
        "time.sleep(600 if 'first' in words else 0)\n"
    )
    agents = {"once": {"family": "codex-exec", "command": [sys.executable, str(agent)]}}
    settings = {"agent_exit_timeout_s": 0.1}
    async with host_harness(tmp_path, monkeypatch, agents=agents, settings=settings) as here:
        session = await here.create("once")
        await here.do("prompt", session, text="first")
        await here.until(session, ev.Complete)
        assert here.states() == ["idle"]
        await here.do("prompt", session, text="second")
        seen = await here.until(session, ev.Complete, 2)
        assert [event.text.strip() for event in seen if isinstance(event, ev.MessageChunk)] == [
            "first",
            "second",
        ]
