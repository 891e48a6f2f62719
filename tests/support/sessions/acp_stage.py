"""Sessions with the small agent of the Agent Client Protocol (acp_agent.py), and somebody who reads along."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import acp_agent
from msgspec.structs import replace

from turnwire.adapter.acp.opening import Graces, open_acp_session
from turnwire.adapter.families import open_session
from turnwire.adapter.family import Opener
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.trials import Trial
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize import events as ev
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Sent, SessionInput
from turnwire.normalize.vocabulary import CHANGES, FOLDERS

AGENT = Path(acp_agent.__file__)

HANG = 60.0
"""Seconds after which a test is taken to hang."""

PATIENT = StopDeadlines(interrupt=HANG, close=HANG, terminate=HANG)
"""For agents that do as they are told."""

QUICK = StopDeadlines(interrupt=0.2, close=0.2, terminate=0.2)
"""For those that do not."""

HELD = {"": Trial({kind: dict.fromkeys(CHANGES, "held") for kind in FOLDERS})}
"""The small agent asks before it acts, wherever it is."""

Kind = TypeVar("Kind", bound=AgentEvent)


@dataclass
class AcpHarness:
    """A running session, what happened in it, and what was published."""

    session: AgentSession
    notices: list[SessionNotice]
    inputs: list[SessionInput] = field(default_factory=list)
    events: list[AgentEvent] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def read(self) -> None:
        """Read until the end."""
        async for batch in self.session.batches():
            for item, events in batch:
                self.inputs.append(item)
                self.events += events
            async with self.changed:
                self.changed.notify_all()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what was read fulfils a condition."""
        async with asyncio.timeout(HANG), self.changed:
            await self.changed.wait_for(condition)

    async def turn(self, prompt: str) -> ev.Complete:
        """Run a turn and return its end."""
        before = len(self.of(ev.Complete))
        await self.session.prompt(prompt)
        await self.until(lambda: len(self.of(ev.Complete)) > before)
        return self.of(ev.Complete)[before]

    async def asked(self, number: int = 1) -> ev.PermissionRequest:
        """Wait for the so many-th request for leave."""
        await self.until(lambda: len(self.of(ev.PermissionRequest)) >= number)
        return self.of(ev.PermissionRequest)[number - 1]

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All that the agent has said."""
        return "".join(event.text for event in self.of(ev.MessageChunk))

    @property
    def told(self) -> list[dict[str, Any]]:
        """All that the agent was told."""
        return [json.loads(item.line) for item in self.inputs if isinstance(item, Sent)]

    @property
    def outcomes(self) -> list[str | None]:
        """How the turns ended."""
        return [event.data.outcome for event in self.of(ev.Complete)]

    def balance(self) -> None:
        """Check what holds in every session: each turn and each request has one end, and each call."""
        started = [event.operation_id for event in self.of(ev.TurnStarted)]
        assert started == [event.operation_id for event in self.of(ev.Complete)]
        assert len(started) == len(set(started))
        resolved = [event for event in self.of(ev.PermissionResolved) if not event.unasked]
        ended = resolved + self.of(ev.PermissionCancelled)
        asked = self.of(ev.PermissionRequest) + self.of(ev.QuestionRequest)
        assert Counter(event.pending_id for event in asked) == Counter(event.pending_id for event in ended)
        calls = Counter(event.tool_call_id for event in self.of(ev.ToolCall))
        assert calls == Counter(
            event.tool_call_id for event in self.of(ev.ToolUpdate) if event.tool_status != "running"
        )


class AcpStage:
    """Opens sessions on the small agent, in a workspace."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace

    @asynccontextmanager
    async def session(
        self,
        *ways: str,
        core: Core | None = None,
        audit: AuditTrail | None = None,
        grants: GrantStore | None = None,
        graces: Graces | None = None,
        **options: object,
    ) -> AsyncIterator[AcpHarness]:
        """Run the agent; at the end everything has to be in balance."""
        wanted = SessionOptions(
            workspace=self.workspace,
            family="acp",
            executable=(sys.executable, "-I", str(AGENT), *ways),
            environment={"PATH": "/usr/bin:/bin"},
            initialize_deadline=HANG,
            control_deadline=HANG,
            stop=PATIENT,
            trials=HELD,
        )
        wanted = replace(wanted, **options)
        notices: list[SessionNotice] = []
        opener: Opener = open_session if graces is None else partial(open_acp_session, graces=graces)
        opened = opener(wanted, core=core, audit=audit, grants=grants, notify=notices.append)
        async with asyncio.timeout(2 * HANG), opened as session:
            harness = AcpHarness(session, notices)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(harness.read())
                try:
                    yield harness
                finally:
                    await session.stop()
        harness.balance()
