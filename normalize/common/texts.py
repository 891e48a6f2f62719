"""Publish text and thoughts exactly once. Chunks are published as they arrive, each message under one id.

Agents that name their messages decide the ids. For other agents, consecutive chunks of one role are one message. A
tool call, a plan, a usage or the other role ends it. Text and thoughts of one message are different blocks.
"""

from typing import Literal

from msgspec import Struct

from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent, MessageChunk, Reasoning
from turnwire.normalize.events.limits import pieces
from turnwire.normalize.payloads.files import ContentPart
from turnwire.protocol.text import rejoin

Kind = Literal["text", "thinking"]

_REMEMBERED = 256
"""Messages whose blocks are remembered: an agent may continue an earlier one."""
_MOST_RUNS = 256
"""Most threads whose current message is remembered."""


class _Run(Struct, gc=False):
    """Chunks of one role, one after the other."""

    kind: Kind
    given: str | None
    """The id that the agent gives."""
    message_id: str
    index: int
    held: str = ""
    """Half a character that the last chunk ended with."""


class Texts:
    """The texts of one session."""

    def __init__(self, place: EventContext, ids: UniqueIds) -> None:
        self._place = place
        self._ids = ids
        self._runs: dict[str | None, _Run] = {}
        self._count = 0
        self._blocks: BoundedDict[tuple[Kind, int]] = BoundedDict(_REMEMBERED)

    def say(
        self, kind: Kind, text: str, message_id: str | None, parent: str | None, history: bool | None
    ) -> list[AgentEvent]:
        """Publish a chunk of text."""
        run = self._runs.get(parent)
        events: list[AgentEvent] = []
        if run is None or run.kind != kind or run.given != message_id:
            events = self._close(parent, history) if run is not None and run.held else []
            run = self._begin(kind, message_id, parent)
        if run.held or not text.isascii():
            text, run.held = rejoin(run.held, text)
        if text:
            events += self._said(run, text, parent, history)
        return events

    def show(
        self, parts: list[ContentPart], message_id: str | None, parent: str | None, history: bool | None
    ) -> list[AgentEvent]:
        """Publish a chunk that is not text."""
        run = self._runs.get(parent)
        if run is None or run.kind != "text" or run.given != message_id:
            run = self._begin("text", message_id, parent)
        here = self._place.here
        return [
            MessageChunk(
                **here,
                parent_tool_call_id=parent,
                message_id=run.message_id,
                block_index=run.index,
                history=history,
                text="",
                parts=parts,
                is_delta=True,
            )
        ]

    def whole(
        self, kind: Kind, text: str, message_id: str | None, parent: str | None, history: bool | None
    ) -> list[AgentEvent]:
        """Publish a whole message in place of its earlier chunks."""
        name = None if message_id is None else self._ids.in_turn(message_id, self._place.here["operation_id"])
        before = self._blocks.get(name or "")
        known = before is not None
        self._runs.pop(parent, None)
        if before is not None and name is not None:
            run = self._runs[parent] = _Run(kind, message_id, name, before[1])
        else:
            run = self._begin(kind, message_id, parent)
        first, *rest = pieces(text) or [""]
        events = self._event(run, first, parent, history, replace=True if known else None)
        for piece in rest:
            events += self._event(run, piece, parent, history)
        return events if text or known else []

    def pause(self) -> list[AgentEvent]:
        """Note that something else arrived: following text without an id is another message."""
        if not self._runs:
            return []
        events: list[AgentEvent] = []
        if any(run.held for run in self._runs.values()):
            for parent in [*self._runs]:
                events += self._close(parent, None)
        self._runs.clear()
        return events

    def _begin(self, kind: Kind, message_id: str | None, parent: str | None) -> _Run:
        index = 0
        if message_id is None:
            self._count += 1
            name = f"{self._place.here['operation_id'] or 'session'}-message-{self._count}"
        else:
            name = self._ids.in_turn(message_id, self._place.here["operation_id"])
            known = self._blocks.get(name)
            if known is not None:
                index = known[1] if known[0] == kind else known[1] + 1
            self._blocks.put(name, (kind, index))
        if len(self._runs) >= _MOST_RUNS:
            self._runs.clear()
        run = self._runs[parent] = _Run(kind, message_id, name, index)
        return run

    def _close(self, parent: str | None, history: bool | None) -> list[AgentEvent]:
        run = self._runs.pop(parent)
        return self._said(run, "\ufffd", parent, history) if run.held else []

    def _said(self, run: _Run, text: str, parent: str | None, history: bool | None) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for piece in pieces(text):
            events += self._event(run, piece, parent, history)
        return events

    def _event(
        self,
        run: _Run,
        text: str,
        parent: str | None,
        history: bool | None,
        *,
        replace: bool | None = None,
    ) -> list[AgentEvent]:
        here = self._place.here
        if run.kind == "text":
            return [
                MessageChunk(
                    session_id=here["session_id"],
                    operation_id=here["operation_id"],
                    parent_tool_call_id=parent,
                    message_id=run.message_id,
                    block_index=run.index,
                    history=history,
                    text=text,
                    replace=replace,
                    is_delta=True,
                )
            ]
        return [
            Reasoning(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=parent,
                message_id=run.message_id,
                block_index=run.index,
                history=history,
                reasoning_text=text,
                replace=replace,
                is_delta=True,
            )
        ]
