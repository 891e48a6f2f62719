"""The bytes that are sent are those that the SDK's own encoder would send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from normalize.translator import Translator
from recordings import Recording, recordings
from sidecar.pipeline import translate
from tracing.otel import resource
from tracing.otlp_wire import request
from tracing.recording import read
from tracing.span import FinishedSpan, SpanEvent
from tracing.spans import SpanMaker

RESOURCE = resource("1.2.3")


def context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def readable(span: FinishedSpan) -> ReadableSpan:
    """The span as the SDK has it."""
    return ReadableSpan(
        span.name,
        context=context(span.trace_id, span.span_id),
        parent=None if span.parent_id is None else context(span.trace_id, span.parent_id),
        resource=RESOURCE,
        attributes=span.attributes,
        events=[Event(event.name, event.attributes, event.at) for event in span.events],
        kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        status=Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error),
        start_time=span.start,
        end_time=span.end,
        instrumentation_scope=InstrumentationScope("turnwire", "1.2.3"),
    )


def agree(spans: list[FinishedSpan]) -> None:
    ours = ExportTraceServiceRequest.FromString(request(RESOURCE.attributes, "1.2.3", spans))  # type: ignore[arg-type]  # texts and numbers alone
    assert ours == encode_spans([readable(span) for span in spans])


@pytest.mark.parametrize("made", recordings(), ids=str)
def test_for_the_spans_of_every_recording(made: Recording) -> None:
    translator, maker = Translator(), SpanMaker("s", content=True, fold_deltas=False)
    spans = []
    for timed in read(made.folder):
        events = translate(translator, timed.input)
        spans += maker.take(timed.input, events, 1_700_000_000_000_000_000 + round((timed.at or 0) * 1e9))
    assert spans
    agree(spans)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
values = st.one_of(
    words,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.lists(words, min_size=1, max_size=3),
)
attributes = st.dictionaries(words.filter(bool), values, max_size=4)


moments = st.lists(st.builds(SpanEvent, words, st.integers(0, 2**63), attributes), max_size=3).map(tuple)
ids = st.integers(1, 2**64 - 1)
finished = st.builds(
    FinishedSpan,
    trace_id=st.integers(1, 2**128 - 1),
    span_id=ids,
    parent_id=st.none() | ids,
    name=words,
    start=st.integers(0, 2**63),
    end=st.integers(0, 2**63),
    attributes=attributes,
    events=moments,
    error=st.none() | words.filter(bool),
    client=st.booleans(),
)


@given(finished)
def test_for_anything_a_span_can_hold(span: FinishedSpan) -> None:
    agree([span])
