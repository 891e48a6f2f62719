"""Spans that are exported: each carries a span of the OpenTelemetry SDK, with the times and ids of what was traced."""

import os
from functools import cache

from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import Decision, Sampler
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from turnwire.tracing.export.trace_ids import IdSequence, current
from turnwire.tracing.spans.maker import session_seed
from turnwire.tracing.spans.span import Attribute, Attributes, Span, Trace

_ROOT = Context()
"""No span of somebody else's is the parent of a trace of ours."""


class ExportedSpan(Span):
    """A span that leaves the process when it is finished."""

    __slots__ = ("_otel", "context")

    def __init__(self, name: str, start: int, attributes: dict[str, Attribute], otel: OtelSpan) -> None:
        super().__init__(name, start, attributes)
        self._otel = otel
        self.context = set_span_in_context(otel, _ROOT)
        """What its children are started in."""

    def update(self, attributes: Attributes) -> None:
        """Add to what is known, or replace it."""
        super().update(attributes)
        self._otel.set_attributes(attributes)

    def add_event(self, name: str, at: int, attributes: Attributes) -> None:
        """Note something that happened at one moment within the span."""
        self._otel.add_event(name, attributes, at)

    def finish(self, end: int, error: str | None = None) -> Span:
        """End the span, and hand it to the processors."""
        super().finish(end, error)
        if error is not None:
            self._otel.set_status(Status(StatusCode.ERROR, error))
        self._otel.end(self.end)
        return self


class ExportedTrace(Trace):
    """A trace whose spans are exported; their ids depend on its seed and on how many were opened before."""

    def __init__(self, tracer: Tracer, seed: bytes) -> None:
        self._tracer = tracer
        self._ids = IdSequence(seed)

    def begin(
        self,
        name: str,
        at: int,
        parent: Span | None,
        attributes: dict[str, Attribute],
        *,
        client: bool = False,
    ) -> Span:
        """Open a span; whether it is recorded is the sampler's to say."""
        token = current.set(self._ids)
        try:
            otel = self._tracer.start_span(
                name,
                parent.context if isinstance(parent, ExportedSpan) else _ROOT,
                SpanKind.CLIENT if client else SpanKind.INTERNAL,
                attributes,
                start_time=at,
            )
        finally:
            current.reset(token)
        return ExportedSpan(name, at, attributes, otel)

    def salt(self, what: bytes) -> None:
        """Make the ids that follow depend on something more."""
        self._ids.salt(what)


def traceparent(session: str) -> str:
    """Return the W3C trace context (version 00) that a CLI of the session gets: that of the session's own span.

    Whether it is sampled is what OTEL_TRACES_SAMPLER says of that span.
    """
    ids = IdSequence(session_seed(session))
    sampler = _sampler(os.environ.get("OTEL_TRACES_SAMPLER"), os.environ.get("OTEL_TRACES_SAMPLER_ARG"))
    decision = sampler.should_sample(None, ids.trace_id, "turnwire.session").decision
    sampled = decision is Decision.RECORD_AND_SAMPLE
    return f"00-{ids.trace_id:032x}-{ids.next_span_id():016x}-{int(sampled):02x}"


@cache
def _sampler(name: str | None, argument: str | None) -> Sampler:
    """Return the sampler that a provider takes from the environment; `name` and `argument` are what it reads there."""
    del name, argument
    return TracerProvider(shutdown_on_exit=False).sampler
