"""Start a session with an agent that takes prompts as JSON lines and see to its end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.process.cli import CliProcess, find_program
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    permission_settings,
    run_session,
    session_executor,
)
from turnwire.adapter.session.notices import Notify
from turnwire.adapter.streams.client import StreamClient
from turnwire.adapter.streams.session import StreamSession
from turnwire.adapter.streams.wire import StreamWire
from turnwire.adapter.streams.words import Words
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.family import Family
from turnwire.normalize.inputs import Sent
from turnwire.normalize.streams.core import StreamCore
from turnwire.protocol.json_wire import JsonLine


def stream_agents(family: Family, words: Words, capabilities: Capabilities) -> AgentFamily:
    """Return how agents of a family are run that stay alive and take prompts as JSON lines on standard input."""
    return AgentFamily(
        family.name,
        family.core,
        lambda _: capabilities,
        partial(_open, family, words, capabilities),
        partial(resume_at_unsupported, family.name),
    )


@asynccontextmanager
async def _open(
    family: Family,
    words: Words,
    capabilities: Capabilities,
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[StreamSession]:
    """Run an agent while the context is open; the arguments and errors are those of an Opener (adapter/family.py)."""
    if not options.executable or not options.executable[0]:
        raise CommandError("executable", "no program to run; give the agent's command")
    find_program(options.executable[0], options.environment)
    stream_core = core if isinstance(core, StreamCore) else family.core()
    if not isinstance(stream_core, StreamCore):
        raise CommandError("family", f"{family.name} has its own core and needs its own opener")
    process = await CliProcess.spawn(
        options.executable,
        workspace=options.workspace,
        environment=options.environment,
        watchdog=watchdog,
        sandbox=options.box,
    )
    context = SessionContext(core=stream_core, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

    async def build_session(tasks: asyncio.TaskGroup) -> FamilyParts[StreamSession]:
        inbox, wire = Inbox(options.ahead), StreamWire(stream_core, words)

        def on_sent(item: Sent) -> None:
            executor.handle(item)

        client = StreamClient(
            process,
            family.wire(),
            on_sent=on_sent,
            line_limit=options.line_limit,
        )
        executor = session_executor(
            context,
            wire,
            _Output(client, wire, inbox),
            options=options,
            settings=permission_settings(options),
            process=process,
            tasks=tasks,
        )
        session = StreamSession(
            options,
            process=process,
            client=client,
            words=words,
            capabilities=capabilities,
            inbox=inbox,
            executor=executor,
        )

        async def close() -> None:
            """Nothing but the agent was opened."""

        return FamilyParts(
            session=session,
            client=client,
            on_received=lambda _: None,
            on_exit=session.gone,
            background=[session.serve()],
            close=close,
        )

    async with run_session(process, options, notify, build_session) as session:
        yield session


class _Output:
    """What is decided becomes lines."""

    def __init__(self, client: StreamClient, wire: StreamWire, inbox: Inbox) -> None:
        self._client = client
        self._wire = wire
        self._inbox = inbox

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        """Note nothing: each request is answered once."""

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        for message in self._wire.replies(request, reply):
            if isinstance(message, JsonLine):
                self._client.say(message.value)

    def publish(self, batch: list[InputWithEvents]) -> None:
        self._inbox.put(batch)

    def failed(self, error: Exception) -> None:
        self._inbox.fail(error)
