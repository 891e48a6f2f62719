"""Start an agent that writes JSON lines, and see to its end.

`stream_agents` runs agents that stay alive and take prompts as JSON lines. adapter/one_shot/family.py describes agents that
take one prompt and exit. Both open their sessions here.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Generic

from msgspec import Struct

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.adapter.options import CommandError, SessionOptions, check_executable
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent_wire import AgentWire
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    permission_settings,
    run_session,
    start_agent,
)
from turnwire.adapter.session.notices import Notify
from turnwire.adapter.session.running_agent import StartedAgent
from turnwire.adapter.streams.client import StreamClient
from turnwire.adapter.streams.json_agent import Client, JsonAgent
from turnwire.adapter.streams.session import StreamSession
from turnwire.adapter.streams.wire import StreamWire
from turnwire.adapter.streams.words import Words
from turnwire.normalize.core import Core
from turnwire.normalize.family import Family
from turnwire.normalize.inputs import Sent
from turnwire.normalize.streams.core import StreamCore
from turnwire.protocol.json_wire import JsonLine


class JsonAgents(Struct, Generic[Client], frozen=True, kw_only=True):
    """How the agents of a family are run."""

    family: Family
    """The family."""
    capabilities: Capabilities
    """What they can do, in every version."""
    argv: Callable[[SessionOptions], Sequence[str]]
    """Returns the command to start."""
    client: Callable[..., Client]
    """Makes the reader and writer of their lines, as StreamClient."""
    wire: Callable[[StreamCore], AgentWire]
    """Makes the reader of their permission requests."""
    session: Callable[[StartedAgent[Client], Capabilities], JsonAgent[Client]]
    """Makes a session."""


def json_agents(agents: JsonAgents[Client]) -> AgentFamily:
    """Return a family that can be run."""
    name = agents.family.name
    return AgentFamily(
        name,
        agents.family.core,
        lambda _: agents.capabilities,
        partial(_open, agents),
        partial(resume_at_unsupported, name),
    )


def stream_agents(family: Family, words: Words, capabilities: Capabilities) -> AgentFamily:
    """Return a family whose agents stay alive and take prompts as JSON lines on standard input."""
    return json_agents(
        JsonAgents(
            family=family,
            capabilities=capabilities,
            argv=lambda options: options.executable,
            client=StreamClient,
            wire=lambda core: StreamWire(core, words),
            session=partial(StreamSession, words=words),
        )
    )


@asynccontextmanager
async def _open(
    agents: JsonAgents[Client],
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[JsonAgent[Client]]:
    """Run an agent while the context is open; the arguments and errors are those of an Opener (adapter/family.py)."""
    check_executable(options.executable)
    own = core if isinstance(core, StreamCore) else agents.family.core()
    if not isinstance(own, StreamCore):
        raise CommandError("family", f"{agents.family.name} has its own core and needs its own opener")
    argv = agents.argv(options)
    context = SessionContext(core=own, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

    async def build_session(process: CliProcess, tasks: asyncio.TaskGroup) -> FamilyParts[JsonAgent[Client]]:
        inbox, wire = Inbox(options.ahead), agents.wire(own)

        def on_sent(item: Sent) -> None:
            started.executor.handle(item)

        client = agents.client(process, agents.family.wire(), on_sent=on_sent, line_limit=options.line_limit)
        started = start_agent(
            context,
            wire,
            LineOutput(client, wire, inbox),
            options=options,
            settings=permission_settings(options),
            argv=argv,
            process=process,
            client=client,
            inbox=inbox,
            tasks=tasks,
        )
        session = agents.session(started, agents.capabilities)
        return FamilyParts(session=session, background=session.background())

    async with run_session(options, context, argv, build_session) as session:
        yield session


class LineOutput:
    """Writes decisions as lines."""

    def __init__(self, client: StreamClient, wire: AgentWire, inbox: Inbox) -> None:
        self._client = client
        self._wire = wire
        self.publish = inbox.put
        self.failed = inbox.fail

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        """Note nothing: each request is answered once."""

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        """Write the reply to a request; never waits."""
        for message in self._wire.replies(request, reply):
            if isinstance(message, JsonLine):
                self._client.say(message.value)
