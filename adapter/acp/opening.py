"""Start a session with an agent of the Agent Client Protocol and see to its end.

The handshake opens a conversation (adapter/acp/handshake.py) while the agent's lines are already read. A prompt waits
for it. If no conversation can be opened, the agent is stopped and the reason is published.
"""

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.acp.asking import UNTRIED, Asking, asking_of, end_of, settings_of, variables_for
from turnwire.adapter.acp.client import AcpClient, messages_of
from turnwire.adapter.acp.files import WorkspaceFiles
from turnwire.adapter.acp.folder_settings import allowing
from turnwire.adapter.acp.handshake import (
    FIRST,
    LATEST,
    AgentFacts,
    Conversation,
    ConversationStart,
    client_capabilities,
    converse,
    initialize,
    kind_of,
    named,
)
from turnwire.adapter.acp.hooks import HookVerdict, PermissionHooks
from turnwire.adapter.acp.open_requests import OpenRequests
from turnwire.adapter.acp.requests import INVALID_REQUEST, ClientRequests, Services
from turnwire.adapter.acp.session import AcpSession
from turnwire.adapter.acp.terminals import Terminals
from turnwire.adapter.acp.turn_hooks import EVENTS, TurnHooks
from turnwire.adapter.acp.wire import AcpWire, cancelled, is_for_a_human
from turnwire.adapter.family import check_resumes_by_id
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import Answered, Asked, PermissionAnswer
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.permissions.policies import PermissionSettings, judge_by_rule
from turnwire.adapter.permissions.real_paths import paths_at_once, real_paths_of_calls
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Deny,
    HookOutput,
    HookRequest,
    Reply,
    UnreadableRequest,
)
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.loop import (
    FamilyParts,
    SessionContext,
    hook_environment,
    permission_settings,
    run_session,
    start_agent,
)
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.events import PermissionCancelled
from turnwire.normalize.inputs import Decision, Received, Sent
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.acp.messages import PermissionRequest, Request
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import TOO_DEEP, outermost


class Graces(Struct, frozen=True, kw_only=True):
    """Seconds that are waited for what an agent may still do."""

    told_again: float = 0.3
    """Of silence, after which a conversation that is loaded counts as told again: some agents go on after their answer."""
    told_again_at_most: float = 10.0
    """For that silence."""


_GRACES = Graces()


@asynccontextmanager
async def open_acp_session(
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
    graces: Graces = _GRACES,
) -> AsyncIterator[AcpSession]:
    """Run an agent while the context is open; leaving it stops the agent and all that it started.

    The other arguments and errors are those of an Opener (adapter/families.py).
    """
    check_resumes_by_id("acp", options)
    own = core if isinstance(core, AcpCore) else AcpCore()
    environment = options.environment
    if options.policy == "supervised":
        environment = {**environment, **variables_for(options.executable[0])}
    context = SessionContext(core=own, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

    async def build_session(process: CliProcess, tasks: asyncio.TaskGroup) -> FamilyParts[AcpSession]:
        return _parts(options, context, own, process, graces=graces, tasks=tasks)

    async with run_session(
        options, context, options.executable, build_session, environment=environment
    ) as session:
        yield session


def _parts(
    options: SessionOptions,
    context: SessionContext,
    core: AcpCore,
    process: CliProcess,
    *,
    graces: Graces,
    tasks: asyncio.TaskGroup,
) -> FamilyParts[AcpSession]:
    settings = permission_settings(options, judges_requests=True)
    hooks = PermissionHooks(options.hooks, str(options.workspace))
    turn_hooks = TurnHooks(
        options.hooks,
        workspace=options.workspace,
        environment=hook_environment(options, process),
        notify=context.notify,
        looks_for_changes=settings.wants_stop,
    )
    inbox, opened = Inbox(options.ahead), OpenRequests(hooks)
    wire = AcpWire(core, hooks, opened)

    def on_sent(item: Sent) -> None:
        opened.on_sent(item.message)
        started.executor.handle(item)

    client = AcpClient(process, on_sent=on_sent, line_limit=options.line_limit)
    output = _Output(
        client,
        wire,
        inbox,
        opened=opened,
        hooks=hooks,
        turn_hooks=turn_hooks,
        on_judged=lambda judged: judgement.on_judged(started.executor, judged),
    )
    judgement = _HookVerdicts(opened, output, settings, context.audit)
    started = start_agent(
        context,
        wire,
        output,
        options=options,
        argv=options.executable,
        settings=settings,
        process=process,
        client=client,
        inbox=inbox,
        tasks=tasks,
    )
    services = _services(options, tasks, context.watchdog)
    served = ClientRequests(
        client,
        services,
        forbidden=lambda call: _forbidden(call, settings),
        tasks=tasks,
        most=options.max_pending,
        notify=context.notify,
    )
    session = AcpSession(started, hooks=turn_hooks, notify=context.notify)
    return FamilyParts(
        session=session,
        on_received=lambda received: _answer(received, client, opened, served),
        on_exit=served.close,
        background=[
            _begin(session, client, services, hooks=turn_hooks, notify=context.notify, graces=graces),
            session.serve(),
            turn_hooks.serve(),
        ],
        close=services.close,
    )


class _Output:
    """Decisions become lines; requests that nobody can decide any more are answered as cancelled."""

    def __init__(
        self,
        client: AcpClient,
        wire: AcpWire,
        inbox: Inbox,
        *,
        opened: OpenRequests,
        hooks: PermissionHooks,
        turn_hooks: TurnHooks,
        on_judged: Callable[[HookVerdict], None],
    ) -> None:
        self._client = client
        self._wire = wire
        self._inbox = inbox
        self._opened = opened
        self._hooks = hooks
        self._turn_hooks = turn_hooks
        self._on_judged = on_judged

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        self._opened.on_asked(request)

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        if isinstance(request, HookRequest):
            judged = self._hooks.on_answer(
                request, reply if isinstance(reply, HookOutput) else HookOutput({})
            )
            if judged is not None:
                # not now: whatever else follows from the hook's answer comes first
                asyncio.get_running_loop().call_soon(self._on_judged, judged)
        elif self._opened.close(request.request_id) is not None:
            for message in self._wire.replies(request, reply):
                self._client.post(message)

    def publish(self, batch: list[InputWithEvents]) -> None:
        for _, events in batch:
            for event in events:
                if type(event) is PermissionCancelled:
                    asked = self._opened.close(event.pending_id)
                    if asked is not None:
                        self._client.post(cancelled(asked))
        self._inbox.put(batch)
        for happened in batch:
            self._turn_hooks.on_happened(happened)

    def failed(self, error: Exception) -> None:
        self._inbox.fail(error)


class _HookVerdicts:
    """Asks what the hooks of the configuration have looked at, and answers it where one of them has decided."""

    def __init__(
        self, opened: OpenRequests, output: _Output, settings: PermissionSettings, audit: AuditTrail | None
    ) -> None:
        self._opened = opened
        self._output = output
        self._settings = settings
        self._audit = audit

    def on_judged(self, executor: SessionExecutor, judged: HookVerdict) -> None:
        """Have a request decided, unless it is void by now."""
        request = judged.request
        name = request.request_id
        if not self._opened.is_open(name):
            return
        kinds = ("reject_once", "reject_always") if judged.verdict == "deny" else ("allow_once",)
        option = None if judged.verdict == "ask" else request.option_of(*kinds)
        if judged.verdict == "deny" and option is None:
            executor.handle(Decision(name, "deny", judged.by, 0))
            self._output.respond(request, Deny("denied by a hook"))
            return
        if self._audit is not None:
            self._audit.note_request(request)
        executor.handle(Asked(request, paths_at_once(request.calls, self._settings)))
        # a rule or a policy may have decided
        if option is not None and self._opened.is_open(name):
            executor.handle(Answered(name, PermissionAnswer(option), judged.by))


def _answer(received: Received, client: AcpClient, opened: OpenRequests, served: ClientRequests) -> None:
    """See that every request of a line has an answer, or will have one; never waits."""
    for message in messages_of(received.message):
        match message:
            case Request() if not is_for_a_human(message):
                served.on_request(message)
            case PermissionRequest() | Request():
                if not opened.was_asked(message):
                    # it came when there was nothing to ask about any more
                    client.post(cancelled(message))
            case Malformed(reason=reason) if reason == TOO_DEEP:
                said = outermost(received.line, ("method", "id"))
                if "method" in said and "id" in said:
                    client.refuse(said["id"], INVALID_REQUEST, reason)
            case _:
                pass
    opened.on_line()


async def _begin(
    session: AcpSession,
    client: AcpClient,
    services: Services,
    *,
    hooks: TurnHooks,
    notify: Notify,
    graces: Graces,
) -> None:
    """Open the conversation: prompts wait for it."""
    options = session.options
    capabilities = client_capabilities(
        reads=services.files is not None, writes=services.writes, terminals=services.terminals is not None
    )
    try:
        # version 2 has no files and no terminals of the client's
        is_used = services.files is not None or services.terminals is not None
        facts = await initialize(
            client,
            capabilities,
            importlib.metadata.version("turnwire"),
            options.initialize_deadline,
            latest=FIRST if is_used else LATEST,
        )
        wanted = _wanted(options, facts, notify)
        conversation = await converse(client, facts, wanted, options.initialize_deadline)
        settings = settings_of(facts.own_name) if options.policy == "supervised" else ()
        asking = asking_of(
            facts.own_name,
            conversation.offered,
            list(conversation.options),
            options.executable[0],
            await asyncio.to_thread(allowing, settings, Path(options.workspace)) if settings else (),
        )
        unasked = _unasked(facts, asking, options, notify)
        mode = _mode(conversation, options.policy, options.command.permission_mode, asking)
        session.opened(facts, conversation, unasked)
        if wanted.resume is not None:
            await client.quiet(graces.told_again, graces.told_again_at_most)
        if options.policy == "supervised":
            for name, value in asking.options.items():
                await session.set_option(name, value)
        await _choose(session, conversation, mode, notify)
        await hooks.started(conversation.session_id, "startup" if wanted.resume is None else "resume")
    except (RequestFailed, RequestTimeout, ProcessGone) as error:
        await session.fail_to_open(error, notify)
    else:
        session.begin()


async def _choose(session: AcpSession, conversation: Conversation, mode: str | None, notify: Notify) -> None:
    """Go to the mode and the model that are wanted; raises RequestFailed where a new conversation has them not.

    Those of an old one may be what the agent has called them in its news, which is not always what can be chosen.
    """
    command = session.options.command
    wishes = (
        (mode, conversation.modes, session.set_permission_mode),
        (command.model, conversation.models, session.set_model),
    )
    for wish, choice, choose in wishes:
        # an agent may say that it is in a mode and act as in another (Kimi Code with `yolo` in its configuration)
        is_sure = choose != session.set_permission_mode or session.options.policy != "supervised"
        if wish is None or (choice is not None and choice.current == wish and is_sure):
            continue
        try:
            await choose(wish)
        except RequestFailed as error:
            if command.resume is None or session.options.policy in ("supervised", "plan"):
                raise
            notify(SessionNotice("not_restored", f"the conversation goes on as the agent has it: {error}"))


def _wanted(options: SessionOptions, facts: AgentFacts, notify: Notify) -> ConversationStart:
    command = options.command
    servers = dict(command.mcp_servers)
    for name, hosted in options.hosted_servers.items():
        if hosted.command:
            program, *arguments = hosted.command
            servers[name] = {"command": program, "args": arguments, "env": dict(hosted.env or {})}
        else:
            servers[name] = {"type": "sdk"}
    for name, server in list(servers.items()):
        if (kind := kind_of(server)) not in facts.mcp:
            del servers[name]
            who = facts.name or "the agent"
            message = f"{who} connects to no MCP servers of the kind {kind}: it goes without {name}"
            notify(SessionNotice("mcp_failed", message))
    if command.add_dirs and not facts.more_folders:
        raise RequestFailed(
            f"{facts.name or 'the agent'} takes no folders other than the workspace; leave out add_dirs"
        )
    if others := {hook.event for hook in options.hooks}.difference(EVENTS):
        message = (
            f"with agents of the Agent Client Protocol, hooks of {named(sorted(EVENTS))} are run, and no others: "
            f"those of {named(sorted(others))} are not run"
        )
        notify(SessionNotice("hooks_not_run", message))
    return ConversationStart(
        workspace=options.workspace,
        resume=command.resume,
        fork=command.fork,
        replay_history=command.replay_history,
        servers=servers,
        folders=command.add_dirs,
    )


def _unasked(facts: AgentFacts, asking: Asking, options: SessionOptions, notify: Notify) -> tuple[str, ...]:
    """Publish and return what an agent does not ask about. Raises RequestFailed if supervised would not hold, unless the
    configuration accepts that.
    """
    from turnwire.adapter.session.tried import (  # noqa: PLC0415 - a runner supervises nothing
        WAY_OUT,
        check_tried,
        tell_rules_in_doubt,
    )

    who = facts.name or "the agent"
    is_supervised = options.policy == "supervised"
    trials = options.trials
    own = trials.get("")
    trial = own or next((trials[one] for one in asking.programs if one in trials), None)
    tell_rules_in_doubt(options, trial, facts.release, who=who, notify=notify)
    if not asking.is_known and not is_supervised:
        return ()
    unasked = () if own is not None and is_supervised and not asking.is_known else asking.never_asks
    what = f"{who} never asks about {' or '.join(unasked)}"
    is_refused = asking.allowing or UNTRIED in unasked
    if is_supervised and is_refused and not options.accept_unasked:
        raise RequestFailed(
            f"{what}, so the policy supervised would not hold and the agent is not started. {WAY_OUT}"
        )
    if UNTRIED not in unasked:
        check_tried(options, trial, facts.release, who=who, notify=notify)
    if unasked and options.policy in (None, "supervised"):
        text = f"{what}. Neither you nor a policy sees it before it is done."
        notify(SessionNotice("asks_not_everything", text))
    return unasked


def _mode(conversation: Conversation, policy: Policy | None, asked: str | None, asking: Asking) -> str | None:
    """Return the mode to go to; raises RequestFailed when a plan is wanted of an agent that makes none."""
    if "plan" not in (policy, asked):
        return asked or (asking.mode if policy == "supervised" else None)
    modes = conversation.modes.options if conversation.modes is not None else ()
    found = next((mode for mode in modes if end_of(mode) == "plan"), None)
    if found is None:
        known = f"its modes are {named(modes)}" if modes else "it has no modes"
        raise RequestFailed(
            f"a plan needs a mode for plans, which the agent does not have ({known}); choose another mode or policy"
        )
    return found


def _files(options: SessionOptions) -> WorkspaceFiles:
    """Return what writes the workspace's files for the agent: outside of its sandbox, so it protects what that does."""
    if options.box is None:
        return WorkspaceFiles(options.workspace)
    profile = options.box.profile
    return WorkspaceFiles(
        options.workspace,
        read_only=profile.in_workspace(profile.protected),
        hidden=profile.in_workspace(profile.hidden),
    )


def _services(options: SessionOptions, tasks: asyncio.TaskGroup, watchdog: Watchdog | None) -> Services:
    files = None if options.client_files == "none" else _files(options)
    terminals = None
    if options.client_terminals:
        terminals = Terminals(
            options.workspace, options.environment, tasks=tasks, watchdog=watchdog, sandbox=options.box
        )
    return Services(files=files, writes=options.client_files == "write", terminals=terminals)


def _forbidden(call: ToolCall, settings: PermissionSettings) -> str | None:
    """Return why a rule keeps a call from being made without being asked about; None when none does."""
    verdict = judge_by_rule(settings, call, real_paths_of_calls([call], settings))
    return None if verdict is None or verdict.behavior == "allow" else verdict.reason or verdict.by
