"""Session inputs and their events -> finished spans; pure.

One trace for each turn, seeded by the line that began it: the same recording always gives the same ids. What
happens between turns belongs to a trace of the session's own, which the CLI's own spans join by TRACEPARENT. Spans
under spec 3's names and under the GenAI conventions share the turn's root, `streamjson.prompt`.
"""

from collections.abc import Sequence

from normalize import events as ev
from normalize.events import AgentEvent, to_json
from normalize.inputs import Ended, Received, Sent, SessionInput
from tracing.genai_spans import OF_CONCERN, GenAiSpans
from tracing.span import FinishedSpan, OpenSpan, Trace, Unnumbered
from tracing.streamjson_spans import StreamJsonSpans

DEFAULT_LIMIT = 8192
"""Bytes of a raw line and of an event that a span carries; with 0 it carries neither."""


class SpanMaker:
    """Follows one session."""

    def __init__(
        self,
        session: str,
        *,
        agent: str = "claude",
        limit: int = DEFAULT_LIMIT,
        fold_deltas: bool = True,
        content: bool = False,
        named: bool = True,
    ) -> None:
        """Follow a session; without `named` only the spans with durations are made, which metrics come from."""
        self._session = session
        self._named = StreamJsonSpans(limit=limit, fold_deltas=fold_deltas) if named else None
        self._genai = GenAiSpans(agent=agent, content=content, limit=limit)
        self._between = session_trace(session) if named else Unnumbered()
        self._life: OpenSpan | None = None
        """The session's own span, until its first CLI ends."""
        self._lived = False
        self._trace: Trace | None = None
        self._root: OpenSpan | None = None
        self._turn: str | None = None

    def take(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[FinishedSpan]:
        """Return the spans that end with this input; `at` is nanoseconds since 1970."""
        if self._named is None and type(item) is not Ended:
            return self._measured(item, events, at)
        raw = item.line if isinstance(item, Received | Sent) else b""
        if self._life is None and not self._lived:
            self._life = _begin_life(self._between, self._session, at)
            # The first thing of a life names its process: spans of the next one get other ids.
            self._between.salt(raw or b"".join(map(to_json, events)))
        finished: list[FinishedSpan] = []
        if self._trace is None:
            started = next((event for event in events if isinstance(event, ev.TurnStarted)), None)
            if started is not None:
                self._begin(started, raw, at)  # what the same line says before belongs to the turn, too
        if self._named is not None:
            trace, root = self._trace or self._between, self._root or self._life
            finished += self._named.of_control(item, events, at, trace, root)
        finished += self._genai.of_message(item, at)
        for event in events:
            finished += self._of_event(event, raw, at)
        if isinstance(item, Ended):
            finished += self._ended(at)
        return finished

    def _measured(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[FinishedSpan]:
        """Make the spans with durations alone."""
        if not events:
            return self._genai.of_message(item, at)
        if self._trace is None:
            started = next((event for event in events if type(event) is ev.TurnStarted), None)
            if started is not None:
                self._begin(started, b"", at)
        finished = self._genai.of_message(item, at)
        for event in events:
            if type(event) not in OF_CONCERN:
                continue
            if type(event) is ev.TurnStarted and self._turn != event.operation_id:
                self._begin(event, b"", at)
            finished += self._genai.of_event(event, at)
            if type(event) is ev.Complete:
                finished += self._end(event, at)
        return finished

    def _of_event(self, event: AgentEvent, raw: bytes, at: int) -> list[FinishedSpan]:
        finished: list[FinishedSpan] = []
        if isinstance(event, ev.TurnStarted) and self._turn != event.operation_id:
            self._begin(event, raw, at)
        if self._named is not None:
            trace, root = self._trace or self._between, self._root or self._life
            finished = self._named.of_event(event, raw, at, trace, root)
        if type(event) in OF_CONCERN:
            finished += self._genai.of_event(event, at)
            if type(event) is ev.Complete:
                finished += self._end(event, at)
        return finished

    def _ended(self, at: int) -> list[FinishedSpan]:
        """The CLI has ended: so has all that it did in the background."""
        finished = self._genai.end(at)
        if self._named is not None:
            finished += self._named.end_block()
        if self._life is not None:
            finished.append(self._life.finish(at))
            self._life, self._lived = None, True
        return finished

    def _begin(self, event: ev.TurnStarted, raw: bytes, at: int) -> None:
        self._turn = event.operation_id
        if self._named is None:
            self._trace = Unnumbered()
            self._root = self._trace.begin("streamjson.prompt", at, None, {})
            self._genai.begin_turn(self._trace, self._root, at)
            return
        seed = b"\0".join([self._session.encode(), (event.operation_id or "").encode(), raw])
        self._trace = Trace(seed)
        self._root = self._trace.begin(
            "streamjson.prompt",
            at,
            None,
            {
                "session.id": event.session_id or "",
                "turnwire.session": self._session,
                "turnwire.operation_id": event.operation_id or "",
                "turnwire.origin": event.origin,
                "turnwire.prompts": event.prompts or [],
            },
        )
        self._genai.begin_turn(self._trace, self._root, at)

    def _end(self, event: ev.Complete, at: int) -> list[FinishedSpan]:
        finished = self._genai.end_turn(event, at)
        root, self._root, self._trace = self._root, None, None
        if root is None:
            return finished
        root.attributes["turnwire.outcome"] = event.data.outcome or ""
        if event.data.cost_usd is not None:
            root.attributes["turnwire.cost_usd"] = event.data.cost_usd
        return [*finished, root.finish(at, event.error if event.data.is_error else None)]


def session_trace(session: str) -> Trace:
    """Return a session's own trace; its first span is the session."""
    return Trace(b"session\0" + session.encode())


def traceparent(session: str) -> str:
    """Return the W3C trace context (version 00, sampled) that a CLI of the session gets."""
    life = _begin_life(session_trace(session), session, 0)
    return f"00-{life.trace.trace_id:032x}-{life.span_id:016x}-01"


def _begin_life(trace: Trace, session: str, at: int) -> OpenSpan:
    return trace.begin("turnwire.session", at, None, {"turnwire.session": session})
