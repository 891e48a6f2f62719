"""Spans under Kandev's names: streamjson.prompt for the turn, and one for every event and control message.

Each span has a `raw` and a `normalized` span event, so that a viewer shows both. These spans are moments rather than
durations; tracing/spans/genai_spans.py has the durations. The streamed pieces of a block make one span, which lasts
as long as the block grows and carries the event of the whole block. Without `fold_deltas` each piece has its own span.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

from turnwire.normalize import events as ev
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.events.base import ThreadEvent
from turnwire.normalize.families import exchanges
from turnwire.normalize.inputs import Received, Sent, SessionInput
from turnwire.normalize.model_calls import RequestAnswered, RequestMade, RequestTakenBack
from turnwire.tracing.spans.span import Attribute, Span, Trace, cut_text, tool_name

SYSTEM = frozenset({ev.SessionStatus, ev.SessionInfo, ev.AvailableCommands})
"""Events at the beginning of a session. Kandev calls their span `streamjson.system`."""

ASKED = frozenset({ev.PermissionRequest, ev.PermissionResolved, ev.PermissionCancelled, ev.QuestionRequest})
"""Events about requests to a human."""

_PENDING = 1024
"""Maximum number of open control requests. The oldest is forgotten first."""

Piece = ev.MessageChunk | ev.Reasoning
PIECES = frozenset({ev.MessageChunk, ev.Reasoning})


class SpanContext(NamedTuple):
    """Where new spans belong."""

    trace: Trace
    """The trace of the turn, or of the session between turns."""
    parent: Span | None
    """Span of the turn, or of the session between turns."""
    session_id: str
    """Value of `session.id`: turnwire's own id. Those of agents change within a session."""

    def begin(self, name: str, at: int, attributes: dict[str, Attribute]) -> Span:
        """Begin a span in this context. at: nanoseconds since 1970."""
        return self.trace.begin(name, at, self.parent, attributes)


class _Block(Struct):
    """A block that grows. Bytes beyond the limit are not stored."""

    span: Span
    first: Piece
    last: int
    raw: bytearray
    text: list[str]
    room: int
    chunks: int = 0

    def is_of(self, event: Piece) -> bool:
        first = self.first
        return (first.message_id, first.block_index, first.type) == (
            event.message_id,
            event.block_index,
            event.type,
        )


class StreamJsonSpans:
    """Makes Kandev's spans."""

    def __init__(self, *, limit: int, fold_deltas: bool) -> None:
        self._limit = limit
        self._fold = fold_deltas
        self._asked: BoundedDict[str] = BoundedDict(_PENDING)
        """Id of an open control request -> span name of its response."""
        self._decided: BoundedDict[bytes] = BoundedDict(_PENDING)
        """Request id -> JSON of the event with its decision."""
        self._block: _Block | None = None

    def of_event(self, event: AgentEvent, raw: bytes, at: int, place: SpanContext) -> None:
        """Make the span of one event. This ends the span of a growing block.

        Args:
            event: the published event.
            raw: the line that it came from; empty if there is none.
            at: nanoseconds since 1970.
            place: where the span belongs.
        """
        if self._fold and type(event) in PIECES and event.is_delta:  # type: ignore[union-attr]  # both have it
            self._grow(event, raw, at, place)  # type: ignore[arg-type]  # as above
            return
        if self._block is not None and not _beside(event):
            self.end_block()
        normalized = to_json(event) if self._limit else b""
        if type(event) is ev.PermissionResolved or type(event) is ev.HookActivity:
            self._note_decision(event, normalized)
        span = place.begin(_name(type(event)), at, _attributes(event, place, with_texts=self._limit > 0))
        self.add_both(span, raw, normalized, at)
        span.finish(at, _error(event, with_texts=self._limit > 0))

    def of_control(
        self, item: SessionInput, events: Sequence[AgentEvent], at: int, place: SpanContext
    ) -> None:
        """Make a span if the input is a control message."""
        if not isinstance(item, Received | Sent):
            return
        name = self._control_name(item)
        if name is None:
            return
        direction = "received" if isinstance(item, Received) else "sent"
        attributes: dict[str, Attribute] = {"session.id": place.session_id, "turnwire.direction": direction}
        span = place.begin(f"streamjson.control.{name}", at, attributes)
        self.add_both(span, item.line, self._meaning(item, events), at)
        span.finish(at)

    def end_block(self) -> None:
        """End the span of a growing block. Its event is the block's first event with all of its text."""
        block, self._block = self._block, None
        if block is None:
            return
        block.span.update({"turnwire.chunks": block.chunks})
        text, first = "".join(block.text), block.first
        match first:
            case ev.MessageChunk():
                whole: Piece = msgspec.structs.replace(first, text=text)
            case ev.Reasoning():
                whole = msgspec.structs.replace(first, reasoning_text=text)
        self.add_both(block.span, bytes(block.raw), to_json(whole) if self._limit else b"", block.last)
        block.span.finish(block.last)

    def add_both(self, span: Span, raw: bytes, normalized: bytes, at: int) -> None:
        """Add the line and the event to a span, each up to the limit."""
        if self._limit == 0:
            return
        if raw:
            span.add_event("raw", at, {"raw": cut_text(raw, self._limit)})
        span.add_event("normalized", at, {"normalized": cut_text(normalized, self._limit)})

    def _grow(self, event: Piece, raw: bytes, at: int, place: SpanContext) -> None:
        block = self._block
        if block is None or not block.is_of(event):
            self.end_block()
            span = place.begin(
                f"streamjson.{event.type}", at, _attributes(event, place, with_texts=self._limit > 0)
            )
            block = self._block = _Block(span, event, at, bytearray(), [], self._limit + 1)
        block.last = at
        block.chunks += 1
        if len(block.raw) <= self._limit:
            block.raw += raw + b"\n"
        if block.room > 0:
            text = event.text if isinstance(event, ev.MessageChunk) else event.reasoning_text
            block.text.append(text)
            block.room -= len(text)

    def _control_name(self, item: Received | Sent) -> str | None:
        read = exchanges().get(type(item.message))
        if read is None:
            return None
        match read(item.message):
            case RequestMade(request_id, name, reply):
                self._asked.put(request_id, reply)
                return f"control_request.{name}"
            case RequestAnswered(request_id):
                return self._asked.pop(request_id, "control_response")
            case RequestTakenBack():
                return "control_cancel_request"

    def _note_decision(self, event: ev.PermissionResolved | ev.HookActivity, normalized: bytes) -> None:
        request = event.pending_id if isinstance(event, ev.PermissionResolved) else event.hook_id
        if request is not None:
            self._decided.put(request, normalized)

    def _meaning(self, item: Received | Sent, events: Sequence[AgentEvent]) -> bytes:
        """Return the meaning of a control message: its event, its decision, or the parsed message."""
        if self._limit == 0:
            return b""
        if events:
            return to_json(events[0])
        read = exchanges().get(type(item.message))
        match None if read is None else read(item.message):
            case RequestAnswered(request_id) if (decided := self._decided.pop(request_id, None)) is not None:
                return decided
            case _:
                pass
        return msgspec.json.encode(item.message)


def _beside(event: AgentEvent) -> bool:
    """Return whether an event may come while a block grows: subagent output and context usage."""
    if isinstance(event, ev.ContextWindow | ev.TaskUpdate | ev.RateLimit):
        return True
    return isinstance(event, ThreadEvent) and event.parent_tool_call_id is not None


@cache
def _name(kind: type[AgentEvent]) -> str:
    return "streamjson.system" if kind in SYSTEM else f"streamjson.{kind.__struct_config__.tag}"


def _attributes(event: AgentEvent, place: SpanContext, *, with_texts: bool) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {"session.id": place.session_id}
    if event.operation_id is not None:
        found["turnwire.operation_id"] = event.operation_id
    kind = type(event)
    if kind is ev.ToolCall or kind is ev.ToolUpdate:
        assert isinstance(event, ev.ToolCall | ev.ToolUpdate)
        found["turnwire.tool_call_id"] = event.tool_call_id
        found["turnwire.tool_name"] = tool_name(event.tool_name or "", with_texts=with_texts)
        found["turnwire.tool_status"] = event.tool_status
    elif kind in ASKED:
        assert isinstance(
            event, ev.PermissionRequest | ev.PermissionResolved | ev.PermissionCancelled | ev.QuestionRequest
        )
        found["turnwire.pending_id"] = event.pending_id
    elif kind is ev.Error:
        assert isinstance(event, ev.Error)
        found["error.type"] = event.code or str(event.status or "error")
        if event.status is not None:
            found["http.response.status_code"] = event.status
        if with_texts:
            found["error.message"] = event.error
    return found


def _error(event: AgentEvent, *, with_texts: bool) -> str | None:
    """Return the error's text. Empty if texts are not exported; None if there is no error."""
    match event:
        case ev.ToolUpdate(reason="interrupted"):
            return None
        case ev.ToolUpdate(tool_status="error"):
            error = event.error or event.reason or "error"
        case ev.Complete() if event.data.is_error:
            error = event.error or ""
        case ev.Error(error=error) | ev.Malformed(reason=error):
            pass
        case _:
            return None
    return error if with_texts else ""
