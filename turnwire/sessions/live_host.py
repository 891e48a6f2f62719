"""The sidecar as the hub sees it: many live sessions, created, resumed, forked, retried and closed by frontends."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, assert_never

from msgspec import structs, to_builtins
from pydantic import JsonValue

from turnwire.adapter.options import ConversationInUse
from turnwire.adapter.process.identity import ProcessIdentity, reap
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.sandbox.settings import LEVELS
from turnwire.adapter.session.agent import AgentSession
from turnwire.config.agents import can_continue
from turnwire.config.rulebook import Rulebook
from turnwire.history.visibility import VisibleConversations
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary
from turnwire.journal.base import Journal, JournalError
from turnwire.journal.sessions import SessionRecord, SessionStore
from turnwire.normalize import events as ev
from turnwire.protocol.errors import TurnwireError
from turnwire.sessions.choices import agent_choices
from turnwire.sessions.claims import Claim, is_anothers, is_believed, steered_by
from turnwire.sessions.commands import execute, prompt, refused
from turnwire.sessions.cut import LogCut, copy_to, cut_at, cut_of_last_turn, whole
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sessions.history_commands import HistoryCommands, HistoryTimes, about, listed_title
from turnwire.sessions.hosted import Changed, refuse, timestamp
from turnwire.sessions.launch import CANNOT_START, family_of, merged, options_for
from turnwire.sessions.live import LiveSession
from turnwire.sessions.new_session import NewSession
from turnwire.sessions.records.options import RecordOptions, asked_folder, sandbox_of, with_options
from turnwire.sessions.records.recovery import brought_up_to, close_left_open
from turnwire.sessions.records.resume_point import NEW, ResumePoint
from turnwire.sessions.registry import SessionRegistry
from turnwire.sessions.rewind import place_of
from turnwire.sessions.services import SessionServices
from turnwire.sessions.state import short
from turnwire.sessions.trace_context import Caller
from turnwire.sessions.workspaces import Workspaces, folders, workspace_of

if TYPE_CHECKING:  # most sidecars need none of these
    from turnwire.sessions.in_terminal import Terminals
    from turnwire.sessions.ports import OpenPorts
    from turnwire.sessions.quotas import Quotas
    from turnwire.sessions.shells import SessionShells
    from turnwire.sessions.terminal_state import TerminalState
    from turnwire.sessions.worktrees import Worktrees

log = logging.getLogger(__name__)

Push = Callable[[frames.PushCommand, Frontend], JsonValue]
"""Does a command of web push; raises CommandRefused."""

FOLLOW_S = 1.0
"""How often a conversation is looked at that others may go on with."""

USAGE_S = 2.0
"""Seconds that the end waits until the index contains the usage of the last turns."""

GREETING_S = 15.0
"""Seconds that a CLI may take to answer `initialize` when it goes back to a message. After that it counts as running."""


class LiveHost:
    """Sessions with a CLI each, and the store that remembers them."""

    def __init__(
        self,
        services: SessionServices,
        store: SessionStore,
        registry: SessionRegistry[LiveSession],
        rulebook: Rulebook,
        *,
        push: Push | None = None,
        follow_s: float = FOLLOW_S,
        pace: HistoryTimes | None = None,
    ) -> None:
        """`push` does the commands of web push; `follow_s`: how often, in seconds, a conversation is looked at that others may go on with.

        `pace`: how often their folders are.
        """
        self._push = push
        self._follow_s = follow_s
        self._services = services = structs.replace(services, turn_over=self._turn_over)
        self._settings = services.settings
        self._store = store
        self._rulebook = rulebook
        self._registry = registry
        self._stopping = False
        self._history = HistoryCommands(
            services.settings, services.journal, services.spawn, pace or HistoryTimes()
        )
        self._frontend_limits = FrontendLimits(services.settings, Path())
        self._workspaces = Workspaces(self._settings)
        self._idle: set[str] = set()
        """Sessions of the operator that are begun by the agent's own interface. The sidecar ends with it."""
        self._ending: set[str] = set()
        """Those whose interface runs, or has ended."""
        self._starting: dict[str, str] = {}
        """Conversations that a CLI is being started for, and the session of each."""
        self._used: set[str] = set()
        """Sessions with a turn that the index has not taken in."""
        self._operator_sessions: set[str] = set()
        """Sessions that the operator has begun in this life."""

    @property
    def processes(self) -> int:
        """How many CLIs run."""
        return sum(session.has_process for session in self._registry.sessions.values())

    def workspaces(self) -> Sequence[Path]:
        """Return the directories that frontends' sessions may work in, and below."""
        return self._frontend_limits.workspaces

    def record(self, session: str) -> SessionRecord | None:
        """Return the record with which a session can continue; None if there is no such session."""
        known = self._registry.sessions.get(session)
        return None if known is None else known.record

    async def take_over(self, record: SessionRecord) -> None:
        """Take over a session of another sidecar, whose log is in this journal now. Raises JournalError."""
        # What its record said of it then is not what its log says.
        here = with_options(record, terminal=None)
        known = await self._closed(replace(here, pid=None, process=None, state="starting"))
        await self._services.keep(known)
        self._registry.sessions[record.session] = LiveSession(known, self._services)
        self._services.changed()

    async def abandon(self, name: str) -> None:
        """End what runs of a session that another sidecar has by now, and forget it here; its log is the other's."""
        async with self._alone_with(name) as session:
            await session.stop()
            del self._registry.sessions[name]
            await self._services.forget(name)
            await self._history.forget(name)
        self._services.changed()

    async def restore(self) -> None:
        """List the sessions of earlier lives, and end the CLIs a crashed sidecar left behind."""
        left: list[ProcessIdentity] = []
        for record in await self._store.list():
            # Its log is closed by its next start, should it not come to that here.
            known = replace(record, pid=None, process=None)
            try:
                if record.process is not None:
                    left.append(ProcessIdentity.from_text(record.process))
                known = await self._closed(known)
            except Exception:
                # One session that cannot be read must not keep the others from being served.
                log.exception(
                    "a session of an earlier run of turnwire could not be closed",
                    extra={"session": record.session},
                )
            self._registry.sessions[record.session] = LiveSession(known, self._services)
        if left:
            await asyncio.to_thread(reap, left)
        for session in list(self._registry.sessions.values()):
            if RecordOptions.from_record(session.record).terminal is None:
                continue
            try:
                await self._terminals.again(session, self._keep_in_terminal)
            except Exception:
                log.exception(
                    "a conversation in a terminal cannot be followed", extra={"session": session.session}
                )
                await self._give_up(session)

    async def _give_up(self, session: LiveSession) -> None:
        """Close the log of a conversation in a terminal that cannot be followed; frontends lead it again."""
        session.in_terminal = None
        session.amend(state="exited", options=with_options(session.record, terminal=None).options)
        try:
            await close_left_open(self._services.journal, session.session)
        except JournalError as error:
            log.warning(
                "the end of a session is not in its log",
                extra={"session": session.session, "error": str(error)},
            )

    async def _closed(self, record: SessionRecord) -> SessionRecord:
        """Return a record as it is after the end of its CLI, of which its log is told; raises JournalError.

        A turn in the agent's own interface goes on. Its requests cannot be answered from here any more.
        """
        if record.state == "exited":
            return record
        is_over = RecordOptions.from_record(record).terminal is None
        left, _ = await close_left_open(self._services.journal, record.session, turns=is_over)
        known = brought_up_to(replace(record, state="exited"), left)
        self._services.save(known)
        return known

    async def stop(self) -> None:
        """Stop all CLIs, side by side, and start no more."""
        self._stopping = True
        closing = [self._close(session) for session in self._registry.sessions]
        for failed in await asyncio.gather(*closing, return_exceptions=True):
            # One that was deleted meanwhile is refused.
            if isinstance(failed, BaseException) and not isinstance(failed, CommandRefused):
                log.error("a session could not be stopped in order", exc_info=failed)
        try:
            async with asyncio.timeout(USAGE_S):
                for name in list(self._used):
                    await self._take_in(name)
        except TimeoutError:
            log.warning("the usage of the last turns is not in the index yet; the next turn or look adds it")
        if "_terminals" in self.__dict__:
            self._terminals.close()
        self._history.close()

    def _turn_over(self, name: str, cost_usd: float | None) -> None:
        """Count what a turn has cost, and take what it has used into the index, where `turnwire usage` finds it."""
        if self._settings.quotas and (session := self._registry.sessions.get(name)) is not None:
            self._services.spawn(f"cost of {name}", self.quotas.spent(session.record.owner, cost_usd))
        if self._settings.history and self._settings.journal_kind.durable:
            self._used.add(name)
            self._services.spawn(f"usage of {name}", self._take_in(name))

    async def _take_in(self, name: str) -> None:
        session = self._registry.sessions.get(name)
        if session is not None:
            await self._history.take_in(session)
        self._used.discard(name)

    def sessions(self) -> Sequence[SessionSummary]:
        """Return all sessions as they are now."""
        return self._registry.summaries()

    def agents(self) -> Sequence[AgentChoice]:
        """Return the agents that frontends may choose, the default one first."""
        return agent_choices(self._settings, self._frontend_limits.agents)

    def watch_sessions(self, watcher: Changed) -> Callable[[], None]:
        """Tell the watcher when the list has changed."""
        return self._registry.watch(watcher)

    async def execute(self, command: frames.AnyCommand, frontend: Frontend) -> JsonValue:
        """Do a command; raises CommandRefused."""
        if isinstance(command, frames.SessionCommand) and frontend.role != "view" and not frontend.scope.all:
            self._steered(command.session, frontend)
        try:
            if not self._settings.quotas:
                return await self._execute(command, frontend)
            sizes = {one.session: one.size for one in await self._services.journal.logs()}
            return await self.quotas.keep(
                command,
                frontend.user,
                self.sessions,
                lambda name: sizes.get(name, 0),
                lambda: self._execute(command, frontend),
            )
        except JournalError as error:
            refuse("journal_unavailable", str(error))

    async def _execute(  # noqa: RET503 - the last case refuses
        self, command: frames.AnyCommand, frontend: Frontend
    ) -> JsonValue:
        match command:
            case frames.SessionList():
                return [to_builtins(summary) for summary in self.sessions()]
            case frames.SessionCreate():
                return await self._create(command, frontend)
            case frames.SessionResume():
                return await self._resume(command)
            case frames.SessionFork():
                return await self._fork(command, frontend)
            case frames.SessionRetry():
                return await self._retry(command)
            case frames.SessionRename():
                session = self._registry.find(command.session)
                session.rename(command.title)
                self._services.changed()
                return None
            case frames.LibraryOpen():
                return {"session": (await self._open_history(command.conversation, frontend)).session}
            case frames.LibraryCommand():
                return await self._history.execute(command, lambda: self._seen(frontend))
            case frames.PushCommand():
                if self._push is None:
                    refuse("no_push", "the setting `push` is off")
                return self._push(command, frontend)
            case frames.SessionClose():
                await self._close(command.session)
                return None
            case frames.SessionMove():
                refuse(
                    "not_supported",
                    "this sidecar is not a worker of a fleet, so it cannot move the session",
                )
            case frames.SessionDelete():
                await self._forget(command.session)
                return None
            case frames.WorkspaceFolders():
                return await folders(command.path, self._limits_of(frontend))
            case frames.WorkspaceCommand() | frames.PortCommand() | frames.WorktreeCommand():
                return await self._of_workspace(command, frontend)
            case frames.WorkspaceRevert():
                return await self._of_workspace(command, frontend)
            case frames.NativeBegin():
                return await self._terminals.begin(command, self._keep_in_terminal)
            case frames.NativeEnd():
                return await self._terminals.end(command)
            case frames.SessionCommand():
                session = self._registry.find(command.session)
                if isinstance(command, frames.Prompt):
                    self._check_ending(session)
                if (held := session.in_terminal) is not None:
                    return await self._terminals.command(session, held, command, frontend)
                if isinstance(command, frames.NativeTakeBack):
                    refuse("not_running", "the conversation is in no terminal", "session")
                says = isinstance(command, frames.Prompt)
                cli = await self._woken(session) if says else self._running(session)
                return await execute(session, cli, command, frontend, self._frontend_limits)
            case frames.WorktreeList():
                return await self._worktrees.list(one.record for one in self._registry.sessions.values())
            case frames.WorktreeRemove():
                records = [one.record for one in self._registry.sessions.values()]
                return await self._worktrees.remove(command.path, records)
            case frames.FleetList() | frames.FleetLead() | frames.FleetTake():
                refuse("not_supported", f"{command.type} is for the hub of a fleet (`turnwire hub`)", "type")
            case frames.Hello() | frames.Ping() | frames.AccessInvite():
                refuse("invalid_params", f"{command.type} is the hub's own", "type")
            case _ as never:
                assert_never(never)

    def _limits_of(self, frontend: Frontend, workspace: str | None = None) -> FrontendLimits:
        """Return what a frontend may request of a session that it begins; refuses where it may begin none. `workspace`: the session's."""
        scope, settings = frontend.scope, self._settings
        if not scope.check_worker(settings.worker, settings.worker_labels, settings.worker_group):
            refuse("not_allowed", f"you may begin sessions only on {', '.join(scope.workers)}", "worker")
        if workspace is not None and not (scope.all or scope.own or scope.has_folder(workspace)):
            refuse(
                "not_allowed",
                f"this token is for sessions in {', '.join(scope.folders)}; name a workspace there",
                "workspace",
            )
        return self._frontend_limits.within(scope.places)

    @cached_property
    def quotas(self) -> "Quotas":
        """What principals may use; of a worker the fleet counts what they spend."""
        from turnwire.sessions.quotas import Quotas, SpendingFile  # noqa: PLC0415 - few sidecars have quotas

        return Quotas(self._settings.quotas, SpendingFile(self._settings.state_dir))

    @cached_property
    def _ports(self) -> "OpenPorts":
        from turnwire.sessions.ports import OpenPorts  # noqa: PLC0415 - few sessions have a sandbox

        return OpenPorts(self._settings.host)

    @cached_property
    def shells(self) -> "SessionShells":
        """What opens shells in the workspaces of sessions."""
        from turnwire.sessions.shells import SessionShells  # noqa: PLC0415 - most sessions have none

        return SessionShells(self._settings, self._services.audit, self._open_to_frontends)

    def _open_to_frontends(self, name: str) -> LiveSession:
        """Return a session that frontends may work in; raises CommandRefused."""
        session = self._registry.find(name)
        if name not in self._operator_sessions:
            self._frontend_limits.check_folder(session.record)
        return session

    @cached_property
    def _worktrees(self) -> "Worktrees":
        from turnwire.sessions.worktrees import Worktrees  # noqa: PLC0415 - few sidecars make worktrees

        return Worktrees(self._settings)

    @cached_property
    def _terminals(self) -> "Terminals":
        from turnwire.sessions.in_terminal import Terminals  # noqa: PLC0415 - few conversations are ever in a terminal

        return Terminals(
            self._settings,
            self._history,
            self._frontend_limits,
            alone=self._alone_with,
            say=self._say_waiting,
            check=self._check_for_terminal,
            serve=partial(self._services.spawn, "terminals"),
        )

    def _check_ending(self, session: LiveSession) -> None:
        """Refuse to have an agent work that would be ended at once."""
        if session.session in self._ending:
            refuse(
                "in_terminal",
                "this turnwire ends with the agent's interface in its terminal, so nothing can wait for that; write it there",
                "session",
            )

    def _keep_in_terminal(self, session: LiveSession, held: "TerminalState", folder: Path) -> None:
        if session.session in self._idle:
            self._ending.add(session.session)
        self._services.spawn(session.session, self._terminals.keep(session, held, folder))

    async def _say_waiting(self, session: LiveSession, command: frames.Prompt, name: str) -> JsonValue:
        """Send a prompt that has waited, under the id that its frontend knows; raises CommandRefused."""
        cli = await self._woken(session)
        with refused():
            return await prompt(
                session,
                cli,
                command.text,
                attachments=command.attachments or (),
                caller=Caller.of(command),
                priority=command.priority,
                name=name,
            )

    async def _of_workspace(
        self,
        command: frames.WorkspaceCommand
        | frames.WorkspaceRevert
        | frames.WorktreeCommand
        | frames.PortCommand,
        frontend: Frontend,
    ) -> JsonValue:
        """Do a command about what a session works with; raises CommandRefused."""
        session = self._registry.find(command.session)
        record = session.record
        if isinstance(command, frames.PortCommand):
            return await self._ports.execute(command, self._running(session), frontend)
        self._open_to_frontends(command.session)
        match command:
            case frames.WorktreeCommand():
                from turnwire.sessions.worktrees import presence_in  # noqa: PLC0415 - as above

                async with session.changing:
                    agent = presence_in(record, self._registry.sessions.values())
                    return await self._worktrees.execute(command, record, agent=agent)
            case frames.WorkspaceRevert():
                return await self._worktrees.revert(command, workspace_of(record.workspace))
            case _:
                folder, base = workspace_of(record.workspace), None
                if isinstance(command, frames.WorkspaceDiff) and command.against == "base":
                    base = await self._worktrees.base_of(record, folder)
                return await self._workspaces.execute(command, folder, base=base)

    def _steered(self, name: str, frontend: Frontend) -> None:
        """Note that somebody commands a session who may not see all conversations."""
        session = self._registry.find(name)
        record = steered_by(session.record, frontend.user, sees_all=False)
        if record != session.record:
            session.amend(options=record.options)

    async def open(
        self,
        wanted: NewSession,
        resume_point: ResumePoint = NEW,
        *,
        frontend: Frontend | None = None,
        starts: bool = True,
    ) -> LiveSession:
        """Start a new session; `resume_point` may lead to a conversation the CLI knows. Raises CommandRefused.

        Without `starts` no CLI runs yet, and the caller ends the sidecar with the agent's own interface.
        A frontend's must keep to the limits (turnwire/sessions/frontend_limits.py) and to the frontend's scope; without one it is the operator's own.
        """
        await self._check_journal()
        settings = self._settings
        workspace = workspace_of(wanted.workspace)
        record = SessionRecord(
            session=_new_id(),
            created=timestamp(),
            title=short(wanted.title or workspace.name),
            agent=wanted.agent or settings.agent,
            workspace=str(workspace),
            owner=None if frontend is None else frontend.user,
            policy=wanted.policy or settings.policy,
            model=wanted.model or settings.model,
            permission_mode=wanted.permission_mode,
            env_names=tuple(wanted.env or ()),
        )
        record = with_options(
            record,
            title_from=None if wanted.title else "folder",
            sandbox=wanted.sandbox,
            mcp_servers=wanted.mcp_servers or settings.mcp_servers,
            agent_options=merged(settings.session_options, wanted.options),
        )
        before = None
        if resume_point.resume is not None or resume_point.latest:
            if not resume_point.branch:
                held = await self._held(await self._named(record, resume_point), record, frontend)
                if held is not None:
                    return await self._go_on_in(held, record, resume_point, frontend, wanted, starts=starts)
            record, resume_point, before = await self._with_past(record, resume_point)
        if frontend is None:
            if not starts:
                self._idle.add(record.session)
            self._operator_sessions.add(record.session)
            self._frontend_limits.allow_workspace(workspace)
        else:
            record = self._limits_of(frontend, record.workspace).new(record, wanted.env or {})
            record = steered_by(record, frontend.user, sees_all=frontend.scope.all)
        if wanted.worktree is None:
            return await self._add(
                record, resume_point, wanted.env, before=before, caller=wanted.caller, starts=starts
            )
        made, missing = await self._worktrees.make(wanted.worktree, workspace)
        record = with_options(replace(record, workspace=made.folder), worktree=to_builtins(made))
        try:
            session = await self._add(
                record, resume_point, wanted.env, before=before, caller=wanted.caller, starts=starts
            )
        except BaseException:
            await self._worktrees.unmake(made)
            raise
        for text in missing:
            await session.announce(ev.Notice(kind="worktree", level="warning", text=text))
        return session

    async def _named(self, record: SessionRecord, point: ResumePoint) -> str | None:
        """Return which conversation a way leads to; None where only the CLI knows."""
        if point.resume is not None:
            return point.resume
        listed = await self._history.remembered(record.agent or "", record.workspace or "", None)
        if listed is not None:
            return listed.id
        here = [
            one.record
            for one in self._registry.sessions.values()
            if (one.record.workspace, one.record.agent) == (record.workspace, record.agent)
            and one.record.cli_session_id is not None
        ]
        newest = max(
            here, key=lambda one: RecordOptions.from_record(one).updated or one.created, default=None
        )
        return None if newest is None else newest.cli_session_id

    def _family(self, record: SessionRecord) -> str:
        name = family_of(record, self._settings).name
        return "claude" if name == "auto" else name

    async def _check_for_terminal(self, session: LiveSession, conversation: str, claim: Claim | None) -> None:
        """Refuse a conversation that is another's, or that another session runs."""
        await self._check_claim(session.record, conversation, claim)
        await self._check_taken(session, conversation)

    async def _check_taken(self, session: LiveSession, conversation: str | None) -> None:
        """Refuse to go on with a conversation that another session runs; to begin with one that another session has."""
        holders = await self._holders(conversation, session)
        if not session.only_shows:
            holders = [one for one in holders if one.drives]
        if holders:
            _in_session(one for one in holders if one.record.owner == session.record.owner)

    async def _holders(self, conversation: str | None, but: LiveSession | None = None) -> list[LiveSession]:
        """Return the sessions that go on with a conversation, those that run it first; not those that only show it.

        What an agent says alone does not count if the conversation is another's by what is known: it must keep nobody from it.
        """
        found, sessions = list[LiveSession](), list(self._registry.sessions.values())
        for one in sessions:
            record, way = one.record, ResumePoint.on(one.record)
            kept = RecordOptions.from_record(record).conversation
            own = None if way.branch else way.resume or kept
            if one is but or one.only_shows or own is None or own != conversation:
                continue
            claim = Claim.of(record)
            if kept != conversation and claim is not None and not is_believed(record):
                began, ended = await self._history.times(conversation)
                others = [other.record for other in sessions]
                if is_anothers(claim, record, others, began, ended):
                    continue
            found.append(one)
        return sorted(found, key=lambda one: not one.drives)

    async def _held(
        self, conversation: str | None, record: SessionRecord, frontend: Frontend | None
    ) -> LiveSession | None:
        """Return the session of the same owner that has a conversation, None where nobody has it; refuses another's."""
        family = self._family(record)
        holders = [one for one in await self._holders(conversation) if self._family(one.record) == family]
        if not holders:
            return None
        own = [one for one in holders if one.record.owner == record.owner]
        if not own:
            _in_session(one for one in holders if frontend is None or frontend.sees(one.summary()))
        return own[0]

    async def _go_on_in(
        self,
        held: LiveSession,
        record: SessionRecord,
        point: ResumePoint,
        frontend: Frontend | None,
        wanted: NewSession,
        *,
        starts: bool = False,
    ) -> LiveSession:
        """Go on in the session that has the conversation already, instead of beginning another one.

        The operator's options count from its next start on. A frontend that asks for other ones is refused.
        """
        if frontend is not None:
            return _as_asked(held, wanted)
        async with self._alone_with(held.session) as session:
            self._operator_sessions.add(session.session)
            self._frontend_limits.allow_workspace(workspace_of(record.workspace))
            before, asked = RecordOptions.from_record(session.record), RecordOptions.from_record(record)
            levels = [sandbox_of(one, self._settings) for one in (session.record, record)]
            session.amend(
                agent=record.agent,
                policy=record.policy or session.record.policy,
                model=record.model or session.record.model,
                options=with_options(
                    session.record,
                    # what was decided for it before holds on
                    sandbox=max(levels, key=LEVELS.index),
                    mcp_servers=asked.mcp_servers or before.mcp_servers,
                    agent_options={**before.agent_options, **asked.agent_options},
                ).options,
            )
            if point.at is not None:
                await self._go_back(session, point.at)
            elif starts and session.cli is None:
                await self._start(session, ResumePoint.on(session.record))
        return held

    async def _with_past(
        self, record: SessionRecord, point: ResumePoint
    ) -> tuple[SessionRecord, ResumePoint, Callable[[LiveSession], Awaitable[None]] | None]:
        """Have a session begin with the conversation that its CLI is to go on with, as far as its file is known."""
        listed = await self._history.remembered(record.agent or "", record.workspace or "", point.resume)
        if listed is None:
            return record, replace(point, tell=point.resume is not None), None
        if not point.branch:
            if await self._history.is_running(listed.id):
                refuse(
                    "followed",
                    f"a CLI outside turnwire has the conversation {listed.id} open; close it there, or go on with --fork-session",
                )
            record = with_options(record, conversation=listed.id)
        follower = await self._history.follower(listed, point.at)

        async def show(session: LiveSession) -> None:
            try:
                await session.import_history(follower, about(listed), running=False)
            except KeyError:
                # 2.0.14 names messages as the API does, which its file cannot be read up to
                log.info("the earlier conversation cannot be shown: its file has no such message")

        return record, replace(point, resume=listed.id, latest=False), show

    def claim(self, name: str, mcp_servers: Mapping[str, JsonValue] | None = None) -> None:
        """Have the operator answer for a session of before, from its next start on with these MCP servers; raises CommandRefused."""
        session = self._registry.find(name)
        self._operator_sessions.add(name)
        if mcp_servers is not None:
            session.amend(options=with_options(session.record, mcp_servers=dict(mcp_servers)).options)

    async def say(
        self,
        session: LiveSession,
        text: str,
        attachments: Sequence[frames.Attachment] = (),
        caller: Caller | None = None,
    ) -> JsonValue:
        """Send a prompt in the name of the sidecar, in a caller's trace context; raises CommandRefused."""
        try:
            cli = await self._woken(session)
            with refused():
                return await prompt(session, cli, text, attachments=attachments, caller=caller or Caller())
        except JournalError as error:
            refuse("journal_unavailable", str(error))

    async def _woken(self, session: LiveSession) -> AgentSession:
        """Return the agent that takes a prompt; it is started where none runs."""
        await self._check_journal()
        if session.sleeps:
            await self._wake(session.session)
            if await session.takes_other_way(GREETING_S):
                await self._wake(session.session)
        return self._running(session)

    @staticmethod
    def _running(session: LiveSession) -> AgentSession:
        if (cli := session.cli) is None:
            refuse(
                "not_running",
                f"session {session.session} has no running CLI; session.resume starts one",
                "session",
            )
        return cli

    def _seen(self, frontend: Frontend) -> tuple[list[LiveSession], VisibleConversations | None]:
        """Return the sessions that a frontend may see, and which conversations of the library; None for all."""
        sessions = list(self._registry.sessions.values())
        if frontend.scope.all:
            return sessions, None
        seen = [session for session in sessions if frontend.sees(session.summary())]
        # never what an agent says of itself: it may name another's conversation
        known = {
            name
            for session in seen
            if (name := RecordOptions.from_record(session.record).conversation) is not None
        }
        live = {f"live:{session.session}" for session in seen}
        return seen, VisibleConversations(frontend.scope.folders, frozenset(known | live))

    async def _create(self, command: frames.SessionCreate, frontend: Frontend) -> JsonValue:
        wanted = NewSession.of(command)
        if command.worktree is not None and command.resume is not None:
            refuse(
                "invalid_params",
                "a conversation that goes on has its folder already; leave `worktree` out",
                "worktree",
            )
        if command.resume is not None:
            session = await self._open_past(wanted, command.resume, frontend)
        else:
            session = await self.open(wanted, frontend=frontend)
        if command.prompt:
            await self.say(session, command.prompt, caller=wanted.caller)
        return {"session": session.session}

    async def _open_past(self, wanted: NewSession, name: str, frontend: Frontend) -> LiveSession:
        """Go on with a conversation: one of the library, else one that the agent named keeps, lists and tells itself."""
        try:
            return await self._open_history(name, frontend, wanted)
        except CommandRefused as refused:
            # which folder it is of only the agent knows: not for who may see some alone
            if refused.code != "unknown_conversation" or wanted.agent is None or not frontend.scope.all:
                raise
            from turnwire.history.agent_listing import lists_itself  # noqa: PLC0415 - who asks for none need not wait for it

            if not lists_itself(wanted.agent, self._settings):
                raise
        known = frozenset(self._registry.sessions)
        session = await self.open(wanted, ResumePoint(name), frontend=frontend)
        if session.session in known:
            return session
        try:
            await _opened(session)
        except CommandRefused:
            await self._forget(session.session)
            raise
        return session

    async def _open_history(
        self, name: str, frontend: Frontend, wanted: NewSession | None = None
    ) -> LiveSession:
        """Open a conversation of the library: to be read, or with a wish to go on with it, which is then looked at as others are."""
        await self._check_journal()
        settings = self._settings
        seen, within = self._seen(frontend)
        listed = await self._history.find(name, within)
        holders = await self._holders(listed.id)
        if wanted is None:
            shows = [one for one in seen if RecordOptions.from_record(one.record).conversation == listed.id]
            if own := [*(one for one in holders if one in seen), *shows]:
                return own[0]
        asked = wanted or NewSession()
        if asked.workspace is not None and asked.workspace != listed.folder:
            refuse(
                "invalid_params",
                f"the conversation is one of {listed.folder!r}; leave `workspace` out",
                "workspace",
            )
        record = SessionRecord(
            session=_new_id(),
            created=timestamp(),
            title=short(asked.title or listed_title(listed)),
            agent=asked.agent
            or (
                settings.agent
                if can_continue(settings.agent, listed.agent, settings.agents)
                else listed.agent
            ),
            workspace=listed.folder,
            owner=frontend.user,
            policy=asked.policy or settings.policy,
            model=asked.model or settings.model,
            permission_mode=asked.permission_mode,
            env_names=tuple(asked.env or ()),
            cli_session_id=listed.id,
            cli_version=listed.version,
            state="exited",
        )
        record = with_options(
            record,
            sandbox=asked.sandbox,
            mcp_servers=asked.mcp_servers or settings.mcp_servers,
            agent_options=merged(settings.session_options, asked.options),
            conversation=listed.id,
        )
        if wanted is not None and (held := await self._held(listed.id, record, frontend)) is not None:
            return _as_asked(held, wanted)
        if not can_continue(record.agent or "", listed.agent, settings.agents):
            refuse(
                "invalid_params",
                f"the agent {record.agent!r} cannot go on with a conversation of {listed.agent}; name one that can",
                "agent",
            )
        limits = self._limits_of(frontend, record.workspace)
        if frontend.scope.places:
            limits.check_workspace(record.workspace or ".", "conversation")
        record = steered_by(record, frontend.user, sees_all=frontend.scope.all)
        if wanted is not None:
            workspace_of(listed.folder)
            record = limits.new(record, asked.env or {})
        else:
            record = with_options(record, reading=True)
        follower = await self._history.follower(listed)
        session = self._list(record, asked.env)
        try:
            async with session.changing:
                await self._services.keep(record)
                running = await self._history.is_running(listed.id)
                await session.import_history(follower, about(listed), running=running)
        except BaseException:
            del self._registry.sessions[record.session]
            self._services.changed()
            await self._services.forget(record.session)
            await self._services.journal.delete(record.session)
            raise
        self._services.spawn(session.session, self._follow(session, listed.id))
        self._services.changed()
        return session

    def _is_stopping(self) -> bool:
        return self._stopping

    async def _follow(self, session: LiveSession, conversation: str) -> None:
        """Follow a conversation until a CLI of ours has it, or nobody wants it any more."""
        while (
            session.followable
            and self._registry.sessions.get(session.session) is session
            and not self._is_stopping()
        ):
            await asyncio.sleep(self._follow_s)
            try:
                async with session.changing:
                    await session.follow(running=await self._history.is_running(conversation))
            except (TurnwireError, RuntimeError):
                if not self._is_stopping():  # the library and its threads have ended
                    raise

    async def _resume(self, command: frames.SessionResume) -> JsonValue:
        async with self._alone_with(command.session) as session:
            await self._check_journal()
            if command.at is not None:
                await self._go_back(session, command.at)
            elif not session.sleeps:
                refuse("running", f"session {session.session} already runs", "session")
            else:
                await self._start(session, ResumePoint.again(session.record))
                await _opened(session)
        return {"session": session.session}

    async def _check_history(self, session: LiveSession) -> None:
        """Refuse to go on with a conversation that somebody's own CLI has open, or whose folder is not for frontends."""
        record = session.record
        kept = RecordOptions.from_record(record)
        conversation = kept.conversation
        if conversation is None:
            return
        if record.cli_session_id == conversation and await self._history.is_running(conversation):
            refuse(
                "followed",
                f"a CLI outside turnwire has the conversation {conversation} open; close it there, or fork the session",
                "session",
            )
        if kept.reading:
            workspace_of(record.workspace)
            self._frontend_limits.new(record, session.env)
            session.amend(options=with_options(record, reading=False).options)

    async def _check_claim(
        self, record: SessionRecord, conversation: str | None, claim: Claim | None = None
    ) -> None:
        """Refuse to go on with a conversation that is a session's only by what its agent says, and another's by what is known."""
        claim = claim or Claim.of(record)
        if (
            claim is None
            or claim.conversation != conversation
            or is_believed(record)
            or RecordOptions.from_record(record).conversation == conversation
        ):
            return
        began, ended = await self._history.times(claim.conversation)
        origin_began = None if claim.origin is None else (await self._history.times(claim.origin))[0]
        others = [one.record for one in self._registry.sessions.values()]
        if is_anothers(claim, record, others, began, ended, origin_began=origin_began):
            refuse(
                "not_allowed",
                f"the agent of {record.session} names the conversation {claim.conversation}, which is another's; start a new session",
                "session",
            )

    async def _go_back(self, session: LiveSession, at: str) -> None:
        """Go on from a message; when the CLI does not take it, what ran runs on from where it was."""
        before, ran = session.record, session.cli is not None
        await self._check_claim(before, before.cli_session_id)
        family = family_of(before, self._settings)
        place = await place_of(self._services.journal, before, at, family, self._history.has_message)
        cut = await cut_at(self._services.journal, session.session, at)
        await session.stop()
        try:
            await self._start(session, ResumePoint.on(session.record, at=place))
            await _accepted(session, at)
        except CommandRefused:
            session.take_back(before)
            if ran:
                await self._start(session, ResumePoint.on(session.record))
            raise
        await session.announce(cut.event("rewind"))

    async def _fork(self, command: frames.SessionFork, frontend: Frontend) -> JsonValue:
        await self._check_journal()
        parent = self._registry.find(command.session)
        origin = parent.record
        if origin.cli_session_id is None:
            refuse("nothing_to_resume", f"session {origin.session} has no conversation yet", "session")
        if not parent.capabilities.forks:
            _cannot(parent, "branch off a conversation; start a new session")
        limits = self._limits_of(frontend)
        if frontend.scope.places:
            limits.check_workspace(asked_folder(origin) or ".", "session")
        record = SessionRecord(
            session=_new_id(),
            created=timestamp(),
            title=short(f"{origin.title} (fork)"),
            agent=origin.agent,
            workspace=origin.workspace,
            owner=frontend.user,
            policy=origin.policy,
            model=origin.model,
            permission_mode=origin.permission_mode,
            env_names=origin.env_names,
            cli_version=origin.cli_version,
            resume_token=origin.resume_token,
            forked_from=origin.session,
        )
        kept = RecordOptions.from_record(origin)
        record = with_options(
            record,
            mcp_servers=kept.mcp_servers,
            agent_options=kept.agent_options,
            sandbox=kept.sandbox,
            worktree=kept.worktree,
        )
        record = steered_by(record, frontend.user, sees_all=frontend.scope.all and is_believed(origin))
        await self._check_claim(origin, origin.cli_session_id)
        if kept.reading:
            workspace_of(origin.workspace)
            self._frontend_limits.new(record, parent.env)
        journal, place = self._services.journal, None
        if command.at is None:
            cut = await whole(journal, origin.session)
        else:
            family = family_of(origin, self._settings)
            place = await place_of(journal, origin, command.at, family, self._history.has_message)
            cut = await cut_at(journal, origin.session, command.at)
        record = replace(record, turns=cut.turns)
        session = await self._add(
            record,
            ResumePoint.fork(origin, at=place),
            parent.env,
            before=partial(_show, journal, origin, cut),
        )
        try:
            if command.at is None:
                await _opened(session)
            else:
                await _accepted(session, command.at)
        except CommandRefused:
            await self._forget(session.session)
            raise
        return {"session": session.session}

    async def _retry(self, command: frames.SessionRetry) -> JsonValue:
        async with self._alone_with(command.session) as session:
            await self._check_journal()
            record = session.record
            if record.last_prompt is None:
                refuse("nothing_to_retry", f"session {record.session} has had no prompt yet", "session")
            attachments = session.prompt_history.attachments()
            if len(attachments) != RecordOptions.from_record(record).attached:
                refuse(
                    "nothing_to_retry",
                    "the attachments of the last prompt were not kept over the sidecar's restart; send it anew",
                    "session",
                )
            can = session.capabilities
            if record.turns > 1 and session.cli is not None and not can.resumes:
                _cannot(session, "go on with its conversation, so nothing can be retried; prompt it again")
            await self._check_claim(record, record.cli_session_id)
            cut = await cut_of_last_turn(self._services.journal, session.session, record.retry_token)
            await session.stop()
            await self._start(session, ResumePoint.back(record, can))
            await session.announce(cut.event("retry"))
        return await self.say(session, record.last_prompt, attachments)

    async def _close(self, name: str) -> None:
        async with self._alone_with(name) as session:
            await session.stop()

    async def _wake(self, name: str) -> None:
        async with self._alone_with(name) as session:
            if session.sleeps:
                await self._start(session, ResumePoint.again(session.record))

    async def _forget(self, name: str) -> None:
        async with self._alone_with(name) as session:
            await self._check_journal()
            _check_terminal(session)
            await session.stop()
            # its events first: where they cannot be taken away, the session is still there to be deleted again
            await self._services.journal.delete(name)
            del self._registry.sessions[name]
            await self._services.forget(name)
            await self._history.forget(name)
            session.remove_attachments()
        self._services.changed()

    async def _check_journal(self) -> None:
        """Refuse to begin what would not be kept: nobody would hear of it, and a restart would not know it."""
        try:
            await self._services.journal.check()
        except JournalError as error:
            refuse("journal_unavailable", str(error))

    def _list(self, record: SessionRecord, env: Mapping[str, str] | None) -> LiveSession:
        """Make a session one of those that are there; refuses one more than are allowed. The look and the entry are one step."""
        most = self._settings.max_sessions
        if len(self._registry.sessions) >= most:
            refuse("limit_sessions", f"there are {most} sessions, the most allowed; raise max_sessions")
        session = LiveSession(record, self._services, env)
        self._registry.sessions[record.session] = session
        return session

    @asynccontextmanager
    async def _alone_with(self, name: str) -> AsyncIterator[LiveSession]:
        """One at a time may start, stop or forget a session; refuses when there is none (any more)."""
        async with self._registry.find(name).changing:
            yield self._registry.find(name)

    async def _add(
        self,
        record: SessionRecord,
        resume_point: ResumePoint,
        env: Mapping[str, str] | None = None,
        *,
        before: Callable[[LiveSession], Awaitable[None]] | None = None,
        caller: Caller | None = None,
        starts: bool = True,
    ) -> LiveSession:
        """Begin a session; `before` fills its log before its CLI is started; `caller`: whose trace it belongs to."""
        if resume_point != NEW:
            record = with_options(record, origin=resume_point.json())
        session = self._list(record, env)
        if caller is not None and not caller.is_empty:
            session.caller = caller
        try:
            async with session.changing:
                if before is not None:
                    await before(session)
                if starts:
                    await self._start(session, resume_point)
                else:
                    session.amend(state="exited")
                    await self._services.keep(session.record)
        except BaseException:
            del self._registry.sessions[record.session]
            await self._services.forget(record.session)
            await self._services.journal.delete(record.session)
            raise
        return session

    async def _start(self, session: LiveSession, resume_point: ResumePoint) -> None:
        """Start a CLI; nothing is awaited between the look at the limit and the start."""
        await session.cleared()
        _check_terminal(session)
        self._check_ending(session)
        await self._check_history(session)
        await self._check_claim(session.record, resume_point.resume)
        going = None if resume_point.branch else resume_point.resume
        await self._check_taken(session, going)
        if self._starting.get(going or "", session.session) != session.session:
            _in_session([])
        if self._stopping:
            refuse("cannot_start", "the sidecar is stopping")
        running = self.processes
        if running >= self._settings.max_processes:
            refuse(
                "limit_processes",
                f"{running} CLIs run, the most allowed; close a session, or raise max_processes",
            )
        record = session.record
        if session.session not in self._operator_sessions:
            record = self._frontend_limits.again(record)
        try:
            options = options_for(record, self._settings, self._rulebook, resume_point, session.env)
            if going is not None:
                self._starting[going] = session.session
            await session.start(options, resume_point)
        except ConversationInUse as error:
            refuse("in_session", error.sentence)
        except (*CANNOT_START, JournalError, OSError, ProcessGone) as error:
            refuse("cannot_start", str(error))
        finally:
            self._starting.pop(going or "", None)
        self._services.changed()


def _check_terminal(session: LiveSession) -> None:
    if (held := session.in_terminal) is not None:
        refuse(
            "in_terminal",
            f"the conversation is in the terminal on {held.host}; leave it there, or send native.take_back",
            "session",
        )


def _in_session(named: Iterable[LiveSession]) -> NoReturn:
    """Refuse a conversation that other sessions have, and name those that who asks may know."""
    names = ", ".join(one.session for one in named)
    where = f"the session {names} has" if names else "another session has"
    refuse("in_session", f"{where} this conversation; go on there, or fork it")


def _as_asked(held: LiveSession, wanted: NewSession) -> LiveSession:
    """Return the session that has a conversation; refuses a wish for it to be another one than it is."""
    record, kept = held.record, RecordOptions.from_record(held.record)
    options = {} if wanted.options is None else wanted.options.model_dump(mode="json", exclude_none=True)
    asked: dict[str, tuple[object, object]] = {
        "agent": (wanted.agent, record.agent),
        "model": (wanted.model, record.model),
        "policy": (wanted.policy, record.policy),
        "permission_mode": (wanted.permission_mode, record.permission_mode),
        "sandbox": (wanted.sandbox, kept.sandbox),
        "mcp_servers": (wanted.mcp_servers, kept.mcp_servers),
        "options": (options or None, {name: kept.agent_options.get(name) for name in options}),
        "env": (wanted.env, held.env),
    }
    other = [name for name, (wish, now) in asked.items() if wish is not None and wish != now]
    if other:
        refuse(
            "in_session",
            f"the session {held.session} has this conversation, with another {', '.join(other)}; go on there, or fork it",
            other[0],
        )
    return held


def _new_id() -> str:
    return f"s-{secrets.token_hex(5)}"


def _cannot(session: LiveSession, what: str) -> NoReturn:
    refuse("not_supported", f"{session.record.agent or 'the agent'} cannot {what}", "session")


async def _opened(session: LiveSession) -> None:
    """Wait until an agent that says on its start whether it goes on with a conversation has said so."""
    if session.capabilities.says_whether_it_resumes:
        trouble = await session.refusal(GREETING_S)
        if trouble is not None:
            refuse("refused_by_cli", trouble, "session")


async def _accepted(session: LiveSession, at: str) -> None:
    """Wait until a CLI has introduced itself: one that does not know the message it is to go back to ends before."""
    trouble = await session.greeting(GREETING_S)
    if trouble is not None:
        refuse("refused_by_cli", f"cannot go back to {at!r}: {trouble}", "at")


async def _show(journal: Journal, origin: SessionRecord, cut: LogCut, fork: LiveSession) -> None:
    """Let a fork's log begin with the conversation that it goes on with."""

    def told(state: Literal["began", "ended"], text: str) -> ev.History:
        return ev.History(state=state, text=text, forked_from=origin.session, at=cut.at)

    await fork.announce(told("began", f"What follows was said in the session {origin.session}."))
    await copy_to(journal, origin.session, fork.session, cut)
    await fork.announce(told("ended", "Here the conversation was branched off."))
    await journal.flush(fork.session)
