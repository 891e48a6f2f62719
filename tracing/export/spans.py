"""Exported spans: each wraps a span of the OpenTelemetry SDK, with the recorded times and ids."""

import os
import secrets
from functools import cache

from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import Decision, Sampler
from opentelemetry.trace import (
    Link,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from turnwire.tracing.export.trace_ids import IdSequence, current
from turnwire.tracing.spans.maker import session_seed
from turnwire.tracing.spans.span import Attribute, Attributes, Origin, Span, Trace


class ExportedSpan(Span):
    """A span that leaves the process when it is finished."""

    __slots__ = ("_otel", "context")

    def __init__(
        self, name: str, start: int, attributes: dict[str, Attribute], otel: OtelSpan, around: Context
    ) -> None:
        super().__init__(name, start, attributes)
        self._otel = otel
        self.context = set_span_in_context(otel, around)
        """The context in which its children start."""

    @property
    def link(self) -> Link:
        """Return a link to it for another trace."""
        return Link(self._otel.get_span_context())

    def update(self, attributes: Attributes) -> None:
        """Add or replace attributes."""
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
    """A trace whose spans are exported. Their ids depend on its seed and on the number of earlier spans."""

    def __init__(self, tracer: Tracer, seed: bytes, origin: Origin | None = None) -> None:
        self._tracer = tracer
        self._ids = IdSequence(seed)
        self._around = Context()
        """The context in which the first spans start: a caller's, or an empty one."""
        if origin is not None:
            if origin.traceparent:
                trace_id, span_id = origin.traceparent.split("-")[1:3]
                self._ids.begin_with(int(trace_id, 16), int(span_id, 16))
            self._around = _caller(origin.parent, origin.tracestate, origin.baggage)

    def begin(
        self,
        name: str,
        at: int,
        parent: Span | None,
        attributes: dict[str, Attribute],
        *,
        client: bool = False,
        link: Span | None = None,
    ) -> Span:
        """Open a span; whether it is recorded is the sampler's to say."""
        around = parent.context if isinstance(parent, ExportedSpan) else self._around
        token = current.set(self._ids)
        try:
            otel = self._tracer.start_span(
                name,
                around,
                SpanKind.CLIENT if client else SpanKind.INTERNAL,
                attributes,
                [link.link] if isinstance(link, ExportedSpan) else None,
                start_time=at,
            )
        finally:
            current.reset(token)
        return ExportedSpan(name, at, attributes, otel, around)

    def salt(self, what: bytes) -> None:
        """Make the ids that follow depend on something more."""
        self._ids.salt(what)


def context_of(span: Span | None) -> Context | None:
    """Return the context of an exported span; None for any other."""
    return span.context if isinstance(span, ExportedSpan) else None


def origin_of(
    session: str,
    *,
    prompt: bool,
    parent: str | None = None,
    tracestate: str | None = None,
    baggage: str | None = None,
) -> Origin:
    """Choose the trace ids of an agent's process, or of a prompt's turn.

    OTEL_TRACES_SAMPLER decides whether it is sampled.

    Args:
        session: the session.
        prompt: for a prompt's turn.
        parent: the caller's `traceparent` (version 00). A malformed one is ignored, as the standard requires.
        tracestate: the caller's.
        baggage: the caller's.
    """
    around = _caller(parent, tracestate, baggage)
    caller = get_current_span(around).get_span_context()
    if caller.is_valid:
        trace_id = caller.trace_id
    elif prompt:
        trace_id, parent, tracestate = secrets.randbits(128) or 1, None, None
    else:
        trace_id, parent, tracestate = IdSequence(session_seed(session)).trace_id, None, None
    sampler = _sampler(os.environ.get("OTEL_TRACES_SAMPLER"), os.environ.get("OTEL_TRACES_SAMPLER_ARG"))
    name = "streamjson.prompt" if prompt else "turnwire.session"
    sampled = sampler.should_sample(around, trace_id, name).decision is Decision.RECORD_AND_SAMPLE
    traceparent = f"00-{trace_id:032x}-{secrets.randbits(64) or 1:016x}-{int(sampled):02x}"
    return Origin(traceparent, parent, tracestate, baggage)


def _caller(parent: str | None, tracestate: str | None, baggage: str | None) -> Context:
    """Return the caller's trace context. Empty if it sent none, or a malformed one."""
    told = {"traceparent": parent, "tracestate": tracestate, "baggage": baggage}
    carrier = {name: value for name, value in told.items() if value}
    around = TraceContextTextMapPropagator().extract(carrier, Context())
    return W3CBaggagePropagator().extract(carrier, around)


@cache
def _sampler(name: str | None, argument: str | None) -> Sampler:
    """Return the sampler that a provider takes from the environment. `name` and `argument` are its variables."""
    del name, argument
    return TracerProvider(shutdown_on_exit=False).sampler
