"""Close what a killed sidecar left open in a session's log.

Exactly one `complete` follows every `turn_started`, and no dialog waits for ever, whatever happens to the sidecar:
the next start reads the log once and appends what it lacks.
"""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace

from msgspec import structs

from turnwire.journal.base import Entry, Journal
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.sessions.records.options import RecordOptions
from turnwire.sessions.state import ObservedState

log = logging.getLogger(__name__)

LOST = "turnwire stopped while the agent ran"


class OpenAtEnd:
    """Folds a log into what is open at its end."""

    def __init__(self) -> None:
        self.state = ObservedState()
        """What the log says of the session; its record may be older."""
        self.turns = 0
        """Number of the newest turn."""
        self._session_id: str | None = None
        self._turns: dict[str | None, None] = {}
        self._calls: dict[str, ev.ToolCall] = {}
        self._pending: dict[str, str | None] = {}
        self._queued: dict[str, None] = {}
        self._running = False

    def observe(self, event: AgentEvent) -> None:
        """Take an event in."""
        self._session_id = event.session_id or self._session_id
        self.state.observe([event])
        match event:
            case ev.ProcessStatus():
                self._running = event.state != "exited"
            case ev.TurnStarted():
                self._turns[event.operation_id] = None
                self._served(event.prompts)
                self.turns = max(self.turns, number_of(event.operation_id))
            case ev.Complete():
                self._turns.pop(event.operation_id, None)
            case ev.ToolCall():
                self._calls[event.tool_call_id] = event
            case ev.ToolUpdate() if event.tool_status != "running":
                self._calls.pop(event.tool_call_id, None)
            case ev.ToolUpdate() if event.normalized is not None and event.tool_call_id in self._calls:
                call = self._calls[event.tool_call_id]
                self._calls[event.tool_call_id] = structs.replace(
                    call, normalized=event.normalized, tool_title=event.tool_title or call.tool_title
                )
            case ev.PermissionRequest() | ev.QuestionRequest():
                self._pending[event.pending_id] = event.tool_call_id
            case ev.PermissionResolved() | ev.PermissionCancelled():
                self._pending.pop(event.pending_id, None)
            case ev.Queued() if event.prompt is not None:
                self._queued[event.prompt] = None
            case ev.Injected():
                self._served(event.prompts)
            case ev.Withdrawn():
                self._served([event.prompt])
            case _:
                pass

    def _served(self, prompts: list[str] | None) -> None:
        for prompt in prompts or ():
            self._queued.pop(prompt, None)

    @property
    def turn_is_open(self) -> bool:
        """Whether a turn has begun and not ended."""
        return bool(self._turns)

    def closing(self, reason: str = LOST, *, turns: bool = True, prompts: bool = True) -> list[AgentEvent]:
        """Return the events that close what is open, in the order of a turn's end.

        `turns`: also turns and their calls. `prompts`: also prompts that wait.
        """
        found: list[AgentEvent] = [_ended(call, reason) for call in self._calls.values()] if turns else []
        for pending_id, tool_call_id in self._pending.items():
            found.append(
                ev.PermissionCancelled(
                    session_id=self._session_id,
                    pending_id=pending_id,
                    tool_call_id=tool_call_id,
                    reason="process_exited",
                )
            )
        for operation_id in self._turns if turns else ():
            data = ev.CompleteData(outcome="process_exited", is_error=True, errors=[reason])
            found.append(
                ev.Complete(session_id=self._session_id, operation_id=operation_id, data=data, error=reason)
            )
        if prompts:
            found += [ev.Withdrawn(session_id=self._session_id, prompt=prompt) for prompt in self._queued]
        if self._running:
            found.append(ev.ProcessStatus(session_id=self._session_id, state="exited", reason=reason))
        return found


def _ended(call: ev.ToolCall, reason: str) -> ev.ToolUpdate:
    return ev.ToolUpdate(
        session_id=call.session_id,
        operation_id=call.operation_id,
        parent_tool_call_id=call.parent_tool_call_id,
        message_id=call.message_id,
        block_index=call.block_index,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        tool_title=call.tool_title,
        tool_status="error",
        normalized=call.normalized,
        error=reason,
        reason="process_exited",
    )


def number_of(operation_id: str | None) -> int:
    """Return the number of a turn: `turn-17` -> 17; 0 for a turn without one."""
    digits = (operation_id or "").rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def brought_up_to(record: SessionRecord, left: OpenAtEnd) -> SessionRecord:
    """Return the record with what only the log knows: the sidecar was killed before it wrote the record again."""
    state = left.state
    return replace(
        record,
        turns=max(record.turns, left.turns),
        model=state.model or record.model,
        permission_mode=state.permission_mode or record.permission_mode,
        cli_session_id=state.cli_session_id or record.cli_session_id,
        cli_version=state.cli_version or record.cli_version,
        last_message_uuid=state.last_message_uuid or record.last_message_uuid,
        # The log may have lost its beginning to its limits, the record its end: the larger one knows more.
        total_cost_usd=max(filter(None, (record.total_cost_usd, state.total_cost_usd)), default=None),
        # Where a session went back to is known to its record alone, until the next turn's end.
        resume_token=record.resume_token
        if RecordOptions.from_record(record).going is not None
        else state.resume_token or record.resume_token,
    )


async def logged(journal: Journal, session: str) -> AsyncIterator[tuple[int, AgentEvent]]:
    """Yield the events of a session's log that can be read, with their numbers. Raises JournalError."""
    cursor = Cursor(journal.epoch, 0)
    # What was accepted and cannot be read yet would be missing.
    await journal.flush(session)
    while True:
        page = await journal.read_after(session, cursor)
        for envelope in page.envelopes:
            try:
                event = from_json(envelope.event)
            except ValueError:
                # A file from before there were checksums may hold anything; no session is worth less for one event.
                log.warning(
                    "an event in the journal cannot be read", extra={"session": session, "seq": envelope.seq}
                )
                continue
            yield envelope.seq, event
        if page.cursor.seq >= page.last:
            break
        cursor = page.cursor


async def close_left_open(
    journal: Journal, session: str, reason: str = LOST, *, turns: bool = True, prompts: bool = True
) -> tuple[OpenAtEnd, list[AgentEvent]]:
    """Append what the log of a session lacks; return what the log says, and what was appended. Raises JournalError.

    `turns`: also the ends of turns and calls. `prompts`: also of prompts that wait.
    """
    left = OpenAtEnd()
    async for _, event in logged(journal, session):
        left.observe(event)
    closing = left.closing(reason, turns=turns, prompts=prompts)
    if closing:
        await journal.append(session, [Entry(to_json(event)) for event in closing])
        await journal.flush(session)
    return left, closing
