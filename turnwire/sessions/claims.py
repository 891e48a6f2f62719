"""Decide which conversation a session has when only its agent says so. Pure.

An agent names its conversation itself: Claude Code in `init`, ACP agents in their answer to
`session/new`. Someone who steers an agent can make it name any conversation. So turnwire ignores the name in
sessions that a principal with limited conversations started or steered. A conversation that turnwire itself
opened from the history needs no such check: the principal was allowed to see it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.model import JsonObject
from turnwire.sessions.records.options import RecordOptions, with_options

CLOCK_S = 2.0
"""Seconds by which the times in an agent's own file may differ from turnwire's clock."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An agent's statement about its conversation."""

    conversation: str
    since: float
    """When the turn or process began that made the statement first; seconds since 1970."""
    resumed: bool
    """The process continued or forked a conversation, so its conversation may be older."""
    origin: str | None = None
    """Which conversation that was; None where it was not named."""

    def json(self) -> JsonObject:
        """Return it as a record keeps it."""
        origin: JsonObject = {} if self.origin is None else {"origin": self.origin}
        return {"conversation": self.conversation, "since": self.since, "resumed": self.resumed, **origin}

    @classmethod
    def of(cls, record: SessionRecord) -> "Claim | None":
        """Return the claim of a session; None without one. Without a stored time the session's start counts."""
        if record.cli_session_id is None:
            return None
        options = RecordOptions.from_record(record)
        kept = options.claim or {}
        since = kept.get("since") if kept.get("conversation") == record.cli_session_id else None
        if not isinstance(since, int | float):
            return cls(record.cli_session_id, _created(record), resumed=options.origin is not None)
        origin = kept.get("origin")
        return cls(
            record.cli_session_id,
            float(since),
            resumed=kept.get("resumed") is not False,
            origin=origin if isinstance(origin, str) else None,
        )


def _created(record: SessionRecord) -> float:
    """Return when a session began; where its record is damaged no claim of it is old enough."""
    try:
        return datetime.fromisoformat(record.created).timestamp()
    except ValueError:
        return math.inf


def is_believed(record: SessionRecord) -> bool:
    """Return whether the agent's statement counts: everyone who steered the session may see every conversation."""
    believed = RecordOptions.from_record(record).believed
    return record.owner is None if believed is None else believed


def steered_by(record: SessionRecord, user: str | None, *, sees_all: bool) -> SessionRecord:
    """Return the record of a session that a user starts or steers. `sees_all`: the user may see all conversations."""
    if not sees_all:
        kept = RecordOptions.from_record(record)
        return with_options(record, believed=False, shared=kept.shared or user != record.owner)
    if record.owner is None or RecordOptions.from_record(record).believed is not None:
        return record
    return with_options(record, believed=True)


def conversation_of(record: SessionRecord, said: str | None) -> str | None:
    """Return the session's certain conversation, given the agent's statement; None if it is uncertain."""
    return said if is_believed(record) else RecordOptions.from_record(record).conversation


def is_anothers(
    claim: Claim,
    record: SessionRecord,
    others: Iterable[SessionRecord],
    began: float | None,
    ended: float | None,
    *,
    origin_began: float | None = None,
) -> bool:
    """Return whether a session's agent claims a conversation that is not its own.

    `others`: all sessions. `began` and `ended`: times of the agent's file of the conversation, None without one.
    `origin_began`: the same of the conversation that the process continued.
    """
    is_shared = RecordOptions.from_record(record).shared
    for other in others:
        if other.session == record.session or (other.owner == record.owner and not is_shared):
            continue
        if RecordOptions.from_record(other).conversation == claim.conversation:
            return True
        its = Claim.of(other)
        if its is not None and its.conversation == claim.conversation and its.since <= claim.since:
            return True
    if began is None or began >= claim.since - CLOCK_S:
        return False
    # a copy of an older conversation begins as that did, and goes on after the claim
    is_copy = claim.resumed and (origin_began is None or abs(began - origin_began) <= CLOCK_S)
    return not is_copy or (ended is not None and ended < claim.since - CLOCK_S)
