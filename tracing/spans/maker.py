"""Turn session inputs and their events into spans.

Each turn has a trace. Its ids come from a `trace_context` event, or else from the line that began the turn. So the same
recording always gives the same ids. Everything between turns belongs to a trace of the session. That trace has one span
for each life of the session: an agent process from start to end. Each turn is linked to its life. Kandev's spans and
the GenAI spans have the same root in a turn, `streamjson.prompt`.
"""

import re
from collections.abc import Sequence

from turnwire.normalize import events as ev
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Announced, Ended, Received, Sent, SessionInput
from turnwire.tracing.spans.genai_spans import GenAiSpans
from turnwire.tracing.spans.span import Attribute, Origin, Span, Trace, TraceSource
from turnwire.tracing.spans.streamjson_spans import SpanContext, StreamJsonSpans

DEFAULT_LIMIT = 8192
"""Maximum bytes of a raw line, and of an event, in a span. With 0 a span has neither."""

WAITING = 256
"""Maximum number of prompts that wait for their turn, and of remembered trace contexts."""

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class SpanMaker:
    """Makes the spans of one session."""

    def __init__(
        self,
        session: str,
        *,
        export: TraceSource | None = None,
        agent: str | None = None,
        limit: int = DEFAULT_LIMIT,
        fold_deltas: bool = True,
        content: bool = False,
        genai_alone: bool = False,
        provider: str | None = None,
    ) -> None:
        """Follow a session. Without `export` it measures durations only, for metrics.

        Args:
            session: its id.
            export: where spans are sent.
            agent: the agent's name. The start of its process may tell another.
            limit: maximum bytes of a raw line, and of an event, in a span.
            fold_deltas: make one span for a streamed block instead of one for each piece.
            content: put texts into the GenAI spans.
            genai_alone: make no spans for single events and control messages.
            provider: the model's provider, if configured. The start of the agent's process may tell another.
        """
        self._session = session
        self._export = export
        self._limit = limit
        self._streamjson = (
            None if export is None or genai_alone else StreamJsonSpans(limit=limit, fold_deltas=fold_deltas)
        )
        self._genai = GenAiSpans(
            agent=agent, content=content, limit=limit, session=session, provider=provider
        )
        self._between = Trace()
        """The trace of the current life."""
        self._life: Span | None = None
        """The span of the agent's process, while it runs."""
        self._life_seed = b""
        self._caller: Origin | None = None
        """The caller of the session, whose span is the parent of turns without a context of their own."""
        self._has_started = False
        """True if the start of the current life was reported."""
        self._lives = 0
        self._origins: BoundedDict[Origin] = BoundedDict(WAITING)
        """Prompt id -> origin of its trace, for prompts whose turn has not begun."""
        self._trace: Trace | None = None
        self._root: Span | None = None
        self._last: tuple[Trace, Span] | None = None
        """Trace and root of the turn that ended last."""
        self._turn: str | None = None

    @property
    def current(self) -> Span | None:
        """The span of now: the turn, or else the agent's process."""
        return self._root or self._life

    def handle(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[Span]:
        """Follow an input and its events; return what ended and is measured.

        Args:
            item: what happened.
            events: what it was translated to.
            at: nanoseconds since 1970.
        """
        if self._export is None:
            return self._measured(item, events, at)
        raw = item.line if isinstance(item, Received | Sent) else b""
        self._follow_life(item, raw, at)
        if self._trace is None:
            started = next((event for event in events if isinstance(event, ev.TurnStarted)), None)
            if started is not None:
                self._begin(started, raw, at)  # what the same line says before belongs to the turn, too
        if self._streamjson is not None:
            self._streamjson.of_control(item, events, at, self._place())
        finished = self._genai.of_message(item, at)
        for event in events:
            if isinstance(event, ev.TurnStarted) and self._turn != event.operation_id:
                self._begin(event, raw, at)
            if self._streamjson is not None:
                self._streamjson.of_event(event, raw, at, self._place(event))
            finished += self._of_concern(event, at)
        if isinstance(item, Ended):
            finished += self._end_life(at)
        return finished

    def _follow_life(self, item: SessionInput, raw: bytes, at: int) -> None:
        """Begin a life of the session if needed. An event while no life runs gets ids of its own."""
        match item:
            case Announced(ev.TraceContext() as context):
                self._take(context, at)
            case Announced(ev.ProcessStatus(state="started") as started):
                if self._life is None or self._has_started:
                    self._begin_life(at, to_json(started))
                self._has_started = True
            case Received() | Sent() | Ended():
                if self._life is None:
                    self._begin_life(at, raw)
            case Announced(event) if self._life is None:
                assert self._export is not None
                seed = session_seed(self._session)
                self._between = self._export.trace(seed)
                self._between.salt(at.to_bytes(8, signed=True) + to_json(event))
            case _:
                pass

    def _take(self, context: ev.TraceContext, at: int) -> None:
        if not _TRACEPARENT.fullmatch(context.traceparent):
            return  # not turnwire's: somebody else wrote the recording
        origin = Origin(context.traceparent, context.parent, context.tracestate, context.baggage)
        if context.prompt is None:
            self._begin_life(at, context.traceparent.encode(), origin)
            return
        self._origins.put(context.prompt, origin)

    def _begin_life(self, at: int, seed: bytes, origin: Origin | None = None) -> None:
        """Begin a life. If the previous one still runs, the sidecar was killed before it could report the end."""
        assert self._export is not None
        if self._life is not None:
            if self._root is not None:
                self._root.finish(at, "the end of this turn is not known")
                if self._trace is not None:
                    self._last = self._trace, self._root
                self._root, self._trace = None, None
            self._end_life(at)
        self._lives += 1
        self._life_seed = seed
        self._caller = None
        if origin is not None and origin.parent is not None and _TRACEPARENT.fullmatch(origin.parent):
            self._caller = origin._replace(traceparent="")
        self._between = self._export.trace(session_seed(self._session), origin)
        if origin is None:
            self._between.salt(b"%d\0%s" % (self._lives, seed))
        attributes: dict[str, Attribute] = {"session.id": self._session, "turnwire.session": self._session}
        self._life = self._between.begin("turnwire.session", at, None, attributes)
        self._has_started = False

    def _place(self, event: AgentEvent | None = None) -> SpanContext:
        """Return the trace and parent for a span that begins now.

        An event after the end of a turn, such as its error, belongs to that turn.
        """
        if self._trace is None and self._last is not None and event is not None:
            of_turn = event.operation_id is not None and event.operation_id == self._turn
            if of_turn:
                return SpanContext(*self._last, self._session)
        return SpanContext(self._trace or self._between, self._root or self._life, self._session)

    def _measured(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[Span]:
        """Measure durations only."""
        if type(item) is Ended:
            return [*(one for event in events for one in self._of_concern(event, at)), *self._genai.end(at)]
        if not events:
            return self._genai.of_message(item, at)
        if self._trace is None:
            started = next((event for event in events if type(event) is ev.TurnStarted), None)
            if started is not None:
                self._begin(started, b"", at)
        finished = self._genai.of_message(item, at)
        for event in events:
            if type(event) is ev.TurnStarted and self._turn != event.operation_id:
                self._begin(event, b"", at)
            finished += self._of_concern(event, at)
        return finished

    def _of_concern(self, event: AgentEvent, at: int) -> list[Span]:
        if type(event) not in self._genai.concern:
            return []
        finished = self._genai.of_event(event, at)
        if type(event) is ev.Complete:
            finished += self._end(event, at)
        return finished

    def _end_life(self, at: int) -> list[Span]:
        """End the agent process and all its background work."""
        finished = self._genai.end(at)
        if self._streamjson is not None:
            self._streamjson.end_block()
        if self._life is not None:
            self._life.finish(at)
            self._life = None
        self._origins.clear()
        return finished

    def _begin(self, event: ev.TurnStarted, raw: bytes, at: int) -> None:
        self._turn = event.operation_id
        attributes: dict[str, Attribute] = {}
        if self._export is None:
            self._trace = Trace()
        else:
            seed = b"\0".join([self._session.encode(), (event.operation_id or "").encode(), raw])
            origin = next(
                (self._origins.pop(one) for one in event.prompts or () if one in self._origins), None
            )
            self._trace = self._export.trace(seed, origin or self._caller)
            if origin is None:
                self._trace.salt(self._life_seed)
            attributes = {
                "session.id": self._session,
                "turnwire.session": self._session,
                "turnwire.operation_id": event.operation_id or "",
                "turnwire.origin": event.origin,
                "turnwire.prompts": event.prompts or [],
            }
        self._root = self._trace.begin("streamjson.prompt", at, None, attributes, link=self._life)
        if self._streamjson is not None:
            self._streamjson.add_both(self._root, raw, to_json(event), at)
        self._genai.begin_turn(self._trace, self._root, at)

    def _end(self, event: ev.Complete, at: int) -> list[Span]:
        finished = self._genai.end_turn(event, at)
        root, trace, self._root, self._trace = self._root, self._trace, None, None
        if root is None or trace is None:
            return finished
        self._last = trace, root
        known: dict[str, Attribute] = {"turnwire.outcome": event.data.outcome or ""}
        if event.data.cost_usd is not None:
            known["turnwire.cost_usd"] = event.data.cost_usd
        root.update(known)
        text = (event.error or "") if self._limit else ""
        root.finish(at, text if event.data.is_error else None)
        return finished


def session_seed(session: str) -> bytes:
    """Return the seed for the ids of a session's own trace."""
    return b"session\0" + session.encode()
