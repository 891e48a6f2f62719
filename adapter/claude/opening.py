"""Start a session with a CLI that speaks Claude's protocol: its command, its parts, and its greeting."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec.structs import replace

from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.claude.command import CHECKPOINTING
from turnwire.adapter.claude.mcp_requests import McpRequests
from turnwire.adapter.claude.permissions import hook_table, launch
from turnwire.adapter.claude.session import ClaudeSession
from turnwire.adapter.claude.variant import CLAUDE_CODE, CliVariant
from turnwire.adapter.claude.version import ClaudeCapabilities
from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.mcp.hosting import host_servers
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.process.cli import CliProcess, find_program
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.version import Version, detect_version, parse_version
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import fail
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    permission_settings,
    run_session,
    start_agent,
)
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.core import Core
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Received, Sent
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.claude.requests import Initialize, McpMessage, UnknownRequest
from turnwire.protocol.dialects import CLAUDE, Dialect
from turnwire.protocol.json_values import JsonObject


@asynccontextmanager
async def open_session(
    options: SessionOptions,
    *,
    dialect: Dialect = CLAUDE,
    variant: CliVariant = CLAUDE_CODE,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[ClaudeSession]:
    """Run a CLI while the context is open; leaving it stops the CLI and all that it started.

    Args:
        options: what to run, and how.
        dialect: what it speaks.
        variant: which CLI it is.
        core: what the session's family makes of what happens; a new one for a session that has no past.
        watchdog: ends the CLI should the sidecar die.
        audit: the trail of decisions.
        grants: always-answers beyond the session, for the policy `supervised`.
        notify: is told what no line tells.

    Raises:
        CommandError: the options make no command.
        ProgramNotFound: the program or the workspace does not exist.
    """
    program = find_program(options.executable[0], options.environment) if options.executable else ""
    version = await _version(options, program, watchdog) if variant.is_claude_code else None
    if options.policy == "supervised" and options.trials:
        await _check_tried(options, program, version, variant, notify=notify, watchdog=watchdog)
    can = variant.capabilities(version)
    settings = claude_permissions(options, can, variant)
    if options.command.checkpointing:
        options = replace(options, environment={**options.environment, CHECKPOINTING: "true"})
    argv = build_argv(options, settings, version, variant)
    context = SessionContext(
        core=core or new_core(), watchdog=watchdog, audit=audit, grants=grants, notify=notify
    )

    async def build_session(process: CliProcess, tasks: asyncio.TaskGroup) -> FamilyParts[ClaudeSession]:
        return await _parts(
            options,
            context,
            process,
            argv,
            dialect=dialect,
            version=version,
            capabilities=can,
            settings=settings,
            tasks=tasks,
        )

    async with run_session(options, context, argv, build_session) as session:
        yield session


async def _parts(
    options: SessionOptions,
    context: SessionContext,
    process: CliProcess,
    argv: Sequence[str],
    *,
    dialect: Dialect,
    version: Version | None,
    capabilities: ClaudeCapabilities,
    settings: PermissionSettings,
    tasks: asyncio.TaskGroup,
) -> FamilyParts[ClaudeSession]:
    inbox, wire = Inbox(options.ahead), ClaudeWire()

    def on_message(item: Sent | Received) -> None:
        started.executor.handle(item)

    client = ClaudeClient(
        process,
        on_sent=on_message,
        on_answered=on_message,
        peer=dialect.host(),
        line_limit=options.line_limit,
    )
    started = start_agent(
        context,
        wire,
        _Output(client, wire, inbox),
        options=options,
        settings=settings,
        argv=argv,
        process=process,
        client=client,
        inbox=inbox,
        tasks=tasks,
    )

    def send(server: str, message: JsonObject) -> None:
        tasks.create_task(_pass_on(client, server, message, options.control_deadline))

    mcp = await host_servers(
        options.hosted_servers,
        workspace=options.workspace,
        tasks=tasks,
        send=send,
        notify=context.notify,
        watchdog=context.watchdog,
    )
    session = ClaudeSession(
        started,
        version=None if version is None else str(version),
        capabilities=capabilities,
    )
    requests = McpRequests(client, mcp, tasks=tasks, max_answering=options.max_pending, notify=context.notify)
    greeting = _initialize(
        session, client=client, settings=settings, servers=mcp.names, notify=context.notify
    )
    return FamilyParts(
        session=session,
        on_received=requests.on_received,
        on_exit=requests.on_exit,
        background=[greeting],
        close=mcp.close,
    )


def open_third_party(
    options: SessionOptions,
    *,
    dialect: Dialect,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AbstractAsyncContextManager[ClaudeSession]:
    """Run an agent that is known to speak another dialect: it is not Claude Code, and gets none of its options."""
    return open_session(
        replace(options, command=CommandOptions(bare=True), ask_version=False),
        dialect=dialect,
        core=core,
        watchdog=watchdog,
        audit=audit,
        grants=grants,
        notify=notify,
    )


def claude_permissions(
    options: SessionOptions, can: ClaudeCapabilities, variant: CliVariant = CLAUDE_CODE
) -> PermissionSettings:
    """Return how permissions are decided in a session of such a CLI."""
    return permission_settings(
        options,
        asks_despite_hooks=can.asks_despite_hooks,
        answers_cancelled=can.waits_after_cancel,
        judges_requests=not variant.is_claude_code,
    )


def build_argv(
    options: SessionOptions,
    settings: PermissionSettings,
    version: Version | None,
    variant: CliVariant = CLAUDE_CODE,
) -> list[str]:
    """Return the argv of a session's CLI; raises CommandError."""
    if variant.capabilities(version).is_early and hook_table(replace(settings, protected=None)):
        raise CommandError("policy", f"this needs hooks, which CLI {version} does not have; use a newer CLI")
    started = launch(settings, options.command.permission_mode)
    hosted: dict[str, JsonObject] = {name: {"type": "sdk", "name": name} for name in options.hosted_servers}
    if both := sorted(set(hosted) & set(options.command.mcp_servers)):
        raise CommandError(
            "mcp_servers", f"{', '.join(both)}: in hosted_mcp and in mcp_servers; remove one of the two"
        )
    command = replace(
        options.command,
        permission_mode=started.permission_mode,
        skip_permissions=started.skip_permissions or options.command.skip_permissions,
        mcp_servers={**options.command.mcp_servers, **hosted},
    )
    return variant.build_command(options.executable, command, version)


class _Output:
    def __init__(self, client: ClaudeClient, wire: ClaudeWire, inbox: Inbox) -> None:
        self._client = client
        self._wire = wire
        self.publish = inbox.put
        self.failed = inbox.fail

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        for message in self._wire.replies(request, reply):
            self._client.post(message)

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        pass  # the control protocol names its requests itself


async def _version(options: SessionOptions, program: str, watchdog: Watchdog | None) -> Version | None:
    if options.version is not None:
        return parse_version(options.version)
    if not options.ask_version or options.command.bare:
        return None
    return await detect_version(
        (program, *options.executable[1:]),
        options.environment,
        options.workspace,
        watchdog,
        sandbox=options.box,
    )


async def _check_tried(
    options: SessionOptions,
    program: str,
    version: Version | None,
    variant: CliVariant,
    *,
    notify: Notify,
    watchdog: Watchdog | None,
) -> None:
    """Raise CommandError if supervised would not hold. turnwire's hooks hold each version of Claude Code alike: nothing is said of it."""
    from turnwire.adapter.session.tried import check_tried, trial_of  # noqa: PLC0415 - a runner supervises nothing

    if not variant.is_claude_code:
        version = await _version(options, program, watchdog)
    elif version is None:
        return
    who, told = ("Claude Code", lambda _: None) if variant.is_claude_code else ("Qwen Code", notify)
    try:
        check_tried(options, trial_of(options), version and str(version), who=who, notify=told)
    except RequestFailed as error:
        raise CommandError("policy", str(error)) from None


async def _initialize(
    session: ClaudeSession,
    *,
    client: ClaudeClient,
    settings: PermissionSettings,
    servers: list[str],
    notify: Notify,
) -> None:
    """The first request to the CLI. Prompts wait for the answer, so that no tool runs before the hooks are set."""
    options = session.options
    if not options.initialize or session.capabilities.is_early:
        session.begin()
        return
    request = Initialize(
        hooks=hook_table(settings) if session.capabilities.hooks else None,
        sdk_mcp_servers=servers or None,
    )
    try:
        response = await client.exchange(request, options.initialize_deadline)
        if response.error is not None:
            raise RequestFailed(f"the CLI refused initialize: {response.error}")
    except (RequestTimeout, RequestFailed, ProcessGone) as error:
        notify(SessionNotice("initialize_failed", str(error)))
        fail(session.initialized, error)
        return
    if settings.policy == "plan" and settings.asks_despite_hooks:
        await _keep_classifier_out(client, options.control_deadline, notify)
    session.begin(fields(response.payload))


async def _keep_classifier_out(client: ClaudeClient, deadline: float, notify: Notify) -> None:
    """Keep plan mode from handing commands to a classifier, which may refuse them; then the CLI asks us instead."""
    request = UnknownRequest({"subtype": "apply_flag_settings", "settings": {"useAutoModeDuringPlan": False}})
    try:
        await client.request(request, deadline)
    except (RequestTimeout, RequestFailed) as error:
        message = f"the CLI may refuse commands before the plan is approved: {error}"
        notify(SessionNotice("plan_classifier", message))
    except ProcessGone:
        pass  # its end is told by itself


async def _pass_on(client: ClaudeClient, server: str, message: JsonObject, deadline: float) -> None:
    try:
        await client.exchange(McpMessage(server_name=server, message=message), deadline)
    except (RequestTimeout, ProcessGone):
        pass  # old CLIs take no messages of hosted servers; it was the server's own idea
