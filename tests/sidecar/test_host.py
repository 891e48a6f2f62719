"""What happens to live sessions when many want something at once, and when what is around them fails."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapter.process.identity import ProcessIdentity, start_time
from adapter.process.watchdog import Watchdog
from hub.host import CommandRefused, Frontend
from hub.wire import frames
from journal.base import Entry, JournalUnavailable
from journal.memory import MemoryJournal
from journal.sessions import MemorySessions
from normalize import events as ev
from normalize.events import AgentEvent, from_json
from normalize.events.envelope import Cursor
from normalize.inputs import SessionInput
from recordings import ROOT
from sidecar.config.rulebook import Rulebook
from sidecar.config.settings import Settings
from sidecar.sessions.host import LiveHost
from sidecar.sessions.live import LiveSession
from sidecar.sessions.record_writer import RecordWriter
from sidecar.sessions.registry import Registry
from sidecar.sessions.services import SessionServices
from waiting import until

SOMEBODY = Frontend("somebody", "control")
ECHO = "fallback: {steps: [{text: 'echo: {prompt}'}]}"


class FailingJournal(MemoryJournal):
    """A journal that takes nothing while `full`."""

    full = False

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        if self.full:
            raise JournalUnavailable("no space left")
        return await super().append(session, entries)


class Place:
    """A host without a hub."""

    def __init__(
        self, folder: Path, host: LiveHost, services: SessionServices, store: MemorySessions
    ) -> None:
        self.folder, self.host, self.services, self.store = folder, host, services, store

    async def create(self, agent: str = "echo", **more: object) -> str:
        command = frames.SessionCreate.model_validate(
            {"type": "session.create", "id": "1", "workspace": str(self.folder), "agent": agent, **more}
        )
        result = await self.host.execute(command, SOMEBODY)
        assert isinstance(result, dict)
        return str(result["session"])

    async def do(self, kind: str, session: str, **more: object) -> object:
        command = frames.commands.validate_python({"type": kind, "id": "1", "session": session, **more})
        return await self.host.execute(command, SOMEBODY)

    async def events(self, session: str) -> list[AgentEvent]:
        journal = self.services.journal
        page = await journal.read_after(session, Cursor(journal.epoch, 0))
        return [from_json(envelope.event) for envelope in page.envelopes]

    async def until(self, session: str, kind: type[AgentEvent], count: int = 1) -> list[AgentEvent]:
        async with asyncio.timeout(60):
            while True:
                seen = await self.events(session)
                if sum(isinstance(event, kind) for event in seen) >= count:
                    return seen
                await asyncio.sleep(0.02)

    def states(self) -> list[str]:
        return [summary.state for summary in self.host.sessions()]


@asynccontextmanager
async def place(folder: Path, monkeypatch: pytest.MonkeyPatch, **more: object) -> AsyncIterator[Place]:
    script = folder / "echo.yaml"
    script.write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    settings = Settings.model_validate(
        {
            "journal": "memory",
            "agents": {
                "echo": [sys.executable, "-m", "scripted_agent", str(script)],
                "broken": [str(folder / "broken")],
            },
            "pass_env": ["PYTHONPATH"],
            "state_dir": folder / "state",
        }
    )
    broken = folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    store, registry = MemorySessions(), Registry[LiveSession]()
    record_writer = RecordWriter(store)
    async with Watchdog.start() as watchdog, asyncio.TaskGroup() as tasks:
        values: dict[str, object] = {
            "journal": FailingJournal(),
            "audit": lambda session: None,
            "observers": lambda session, agent: [],
            **more,
        }
        services = SessionServices(
            settings=settings,
            watchdog=watchdog,
            grants=None,
            spawn=tasks.create_task,
            save=record_writer.save,
            keep=record_writer.keep,
            forget=record_writer.forget,
            changed=registry.changed,
            **values,  # type: ignore[arg-type]  # what a test replaces
        )
        host = LiveHost(services, store, registry, Rulebook())
        try:
            yield Place(folder, host, services, store)
        finally:
            await host.stop()
            await record_writer.flush()


async def test_of_two_who_resume_at_once_one_is_told_that_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
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
    async with place(tmp_path, monkeypatch) as here:
        session = await here.create()
        await here.do("session.close", session)
        await asyncio.gather(*(here.do("prompt", session, text=f"number {n}") for n in range(5)))
        seen = await here.until(session, ev.Complete)
        pids = [event.pid for event in seen if isinstance(event, ev.ProcessStatus) and event.pid]
        assert len(pids) == 2


async def test_a_session_that_is_deleted_cannot_be_resumed_by_who_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
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
    async with place(tmp_path, monkeypatch) as here:
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

    async with place(tmp_path, monkeypatch, audit=audit) as here:
        with pytest.raises(CommandRefused, match="No space left") as refused:
            await here.create()
        assert refused.value.code == "cannot_start"
        assert here.states() == []
        assert await here.store.list() == []


async def test_a_cli_that_ends_at_once_leaves_a_session_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        session = await here.create("broken")
        seen = await here.until(session, ev.ProcessStatus, 2)
        (exited,) = [
            event for event in seen if isinstance(event, ev.ProcessStatus) and event.state == "exited"
        ]
        assert exited.exit_code == 127
        assert "cannot run" in (exited.stderr_tail or "")


async def test_the_process_is_on_record_before_its_first_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        await here.create()
        (record,) = await here.store.list()
        assert record.process is not None
        identity = ProcessIdentity.from_text(record.process)
        assert start_time(identity.pid) == identity.start_time


async def test_what_looks_on_and_fails_is_left_out_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[SessionInput] = []

    def failing(item: SessionInput, events: Sequence[AgentEvent]) -> None:
        seen.append(item)
        raise ValueError("a bug of the tracer")

    async with place(tmp_path, monkeypatch, observers=lambda session, agent: [failing]) as here:
        session = await here.create()
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)
    assert len(seen) == 1
    assert [line.levelname for line in caplog.records if line.name.startswith("turnwire.")] == ["ERROR"]


async def test_a_log_that_could_not_be_written_to_its_end_is_closed_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = FailingJournal()
    async with place(tmp_path, monkeypatch, journal=journal) as here:
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
