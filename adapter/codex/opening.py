"""Start a session with `codex app-server` and see to its end.

A thread is opened while the server's lines are read already; a prompt waits for that. A server that opens none is stopped.
"""

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from turnwire.adapter.codex.client import CodexClient
from turnwire.adapter.codex.policies import BY_SANDBOX, NEVER_ASKS
from turnwire.adapter.codex.session import CodexSession
from turnwire.adapter.codex.wire import CodexWire
from turnwire.adapter.family import check_resumes_by_id
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.requests import AgentRequest, UnreadableRequest
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.version import parse_version
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    permission_settings,
    run_session,
    start_agent,
)
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.adapter.streams.opening import LineOutput
from turnwire.normalize.codex.family import CODEX_APP_SERVER
from turnwire.normalize.core import Core
from turnwire.normalize.inputs import Received, Sent
from turnwire.normalize.streams.core import StreamCore
from turnwire.protocol.codex import answers, methods, requests
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.json_wire import JsonLine
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import outermost


@asynccontextmanager
async def open_codex_session(
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[CodexSession]:
    """Run Codex while the context is open; the arguments and errors are those of an Opener (adapter/family.py)."""
    check_resumes_by_id(CODEX_APP_SERVER.name, options)
    own = core if isinstance(core, StreamCore) else CODEX_APP_SERVER.core()
    assert isinstance(own, StreamCore), "the family's core is one"
    context = SessionContext(core=own, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

    async def build_session(process: CliProcess, tasks: asyncio.TaskGroup) -> FamilyParts[CodexSession]:
        return _parts(options, context, own, process, tasks)

    async with run_session(options, context, options.executable, build_session) as session:
        yield session


def _parts(
    options: SessionOptions,
    context: SessionContext,
    core: StreamCore,
    process: CliProcess,
    tasks: asyncio.TaskGroup,
) -> FamilyParts[CodexSession]:
    inbox, wire = Inbox(options.ahead), CodexWire(core)

    def on_sent(item: Sent) -> None:
        started.executor.handle(item)

    client = CodexClient(process, CODEX_APP_SERVER.wire(), on_sent=on_sent, line_limit=options.line_limit)
    output = _Output(client, wire, inbox)
    started = start_agent(
        context,
        wire,
        output,
        options=options,
        settings=permission_settings(options, judges_requests=True),
        argv=options.executable,
        process=process,
        client=client,
        inbox=inbox,
        tasks=tasks,
    )
    session = CodexSession(started)

    def on_received(received: Received) -> None:
        if isinstance(received.message, JsonLine):
            value = received.message.value
            session.heard(value, client.settle(value))
            output.refuse_unasked(value.get("id"), value.get("method"))
        elif isinstance(received.message, Malformed):
            # one that was too long or too deep may be a request, which waits
            said = outermost(received.line, ("method", "id"))
            output.refuse_unasked(said.get("id"), said.get("method"))

    return FamilyParts(
        session=session,
        on_received=on_received,
        background=[_begin(session, client, context.notify), session.serve(), session.end_left_commands()],
    )


class _Output(LineOutput):
    """What is decided becomes lines; a request that nobody is asked about is refused."""

    _asked = False
    """Whether the newest line asks something that will be answered."""

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        del request
        self._asked = True

    def refuse_unasked(self, name: Json, method: Json) -> None:
        """Refuse the newest line, if it is a request that nobody answers."""
        was_asked, self._asked = self._asked, False
        if name is not None and isinstance(method, str) and not was_asked:
            self._client.say(answers.error(name, answers.NO_METHOD, f"turnwire does not answer {method}"))


async def _begin(session: CodexSession, client: CodexClient, notify: Notify) -> None:
    """Open the thread: prompts wait for it."""
    options = session.options
    try:
        greeting = requests.initialize(importlib.metadata.version("turnwire"))
        said = await client.request(methods.INITIALIZE, greeting, options.initialize_deadline)
        version = parse_version(text_at(said, "userAgent").partition("/")[2])
        session.version = None if version is None else str(version)
        await client.say({"method": methods.INITIALIZED})
        servers = _servers(options, notify)
        never_asks: Sequence[str] = NEVER_ASKS
        try:
            opened = await _open_thread(session, client, servers)
        except RequestFailed as error:
            if session.opening_safety.approvals != "untrusted" or "untrusted" not in str(error):
                raise
            session.do_without_untrusted()
            never_asks = (BY_SANDBOX, *NEVER_ASKS)
            opened = await _open_thread(session, client, servers)
        thread = text_at(opened.get("thread"), "id")
        if not thread:
            raise RequestFailed("Codex names no thread in its answer")
        if options.trials:
            from turnwire.adapter.session.tried import (  # noqa: PLC0415 - a runner supervises nothing
                check_tried,
                tell_rules_in_doubt,
                trial_of,
            )

            tell_rules_in_doubt(options, trial_of(options), session.version, who="Codex", notify=notify)
            check_tried(options, trial_of(options), session.version, who="Codex", notify=notify)
    except (RequestFailed, RequestTimeout, ProcessGone) as error:
        await session.fail_to_open(error, notify)
        return
    if options.policy == "supervised":
        unasked = f"{', '.join(never_asks[:-1])} or {never_asks[-1]}"
        message = f"Codex never asks about {unasked}. Neither you nor a policy sees it before it is done."
        notify(SessionNotice("asks_not_everything", message))
    session.opened(thread, text_at(opened, "model") or None)
    client.post(methods.MODEL_LIST, {})


def _servers(options: SessionOptions, notify: Notify) -> dict[str, JsonObject]:
    servers: dict[str, JsonObject] = {}
    for name, configured in options.command.mcp_servers.items():
        server = requests.server(configured)
        if server is None:
            kind = text_at(configured, "type") or "unknown"
            message = f"Codex connects to no MCP servers of the kind {kind}: it goes without {name}"
            notify(SessionNotice("mcp_failed", message))
        else:
            servers[name] = server
    return servers


async def _open_thread(
    session: CodexSession, client: CodexClient, servers: dict[str, JsonObject]
) -> JsonObject:
    command, deadline = session.options.command, session.options.initialize_deadline
    wish = requests.ThreadWish(
        workspace=str(session.options.workspace),
        safety=session.opening_safety,
        model=command.model,
        instructions=command.system_prompt,
        more_instructions=command.append_system_prompt,
        servers=servers,
    )
    params = requests.thread(wish)
    if command.resume is None:
        return await client.request(methods.THREAD_START, params, deadline)
    params |= {"threadId": command.resume, "excludeTurns": True}
    method = methods.THREAD_FORK if command.fork else methods.THREAD_RESUME
    return await client.request(method, params, deadline)
