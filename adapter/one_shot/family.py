"""The families whose agents are run one prompt at a time, and what opens one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.adapter.one_shot.client import OneShotClient
from turnwire.adapter.one_shot.programs import PROGRAMS, Program
from turnwire.adapter.one_shot.session import OneShotSession
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.process.cli import CliProcess, find_program
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent_wire import Asking
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    permission_settings,
    run_session,
    session_executor,
)
from turnwire.adapter.session.notices import Notify
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.families import named
from turnwire.normalize.family import Family
from turnwire.normalize.inputs import Message, Sent

CAPABILITIES = Capabilities(resumes=True, keeps_session_id=True)
"""What such an agent can do: it asks nobody, so policies and rules have no effect."""


def one_shot(name: str) -> AgentFamily:
    """Return how agents of a family are run, by the family's name."""
    family, program = named(name), PROGRAMS[name]
    return AgentFamily(
        name,
        family.core,
        lambda _: CAPABILITIES,
        partial(_open, family, program),
        partial(resume_at_unsupported, name),
    )


@asynccontextmanager
async def _open(
    family: Family,
    program: Program,
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[OneShotSession]:
    """Run an agent while the context is open; the arguments and errors are those of an Opener (adapter/family.py)."""
    if not options.executable or not options.executable[0]:
        raise CommandError("executable", "no program to run; give the agent's command")
    find_program(options.executable[0], options.environment)
    argv = program.argv(options)
    process = await CliProcess.spawn(
        argv,
        workspace=options.workspace,
        environment=options.environment,
        watchdog=watchdog,
        sandbox=options.box,
    )
    own = family.core() if core is None else core
    context = SessionContext(core=own, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

    async def build_session(tasks: asyncio.TaskGroup) -> FamilyParts[OneShotSession]:
        inbox = Inbox(options.ahead)

        def on_sent(item: Sent) -> None:
            executor.handle(item)

        client = OneShotClient(process, family.wire(), on_sent=on_sent, line_limit=options.line_limit)
        executor = session_executor(
            context,
            _Silent(),
            _Output(inbox),
            options=options,
            settings=permission_settings(options),
            process=process,
            tasks=tasks,
        )
        session = OneShotSession(
            options,
            argv=argv,
            process=process,
            client=client,
            capabilities=CAPABILITIES,
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
            background=[],
            close=close,
        )

    async with run_session(process, options, notify, build_session) as session:
        yield session


class _Silent:
    """Such an agent asks for nothing."""

    def requests(self, message: Message) -> list[Asking]:  # noqa: ARG002 - whatever it is
        return []

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> list[Message]:  # noqa: ARG002 - there are none
        return []


class _Output:
    """What happens is kept for those who read along."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        """Do nothing: there are no requests."""

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        """Do nothing: there are no requests."""

    def publish(self, batch: list[InputWithEvents]) -> None:
        self._inbox.put(batch)

    def failed(self, error: Exception) -> None:
        self._inbox.fail(error)


CODEX_EXEC = one_shot("codex-exec")
GEMINI = one_shot("gemini")
OPENCODE_RUN = one_shot("opencode-run")
COPILOT = one_shot("copilot")
DROID = one_shot("droid")
KIMI = one_shot("kimi")
