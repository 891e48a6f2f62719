"""Find the events that going back or forking leaves behind, and copy the remaining ones."""

from typing import Literal

from msgspec import Struct, field, structs

from turnwire.journal.base import Entry, Journal
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.sessions.records.recovery import OpenAtEnd, logged, number_of
from turnwire.sessions.rewind import names

Reason = Literal["rewind", "retry"]

BATCH = 256
"""Events that are copied at a time."""

BRANCHED = "the conversation was branched off here"


class LogCut(Struct):
    """A place in a log."""

    at: str | None
    """The message, as a frontend named it; None for the conversation's end, or for its beginning where nothing is left."""
    seq: int | None
    """The last event that counts; None if the log has no such message."""
    within: str | None = None
    """The turn that counts up to there only."""
    void: list[str] = field(default_factory=list)
    """Turns that no longer count, in order."""
    before: set[str] = field(default_factory=set)
    """Turns that had been void already."""
    turns: int = 0
    """The number of the last turn in the log."""

    def event(self, reason: Reason) -> ev.Cut:
        """Return the event to publish."""
        left = f"{len(self.void)} {'turn' if len(self.void) == 1 else 'turns'}" if self.void else "nothing"
        text = f"The conversation goes on from an earlier message; {left} of it no longer {'counts' if len(self.void) < 2 else 'count'}."
        return ev.Cut(text=text, reason=reason, at=self.at, within=self.within, void_turns=[*self.void])


async def cut_at(journal: Journal, session: str, at: str) -> LogCut:
    """Find what going back to a message leaves behind in a session's log. Raises JournalError."""
    found = LogCut(at, None)
    turn: str | None = None
    async for seq, event in logged(journal, session):
        _before(found, event)
        if isinstance(event, ev.TurnStarted):
            turn = event.operation_id
            found.turns = max(found.turns, number_of(turn))
            if found.seq is not None and turn is not None:
                found.void.append(turn)
        # A turn that failed names the same message again: the first that does is where it was said.
        if found.seq is None and names(event, at):
            found.seq = seq
            found.within = None if isinstance(event, ev.Complete) else turn
        if isinstance(event, ev.Complete):
            turn = None
    found.void = [one for one in found.void if one not in found.before]
    return found


async def cut_of_last_turn(journal: Journal, session: str, at: str | None) -> LogCut:
    """Find what going back to before the last turn leaves behind. Raises JournalError."""
    found = LogCut(at, None)
    last: str | None = None
    async for _, event in logged(journal, session):
        _before(found, event)
        if isinstance(event, ev.TurnStarted) and event.operation_id is not None:
            last = event.operation_id
            found.turns = max(found.turns, number_of(last))
    found.void = [last] if last is not None and last not in found.before else []
    return found


def _before(found: LogCut, event: AgentEvent) -> None:
    match event:
        case ev.Cut():
            found.before.update(event.void_turns)
        case _:
            pass


async def whole(journal: Journal, session: str) -> LogCut:
    """Return the end of a session's log as a place. Raises JournalError."""
    found = await cut_of_last_turn(journal, session, None)
    found.void, found.seq = [], journal.last(session)
    return found


async def copy_to(journal: Journal, session: str, fork: str, cut: LogCut) -> None:
    """Copy the events of a log up to a place into a new session's log, and close what is open there. Raises JournalError.

    Events of processes and of requests to humans are not copied: they belong to the other session. So does a prompt that
    still waits at that place; one that was served comes after what tells so.
    """
    if cut.seq is None:
        return
    left, batch, waiting = OpenAtEnd(), list[Entry](), dict[str, Entry | None]()
    async for seq, event in logged(journal, session):
        if seq > cut.seq:
            break
        if isinstance(event, ev.Queued) and event.prompt is not None:
            waiting.setdefault(event.prompt)
        if event.operation_id in cut.before or not _is_copied(event):
            continue
        left.observe(event)
        if isinstance(event, ev.UserMessage) and event.uuid in waiting:
            waiting[event.uuid] = Entry(to_json(event))
            continue
        batch.append(Entry(to_json(event)))
        batch += [said for name in _served(event) if (said := waiting.pop(name, None)) is not None]
        if len(batch) >= BATCH:
            await journal.append(fork, batch)
            batch = []
    for event in left.closing(BRANCHED):
        match event:
            case ev.Complete(data=data):
                ended = structs.replace(data, outcome="interrupted", is_error=False, errors=None)
                batch.append(Entry(to_json(structs.replace(event, data=ended, error=None))))
            case _:
                batch.append(Entry(to_json(event)))
    if batch:
        await journal.append(fork, batch)


def _served(event: AgentEvent) -> list[str]:
    """Return the prompts that an event tells to be with the agent."""
    match event:
        case ev.TurnStarted() | ev.Injected():
            return event.prompts or []
        case ev.Complete(data=data):
            return data.prompts or []
        case _:
            return []


def _is_copied(event: AgentEvent) -> bool:
    match event:
        case (
            ev.ProcessStatus()
            | ev.PermissionRequest()
            | ev.PermissionResolved()
            | ev.PermissionCancelled()
            | ev.QuestionRequest()
            | ev.Queued()
            | ev.History()
            | ev.Cut()
        ):
            return False
        case _:
            return True
