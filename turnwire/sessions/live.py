"""One live session: a CLI, its pipeline, and its record.

The session outlives its CLI. When the process ends, the log and the record stay. The next prompt or
`session.resume` starts another CLI that continues the conversation (turnwire/sessions/commands.py).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.families import open_session
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AgentSession, RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import AttachmentFolder
from turnwire.adapter.session.notices import SessionNotice
from turnwire.history.following import Follower
from turnwire.hub.host import Shell
from turnwire.hub.wire.frames_out import Abilities, SessionSummary, SessionWorktree
from turnwire.journal.base import JournalError
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.normalize.core import Core, InputWithEvents, happenings
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Announced, Ended, SessionInput
from turnwire.protocol.errors import TurnwireError
from turnwire.sessions import machine
from turnwire.sessions.claims import Claim
from turnwire.sessions.hosted import timestamp
from turnwire.sessions.launch import family_of
from turnwire.sessions.pipeline import Pipeline
from turnwire.sessions.prompt_history import PromptHistory
from turnwire.sessions.records.options import RecordOptions, sandbox_of, with_options
from turnwire.sessions.records.recovery import close_left_open
from turnwire.sessions.records.resume_point import NEW, ResumePoint
from turnwire.sessions.services import SessionServices
from turnwire.sessions.state import ObservedState, short
from turnwire.sessions.trace_context import Caller, context_event, headers, variables
from turnwire.tracing.spans.genai_facts import configured_provider

if TYPE_CHECKING:  # few sessions are ever in a terminal or a worktree
    from turnwire.adapter.workspace.worktree_actions import Presence
    from turnwire.sessions.records.take_up import ReadTo
    from turnwire.sessions.terminal_state import TerminalState

log = logging.getLogger(__name__)

PAUSED = "The agent is paused until there is room again: its output is not read, and nothing of it is lost."

IMPORTED_AT_ONCE = 256
"""Inputs of an old conversation that are taken in at a time."""

TAKE_BACK_S = 1.0
"""Seconds that an agent which is to stop has to give back the prompts that wait."""

LOOK_S = 1.0
"""Seconds between checks, while a session stops, whether the journal still has room for its end."""


def _some(pieces: Iterator[Sequence[SessionInput]]) -> list[SessionInput]:
    """Return the next few inputs."""
    batch: list[SessionInput] = []
    for piece in pieces:
        batch += piece
        if len(batch) >= IMPORTED_AT_ONCE:
            break
    return batch


class LiveSession:
    """A session during the sidecar's life, with or without a running CLI."""

    def __init__(
        self, record: SessionRecord, services: SessionServices, env: Mapping[str, str] | None = None
    ) -> None:
        self.record = record
        self.env = dict(env or {})
        """Environment that a frontend requested. Kept in memory, never written."""
        self.caller = Caller.of_environment()
        """The trace context of its agent's spans. Kept in memory."""
        self.changing = asyncio.Lock()
        """Held while a CLI is started or stopped, so that only one change runs at a time."""
        self.in_terminal: TerminalState | None = None
        """The agent's own interface, while it has the conversation."""
        self.background: list[str] = []
        """What the agent says that it runs in the background."""
        self.prompt_history = PromptHistory()
        """The latest prompts."""
        self.shells = set[Shell]()
        """Shells of frontends, which end with the agent."""
        self._services = services
        self._cli: AgentSession | None = None
        self._task: asyncio.Task[None] | None = None
        self._machine = machine.SessionState()
        self._follower: Follower | None = None
        """Reads what others add to the conversation while our CLI does not run."""
        self._following = asyncio.Lock()
        self._before_turn: str | None = None
        self._since = 0.0
        """When the turn began, or the process; seconds since 1970."""
        self._way = NEW
        """Whether the process was to go on with a conversation."""
        self._record_at_start = record
        self._state = ObservedState(
            state="exited",
            model=record.model,
            permission_mode=record.permission_mode,
            cli_session_id=record.cli_session_id,
            cli_version=record.cli_version,
            total_cost_usd=record.total_cost_usd,
            last_message_uuid=record.last_message_uuid,
            resume_token=record.resume_token,
        )
        self._pipeline = Pipeline(
            record.session,
            services.journal,
            field_limit=services.settings.field_limit,
            keep_raw=services.settings.keep_raw,
            state=self._observe,
            observers=services.observers(record.session, record.agent or "agent"),
            core=self._new_core(record.turns),
        )

    @property
    def session(self) -> str:
        """The session's id."""
        return self.record.session

    @property
    def cli(self) -> AgentSession | None:
        """The running CLI; None from its end on, also while it is still cleared away."""
        return self._cli if self._machine.has_agent else None

    @property
    def sleeps(self) -> bool:
        """Whether a prompt needs another process: none runs, or it has had its one turn."""
        return (cli := self.cli) is None or cli.is_spent

    def summary(self) -> SessionSummary:
        """Return the session's entry in the list."""
        record, state = self.record, self._state
        return SessionSummary(
            session=record.session,
            title=record.title,
            state=state.state,
            agent=record.agent,
            workspace=record.workspace,
            worktree=worktree_of(record),
            owner=record.owner,
            model=state.model,
            policy=record.policy,
            sandbox=sandbox_of(record, self._services.settings),
            permission_mode=state.permission_mode,
            cli_session_id=state.cli_session_id,
            last_seq=self._services.journal.last(record.session),
            total_cost_usd=state.total_cost_usd,
            pending=len(state.pending),
            created=record.created,
            updated=RecordOptions.from_record(record).updated or record.created,
            trouble=self._trouble(),
            abilities=_abilities(self.capabilities),
            followed=(self._machine.conversation == "open_elsewhere" and self.in_terminal is None) or None,
            in_terminal=None if self.in_terminal is None else self.in_terminal.host,
            wanted_back=(self.in_terminal is not None and self.in_terminal.is_wanted_back) or None,
        )

    @property
    def capabilities(self) -> Capabilities:
        """Return the abilities of the running agent, or else those of agents like it."""
        if (cli := self.cli) is not None:
            return cli.capabilities
        return family_of(self.record, self._services.settings).capabilities(self.record.cli_version)

    def _trouble(self) -> str | None:
        found = self._services.journal.trouble
        if found is not None and self._machine.reading == "paused":
            found = f"{found} {PAUSED}"
        return found or self._machine.failure

    @property
    def has_process(self) -> bool:
        """True from the start of a CLI to its last event."""
        return self._task is not None and not self._task.done()

    @property
    def presence(self) -> "Presence":
        """What its agent does; in its own interface it may always be at work."""
        if self.in_terminal is not None:
            return "working"
        if not self.has_process:
            return "away"
        return "working" if self.is_busy else "idle"

    async def cleared(self) -> None:
        """Wait until nothing is left of a CLI that has ended, or has had its one turn."""
        if (cli := self.cli) is not None and cli.is_spent:
            await cli.wait_spent()
            await self.ended()
        if self._machine.is_clearing and self._task is not None:
            await asyncio.wait([self._task])

    async def ended(self) -> None:
        """Wait until the running process has been cleared away."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def takes_other_way(self, deadline: float) -> bool:
        """Wait until a CLI that may not know its conversation has introduced itself.

        Returns True if it has ended and the record names another way to go on. deadline: seconds.
        """
        way = self._way
        if way.resume is None or self.cli is None or way.without(self._record_at_start) is None:
            return False
        return await self.greeting(deadline) is not None and ResumePoint.on(self.record) != way

    async def import_history(self, follower: Follower, begins: ev.History, *, running: bool) -> None:
        """Copy an earlier conversation into the log, between two events. `follow` then reads what others add.

        Raises JournalError, OSError, and KeyError if the conversation does not have its last message.
        """
        pieces, before = follower.first(), self.record
        batch = await asyncio.to_thread(_some, pieces)
        await self.announce(begins)
        if not follower.core_goes_on:
            self._pipeline.core = follower.core(self.record.turns)
        self._step(machine.ImportBegins())
        try:
            while batch:
                await self._pipeline.feed(batch)
                batch = await asyncio.to_thread(_some, pieces)
            self._follower = follower
            await self._catch_up(over=not running)
        finally:
            self._step(machine.ImportEnds(self._follower is not None))
            # What others permitted their CLI then is not permitted ours now, and it may have its own model.
            self._state.permission_mode = before.permission_mode
            self.amend(permission_mode=before.permission_mode, model=before.model)
        self._step(machine.OpenElsewhere(running))
        await self.announce(structs.replace(begins, state="ended", text="Here ends what was said before."))
        # who is told of the session next finds all of it
        await self._services.journal.flush(self.session)

    @property
    def followable(self) -> bool:
        """Whether others may have added to the conversation, because our CLI has not continued it yet."""
        return self._follower is not None

    @property
    def only_shows(self) -> bool:
        """Whether it shows a conversation that it has not gone on with yet."""
        is_reader = RecordOptions.from_record(self.record).reading or self.followable
        return is_reader and not self.drives

    @property
    def drives(self) -> bool:
        """Whether its CLI, or the agent's own interface, may add to its conversation."""
        return self.has_process or self.in_terminal is not None

    async def follow(self, *, running: bool) -> None:
        """Read what others have added to the conversation since. `running`: a CLI outside turnwire has it open."""
        if self.cli is not None or self.has_process:
            return
        await self._catch_up(over=not running)
        self._step(machine.OpenElsewhere(running))

    async def _catch_up(self, *, over: bool) -> None:
        """Read what was added. `over`: nobody adds more, so the last turn has ended."""
        async with self._following:
            if self._follower is None:
                return
            added = await asyncio.to_thread(self._follower.more)
            if added:
                await self._pipeline.feed(added)
            settled = self._follower.settle() if not over and self._pipeline.core.busy else ()
            if settled:
                await self._pipeline.feed(settled)
            if over:
                await self._close_turn()
            if added or settled:
                # a log that cannot be written now is written later, and so is the mark; an older one is exact, too
                with suppress(JournalError):
                    await self._mark()

    async def keep_unread(self) -> None:
        """Have it written that nothing is read of the conversation that the interface has opened. Raises JournalError."""
        async with self._following:
            await self._close_turn()
            await self._services.journal.flush(self.session)
            if self.in_terminal is not None:
                self.in_terminal.read = self._read_to({})
        await self.keep_terminal()

    async def _mark(self) -> None:
        """Note how far the conversation's file is in the log, once that is written. Raises JournalError."""
        if self.in_terminal is not None and self._follower is not None:
            read = self._follower.read
            await self._services.journal.flush(self.session)
            self.in_terminal.read = self._read_to(read)
            self.note_terminal()

    def _read_to(self, files: Mapping[str, int]) -> "ReadTo":
        from turnwire.sessions.records.take_up import ReadTo  # noqa: PLC0415 - few conversations are ever in a terminal

        return ReadTo(files, self._services.journal.last(self.session), self._pipeline.core.turns)

    async def _close_turn(self) -> None:
        """End the turn of a conversation that nobody adds to."""
        if self._follower is not None and self._pipeline.core.busy:
            await self._pipeline.feed(self._follower.close())
            if self._pipeline.core.busy:
                await self._pipeline.feed([Ended("end_of_input")])

    @property
    def is_busy(self) -> bool:
        """Whether a turn is open."""
        return self._state.state in {"running", "waiting"}

    async def hand_over(self, held: "TerminalState", follower: Follower | None) -> None:
        """Let the agent's own interface have the conversation. Raises JournalError, OSError.

        A `follower` reads on from what the log has: all that is in the file now.
        """
        self.in_terminal = held
        self._state.state = "idle"
        try:
            await self.announce(
                ev.Notice(
                    kind="in_terminal", level="info", text=f"In the terminal on {held.host} from here on."
                )
            )
            if follower is not None:
                await self.read_on(follower, is_known=True)
        except BaseException:
            self.in_terminal, self._state.state = None, "exited"
            raise
        # a sidecar that is killed leaves a log to be closed
        self.amend(state="idle")
        await self.keep_terminal()
        self._services.changed()

    def note_terminal(self) -> None:
        """Keep what the next sidecar must know of the agent's own interface."""
        if self.in_terminal is not None:
            self.amend(options=with_options(self.record, terminal=self.in_terminal.kept()).options)

    async def keep_terminal(self) -> None:
        """Have that written before anything else happens: who has the conversation is to be known after a kill."""
        self.note_terminal()
        await self._services.keep(self.record)

    async def read_on(self, follower: Follower, *, is_known: bool) -> None:
        """Follow a file. `is_known`: the log has what is in it now. Raises JournalError and OSError."""
        async with self._following:
            await self._close_turn()
            if not follower.core_goes_on:
                self._pipeline.core = follower.core(self.record.turns)
            if is_known:
                await asyncio.to_thread(follower.skip)
            else:
                pieces = follower.first()
                while batch := await asyncio.to_thread(_some, pieces):
                    await self._pipeline.feed(batch)
            self._follow_file(follower)
            await self._mark()

    async def take_up(self, file: Path, to: "ReadTo") -> None:
        """Follow a file that an earlier sidecar has followed up to there. Raises JournalError, OSError, ValueError."""
        from turnwire.sessions.records.take_up import taken_up  # noqa: PLC0415 - see above

        async with self._following:
            limit = self._services.settings.field_limit
            taken = await taken_up(self._services.journal, self.session, file, to, limit=limit)
            self._pipeline.core = taken.core
            self._follow_file(taken.follower)
            added = await asyncio.to_thread(taken.follower.more)
            await self._pipeline.publish(taken.unlogged(added))
            if taken.core.busy:
                await self._pipeline.publish(taken.unlogged(taken.follower.settle()))
            if taken.core.busy:
                # the log has its beginning
                self._state.observe([ev.TurnStarted(origin="user")])
            self.amend(state=self._state.state, turns=taken.core.turns)
            await self._mark()
            self._services.changed()

    def _follow_file(self, follower: Follower) -> None:
        self._follower = follower
        self._step(machine.ImportEnds(True))
        self._step(machine.OpenElsewhere(True))

    def moved_to(self, conversation: str) -> None:
        """Go on with another conversation from here on, as the agent's own interface does after `/clear`."""
        self._state.cli_session_id = conversation
        self.amend(cli_session_id=conversation, resume_token=None)

    async def hear(
        self,
        inputs: Sequence[SessionInput],
        shown: Callable[[ev.PermissionRequest], ev.PermissionRequest] = lambda request: request,
    ) -> None:
        """Take in what the agent's own interface asks, or how that was answered; `shown` adds to a request what the disk says."""
        told = [
            InputWithEvents(
                item, [shown(event) if isinstance(event, ev.PermissionRequest) else event for event in events]
            )
            for item, events in happenings(self._pipeline.core, inputs)
        ]
        await self._pipeline.publish(told)

    def want_back(self) -> None:
        """Let the list of sessions say that the agent's own interface is to end."""
        if self.in_terminal is not None:
            self.in_terminal.is_wanted_back = True
            self._services.changed()

    async def take_back_from_terminal(self) -> None:
        """Take in all that was said in the agent's own interface, which has ended; frontends lead the conversation again."""
        held = self.in_terminal
        if held is None:
            return
        await self._catch_up(over=True)
        if held.is_taken_up:
            # such as the turn of a conversation whose file is not there any more
            await close_left_open(self._services.journal, self.session, prompts=False)
        self._step(machine.OpenElsewhere(False))
        self.in_terminal = None
        self._state.state = "exited"
        self.amend(state="exited", options=with_options(self.record, terminal=None).options)
        await self.announce(
            ev.Notice(kind="in_terminal", level="info", text=f"The terminal on {held.host} was left.")
        )
        self._services.changed()

    async def start(self, options: SessionOptions, resume_point: ResumePoint) -> None:
        """Start a CLI and return once it runs. Raises the errors of turnwire.sessions.launch.CANNOT_START, and JournalError."""
        if self._follower is not None:
            await self._catch_up(over=True)
            if not self._follower.core_goes_on:
                self._pipeline.core = self._new_core(self._pipeline.core.turns)
            self._follower = None
            self._step(machine.TakenOver())
        running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = self._services.spawn(self.session, self._live(options, resume_point, running))
        # Not the future alone: whatever ends the task, nobody waits here for ever.
        await asyncio.wait((running, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ProcessGone("the session ended before its agent ran; the log says why")
        running.result()

    async def greeting(self, deadline: float) -> str | None:
        """Wait until the CLI has introduced itself; return why it has gone instead, if it has and was not stopped."""
        cli = self._cli
        try:
            if cli is not None:
                async with asyncio.timeout(deadline):
                    await asyncio.shield(cli.initialized)
                return None
        except ProcessGone:
            pass
        except (TimeoutError, RequestFailed, RequestTimeout):
            return None  # an old or foreign CLI: it may speak all the same
        if self._task is not None:
            await asyncio.wait([self._task])
        if self._machine.was_stopped:
            return None  # somebody wanted that
        return f"{self.record.agent} ended at once, {self._end()}"

    async def refusal(self, deadline: float) -> str | None:
        """Wait until the agent has opened a conversation. Returns why it failed; None if it succeeded or the deadline passed."""
        cli = self._cli
        try:
            if cli is not None:
                async with asyncio.timeout(deadline):
                    await asyncio.shield(cli.initialized)
        except TimeoutError:
            return None  # some agents take long; a prompt waits for it, and hears what came of it
        except (ProcessGone, RequestFailed, RequestTimeout) as error:
            return str(error)
        return None

    def _end(self) -> str:
        end = self._machine.exit
        if end is None:
            return "without a word"
        how = f"by {end.signal}" if end.signal else f"with exit code {end.exit_code}"
        said = (end.stderr_tail or "").strip()
        return f"{how} and the words {' '.join(said.split())[-300:]!r}" if said else f"{how}, saying nothing"

    async def stop(self) -> None:
        """Stop the CLI, and wait until its last event can be read. The caller holds `changing`.

        Does not wait for a journal that is full or cannot be written; it journals the event later.
        """
        if (cli := self._cli) is not None:
            self._state.state = "stopping"
            self._services.changed()
            await self._take_back_waiting(cli)
            await cli.stop()
            self._step(machine.Stopped())
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=LOOK_S)
            if self._services.journal.is_full:
                return
        with suppress(JournalError):
            await self._services.journal.flush(self.session)

    async def _take_back_waiting(self, cli: AgentSession) -> None:
        """Take back the prompts that wait: an agent whose turn is ended begins the next one, also when it is to stop."""
        with suppress(TurnwireError, TimeoutError):
            async with asyncio.timeout(TAKE_BACK_S):
                for prompt in self.prompt_history.waiting:
                    await cli.withdraw(prompt)

    def take_back(self, before: SessionRecord) -> None:
        """Forget a way that led nowhere: the conversation is where it was before."""
        state = self._state
        state.resume_token, state.cli_session_id = before.resume_token, before.cli_session_id
        self.amend(
            options=before.options, resume_token=before.resume_token, cli_session_id=before.cli_session_id
        )

    def remove_attachments(self) -> None:
        """Remove the files that were saved in the workspace for this session."""
        AttachmentFolder(Path(self.record.workspace or "."), self.session).remove()

    def amend(self, **changes: object) -> None:
        """Change the record and have it written."""
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]  # names are the record's fields
        self._services.save(self.record)

    def rename(self, title: str) -> None:
        """Set a human's title. Nothing else renames the session afterwards."""
        self.amend(title=title, options=with_options(self.record, title_from=None).options)

    def _call(self, text: str, source: str) -> None:
        """Set the title from the first prompt or from the agent, unless a human has given one."""
        known = RecordOptions.from_record(self.record).title_from
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        if first and (known == "folder" or (known is not None and source == "agent")):
            self.amend(title=short(first), options=with_options(self.record, title_from=source).options)
            self._services.changed()

    async def trace_prompt(self, prompt: str, caller: Caller) -> dict[str, str]:
        """Set the trace context of a prompt's turn, if it is traced; return the context for the agent."""
        if not self._services.settings.traces:
            return headers(caller)
        # a prompt without a context of its own belongs to the caller of the session
        context = context_event(self.session, self.caller if caller.is_empty else caller, prompt)
        await self.announce(context)
        return headers(context)

    async def announce(self, event: AgentEvent) -> None:
        """Publish something the sidecar itself has to say."""
        await self._pipeline.feed([Announced(event)])

    async def _live(
        self, options: SessionOptions, resume_point: ResumePoint, running: asyncio.Future[None]
    ) -> None:
        audit = None
        whole = self.record.state == "exited"
        """Whether the log has all that happened."""
        self._step(machine.Starting())
        try:
            if not whole:
                await close_left_open(self._services.journal, self.session)
                whole = True
            self._state.state = "starting"
            audit = self._services.audit(self.session)
            traced = self._services.settings.traces
            context = context_event(self.session, self.caller) if traced else None
            told = variables(context or self.caller)
            opened = open_session(
                structs.replace(options, environment={**options.environment, **told}),
                core=self._pipeline.core,
                watchdog=self._services.watchdog,
                audit=audit,
                grants=self._services.grants,
                notify=self._noticed,
            )
            async with opened as cli:
                self._cli, whole = cli, False
                self._step(machine.Started())
                # by then it is known what the agent can do
                cli.initialized.add_done_callback(lambda _: self._services.changed())
                await self._begin(cli, resume_point, context, configured_provider(options.environment))
                running.set_result(None)
                unwatch = self._services.journal.watch_trouble(self._look_for_trouble)
                try:
                    async for batch in cli.batches():
                        await self._journaled(batch)
                finally:
                    unwatch()
                    await self._end_shells()
                if cli.blank_lines:
                    fields = {"session": self.session, "count": cli.blank_lines}
                    log.info("blank lines of the agent were skipped", extra=fields)
                whole = True
        except Exception as error:  # noqa: BLE001 - whatever fails in one session ends that one
            if self._cli is not None:
                whole = await self._failed(error)
            if not running.done():
                running.set_exception(error)
        except asyncio.CancelledError:
            # no fault of the program, and no place in it to show
            log.error(  # noqa: TRY400
                "a session is given up before its end was journaled", extra={"session": self.session}
            )
            raise
        finally:
            self._cli = None
            self._state.state = "exited"
            self.amend(state="exited" if whole else "stopping", pid=None, process=None)
            self._step(machine.Cleared())
            if audit is not None:
                audit.close()

    async def _end_shells(self) -> None:
        await asyncio.gather(*(shell.close() for shell in self.shells))
        self.shells.clear()

    async def _journaled(self, batch: Sequence[InputWithEvents]) -> None:
        """Journal a batch and pass it on. While the journal has no room, the CLI is not read, so it waits too."""
        self._step(machine.BatchRead())
        self._look_for_room()
        await self._pipeline.publish(batch)
        self._step(machine.BatchJournaled())

    def _look_for_room(self) -> None:
        """Note whether the agent waits for room: the room may end before the reason is known."""
        journal = self._services.journal
        if journal.is_full and journal.trouble is not None:
            self._step(machine.JournalFull())

    def _look_for_trouble(self) -> None:
        if self._services.journal.refusal(self.session):
            self._step(machine.JournalRefuses())
        self._look_for_room()

    def _step(self, happened: machine.Input) -> None:
        """Change to the next state, and carry out its effects."""
        self._machine, effects = machine.step(self._machine, happened)
        for effect in effects:
            match effect:
                case "announce":
                    self._services.changed()
                case "stop_agent":
                    assert self._cli is not None, "only an agent that was started is stopped"
                    self._services.spawn(self.session, self._cli.stop())
                case "log_pause":
                    self._log_room("the agent is paused: the journal has no room")
                case "log_resume":
                    self._log_room("the agent goes on: the journal has room")

    def _log_room(self, sentence: str) -> None:
        log.warning(sentence, extra={"session": self.session, "trouble": self._services.journal.trouble})

    def _new_core(self, turns: int) -> Core:
        self._step(machine.CoreMade())
        return family_of(self.record, self._services.settings).core(first_turn=turns + 1)

    async def _failed(self, error: Exception) -> bool:
        """End the session after an error in turnwire, and log it. Returns whether the session's log contains the end."""
        log.error("a session failed and was ended", exc_info=error, extra={"session": self.session})
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        why = str(error) if isinstance(error, JournalError) else f"{type(error).__name__}: {error}"
        failure = f"turnwire failed in this session and has ended its agent ({why}); others go on"
        self._step(machine.Failed(failure))
        # Whatever state it was left in, what it holds open is closed by what the log says.
        self._pipeline.core = self._new_core(self._pipeline.core.turns)
        try:
            _, closing = await close_left_open(self._services.journal, self.session, failure)
        except JournalError as refusal:
            log.warning(
                "the end of a session is not in its log; the next start adds it",
                extra={"session": self.session, "error": str(refusal)},
            )
            return False
        for event in closing:
            self._state.observe((event,))
            match event:
                case ev.Withdrawn():
                    self.prompt_history.observe(event)
                case ev.ProcessStatus():
                    self._step(machine.Exited(event))
                case _:
                    pass
        return True

    async def _begin(
        self,
        cli: AgentSession,
        resume_point: ResumePoint,
        context: ev.TraceContext | None,
        provider: str | None,
    ) -> None:
        """Record the process, so that it can be reaped, and the conversation; then publish the start."""
        state, going = self._state, None if resume_point == NEW else resume_point.json()
        state.resume_token = None if going is None else resume_point.at or state.resume_token
        version = self.record.cli_version if cli.version is None else cli.version
        state.cli_version = version
        self._since, self._way, self._record_at_start = time.time(), resume_point, self.record
        self.amend(
            state="starting",
            pid=cli.identity.pid,
            process=cli.identity.to_text(),
            options=with_options(self.record, going=going).options,
            resume_token=state.resume_token,
            cli_version=version,
        )
        await self._services.keep(self.record)
        resumed = True if resume_point.resume or resume_point.latest else None
        anew = self._machine.core_is_new and self._services.journal.last(self.session) > 0
        self._step(machine.Introduced())
        if context is not None:
            await self.announce(context)
        started = ev.ProcessStatus(
            state="started",
            pid=cli.identity.pid,
            agent=self.record.agent,
            provider=provider,
            resumed=resumed,
            after_turns=self._pipeline.core.turns if anew else None,
        )
        await self.announce(started)
        if missing := sorted(set(self.record.env_names) - self.env.keys()):
            text = f"the environment variables {', '.join(missing)} were not kept over the sidecar's restart"
            await self.announce(ev.Notice(kind="environment", level="warning", text=text))

    def _observe(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        if isinstance(item, Ended):
            status = next((event for event in events if isinstance(event, ev.ProcessStatus)), None)
            self._step(machine.Exited(status))
        state, changed = self._state, False
        for event in events:
            before, conversation = state.resume_token, state.cli_session_id
            if self._machine.conversation == "importing":
                self._imported(event)
            changed |= state.observe((event,))
            if self._machine.is_followed:
                # the file was found under its name, whatever its lines say
                state.cli_session_id = conversation or state.cli_session_id
            elif isinstance(event, ev.TurnStarted):
                self._since = time.time()
            if state.cli_session_id not in (None, conversation):
                self._claimed(state.cli_session_id)
            if self.in_terminal is not None:
                self.in_terminal.observe(event)
            match event:
                case ev.Notice(kind="session_title_changed", text=text):
                    self._call(text, "agent")
                case ev.Notice(kind="background_tasks_changed", details=details):
                    self.background = _named(details)
                case ev.ProcessStatus(state="exited"):
                    self.background = []
                case ev.Complete(data=data):
                    self.amend(options=with_options(self.record, updated=timestamp()).options)
                    self._services.turn_over(self.session, data.cost_usd)
                case _:
                    pass
            match event:
                case ev.TurnStarted() | ev.Injected() if self.prompt_history.observe(event):
                    self._said(before, event)
                case ev.Withdrawn():
                    self.prompt_history.observe(event)
                case ev.SessionStatus() if RecordOptions.from_record(self.record).going is not None:
                    self.amend(options=with_options(self.record, going=None).options)
                case _:
                    pass
        if changed:
            self.amend(
                state=state.state,
                model=state.model,
                permission_mode=state.permission_mode,
                cli_session_id=state.cli_session_id,
                cli_version=state.cli_version,
                total_cost_usd=state.total_cost_usd,
                last_message_uuid=state.last_message_uuid,
                resume_token=state.resume_token,
                turns=self._pipeline.core.turns,
            )
            self._services.changed()
        if isinstance(item, Ended):
            self._look_for_lost_conversation(item)

    def _look_for_lost_conversation(self, end: Ended) -> None:
        """Choose where the next CLI goes on, if this one does not know the conversation that it named itself."""
        way, never_began = self._way, RecordOptions.from_record(self.record).going is not None
        is_unknown = family_of(self.record, self._services.settings).is_unknown(end.stderr_tail)
        if way.resume is None or not (never_began and is_unknown):
            return
        other = way.without(self._record_at_start)
        if other is None:
            other = way
            then = "the session cannot go on. Put the conversation's file back, or begin a new session"
        elif other.resume is None:
            then = "a new one begins"
        else:
            then = f"the session goes on with {other.resume}"
        text = f"The agent does not know the conversation {way.resume}: {then}."
        # the process may have named another one in its last words
        self._state.cli_session_id = other.resume
        claim = RecordOptions.from_record(self._record_at_start).claim
        going = None if other == NEW else other.json()
        self.amend(
            cli_session_id=other.resume, options=with_options(self.record, going=going, claim=claim).options
        )
        event = ev.Notice(kind="conversation_unknown", level="warning", text=text)
        self._services.spawn(self.session, self._mention(event))

    def _claimed(self, conversation: str) -> None:
        claim = Claim(conversation, self._since, resumed=self._way != NEW, origin=self._way.resume)
        self.amend(options=with_options(self.record, claim=claim.json()).options)

    def _imported(self, event: AgentEvent) -> None:
        """Remember, from imported events, where a retry goes back to and what it repeats."""
        match event:
            case ev.TurnStarted():
                self._before_turn = self._state.resume_token
            case ev.UserMessage() if event.parent_tool_call_id is None and not event.synthetic:
                self.amend(last_prompt=event.text, retry_token=self._before_turn)
            case _:
                pass

    def _said(self, before: str | None, event: AgentEvent) -> None:
        """Remember where a retry of this turn goes back to, and the prompts that it repeats."""
        kept = with_options(self.record, attached=len(self.prompt_history.attachments()))
        self.amend(last_prompt=self.prompt_history.text(), options=kept.options)
        self._call(self.prompt_history.text(), "prompt")
        if isinstance(event, ev.TurnStarted):
            self.amend(retry_token=before)

    def _noticed(self, notice: SessionNotice) -> None:
        """Publish a notice of the adapter as an event."""
        event: AgentEvent
        match notice.code:
            case "stalled":
                event = ev.ProcessStatus(state="stalled", reason=notice.message, silent_ms=notice.silent_ms)
            case "spoke":
                event = ev.ProcessStatus(state="resumed")
            case kind:
                event = ev.Notice(kind=kind, level="warning", text=notice.message)
        self._services.spawn(self.session, self._mention(event))

    async def _mention(self, event: AgentEvent) -> None:
        try:
            await self.announce(event)
        except JournalError as error:
            log.warning("a notice was not published", extra={"session": self.session, "error": str(error)})


def _named(details: Mapping[str, object] | None) -> list[str]:
    """Return what each task in the background is called."""
    tasks = (details or {}).get("tasks")
    return [
        str(task.get("description") or task.get("task_id") or "a task")
        for task in (tasks if isinstance(tasks, list) else ())
        if isinstance(task, dict)
    ]


def worktree_of(record: SessionRecord) -> SessionWorktree | None:
    """Return the worktree that was made for a session, as frontends see it."""
    kept = RecordOptions.from_record(record).worktree
    if kept is None:
        return None
    return SessionWorktree(
        repository=str(kept.get("repository")), branch=str(kept.get("branch")), base=str(kept.get("base"))
    )


def _abilities(can: Capabilities) -> Abilities:
    return Abilities(
        resume=can.resumes,
        rewind=can.resume_at != "nothing",
        fork=can.forks,
        interrupt=can.interrupts,
        withdraw=can.withdraws_prompts,
        set_model=can.models,
        modes=list(can.permission_modes) or None,
        images=can.images,
        never_asks=list(can.never_asks) or None,
    )
