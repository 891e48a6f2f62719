"""Session inputs and their events -> spans.

One trace for each turn, seeded by the line that began it: the same recording always gives the same ids. What
happens between turns belongs to a trace of the session's own, which the CLI's own spans join by TRACEPARENT. Spans
under spec 3's names and under the GenAI conventions share the turn's root, `streamjson.prompt`.
"""

from collections.abc import Sequence

from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Ended, Received, Sent, SessionInput
from turnwire.tracing.spans.genai_spans import GenAiSpans
from turnwire.tracing.spans.span import Attribute, Span, Trace, TraceSource
from turnwire.tracing.spans.streamjson_spans import SpanContext, StreamJsonSpans

DEFAULT_LIMIT = 8192
"""Bytes of a raw line and of an event that a span carries; with 0 it carries neither."""


class SpanMaker:
    """Follows one session."""

    def __init__(
        self,
        session: str,
        *,
        export: TraceSource | None = None,
        agent: str = "claude",
        limit: int = DEFAULT_LIMIT,
        fold_deltas: bool = True,
        content: bool = False,
    ) -> None:
        """Follow a session; without `export` only what has a duration is followed, which metrics come from."""
        self._session = session
        self._export = export
        self._streamjson = None if export is None else StreamJsonSpans(limit=limit, fold_deltas=fold_deltas)
        self._genai = GenAiSpans(agent=agent, content=content, limit=limit)
        self._between = Trace() if export is None else export.trace(session_seed(session))
        self._life: Span | None = None
        """The session's own span, until its first CLI ends."""
        self._lived = False
        self._trace: Trace | None = None
        self._root: Span | None = None
        self._turn: str | None = None
        self._cli_session: str | None = None
        """The session's id in the agent's own terms, as soon as it is known."""

    def handle(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[Span]:
        """Follow an input and its events; return what ended and is measured.

        Args:
            item: what happened.
            events: what it was translated to.
            at: nanoseconds since 1970.
        """
        if self._streamjson is None:
            return self._measured(item, events, at)
        raw = item.line if isinstance(item, Received | Sent) else b""
        if self._life is None and not self._lived:
            self._life = self._between.begin(
                "turnwire.session", at, None, {"session.id": self._session, "turnwire.session": self._session}
            )
            # The first thing of a life names its process: spans of the next one get other ids.
            self._between.salt(raw or b"".join(map(to_json, events)))
        for event in events:
            self._cli_session = event.session_id or self._cli_session
        if self._trace is None:
            started = next((event for event in events if isinstance(event, ev.TurnStarted)), None)
            if started is not None:
                self._begin(started, raw, at)  # what the same line says before belongs to the turn, too
        self._streamjson.of_control(item, events, at, self._place())
        finished = self._genai.of_message(item, at)
        for event in events:
            if isinstance(event, ev.TurnStarted) and self._turn != event.operation_id:
                self._begin(event, raw, at)
            self._streamjson.of_event(event, raw, at, self._place())
            finished += self._of_concern(event, at)
        if isinstance(item, Ended):
            finished += self._ended(at)
        return finished

    def _place(self) -> SpanContext:
        """Return where spans of now belong; the session that they name is the agent's as soon as it is known."""
        return SpanContext(
            self._trace or self._between, self._root or self._life, self._cli_session or self._session
        )

    def _measured(self, item: SessionInput, events: Sequence[AgentEvent], at: int) -> list[Span]:
        """Follow what has a duration alone."""
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

    def _ended(self, at: int) -> list[Span]:
        """The CLI has ended: so has all that it did in the background."""
        finished = self._genai.end(at)
        if self._streamjson is not None:
            self._streamjson.end_block()
        if self._life is not None:
            self._life.finish(at)
            self._life, self._lived = None, True
        return finished

    def _begin(self, event: ev.TurnStarted, raw: bytes, at: int) -> None:
        self._turn = event.operation_id
        attributes: dict[str, Attribute] = {}
        if self._export is None:
            self._trace = Trace()
        else:
            seed = b"\0".join([self._session.encode(), (event.operation_id or "").encode(), raw])
            self._trace = self._export.trace(seed)
            attributes = {
                "session.id": self._cli_session or self._session,
                "turnwire.session": self._session,
                "turnwire.operation_id": event.operation_id or "",
                "turnwire.origin": event.origin,
                "turnwire.prompts": event.prompts or [],
            }
        self._root = self._trace.begin("streamjson.prompt", at, None, attributes)
        if self._streamjson is not None:
            self._streamjson.add_both(self._root, raw, to_json(event), at)
        self._genai.begin_turn(self._trace, self._root, at)

    def _end(self, event: ev.Complete, at: int) -> list[Span]:
        finished = self._genai.end_turn(event, at)
        root, self._root, self._trace = self._root, None, None
        if root is None:
            return finished
        # The first turn of a new conversation begins before the agent has named its session.
        known: dict[str, Attribute] = {
            "session.id": self._cli_session or self._session,
            "turnwire.outcome": event.data.outcome or "",
        }
        if event.data.cost_usd is not None:
            known["turnwire.cost_usd"] = event.data.cost_usd
        root.update(known)
        root.finish(at, event.error if event.data.is_error else None)
        return finished


def session_seed(session: str) -> bytes:
    """Return the seed of a session's own trace, whose first span is the session."""
    return b"session\0" + session.encode()
