"""The loop of a session: pass the agent's lines to the core and carry out the effects, until the agent has exited.

A family brings its client, its handling of a line beside the core, and the start of its conversations. This loop
defines the order in which everything starts, reads, writes, waits and ends. It leaves nothing running.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from turnwire.adapter.options import CommandError, ConversationInUse, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.real_paths import paths_at_once, protected_places, session_places
from turnwire.adapter.process.cli import MAX_ARGUMENT, CliProcess
from turnwire.adapter.process.identity import MARK
from turnwire.adapter.process.shutdown import kill_on_exit
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent_wire import AgentWire
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.executor import Output, SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.adapter.session.running_agent import Client, RunningAgent, StartedAgent
from turnwire.normalize.core import Core
from turnwire.normalize.events import PermissionRequest
from turnwire.normalize.inputs import Ended, Received

if TYPE_CHECKING:  # loaded when an agent is started
    from turnwire.adapter.process.conversation_lock import ConversationLock

Agent = TypeVar("Agent", bound=RunningAgent[Any])


async def _nothing_to_close() -> None:
    """Do nothing: only the agent was opened."""


class FamilyParts(Struct, Generic[Agent], frozen=True, kw_only=True):
    """The family's parts for the loop, once its process runs."""

    session: Agent
    """The session."""
    on_exit: Callable[[], None] = lambda: None
    """Ends what the family has begun beside the session, once the agent has exited."""
    on_received: Callable[[Received], None] = lambda _: None
    """Handles a line beside the core. Never waits."""
    background: Sequence[Coroutine[Any, Any, None]] = ()
    """Background coroutines, such as the greeting; they are cancelled when the session ends."""
    close: Callable[[], Awaitable[None]] = _nothing_to_close
    """Closes what the session opened in addition to the agent."""


class SessionContext(Struct, frozen=True, kw_only=True):
    """Further arguments of a session, in addition to its options."""

    core: Core
    """The family's core."""
    watchdog: Watchdog | None
    """Ends the agent should the sidecar die."""
    audit: AuditTrail | None
    """The trail of decisions."""
    grants: GrantStore | None
    """Always-answers beyond the session."""
    notify: Notify
    """Called for events that no line contains."""


@asynccontextmanager
async def run_session(
    options: SessionOptions,
    context: SessionContext,
    argv: Sequence[str],
    build_session: Callable[[CliProcess, asyncio.TaskGroup], Awaitable[FamilyParts[Agent]]],
    *,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Agent]:
    """Run an agent and its session while the context is open; leaving it stops the agent and all that it started.

    environment: the agent's, if not that of the options. Raises ProgramNotFound, and ConversationInUse if another agent goes on
    with the conversation.
    """
    failed: Exception | None = None
    notify = context.notify
    _check_length(argv)
    own = options.environment if environment is None else environment
    with closing(_lock(options, own)) as lock:
        process = await CliProcess.spawn(
            argv,
            workspace=options.workspace,
            environment=own,
            watchdog=context.watchdog,
            sandbox=options.box,
        )
        # a process is left only when something failed before the session was whole, or in its reader
        async with kill_on_exit(process), asyncio.TaskGroup() as tasks:
            parts = await build_session(process, tasks)
            session = parts.session
            reader = tasks.create_task(_read(parts, notify, lock))
            helpers = [tasks.create_task(one) for one in (session.client.write_posted(), *parts.background)]
            if options.stall_after is not None:
                watch = session.executor.turns.report(
                    options.stall_after, lambda: session.executor.waits, notify
                )
                helpers.append(tasks.create_task(watch))
            try:
                yield session
            except Exception as error:  # noqa: BLE001  raised again below, outside of the group that would wrap it
                failed = error
            finally:
                session.inbox.widen()
                await session.stop()
                await asyncio.wait([reader])
                for helper in helpers:
                    helper.cancel()
                await parts.close()
    if failed is not None:
        raise failed


def _lock(options: SessionOptions, environment: Mapping[str, str]) -> "ConversationLock":
    """Lock the conversation that an agent is to go on with, if that is known. Raises ConversationInUse."""
    from turnwire.adapter.process.conversation_lock import ConversationLock  # noqa: PLC0415 - see above

    lock = ConversationLock(
        options.family, environment, options.name, against_others=options.judges_conversations
    )
    if options.command.resume is not None and not options.command.fork:
        lock.take(options.command.resume)
    return lock


def _check_length(argv: Sequence[str]) -> None:
    """Raise CommandError for an argument that Linux does not pass on."""
    option = ""
    for argument in argv:
        size = len(os.fsencode(argument))
        if size > MAX_ARGUMENT:
            name = (argument if argument.startswith("-") else option).partition("=")[0][:100]
            raise CommandError(
                name or "command",
                f"has {size:,} bytes, and one argument of a program holds {MAX_ARGUMENT:,}; shorten it, or write it into a file",
            )
        option = argument if argument.startswith("-") else ""


async def _read(parts: FamilyParts[Agent], notify: Notify, lock: "ConversationLock") -> None:
    """Read everything, and tell how the agent ended."""
    session, process, known = parts.session, parts.session.process, None
    async for batch in session.client.batches():
        session.executor.receive(batch, parts.on_received)
        if (named := session.executor.conversation) is not known and named is not None:
            known = named
            _take_named(session, named, lock, notify)
        await session.executor.room()
        await session.inbox.room()
    deadline = session.options.exit_deadline
    if not await process.exits_within(deadline):
        session.stopping = session.stopping or "stopped"
        message = f"the agent lived on for {deadline:g} s after the end of its output and is stopped"
        notify(SessionNotice("lived_on", message))
        process.kill()
    exit_ = await process.wait()
    gone = ProcessGone(f"the agent has exited ({exit_.signal or f'code {exit_.code}'})")
    session.client.give_up(gone)
    session.refuse(gone)
    parts.on_exit()
    ended = Ended(session.stopping or "exited", exit_.code, exit_.signal, process.stderr_tail)
    session.executor.handle(ended)


def _take_named(session: RunningAgent[Any], named: str, lock: "ConversationLock", notify: Notify) -> None:
    """Lock the conversation that an agent has named. End an agent that goes on with another one's."""
    command = session.options.command
    if command.fork and named == command.resume:
        return  # it tells of its parent
    try:
        lock.take(named)
    except ConversationInUse as error:
        if command.fork or not command.continue_latest:
            return  # a conversation that begins is nobody else's, whatever its id; one that was named is locked since the start
        notify(SessionNotice("conversation_in_use", f"the agent is stopped: {error}"))
        session.stopping = session.stopping or "stopped"
        session.refuse(error)
        session.process.kill()


def hook_environment(options: SessionOptions, process: CliProcess) -> dict[str, str]:
    """Return the environment of programs beside an agent. It has the agent's mark, so they always end with the agent."""
    return {**options.environment, MARK: process.identity.mark}


def start_agent(
    context: SessionContext,
    wire: AgentWire,
    output: Output,
    *,
    options: SessionOptions,
    argv: Sequence[str],
    settings: PermissionSettings,
    process: CliProcess,
    client: Client,
    inbox: Inbox,
    tasks: asyncio.TaskGroup,
) -> StartedAgent[Client]:
    """Join a family's core, wire and client with the permission machine and the executor."""
    known = () if context.grants is None else context.grants.load(options.workspace)
    core = SessionCore(
        context.core,
        wire,
        State(settings, grants=known),
        lambda calls: paths_at_once(calls, settings),
        lambda request: _with_replaced_files(request, settings),
    )
    executor = SessionExecutor(
        core,
        output,
        tasks=tasks,
        workspace=options.workspace,
        environment=hook_environment(options, process),
        notify=context.notify,
        audit=context.audit,
        grants=context.grants,
    )
    if options.box is not None:
        executor.guard(options.box.gate, options.box.profile)
    return StartedAgent(
        options=options, argv=argv, process=process, client=client, inbox=inbox, executor=executor
    )


def _with_replaced_files(request: PermissionRequest, settings: PermissionSettings) -> PermissionRequest:
    if request.action_type != "file_write":
        return request
    from turnwire.adapter.permissions.replaced_files import (  # noqa: PLC0415 - many sessions write no file
        with_replaced_files,
    )

    return with_replaced_files(request, settings)


def permission_settings(
    options: SessionOptions,
    *,
    asks_despite_hooks: bool = False,
    answers_cancelled: bool = False,
    judges_requests: bool = False,
) -> PermissionSettings:
    """Return the settings of a session's permissions. The family adds what depends on the agent."""
    return PermissionSettings(
        policy=options.policy,
        rules=options.rules,
        hooks=options.hooks,
        workspace=str(options.workspace),
        places=session_places(options.rules, str(options.workspace), options.environment.get("HOME", "")),
        protected=protected_places(options.own_places, options.environment.get("HOME", "")),
        check_uncommitted=options.check_uncommitted,
        answer_timeout=options.answer_timeout,
        auto_deny_as=options.auto_deny_as,
        max_pending=options.max_pending,
        asks_despite_hooks=asks_despite_hooks,
        answers_cancelled=answers_cancelled,
        judges_requests=judges_requests and not options.caller_decides,
    )
