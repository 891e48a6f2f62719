"""The session's own trace, which the CLI joins."""

import re

import pytest
from exported_spans import MemoryExport

from normalize.inputs import Ended, Received
from protocol.claude.decode import decode
from tracing.export.spans import traceparent
from tracing.spans.maker import SpanMaker

LINE = b'{"type":"keep_alive"}'


def test_the_cli_gets_the_trace_context_of_the_sessions_own_span() -> None:
    context = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", traceparent("s-1"))
    assert context is not None
    export = MemoryExport()
    maker = SpanMaker("s-1", export=export)
    maker.take(Received(LINE, decode(LINE)), [], 5)
    assert export.spans() == []
    maker.take(Ended("exited", exit_code=0), [], 9)
    (life,) = export.spans()
    assert (f"{life.trace_id:032x}", f"{life.span_id:016x}") == context.groups()
    assert (life.name, life.start, life.end, life.parent_id) == ("turnwire.session", 5, 9, None)


def test_sessions_have_traces_of_their_own() -> None:
    assert traceparent("s-1") != traceparent("s-2")
    assert traceparent("s-1") == traceparent("s-1")


def test_the_cli_is_told_what_the_sampler_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert traceparent("s-1").endswith("-00")
