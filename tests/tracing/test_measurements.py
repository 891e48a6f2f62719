"""What is measured of a session, and how both meters tell it."""

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client.parser import text_string_to_metric_families

from cases import for_each
from recordings import Recording, recording, recordings
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.tracing.metrics import measurements as m
from turnwire.tracing.metrics.measurements import Instrument, Measurement, Measurer
from turnwire.tracing.metrics.otel import OtelMeter
from turnwire.tracing.metrics.prometheus import PrometheusMeter, prometheus_name
from turnwire.tracing.spans.maker import SpanMaker


def measured(made: Recording) -> list[Measurement]:
    translator, maker, measurer = ClaudeCore(), SpanMaker("s"), Measurer()
    found = []
    for timed in read(made.folder):
        events = translator.handle(timed.input)
        spans = maker.handle(timed.input, events, round((timed.at or 0) * 1e9))
        found += measurer.handle(events, spans)
    return found


def of(instrument: Instrument, found: list[Measurement]) -> list[Measurement]:
    return [one for one in found if one.of is instrument]


@for_each("made", recordings(), by=lambda made: made.version)
def test_tokens_and_cost_are_those_of_the_turns(made: Recording) -> None:
    translator = ClaudeCore()
    data = [
        event.data
        for timed in read(made.folder)
        for event in translator.handle(timed.input)
        if isinstance(event, ev.Complete)
    ]
    turns = [one.all_tokens or one for one in data]
    found = measured(made)
    cached = sum((t.cache_read_input_tokens or 0) + (t.cache_creation_input_tokens or 0) for t in turns)
    by_kind = {
        kind: sum(one.value for one in of(m.TOKEN_USAGE, found) if one.labels[-1] == kind)
        for kind in ("input", "output")
    }
    assert by_kind["input"] == sum(t.input_tokens or 0 for t in turns) + cached
    assert by_kind["output"] == sum(t.output_tokens or 0 for t in turns)
    assert sum(one.value for one in of(m.COST, found)) == pytest.approx(sum(t.cost_usd or 0 for t in data))
    assert sum(one.labels[0] == "invoke_agent" for one in of(m.DURATION, found)) >= len(turns)


def test_a_tool_a_human_and_the_first_chunk_take_the_time_of_the_recording() -> None:
    found = measured(recording("2.1.330", "queue-during-tool"))
    (tool,) = [one for one in of(m.DURATION, found) if one.labels[0] == "execute_tool"]
    assert tool.labels[3] == "Bash"
    assert 1.4 < tool.value < 4  # it slept for 1.5 s
    waited = of(m.HUMAN_WAIT, measured(recording("2.1.330", "perm-allow")))
    assert waited
    assert all(one.labels == ("allow",) and one.value > 0 for one in waited)
    chunks = of(m.FIRST_CHUNK, measured(recording("2.1.330", "partial-messages")))
    assert chunks
    assert all(0 < one.value < 10 for one in chunks)


def test_lines_nobody_understands_are_counted() -> None:
    translator, measurer = ClaudeCore(), Measurer()
    found = []
    for line in (b'{"type":"martian"}', b"not json", b'{"type":"keep_alive"}'):
        found += measurer.handle(translator.handle(Received(line, decode(line))), [])
    assert [one.labels for one in of(m.UNUSUAL_LINES, found)] == [("unknown",), ("malformed",)]


def test_a_flood_of_names_does_not_become_a_flood_of_series() -> None:
    translator, maker, measurer = ClaudeCore(), SpanMaker("s"), Measurer()
    found = []
    for number in range(3 * m.NAMES):
        line = (
            b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t%d","name":"tool%d","input":{}}]}}'
            % (number, number)
        )
        item = Received(line, decode(line))
        events = translator.handle(item)
        found += measurer.handle(events, maker.handle(item, events, number))
    end = b'{"type":"result","subtype":"success","is_error":false,"result":"","usage":{}}'
    item = Received(end, decode(end))
    events = translator.handle(item)
    found += measurer.handle(events, maker.handle(item, events, 1000))
    tools = {one.labels[3] for one in of(m.DURATION, found) if one.labels[0] == "execute_tool"}
    assert len(tools) == m.NAMES + 1
    assert "_OTHER" in tools


def test_prometheus_reads_what_was_measured() -> None:
    gauges = [Measurement(m.PENDING, 2), Measurement(m.SESSIONS, 3, ("idle",)), Measurement(m.LINES, 7)]
    meter = PrometheusMeter(lambda: gauges)
    found = measured(recording("2.1.330", "perm-allow"))
    meter.record(found)
    content_type, text = meter.text()
    assert content_type.startswith("text/plain")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }
    assert samples["turnwire_permissions_pending",] == 2
    assert samples["turnwire_sessions", "idle"] == 3
    assert samples["turnwire_lines_total",] == 7
    assert samples["turnwire_human_wait_duration_seconds_count", "allow"] == len(of(m.HUMAN_WAIT, found))
    total = sum(value for key, value in samples.items() if key[0] == "gen_ai_client_token_usage_sum")
    assert total == sum(one.value for one in of(m.TOKEN_USAGE, found))


def test_otlp_is_told_the_same() -> None:
    reader = InMemoryMetricReader()
    meter = OtelMeter(
        "1",
        lambda: [Measurement(m.LAG, 5), Measurement(m.SESSIONS, 1, ("idle",))],
        readers=[reader],
    )
    found = measured(recording("2.1.330", "perm-allow"))
    meter.record(found)
    data = reader.get_metrics_data()
    assert data is not None
    metrics = {one.name: one for one in data.resource_metrics[0].scope_metrics[0].metrics}
    assert set(metrics) >= {
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.duration",
        "turnwire.frontends.lag",
    }
    (lag,) = metrics["turnwire.frontends.lag"].data.data_points
    assert lag.value == 5  # type: ignore[union-attr]  # a gauge's point
    tokens = metrics["gen_ai.client.token.usage"].data.data_points
    assert sum(point.sum for point in tokens) == sum(one.value for one in of(m.TOKEN_USAGE, found))  # type: ignore[union-attr,misc]  # a histogram's point
    meter.close()


def test_names_are_unique_in_both_worlds() -> None:
    everything = [*m.RECORDED, *m.READ]
    assert len({one.name for one in everything}) == len(everything)
    assert len({prometheus_name(one) for one in everything}) == len(everything)
