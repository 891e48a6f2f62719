"""Workers and hubs of a fleet in one process, over a real Redis, with sessions that have no agents."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic import JsonValue

from turnwire.config.settings import Quota
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.messages import WorkerSummary
from turnwire.fleet.operating import Operator
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.fleet.worker import Worker
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary
from turnwire.journal.redis.server import NOBODY, Ownership

ANN = Frontend("ann", "control")
CALM = Timing(lease_s=30, pause_s=0.02)
QUICK = Timing(lease_s=2, pause_s=0.02)
"""Where a worker has to be missed."""


class Sessions:
    """A machine's sessions, without agents: what was said to them, and what they wait for before they answer."""

    def __init__(self, prefix: str) -> None:
        self.said: list[tuple[str, str]] = []
        self.there: dict[str, int] = {}
        self.deleted: set[str] = set()
        self.adopted = 0
        self.refuses: Exception | None = None
        """Why nothing can be begun or taken here."""
        self.broken = False
        self.refused: set[str] = set()
        """Sessions whose logs have refused what was said here."""
        self.taken: set[str] = set()
        """Sessions that others have taken meanwhile."""
        self.kept: dict[str, str] = {}
        """Conversations of agents, and when each ended."""
        self.former: Sessions | None = None
        """From whom sessions are taken."""
        self.owner: str | None = None
        """Whose its sessions are."""
        self.open: set[str] = set()
        """Sessions with an open turn."""
        self.closed: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._prefix = prefix
        self._watchers: list[Callable[[], None]] = []

    async def execute(self, command: frames.AnyCommand, frontend: Frontend) -> JsonValue:
        match command:
            case frames.SessionCreate() | frames.SessionFork() | frames.LibraryOpen():
                if self.refuses is not None:
                    raise self.refuses
                session = f"{self._prefix}{len(self.there)}"
                self.there[session] = 1
                self.changed()
                return {"session": session}
            case frames.LibraryList(conversation=wanted):
                await self.may_answer.wait()
                if wanted is not None and wanted not in self.kept:
                    raise CommandRefused("unknown_conversation", "not here", "conversation")
                found: list[JsonValue] = [
                    {"id": one, "cursor": f"{ended}:{one}"}
                    for one, ended in self.kept.items()
                    if wanted in {None, one}
                ]
                return {"conversations": found, "next": None, "complete": True}
            case frames.SessionClose():
                self.closed.append(command.session)
                return None
            case frames.LibraryExport():
                return {"name": command.conversation, "content": self._prefix}
            case frames.LibraryRename():
                self.said.append((command.conversation, str(command.title)))
                return None
            case frames.SessionDelete():
                del self.there[command.session]
                self.deleted.add(command.session)
                self.changed()
                return None
            case frames.Prompt():
                self.said.append((command.session, command.text))
                await self.may_answer.wait()
                if command.text == "later" and len(self.said) == 1:
                    raise CommandRefused("journal_unavailable", "the disk is full")
                if command.text == "refuse":
                    raise CommandRefused("not_supported", "as asked", "text")
                if command.text == "fail":
                    raise CommandRefused("not_running", "as asked", "text")
                return {"by": frontend.name}
            case _:
                raise RuntimeError("not for this machine")

    def sessions(self) -> Sequence[SessionSummary]:
        if self.broken:
            raise RuntimeError("broken on purpose")
        return [
            SessionSummary(
                session=name,
                owner=self.owner,
                state="running" if name in self.open else "idle",
                last_seq=7,
                pending=0,
            )
            for name in self.there
        ]

    def agents(self) -> Sequence[AgentChoice]:
        return []

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def owns(self, session: str) -> bool:
        return session in self.there

    def fence(self, session: str) -> int:
        return self.there.get(session, 1)

    def record(self, session: str) -> bytes | None:
        return session.encode()

    async def adopt(self, session: str, record: bytes, worker: str, fence: int) -> bool:
        assert record == session.encode()
        assert worker in {"former", "heir"}
        if self.former is not None:
            # what its claim on the log does to the former owner
            self.former.taken.add(session)
        await asyncio.sleep(0)
        if self.refuses is not None:
            raise self.refuses
        self.adopted += 1
        self.taken.discard(session)
        self.there[session] = fence + 1
        self.changed()
        return True

    async def still_owns(self, session: str) -> bool:
        return session not in self.taken and (session in self.there or session in self.deleted)

    async def journaled(self) -> None:
        pass

    async def lost(self, session: str) -> bool:
        return session in self.refused

    async def abandon(self, session: str) -> None:
        del self.there[session]
        self.changed()

    def changed(self) -> None:
        for watcher in self._watchers:
            watcher()


class Log:
    """Whose logs are, as the sessions of these workers say."""

    def __init__(self, fleet: "Fleet") -> None:
        self._fleet = fleet

    trouble: str | None = None

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:
        assert callable(watcher)
        return lambda: None

    def last(self, session: str) -> int:
        return 42 if session else 0

    def size(self, session: str) -> int:
        return 1000 if session else 0

    async def ownership(self, session: str) -> Ownership | None:
        return self._fleet.owners.get(session)

    async def delete_from(self, session: str, former: Ownership) -> int:
        known = self._fleet.owners.get(session)
        if known is not None and known != former:
            return known.fence if known.owner == NOBODY else 0
        self._fleet.owners[session] = Ownership(NOBODY, former.fence + 1)
        return former.fence + 1


class Fleet:
    """Workers and hubs in this process."""

    def __init__(self, url: str, timing: Timing, prefix: str = "turnwire:") -> None:
        self.url = url
        self._prefix = prefix
        self._timing = timing
        self.owners: dict[str, Ownership] = {}

    @asynccontextmanager
    async def worker(
        self,
        sessions: Sessions,
        name: str = "w",
        place: str = "here",
        group: str | None = None,
        agents: Sequence[str] = (),
        *,
        archive: str = "",
        labels: Sequence[str] = (),
    ) -> AsyncIterator[Worker]:
        def about() -> WorkerSummary:
            return WorkerSummary(
                name=name,
                version="1",
                workspaces=[],
                agents=[
                    AgentChoice(
                        agent=agent,
                        title=f"{agent} of {name}",
                        family="acp",
                        capabilities=[],
                        options=[],
                        permission_modes=[],
                    )
                    for agent in agents
                ],
                group=group,
                labels=[*labels],
                archive=archive,
                sessions=len(sessions.there),
                max_sessions=9,
                max_processes=9,
            )

        store = FleetStore(self.url, self._prefix)
        worker = Worker(store, sessions, about, place, self._timing)
        try:
            await worker.register()
            async with worker.running() as begin:
                begin()
                yield worker
        finally:
            await store.close()

    @asynccontextmanager
    async def hub(
        self, quotas: Mapping[str, Quota] | None = None, operator: Operator | None = None
    ) -> AsyncIterator[FleetHost]:
        store = FleetStore(self.url, self._prefix)
        host = FleetHost(store, Log(self), self._timing, quotas, operator)
        try:
            async with host.running():
                yield host
        finally:
            await store.close()


def key(name: str, kind: str) -> str:
    return f"turnwire:fleet:{{{name}}}:{kind}"


def create(command_id: str = "1", **more: str) -> frames.SessionCreate:
    return frames.SessionCreate(type="session.create", id=command_id, **more)  # type: ignore[arg-type]  # its fields


def prompt(session: str, text: str, command_id: str = "1") -> frames.Prompt:
    return frames.Prompt(type="prompt", id=command_id, session=session, text=text)


async def code(host: FleetHost, command: frames.AnyCommand) -> str:
    with pytest.raises(CommandRefused) as refused:
        await host.execute(command, ANN)
    return refused.value.code


async def at_last(host: FleetHost, command: frames.AnyCommand) -> JsonValue:
    """Do what is refused where this machine stood still for longer than the lease."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await host.execute(command, ANN)
            except CommandRefused as refused:
                assert refused.code == "unreachable"  # noqa: PT017 - any other ends the test
                await asyncio.sleep(0.05)


async def session_of(host: FleetHost, **more: str) -> str:
    result = await host.execute(create(**more), ANN)
    assert isinstance(result, dict)
    return str(result["session"])
