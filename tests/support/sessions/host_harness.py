"""A host of live sessions without a hub, in this process."""

import asyncio
import os
import pwd
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from recordings import ROOT
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.rulebook import Rulebook
from turnwire.config.settings import Settings
from turnwire.hub.host import Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.results import RESULTS
from turnwire.journal.base import Entry, JournalUnavailable
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sessions import MemorySessions
from turnwire.normalize.events import AgentEvent, from_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.sessions.live import LiveSession
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.records.writer import RecordWriter
from turnwire.sessions.registry import SessionRegistry
from turnwire.sessions.services import SessionServices
from turnwire.sidecar.process.supervision import supervised

SOMEBODY = Frontend("somebody", "control")
ECHO = "fallback: {steps: [{text: 'echo: {prompt}'}]}"


class FailingJournal(MemoryJournal):
    """A journal that takes nothing while `full`."""

    full = False

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        if self.full:
            raise JournalUnavailable("no space left")
        return await super().append(session, entries)

    async def delete(self, session: str) -> None:
        if self.full:
            raise JournalUnavailable("no space left")
        await super().delete(session)


class HostHarness:
    """A host without a hub."""

    def __init__(
        self, folder: Path, host: LiveHost, services: SessionServices, store: MemorySessions
    ) -> None:
        self.folder, self.host, self.services, self.store = folder, host, services, store

    async def create(self, agent: str = "echo", **more: object) -> str:
        command = frames.SessionCreate.model_validate(
            {"type": "session.create", "id": "1", "workspace": str(self.folder), "agent": agent, **more}
        )
        result = await self._result(command)
        assert isinstance(result, dict)
        return str(result["session"])

    async def execute(self, kind: str, **more: object) -> object:
        return await self._result(frames.commands.validate_python({"type": kind, "id": "1", **more}))

    async def _result(self, command: frames.AnyCommand) -> object:
        """The result of a command, which is as its type says: no field is missing, and there is none beside."""
        result = await self.host.execute(command, SOMEBODY)
        kind = RESULTS[command.type]
        assert msgspec.to_builtins(msgspec.convert(result, kind)) == result
        return result

    async def do(self, kind: str, session: str, **more: object) -> object:
        return await self.execute(kind, session=session, **more)

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


def own_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the agents of a test a HOME of their own: turnwire lets one of those below a HOME run a conversation."""
    if Path.home() == Path(pwd.getpwuid(os.getuid()).pw_dir):
        monkeypatch.setenv("HOME", str(folder / "home"))
        (folder / "home").mkdir(exist_ok=True)


@asynccontextmanager
async def host_harness(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    settings: Mapping[str, object] | None = None,
    agents: Mapping[str, object] | None = None,
    **more: object,
) -> AsyncIterator[HostHarness]:
    script = folder / "echo.yaml"
    script.write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    own_home(folder, monkeypatch)
    configured = Settings.model_validate(
        {
            "journal": "memory",
            "agents": {
                "echo": [sys.executable, "-m", "turnwire.scripted_agent", str(script)],
                "broken": [str(folder / "broken")],
                **(agents or {}),
            },
            "pass_env": ["PYTHONPATH"],
            "state_dir": folder / "state",
            "frontend_workspaces": [folder],
            **(settings or {}),
        }
    )
    broken = folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    store, registry = MemorySessions(), SessionRegistry[LiveSession]()
    record_writer = RecordWriter(store)
    async with Watchdog.start() as watchdog, supervised() as supervisor:
        values: dict[str, object] = {
            "journal": FailingJournal(),
            "audit": lambda session: None,
            "observers": lambda session, agent: [],
            **more,
        }
        services = SessionServices(
            settings=configured,
            watchdog=watchdog,
            grants=None,
            spawn=supervisor.spawn,
            save=record_writer.save,
            keep=record_writer.keep,
            forget=record_writer.forget,
            changed=registry.changed,
            **values,  # type: ignore[arg-type]  # what a test replaces
        )
        host = LiveHost(services, store, registry, Rulebook())
        try:
            yield HostHarness(folder, host, services, store)
        finally:
            await host.stop()
            await record_writer.flush()
