"""Find the message that a session can go back to in its log, and name it as its CLI version needs it.

A frontend names a message as events do: by the `last_message_uuid` or `resume_token` of a `complete`, or by the uuid
of a message. 2.0.14 needs the API's message id instead. A CLI that gets an unknown name exits. So turnwire checks the
name before it stops the running CLI. What a conversation left behind is told by turnwire/sessions/cut.py.
"""

from collections.abc import Awaitable, Callable
from enum import Enum

from turnwire.adapter.family import AgentFamily
from turnwire.adapter.options import CommandError
from turnwire.journal.base import Journal
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.sessions.hosted import refuse
from turnwire.sessions.records.options import RecordOptions
from turnwire.sessions.records.resume_point import ResumePoint


class _Found(Enum):
    """What a log says of a message it cannot name."""

    UNKNOWABLE = "the log does not reach back to the conversation's beginning"
    MISSING = "the log is whole, or the agent's own file is there, and has no such message"
    UNNAMED = "the log has it, but not under a name that this version takes"


Kept = Callable[[str | None, str], Awaitable[bool | None]]
"""Tells of an agent's session and a message whether the agent's own file has it; None where there is no such file."""


async def place_of(
    journal: Journal, record: SessionRecord, at: str, family: AgentFamily, kept: Kept | None = None
) -> str:
    """Return a message as the session's CLI wants it named; raises CommandRefused for what is none."""
    wants = family.capabilities(record.cli_version).resume_at
    found: str | _Found = _Found.UNKNOWABLE
    if wants != "nothing":
        found = await _look_up(journal, record, at, ids=wants == "api_message_id")
    if (
        found is _Found.UNKNOWABLE
        and kept is not None
        and await kept(ResumePoint.on(record).resume, at) is False
    ):
        found = _Found.MISSING
    match found:
        case _Found.MISSING:
            refuse(
                "invalid_params",
                f"session {record.session} has no message {at!r}; "
                "name the last_message_uuid or the resume_token of one of its completes",
                "at",
            )
        case _Found.UNNAMED:
            refuse(
                "invalid_params",
                f"CLI {record.cli_version} cannot go back to {at!r}: it takes texts of the agent alone; "
                "name the resume_token of a complete",
                "at",
            )
        case _Found.UNKNOWABLE:
            found = at
        case str():
            pass
    try:
        family.check_resume_at(found, record.cli_version)
    except CommandError as error:
        refuse("invalid_params", str(error), "at")
    return found


async def _look_up(journal: Journal, record: SessionRecord, at: str, *, ids: bool) -> str | _Found:
    wanted = at.encode()
    position, whole, known = Cursor(journal.epoch, 0), False, False
    while True:
        page = await journal.read_after(record.session, position)
        for envelope in page.envelopes:
            if not whole and b'"turn-1"' in envelope.event:
                whole = True
            if wanted in envelope.event:
                event = from_json(envelope.event)
                if names(event, at):
                    known = True
                    if (name := _name(event, at) if ids else at) is not None:
                        return name
        position = page.cursor
        if position.seq >= page.last:
            break
    if known:
        return _Found.UNNAMED
    begun_here = RecordOptions.from_record(record).origin is None
    return _Found.MISSING if whole and begun_here else _Found.UNKNOWABLE


def names(event: AgentEvent, at: str) -> bool:
    """Tell whether an event calls a message of the main thread so."""
    match event:
        case ev.Complete(data=data):
            return at in (data.last_message_uuid, data.resume_token)
        case ev.UserMessage() | ev.ToolUpdate():
            return event.parent_tool_call_id is None and at == event.uuid
        case ev.MessageChunk():
            return event.parent_tool_call_id is None and at == event.message_id
        case _:
            return False


def _name(event: AgentEvent, at: str) -> str | None:
    """Return the API's message id for a message; None when the event does not have it."""
    match event:
        case ev.Complete(data=data):
            return data.resume_token
        case ev.MessageChunk():
            return at
        case _:
            return None
