"""Go on with a conversation's file that an earlier sidecar followed until it was killed.

The record says how far the file was read when the log had so many events (`ReadTo`). The log may have more events, since it is
written before the record. So the core is brought to that place in the file, and of what follows only that is published which
the log does not have. The turn that is open there stays open.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, structs
from pydantic import JsonValue

from turnwire.history.following import Follower, follower_of
from turnwire.journal.base import Journal
from turnwire.normalize import events as ev
from turnwire.normalize.core import Core, InputWithEvents, happenings
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.events.limits import cut
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.protocol.json_values import JsonObject
from turnwire.sessions.records.recovery import OpenAtEnd, logged

_Key: TypeAlias = tuple[str, str | bytes | None]


class ReadTo(Struct, frozen=True):
    """How far a conversation's file is in the log."""

    files: Mapping[str, int]
    """Bytes that were read, by the path of each file."""
    seq: int | None = None
    """The log's newest event then; None if that was not noted."""
    turns: int | None = None
    """Number of turns then; None if that was not noted."""

    def kept(self) -> dict[str, JsonValue]:
        """Return it for the record."""
        return {"read": dict(self.files), "seq": self.seq, "turns": self.turns}

    @classmethod
    def of(cls, kept: JsonObject) -> "ReadTo":
        """Read what a record keeps; what is damaged counts as not read."""
        read, seq, turns = kept.get("read"), kept.get("seq"), kept.get("turns")
        files = read if isinstance(read, dict) else {}
        return cls(
            {name: end for name, end in files.items() if isinstance(end, int)},
            seq if isinstance(seq, int) else None,
            turns if isinstance(turns, int) else None,
        )


class TakenUp:
    """A conversation at the place where the earlier sidecar has noted how far it was."""

    def __init__(
        self, follower: Follower, core: Core, known: Counter[_Key], calls: frozenset[str], limit: int
    ) -> None:
        """`known`: what the log has beyond that place. `calls`: all that it has. `limit`: bytes of a field."""
        self.follower = follower
        self.core = core
        self._known = known
        self._calls = calls
        self._limit = limit

    def unlogged(self, inputs: Iterable[SessionInput]) -> list[InputWithEvents]:
        """Take inputs in and return them with those of their events that the log does not have."""
        return [
            InputWithEvents(item, [event for event in events if not self._is_logged(event)])
            for item, events in happenings(self.core, inputs)
        ]

    def _is_logged(self, event: AgentEvent) -> bool:
        if isinstance(event, ev.ToolCall) and event.tool_call_id in self._calls:
            return True
        key = _key(event, self._limit)
        if self._known[key] <= 0:
            return False
        self._known[key] -= 1
        return True


def _key(event: AgentEvent, limit: int) -> _Key:
    """Return what tells an event from others of a log."""
    match event:
        case ev.TurnStarted() | ev.Complete():
            # what the end says of its turn depends on the line that ended it
            return type(event).__name__, event.operation_id
        case _:
            # a new core does not know them until a line says them
            return "", to_json(structs.replace(cut(event, limit), operation_id=None, session_id=None))


async def taken_up(journal: Journal, session: str, file: Path, to: ReadTo, *, limit: int) -> TakenUp:
    """Read a file up to a place. `limit`: bytes of a field.

    Raises JournalError, OSError, and ValueError for a file that is no conversation.
    """
    left, known, calls = OpenAtEnd(), Counter[_Key](), set[str]()
    async for seq, event in logged(journal, session):
        if isinstance(event, ev.ToolCall):
            calls.add(event.tool_call_id)
        if to.seq is None or seq <= to.seq:
            left.observe(event)
        else:
            known[_key(event, limit)] += 1
    turns = left.turns if to.turns is None else to.turns
    follower, core = await asyncio.to_thread(_brought_to, file, to.files, left, turns)
    return TakenUp(follower, core, known, frozenset(calls), limit)


def _brought_to(file: Path, read: Mapping[str, int], left: OpenAtEnd, turns: int) -> tuple[Follower, Core]:
    """Read a file up to a place, with a core that counts turns as the log does. Blocks."""
    follower = follower_of(file)
    counting = follower.core(0)
    _feed(counting, follower.first(read))
    follower = follower_of(file)
    core = follower.core(turns - counting.turns)
    _feed(core, follower.first(read))
    if not left.turn_is_open:
        _feed(core, [follower.close()])
        if core.busy:
            _feed(core, [[Ended("end_of_input")]])
    return follower, core


def _feed(core: Core, pieces: Iterable[Iterable[SessionInput]]) -> None:
    for piece in pieces:
        for item in piece:
            core.handle(item)
