"""Start a session and see to its end: everything it consists of is made here, and nothing of it is left behind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from adapter.agent_session import RequestFailed, RequestTimeout
from adapter.claude.client import Client
from adapter.claude.command import CHECKPOINTING
from adapter.claude.dispatch import Dispatcher
from adapter.claude.flavour import CLAUDE_CODE, Flavour
from adapter.claude.permissions import hook_table, launch
from adapter.claude.session import Session
from adapter.claude.version import ClaudeCapabilities, Version, detect_version, parse_version
from adapter.claude.wire import ClaudeWire
from adapter.core import SessionCore
from adapter.executor import SessionExecutor
from adapter.inbox import Inbox
from adapter.lines import fail
from adapter.mcp.hosting import host_servers
from adapter.notices import Notify, SessionNotice
from adapter.options import CommandError, CommandOptions, SessionOptions
from adapter.permissions.audit import AuditTrail
from adapter.permissions.grants import GrantStore
from adapter.permissions.machine import State
from adapter.permissions.places import real_paths_of_call, session_places
from adapter.permissions.policies import PermissionSettings
from adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from adapter.process.cli import CliProcess, find_program
from adapter.process.identity import MARK
from adapter.process.transport import ProcessGone
from adapter.process.watchdog import Watchdog
from normalize.core import Core, Happened
from normalize.families import new_core
from normalize.inputs import Ended, Received, Sent
from protocol.claude.requests import Initialize, McpMessage, UnknownRequest
from protocol.dialects import CLAUDE, Dialect
from protocol.json_values import JsonObject


@asynccontextmanager
async def open_session(
    options: SessionOptions,
    *,
    dialect: Dialect = CLAUDE,
    flavour: Flavour = CLAUDE_CODE,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AsyncIterator[Session]:
    """Run a CLI while the context is open; leaving it stops the CLI and all that it started.

    Args:
        options: what to run, and how.
        dialect: what it speaks.
        flavour: which CLI it is.
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
    version = await _version(options, program, watchdog) if flavour.is_claude_code else None
    can = flavour.capabilities(version)
    settings = permission_settings(options, can, flavour)
    if options.command.checkpointing:
        options = replace(options, environment={**options.environment, CHECKPOINTING: "true"})
    argv = build_argv(options, settings, version, flavour)
    process = await CliProcess.spawn(
        argv, workspace=options.workspace, environment=options.environment, watchdog=watchdog
    )
    inbox, wire = Inbox(), ClaudeWire()

    def told(item: Sent | Received) -> None:
        executor.happened(item)

    client = Client(
        process,
        on_sent=told,
        on_answered=told,
        peer=dialect.host(),
        line_limit=options.line_limit,
    )
    failed: Exception | None = None
    try:
        async with asyncio.TaskGroup() as tasks:

            def send(server: str, message: JsonObject) -> None:
                tasks.create_task(_pass_on(client, server, message, options.control_deadline))

            known = () if grants is None else grants.load(options.workspace)
            executor = SessionExecutor(
                SessionCore(
                    core or new_core(),
                    wire,
                    State(settings, grants=known),
                    lambda call: real_paths_of_call(call, settings),
                ),
                _Output(client, wire, inbox),
                tasks=tasks,
                workspace=options.workspace,
                # with the mark, so that hooks go with the CLI whatever happens
                environment={**options.environment, MARK: process.identity.mark},
                notify=notify,
                audit=audit,
                grants=grants,
            )
            mcp = await host_servers(
                options.hosted_servers,
                workspace=options.workspace,
                tasks=tasks,
                send=send,
                notify=notify,
                watchdog=watchdog,
            )
            session = Session(
                options,
                process=process,
                argv=argv,
                version=None if version is None else str(version),
                capabilities=can,
                client=client,
                inbox=inbox,
                executor=executor,
            )
            dispatcher = Dispatcher(
                process,
                client,
                inbox,
                executor=executor,
                mcp=mcp,
                tasks=tasks,
                max_answering=options.max_pending,
                notify=notify,
            )
            reader = tasks.create_task(_read(dispatcher, session, executor, process))
            helpers = [tasks.create_task(client.write_posted())]
            if options.stall_after is not None:
                watch = executor.turns.report(options.stall_after, lambda: executor.waits, notify)
                helpers.append(tasks.create_task(watch))
            beginning = _initialize(
                session,
                client=client,
                settings=settings,
                servers=mcp.names,
                notify=notify,
            )
            helpers.append(tasks.create_task(beginning))
            try:
                yield session
            except Exception as error:  # noqa: BLE001  raised again below, outside of the group that would wrap it
                failed = error
            finally:
                inbox.widen()
                await session.stop()
                await asyncio.wait([reader])
                for helper in helpers:
                    helper.cancel()
                await mcp.close()
    finally:
        # only when something failed before the session was whole, or in its reader
        if not process.has_exited:
            process.kill()
        if not process.is_over:
            process.discard()
            await process.wait()
    if failed is not None:
        raise failed


def open_foreign(
    options: SessionOptions,
    *,
    dialect: Dialect,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AbstractAsyncContextManager[Session]:
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


def permission_settings(
    options: SessionOptions, can: ClaudeCapabilities, flavour: Flavour = CLAUDE_CODE
) -> PermissionSettings:
    """Return how permissions are decided in a session."""
    return PermissionSettings(
        policy=options.policy,
        rules=options.rules,
        hooks=options.hooks,
        workspace=str(options.workspace),
        places=session_places(options.rules, str(options.workspace), options.environment.get("HOME", "")),
        check_uncommitted=options.check_uncommitted,
        answer_timeout=options.answer_timeout,
        max_pending=options.max_pending,
        asks_despite_hooks=can.asks_despite_hooks,
        answers_cancelled=can.waits_after_cancel,
        judges_requests=not flavour.is_claude_code,
    )


def build_argv(
    options: SessionOptions,
    settings: PermissionSettings,
    version: Version | None,
    flavour: Flavour = CLAUDE_CODE,
) -> list[str]:
    """Return the argv of a session's CLI; raises CommandError."""
    if flavour.capabilities(version).is_early and hook_table(settings):
        raise CommandError("policy", f"hooks are needed, which CLI {version} does not have; take a newer one")
    started = launch(settings, options.command.permission_mode)
    hosted: dict[str, JsonObject] = {name: {"type": "sdk", "name": name} for name in options.hosted_servers}
    if both := sorted(set(hosted) & set(options.command.mcp_servers)):
        raise CommandError("mcp_servers", f"{', '.join(both)}: hosted in the sidecar and configured as well")
    command = replace(
        options.command,
        permission_mode=started.permission_mode,
        skip_permissions=started.skip_permissions or options.command.skip_permissions,
        mcp_servers={**options.command.mcp_servers, **hosted},
    )
    return flavour.build_command(options.executable, command, version)


class _Output:
    def __init__(self, client: Client, wire: ClaudeWire, inbox: Inbox) -> None:
        self._client = client
        self._wire = wire
        self._inbox = inbox

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        for message in self._wire.replies(request, reply):
            self._client.post(message)

    def publish(self, happened: Happened) -> None:
        self._inbox.put(happened)

    def failed(self, error: Exception) -> None:
        self._inbox.fail(error)


async def _version(options: SessionOptions, program: str, watchdog: Watchdog | None) -> Version | None:
    if options.version is not None:
        return parse_version(options.version)
    if not options.ask_version or options.command.bare:
        return None
    return await detect_version(
        (program, *options.executable[1:]), options.environment, options.workspace, watchdog
    )


async def _read(
    dispatcher: Dispatcher, session: Session, executor: SessionExecutor, process: CliProcess
) -> None:
    exit_ = await dispatcher.read()
    executor.happened(Ended(session.stopping or "exited", exit_.code, exit_.signal, process.stderr_tail))


async def _initialize(
    session: Session,
    *,
    client: Client,
    settings: PermissionSettings,
    servers: list[str],
    notify: Notify,
) -> None:
    """The first thing the CLI is told: prompts wait for the answer, so that no tool runs before the hooks are known."""
    options = session.options
    if not options.initialize or session.capabilities.is_early:
        session.initialized.set_result({})
        return
    request = Initialize(
        hooks=hook_table(settings) if session.capabilities.hooks else None,
        sdk_mcp_servers=servers or None,
    )
    try:
        response = await client.exchange(request, options.initialize_deadline)
        if response.error is not None:
            raise RequestFailed(f"the CLI refuses to be initialised: {response.error}")
    except (RequestTimeout, RequestFailed, ProcessGone) as error:
        notify(SessionNotice("initialize_failed", str(error)))
        fail(session.initialized, error)
        return
    if settings.policy == "plan" and settings.asks_despite_hooks:
        await _keep_classifier_out(client, options.control_deadline, notify)
    session.initialized.set_result(response.payload if isinstance(response.payload, dict) else {})


async def _keep_classifier_out(client: Client, deadline: float, notify: Notify) -> None:
    """Keep plan mode from handing commands to a classifier, which may refuse them; then the CLI asks us instead."""
    request = UnknownRequest({"subtype": "apply_flag_settings", "settings": {"useAutoModeDuringPlan": False}})
    try:
        await client.request(request, deadline)
    except (RequestTimeout, RequestFailed) as error:
        message = f"the CLI may refuse commands before the plan is approved: {error}"
        notify(SessionNotice("plan_classifier", message))
    except ProcessGone:
        pass  # its end is told by itself


async def _pass_on(client: Client, server: str, message: JsonObject, deadline: float) -> None:
    try:
        await client.exchange(McpMessage(server_name=server, message=message), deadline)
    except (RequestTimeout, ProcessGone):
        pass  # old CLIs take no messages of hosted servers; it was the server's own idea
