"""One live session: a CLI, its pipeline, and its record.

The session outlives its CLI: when the process ends, the log and the record stay, and the next prompt or
`session.resume` starts another CLI that goes on with the conversation (sidecar/live_commands.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from adapter.attachments import AttachmentFolder
from adapter.audit import AuditTrail
from adapter.client import RequestFailed, RequestTimeout
from adapter.grants import GrantStore
from adapter.notices import SessionNotice
from adapter.opening import open_session
from adapter.options import SessionOptions
from adapter.session import Session
from adapter.transport import ProcessGone
from adapter.watchdog import Watchdog
from hub.frames_out import SessionSummary
from journal.base import Journal
from journal.sessions import SessionRecord
from normalize import events as ev
from normalize.events import AgentEvent
from normalize.inputs import Announced, Ended, SessionInput
from normalize.translator import Translator
from sidecar.hosted import Changed
from sidecar.pipeline import Pipeline, Tap
from sidecar.session_state import SessionState
from sidecar.settings import Settings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every live session shares with the others."""

    settings: Settings
    journal: Journal
    watchdog: Watchdog
    audit: Callable[[str], AuditTrail | None]
    """Opens the audit trail for a session; None where nothing is kept."""
    grants: GrantStore | None
    """Always-answers that outlive their session; None where nothing is kept."""
    spawn: Callable[[Coroutine[None, None, None]], asyncio.Task[None]]
    """Starts a task in the host's task group."""
    save: Callable[[SessionRecord], None]
    """Has the record written soon, without waiting for it."""
    forget: Callable[[str], Awaitable[None]]
    """Removes a session's record."""
    changed: Changed
    """Tells that a list of sessions would look different now."""
    taps: Callable[[str, str], Sequence[Tap]]
    """Who else sees a session's inputs and events: recording, tracing."""


class LiveSession:
    """A session as long as the sidecar knows it, with or without a running CLI."""

    def __init__(
        self, record: SessionRecord, around: Surroundings, env: Mapping[str, str] | None = None
    ) -> None:
        self.record = record
        self.env = dict(env or {})
        """Environment that a frontend asked for; kept as long as the sidecar lives, never written."""
        self._around = around
        self._cli: Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._exit: ev.ProcessStatus | None = None
        """How the last CLI ended."""
        self._state = SessionState(
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
            around.journal,
            field_limit=around.settings.field_limit,
            keep_raw=around.settings.keep_raw,
            taps=[self._observe, *around.taps(record.session, record.agent or "agent")],
            translator=Translator(first_turn=record.turns + 1),
        )

    @property
    def session(self) -> str:
        """The session's id."""
        return self.record.session

    @property
    def cli(self) -> Session | None:
        """The running CLI."""
        return self._cli

    def summary(self) -> SessionSummary:
        """Return what a list of sessions shows."""
        record, state = self.record, self._state
        return SessionSummary(
            session=record.session,
            title=record.title,
            state=state.state,
            agent=record.agent,
            workspace=record.workspace,
            model=state.model,
            policy=record.policy,
            permission_mode=state.permission_mode,
            cli_session_id=state.cli_session_id,
            last_seq=self._around.journal.last(record.session),
            total_cost_usd=state.total_cost_usd,
            pending=len(state.pending),
            created=record.created,
        )

    async def start(self, options: SessionOptions) -> None:
        """Start a CLI; returns once it runs. Raises adapter.errors.AdapterError when it cannot be started."""
        running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._state.state = "starting"
        self._task = self._around.spawn(self._live(options, running))
        await running

    async def greeting(self, deadline: float) -> str | None:
        """Wait until the CLI has introduced itself; return why it has gone instead, if it has."""
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
        return f"{self.record.agent} ended at once, {self._end()}; run it by hand to see why, or name another after `--`"

    def _end(self) -> str:
        end = self._exit
        if end is None:
            return "without a word"
        how = f"by {end.signal}" if end.signal else f"with exit code {end.exit_code}"
        said = (end.stderr_tail or "").strip()
        return f"{how} and the words {' '.join(said.split())[-300:]!r}" if said else f"{how}, saying nothing"

    async def stop(self) -> None:
        """Stop the CLI, by the ladder, and wait until its last event is journaled."""
        if self._cli is not None:
            self._state.state = "stopping"
            self._around.changed()
            await self._cli.stop()
        if self._task is not None:
            await asyncio.wait([self._task])

    def remove_attachments(self) -> None:
        """Remove the files that were saved in the workspace for this session."""
        AttachmentFolder(Path(self.record.workspace or "."), self.session).remove()

    def amend(self, **changes: object) -> None:
        """Change the record and have it written."""
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]  # names are the record's fields
        self._around.save(self.record)

    async def announce(self, event: AgentEvent) -> None:
        """Publish something the sidecar itself has to say."""
        await self._pipeline.feed([Announced(event)])

    async def _live(self, options: SessionOptions, running: asyncio.Future[None]) -> None:
        audit = None
        try:
            audit = self._around.audit(self.session)
            opened = open_session(
                options,
                watchdog=self._around.watchdog,
                audit=audit,
                grants=self._around.grants,
                notify=self._noticed,
            )
            async with opened as cli:
                self._cli = cli
                self.amend(state="starting", pid=cli.identity.pid, process=cli.identity.to_text())
                await self.announce(ev.ProcessStatus(state="started", pid=cli.identity.pid))
                running.set_result(None)
                async for batch in cli.inputs():
                    await self._pipeline.feed(batch)
        except Exception as error:
            if running.done():
                log.exception("session failed", session=self.session)
            else:
                running.set_exception(error)
        finally:
            if audit is not None:
                audit.close()
            self._cli = None
            self._state.state = "exited"
            self.amend(state="exited", pid=None, process=None)
            self._around.changed()

    def _observe(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        if isinstance(item, Ended):
            self._exit = next((event for event in events if isinstance(event, ev.ProcessStatus)), None)
        if self._state.observe(events):
            state = self._state
            self.amend(
                state=state.state,
                model=state.model,
                permission_mode=state.permission_mode,
                cli_session_id=state.cli_session_id,
                cli_version=state.cli_version,
                total_cost_usd=state.total_cost_usd,
                last_message_uuid=state.last_message_uuid,
                resume_token=state.resume_token,
                turns=self._pipeline.translator.turns,
            )
            self._around.changed()

    def _noticed(self, notice: SessionNotice) -> None:
        """Publish what the adapter has to tell, as an event."""
        event: AgentEvent = ev.Notice(kind=notice.code, level="warning", text=notice.message)
        if notice.code == "stalled":
            event = ev.ProcessStatus(state="stalled", reason=notice.message)
        self._around.spawn(self.announce(event))
